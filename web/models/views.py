"""Shows an output: its largest values, a heat map, or plain numbers."""

from collections.abc import Sequence
from heapq import nlargest
from typing import Any, NamedTuple

import js

import webtensor as wt
from webtensor.shapes import prod
from webtensor.transfer import javascript_bytes

#: The views, by the values of the page's choices.
VIEWS = {"largest": "largest values", "map": "heat map", "numbers": "numbers"}
LARGEST = 10
NUMBERS = 120
#: What is shown as a heat map at first: the shorter side, and how many times as long the other is.
MIN_MAP, LONGEST_MAP = 8, 4
MAX_PIXELS = 1 << 22
#: The colours of a heat map from its least to its largest value, as red, green and blue.
COLOURS = (
    (13, 8, 45),
    (74, 24, 110),
    (176, 46, 91),
    (237, 105, 37),
    (252, 181, 44),
    (252, 250, 190),
)


class Output(NamedTuple):
    """An output that was computed, with its elements on the host."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    values: Sequence[Any]

    @property
    def numbers(self) -> list[float]:
        """The elements as numbers; complex ones are their magnitudes."""
        return [abs(value) if isinstance(value, complex) else float(value) for value in self.values]


async def read(name: str, tensor: wt.Tensor) -> Output:
    """Return an output's elements."""
    return Output(name, tensor.shape, str(tensor.dtype), await tensor.data())


def views_of(output: Output) -> list[str]:
    """Return the views that an output has, the best one first."""
    if output.dtype == "string" or not output.values:
        return ["numbers"]
    views = ["largest", "numbers"] if max(output.shape, default=1) > 1 else ["numbers"]
    planes = _planes(output.shape)
    if planes is not None and prod(output.shape) <= MAX_PIXELS:
        short, long = sorted(planes[1:3])
        is_map = short >= MIN_MAP and long <= LONGEST_MAP * short
        views.insert(0 if is_map else len(views), "map")
    return views


# -- the largest values --------------------------------------------------------------------------


def show_largest(output: Output, parent: Any) -> None:
    """Fill a list with the largest values, each with its index and a bar."""
    values = output.numbers
    best = nlargest(LARGEST, range(len(values)), key=values.__getitem__)
    parent.innerHTML = "".join(
        f"<li>{_written_index(index, output.shape)}<i></i><span>{values[index]:.4g}</span></li>"
        for index in best
    )
    low = min(0.0, *(values[index] for index in best))
    span = max(0.0, values[best[0]]) - low or 1.0
    for item, index in zip(parent.children, best, strict=True):
        item.children[0].style.setProperty("--share", f"{(values[index] - low) / span:.4f}")


def _written_index(index: int, shape: Sequence[int]) -> str:
    """Write an element's index, without axes that have one element."""
    indices = []
    for size in reversed(shape):
        index, position = divmod(index, size)
        if size > 1:
            indices.append(str(position))
    return ", ".join(reversed(indices)) or "0"


# -- heat maps -----------------------------------------------------------------------------------


def _planes(shape: Sequence[int]) -> tuple[int, int, int, bool] | None:
    """Return how many planes of which height and width an output has, and if they come last."""
    sizes = list(shape)
    while len(sizes) > 3 and sizes[0] == 1:
        del sizes[0]
    match sizes:
        case [height, width] if height > 1 and width > 1:
            return 1, height, width, False
        case [1, height, width] if height > 1 and width > 1:
            return 1, height, width, False
        case [first, second, third] if min(sizes[:2]) > 1 or second > 1 < third:
            # The channels are fewer than either side.
            if first < min(second, third):
                return first, second, third, False
            return third, first, second, True
    return None


def plane_count(output: Output) -> int:
    """Return how many heat maps an output has."""
    planes = _planes(output.shape)
    return 1 if planes is None else planes[0]


def draw_heat_map(output: Output, plane: int, canvas: Any) -> str:
    """Draw one plane of an output, and return what it shows in words."""
    planes = _planes(output.shape)
    assert planes is not None
    count, height, width, is_last = planes
    size = height * width
    part = slice(plane, None, count) if is_last else slice(plane * size, (plane + 1) * size)
    values = output._replace(values=output.values[part]).numbers
    finite = [value for value in values if abs(value) < float("inf")]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    scale = 255 / (high - low) if high > low else 0.0
    levels = bytes(
        round((value - low) * scale) if low <= value <= high else 255 * (value > high)
        for value in values
    )
    rgba = bytearray(b"\xff") * (4 * size)
    for channel, table in enumerate(_TABLES):
        rgba[channel::4] = levels.translate(table)
    canvas.width, canvas.height = width, height
    pixels = js.Uint8ClampedArray.new(javascript_bytes(rgba).buffer)
    canvas.getContext("2d").putImageData(js.ImageData.new(pixels, width, height), 0, 0)
    return f"{width} × {height}, from {low:.4g} (dark) to {high:.4g} (bright)"


def _table(channel: int) -> bytes:
    """Return one channel's byte of each of the 256 colours."""
    steps = len(COLOURS) - 1
    table = []
    for level in range(256):
        index, part = divmod(level * steps / 255, 1)
        below, above = COLOURS[int(index)], COLOURS[min(int(index) + 1, steps)]
        table.append(round(below[channel] * (1 - part) + above[channel] * part))
    return bytes(table)


_TABLES = tuple(_table(channel) for channel in range(3))


# -- numbers -------------------------------------------------------------------------------------


def plain_numbers(output: Output) -> str:
    """Write the first elements."""
    values = output.values[:NUMBERS]
    if output.dtype == "string":
        texts = [repr(value.decode(errors="replace")) for value in values]
    elif output.dtype in ("int32", "bool"):
        texts = [str(value) for value in values]
    else:
        texts = [f"{value:.6g}" for value in values]
    omitted = len(output.values) - len(texts)
    return "  ".join(texts) + (f"  … and {omitted:,} more" if omitted else "")
