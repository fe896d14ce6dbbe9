"""Data formats: whether the channels of images and sequences come first or last.

The dimensions between the batch and the channels, or after both, are the spatial ones: the length
of a sequence, the height and width of an image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from webtensor.engine import Tensor
from webtensor.ops import permute_dims

__all__ = [
    "as_data_format",
    "channels_of",
    "image_data_format",
    "set_image_data_format",
    "spatial_shape_of",
    "with_channels_last",
    "with_spatial_shape",
]

P = ParamSpec("P")
#: A size, which may be None in shapes of symbolic tensors, or whatever there is per dimension.
Entry = TypeVar("Entry")

_FORMATS = ("channels_last", "channels_first")
_default = ["channels_last"]


def image_data_format() -> str:
    """Return the default data format: "channels_last" or "channels_first"."""
    return _default[0]


def set_image_data_format(data_format: str) -> None:
    """Set the default data format."""
    _default[0] = as_data_format("set_image_data_format", data_format)


def as_data_format(name: str, data_format: object) -> str:
    """Validate a data format; None is the default.

    Raises:
        ValueError: it is neither "channels_last" nor "channels_first".
    """
    if data_format is None:
        return image_data_format()
    validated = str(data_format).lower()
    if validated not in _FORMATS:
        raise ValueError(
            f"{name}: data_format must be 'channels_last' or 'channels_first', but got "
            f"{data_format!r}"
        )
    return validated


def spatial_shape_of(shape: Sequence[Entry], data_format: str) -> tuple[Entry, ...]:
    """Return the sizes of the spatial dimensions of a shape."""
    return tuple(shape[1:-1] if data_format == "channels_last" else shape[2:])


def channels_of(shape: Sequence[Entry], data_format: str) -> Entry:
    """Return the number of channels of a shape."""
    return shape[-1 if data_format == "channels_last" else 1]


def with_spatial_shape(
    shape: Sequence[Entry], spatial_shape: Sequence[Entry], channels: Entry, data_format: str
) -> tuple[Entry, ...]:
    """Return a shape with the batch size of ``shape``, and other sizes and channels."""
    if data_format == "channels_last":
        return (shape[0], *spatial_shape, channels)
    return (shape[0], channels, *spatial_shape)


def with_channels_last(
    compute: Callable[Concatenate[Tensor, P], Tensor],
    x: Tensor,
    data_format: str,
    *args: P.args,
    **kwargs: P.kwargs,
) -> Tensor:
    """Call a function of tensors with the channels last on a tensor of either data format."""
    if data_format == "channels_last":
        return compute(x, *args, **kwargs)
    rank = len(x.shape)
    y = compute(permute_dims(x, (0, *range(2, rank), 1)), *args, **kwargs)
    return permute_dims(y, (0, rank - 1, *range(1, rank - 1)))
