"""Register tiles: fragments that compute four columns of several rows of a result.

What bounds a contraction is the number of texels fetched per multiplication. A fragment that writes
one texel fetches 5 for 16 multiplications; one that writes eight rows, each to a render target of
its own, reads what lies along the columns once for all of them: 12 for 128. A second draw then puts
the rows together. On SwiftShader this made a product of 512 × 512 matrices 3.2 times faster.
"""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.webgl.backend import WebGLBackend
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.finishing import Finish
from webtensor.backends.webgl.programs import Program
from webtensor.backends.webgl.textures import Texture
from webtensor.dtypes import float32

__all__ = ["TILE_ROWS", "WORTH_TILING", "draw_tiles", "tile_rows"]

#: Rows of a tile, where the device has so many render targets; a multiple of four.
TILE_ROWS = 8

#: Multiplications from which a second draw is worth its cost.
WORTH_TILING = 1 << 20

# Row r of a block of rows lies in target r.
_JOIN = """
V compute(int t) {
  int column = split(t, columns);
  int row = t % rows;
  int place = ((t / rows) * blocks + row / TILE) * columns + column;
  int target = row % TILE;
  CHOICES
}
"""


def tile_rows(backend: WebGLBackend) -> int:
    """Rows of a tile on this device; 0 where it has fewer than four render targets."""
    return min(TILE_ROWS, backend.most_targets & ~3)


def draw_tiles(
    backend: WebGLBackend,
    program: Program,
    inputs: Sequence[Texture],
    batch: int,
    rows: int,
    columns: int,
    finish: Finish,
    *uniforms: float,
) -> Texture:
    """Draw ``batch`` matrices of (rows, columns) by a program that computes tiles.

    The program's texel ``t`` is ``(batch, block of rows, columns / 4)``; it sets one result for
    each row of the block, and what it sets for rows past the last is not used.
    """
    tile = tile_rows(backend)
    blocks = -(-rows // tile)
    size = batch * blocks * columns
    parts = backend.draw_several(program, tile, inputs, size, float32, *uniforms)

    def join() -> Shader:
        choices = [f"if (target == {row}) return getX{row}(place);" for row in range(tile - 1)]
        choices.append(f"return getX{tile - 1}(place);")
        code = _JOIN.replace("TILE", str(tile)).replace("CHOICES", "\n  ".join(choices))
        sources = [Input(f"x{row}", float32, 4) for row in range(tile)]
        uniforms = [(name, "int") for name in ("rows", "columns", "blocks")]
        return finish.added_to(Shader("join_tiles", sources, float32, 4, uniforms, code))

    numbers = (rows, columns >> 2, blocks, *finish.numbers(columns >> 2))
    try:
        joining = backend.program(("join_tiles", tile, finish.key), join)
        textures = [*parts, *finish.textures]
        return backend.draw(joining, textures, batch * rows * columns, float32, *numbers)
    finally:
        for part in parts:
            backend.release(part)
