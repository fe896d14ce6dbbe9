"""Recurrent operators: their inputs by names, and their weights side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from webtensor.tflite.calls import Call

__all__ = [
    "bidirectional_lstm",
    "bidirectional_network",
    "filters",
    "lstm",
    "network",
    "sequence_lstm",
]

_GATES = ("input", "forget", "cell", "output")


class _LstmInputs(NamedTuple):
    """The indices of an LSTM's inputs; of those in groups, that of the first one.

    Attributes:
        kernels: the weights of the input for each gate.
        recurrents: the weights of the outputs of the step before.
        peepholes: the weights of the cell for the gates that see it.
        biases: the biases.
        projection: the weights of the projection, which its bias follows.
        states: the outputs of the step before, which the cell follows.
        norms: the weights of layer normalization; 0 if there are none.
        others: the weights of the other input; 0 if there is none.
    """

    kernels: int
    recurrents: int
    peepholes: int
    biases: int
    projection: int
    states: int
    norms: int = 0
    others: int = 0


_SINGLE = _LstmInputs(1, 5, 9, 12, 16, 18, norms=20)
_FORWARD = _LstmInputs(1, 5, 9, 12, 16, 35, others=40)
_BACKWARD = _LstmInputs(18, 22, 26, 29, 33, 37, others=44)
#: The index of the other input of a bidirectional LSTM.
_OTHER_INPUT = 39


class _NetworkInputs(NamedTuple):
    """The indices of a simple network's inputs; ``others`` are the weights of the other input."""

    kernel: int
    recurrent: int
    bias: int
    state: int
    others: int = 0


_SINGLE_NETWORK = _NetworkInputs(1, 2, 3, 4)
_FORWARD_NETWORK = _NetworkInputs(1, 2, 3, 4, others=10)
_BACKWARD_NETWORK = _NetworkInputs(5, 6, 7, 8, others=11)
_OTHER_NETWORK_INPUT = 9


def _state(call: Call, index: int) -> str:
    """Return the name of a state, which must be a variable."""
    tensor = call.graph.subgraph.tensors[call.operator.inputs[index]] if call.has(index) else None
    if tensor is None or not tensor.is_variable:
        raise call.broken(f"its input {index} is no variable")
    return f"{call.graph.label} {call.operator.inputs[index]}"


def _grids(call: Call, **states: int) -> dict[str, Any]:
    """Return scale and bounds of the states that are quantized."""
    grids = {}
    for name, index in states.items():
        grid = call.grid(call.graph.subgraph.tensors[call.operator.inputs[index]])
        if grid is not None:
            grids[f"{name}_grid"] = list(grid)
    return grids


def _joined(call: Call, indices: Sequence[int]) -> str:
    """Return inputs side by side along their first axis."""
    references = [call.input(index) for index in indices]
    return call.node("ConcatV2", *references, call.constant(0))


def _beside(call: Call, *references: str) -> str:
    """Return tensors side by side along their last axis."""
    if len(references) == 1:
        return references[0]
    return call.node("ConcatV2", *references, call.constant(-1))


def _node(call: Call, op: str, named: dict[str, str], states: list[str], **attributes: Any) -> str:
    return call.node(
        op,
        *named.values(),
        inputs=[*named],
        states=[*states],
        activation=call.option("fused_activation_function"),
        **attributes,
    )


# -- long short-term memories ------------------------------------------------------------------


def _lstm(call: Call, at: _LstmInputs, inputs: Sequence[str], **attributes: Any) -> str:
    """Return the node of an LSTM, whose kernels are for one input or for two."""
    first = 0 if call.has(at.kernels) else 1
    present = range(first, 4)
    kernels = [_joined(call, [at.kernels + gate for gate in present])]
    if len(inputs) > 1:
        kernels.append(_joined(call, [at.others + gate for gate in present]))
    recurrent = _joined(call, [at.recurrents + gate for gate in present])
    named = {
        "x": _beside(call, *inputs),
        "kernel": call.transposed(_beside(call, *kernels), (1, 0)),
        "recurrent": call.transposed(recurrent, (1, 0)),
    }
    if at.norms and call.has(at.norms + 1):
        for gate in present:
            named[f"{_GATES[gate]}_norm"] = call.input(at.norms + gate)
            named[f"{_GATES[gate]}_bias"] = call.input(at.biases + gate)
    elif call.has(at.biases + 1):
        named["bias"] = _joined(call, [at.biases + gate for gate in present])
    for index, name in enumerate(("input", "forget", "output"), at.peepholes):
        if call.has(index):
            named[f"{name}_peephole"] = call.input(index)
    if call.has(at.projection):
        named["projection"] = call.transposed(call.input(at.projection), (1, 0))
        if call.has(at.projection + 1):
            named["projection_bias"] = call.input(at.projection + 1)
    return _node(
        call,
        "LSTM",
        named,
        [_state(call, index) for index in (at.states, at.states + 1)],
        gates=[_GATES[gate] for gate in present],
        cell_clip=call.option("cell_clip"),
        proj_clip=call.option("proj_clip"),
        **_grids(call, output=at.states, cell=at.states + 1),
        **attributes,
    )


def sequence_lstm(call: Call) -> list[str]:
    """Return the outputs of an LSTM for a sequence."""
    _check_single_output(call)
    if call.operator.options.get("diagonal_recurrent_tensors"):
        raise call.broken("diagonal recurrent weights are not supported")
    is_time_major = call.option("time_major")
    return [_lstm(call, _SINGLE, [call.input(0)], is_sequence=True, time_major=is_time_major)]


def lstm(call: Call) -> list[str]:
    """Return the outputs of one step of an LSTM."""
    kernel = call.option("kernel_type")
    return _KERNELS[kernel](call)


def _full_lstm(call: Call) -> list[str]:
    _check_single_output(call)
    return [_lstm(call, _SINGLE, [call.input(0)], is_sequence=False)]


def _check_single_output(call: Call) -> None:
    if len(call.operator.outputs) != 1:
        raise call.broken(f"it has {len(call.operator.outputs)} outputs, which is not supported")


def _basic_lstm(call: Call) -> list[str]:
    """Return the outputs and the cell of a step, whose weights are one matrix.

    What the step before returned is an input, which may be a variable.
    """
    if call.grid(call.tensor(0)) is not None:
        raise call.broken("the kernel BASIC of quantized numbers is not supported")
    weights = call.transposed(call.input(2), (1, 0))
    units = call.size(3, 0) // 4
    sizes = call.constant([call.size(2, 1) - units, units])
    split = call.node("SplitV", weights, sizes, call.constant(0), num_split=2)
    named = {"x": call.input(0), "kernel": split, "recurrent": f"{split}:1", "bias": call.input(3)}
    states = [1, 4]
    tensors = [call.graph.subgraph.tensors[call.operator.inputs[index]] for index in states]
    are_variables = all(tensor.is_variable for tensor in tensors)
    if not are_variables:
        named |= {"output_state": call.input(1), "cell_state": call.input(4)}
    name = _node(
        call,
        "LSTM",
        named,
        [_state(call, index) for index in states] if are_variables else [],
        gates=["input", "cell", "forget", "output"],
        is_sequence=False,
    )
    return [name, f"{name}:1"]


_KERNELS = {"BASIC": _basic_lstm, "FULL": _full_lstm}


# -- simple networks ---------------------------------------------------------------------------


def _network(call: Call, at: _NetworkInputs, inputs: Sequence[str], **attributes: Any) -> str:
    kernels = [call.input(at.kernel)]
    if len(inputs) > 1:
        kernels.append(call.input(at.others))
    named = {
        "x": _beside(call, *inputs),
        "kernel": call.transposed(_beside(call, *kernels), (1, 0)),
        "recurrent": call.transposed(call.input(at.recurrent), (1, 0)),
        "bias": call.input(at.bias),
    }
    return _node(call, "RNN", named, [_state(call, at.state)], **attributes)


def network(is_sequence: bool, call: Call) -> list[str]:
    """Return the outputs of a simple recurrent network."""
    is_time_major = call.operator.options.get("time_major", False)
    attributes = {"is_sequence": is_sequence, "time_major": is_time_major}
    return [_network(call, _SINGLE_NETWORK, [call.input(0)], **attributes)]


# -- both directions ---------------------------------------------------------------------------


def bidirectional_lstm(call: Call) -> list[str]:
    """Return the outputs of two LSTMs, of which one goes through a sequence from its end."""
    inputs = _inputs_of_directions(call, _OTHER_INPUT, _FORWARD.others + _GATES.index("output"))
    return _directions(
        call, partial(_lstm, call, _FORWARD), partial(_lstm, call, _BACKWARD), inputs
    )


def bidirectional_network(call: Call) -> list[str]:
    """Return the outputs of two simple networks, as ``bidirectional_lstm`` does."""
    forward, backward = _FORWARD_NETWORK, _BACKWARD_NETWORK
    inputs = _inputs_of_directions(call, _OTHER_NETWORK_INPUT, forward.others)
    return _directions(
        call, partial(_network, call, forward), partial(_network, call, backward), inputs
    )


def _inputs_of_directions(call: Call, other: int, weights: int) -> tuple[list[str], list[str]]:
    """Return what the forward and the backward cell read.

    Both read the other input if there are weights for it; else only the backward one does.
    """
    inputs = [call.input(index) for index in (0, other) if call.has(index)]
    return (inputs, inputs) if call.has(weights) else (inputs[:1], inputs[-1:])


def _directions(
    call: Call,
    forward: Callable[..., str],
    backward: Callable[..., str],
    inputs: tuple[list[str], list[str]],
) -> list[str]:
    attributes = {"is_sequence": True, "time_major": call.option("time_major")}
    outputs = [
        forward(inputs[0], **attributes),
        backward(inputs[1], is_backwards=True, **attributes),
    ]
    return [_beside(call, *outputs)] if call.option("merge_outputs") else outputs


# -- filters -----------------------------------------------------------------------------------


def filters(call: Call) -> list[str]:
    """Return the outputs of filters over features and time."""
    named = {
        "x": call.input(0),
        "features": call.transposed(call.input(1), (1, 0)),
        "time": call.input(2),
    }
    if call.has(3):
        named["bias"] = call.input(3)
    name = _node(
        call,
        "SVDF",
        named,
        [_state(call, 4)],
        rank=call.option("rank"),
        is_sequence=False,
        **_grids(call, output=4),
    )
    return [name]
