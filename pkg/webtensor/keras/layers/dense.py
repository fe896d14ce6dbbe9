"""Dense layers: each output is a weighted sum of all inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor.engine import Tensor
from webtensor.keras.arguments import check_positive, forwards_arguments, refuse_quantization
from webtensor.keras.layers.fused_activation import Product, ending
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.lora import Adaptable
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.types import (
    ActivationLike,
    ConstraintLike,
    InitializerLike,
    RegularizerLike,
    Shape,
)
from webtensor.keras.variables import Variable
from webtensor.ops import fused, multiply, reshape

__all__ = ["Dense"]


class Dense(Adaptable, Weighted):
    """``activation(x @ kernel + bias)``, along the last axis.

    Input shape: ``(batch, ..., features)``. Output shape: ``(batch, ..., units)``.

    Args:
        units: a positive integer, the size of the outputs' last axis.

    Raises:
        ValueError: ``units`` is not a positive integer, or ``quantization_config`` is not None.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Dense(3, kernel_initializer="ones")([[1.0, 2.0]]).tolist()
        [[3.0, 3.0, 3.0]]
    """

    units: int
    activation: Callable[..., Tensor]
    use_bias: bool

    @forwards_arguments
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
        quantization_config: None = None,
        **kwargs: Any,
    ) -> None:
        check_positive("Dense", units=units)
        refuse_quantization("Dense", quantization_config=quantization_config)
        self._take_lora(lora_rank, lora_alpha)
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True

    def build(self, input_shape: Shape) -> None:
        """Make the kernel and the bias."""
        features = input_shape[-1]
        if features is None:
            raise ValueError(
                "Dense: the last axis of the inputs must have a known size, but their shape is "
                f"{input_shape}"
            )
        self._kernel = self._make_weight("kernel", (features, self.units))
        self.bias = self._make_weight("bias", (self.units,)) if self.use_bias else None
        self.input_spec = InputSpec(min_ndim=2, axes={-1: features})
        self._build_lora()

    @property
    def kernel(self) -> Variable | Tensor:
        """The kernel: a variable, or a sum where ``enable_lora`` was called."""
        return self._adapted_value() if self.lora_enabled else self._kernel

    def call(self, inputs: Tensor, training: bool | None = None) -> Tensor:
        """Compute the weighted sums."""
        fused_name, activation = ending(self.activation)
        bias = None if self.bias is None else self.bias.value
        return activation(self._sums(inputs, self._adapted_value(), bias, fused_name))

    def product(self) -> Product | None:
        """Return what is computed before the activation; None where the kernel is a sum."""
        if self.lora_enabled:
            return None
        return Product(self._kernel, self.bias, self._sums, multiply)

    def _sums(self, inputs: Tensor, kernel: Tensor, bias: Tensor | None, fused_name: str) -> Tensor:
        rows = inputs if len(inputs.shape) == 2 else reshape(inputs, (-1, inputs.shape[-1]))
        sums = fused.mat_mul(rows, kernel, False, False, bias, fused_name)
        return sums if rows is inputs else reshape(sums, (*inputs.shape[:-1], self.units))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape with ``units`` as the size of the last axis."""
        return (*input_shape[:-1], self.units)
