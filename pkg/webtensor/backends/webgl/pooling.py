"""Kernels of pooling, four channels at a time where the channels are a multiple of four."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Operand
from webtensor.backends.webgl.backend import WebGLBackend, kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.windows import WINDOW_UNIFORMS, window_numbers
from webtensor.dtypes import DType, float32
from webtensor.geometry import Window
from webtensor.shapes import Shape

__all__: list[str] = []

# Comparisons and choices lane by lane, for scalars and for vectors.
_LANE_FUNCTIONS = {
    1: """
#define MASK bool
bool greater(float a, float b) { return (is_nan(a) && !is_nan(b)) || a > b; }
float choose(bool yes, float a, float b) { return yes ? a : b; }
""",
    4: """
#define MASK bvec4
bool greater1(float a, float b) { return (is_nan(a) && !is_nan(b)) || a > b; }
bvec4 greater(vec4 a, vec4 b) {
  return bvec4(greater1(a.x, b.x), greater1(a.y, b.y), greater1(a.z, b.z), greater1(a.w, b.w));
}
vec4 choose(bvec4 yes, vec4 a, vec4 b) { return mix(b, a, yes); }
""",
}

# Walks over the window of one output place, in row-major order.
_WINDOW = """
V compute(int t) {
  int channels = outChannels / LANES;
  int channel = split(t, channels);
  int column = split(t, outWidth) * strideWidth - padLeft;
  int row = (t % outHeight) * strideHeight - padTop;
  int batch = t / outHeight;
  START
  for (int i = 0; i < filterHeight; i++) {
    int r = row + i * dilationHeight;
    if (r < 0 || r >= inHeight) continue;
    for (int j = 0; j < filterWidth; j++) {
      int c = column + j * dilationWidth;
      if (c < 0 || c >= inWidth) continue;
      int place = ((batch * inHeight + r) * inWidth + c) * channels + channel;
      BODY
    }
  }
  return RESULT;
}
"""

_BEST = """
      V x = getX(place);
      MASK better = greater(x, best);
      if (first) better = MASK(true);
      first = false;
      best = choose(better, x, best);"""

# Walks over the output places whose windows hold one input place.
_PLACES = """
V compute(int t) {
  int channels = inChannels / LANES;
  int here = t;
  int channel = split(t, channels);
  int column = split(t, inWidth);
  int row = t % inHeight;
  int batch = t / inHeight;
  V total = V(0.0);
  for (int i = 0; i < filterHeight; i++) {
    int r = row + padTop - i * dilationHeight;
    if (r < 0 || r % strideHeight != 0 || r / strideHeight >= outHeight) continue;
    r /= strideHeight;
    for (int j = 0; j < filterWidth; j++) {
      int c = column + padLeft - j * dilationWidth;
      if (c < 0 || c % strideWidth != 0 || c / strideWidth >= outWidth) continue;
      c /= strideWidth;
      int top = r * strideHeight - padTop;
      int left = c * strideWidth - padLeft;
      V dy = getDy(((batch * outHeight + r) * outWidth + c) * channels + channel);
      BODY
    }
  }
  return total;
}
"""

# An earlier place of the window wins where it is as great, a later one where it is greater.
_IF_GREATEST = """
      V x = getX(here);
      MASK wins = MASK(true);
      for (int k = 0; k < filterHeight; k++) {
        int other_r = top + k * dilationHeight;
        if (other_r < 0 || other_r >= inHeight) continue;
        for (int l = 0; l < filterWidth; l++) {
          int other_c = left + l * dilationWidth;
          if (other_c < 0 || other_c >= inWidth || (other_r == row && other_c == column)) continue;
          V other = getX(((batch * inHeight + other_r) * inWidth + other_c) * channels + channel);
          bool earlier = other_r < row || (other_r == row && other_c < column);
          V loses = choose(greater(other, x), V(1.0), V(0.0));
          if (earlier) loses = choose(greater(x, other), V(0.0), V(1.0));
          wins = KEEP;
        }
      }
      total += choose(wins, dy, V(0.0));"""
_KEEP = {1: "wins && loses == 0.0", 4: "bvec4(vec4(wins) * (1.0 - loses))"}

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


def _pool(
    backend: WebGLBackend,
    name: str,
    names: Sequence[str],
    inputs: Sequence[Operand],
    size: int,
    window: Window,
    code: str,
) -> Handle:
    lanes = 4 if window.in_channels % 4 == 0 else 1

    def shader() -> Shader:
        filled = code.replace("KEEP", _KEEP[lanes]).replace("LANES", str(lanes))
        sources = [Input(name, float32, lanes) for name in names]
        return Shader(
            name, sources, float32, lanes, WINDOW_UNIFORMS, _LANE_FUNCTIONS[lanes] + filled
        )

    return backend.run((name, lanes), shader, inputs, size, float32, *window_numbers(window))


def _over_window(start: str, body: str, result: str) -> str:
    filled = _WINDOW.replace("START", start).replace("BODY", body.strip())
    return filled.replace("RESULT", result)


def _out_size(window: Window) -> int:
    return window.batch * window.out_height * window.out_width * window.out_channels


def _in_size(window: Window) -> int:
    return window.batch * window.in_height * window.in_width * window.in_channels


@kernel("max_pool")
def max_pool(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Greatest element of each window."""
    code = _over_window("V best = V(-infinity()); bool first = true;", _BEST, "best")
    return _pool(backend, "max_pool", ["x"], inputs, _out_size(window), window, code)


@kernel("max_pool_pick")
def max_pool_pick(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Pick from the first operand where the windows of the second are greatest."""
    body = _BEST + "\n      picked = choose(better, getValues(place), picked);"
    start = "V best = V(-infinity()); bool first = true; V picked = V(0.0);"
    code = _over_window(start, body, "picked")
    size = _out_size(window)
    return _pool(backend, "max_pool_pick", ["values", "x"], inputs, size, window, code)


@kernel("max_pool_scatter")
def max_pool_scatter(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Add the first operand where the windows of the second are greatest."""
    code = _PLACES.replace("BODY", _IF_GREATEST.strip())
    size = _in_size(window)
    return _pool(backend, "max_pool_scatter", ["dy", "x"], inputs, size, window, code)


@kernel("avg_pool")
def avg_pool(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Mean of each window, padding not counted."""
    code = _over_window(
        "V total = V(0.0); int count = 0;", "total += getX(place); count++;", "total / float(count)"
    )
    return _pool(backend, "avg_pool", ["x"], inputs, _out_size(window), window, code)


@kernel("avg_pool_gradient")
def avg_pool_gradient(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Spread each element evenly over its window."""
    code = _PLACES.replace("BODY", _SHARE.strip())
    return _pool(backend, "avg_pool_gradient", ["dy"], inputs, _in_size(window), window, code)


@kernel("dilation2d")
def dilation2d(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Greatest sum of each window and the filter."""
    body = _BEST.replace(
        "getX(place)", "getX(place) + getFilter_((i * filterWidth + j) * channels + channel)"
    )
    code = _over_window("V best = V(-infinity()); bool first = true;", body, "best")
    names = ["x", "filter_"]
    return _pool(backend, "dilation2d", names, inputs, _out_size(window), window, code)
