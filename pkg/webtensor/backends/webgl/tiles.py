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
from webtensor.backends.webgl.programs import Program
from webtensor.backends.webgl.textures import Texture
from webtensor.dtypes import float32

__all__ = [
    "MOST_ELEMENTS",
    "TILE_ROWS",
    "WORTH_TILING",
    "draw_tiles",
    "paced",
    "repeated",
    "tile_rows",
]

#: Rows of a tile, where the device has so many render targets; a multiple of four.
TILE_ROWS = 8

#: Multiplications from which a second draw is worth its cost.
WORTH_TILING = 1 << 18

#: Tiles count the texels of their operands in floats, which are exact up to here.
MOST_ELEMENTS = 4 << 24

_JOIN = """
V compute(int t) {
  int column = split(t, columns);
  int block = split(t, rows);
  int target = PART;
  float place = float((t * blocks + block) * columns + column);
  CHOICES
}
"""
#: Which target a row lies in, and from now on ``block`` says where, if each has rows that follow
#: each other: fragments that the device computes together then read the same target.
_PART = "block / blocks; block -= target * blocks"


def repeated(count: int, name: str, body: list[str]) -> list[str]:
    """Code that runs ``body`` as often as the uniform ``name`` says, which is ``count``.

    A loop over one step is none, and one over an even number takes two steps at a time: loops cost
    much on devices that are emulated. What a program depends on of the count is ``paced``.
    """
    pace = paced(count)
    if pace == 0:
        return ["  {", *body, "  }"]
    return [
        f"  for (int {name}Step = 0; {name}Step < {name}; {name}Step += {pace}) {{",
        *["  {", *body, "  }"] * pace,
        "  }",
    ]


def paced(count: int) -> int:
    """How many steps a loop over so many takes at a time; 0 where there is one."""
    return 0 if count == 1 else 2 - count % 2


def tile_rows(backend: WebGLBackend) -> int:
    """Rows of a tile on this device; 0 where it has fewer than four render targets."""
    return min(TILE_ROWS, backend.most_targets & ~3)


def _choice(first: int, count: int) -> str:
    """Code that returns a texel of ``target``, one of so many."""
    if count == 1:
        return f"return getX{first}At(place);"
    half = count // 2
    one, other = _choice(first, half), _choice(first + half, count - half)
    return f"if (target < {first + half}) {{ {one} }} else {{ {other} }}"


def draw_tiles(
    backend: WebGLBackend,
    program: Program,
    inputs: Sequence[Texture],
    batch: int,
    rows: int,
    columns: int,
    are_neighbours: bool,
    *uniforms: float,
) -> Texture:
    """Draw ``batch`` matrices of (rows, columns) by a program that computes tiles.

    The program's texel ``t`` is ``(batch, block, columns / 4)``; it sets one result for each of so
    many rows: those from ``block`` times their number on, if they ``are_neighbours``, else every
    ``blocks``-th from ``block`` on. What it sets for rows past the last is not used.
    """
    tile = tile_rows(backend)
    blocks = -(-rows // tile)
    size = batch * rows * columns
    part = batch * blocks * columns
    if batch == 1 and not are_neighbours and backend.can_copy:
        return backend.draw_parts(program, tile, inputs, part, size, *uniforms)
    parts = backend.draw_several(program, tile, inputs, part, float32, *uniforms)

    def join() -> Shader:
        part = f"split(block, {tile})" if are_neighbours else _PART
        code = _JOIN.replace("PART", part).replace("CHOICES", _choice(0, tile))
        sources = [Input(f"x{row}", float32, 4) for row in range(tile)]
        uniforms = [(name, "int") for name in ("rows", "columns", "blocks")]
        return Shader("join_tiles", sources, float32, 4, uniforms, code)

    try:
        joining = backend.program(("join_tiles", tile, are_neighbours), join)
        return backend.draw(joining, parts, size, float32, rows, columns >> 2, blocks)
    finally:
        for one in parts:
            backend.release(one)
