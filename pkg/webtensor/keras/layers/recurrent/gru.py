"""Gated recurrent units: states of which gates choose what is replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import activations
from webtensor.keras.layers.argument_checks import check_positive, given
from webtensor.keras.layers.recurrent.cell import Constants, GatedCell
from webtensor.keras.layers.recurrent.rnn import CellLayer
from webtensor.keras.types import ActivationLike, ConstraintLike, InitializerLike, RegularizerLike
from webtensor.ops.cells import gru_mixed_state, gru_reset_state, gru_state
from webtensor.ops.movement import part

__all__ = ["GRU", "GRUCell"]

_OPTIONS = (
    "units",
    "activation",
    "recurrent_activation",
    "use_bias",
    "kernel_initializer",
    "recurrent_initializer",
    "bias_initializer",
    "kernel_regularizer",
    "recurrent_regularizer",
    "bias_regularizer",
    "kernel_constraint",
    "recurrent_constraint",
    "bias_constraint",
    "dropout",
    "recurrent_dropout",
    "reset_after",
    "seed",
)


class GRUCell(GatedCell):
    """One step of a gated recurrent unit (Cho et al., 2014).

    ``output = update * state + (1 - update) * candidate``, where ``update`` and ``reset`` are
    ``recurrent_activation`` of ``inputs @ kernel + state @ recurrent_kernel + bias``. In the
    ``candidate``, which is ``activation`` of such a sum, ``reset`` multiplies the state's product
    with the kernel, which has a bias of its own, or, without ``reset_after``, the state before.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.RNN(keras.layers.GRUCell(2))(keras.ops.ones((1, 3, 4))).shape
        (1, 2)
    """

    reset_after: bool
    recurrent_activation: Callable[..., Tensor]
    _options = _OPTIONS
    _gates = 3

    def __init__(
        self,
        units: int,
        activation: ActivationLike = "tanh",
        recurrent_activation: ActivationLike = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: InitializerLike = "glorot_uniform",
        recurrent_initializer: InitializerLike = "orthogonal",
        bias_initializer: InitializerLike = "zeros",
        kernel_regularizer: RegularizerLike = None,
        recurrent_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        kernel_constraint: ConstraintLike = None,
        recurrent_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        reset_after: bool = True,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        check_positive("GRUCell", units=units)
        super().__init__(**given(locals()))

    def build(self, input_shape: Any) -> None:
        """Make the kernels and the bias."""
        self._add_weights(input_shape[-1:], (self.units,), self.units)

    def _bias_shape(self, columns: int) -> tuple[int, ...]:
        return (2, columns) if self.reset_after else (columns,)

    def _input_bias(self) -> Tensor | None:
        if self.bias is None:
            return None
        return part(self.bias.value, 0, 0) if self.reset_after else self.bias.value

    @property
    def _is_usual(self) -> bool:
        return (
            self.activation is activations.tanh and self.recurrent_activation is activations.sigmoid
        )

    def advance(self, share: Tensor, state: Tensor, shown: Tensor, constants: Constants) -> Tensor:
        """Return the next state."""
        if self.reset_after:
            return self._reset_after(share, state, constants)
        return self._reset_before(share, state, constants)

    def constants(self, training: bool) -> Constants:
        """Return what all steps of a sequence have in common."""
        kernels, bias, dropped = super().constants(training)
        if self.reset_after:
            bias = bias if self.bias is None else part(self.bias.value, 0, 1)
        elif not dropped:
            kernels = wt.split(kernels[0], [2 * self.units, self.units], -1)
        return Constants(kernels, bias, dropped)

    def _reset_after(self, share: Tensor, state: Tensor, constants: Constants) -> Tensor:
        kernels, bias, dropped = constants
        if dropped:
            own = self._masked_own(state, kernels) + bias
        else:
            own = wt.fused.mat_mul(state, kernels[0], bias=bias)
        if self._is_usual:
            return gru_state(share, own, state)
        update, reset, candidate = wt.split(share, 3, -1)
        own_update, own_reset, own_candidate = wt.split(own, 3, -1)
        reset = self.recurrent_activation(reset + own_reset)
        return self._mixed(
            self.recurrent_activation(update + own_update), candidate + reset * own_candidate, state
        )

    def _reset_before(self, share: Tensor, state: Tensor, constants: Constants) -> Tensor:
        *kernels, last = constants.kernels
        gates, candidate = wt.split(share, [2 * self.units, self.units], -1)
        if constants.dropped:
            gates = gates + self._masked_own(state, kernels)
        else:
            gates = gates + wt.matmul(state, kernels[0])
        if self._is_usual:
            kept = gru_reset_state(gates, state)
        else:
            update, reset = wt.split(self.recurrent_activation(gates), 2, -1)
            kept = reset * state
        if constants.dropped:
            kept = kept * self.get_recurrent_dropout_mask(state)[2]
        candidate = candidate + wt.matmul(kept, last)
        if self._is_usual:
            return gru_mixed_state(gates, candidate, state)
        return self._mixed(update, candidate, state)

    def _mixed(self, update: Tensor, candidate: Tensor, state: Tensor) -> Tensor:
        mixed: Tensor = update * state + (1 - update) * self.activation(candidate)
        return mixed


class GRU(CellLayer):
    """Gated recurrent units along sequences: see ``GRUCell``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GRU(2, return_sequences=True)(keras.ops.ones((1, 3, 4))).shape
        (1, 3, 2)
    """

    _cell = GRUCell
    _cell_name = "gru_cell"

    def __init__(
        self,
        units: int,
        activation: ActivationLike = "tanh",
        recurrent_activation: ActivationLike = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: InitializerLike = "glorot_uniform",
        recurrent_initializer: InitializerLike = "orthogonal",
        bias_initializer: InitializerLike = "zeros",
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
        reset_after: bool = True,
        use_cudnn: bool | str = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__(**given(locals()))
