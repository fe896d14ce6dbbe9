"""Spectral normalization: a layer whose kernel has the spectral norm 1."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.autodiff.tape import paused
from webtensor.engine import Tensor
from webtensor.keras import initializers
from webtensor.keras.arguments import check_positive
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.wrapper import Wrapper
from webtensor.keras.types import Nested, Shape

__all__ = ["SpectralNormalization"]

#: The maximum factor that a vector is multiplied by to have norm 1.
_MAXIMUM_FACTOR = 1e7


class SpectralNormalization(Wrapper):
    """Divides the kernel of a layer by its largest singular value (Miyato et al., 2018).

    Each call in training does so before it calls the layer, and assigns the result to the kernel.
    Power iteration estimates the singular value, starting from the vector of the last call.

    Args:
        layer: a layer with the attribute ``kernel`` or ``embeddings``.
        power_iterations: a positive integer, the number of steps of each estimation.

    Raises:
        ValueError: ``layer`` is not a layer or has no kernel, or ``power_iterations`` is not
            positive.

    Example:
        >>> from webtensor import keras
        >>> inner = keras.layers.Dense(1, kernel_initializer="ones")
        >>> keras.layers.SpectralNormalization(inner)([[1.0, 3.0]]).tolist()
        [[4.0]]
    """

    def __init__(self, layer: Layer, power_iterations: int = 1, **kwargs: Any) -> None:
        super().__init__(layer, **kwargs)
        check_positive("SpectralNormalization", power_iterations=power_iterations)
        self.power_iterations = power_iterations

    def build(self, input_shape: Shape | None = None) -> None:
        """Build the layer inside, and make the vector."""
        super().build(input_shape)
        if input_shape:
            self.input_spec = InputSpec(min_ndim=1, axes={-1: input_shape[-1]})
        kernel = getattr(self.layer, "kernel", getattr(self.layer, "embeddings", None))
        if kernel is None:
            raise ValueError(
                f"SpectralNormalization: layer must have a kernel or embeddings, but "
                f"{type(self.layer).__name__} has neither"
            )
        self.kernel = kernel
        self.vector_u = self.add_weight(
            name="vector_u",
            shape=(1, kernel.shape[-1]),
            initializer=initializers.TruncatedNormal(stddev=0.02),
            trainable=False,
        )

    def call(self, inputs: Nested[Tensor], training: bool | None = False) -> Nested[Tensor]:
        """Divide the kernel, in training, and call the layer inside."""
        if training:
            with paused():
                self._normalize()
        outputs: Nested[Tensor] = self.layer(inputs)
        return outputs

    def _normalize(self) -> None:
        """Assign the next values of kernel and vector, save for a kernel of zeros."""
        kernel, vector = self.kernel.value, self.vector_u.value
        next_vector, next_kernel = self.normalized_weights()
        is_nonzero = wt.any(wt.not_equal(kernel, 0))
        self.vector_u.assign(wt.where(is_nonzero, next_vector, vector))
        self.kernel.assign(wt.where(is_nonzero, next_kernel, kernel))

    def normalized_weights(self) -> tuple[Tensor, Tensor]:
        """Return the vector after ``power_iterations`` steps, and the normalized kernel."""
        kernel, vector_u = self.kernel.value, self.vector_u.value
        matrix = wt.reshape(kernel, (-1, kernel.shape[-1]))
        vector_v = vector_u
        for _ in range(self.power_iterations):
            vector_v = _unit(wt.matmul(vector_u, matrix, transpose_b=True))
            vector_u = _unit(wt.matmul(vector_v, matrix))
        sigma = wt.matmul(wt.matmul(vector_v, matrix), vector_u, transpose_b=True)
        return vector_u, kernel / wt.reshape(sigma, ())

    def compute_output_shape(self, input_shape: Shape) -> Nested[Shape]:
        """Return the output shape of the layer inside."""
        shape: Nested[Shape] = self.layer.compute_output_shape(input_shape)
        return shape


def _unit(x: Tensor) -> Tensor:
    """Return the vector of norm 1 in the direction of ``x``."""
    return x * wt.minimum(wt.rsqrt(wt.sum(wt.square(x))), _MAXIMUM_FACTOR)
