"""Shaders between the elements of tensors and what a page has: pixels of images, and textures.

An image is uploaded as it is, one texel a pixel, and a shader picks its elements from the texels.
To be shown, a tensor is drawn on the context's own canvas, which is copied to other canvases.
"""

from __future__ import annotations

from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.dtypes import DType, float32, int32

__all__ = ["handed_out_shader", "shown_shader", "taken_shader"]

_PIXELS = Input("pixels", float32, 4)

_TAKEN = {
    # A texel of the result is a pixel.
    4: """
V compute(int t) {
  int row = t;
  int column = split(row, width);
  vec4 levels = floor(texelFetch(pixels, ivec2(column, row), 0) * 255.0 + 0.5);
  return LEVELS;
}
""",
    1: """
T compute(int i) {
  int row = i;
  int channel = split(row, channels);
  int column = split(row, width);
  vec4 levels = floor(texelFetch(pixels, ivec2(column, row), 0) * 255.0 + 0.5);
  return LEVELS[channel];
}
""",
}


def taken_shader(channels: int, dtype: DType) -> Shader:
    """Describe the shader that makes elements of an image's pixels.

    Its uniforms are the image's width and, unless there are four, the number of channels.
    """
    lanes = 4 if channels == 4 else 1
    levels = "ivec4(levels)" if dtype is int32 else "(levels / 255.0)"
    uniforms = [("width", "int")] if lanes == 4 else [("width", "int"), ("channels", "int")]
    code = _TAKEN[lanes].replace("LEVELS", levels)
    return Shader("from_pixels", (_PIXELS,), dtype, lanes, uniforms, code)


# Rows of a canvas are counted from below.
_SHOWN = """
float level(int i) { return LEVEL; }
vec4 compute(int t) {
  int row = t;
  int column = split(row, hereWidth);
  int pixel = (height - 1 - row) * hereWidth + column;
  return COLOR;
}
"""
_COLORS = {
    1: "vec4(vec3(level(pixel)), opacity)",
    3: "vec4(level(pixel * 3), level(pixel * 3 + 1), level(pixel * 3 + 2), opacity)",
    4: ("vec4(level(pixel * 4), level(pixel * 4 + 1), level(pixel * 4 + 2), level(pixel * 4 + 3))"),
}
_LEVELS = {float32: "floor(getX(i) * 255.0 + 0.5) / 255.0", int32: "float(getX(i)) / 255.0"}


def shown_shader(channels: int, dtype: DType) -> Shader:
    """Describe the shader that draws an image on a canvas.

    Its uniforms are the image's height and, unless it is a channel, the opacity.
    """
    code = _SHOWN.replace("LEVEL", _LEVELS[dtype]).replace("COLOR", _COLORS[channels])
    uniforms = [("height", "int")] + ([("opacity", "float")] if channels < 4 else [])
    return Shader("draw", (Input("x", dtype, 1),), float32, 4, uniforms, code)


_HANDED_OUT = """
vec4 compute(int t) {
  return mix(vec4(0.0), vec4(getX(t)), lessThan(ivec4(0, 1, 2, 3), ivec4(size - 4 * t)));
}
"""


def handed_out_shader(dtype: DType) -> Shader:
    """Describe the shader that copies elements to a texture of the page's, and 0 after them.

    Its uniform is the number of elements.
    """
    inputs = (Input("x", dtype, 4),)
    return Shader("data_to_gpu", inputs, float32, 4, [("size", "int")], _HANDED_OUT)
