"""Recurrent operators: their inputs by names, and their weights side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.tflite.calls import Call

__all__ = ["filters", "full_lstm", "lstm_of", "network"]

_GATES = ("input", "forget", "cell", "output")
_KERNELS, _RECURRENTS, _PEEPHOLES, _BIASES, _NORMS = range(1, 5), range(5, 9), 9, range(12, 16), 20
_PROJECTION, _PROJECTION_BIAS, _OUTPUT_STATE, _CELL_STATE = 16, 17, 18, 19


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


def _node(
    call: Call, op: str, named: dict[str, str], states: list[str], **attributes: Any
) -> list[str]:
    name = call.node(
        op,
        *named.values(),
        inputs=[*named],
        states=[*states],
        activation=call.option("fused_activation_function"),
        **attributes,
    )
    return [name]


def lstm_of(is_sequence: bool, call: Call) -> list[str]:
    """Return the outputs of a long short-term memory."""
    if len(call.operator.outputs) != 1:
        raise call.broken(f"it has {len(call.operator.outputs)} outputs, which is not supported")
    if call.operator.options.get("diagonal_recurrent_tensors"):
        raise call.broken("diagonal recurrent weights are not supported")
    first = 0 if call.has(_KERNELS[0]) else 1
    present = range(first, 4)
    kernel = _joined(call, [_KERNELS[gate] for gate in present])
    recurrent = _joined(call, [_RECURRENTS[gate] for gate in present])
    named = {
        "x": call.input(0),
        "kernel": call.transposed(kernel, (1, 0)),
        "recurrent": call.transposed(recurrent, (1, 0)),
    }
    if call.has(_NORMS + 1):
        for gate in present:
            named[f"{_GATES[gate]}_norm"] = call.input(_NORMS + gate)
            named[f"{_GATES[gate]}_bias"] = call.input(_BIASES[gate])
    elif call.has(_BIASES[1]):
        named["bias"] = _joined(call, [_BIASES[gate] for gate in present])
    for place, name in enumerate(("input", "forget", "output")):
        if call.has(_PEEPHOLES + place):
            named[f"{name}_peephole"] = call.input(_PEEPHOLES + place)
    if call.has(_PROJECTION):
        named["projection"] = call.transposed(call.input(_PROJECTION), (1, 0))
        if call.has(_PROJECTION_BIAS):
            named["projection_bias"] = call.input(_PROJECTION_BIAS)
    states = [_state(call, index) for index in (_OUTPUT_STATE, _CELL_STATE)]
    return _node(
        call,
        "LSTM",
        named,
        states,
        gates=[_GATES[gate] for gate in present],
        is_sequence=is_sequence,
        time_major=call.operator.options.get("time_major", False),
        cell_clip=call.option("cell_clip"),
        proj_clip=call.option("proj_clip"),
        **_grids(call, output=_OUTPUT_STATE, cell=_CELL_STATE),
    )


def full_lstm(call: Call) -> list[str]:
    """Return the outputs of one step; the simpler kernel has no states of its own."""
    if call.option("kernel_type") != "FULL":
        raise call.broken("the kernel BASIC is not supported")
    return lstm_of(False, call)


def network(is_sequence: bool, call: Call) -> list[str]:
    """Return the outputs of a simple recurrent network."""
    named = {
        "x": call.input(0),
        "kernel": call.transposed(call.input(1), (1, 0)),
        "recurrent": call.transposed(call.input(2), (1, 0)),
        "bias": call.input(3),
    }
    return _node(
        call,
        "RNN",
        named,
        [_state(call, 4)],
        is_sequence=is_sequence,
        time_major=call.operator.options.get("time_major", False),
        **_grids(call, output=4),
    )


def filters(call: Call) -> list[str]:
    """Return the outputs of filters over features and time."""
    named = {
        "x": call.input(0),
        "features": call.transposed(call.input(1), (1, 0)),
        "time": call.input(2),
    }
    if call.has(3):
        named["bias"] = call.input(3)
    return _node(
        call,
        "SVDF",
        named,
        [_state(call, 4)],
        rank=call.option("rank"),
        is_sequence=False,
        **_grids(call, output=4),
    )
