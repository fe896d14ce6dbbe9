"""3×3 convolutions by Winograd's minimal filtering (see ``wasm_build/source/winograd.c``).

An input that is infinite or NaN makes results NaN one pixel further than those that read it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.contraction import PRODUCTS_AT_ONCE, epilogue_arguments
from webtensor.backends.wasm.descriptions import (
    RESULT,
    Address,
    Call,
    Description,
    Geometry,
    Packed,
    operands,
    scratch,
)
from webtensor.backends.wasm.groups import regrouped
from webtensor.backends.wasm.packed_weights import TRANSFORMED, packed_bytes
from webtensor.environment import env
from webtensor.geometry import Window

__all__ = ["WINOGRAD"]

#: With fewer channels, transforming the tiles takes the time that is saved.
_MINIMUM_CHANNELS: Final = 16
#: Pixels outside the input are read from a row of zeros, which has this many channels.
_MAXIMUM_CHANNELS: Final = 1024
#: Elements of a transformed tile, each of which takes a product for each pair of channels.
_POSITIONS: Final = 16
#: The minimum of tiles for a filter, by its pairs of channels: with fewer, transforming it takes
#: the time that is saved. Transformed filters are 16/9 as large, and large ones are read
#: from memory.
_MINIMUM_TILES: Final = {256 * 256: 16, 1024 * 512: 48}
#: A filter's gradient is added up for a few tiles at a time: of larger ones, that takes longer.
_MAXIMUM_CHANNELS_OF_GRADIENT: Final = 256
_MAXIMUM_SIZE_OF_GRADIENT: Final = 256 * 256


def _conv2d(of: Signature, window: Window, groups: int, *epilogue: Any) -> Description | None:
    """Describe a convolution."""
    if not _saves_time(window, groups):
        return None
    packed = Packed(1, window.out_channels // groups, TRANSFORMED, groups)
    return _description(
        of, window, groups, packed, False, epilogue_arguments(operands(of)[2:], *epilogue)
    )


def _input_gradient(of: Signature, window: Window, groups: int) -> Description | None:
    """Describe an input gradient, a convolution by the filter rotated by 180°."""
    of_gradient = window._replace(
        in_height=window.out_height,
        in_width=window.out_width,
        in_channels=window.out_channels,
        out_height=window.in_height,
        out_width=window.in_width,
        out_channels=window.in_channels,
        pad_top=2 - window.pad_top,
        pad_left=2 - window.pad_left,
    )
    if not _saves_time(of_gradient, groups):
        return None
    return _description(of, of_gradient, groups, 0, True, epilogue_arguments(()))


def _filter_gradient(of: Signature, window: Window, groups: int) -> Description | None:
    """Describe a filter's gradient, the sum of the gradients of all tiles."""
    channels, columns = window.in_channels, window.out_channels
    is_large = (
        channels > _MAXIMUM_CHANNELS_OF_GRADIENT or channels * columns > _MAXIMUM_SIZE_OF_GRADIENT
    )
    if groups > 1 or is_large or not _saves_time(window, 1):
        return None
    work = _POSITIONS * channels * columns * _tiles(window) / PRODUCTS_AT_ONCE
    arguments = (Address(0), Address(1), RESULT, scratch(0), Geometry(window.numbers))
    call = Call(("winograd_filter_gradient",), arguments, work, True)
    return Description(of.bytes, (call,), (packed_bytes(9 * channels, columns, TRANSFORMED),))


def _saves_time(window: Window, groups: int) -> bool:
    channels, columns = window.in_channels // groups, window.out_channels // groups
    return (
        window.filter_height == window.filter_width == 3
        and (window.stride_height, window.stride_width) == (1, 1)
        and (window.dilation_height, window.dilation_width) == (1, 1)
        and _MINIMUM_CHANNELS <= channels <= _MAXIMUM_CHANNELS
        and columns >= _MINIMUM_CHANNELS
        and any(
            channels * columns <= size and _tiles(window) >= min_tiles
            for size, min_tiles in _MINIMUM_TILES.items()
        )
        and env().get_bool("WASM_WINOGRAD")
    )


def _tiles(window: Window) -> int:
    """Return the number of tiles of 2×2 pixels of the output."""
    return window.batch * -(-window.out_height // 2) * -(-window.out_width // 2)


def _description(
    of: Signature,
    window: Window,
    groups: int,
    packed: Packed | int,
    is_reversed: bool,
    epilogue: tuple[Any, ...],
) -> Description:
    """Transform the filter, then convolve."""
    channels, columns = window.in_channels // groups, window.out_channels // groups
    products = _POSITIONS * groups * channels * columns / PRODUCTS_AT_ONCE
    filter = scratch(0)
    transform = Call(
        ("winograd_filter",),
        (Address(1), filter, packed, channels, columns, groups, int(is_reversed)),
        products,
    )
    x = regrouped(of.inputs[0], groups, scratch(1))
    convolve = Call(
        ("winograd_conv2d",),
        (x.address, filter, RESULT, Geometry(window.numbers), groups, *epilogue),
        products * _tiles(window),
        True,
    )
    size = packed_bytes(groups * 9 * channels, columns, TRANSFORMED)
    return Description(of.bytes, (transform, *x.calls, convolve), (size, *x.scratch))


#: Functions that describe kernels, or return None where a direct one takes less time.
WINOGRAD: Final[dict[str, Callable[..., Description | None]]] = {
    "conv2d": _conv2d,
    "conv2d_input_gradient": _input_gradient,
    "conv2d_filter_gradient": _filter_gradient,
}
