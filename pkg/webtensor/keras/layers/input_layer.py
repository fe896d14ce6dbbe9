"""The beginning of a functional model."""

from __future__ import annotations

from typing import Any
from warnings import warn

from webtensor.dtypes import DType
from webtensor.keras.dtypes import held_dtype, standardize_dtype
from webtensor.keras.layers.layer import Layer
from webtensor.keras.nodes import Node
from webtensor.keras.symbols import KerasTensor, standardize_shape
from webtensor.keras.types import Config, DTypeLike

__all__ = ["Input", "InputLayer"]


class InputLayer(Layer):
    """A layer without computation, whose output is the model's input."""

    def __init__(
        self,
        shape: Any = None,
        batch_size: int | None = None,
        dtype: DTypeLike = None,
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
        if "input_shape" in kwargs:
            warn("InputLayer: input_shape is deprecated; give shape", stacklevel=2)
            shape = kwargs.pop("input_shape")
        batch_shape = kwargs.pop("batch_input_shape", batch_shape)
        super().__init__(name=name, **kwargs)
        if input_tensor is not None:
            _check_tensor(input_tensor, shape, batch_size, batch_shape, dtype)
            batch_shape, dtype = input_tensor.shape, dtype or input_tensor.dtype
        elif batch_shape is None:
            if shape is None:
                raise ValueError("InputLayer: shape is missing")
            batch_shape = (batch_size, *standardize_shape(shape))
        elif shape is not None or batch_size is not None:
            raise ValueError(
                "InputLayer: give shape and batch_size, or batch_shape, but not both; got shape="
                f"{shape}, batch_size={batch_size}, batch_shape={batch_shape}"
            )
        self.batch_shape = standardize_shape(batch_shape)
        self.sparse = self.ragged = False
        self.optional = optional
        self._dtype_name = standardize_dtype(dtype)
        if input_tensor is None:
            input_tensor = KerasTensor(self.batch_shape, dtype, name=self.name)
        Node(self, (), {}, input_tensor)
        self.built = True

    @property
    def dtype(self) -> DType:
        """Dtype that the input is held in."""
        return held_dtype(self._dtype_name)

    def call(self) -> None:
        """Nothing is computed."""

    def get_config(self) -> Config:
        """Return the shape, the dtype and the name."""
        return {
            "batch_shape": self.batch_shape,
            "dtype": self._dtype_name,
            "sparse": False,
            "ragged": False,
            "name": self.name,
            "optional": self.optional,
        }


def _check_tensor(
    tensor: Any, shape: Any, batch_size: int | None, batch_shape: Any, dtype: Any
) -> None:
    """Compare what is said of a symbolic tensor with it."""
    if not isinstance(tensor, KerasTensor):
        raise ValueError(f"InputLayer: input_tensor must be a KerasTensor, but got {tensor!r}")
    for argument, value, own in (
        ("shape", None if shape is None else standardize_shape(shape), tensor.shape[1:]),
        ("batch_size", batch_size, tensor.shape[0]),
        ("batch_shape", None if batch_shape is None else tuple(batch_shape), tensor.shape),
        ("dtype", None if dtype is None else standardize_dtype(dtype), str(tensor.dtype)),
    ):
        if value is not None and value != own:
            raise ValueError(
                f"InputLayer: {argument} is {value}, but that of input_tensor is {own}"
            )


def Input(  # noqa: N802  (Keras's name)
    shape: Any = None,
    batch_size: int | None = None,
    dtype: DTypeLike = None,
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
