"""Kernels of pooling, four channels at a time where the channels are a multiple of four."""

from __future__ import annotations

from typing import NamedTuple

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.backends.webgl.window_walk import (
    WINDOW_UNIFORMS,
    over_cells,
    unrolled,
    window_numbers,
)
from webtensor.dtypes import float32
from webtensor.geometry import Window

__all__: list[str] = []

# Comparisons and choices lane by lane, for scalars and for vectors.
_LANE_FUNCTIONS = {
    1: """
#define MASK bool
bool greater(float a, float b) { return nan_or_greater(a, b); }
float choose(bool yes, float a, float b) { return yes ? a : b; }
bool wins(bool better, bool inside, bool first) { return inside && (better || first); }
bool same(float a, float b) { return a == b; }
""",
    4: """
#define MASK bvec4
bvec4 greater(vec4 a, vec4 b) {
  return bvec4(nan_or_greater(a.x, b.x), nan_or_greater(a.y, b.y), nan_or_greater(a.z, b.z),
    nan_or_greater(a.w, b.w));
}
vec4 choose(bvec4 yes, vec4 a, vec4 b) { return mix(b, a, yes); }
bvec4 wins(bvec4 better, bool inside, bool first) {
  return bvec4(inside && (better.x || first), inside && (better.y || first),
    inside && (better.z || first), inside && (better.w || first));
}
bvec4 same(vec4 a, float b) { return equal(a, vec4(b)); }
""",
}

# Walks over the window of one output pixel, in row-major order.
_WINDOW = """
V compute(int t) {
  int channels = outChannels / LANES;
  int channel = split(t, channels);
  int column = split(t, outWidth) * strideWidth - padLeft;
  int row = (t % outHeight) * strideHeight - padTop;
  int batch = t / outHeight;
  START
  CELLS
  return RESULT;
}
"""

_BEST = """
      V x = getX(pixelIndex * channels + channel);
      MASK better = wins(greater(x, best), inside, first);
      first = first && !inside;
      best = choose(better, x, best);"""
_NO_BEST = "V best = V(-infinity()); bool first = true;"

# Walks over the output pixels whose windows contain one input pixel.
_OUTPUTS = """
V compute(int t) {
  int channels = inChannels / LANES;
  int channel = split(t, channels);
  int column = split(t, inWidth);
  int row = t % inHeight;
  int batch = t / inHeight;
  V total = V(0.0);
  for (int i = 0; i < filterHeight; i++) {
    int below = row + padTop - i * dilationHeight;
    int r = below / strideHeight;
    if (below < 0 || r * strideHeight != below || r >= outHeight) continue;
    for (int j = 0; j < filterWidth; j++) {
      int beside = column + padLeft - j * dilationWidth;
      int c = beside / strideWidth;
      if (beside < 0 || c * strideWidth != beside || c >= outWidth) continue;
      int top = r * strideHeight - padTop;
      int left = c * strideWidth - padLeft;
      int elementIndex = ((batch * outHeight + r) * outWidth + c) * channels + channel;
      V dy = getDy(elementIndex);
      BODY
    }
  }
  return total;
}
"""

# The window's maximum is at this cell of it.
_IF_WON = """
      total += choose(same(getWinners(elementIndex), float(i * filterWidth + j)), dy, V(0.0));"""

_SHARE = """
      int rows = 0;
      for (int k = 0; k < filterHeight; k++) {
        int other = top + k * dilationHeight;
        if (other >= 0 && other < inHeight) rows++;
      }
      int columns = 0;
      for (int k = 0; k < filterWidth; k++) {
        int other = left + k * dilationWidth;
        if (other >= 0 && other < inWidth) columns++;
      }
      total += dy / float(rows * columns);"""


class _Walk(NamedTuple):
    """A shader whose ``form`` walks over pixels, with ``body`` at each."""

    name: str
    form: str
    body: str


def _over_window(name: str, start: str, body: str, result: str) -> _Walk:
    return _Walk(name, _WINDOW.replace("START", start).replace("RESULT", result), body)


_MAX_POOL = _over_window("max_pool", _NO_BEST, _BEST, "best")
_MAX_POOL_PICK = _over_window(
    "max_pool_pick",
    f"{_NO_BEST} V picked = V(0.0);",
    f"{_BEST}\n      picked = choose(better, getValues(pixelIndex * channels + channel), picked);",
    "picked",
)
_WINNERS = _over_window(
    "max_pool_winners",
    f"{_NO_BEST} V winner = V(0.0);",
    f"{_BEST}\n      winner = choose(better, V(float(cell)), winner);",
    "winner",
)
_MAX_POOL_SCATTER = _Walk("max_pool_scatter", _OUTPUTS, _IF_WON)
_AVG_POOL = _over_window(
    "avg_pool",
    "V total = V(0.0); int count = 0;",
    "total += within(getX(pixelIndex * channels + channel), inside); count += int(inside);",
    "total / float(count)",
)
_AVG_POOL_GRADIENT = _Walk("avg_pool_gradient", _OUTPUTS, _SHARE)
_DILATION = _over_window(
    "dilation2d",
    _NO_BEST,
    _BEST.replace("channel);", "channel) + getFilter_(cell * channels + channel);", 1),
    "best",
)


def _pool(
    draws: Draws, window: Window, walk: _Walk, operands: dict[str, Value], size: int | None = None
) -> Value:
    """Draw a shader that reads operands by the names in its code.

    The size is the result's by default.
    """
    name, form, body = walk
    lanes = 4 if window.in_channels % 4 == 0 else 1
    cells = unrolled(window, lanes) if "CELLS" in form else None

    def shader() -> Shader:
        code = form.replace("CELLS", over_cells(cells, "BODY")).replace("BODY", body.strip())
        code = _LANE_FUNCTIONS[lanes] + code.replace("LANES", str(lanes))
        sources = [Input(name, float32, lanes) for name in operands]
        return Shader(name, sources, float32, lanes, WINDOW_UNIFORMS, code)

    program = Program((name, lanes, cells), shader)
    elements = draws.size if size is None else size
    return draws.draw(program, [*operands.values()], elements, float32, *window_numbers(window))


@kernel("max_pool")
def max_pool(draws: Draws, window: Window) -> Value:
    """Return the maximum of each window."""
    (x,) = draws.inputs
    return _pool(draws, window, _MAX_POOL, {"x": x})


@kernel("max_pool_pick")
def max_pool_pick(draws: Draws, window: Window) -> Value:
    """Pick from the first operand at the maximum of each window of the second."""
    values, x = draws.inputs
    return _pool(draws, window, _MAX_POOL_PICK, {"values": values, "x": x})


@kernel("max_pool_scatter")
def max_pool_scatter(draws: Draws, window: Window) -> Value:
    """Add the first operand at the maximum of each window of the second."""
    dy, x = draws.inputs
    winners = _pool(draws, window, _WINNERS, {"x": x}, dy.size)
    return _pool(draws, window, _MAX_POOL_SCATTER, {"dy": dy, "winners": winners})


@kernel("avg_pool")
def avg_pool(draws: Draws, window: Window) -> Value:
    """Return the mean of each window, not counting padding."""
    (x,) = draws.inputs
    return _pool(draws, window, _AVG_POOL, {"x": x})


@kernel("avg_pool_gradient")
def avg_pool_gradient(draws: Draws, window: Window) -> Value:
    """Spread each element evenly over its window."""
    (dy,) = draws.inputs
    return _pool(draws, window, _AVG_POOL_GRADIENT, {"dy": dy})


@kernel("dilation2d")
def dilation2d(draws: Draws, window: Window) -> Value:
    """Return the maximum sum of each window and the filter."""
    x, filter = draws.inputs
    return _pool(draws, window, _DILATION, {"x": x, "filter_": filter})
