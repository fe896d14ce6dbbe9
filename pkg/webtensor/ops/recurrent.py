"""Cells of recurrent networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from webtensor.dtypes import string_
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops.activations import sigmoid
from webtensor.ops.binary import add, multiply
from webtensor.ops.casting import as_float
from webtensor.ops.contraction import matmul
from webtensor.ops.movement import concat, split
from webtensor.ops.trigonometry import tanh

__all__ = ["basic_lstm_cell", "multi_rnn_cell"]

Cell = Callable[[Tensor, Tensor, Tensor], Sequence[Tensor]]


def basic_lstm_cell(
    forget_bias: TensorLike,
    lstm_kernel: TensorLike,
    lstm_bias: TensorLike,
    data: TensorLike,
    c: TensorLike,
    h: TensorLike,
) -> tuple[Tensor, Tensor]:
    """One step of a long short-term memory (Hochreiter & Schmidhuber, 1997): the new ``(c, h)``.

    ``data`` is (batch, inputs), ``c`` and ``h`` are (batch, units), ``lstm_kernel`` is (inputs +
    units, 4 × units) and ``lstm_bias`` (4 × units,), with the gates in the order input, candidate,
    forget, output. ``forget_bias`` is added to the forget gate.

    Raises:
        ValueError: shapes that do not fit.

    Example:
        >>> import webtensor as wt
        >>> one, state = wt.ones((1, 1)), wt.zeros((1, 1))
        >>> c, h = wt.basic_lstm_cell(1.0, wt.zeros((2, 4)), wt.zeros((4,)), one, state, state)
        >>> c.tolist(), h.tolist()
        ([[0.0]], [[0.0]])
    """
    name = "basic_lstm_cell"

    def operand(argument: str, value: TensorLike, rank: int | None) -> Tensor:
        tensor = as_float(name, argument, value)
        if rank is not None and len(tensor.shape) != rank:
            raise ValueError(
                f"{name}: {argument} must have rank {rank}, but its shape is {tensor.shape}"
            )
        return tensor

    inputs, memory, state = operand("data", data, 2), operand("c", c, 2), operand("h", h, 2)
    kernel, bias = operand("lstm_kernel", lstm_kernel, 2), operand("lstm_bias", lstm_bias, 1)
    batch, units = state.shape
    if memory.shape != state.shape or inputs.shape[0] != batch:
        raise ValueError(
            f"{name}: c and h must be (batch, units) for the batch of data, but data.shape="
            f"{inputs.shape}, c.shape={memory.shape} and h.shape={state.shape}"
        )
    kernel_shape = (inputs.shape[1] + units, 4 * units)
    if kernel.shape != kernel_shape or bias.shape != (4 * units,):
        raise ValueError(
            f"{name}: lstm_kernel must have shape {kernel_shape} and lstm_bias {(4 * units,)} for "
            f"{inputs.shape[1]} inputs and {units} units, but they have {kernel.shape} and "
            f"{bias.shape}"
        )
    gates = add(matmul(concat([inputs, state], 1), kernel), bias)
    enter, candidate, forget, leave = split(gates, 4, 1)
    remembered = multiply(memory, sigmoid(add(forget, operand("forget_bias", forget_bias, None))))
    new_memory = add(remembered, multiply(sigmoid(enter), tanh(candidate)))
    return new_memory, multiply(tanh(new_memory), sigmoid(leave))


def multi_rnn_cell(
    lstm_cells: Sequence[Cell],
    data: TensorLike,
    c: Sequence[TensorLike],
    h: Sequence[TensorLike],
) -> tuple[list[Tensor], list[Tensor]]:
    """One step of stacked cells, each fed with the state of the one before: the new ``(c, h)``.

    A cell is called with ``(data, c, h)`` and returns the new ``(c, h)``; ``c`` and ``h`` hold one
    state for each cell.

    ``data`` has shape (batch, inputs), each state (batch, units), as the results have.

    Raises:
        TypeError: ``data``, ``c`` or ``h`` holds strings.
        ValueError: there are more or fewer states than cells.

    Example:
        >>> import webtensor as wt
        >>> kernel, bias, state = wt.zeros((2, 4)), wt.zeros((4,)), wt.zeros((1, 1))
        >>> cell = lambda data, c, h: wt.basic_lstm_cell(1.0, kernel, bias, data, c, h)
        >>> c, h = wt.multi_rnn_cell([cell, cell], [[1.0]], [state] * 2, [state] * 2)
        >>> len(c), h[1].tolist()
        (2, [[0.0]])
    """
    for argument, sequence in (("lstm_cells", lstm_cells), ("c", c), ("h", h)):
        if not hasattr(sequence, "__len__"):
            raise TypeError(f"multi_rnn_cell: {argument} must be a sequence, but got {sequence!r}")
    cells = list(lstm_cells)
    if not len(cells) == len(c) == len(h):
        raise ValueError(
            f"multi_rnn_cell: c and h must hold one state for each of {len(cells)} cells, but they "
            f"hold {len(c)} and {len(h)}"
        )

    def numbers(argument: str, value: TensorLike) -> Tensor:
        tensor = as_operand("multi_rnn_cell", value)
        if tensor.dtype is string_:
            raise TypeError(f"multi_rnn_cell: {argument} must hold numbers, but it is string")
        return tensor

    signal = numbers("data", data)
    new_c, new_h = [], []
    for cell, memory, state in zip(cells, c, h, strict=True):
        new_state = cell(signal, numbers("c", memory), numbers("h", state))
        new_c.append(new_state[0])
        new_h.append(new_state[1])
        signal = new_state[1]
    return new_c, new_h
