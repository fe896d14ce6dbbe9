"""Spectral normalization: a layer whose kernel never stretches a vector."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.autodiff.tape import paused
from webtensor.engine import Tensor
from webtensor.keras import initializers
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.wrapper import Wrapper

__all__ = ["SpectralNormalization"]

#: The greatest factor that a vector is multiplied by to have length 1.
_GREATEST_FACTOR = 1e7


class SpectralNormalization(Wrapper):
    """Divides the kernel of a layer by its greatest singular value (Miyato et al., 2018).

    That is done before each call in training, and the kernel keeps its new value. The value is
    found by ``power_iterations`` steps from the vector that the last call ended with.

    Example:
        >>> from webtensor import keras
        >>> inner = keras.layers.Dense(1, kernel_initializer="ones")
        >>> keras.layers.SpectralNormalization(inner)([[1.0, 3.0]]).tolist()
        [[4.0]]
    """

    def __init__(self, layer: Any, power_iterations: int = 1, **kwargs: Any) -> None:
        super().__init__(layer, **kwargs)
        if power_iterations <= 0:
            raise ValueError(
                f"SpectralNormalization: power_iterations must be positive, but got "
                f"{power_iterations}"
            )
        self.power_iterations = power_iterations

    def build(self, input_shape: Any = None) -> None:
        """Build the layer inside, and make the vector."""
        super().build(input_shape)
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

    def call(self, inputs: Any, training: bool | None = False) -> Any:
        """Divide the kernel, in training, and call the layer inside."""
        if training:
            with paused():
                self._normalize()
        return self.layer(inputs)

    def _normalize(self) -> None:
        """Give kernel and vector their next values; a kernel of zeros stays."""
        kernel, vector = self.kernel.value, self.vector_u.value
        next_vector, next_kernel = self.normalized_weights()
        has_any = wt.any(wt.not_equal(kernel, 0))
        self.vector_u.assign(wt.where(has_any, next_vector, vector))
        self.kernel.assign(wt.where(has_any, next_kernel, kernel))

    def normalized_weights(self) -> tuple[Tensor, Tensor]:
        """Return the vector after ``power_iterations`` steps, and the kernel divided."""
        kernel, first = self.kernel.value, self.vector_u.value
        rows = wt.reshape(kernel, (-1, kernel.shape[-1]))
        for_rows, for_columns = first, first
        for _ in range(self.power_iterations):
            for_rows = _unit(wt.matmul(for_columns, rows, transpose_b=True))
            for_columns = _unit(wt.matmul(for_rows, rows))
        stretch = wt.matmul(wt.matmul(for_rows, rows), for_columns, transpose_b=True)
        return for_columns, kernel / wt.reshape(stretch, ())

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return what the layer inside returns."""
        return self.layer.compute_output_shape(input_shape)


def _unit(x: Tensor) -> Tensor:
    """The vector of length 1 in the direction of another."""
    return x * wt.minimum(wt.rsqrt(wt.sum(wt.square(x))), _GREATEST_FACTOR)
