"""Recurrent networks: RNN, GRU and LSTM, of one or both directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.elementwise import hard_sigmoid, softsign, thresholded_relu
from webtensor.onnx.operations.operators import Operator, integers
from webtensor.transforms.loop_recording import scan_slices

__all__ = ["ROWS"]

_Activation = Callable[[Tensor], Tensor]
#: The numbers of steps of the elements of a batch, which a recording must not read.
_Lengths = list[int] | Tensor | None


def _affine(x: Tensor, *, alpha: float, beta: float) -> Tensor:
    return alpha * x + beta


def _scaled_tanh(x: Tensor, *, alpha: float, beta: float) -> Tensor:
    return alpha * ops.tanh(beta * x)


class _Kind(NamedTuple):
    """An activation, and the defaults of its parameters; those without have none."""

    function: Callable[..., Tensor]
    alpha: float | None = None
    beta: float | None = None


_ACTIVATIONS = {
    "affine": _Kind(_affine, 1.0, 0.0),
    "elu": _Kind(ops.elu, 1.0),
    "hardsigmoid": _Kind(hard_sigmoid, 0.2, 0.5),
    "leakyrelu": _Kind(ops.leaky_relu, 0.01),
    "relu": _Kind(ops.relu),
    "scaledtanh": _Kind(_scaled_tanh, 1.0, 1.0),
    "sigmoid": _Kind(ops.sigmoid),
    "softplus": _Kind(ops.softplus),
    "softsign": _Kind(softsign),
    "tanh": _Kind(ops.tanh),
    "thresholdedrelu": _Kind(thresholded_relu, 1.0),
}


def _activations(
    names: Sequence[str], alphas: Sequence[float] | None, betas: Sequence[float] | None
) -> list[_Activation]:
    alpha, beta = iter(alphas or ()), iter(betas or ())
    functions: list[_Activation] = []
    for name in names:
        kind = _ACTIVATIONS.get(name.lower())
        if kind is None:
            raise ValueError(f"the activation {name!r:.200} is unknown")
        options = {}
        if kind.alpha is not None:
            options["alpha"] = next(alpha, kind.alpha)
        if kind.beta is not None:
            options["beta"] = next(beta, kind.beta)
        functions.append(partial(kind.function, **options))
    return functions


class _Weights(NamedTuple):
    """The weights by which one direction multiplies its states.

    Attributes:
        recurrent: of shape (gates · units, units).
        bias: of shape (gates · units,).
        peepholes: of shape (3 · units,).
    """

    recurrent: Tensor
    bias: Tensor
    peepholes: Tensor | None


_Step = Callable[[Tensor, list[Tensor]], list[Tensor]]


class _Cell(NamedTuple):
    """The number of a cell's gates, its default activations, and what makes its step."""

    gates: int
    activations: list[str]
    step: Callable[[_Weights, list[_Activation], float | None], _Step]


class _Operands(NamedTuple):
    """What a network computes with.

    Attributes:
        x: of shape (steps, batch, size), or (batch, steps, size) in layout 1.
        weights: kernels, recurrent kernels, biases and peepholes, each for all directions.
        lengths: the numbers of steps of the elements of the batch.
        states: the initial ones, or None for zeros.
    """

    x: Tensor
    weights: tuple[Tensor, Tensor, Tensor | None, Tensor | None]
    lengths: _Lengths
    states: list[Tensor | None]


class _Options(NamedTuple):
    """The attributes that all operators have."""

    activations: list[str] | None
    activation_alpha: list[float] | None
    activation_beta: list[float] | None
    clip: float | None
    direction: str
    layout: int


def _network(cell: _Cell, operands: _Operands, options: _Options) -> tuple[Tensor, ...]:
    """Run a cell along time, in each direction; in layout 1, batches come before time."""
    if not options.layout:
        return _directions(cell, operands, options)
    states = [
        None if state is None else ops.permute_dims(state, (1, 0, 2)) for state in operands.states
    ]
    time_first = operands._replace(x=ops.permute_dims(operands.x, (1, 0, 2)), states=states)
    result, *finals = _directions(cell, time_first, options)
    return (
        ops.permute_dims(result, (2, 0, 1, 3)),
        *(ops.permute_dims(state, (1, 0, 2)) for state in finals),
    )


def _directions(cell: _Cell, operands: _Operands, options: _Options) -> tuple[Tensor, ...]:
    """Run a cell along time, in each direction.

    The inputs of all steps are multiplied by the kernel at once, so that a step has one product.
    """
    x, (kernels, recurrents, biases, peepholes), lengths, initial = operands
    direction = options.direction
    count = 2 if direction == "bidirectional" else 1
    if direction not in ("forward", "reverse", "bidirectional") or kernels.shape[0] != count:
        raise ValueError(f"direction is {direction!r}, but w has shape {kernels.shape}")
    units = recurrents.shape[-1]
    names = options.activations or cell.activations * count
    functions = _activations(names, options.activation_alpha, options.activation_beta)
    share = len(cell.activations)
    if len(functions) != share * count:
        raise ValueError(f"it needs {share * count} activations, not {len(functions)}")
    outputs, finals = [], []
    for index in range(count):
        bias = ops.zeros((2 * cell.gates * units,)) if biases is None else biases[index]
        input_bias, state_bias = ops.split(bias, 2)
        projected = _products(x, kernels[index], input_bias)
        direction_weights = _Weights(
            recurrents[index], state_bias, None if peepholes is None else peepholes[index]
        )
        states = [
            ops.zeros((x.shape[1], units)) if state is None else state[index] for state in initial
        ]
        own_functions = functions[index * share : (index + 1) * share]
        run = cell.step(direction_weights, own_functions, options.clip)
        is_reverse = direction == "reverse" or index == 1
        output, final = _along_time(projected, states, run, is_reverse, lengths)
        outputs.append(output)
        finals.append(final)
    return ops.stack(outputs, 1), *(ops.stack(states) for states in zip(*finals, strict=True))


def _along_time(
    projected: Tensor,
    states: list[Tensor],
    run: _Step,
    is_reverse: bool,
    lengths: _Lengths,
) -> tuple[Tensor, list[Tensor]]:
    """Run a cell along the first axis, and return the outputs of all steps and the last states."""
    columns = [projected]
    if isinstance(lengths, Tensor) or (lengths and min(lengths) < projected.shape[0]):
        steps = ops.reshape(ops.arange(projected.shape[0], dtype="int32"), (-1, 1, 1))
        columns.append(ops.less(steps, ops.reshape(lengths, (-1, 1))))

    def step(states: list[Tensor], slices: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        value, *masks = slices
        results = run(value, states)
        output = results[0]
        for is_inside in masks:
            output = ops.where(is_inside, output, ops.zeros_like(output))
            results = [
                ops.where(is_inside, result, state)
                for result, state in zip(results, states, strict=True)
            ]
        return results, [output]

    if is_reverse:
        columns = [ops.flip(column, 0) for column in columns]
    states, outputs = scan_slices(step, states, columns)
    if not outputs:
        return ops.zeros((0, *states[0].shape)), states
    return ops.flip(outputs[0], 0) if is_reverse else outputs[0], states


def _limited(x: Tensor, clip: float | None) -> Tensor:
    return x if clip is None else ops.clip(x, -clip, clip)


def _products(x: Tensor, kernel: Tensor, bias: Tensor, residual: Tensor | None = None) -> Tensor:
    return ops.fused.mat_mul(x, kernel, False, True, bias=bias, residual=residual)


# -- cells -------------------------------------------------------------------------------------


def _simple_step(weights: _Weights, functions: list[_Activation], clip: float | None) -> _Step:
    def step(projected: Tensor, states: list[Tensor]) -> list[Tensor]:
        (hidden,) = states
        total = _products(hidden, weights.recurrent, weights.bias, projected)
        return [functions[0](_limited(total, clip))]

    return step


def _gated_step(
    linear_before_reset: int,
    weights: _Weights,
    functions: list[_Activation],
    clip: float | None,
) -> _Step:
    gate, candidate = functions
    update_reset, last = _parts(weights.recurrent)
    biases, last_bias = _parts(weights.bias)

    def step(projected: Tensor, states: list[Tensor]) -> list[Tensor]:
        (hidden,) = states
        units = hidden.shape[-1]
        gates, last_input = ops.split(projected, [2 * units, units], -1)
        gates = _limited(_products(hidden, update_reset, biases, gates), clip)
        update, reset = ops.split(gate(gates), 2, -1)
        if linear_before_reset:
            proposal = last_input + reset * _products(hidden, last, last_bias)
        else:
            proposal = _products(reset * hidden, last, last_bias, last_input)
        proposal = candidate(_limited(proposal, clip))
        return [(1.0 - update) * proposal + update * hidden]

    return step


def _parts(parameter: Tensor) -> tuple[Tensor, Tensor]:
    """Return the parameters of update and reset gates, and those of the candidate."""
    units = parameter.shape[0] // 3
    first, last = ops.split(parameter, [2 * units, units], 0)
    return first, last


def _memory_step(
    input_forget: int, weights: _Weights, functions: list[_Activation], clip: float | None
) -> _Step:
    gate, candidate, activate = functions
    peepholes = None if weights.peepholes is None else ops.split(weights.peepholes, 3)

    def step(projected: Tensor, states: list[Tensor]) -> list[Tensor]:
        hidden, cell = states
        total = _products(hidden, weights.recurrent, weights.bias, projected)
        entry, exit_, forget, proposal = ops.split(total, 4, -1)
        if peepholes is not None:
            entry, forget = entry + peepholes[0] * cell, forget + peepholes[2] * cell
        entry = gate(_limited(entry, clip))
        forget = 1.0 - entry if input_forget else gate(_limited(forget, clip))
        cell = forget * cell + entry * candidate(_limited(proposal, clip))
        if peepholes is not None:
            exit_ = exit_ + peepholes[1] * cell
        return [gate(_limited(exit_, clip)) * activate(cell), cell]

    return step


# -- operators ---------------------------------------------------------------------------------


def simple_network(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: _Lengths = None,
    initial_h: Tensor | None = None,
    *,
    activation_alpha: list[float] | None = None,
    activation_beta: list[float] | None = None,
    activations: list[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    layout: int = 0,
) -> tuple[Tensor, ...]:
    """Run a recurrent network of one gate."""
    cell = _Cell(1, ["Tanh"], _simple_step)
    operands = _Operands(x, (w, r, b, None), sequence_lens, [initial_h])
    options = _Options(activations, activation_alpha, activation_beta, clip, direction, layout)
    return _network(cell, operands, options)


def gated_network(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: _Lengths = None,
    initial_h: Tensor | None = None,
    *,
    activation_alpha: list[float] | None = None,
    activation_beta: list[float] | None = None,
    activations: list[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    layout: int = 0,
    linear_before_reset: int = 0,
) -> tuple[Tensor, ...]:
    """Run a network of gated recurrent units."""
    cell = _Cell(3, ["Sigmoid", "Tanh"], partial(_gated_step, linear_before_reset))
    operands = _Operands(x, (w, r, b, None), sequence_lens, [initial_h])
    options = _Options(activations, activation_alpha, activation_beta, clip, direction, layout)
    return _network(cell, operands, options)


def memory_network(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: _Lengths = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    p: Tensor | None = None,
    *,
    activation_alpha: list[float] | None = None,
    activation_beta: list[float] | None = None,
    activations: list[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    input_forget: int = 0,
    layout: int = 0,
) -> tuple[Tensor, ...]:
    """Run a network of long short-term memory."""
    cell = _Cell(4, ["Sigmoid", "Tanh", "Tanh"], partial(_memory_step, input_forget))
    operands = _Operands(x, (w, r, b, p), sequence_lens, [initial_h, initial_c])
    options = _Options(activations, activation_alpha, activation_beta, clip, direction, layout)
    return _network(cell, operands, options)


def _lengths(value: Tensor) -> list[int] | Tensor:
    return integers(value) if value.storage.is_readable else value


ROWS: dict[str, Row] = {
    "GRU-1": Operator(gated_network, sequence_lens=_lengths).ignoring(
        "hidden_size", "output_sequence"
    ),
    "LSTM-1": Operator(memory_network, sequence_lens=_lengths).ignoring(
        "hidden_size", "output_sequence"
    ),
    "RNN-1": Operator(simple_network, sequence_lens=_lengths).ignoring("hidden_size"),
}
