"""Simple recurrent networks: the output of a step is the state."""

from __future__ import annotations

from typing import Any, ClassVar

from webtensor.engine import Tensor
from webtensor.keras.arguments import ALWAYS, check_positive, forwards_arguments
from webtensor.keras.layers.recurrent.cell import Constants, GatedCell
from webtensor.keras.layers.recurrent.rnn import CellLayer
from webtensor.keras.types import ActivationLike, ConstraintLike, InitializerLike, RegularizerLike

__all__ = ["SimpleRNN", "SimpleRNNCell"]


class SimpleRNNCell(GatedCell):
    """``activation(inputs @ kernel + state @ recurrent_kernel + bias)``.

    Input shape: (batch, size), and a state of shape (batch, units).
    Output shape: (batch, units), and the new state.

    Example:
        >>> from webtensor import keras
        >>> cell = keras.layers.SimpleRNNCell(2)
        >>> keras.layers.RNN(cell)(keras.ops.ones((1, 3, 4))).shape
        (1, 2)
    """

    _gates = 1

    @forwards_arguments
    def __init__(
        self,
        units: int,
        activation: ActivationLike = "tanh",
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
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        check_positive("SimpleRNNCell", units=units)

    @property
    def _has_mask_per_gate(self) -> bool:
        return False

    def next_state(
        self, projected: Tensor, state: Tensor, output: Tensor, constants: Constants
    ) -> Tensor:
        """Return the state after a step."""
        return self.activation(self._gate_sums(output, projected, constants))


class SimpleRNN(CellLayer):
    """A recurrent network whose output is its next state: see ``SimpleRNNCell``.

    Input shape: (batch, steps, size).
    Output shape: (batch, units); with ``return_sequences`` (batch, steps, units); with
    ``return_state`` a list, which goes on with the state.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.SimpleRNN(2, return_sequences=True)(keras.ops.ones((1, 3, 4))).shape
        (1, 3, 2)
    """

    _cell = SimpleRNNCell
    #: As in Keras.
    _config_omits: ClassVar = {"seed": ALWAYS}
    _cell_name = "simple_rnn_cell"

    @forwards_arguments
    def __init__(
        self,
        units: int,
        activation: ActivationLike = "tanh",
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
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None: ...
