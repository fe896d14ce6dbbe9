"""Kernels that resample images, four channels at a time where the channels are a multiple of four.

Otherwise a fragment computes four consecutive elements and steps from pixel to pixel, since
splitting an index into coordinates costs more than reading a texel.
Gradients are gathered: a fragment walks over the outputs that may read its input pixel.
"""

from __future__ import annotations

from typing import NamedTuple

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.dtypes import float32, int32
from webtensor.geometry import Resize, Sampling

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

# (i * step + offset) / divisor, rounded down, and the fraction. Results are at least -1,
# because GLSL leaves the division of negative integers to the device.
_COORDINATES = """
int low(int i, int step_, int offset, int divisor, out float fraction) {
  int dividend = i * step_ + offset + divisor;
  fraction = float(dividend % divisor) / float(divisor);
  return dividend / divisor - 1;
}
int lowRow(int i, out float fraction) { return low(i, rowStep, rowOffset, rowDivisor, fraction); }
int lowColumn(int i, out float fraction) {
  return low(i, columnStep, columnOffset, columnDivisor, fraction);
}
"""

# ``locate`` computes the pixels that an output pixel reads; ``value`` reads one channel, or four.
_FOUR_CHANNELS = """
V compute(int t) {
  int channel = split(t, channels >> 2);
  int column = split(t, outWidth);
  return value(locate(t / outHeight, t % outHeight, column), channel);
}
"""
# Four elements of at most two pixels.
_TWO_PIXELS = """
V compute(int t) {
  int channel = (t << 2) % channels; t = (t << 2) / channels;
  int column = split(t, outWidth);
  int row = t % outHeight;
  int image = t / outHeight;
  Pixel here = locate(image, row, column);
  if (++column == outWidth) {
    column = 0;
    if (++row == outHeight) { row = 0; image++; }
  }
  Pixel next = locate(image, row, column);
  V result;
  for (int lane = 0; lane < 4; lane++) {
    if (channel == channels) { channel = 0; here = next; }
    result[lane] = value(here, channel++);
  }
  return result;
}
"""
_FOUR_PIXELS = """
V compute(int t) {
  t <<= 2;
  int column = split(t, outWidth);
  int row = t % outHeight;
  int image = t / outHeight;
  V result;
  for (int lane = 0; lane < 4; lane++) {
    result[lane] = value(locate(image, row, column), 0);
    if (++column < outWidth) continue;
    column = 0;
    if (++row == outHeight) { row = 0; image++; }
  }
  return result;
}
"""


def _over_outputs(code: str, channels: int) -> tuple[str, int, str]:
    """Return a name for what a fragment computes, the lanes to read, and the code."""
    if channels % 4 == 0:
        filled = code.replace("ELEMENT", "V").replace("CHANNELS", "(channels >> 2)")
        return "channels", 4, filled + _FOUR_CHANNELS
    filled = code.replace("ELEMENT", "T").replace("CHANNELS", "channels")
    if channels == 1:
        return "pixels", 1, filled + _FOUR_PIXELS
    return "two pixels", 1, filled + _TWO_PIXELS


_BILINEAR = (
    _COORDINATES
    + """
struct Pixel { int upperLeft, upperRight, lowerLeft, lowerRight; float across, down; };
Pixel locate(int image, int row, int column) {
  Pixel p;
  int left = lowColumn(column, p.across);
  int top = lowRow(row, p.down);
  int upper = (image * inHeight + clamp(top, 0, inHeight - 1)) * inWidth;
  int lower = (image * inHeight + clamp(top + 1, 0, inHeight - 1)) * inWidth;
  int right = clamp(left + 1, 0, inWidth - 1);
  left = clamp(left, 0, inWidth - 1);
  p.upperLeft = (upper + left) * CHANNELS;
  p.upperRight = (upper + right) * CHANNELS;
  p.lowerLeft = (lower + left) * CHANNELS;
  p.lowerRight = (lower + right) * CHANNELS;
  return p;
}
ELEMENT blend(ELEMENT a, ELEMENT b, float fraction) {
  return fraction == 0.0 ? a : a + (b - a) * fraction;
}
ELEMENT value(Pixel p, int channel) {
  ELEMENT above = blend(getX(p.upperLeft + channel), getX(p.upperRight + channel), p.across);
  ELEMENT below = blend(getX(p.lowerLeft + channel), getX(p.lowerRight + channel), p.across);
  return blend(above, below, p.down);
}
"""
)

_NEAREST = (
    _COORDINATES
    + """
#define Pixel int
int locate(int image, int row, int column) {
  float rest;
  int left = clamp(lowColumn(column, rest), 0, inWidth - 1);
  int top = clamp(lowRow(row, rest), 0, inHeight - 1);
  return ((image * inHeight + top) * inWidth + left) * CHANNELS;
}
ELEMENT value(int pixel, int channel) { return getX(pixel + channel); }
"""
)

# Outputs within one pixel of an input index; those beyond the edges read the edges.
_GRADIENT = (
    _COORDINATES
    + """
int first(int inputIndex, int step_, int offset, int divisor) {
  int start = (inputIndex - 1) * divisor - offset;
  return inputIndex == 0 || start < 0 ? 0 : start / step_ + 1;
}
int last(int inputIndex, int inputSize, int outputs, int step_, int offset, int divisor) {
  if (inputIndex == inputSize - 1) return outputs - 1;
  int end = (inputIndex + 1) * divisor - offset - 1;
  return end < 0 ? -1 : min(end / step_, outputs - 1);
}
float weight(int inputIndex, int low_, float fraction, int inputSize) { return WEIGHT; }
V compute(int t) {
  int pixel = channels / LANES;
  int channel = split(t, pixel);
  int column = split(t, inWidth);
  int row = t % inHeight;
  int image = t / inHeight;
  int left = first(column, columnStep, columnOffset, columnDivisor);
  int right = last(column, inWidth, outWidth, columnStep, columnOffset, columnDivisor);
  int bottom = last(row, inHeight, outHeight, rowStep, rowOffset, rowDivisor);
  V total = V(0.0);
  for (int i = first(row, rowStep, rowOffset, rowDivisor); i <= bottom; i++) {
    float fraction;
    int inputIndex = lowRow(i, fraction);
    float down = weight(row, inputIndex, fraction, inHeight);
    if (down == 0.0) continue;
    for (int j = left; j <= right; j++) {
      inputIndex = lowColumn(j, fraction);
      float across = weight(column, inputIndex, fraction, inWidth);
      if (across == 0.0) continue;
      total += getDy(((image * outHeight + i) * outWidth + j) * pixel + channel) * (down * across);
    }
  }
  return total;
}
"""
)
_BILINEAR_WEIGHT = (
    "(inputIndex == clamp(low_, 0, inputSize - 1) ? 1.0 - fraction : 0.0) "
    "+ (inputIndex == clamp(low_ + 1, 0, inputSize - 1) ? fraction : 0.0)"
)
_NEAREST_WEIGHT = "inputIndex == clamp(low_, 0, inputSize - 1) ? 1.0 : 0.0"


def _resize(draws: Draws, name: str, code: str, sizes: Resize) -> Value:
    form, lanes, filled = _over_outputs(code, sizes.channels)

    def shader() -> Shader:
        return Shader(
            name, [Input("x", draws.dtype, lanes)], draws.dtype, 4, _RESIZE_UNIFORMS, filled
        )

    return draws.result((name, draws.dtype, form), shader, *sizes[1:])


@kernel("resize_bilinear")
def resize_bilinear(draws: Draws, sizes: Resize) -> Value:
    """Interpolate along the width, then along the height."""
    return _resize(draws, "resize_bilinear", _BILINEAR, sizes)


@kernel("resize_nearest")
def resize_nearest(draws: Draws, sizes: Resize) -> Value:
    """Pick the nearest pixels."""
    return _resize(draws, "resize_nearest", _NEAREST, sizes)


def _resize_gradient(draws: Draws, name: str, weight: str, sizes: Resize) -> Value:
    lanes = 4 if sizes.channels % 4 == 0 else 1

    def shader() -> Shader:
        code = _GRADIENT.replace("WEIGHT", weight).replace("LANES", str(lanes))
        sources = [Input("dy", float32, lanes)]
        return Shader(name, sources, float32, lanes, _RESIZE_UNIFORMS, code)

    return draws.result((name, lanes), shader, *sizes[1:])


@kernel("resize_bilinear_gradient")
def resize_bilinear_gradient(draws: Draws, sizes: Resize) -> Value:
    """Transpose of ``resize_bilinear``."""
    return _resize_gradient(draws, "resize_bilinear_gradient", _BILINEAR_WEIGHT, sizes)


@kernel("resize_nearest_gradient")
def resize_nearest_gradient(draws: Draws, sizes: Resize) -> Value:
    """Transpose of ``resize_nearest``."""
    return _resize_gradient(draws, "resize_nearest_gradient", _NEAREST_WEIGHT, sizes)


# -- projective sampling ------------------------------------------------------------------------

#: Fields of ``Sampling`` that the shader reads.
_SAMPLE_UNIFORMS = [
    *(
        (name, "int")
        for name in ("batch", "inHeight", "inWidth", "channels", "outHeight", "outWidth")
    ),
    ("fill", "float"),
]

#: Whether a coordinate is inside the image or its extension, and where it is read, by fill mode.
_INSIDE = {
    0: "x > -2.0 && x < whole + 1.0",
    # Coordinates that rounding moved just outside the image are moved to its edge.
    4: "x >= -HAIR * whole && x <= whole - 1.0 + HAIR * whole",
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
float rounded(float x) { float f = floor(x); return x - f >= 0.5 ? f + 1.0 : f; }
struct Pixel { bool inside; FIELDS };
Pixel locate(int n, int row, int column) {
  Pixel p;
  float x = float(column), y = float(row);
  int image = getIndices(n);
  vec4 a = getTransforms(2 * n), b = getTransforms(2 * n + 1);
  float projection = b.z * x + b.w * y + 1.0;
  float across = (a.x * x + a.y * y + a.z) / projection;
  float down = (a.w * x + b.x * y + b.y) / projection;
  bool insideAcross = isInside(across, float(inWidth));
  bool insideDown = isInside(down, float(inHeight));
  p.inside = image >= 0 && image < batch && projection != 0.0 && insideAcross && insideDown;
  across = mapped(across, float(inWidth));
  down = mapped(down, float(inHeight));
  LOCATE
  return p;
}
ELEMENT weighted(ELEMENT a, ELEMENT b, float w) {
  return either(w == 0.0, a, a * (1.0 - w) + b * w);
}
FUNCTIONS
ELEMENT read(Pixel p, int channel) {
  READ
}
ELEMENT value(Pixel p, int channel) { return either(p.inside, read(p, channel), ELEMENT(fill)); }
"""


class _Reading(NamedTuple):
    """How a pixel's index is represented, found and read."""

    fields: str
    locate: str
    read: str
    functions: str = ""


# Each pixel may be outside the image.
_PIXEL_OR_FILL = """
ELEMENT pixelAt(int image, int row, int column, int channel) {
  bool inside = row >= 0 && row < inHeight && column >= 0 && column < inWidth;
  int element = max(((image * inHeight + row) * inWidth + column) * CHANNELS + channel, 0);
  return either(inside, getX(element), ELEMENT(fill));
}
"""
#: By whether pixels may be outside the image, and whether four are read.
_READINGS = {
    (True, False): _Reading(
        "int image, above, left;",
        "p.image = image; p.above = int(rounded(down)); p.left = int(rounded(across));",
        "return pixelAt(p.image, p.above, p.left, channel);",
        _PIXEL_OR_FILL,
    ),
    (True, True): _Reading(
        "int image, above, left; float lower, right;",
        """p.image = image;
  p.above = int(floor(down)); p.lower = down - floor(down);
  p.left = int(floor(across)); p.right = across - floor(across);""",
        """int next = p.left + 1, below = p.above + 1;
  return weighted(
    weighted(pixelAt(p.image, p.above, p.left, channel),
      pixelAt(p.image, p.above, next, channel), p.right),
    weighted(pixelAt(p.image, below, p.left, channel),
      pixelAt(p.image, below, next, channel), p.right),
    p.lower);""",
        _PIXEL_OR_FILL,
    ),
    (False, False): _Reading(
        "int pixel;",
        "p.pixel = ((image * inHeight + int(rounded(down))) * inWidth + int(rounded(across)))"
        " * CHANNELS;",
        "return getX(p.pixel + channel);",
    ),
    (False, True): _Reading(
        "int upperLeft, upperRight, lowerLeft, lowerRight; float lower, right;",
        """int above = int(floor(down)), left = int(floor(across));
  p.lower = down - floor(down);
  p.right = across - floor(across);
  int upper = (image * inHeight + above) * inWidth;
  int under = (image * inHeight + min(above + 1, inHeight - 1)) * inWidth;
  int next = min(left + 1, inWidth - 1);
  p.upperLeft = (upper + left) * CHANNELS;
  p.upperRight = (upper + next) * CHANNELS;
  p.lowerLeft = (under + left) * CHANNELS;
  p.lowerRight = (under + next) * CHANNELS;""",
        """return weighted(
    weighted(getX(p.upperLeft + channel), getX(p.upperRight + channel), p.right),
    weighted(getX(p.lowerLeft + channel), getX(p.lowerRight + channel), p.right),
    p.lower);""",
    ),
}


def _sampling_code(mode: int, bilinear: bool, is_half: bool) -> str:
    reading = _READINGS[mode == 0, bilinear]
    code = _SAMPLE.replace("INSIDE", _INSIDE.get(mode, "is_finite(x)"))
    code = code.replace("HAIR", "5e-4" if is_half else "1e-6")
    code = code.replace("MAPPED", _MAPPED.get(mode, _CLAMPED).strip("\n"))
    code = code.replace("FIELDS", reading.fields).replace("LOCATE", reading.locate)
    return code.replace("FUNCTIONS", reading.functions).replace("READ", reading.read)


@kernel("sample")
def sample(draws: Draws, sizes: Sampling, fill: float) -> Value:
    """Read images at projected coordinates; see ``wasm_build/source/image.c``."""
    mode, bilinear = sizes.fill_mode, bool(sizes.bilinear)
    code = _sampling_code(mode, bilinear, draws.capabilities.is_half)
    form, lanes, code = _over_outputs(code, sizes.channels)

    def shader() -> Shader:
        sources = [
            Input("x", float32, lanes),
            Input("transforms", float32, 4),
            Input("indices", int32, 1),
        ]
        return Shader("sample", sources, float32, 4, _SAMPLE_UNIFORMS, code)

    key = ("sample", form, mode, bilinear)
    numbers = (*sizes[:4], sizes.out_height, sizes.out_width)
    return draws.result(key, shader, *numbers, fill)
