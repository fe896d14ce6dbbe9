"""The arguments that layers are created with, besides those that each class declares."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from webtensor.keras.arguments import accepted_arguments, unknown_argument
from webtensor.keras.symbols import standardize_shape
from webtensor.keras.types import Shape

__all__ = ["check_required", "take_input_shape"]

#: Arguments that describe the input of a Sequential model that begins with the layer.
_SHAPE_ARGUMENTS = frozenset(
    {"batch_input_shape", "batch_shape", "batch_size", "input_dim", "input_shape"}
)


def check_required(cls: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Name the misspelt argument where Python would say that a required one is missing.

    Raises:
        TypeError: a required argument is missing, and another is unknown.
    """
    unknown = kwargs.keys() - set(accepted_arguments(cls)) - _SHAPE_ARGUMENTS
    if unknown:
        try:
            signature(cls.__init__).bind(None, *args, **kwargs)  # type: ignore[misc]
        except TypeError:
            raise TypeError(unknown_argument(cls, min(unknown))) from None


def take_input_shape(kwargs: dict[str, Any]) -> Shape | None:
    """Take the shape arguments out of ``kwargs``; return the shape that they describe, if any.

    It has the batch as its first dimension.
    """
    input_dim = kwargs.pop("input_dim", None)
    input_shape = kwargs.pop("input_shape", None if input_dim is None else (input_dim,))
    batch_size = kwargs.pop("batch_size", None) if input_shape is not None else None
    batch_shape = kwargs.pop("batch_input_shape", None)
    batch_shape = kwargs.pop("batch_shape", batch_shape)
    if batch_shape is None and input_shape is not None:
        batch_shape = (batch_size, *standardize_shape(input_shape))
    return None if batch_shape is None else standardize_shape(batch_shape)
