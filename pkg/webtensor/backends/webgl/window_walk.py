"""Geometry of sliding windows as uniforms, and the walk over a window."""

from __future__ import annotations

from webtensor.geometry import Window

__all__ = ["WINDOW_UNIFORMS", "over_cells", "unrolled", "window_numbers"]

#: Walks over windows of at most this many reads are unrolled: loops are slow on some devices, and
#: long shaders slow to compile.
_MAX_READS = 36

_NAMES = (
    "inHeight",
    "inWidth",
    "inChannels",
    "outHeight",
    "outWidth",
    "outChannels",
    "filterHeight",
    "filterWidth",
    "strideHeight",
    "strideWidth",
    "dilationHeight",
    "dilationWidth",
    "padTop",
    "padLeft",
)

#: The window's geometry; the batch is not needed.
WINDOW_UNIFORMS = [(name, "int") for name in _NAMES]


def window_numbers(window: Window) -> tuple[int, ...]:
    """Values of ``WINDOW_UNIFORMS``."""
    return window.numbers[1:]


def unrolled(window: Window, lanes: int) -> tuple[int, int] | None:
    """Return the window's size if the walk over it is unrolled, else None; for programs' keys.

    A program that does not unroll it serves windows of all sizes. ``lanes`` are the result's.
    """
    size = window.filter_height, window.filter_width
    return size if size[0] * size[1] * (4 // lanes) <= _MAX_READS else None


def over_cells(size: tuple[int, int] | None, body: str, before: str = "", after: str = "") -> str:
    """Return code that runs ``body`` at each cell (``i``, ``j``) of a window.

    The window starts at ``row`` and ``column``. ``cell`` is the cell's number and ``pixelIndex``
    the index of the pixel that it reads in the image ``batch``; the pixel is arbitrary unless
    ``inside``, so read it as ``within(x, inside)``. With a ``size``, the walk is unrolled.
    """
    if size is None:
        return f"""for (int i = 0; i < filterHeight; i++) {{
    {_line("i", "")}
    {before}
    for (int j = 0; j < filterWidth; j++) {{
      {_column("j", "")}
      {_cell("", "", body)}
    }}
    {after}
  }}"""
    rows, columns = map(range, size)
    lines = [_line(str(i), str(i)) for i in rows]
    lines += [_column(str(j), str(j)) for j in columns]
    for i in rows:
        lines.append(f"{{ {before}")
        for j in columns:
            cell = _cell(str(i), str(j), body)
            lines.append(f"{{ const int i = {i}; const int j = {j};\n      {cell} }}")
        lines.append(f"{after} }}")
    return "\n  ".join(lines)


def _line(i: str, name: str) -> str:
    return f"""int r{name} = row + {i} * dilationHeight;
    bool inRow{name} = r{name} >= 0 && r{name} < inHeight;
    int line{name} = (batch * inHeight + min(max(r{name}, 0), inHeight - 1)) * inWidth;"""


def _column(j: str, name: str) -> str:
    return f"""int c{name} = column + {j} * dilationWidth;
    bool inColumn{name} = c{name} >= 0 && c{name} < inWidth;
    int at{name} = min(max(c{name}, 0), inWidth - 1);"""


def _cell(line: str, column: str, body: str) -> str:
    return f"""bool inside = inRow{line} && inColumn{column};
      int cell = i * filterWidth + j;
      int pixelIndex = line{line} + at{column};
      {body}"""
