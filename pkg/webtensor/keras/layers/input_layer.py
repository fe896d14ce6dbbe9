"""The beginning of a functional model."""

from __future__ import annotations

from typing import Any

from webtensor.keras.layers.layer import Layer
from webtensor.keras.symbols import KerasTensor, Node, standardize_shape

__all__ = ["Input", "InputLayer"]


class InputLayer(Layer):
    """A layer without computation, whose output is the model's input."""

    def __init__(
        self,
        shape: Any = None,
        batch_size: int | None = None,
        dtype: Any = None,
        sparse: bool | None = None,
        ragged: bool | None = None,
        batch_shape: Any = None,
        input_tensor: KerasTensor | None = None,
        optional: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if sparse or ragged:
            raise ValueError("InputLayer: there are no sparse or ragged inputs")
        batch_shape = kwargs.pop("batch_input_shape", batch_shape)
        super().__init__(dtype=dtype, name=name, **kwargs)
        if input_tensor is not None:
            batch_shape, dtype = input_tensor.shape, input_tensor.dtype
        elif batch_shape is None:
            if shape is None:
                raise ValueError("InputLayer: shape is missing")
            batch_shape = (batch_size, *standardize_shape(shape))
        self.batch_shape = standardize_shape(batch_shape)
        self.optional = optional
        output = input_tensor or KerasTensor(self.batch_shape, self.compute_dtype, name=self.name)
        Node(self, (), {}, output)
        self.built = True

    def call(self) -> None:
        """Nothing is computed."""

    def get_config(self) -> dict[str, Any]:
        """Return the shape, the dtype and the name."""
        return {
            "batch_shape": self.batch_shape,
            "dtype": str(self.compute_dtype),
            "sparse": False,
            "ragged": False,
            "name": self.name,
            "optional": self.optional,
        }


def Input(  # noqa: N802  (Keras's name)
    shape: Any = None,
    batch_size: int | None = None,
    dtype: Any = None,
    sparse: bool | None = None,
    ragged: bool | None = None,
    batch_shape: Any = None,
    name: str | None = None,
    tensor: KerasTensor | None = None,
    optional: bool = False,
) -> KerasTensor:
    """Return a symbolic tensor to begin a functional model with.

    Example:
        >>> from webtensor import keras
        >>> keras.Input((28, 28, 1)).shape
        (None, 28, 28, 1)
    """
    layer = InputLayer(
        shape, batch_size, dtype, sparse, ragged, batch_shape, tensor, optional, name
    )
    made: KerasTensor = layer.output
    return made
