"""Dense layers: each output is a weighted sum of all inputs."""

from __future__ import annotations

from typing import Any

from webtensor.keras import activations
from webtensor.keras.layers.arguments import check_positive
from webtensor.keras.layers.fused_activation import Product, ending
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.lora import Adaptable
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.types import ActivationLike, ConstraintLike, InitializerLike, RegularizerLike
from webtensor.ops import fused, multiply, reshape

__all__ = ["Dense"]


class Dense(Adaptable, Weighted):
    """``activation(x @ kernel + bias)``, along the last axis.

    ``lora_rank`` and ``lora_alpha``: see ``enable_lora``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Dense(3, kernel_initializer="ones")([[1.0, 2.0]]).tolist()
        [[3.0, 3.0, 3.0]]
    """

    def __init__(
        self,
        units: int,
        activation: ActivationLike = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike = "glorot_uniform",
        bias_initializer: InitializerLike = "zeros",
        kernel_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        activity_regularizer: RegularizerLike = None,
        kernel_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        lora_rank: int | None = None,
        lora_alpha: float | None = None,
        quantization_config: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        check_positive("Dense", units=units)
        if quantization_config:
            raise ValueError("Dense: there is no quantization")
        self._take_lora(lora_rank, lora_alpha)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self._take_weights(
            kernel=(kernel_initializer, kernel_regularizer, kernel_constraint),
            bias=(bias_initializer, bias_regularizer, bias_constraint),
        )
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        length = input_shape[-1]
        if length is None:
            raise ValueError(
                f"Dense: the last length of inputs must be known, but their shape is {input_shape}"
            )
        self._kernel = self._make_weight("kernel", (length, self.units))
        self.bias = self._make_weight("bias", (self.units,)) if self.use_bias else None
        self.input_spec = InputSpec(min_ndim=2, axes={-1: length})
        self._build_lora()

    @property
    def kernel(self) -> Any:
        """The kernel: a variable, or a sum where ``enable_lora`` was called."""
        return self._adapted_value() if self.lora_enabled else self._kernel

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Compute the weighted sums."""
        name, rest = ending(self.activation)
        bias = None if self.bias is None else self.bias.value
        return rest(self._sums(inputs, self._adapted_value(), bias, name))

    def product(self) -> Product | None:
        """Return what is computed before the activation; None where the kernel is a sum."""
        if self.lora_enabled:
            return None
        return Product(self._kernel, self.bias, self._sums, multiply)

    def _sums(self, inputs: Any, kernel: Any, bias: Any, ending: str) -> Any:
        rows = inputs if len(inputs.shape) == 2 else reshape(inputs, (-1, inputs.shape[-1]))
        sums = fused.mat_mul(rows, kernel, False, False, bias, ending)
        return sums if rows is inputs else reshape(sums, (*inputs.shape[:-1], self.units))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with the last length replaced by ``units``."""
        return (*input_shape[:-1], self.units)
