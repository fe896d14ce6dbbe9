"""Kernels of convolutions and of their transposes.

Images are (batch, height, width, channels), channels innermost. If the result's channels are a
multiple of four, a fragment computes four of them; if the channels summed over are, they are read
by fours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.contraction import multiply
from webtensor.backends.webgl.convolution_tiles import (
    convolve_in_tiles,
    convolve_transposed_in_tiles,
    filter_gradient_in_tiles,
    tiles_fit,
    transposed_tiles_fit,
)
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.backends.webgl.epilogue import NO_EPILOGUE, Epilogue, epilogue_of
from webtensor.backends.webgl.reduction import reduced_value
from webtensor.backends.webgl.window_walk import (
    WINDOW_UNIFORMS,
    over_cells,
    unrolled,
    window_numbers,
)
from webtensor.dtypes import float32
from webtensor.geometry import Window
from webtensor.matmul_sizes import MatmulSizes
from webtensor.shapes import Shape

__all__: list[str] = []

# Forward: for each filter cell, the input pixel that the output pixel reads.
_FORWARD = """
V compute(int t) {
  int channel = split(t, outChannels / LANES);
  int column = split(t, outWidth) * strideWidth - padLeft;
  int row = (t % outHeight) * strideHeight - padTop;
  int batch = t / outHeight;
  V total = V(0.0);
  START
  CELLS
  return total;
}
"""

# With respect to the input: for each filter cell, the output pixel that reads the input pixel.
_TO_INPUT = """
V compute(int t) {
  int channel = split(t, inChannels / LANES);
  int column = t % inWidth + padLeft; t /= inWidth;
  int row = t % inHeight + padTop;
  int batch = t / inHeight;
  V total = V(0.0);
  for (int i = 0; i < filterHeight; i++) {
    int below = row - i * dilationHeight;
    int r = below / strideHeight;
    if (below < 0 || r * strideHeight != below || r >= outHeight) continue;
    for (int j = 0; j < filterWidth; j++) {
      int beside = column - j * dilationWidth;
      int c = beside / strideWidth;
      if (beside < 0 || c * strideWidth != beside || c >= outWidth) continue;
      int cell = i * filterWidth + j;
      int pixelIndex = (batch * outHeight + r) * outWidth + c;
      BODY
    }
  }
  return total;
}
"""

# With respect to the filter: the batch is split into parts, which a reduction then adds up. The
# filter's last two axes are MIDDLE and CHANNELS, which counts vectors of lanes.
_TO_FILTER = """
V compute(int t) {
  int channel = split(t, CHANNELS);
  int middle = split(t, MIDDLE);
  int j = split(t, filterWidth);
  int i = t % filterHeight;
  int part = t / filterHeight;
  V total = V(0.0);
  for (int batch = part * partSize; batch < min((part + 1) * partSize, batchSize); batch++) {
    for (int row = 0; row < outHeight; row++) {
      int r = row * strideHeight - padTop + i * dilationHeight;
      if (r < 0 || r >= inHeight) continue;
      for (int column = 0; column < outWidth; column++) {
        int c = column * strideWidth - padLeft + j * dilationWidth;
        if (c < 0 || c >= inWidth) continue;
        int from = (batch * inHeight + r) * inWidth + c;
        int to = (batch * outHeight + row) * outWidth + column;
        BODY
      }
    }
  }
  return total;
}
"""

# Channels may form groups, each of DEPTH input channels and WIDTH output channels. BEGIN is the
# first channel of the group that is read, OWN the place of the result's channel in its group.

# The result has four channels: four rows of the filter, each scaled by its element of the input.
_FORWARD_FOURS = """
      int from = (pixelIndex * inChannels + BEGIN) / 4, next = outChannels / 4;
      int w = cell * DEPTH * next + channel;
      for (int k = 0; k < DEPTH; k += 4) {
        vec4 x = within(getX(from++), inside);
        total += x.x * getFilter_(w) + x.y * getFilter_(w + next)
          + x.z * getFilter_(w + 2 * next) + x.w * getFilter_(w + 3 * next);
        w += 4 * next;
      }"""
_FORWARD_ONES = """
      int columns = outChannels / LANES;
      int w = cell * DEPTH * columns + channel;
      for (int k = 0; k < DEPTH; k++) {
        total += within(getX(pixelIndex * inChannels + BEGIN + k), inside) * getFilter_(w);
        w += columns;
      }"""
_TO_INPUT_FOURS = """
      int next = outChannels / 4, begin = BEGIN / 4;
      int from = pixelIndex * next + begin, w = (cell * DEPTH + OWN) * next + begin;
      for (int k = 0; k < WIDTH / 4; k++) {
        vec4 d = getX(from + k);
        total += vec4(dot(d, getFilter_(w)), dot(d, getFilter_(w + next)),
          dot(d, getFilter_(w + 2 * next)), dot(d, getFilter_(w + 3 * next)));
        w++;
      }"""
_TO_INPUT_DOT = """
      int next = outChannels / 4, begin = BEGIN / 4;
      int from = pixelIndex * next + begin, w = (cell * DEPTH + OWN) * next + begin;
      for (int k = 0; k < WIDTH / 4; k++) total += dot(getX(from + k), getFilter_(w + k));"""
_TO_INPUT_ONES = """
      int begin = BEGIN;
      for (int k = begin; k < begin + WIDTH; k++) {
        total += getX(pixelIndex * outChannels + k)
          * getFilter_((cell * DEPTH + OWN) * outChannels + k);
      }"""
_TO_FILTER_BODY = """
        total += getX(from * inChannels + BEGIN + middle)
          * getDy(to * (outChannels / LANES) + channel);"""

_DEPTHWISE_START = """
  int own = inChannels / LANES, columns = outChannels / LANES;
  int mine = channel / multiplier;"""
# Depthwise: output channel = input channel * multiplier + one of the multiplier.
_DEPTHWISE_FORWARD = """
      sum += within(getX(pixelIndex * own + mine), inside)
        * getFilter_(cell * columns + channel);"""
#: Rows of a window are sums of their own, as that rounds less.
_ROW_OF_WINDOW = ("V sum = V(0.0);", "total += sum;")
_DEPTHWISE_TO_INPUT = """
      for (int q = 0; q < multiplier; q++) {
        int k = channel * multiplier + q;
        total += getX(pixelIndex * (outChannels / LANES) + k)
          * getFilter_(cell * (outChannels / LANES) + k);
      }"""
_DEPTHWISE_TO_FILTER = """
        total += getX(from * inChannels + middle)
          * getDy(to * outChannels + middle * multiplier + channel);"""
# With one filter per channel, the filter's last two axes are the channels.
_DEPTHWISE_TO_FILTER_FOURS = """
        total += getX(from * (inChannels / 4) + middle)
          * getDy(to * (inChannels / 4) + middle);"""

#: Output pixels that one fragment of a filter gradient sums at least before the sum is split.
_PIXELS_PER_PART = 512


def _product(
    m: int, k: int, n: int, transpose_a: bool = False, transpose_b: bool = False
) -> MatmulSizes:
    """Return the sizes of one product of matrices."""
    return MatmulSizes(1, m, k, n, transpose_a, transpose_b, False, False)


def _pixels(window: Window) -> int:
    return window.batch * window.out_height * window.out_width


class _WindowCode(NamedTuple):
    """A shader that walks over windows.

    Attributes:
        name: its name.
        form: its code, with a ``BODY`` for each cell of the window.
        body: the code for a cell.
        lanes: those of the result and of the two operands.
        uniforms: the names and values of integers beside the window's.
    """

    name: str
    form: str
    body: str
    lanes: tuple[int, int, int]
    uniforms: tuple[tuple[str, int], ...]


def _run(
    draws: Draws,
    window: Window,
    code: _WindowCode,
    epilogue: Epilogue = NO_EPILOGUE,
    parts: int = 1,
) -> Value:
    """Draw a shader that walks over windows; ``parts`` results are one after the other."""
    name, form, body, lanes, own_uniforms = code
    # Walks with loops in them would make long shaders.
    is_depthwise = body is _DEPTHWISE_FORWARD
    cells = unrolled(window, lanes[0]) if is_depthwise else None

    def shader() -> Shader:
        start = _DEPTHWISE_START if is_depthwise else ""
        around = _ROW_OF_WINDOW if is_depthwise else ()
        code = form.replace("CELLS", over_cells(cells, "BODY", *around)).replace("START", start)
        code = code.replace("BODY", body.strip())
        code = code.replace("LANES", str(lanes[0]))
        second = "dy" if "getDy" in code else "filter_"
        sources = [Input("x", float32, lanes[1]), Input(second, float32, lanes[2])]
        uniforms = [*WINDOW_UNIFORMS, *((key, "int") for key, _ in own_uniforms)]
        return epilogue.added_to(Shader(name, sources, float32, lanes[0], uniforms, code))

    numbers = (
        *window_numbers(window),
        *(value for _, value in own_uniforms),
        *epilogue.numbers(window.out_channels // lanes[0]),
    )
    key = (name, body, lanes, cells, epilogue.key)
    return draws.run(key, shader, draws.inputs, parts * draws.size, float32, *numbers)


#: Code, and the lanes of the result and of the two operands.
_Code: TypeAlias = tuple[str, tuple[int, int, int]]
_Codes: TypeAlias = tuple[_Code, _Code, _Code]

_FORWARD_CODES: _Codes = (
    (_FORWARD_ONES, (1, 1, 1)),
    (_FORWARD_ONES, (4, 1, 4)),
    (_FORWARD_FOURS, (4, 4, 4)),
)
_TO_INPUT_CODES: _Codes = (
    (_TO_INPUT_ONES, (1, 1, 1)),
    (_TO_INPUT_DOT, (1, 4, 4)),
    (_TO_INPUT_FOURS, (4, 4, 4)),
)


class _Group(NamedTuple):
    """A group of channels that have filters of their own: of the input, and of the output."""

    depth: int
    width: int
    is_only: bool

    def body(self, code: str, begin: str) -> str:
        """Return code for the group; ``begin`` is its first channel, if it is one of many."""
        names = ("inChannels", "outChannels") if self.is_only else ("depth", "width")
        own = "channel * LANES" if self.is_only else "(channel * LANES) % depth"
        code = code.replace("BEGIN", "0" if self.is_only else begin).replace("OWN", own)
        return code.replace("DEPTH", names[0]).replace("WIDTH", names[1])

    def fitting(self, codes: _Codes) -> _Code:
        """Return the code that fits: for any sizes, a width of whole texels, or a depth, too."""
        return codes[0 if self.width % 4 else 1 if self.depth % 4 else 2]

    @property
    def numbers(self) -> tuple[tuple[str, int], ...]:
        """Uniforms for the code."""
        return () if self.is_only else (("depth", self.depth), ("width", self.width))


#: The first input channel of an output channel's group, and the reverse.
_FIRST_INPUT = "(channel * LANES / width) * depth"
_FIRST_OUTPUT = "(channel * LANES / depth) * width"


def _group(window: Window, filter: Shape) -> _Group:
    groups = window.groups(filter[2])
    return _Group(filter[2], window.out_channels // groups, groups == 1)


def _fitting(name: str, group: _Group, form: str, codes: _Codes, begin: str) -> _WindowCode:
    """Return the shader that fits the group."""
    body, lanes = group.fitting(codes)
    return _WindowCode(name, form, group.body(body, begin), lanes, group.numbers)


@kernel("conv2d", "fused_conv2d")
def conv2d(draws: Draws, window: Window, *details: Any) -> Value:
    """Multiply each window by the filter."""
    x, filter = draws.inputs[:2]
    group, epilogue = _group(window, filter.shape), epilogue_of(draws.inputs, *details)
    if group.is_only and window.only_mixes_channels:
        sizes = _product(_pixels(window), window.in_channels, window.out_channels)
        return multiply(draws, x, filter, sizes, epilogue)
    if group.is_only and tiles_fit(draws, window):
        return convolve_in_tiles(draws, x, filter, window, epilogue)
    code = _fitting("conv2d", group, _FORWARD, _FORWARD_CODES, _FIRST_INPUT)
    return _run(draws, window, code, epilogue)


@kernel("conv2d_input_gradient")
def conv2d_input_gradient(draws: Draws, window: Window) -> Value:
    """Transpose of ``conv2d`` with respect to its input."""
    dy, filter = draws.inputs
    group = _group(window, filter.shape)
    if group.is_only and window.only_mixes_channels:
        channels = window.out_channels, window.in_channels
        return multiply(draws, dy, filter, _product(_pixels(window), *channels, transpose_b=True))
    if group.is_only and transposed_tiles_fit(draws, window):
        return convolve_transposed_in_tiles(draws, dy, filter, window)
    name = "conv2d_input_gradient"
    code = _fitting(name, group, _TO_INPUT, _TO_INPUT_CODES, _FIRST_OUTPUT)
    return _run(draws, window, code)


@kernel("conv2d_filter_gradient")
def conv2d_filter_gradient(draws: Draws, window: Window) -> Value:
    """Transpose of ``conv2d`` with respect to its filter."""
    x, dy = draws.inputs
    group = _group(window, draws.shape)
    if group.is_only and window.only_mixes_channels:
        sizes = window.in_channels, _pixels(window), window.out_channels
        return multiply(draws, x, dy, _product(*sizes, transpose_a=True))
    if group.is_only and transposed_tiles_fit(draws, window):
        tiles = partial(filter_gradient_in_tiles, draws, x, dy, window)
        return _parts_added(draws, tiles, window)
    code = _WindowCode(
        "conv2d_filter_gradient",
        group.body(_to_filter(middle="DEPTH", channels="outChannels / LANES"), _FIRST_INPUT),
        group.body(_TO_FILTER_BODY, _FIRST_INPUT),
        (1, 1, 1) if group.width % 4 else (4, 1, 4),
        group.numbers,
    )
    return _filter_gradient(draws, window, code)


def _to_filter(middle: str, channels: str) -> str:
    """Return the code of a filter's gradient for the sizes of the filter's last two axes."""
    return _TO_FILTER.replace("MIDDLE", middle).replace("CHANNELS", channels)


def _filter_gradient(draws: Draws, window: Window, code: _WindowCode) -> Value:
    """Draw the gradient of a filter by a shader that walks over windows."""

    def drawn(parts: int, part: int) -> Value:
        uniforms = (*code.uniforms, ("batchSize", window.batch), ("partSize", part))
        return _run(draws, window, code._replace(uniforms=uniforms), parts=parts)

    return _parts_added(draws, drawn, window)


def _parts_added(draws: Draws, drawn: Callable[[int, int], Value], window: Window) -> Value:
    """Draw the batch in parts, each of a few images, in parallel, and add the parts up."""
    pixels = window.out_height * window.out_width
    part = max(1, min(window.batch, -(-_PIXELS_PER_PART // pixels)))
    parts = -(-window.batch // part)
    result = drawn(parts, part)
    if parts == 1:
        return result
    return reduced_value(draws, result, float32, "sum", (1, parts, draws.size))


@kernel("depthwise_conv2d", "fused_depthwise_conv2d")
def depthwise_conv2d(draws: Draws, window: Window, *details: Any) -> Value:
    """Multiply each window by each channel's own filters."""
    code = _depthwise(window, "depthwise_conv2d", _FORWARD, _DEPTHWISE_FORWARD)
    return _run(draws, window, code, epilogue_of(draws.inputs, *details))


@kernel("depthwise_conv2d_input_gradient")
def depthwise_conv2d_input_gradient(draws: Draws, window: Window) -> Value:
    """Transpose of ``depthwise_conv2d`` with respect to its input."""
    name = "depthwise_conv2d_input_gradient"
    return _run(draws, window, _depthwise(window, name, _TO_INPUT, _DEPTHWISE_TO_INPUT))


@kernel("depthwise_conv2d_filter_gradient")
def depthwise_conv2d_filter_gradient(draws: Draws, window: Window) -> Value:
    """Transpose of ``depthwise_conv2d`` with respect to its filter."""
    if _has_texels_of_channels(window):
        form, body = _to_filter(middle="inChannels / 4", channels="1"), _DEPTHWISE_TO_FILTER_FOURS
    else:
        form = _to_filter(middle="inChannels", channels="multiplier")
        body = _DEPTHWISE_TO_FILTER
    code = _depthwise(window, "depthwise_conv2d_filter_gradient", form, body)
    return _filter_gradient(draws, window, code)


def _depthwise(window: Window, name: str, form: str, body: str) -> _WindowCode:
    """Return the shader of a depthwise kernel."""
    lanes = (4, 4, 4) if _has_texels_of_channels(window) else (1, 1, 1)
    multiplier = window.out_channels // window.in_channels
    return _WindowCode(name, form, body, lanes, (("multiplier", multiplier),))


def _has_texels_of_channels(window: Window) -> bool:
    """Whether each channel has one filter, and four channels are a texel."""
    return window.out_channels == window.in_channels and window.in_channels % 4 == 0
