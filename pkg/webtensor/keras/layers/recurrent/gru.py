"""Gated recurrent units: gates choose how much of the state is replaced."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import activations
from webtensor.keras.arguments import check_positive, forwards_arguments
from webtensor.keras.layers.recurrent.cell import Constants, GatedCell
from webtensor.keras.layers.recurrent.rnn import CellLayer
from webtensor.keras.types import ActivationLike, ConstraintLike, InitializerLike, RegularizerLike
from webtensor.ops.cells import gru_mixed_state, gru_reset_state, gru_state
from webtensor.ops.movement import part

__all__ = ["GRU", "GRUCell"]


class GRUCell(GatedCell):
    """One step of a gated recurrent unit (Cho et al., 2014).

    ``output = update * state + (1 - update) * candidate``, where ``update`` and ``reset`` are
    ``recurrent_activation`` of ``inputs @ kernel + state @ recurrent_kernel + bias``. In the
    ``candidate``, which is ``activation`` of such a sum, ``reset`` multiplies the state's product
    with the kernel, which has a bias of its own, or, without ``reset_after``, the state before.

    Input shape: (batch, size), and a state of shape (batch, units).
    Output shape: (batch, units), and the new state.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.RNN(keras.layers.GRUCell(2))(keras.ops.ones((1, 3, 4))).shape
        (1, 2)
    """

    reset_after: bool
    _gates = 3

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

    def _bias_shape(self, columns: int) -> tuple[int, ...]:
        return (2, columns) if self.reset_after else (columns,)

    def _input_bias(self) -> Tensor | None:
        if self.bias is None:
            return None
        return part(self.bias.value, 0, 0) if self.reset_after else self.bias.value

    @property
    def _has_default_activations(self) -> bool:
        return (
            self.activation is activations.tanh and self.recurrent_activation is activations.sigmoid
        )

    def constants(self, training: bool) -> Constants:
        """Return what all steps of a sequence share."""
        kernels, bias, drops_states = super().constants(training)
        if self.reset_after:
            bias = bias if self.bias is None else part(self.bias.value, 0, 1)
        elif not drops_states:
            kernels = wt.split(kernels[0], [2 * self.units, self.units], -1)
        return Constants(kernels, bias, drops_states)

    def next_state(
        self, projected: Tensor, state: Tensor, output: Tensor, constants: Constants
    ) -> Tensor:
        """Return the state after a step."""
        if self.reset_after:
            return self._reset_after_product(projected, state, constants)
        return self._reset_before_product(projected, state, constants)

    def _reset_after_product(
        self, projected: Tensor, state: Tensor, constants: Constants
    ) -> Tensor:
        kernels, bias, drops_states = constants
        if drops_states:
            recurrent = self._masked_product(state, kernels) + bias
        else:
            recurrent = wt.fused.mat_mul(state, kernels[0], bias=bias)
        if self._has_default_activations:
            return gru_state(projected, recurrent, state)
        update, reset, candidate = wt.split(projected, 3, -1)
        recurrent_update, recurrent_reset, recurrent_candidate = wt.split(recurrent, 3, -1)
        update = self.recurrent_activation(update + recurrent_update)
        reset = self.recurrent_activation(reset + recurrent_reset)
        return self._mixed(update, candidate + reset * recurrent_candidate, state)

    def _reset_before_product(
        self, projected: Tensor, state: Tensor, constants: Constants
    ) -> Tensor:
        *gate_kernels, candidate_kernel = constants.kernels
        gates, candidate = wt.split(projected, [2 * self.units, self.units], -1)
        if constants.drops_states:
            gates = gates + self._masked_product(state, gate_kernels)
        else:
            gates = gates + wt.matmul(state, gate_kernels[0])
        if self._has_default_activations:
            reset_state = gru_reset_state(gates, state)
        else:
            update, reset = wt.split(self.recurrent_activation(gates), 2, -1)
            reset_state = wt.multiply(reset, state)
        if constants.drops_states:
            masks = self.get_recurrent_dropout_mask(state)
            assert isinstance(masks, list)
            reset_state = wt.multiply(reset_state, masks[2])
        candidate = candidate + wt.matmul(reset_state, candidate_kernel)
        if self._has_default_activations:
            return gru_mixed_state(gates, candidate, state)
        return self._mixed(update, candidate, state)

    def _mixed(self, update: Tensor, candidate: Tensor, state: Tensor) -> Tensor:
        """Return the state, replaced by the candidate as far as the update gate says."""
        return wt.add(update * state, (1 - update) * self.activation(candidate))


class GRU(CellLayer):
    """Gated recurrent units along sequences: see ``GRUCell``.

    Input shape: (batch, steps, size).
    Output shape: (batch, units); with ``return_sequences`` (batch, steps, units); with
    ``return_state`` a list, which goes on with the state.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GRU(2, return_sequences=True)(keras.ops.ones((1, 3, 4))).shape
        (1, 3, 2)
    """

    _cell = GRUCell
    _cell_name = "gru_cell"

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
    ) -> None: ...
