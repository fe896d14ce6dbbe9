"""Where the channels of images and sequences are: before the places, or after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor.engine import Tensor
from webtensor.ops import permute_dims

__all__ = [
    "as_data_format",
    "channels_of",
    "image_data_format",
    "places_of",
    "set_image_data_format",
    "with_channels_last",
    "with_places",
]

_FORMATS = ("channels_last", "channels_first")
_default = ["channels_last"]


def image_data_format() -> str:
    """Return what layers take None for: "channels_last" or "channels_first"."""
    return _default[0]


def set_image_data_format(data_format: str) -> None:
    """Set what layers take None for."""
    _default[0] = as_data_format("set_image_data_format", data_format)


def as_data_format(name: str, data_format: Any) -> str:
    """Validate a data format; None is the default.

    Raises:
        ValueError: it is neither "channels_last" nor "channels_first".
    """
    if data_format is None:
        return image_data_format()
    found = str(data_format).lower()
    if found not in _FORMATS:
        raise ValueError(
            f"{name}: data_format must be 'channels_last' or 'channels_first', but got "
            f"{data_format!r}"
        )
    return found


def places_of(shape: Sequence[Any], data_format: str) -> tuple[Any, ...]:
    """Return the lengths of a shape that are neither the batch nor channels."""
    return tuple(shape[1:-1] if data_format == "channels_last" else shape[2:])


def channels_of(shape: Sequence[Any], data_format: str) -> Any:
    """Return the number of channels of a shape."""
    return shape[-1 if data_format == "channels_last" else 1]


def with_places(
    shape: Sequence[Any], places: Sequence[Any], channels: Any, data_format: str
) -> tuple[Any, ...]:
    """Return a shape of the same batch with other lengths."""
    if data_format == "channels_last":
        return (shape[0], *places, channels)
    return (shape[0], channels, *places)


def with_channels_last(
    compute: Callable[..., Tensor], x: Tensor, data_format: str, *options: Any
) -> Tensor:
    """Call a function that has the channels last, whatever ``x`` has."""
    if data_format == "channels_last":
        return compute(x, *options)
    rank = len(x.shape)
    y = compute(permute_dims(x, (0, *range(2, rank), 1)), *options)
    return permute_dims(y, (0, rank - 1, *range(1, rank - 1)))
