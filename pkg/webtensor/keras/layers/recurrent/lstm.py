"""Long short-term memory: gates choose what the memory keeps and what of it becomes the output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import activations
from webtensor.keras.arguments import check_positive, forwards_arguments
from webtensor.keras.layers.recurrent.cell import Constants, GatedCell
from webtensor.keras.layers.recurrent.rnn import CellLayer
from webtensor.keras.types import ActivationLike, ConstraintLike, InitializerLike, RegularizerLike
from webtensor.ops.cells import lstm_state

__all__ = ["LSTM", "LSTMCell", "MemoryCell"]


class MemoryCell(GatedCell):
    """A cell with four gates, whose state is the output and the memory, side by side.

    The gates are, in this order, those of the input, of forgetting, of the candidate, and of the
    output.
    """

    _gates = 4
    _states = 2

    def next_state(
        self, projected: Tensor, state: Tensor, output: Tensor, constants: Constants
    ) -> Tensor:
        """Return the state after a step."""
        gates = self._gate_sums(output, projected, constants)
        if self.activation is activations.tanh and self.recurrent_activation is activations.sigmoid:
            return lstm_state(gates, state)
        input_gate, forget_gate, candidate, output_gate = wt.split(gates, 4, -1)
        _, memory = self._split_state(state)
        memory = memory * self.recurrent_activation(forget_gate)
        memory = memory + self.recurrent_activation(input_gate) * self.activation(candidate)
        output = self.recurrent_activation(output_gate) * self.activation(memory)
        return wt.concat([output, memory], -1)

    def _split_state(self, state: Tensor) -> list[Tensor]:
        return wt.split(state, 2, -1)

    def pack_state(self, states: Sequence[Tensor]) -> Tensor:
        """Return the output and the memory side by side."""
        return wt.concat(list(states), -1)

    def unpack_state(self, state: Tensor) -> list[Tensor]:
        """Return the output and the memory."""
        return self._split_state(state)

    def output_of(self, state: Tensor) -> Tensor:
        """Return the output."""
        *sizes, last = state.shape
        return wt.slice(state, (0,) * len(state.shape), (*sizes, last // 2))


class LSTMCell(MemoryCell):
    """One step of long short-term memory (Hochreiter & Schmidhuber, 1997).

    ``memory = forget * memory + input * candidate`` and ``output = gate * activation(memory)``,
    where ``input``, ``forget`` and ``gate`` are ``recurrent_activation``, and ``candidate`` is
    ``activation``, of ``inputs @ kernel + output @ recurrent_kernel + bias``. With
    ``unit_forget_bias`` the bias of ``forget`` starts with ones.

    Input shape: (batch, size), and a state of two tensors of shape (batch, units).
    Output shape: (batch, units), and the new state.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.RNN(keras.layers.LSTMCell(2))(keras.ops.ones((1, 3, 4))).shape
        (1, 2)
    """

    @forwards_arguments
    def __init__(
        self,
        units: int,
        activation: ActivationLike = "tanh",
        recurrent_activation: ActivationLike = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: InitializerLike = "glorot_uniform",
        recurrent_initializer: InitializerLike = "orthogonal",
        bias_initializer: InitializerLike = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: RegularizerLike = None,
        recurrent_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        kernel_constraint: ConstraintLike = None,
        recurrent_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        check_positive("LSTMCell", units=units)


class LSTM(CellLayer):
    """Long short-term memory along sequences: see ``LSTMCell``.

    Input shape: (batch, steps, size).
    Output shape: (batch, units); with ``return_sequences`` (batch, steps, units); with
    ``return_state`` a list, which goes on with the state.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.LSTM(2, return_sequences=True)(keras.ops.ones((1, 3, 4))).shape
        (1, 3, 2)
    """

    _cell = LSTMCell
    _cell_name = "lstm_cell"

    @forwards_arguments
    def __init__(
        self,
        units: int,
        activation: ActivationLike = "tanh",
        recurrent_activation: ActivationLike = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: InitializerLike = "glorot_uniform",
        recurrent_initializer: InitializerLike = "orthogonal",
        bias_initializer: InitializerLike = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: RegularizerLike = None,
        recurrent_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        activity_regularizer: RegularizerLike = None,
        kernel_constraint: ConstraintLike = None,
        recurrent_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        use_cudnn: bool | str = "auto",
        **kwargs: Any,
    ) -> None: ...
