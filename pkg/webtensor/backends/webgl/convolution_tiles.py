"""Convolutions in tiles (see ``tiles``): the rows are pixels, or channels of the filter.

A tile of pixels reads each texel of the filter once for all its pixels; window cells outside the
image are read as zeros.
"""

from __future__ import annotations

from typing import NamedTuple

from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.backends.webgl.epilogue import NO_EPILOGUE, Epilogue
from webtensor.backends.webgl.row_padding import padded_size, widened
from webtensor.backends.webgl.tiles import (
    MAX_ELEMENTS,
    are_worth_tiles,
    draw_tiles,
    paced,
    summed,
    tile_rows,
)
from webtensor.backends.webgl.window_walk import WINDOW_UNIFORMS, window_numbers
from webtensor.dtypes import float32
from webtensor.geometry import Window

__all__ = [
    "convolve_in_tiles",
    "convolve_transposed_in_tiles",
    "filter_gradient_in_tiles",
    "tiles_fit",
    "transposed_tiles_fit",
]


def tiles_fit(draws: Draws, window: Window) -> bool:
    """Whether a convolution is large, and its result's channels consist of whole texels."""
    work = window.batch * window.out_height * window.out_width * window.out_channels
    work *= window.in_channels * window.filter_height * window.filter_width
    pixels = window.batch * max(
        window.in_height * window.in_width, window.out_height * window.out_width
    )
    channels = max(window.in_channels, window.out_channels)
    return (
        window.out_channels % 4 == 0
        and pixels * channels <= MAX_ELEMENTS
        and are_worth_tiles(draws, work)
    )


def transposed_tiles_fit(draws: Draws, window: Window) -> bool:
    """Whether ``tiles_fit``, and the input's channels consist of whole texels as well."""
    return window.in_channels % 4 == 0 and tiles_fit(draws, window)


class _Walk(NamedTuple):
    """The code of a walk of pixels over the cells of the filter, where ``R`` is a pixel's number.

    Attributes:
        image: the width and height of the images that have the pixels.
        start: prepares the walk, from ``rowR``, ``columnR`` and ``batchR``.
        cell: computes, for cell (``i``, ``j``), ``atR``, the first texel that the pixel reads from
            the other image; it is arbitrary unless ``insideR``.
        add: the product of a texel ``xR`` and the taps, which are texels of the filter from ``w``
            on, ``next`` apart.
        step: how much further the next taps are.
        leap: how far the next cell's first tap is after the last.
    """

    image: tuple[str, str]
    start: list[str]
    cell: list[str]
    add: str
    step: str
    leap: str = ""


def _pixel_tile(rows: int, taps: int, along: int, walk: _Walk) -> str:
    """Return the code of a tile of ``rows`` pixels, which multiplies ``taps`` texels at once."""

    def each(*lines: str) -> list[str]:
        return [
            line.replace("R", str(row))
            for line in lines
            for row in (range(rows) if "R" in line else [0])
        ]

    products = [
        *(f"        vec4 w{tap} = getFilter_At(w + {tap}.0 * next);" for tap in range(taps)),
        f"        w += {walk.step};",
        *each("        vec4 xR = within(getXAt(atR), insideR);", f"        sumR += {walk.add};"),
        *each("        atR += 1.0;"),
    ]
    lines = [
        "void compute(int t) {",
        "  int channel = split(t, columns);",
        *each(
            "  int batchR = t + R * blocks;",
            f"  int columnR = split(batchR, {walk.image[0]});",
            f"  int rowR = split(batchR, {walk.image[1]});",
            "  vec4 totalR = vec4(0.0);",
        ),
        *each(*walk.start),
        "  for (int i = 0; i < filterHeight; i++) {",
        "    for (int j = 0; j < filterWidth; j++) {",
        *each(*walk.cell),
        *summed(along, "along", rows, products),
        f"      w += {walk.leap};" if walk.leap else "",
        "    }",
        "  }",
        *each("  resultR = totalR;"),
        "}",
    ]
    return "\n".join(lines)


# The filter is (cell, input channel, column), and is read from end to end. A pixel
# is inside the image if it is no farther from the middle than the border.
def _forward(rows: int, taps: int, along: int) -> str:
    start = [
        "  float w = float(channel), next = float(columns);",
        "  vec2 middle = vec2(inWidth - 1, inHeight - 1) * 0.5;",
        "  columnR = columnR * strideWidth - padLeft;",
        "  rowR = rowR * strideHeight - padTop;",
        "  float fromR = float(((batchR * inHeight + rowR) * inWidth + columnR) * along);",
        "  vec2 positionR = vec2(columnR, rowR) - middle;",
    ]
    cell = [
        "      vec2 offset = vec2(j * dilationWidth, i * dilationHeight);",
        "      float leap = (offset.y * float(inWidth) + offset.x) * float(along);",
        "      vec2 beyondR = abs(positionR + offset) - middle;",
        "      bool insideR = max(beyondR.x, beyondR.y) < 0.25;",
        "      float atR = max(fromR + leap, 0.0);",
    ]
    add = " + ".join(f"xR.{lane} * w{tap}" for tap, lane in zip(range(taps), "xyzw", strict=False))
    walk = _Walk(("outWidth", "outHeight"), start, cell, add, f"{taps}.0 * next")
    return _pixel_tile(rows, taps, along, walk)


def _transposed(rows: int, along: int) -> str:
    start = [
        "  float w = float(channel * 4 * along), next = float(along);",
        "  columnR += padLeft;",
        "  rowR += padTop;",
    ]
    cell = [
        "      int rR = rowR - i * dilationHeight, cR = columnR - j * dilationWidth;",
        "      int fromR = (batchR * outHeight + rR / strideHeight) * outWidth + cR / strideWidth;",
        "      bool insideR = rR >= 0 && rR % strideHeight == 0 && rR / strideHeight < outHeight"
        " && cR >= 0 && cR % strideWidth == 0 && cR / strideWidth < outWidth;",
        "      float atR = max(float(fromR * along), 0.0);",
    ]
    add = "vec4(dot(xR, w0), dot(xR, w1), dot(xR, w2), dot(xR, w3))"
    leap = "float((inChannels - 1) * along)"
    walk = _Walk(("inWidth", "inHeight"), start, cell, add, "1.0", leap)
    return _pixel_tile(rows, 4, along, walk)


def _filter_gradient(rows: int) -> str:
    """Code of a tile of ``rows`` input channels of one filter cell, over one part of the batch."""
    texels = range(rows // 4)
    lines = [
        "void compute(int t) {",
        "  int channel = split(t, columns);",
        f"  int block = split(t, blocks) * {rows // 4};",
        "  int j = split(t, filterWidth) * dilationWidth - padLeft;",
        "  int i = split(t, filterHeight) * dilationHeight - padTop;",
        # The pixels whose windows have this cell inside the image.
        "  int top = max(0, (strideHeight - 1 - i) / strideHeight);",
        "  int left = max(0, (strideWidth - 1 - j) / strideWidth);",
        "  int bottom = min(outHeight, (inHeight - 1 - i + strideHeight) / strideHeight);",
        "  int right = min(outWidth, (inWidth - 1 - j + strideWidth) / strideWidth);",
        *(f"  vec4 total{row} = vec4(0.0);" for row in range(rows)),
        "  float next = float(strideWidth * along), nextDy = float(columns);",
        "  int end = min((t + 1) * partSize, batchSize);",
        "  for (int batch = t * partSize; batch < end; batch++) {",
        "    for (int row = top; row < bottom; row++) {",
        "      int r = (batch * inHeight + row * strideHeight + i) * inWidth;",
        "      float from = float((r + left * strideWidth + j) * along + block);",
        "      int line = (batch * outHeight + row) * outWidth;",
        "      float to = float((line + left) * columns + channel);",
        "      for (int column = left; column < right; column++) {",
        "        vec4 dy = getDyAt(to);",
        *(f"        vec4 x{texel} = getXAt(from + {texel}.0);" for texel in texels),
        *(
            f"        total{texel * 4 + offset} += x{texel}.{lane} * dy;"
            for texel in texels
            for offset, lane in enumerate("xyzw")
        ),
        "        from += next; to += nextDy;",
        "      }",
        "    }",
        "  }",
        *(f"  result{row} = total{row};" for row in range(rows)),
        "}",
    ]
    return "\n".join(lines)


def filter_gradient_in_tiles(
    draws: Draws, x: Value, dy: Value, window: Window, parts: int, part: int
) -> Value:
    """Transpose of the convolution with respect to its filter, for each of ``parts`` of the batch.

    A part is ``part`` images. See ``transposed_tiles_fit``.
    """
    rows = tile_rows(draws)
    extra = {
        "columns": window.out_channels >> 2,
        "along": window.in_channels >> 2,
        "blocks": -(-window.in_channels // rows),
        "batchSize": window.batch,
        "partSize": part,
    }

    def shader() -> Shader:
        sources = [Input("x", float32, 4), Input("dy", float32, 4)]
        uniforms = [*WINDOW_UNIFORMS, *((name, "int") for name in extra)]
        name = "conv2d_filter_gradient"
        return Shader(name, sources, float32, 4, uniforms, _filter_gradient(rows), rows)

    program = Program(("conv2d_filter_gradient", "tiles", rows), shader)
    cells = parts * window.filter_height * window.filter_width
    numbers = (*window_numbers(window), *extra.values())
    return draw_tiles(
        draws,
        program,
        [x, dy],
        cells,
        window.in_channels,
        window.out_channels,
        True,
        *numbers,
    )


def _draw(
    draws: Draws,
    name: str,
    x: Value,
    filter: Value,
    window: Window,
    epilogue: Epilogue = NO_EPILOGUE,
) -> Value:
    """Draw the pixels of the result, or of the input for its gradient."""
    rows = tile_rows(draws)
    is_forward = name == "conv2d"
    if is_forward:
        pixels, channels = window.out_height * window.out_width, window.out_channels
        summed_channels = window.in_channels
    else:
        pixels, channels = window.in_height * window.in_width, window.in_channels
        summed_channels = window.out_channels
    pixels *= window.batch
    along = -(-summed_channels // 4)
    taps = min(summed_channels, 4)

    def shader() -> Shader:
        code = _forward(rows, taps, along) if is_forward else _transposed(rows, along)
        sources = [Input("x", float32, 4), Input("filter_", float32, 4)]
        uniforms = [*WINDOW_UNIFORMS, *((key, "int") for key in ("columns", "along", "blocks"))]
        offsets = [f"(t + {row} * blocks) * columns + channel" for row in range(rows)]
        tile = Shader(name, sources, float32, 4, uniforms, code, rows)
        return epilogue.added_to_tile(tile, "channel", offsets)

    program = Program((name, "tiles", rows, taps, paced(along), epilogue.key), shader)
    blocks = -(-pixels // rows)
    numbers = (*window_numbers(window), channels >> 2, along, blocks, *epilogue.parameters)
    inputs = [x, filter, *epilogue.textures]
    return draw_tiles(draws, program, inputs, 1, pixels, channels, False, *numbers)


def convolve_in_tiles(
    draws: Draws, x: Value, filter: Value, window: Window, epilogue: Epilogue
) -> Value:
    """Convolve images; see ``tiles_fit``.

    Channels that are no multiple of four are padded with zeros first: reading single elements takes
    as long as reading as many texels.
    """
    channels = window.in_channels
    if channels % 4 == 0:
        return _draw(draws, "conv2d", x, filter, window, epilogue)
    image_pixels = window.batch * window.in_height * window.in_width
    x = widened(draws, x, image_pixels, channels)
    if channels > 4:
        cells = window.filter_height * window.filter_width
        filter = widened(draws, filter, cells, channels, window.out_channels)
        window = window._replace(in_channels=padded_size(channels))
    return _draw(draws, "conv2d", x, filter, window, epilogue)


def convolve_transposed_in_tiles(draws: Draws, dy: Value, filter: Value, window: Window) -> Value:
    """Transpose of the convolution with respect to its input; see ``transposed_tiles_fit``."""
    return _draw(draws, "conv2d_input_gradient", dy, filter, window)
