"""Long short-term memory: states of which gates choose what is kept and what is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import activations
from webtensor.keras.layers.argument_checks import check_positive, given
from webtensor.keras.layers.recurrent.cell import Constants, GatedCell
from webtensor.keras.layers.recurrent.rnn import CellLayer
from webtensor.keras.types import ActivationLike, ConstraintLike, InitializerLike, RegularizerLike
from webtensor.ops.cells import lstm_state

__all__ = ["LSTM", "LSTMCell", "MemoryCell"]

_OPTIONS = (
    "units",
    "activation",
    "recurrent_activation",
    "use_bias",
    "kernel_initializer",
    "recurrent_initializer",
    "bias_initializer",
    "unit_forget_bias",
    "kernel_regularizer",
    "recurrent_regularizer",
    "bias_regularizer",
    "kernel_constraint",
    "recurrent_constraint",
    "bias_constraint",
    "dropout",
    "recurrent_dropout",
    "seed",
)


class MemoryCell(GatedCell):
    """A cell with four gates, whose state is what it shows and a memory, side by side.

    Gates are what enters, what is kept (the forget gate), the candidate, and what is shown.
    """

    recurrent_activation: Callable[..., Tensor]
    _gates = 4
    _states = 2

    def advance(self, share: Tensor, state: Tensor, shown: Tensor, constants: Constants) -> Tensor:
        """Return the next state."""
        gates = self._own(shown, share, constants)
        if self.activation is activations.tanh and self.recurrent_activation is activations.sigmoid:
            return lstm_state(gates, state)
        enter, forget, candidate, leave = wt.split(gates, 4, -1)
        memory = self.unpacked(state)[1] * self.recurrent_activation(forget)
        memory = memory + self.recurrent_activation(enter) * self.activation(candidate)
        return wt.concat([self.recurrent_activation(leave) * self.activation(memory), memory], -1)

    def packed(self, states: Sequence[Tensor]) -> Tensor:
        """Put what is shown and the memory side by side."""
        return wt.concat(list(states), -1)

    def unpacked(self, state: Tensor) -> list[Tensor]:
        """Return what is shown, and the memory."""
        return wt.split(state, 2, -1)

    def shown(self, state: Tensor) -> Tensor:
        """Return what is shown."""
        *lengths, last = state.shape
        return wt.slice(state, (0,) * len(state.shape), (*lengths, last // 2))


class LSTMCell(MemoryCell):
    """One step of long short-term memory (Hochreiter & Schmidhuber, 1997).

    ``memory = forget * memory + enter * candidate`` and ``output = leave * activation(memory)``,
    where ``enter``, ``forget`` and ``leave`` are ``recurrent_activation``, and ``candidate`` is
    ``activation``, of ``inputs @ kernel + output @ recurrent_kernel + bias``. With
    ``unit_forget_bias`` the bias of ``forget`` begins with ones.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.RNN(keras.layers.LSTMCell(2))(keras.ops.ones((1, 3, 4))).shape
        (1, 2)
    """

    _options = _OPTIONS

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
        super().__init__(**given(locals()))

    def build(self, input_shape: Any) -> None:
        """Make the kernels and the bias."""
        self._add_weights(input_shape[-1:], (self.units,), self.units)


class LSTM(CellLayer):
    """Long short-term memory along sequences: see ``LSTMCell``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.LSTM(2, return_sequences=True)(keras.ops.ones((1, 3, 4))).shape
        (1, 3, 2)
    """

    _cell = LSTMCell
    _cell_name = "lstm_cell"

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
    ) -> None:
        super().__init__(**given(locals()))
