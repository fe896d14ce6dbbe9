"""Simple recurrent networks: what is shown is the state."""

from __future__ import annotations

from typing import Any

from webtensor.engine import Tensor
from webtensor.keras.layers.argument_checks import check_positive, given
from webtensor.keras.layers.recurrent.cell import Constants, GatedCell
from webtensor.keras.layers.recurrent.rnn import CellLayer
from webtensor.keras.types import (
    ActivationLike,
    Config,
    ConstraintLike,
    InitializerLike,
    RegularizerLike,
)

__all__ = ["SimpleRNN", "SimpleRNNCell"]

_OPTIONS = (
    "units",
    "activation",
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
    "seed",
)


class SimpleRNNCell(GatedCell):
    """``activation(inputs @ kernel + state @ recurrent_kernel + bias)``.

    Example:
        >>> from webtensor import keras
        >>> cell = keras.layers.SimpleRNNCell(2)
        >>> keras.layers.RNN(cell)(keras.ops.ones((1, 3, 4))).shape
        (1, 2)
    """

    _options = _OPTIONS
    _gates = 1

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
        super().__init__(**given(locals()))

    @property
    def _masks(self) -> int | None:
        return None

    def build(self, input_shape: Any) -> None:
        """Make the kernels and the bias."""
        self._add_weights(input_shape[-1:], (self.units,), self.units)

    def advance(self, share: Tensor, state: Tensor, shown: Tensor, constants: Constants) -> Tensor:
        """Return the next state."""
        made: Tensor = self.activation(self._own(shown, share, constants))
        return made


class SimpleRNN(CellLayer):
    """A recurrent network whose output is its next state: see ``SimpleRNNCell``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.SimpleRNN(2, return_sequences=True)(keras.ops.ones((1, 3, 4))).shape
        (1, 3, 2)
    """

    _cell = SimpleRNNCell
    _cell_name = "simple_rnn_cell"

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
    ) -> None:
        super().__init__(**given(locals()))

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer, save for the seed, as Keras."""
        config = super().get_config()
        del config["seed"]
        return config
