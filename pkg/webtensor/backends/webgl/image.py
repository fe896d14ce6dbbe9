"""Kernels that resample images, four channels at a time where the channels are a multiple of four.

Gradients are gathered: a fragment walks over the outputs that may read its input pixel.
"""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Operand
from webtensor.backends.webgl.backend import WebGLBackend, kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.dtypes import DType, float32, int32
from webtensor.geometry import Resize, Sampling
from webtensor.shapes import Shape, prod

__all__: list[str] = []

# -- resizing -----------------------------------------------------------------------------------

#: The fields of ``Resize`` after the batch.
_RESIZE_UNIFORMS = [
    (name, "int")
    for name in (
        *("inHeight", "inWidth", "channels", "outHeight", "outWidth"),
        *("rowStep", "rowOffset", "rowDivisor", "columnStep", "columnOffset", "columnDivisor"),
    )
]

# The place (i * step + offset) / divisor, rounded down, and the rest of it. Places are at least -1,
# and GLSL leaves the division of negative integers to the device.
_PLACES = """
int low(int i, int step_, int offset, int divisor, out float fraction) {
  int place = i * step_ + offset + divisor;
  fraction = float(place % divisor) / float(divisor);
  return place / divisor - 1;
}
int lowRow(int i, out float fraction) { return low(i, rowStep, rowOffset, rowDivisor, fraction); }
int lowColumn(int i, out float fraction) {
  return low(i, columnStep, columnOffset, columnDivisor, fraction);
}
"""

_OUTPUT_PIXEL = """
V compute(int t) {
  int pixel = channels / LANES;
  int channel = t % pixel; t /= pixel;
  float across, down;
  int left = lowColumn(t % outWidth, across); t /= outWidth;
  int top = lowRow(t % outHeight, down);
  int image = t / outHeight;
"""

_BILINEAR = (
    _PLACES
    + """
V blend(V a, V b, float fraction) { return fraction == 0.0 ? a : a + (b - a) * fraction; }
"""
    + _OUTPUT_PIXEL
    + """
  int upper = (image * inHeight + clamp(top, 0, inHeight - 1)) * inWidth;
  int lower = (image * inHeight + clamp(top + 1, 0, inHeight - 1)) * inWidth;
  int right = clamp(left + 1, 0, inWidth - 1);
  left = clamp(left, 0, inWidth - 1);
  V above = blend(getX((upper + left) * pixel + channel), getX((upper + right) * pixel + channel),
    across);
  V below = blend(getX((lower + left) * pixel + channel), getX((lower + right) * pixel + channel),
    across);
  return blend(above, below, down);
}
"""
)

_NEAREST = (
    _PLACES
    + _OUTPUT_PIXEL
    + """
  int row = image * inHeight + clamp(top, 0, inHeight - 1);
  return getX((row * inWidth + clamp(left, 0, inWidth - 1)) * pixel + channel);
}
"""
)

# Outputs within one pixel of an input place; those beyond the edges read the edges.
_GRADIENT = (
    _PLACES
    + """
int first(int place, int step_, int offset, int divisor) {
  int start = (place - 1) * divisor - offset;
  return place == 0 || start < 0 ? 0 : start / step_ + 1;
}
int last(int place, int places, int outputs, int step_, int offset, int divisor) {
  if (place == places - 1) return outputs - 1;
  int end = (place + 1) * divisor - offset - 1;
  return end < 0 ? -1 : min(end / step_, outputs - 1);
}
float weight(int place, int low_, float fraction, int places) { return WEIGHT; }
V compute(int t) {
  int pixel = channels / LANES;
  int channel = t % pixel; t /= pixel;
  int column = t % inWidth; t /= inWidth;
  int row = t % inHeight;
  int image = t / inHeight;
  int left = first(column, columnStep, columnOffset, columnDivisor);
  int right = last(column, inWidth, outWidth, columnStep, columnOffset, columnDivisor);
  int bottom = last(row, inHeight, outHeight, rowStep, rowOffset, rowDivisor);
  V total = V(0.0);
  for (int i = first(row, rowStep, rowOffset, rowDivisor); i <= bottom; i++) {
    float fraction;
    int place = lowRow(i, fraction);
    float down = weight(row, place, fraction, inHeight);
    if (down == 0.0) continue;
    for (int j = left; j <= right; j++) {
      place = lowColumn(j, fraction);
      float across = weight(column, place, fraction, inWidth);
      if (across == 0.0) continue;
      total += getDy(((image * outHeight + i) * outWidth + j) * pixel + channel) * (down * across);
    }
  }
  return total;
}
"""
)
_BILINEAR_WEIGHT = (
    "(place == clamp(low_, 0, places - 1) ? 1.0 - fraction : 0.0) "
    "+ (place == clamp(low_ + 1, 0, places - 1) ? fraction : 0.0)"
)
_NEAREST_WEIGHT = "place == clamp(low_, 0, places - 1) ? 1.0 : 0.0"


def _resize(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    name: str,
    operand: str,
    code: str,
    sizes: Resize,
) -> Handle:
    lanes = 4 if sizes.channels % 4 == 0 else 1

    def shader() -> Shader:
        sources = [Input(operand, dtype, lanes)]
        filled = code.replace("LANES", str(lanes))
        return Shader(name, sources, dtype, lanes, _RESIZE_UNIFORMS, filled)

    return backend.run((name, dtype, lanes), shader, inputs, prod(shape), dtype, *sizes[1:])


@kernel("resize_bilinear")
def resize_bilinear(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, sizes: Resize
) -> Handle:
    """Interpolate along the width, then along the height."""
    return _resize(backend, inputs, shape, dtype, "resize_bilinear", "x", _BILINEAR, sizes)


@kernel("resize_nearest")
def resize_nearest(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, sizes: Resize
) -> Handle:
    """Pick the nearest pixels."""
    return _resize(backend, inputs, shape, dtype, "resize_nearest", "x", _NEAREST, sizes)


@kernel("resize_bilinear_gradient")
def resize_bilinear_gradient(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, sizes: Resize
) -> Handle:
    """Transpose of ``resize_bilinear``."""
    code = _GRADIENT.replace("WEIGHT", _BILINEAR_WEIGHT)
    return _resize(backend, inputs, shape, dtype, "resize_bilinear_gradient", "dy", code, sizes)


@kernel("resize_nearest_gradient")
def resize_nearest_gradient(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, sizes: Resize
) -> Handle:
    """Transpose of ``resize_nearest``."""
    code = _GRADIENT.replace("WEIGHT", _NEAREST_WEIGHT)
    return _resize(backend, inputs, shape, dtype, "resize_nearest_gradient", "dy", code, sizes)


# -- projective sampling ------------------------------------------------------------------------

#: Fields of ``Sampling`` that the shader reads.
_SAMPLE_UNIFORMS = [
    *(
        (name, "int")
        for name in ("batch", "inHeight", "inWidth", "channels", "outHeight", "outWidth")
    ),
    ("fill", "float"),
]

#: Whether anything of an image may be read at a coordinate, and where, by fill mode.
_INSIDE = {
    0: "x > -2.0 && x < whole + 1.0",
    # What rounding moved out of the image by a hair lies on its edge.
    4: "x >= -1e-6 * whole && x <= whole - 1.0 + 1e-6 * whole",
}
_MAPPED = {
    0: "  return x;",
    1: """
  if (whole > 1.0) {
    float period = 2.0 * whole;
    if (x < 0.0) {
      x = trunc(-x / period) * period + x;
      x = x < -whole ? x + period : -x - 1.0;
    } else if (x > whole - 1.0) {
      x = x - trunc(x / period) * period;
      if (x >= whole) x = period - x - 1.0;
    }
  }
  return clamp(x, 0.0, whole - 1.0);""",
    2: """
  float last = whole - 1.0;
  if (whole > 1.0) {
    if (x < 0.0) x = x + (trunc(-x / last) + 1.0) * whole;
    else if (x > last) x = x - trunc(x / last) * whole;
  }
  return clamp(x, 0.0, last);""",
}
_CLAMPED = "  return clamp(x, 0.0, whole - 1.0);"

_SAMPLE = """
bool isInside(float x, float whole) { return INSIDE; }
float mapped(float x, float whole) {
MAPPED
}
V pixelAt(int image, int row, int column, int channel) {
  if (row < 0 || row >= inHeight || column < 0 || column >= inWidth) return V(fill);
  return getX(((image * inHeight + row) * inWidth + column) * (channels / LANES) + channel);
}
float rounded(float x) { float f = floor(x); return x - f >= 0.5 ? f + 1.0 : f; }
V weighted(V a, V b, float w) { return w == 0.0 ? a : a * (1.0 - w) + b * w; }
V compute(int t) {
  int channel = t % (channels / LANES); t /= channels / LANES;
  float x = float(t % outWidth); t /= outWidth;
  float y = float(t % outHeight);
  int n = t / outHeight;
  int image = getIndices(n);
  vec4 a = getTransforms(2 * n), b = getTransforms(2 * n + 1);
  float projection = b.z * x + b.w * y + 1.0;
  if (image < 0 || image >= batch || projection == 0.0) return V(fill);
  float across = (a.x * x + a.y * y + a.z) / projection;
  float down = (a.w * x + b.x * y + b.y) / projection;
  if (!(isInside(across, float(inWidth)) && isInside(down, float(inHeight)))) return V(fill);
  across = mapped(across, float(inWidth));
  down = mapped(down, float(inHeight));
  READ
}
"""
_READ = {
    0: "return pixelAt(image, int(rounded(down)), int(rounded(across)), channel);",
    1: """float right = across - floor(across), lower = down - floor(down);
  int row = int(floor(down)), column = int(floor(across));
  return weighted(
    weighted(pixelAt(image, row, column, channel), pixelAt(image, row, column + 1, channel), right),
    weighted(pixelAt(image, row + 1, column, channel), pixelAt(image, row + 1, column + 1, channel),
      right),
    lower);""",
}


@kernel("sample")
def sample(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    sizes: Sampling,
    fill: float,
) -> Handle:
    """Read images at projected places; see ``wasm_build/source/image.c``."""
    lanes = 4 if sizes.channels % 4 == 0 else 1
    mode = sizes.fill_mode

    def shader() -> Shader:
        code = _SAMPLE.replace("INSIDE", _INSIDE.get(mode, "is_finite(x)"))
        code = code.replace("MAPPED", _MAPPED.get(mode, _CLAMPED).strip("\n"))
        code = code.replace("READ", _READ[sizes.bilinear]).replace("LANES", str(lanes))
        sources = [
            Input("x", float32, lanes),
            Input("transforms", float32, 4),
            Input("indices", int32, 1),
        ]
        return Shader("sample", sources, float32, lanes, _SAMPLE_UNIFORMS, code)

    key = ("sample", lanes, mode, sizes.bilinear)
    numbers = (*sizes[:4], sizes.out_height, sizes.out_width)
    return backend.run(key, shader, inputs, prod(shape), dtype, *numbers, fill)
