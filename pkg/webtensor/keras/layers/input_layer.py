"""The inputs of functional models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from warnings import warn

from webtensor.dtypes import DType
from webtensor.keras.dtypes import standardize_dtype, storage_dtype
from webtensor.keras.layers.layer import Layer
from webtensor.keras.nodes import Node
from webtensor.keras.symbols import KerasTensor, standardize_shape
from webtensor.keras.types import Config, DTypeLike

__all__ = ["Input", "InputLayer"]


class InputLayer(Layer):
    """A layer without computation, whose output is an input of a functional model.

    Args:
        shape: the shape without the batch, where None is any size.
        batch_size: the size of the batch; None for any.
        dtype: a dtype or its name; None is ``keras.config.floatx()``.
        sparse, ragged: False, as there are no sparse or ragged inputs.
        batch_shape: the shape with the batch, instead of ``shape`` and ``batch_size``.
        input_tensor: a symbolic tensor to use as the output; None makes one.
        optional: a boolean, whether the input may be None.

    Raises:
        ValueError: there is no shape, or two, or ``input_tensor`` has another shape or dtype.
    """

    def __init__(
        self,
        shape: int | Sequence[int | None] | None = None,
        batch_size: int | None = None,
        dtype: DTypeLike = None,
        sparse: bool | None = None,
        ragged: bool | None = None,
        batch_shape: Sequence[int | None] | None = None,
        input_tensor: KerasTensor | None = None,
        optional: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if sparse or ragged:
            raise ValueError(
                "InputLayer: sparse and ragged must be False or None, as there are no such "
                f"tensors, but got sparse={sparse} and ragged={ragged}"
            )
        if "input_shape" in kwargs:
            warn("InputLayer: input_shape is deprecated; pass shape", stacklevel=2)
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
                "InputLayer: pass shape and batch_size, or batch_shape, but not both; got shape="
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
        """The dtype of the input."""
        return storage_dtype(self._dtype_name)

    def call(self) -> None:
        """Compute nothing."""

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
    tensor: KerasTensor,
    shape: int | Sequence[int | None] | None,
    batch_size: int | None,
    batch_shape: Sequence[int | None] | None,
    dtype: DTypeLike,
) -> None:
    """Compare ``input_tensor`` with the other arguments."""
    if not isinstance(tensor, KerasTensor):
        raise ValueError(f"InputLayer: input_tensor must be a KerasTensor, but got {tensor!r}")
    for argument, value, tensor_value in (
        ("shape", None if shape is None else standardize_shape(shape), tensor.shape[1:]),
        ("batch_size", batch_size, tensor.shape[0]),
        ("batch_shape", None if batch_shape is None else tuple(batch_shape), tensor.shape),
        ("dtype", None if dtype is None else standardize_dtype(dtype), str(tensor.dtype)),
    ):
        if value is not None and value != tensor_value:
            raise ValueError(
                f"InputLayer: {argument} is {value}, but that of input_tensor is {tensor_value}"
            )


def Input(  # noqa: N802  (Keras's name)
    shape: int | Sequence[int | None] | None = None,
    batch_size: int | None = None,
    dtype: DTypeLike = None,
    sparse: bool | None = None,
    ragged: bool | None = None,
    batch_shape: Sequence[int | None] | None = None,
    name: str | None = None,
    tensor: KerasTensor | None = None,
    optional: bool = False,
) -> KerasTensor:
    """Return a symbolic tensor, an input of a functional model.

    Args:
        shape: the shape without the batch, where None is any size.
        batch_size: the size of the batch; None for any.
        dtype: a dtype or its name; None is ``keras.config.floatx()``.
        sparse, ragged: False, as there are no sparse or ragged inputs.
        batch_shape: the shape with the batch, instead of ``shape`` and ``batch_size``.
        name: a string; None makes one.
        tensor: a symbolic tensor to return, instead of a new one.
        optional: a boolean, whether the input may be None.

    Raises:
        ValueError: there is no shape, or two, or ``tensor`` has another shape or dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.Input((28, 28, 1)).shape
        (None, 28, 28, 1)
    """
    layer = InputLayer(
        shape, batch_size, dtype, sparse, ragged, batch_shape, tensor, optional, name
    )
    output: KerasTensor = layer.output
    return output
