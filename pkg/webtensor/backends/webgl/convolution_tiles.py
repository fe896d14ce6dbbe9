"""Convolutions in tiles (see ``tiles``): the rows are pixels, or channels of the filter.

A tile of pixels reads each texel of the filter once for all its pixels; a pixel whose window cell
falls outside the image reads zeros there.
"""

from __future__ import annotations

from webtensor.backends.webgl.backend import WebGLBackend
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.finishing import UNFINISHED, Finish
from webtensor.backends.webgl.textures import Texture
from webtensor.backends.webgl.tiles import WORTH_TILING, draw_tiles, tile_rows
from webtensor.backends.webgl.windows import WINDOW_UNIFORMS, window_numbers
from webtensor.dtypes import float32
from webtensor.geometry import Window

__all__ = [
    "convolve_in_tiles",
    "convolve_transposed_in_tiles",
    "filter_gradient_in_tiles",
    "tiles_fit",
    "transposed_tiles_fit",
]


def tiles_fit(backend: WebGLBackend, window: Window) -> bool:
    """Whether a convolution is large, and whole texels lie along the channels of its result."""
    work = window.batch * window.out_height * window.out_width * window.out_channels
    work *= window.in_channels * window.filter_height * window.filter_width
    return window.out_channels % 4 == 0 and work >= WORTH_TILING and tile_rows(backend) > 0


def transposed_tiles_fit(backend: WebGLBackend, window: Window) -> bool:
    """Whether ``tiles_fit``, and whole texels lie along the channels of the input as well."""
    return window.in_channels % 4 == 0 and tiles_fit(backend, window)


def _pixel_tiles(
    rows: int, width: str, height: str, place: list[str], reads: str, type_: str, taps: list[str]
) -> str:
    """Code of a tile of ``rows`` neighbouring pixels of images of ``width`` by ``height``.

    ``place`` computes, from ``rowR`` and ``columnR`` of pixel ``R`` and the filter's ``i`` and
    ``j``, the place ``atR`` of what it reads from the other image, negative where there is none:
    a number ``reads`` of texels, or elements, of ``type_``. ``taps`` reads texels of the filter for
    number ``k``; its last line adds to ``totalR`` what pixel ``R`` makes of them and of ``xR``.
    """
    *weights, add = taps

    def each(line: str) -> list[str]:
        return [line.replace("R", str(row)) for row in range(rows)]

    lines = [
        "void compute(int t) {",
        "  int channel = t % columns;",
        f"  int p = t / columns * {rows};",
        *each(f"  int rowR = (p + R) / {width} % {height}, columnR = (p + R) % {width};"),
        *each(f"  int batchR = (p + R) / ({width} * {height}), atR, rR, cR;"),
        *each("  vec4 totalR = vec4(0.0);"),
        *each(f"  {type_} xR;"),
        "  for (int i = 0; i < filterHeight; i++) {",
        "    for (int j = 0; j < filterWidth; j++) {",
        "      int cell = i * filterWidth + j;",
        *(text for line in place for text in each(f"      {line}")),
        f"      for (int k = 0; k < {reads}; k++) {{",
        *(f"        {line}" for line in weights),
        *each("        xR = within(getX(max(atR + k, 0)), atR >= 0);"),
        *each(f"        {add}"),
        "      }",
        "    }",
        "  }",
        *each("  resultR = totalR;"),
        "}",
    ]
    return "\n".join(lines)


def _forward(rows: int, by_texels: bool) -> str:
    reads = "inChannels >> 2" if by_texels else "inChannels"
    place = [
        "rR = rowR * strideHeight - padTop + i * dilationHeight;",
        "cR = columnR * strideWidth - padLeft + j * dilationWidth;",
        "atR = rR < 0 || rR >= inHeight || cR < 0 || cR >= inWidth ? -1"
        f" : ((batchR * inHeight + rR) * inWidth + cR) * ({reads});",
    ]
    if not by_texels:
        taps = [
            "vec4 w = getFilter_((cell * inChannels + k) * columns + channel);",
            "totalR += xR * w;",
        ]
        return _pixel_tiles(rows, "outWidth", "outHeight", place, reads, "float", taps)
    filter_row = "getFilter_((cell * inChannels + k * 4 + {}) * columns + channel)"
    taps = [
        *(f"vec4 w{step} = {filter_row.format(step)};" for step in range(4)),
        "totalR += xR.x * w0 + xR.y * w1 + xR.z * w2 + xR.w * w3;",
    ]
    return _pixel_tiles(rows, "outWidth", "outHeight", place, reads, "vec4", taps)


def _transposed(rows: int) -> str:
    place = [
        "rR = rowR + padTop - i * dilationHeight;",
        "cR = columnR + padLeft - j * dilationWidth;",
        "atR = rR < 0 || rR % strideHeight != 0 || rR / strideHeight >= outHeight"
        " || cR < 0 || cR % strideWidth != 0 || cR / strideWidth >= outWidth ? -1"
        " : ((batchR * outHeight + rR / strideHeight) * outWidth + cR / strideWidth)"
        " * (outChannels >> 2);",
    ]
    filter_row = "getFilter_((cell * inChannels + channel * 4 + {}) * (outChannels >> 2) + k)"
    taps = [
        *(f"vec4 w{step} = {filter_row.format(step)};" for step in range(4)),
        "totalR += vec4(dot(xR, w0), dot(xR, w1), dot(xR, w2), dot(xR, w3));",
    ]
    return _pixel_tiles(rows, "inWidth", "inHeight", place, "outChannels >> 2", "vec4", taps)


def _filter_gradient(rows: int) -> str:
    """Code of a tile of ``rows`` input channels of one filter cell, over one part of the batch."""
    texels = range(rows // 4)
    lines = [
        "void compute(int t) {",
        "  int channel = split(t, columns);",
        f"  int block = t % blocks * {rows // 4}; t /= blocks;",
        "  int j = split(t, filterWidth);",
        "  int i = t % filterHeight;",
        "  int part = t / filterHeight;",
        *(f"  vec4 total{row} = vec4(0.0);" for row in range(rows)),
        "  int end = min((part + 1) * partSize, batchSize);",
        "  for (int batch = part * partSize; batch < end; batch++) {",
        "    for (int row = 0; row < outHeight; row++) {",
        "      int r = row * strideHeight - padTop + i * dilationHeight;",
        "      if (r < 0 || r >= inHeight) continue;",
        "      for (int column = 0; column < outWidth; column++) {",
        "        int c = column * strideWidth - padLeft + j * dilationWidth;",
        "        if (c < 0 || c >= inWidth) continue;",
        "        int from = ((batch * inHeight + r) * inWidth + c) * (inChannels >> 2) + block;",
        "        vec4 dy = getDy(((batch * outHeight + row) * outWidth + column) * columns"
        " + channel);",
        *(f"        vec4 x{texel} = getX(from + {texel});" for texel in texels),
        *(
            f"        total{texel * 4 + offset} += x{texel}.{lane} * dy;"
            for texel in texels
            for offset, lane in enumerate("xyzw")
        ),
        "      }",
        "    }",
        "  }",
        *(f"  result{row} = total{row};" for row in range(rows)),
        "}",
    ]
    return "\n".join(lines)


def filter_gradient_in_tiles(
    backend: WebGLBackend, x: Texture, dy: Texture, window: Window, parts: int, part: int
) -> Texture:
    """Transpose of the convolution with respect to its filter, for each of ``parts`` of the batch.

    A part is ``part`` images. See ``transposed_tiles_fit``.
    """
    rows = tile_rows(backend)
    extra = {
        "columns": window.out_channels >> 2,
        "blocks": -(-window.in_channels // rows),
        "batchSize": window.batch,
        "partSize": part,
    }

    def shader() -> Shader:
        sources = [Input("x", float32, 4), Input("dy", float32, 4)]
        uniforms = [*WINDOW_UNIFORMS, *((name, "int") for name in extra)]
        name = "conv2d_filter_gradient"
        return Shader(name, sources, float32, 4, uniforms, _filter_gradient(rows), rows)

    program = backend.program(("conv2d_filter_gradient", "tiles", rows), shader)
    cells = parts * window.filter_height * window.filter_width
    numbers = (*window_numbers(window), *extra.values())
    return draw_tiles(
        backend,
        program,
        [x, dy],
        cells,
        window.in_channels,
        window.out_channels,
        UNFINISHED,
        *numbers,
    )


def _draw(
    backend: WebGLBackend,
    name: str,
    x: Texture,
    filter: Texture,
    window: Window,
    pixels: int,
    channels: int,
    finish: Finish,
) -> Texture:
    rows = tile_rows(backend)
    by_texels = window.in_channels % 4 == 0

    def shader() -> Shader:
        code = _forward(rows, by_texels) if name == "conv2d" else _transposed(rows)
        sources = [Input("x", float32, 4 if by_texels else 1), Input("filter_", float32, 4)]
        uniforms = [*WINDOW_UNIFORMS, ("columns", "int")]
        return Shader(name, sources, float32, 4, uniforms, code, rows)

    program = backend.program((name, "tiles", rows, by_texels), shader)
    numbers = (*window_numbers(window), channels >> 2)
    return draw_tiles(backend, program, [x, filter], 1, pixels, channels, finish, *numbers)


def convolve_in_tiles(
    backend: WebGLBackend, x: Texture, filter: Texture, window: Window, finish: Finish
) -> Texture:
    """Convolve images; see ``tiles_fit``."""
    pixels = window.batch * window.out_height * window.out_width
    return _draw(backend, "conv2d", x, filter, window, pixels, window.out_channels, finish)


def convolve_transposed_in_tiles(
    backend: WebGLBackend, dy: Texture, filter: Texture, window: Window
) -> Texture:
    """Transpose of the convolution with respect to its input; see ``transposed_tiles_fit``."""
    pixels = window.batch * window.in_height * window.in_width
    name = "conv2d_input_gradient"
    return _draw(backend, name, dy, filter, window, pixels, window.in_channels, UNFINISHED)
