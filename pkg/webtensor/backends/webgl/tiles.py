"""Register tiles: fragments that compute four columns of several rows of a result.

The speed of a contraction is limited by texel fetches. A fragment that writes one texel fetches 5
texels for 16 multiplications; one that writes eight rows, each to its own render target, reads the
columns' operand once for all of them: 12 texels for 128. A second draw then joins the rows. On
SwiftShader this made a product of 512 × 512 matrices 3.2 times faster.
"""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.dtypes import float32

__all__ = [
    "MAX_ELEMENTS",
    "TILE_ROWS",
    "are_worth_tiles",
    "draw_tiles",
    "paced",
    "summed",
    "tile_rows",
]

#: Rows of a tile, if the device has as many render targets; a multiple of four.
TILE_ROWS = 8

#: The minimum number of multiplications at which a second draw pays off, on emulated devices and on
#: GPUs. A GPU computes much faster, but takes as long to begin a draw.
_WORTH_TILES_EMULATED = 1 << 18
_WORTH_TILES = 1 << 24

#: Tiles count the texels of their operands in floats, which are exact up to here.
MAX_ELEMENTS = 4 << 24

_JOIN = """
V compute(int t) {
  int column = split(t, columns);
  int block = split(t, rows);
  int target = PART;
  float offset = float((t * blocks + block) * columns + column);
  CHOICES
}
"""
#: The target of a row, where each target has consecutive rows; ``block`` becomes the row within it.
#: Fragments that the device computes together then read the same target.
_PART = "block / blocks; block -= target * blocks"


def summed(count: int, name: str, rows: int, body: list[str]) -> list[str]:
    """Return code that runs ``body`` ``count`` times, which adds products to ``sumR``.

    The uniform ``name`` has the count. A few steps make a sum of their own, which is then added to
    ``totalR``, for each of the ``rows``: rounding errors grow with the number of terms that are
    added one after another.

    Loops cost much on emulated devices: a single step needs none, others are taken several at a
    time. Programs are therefore keyed by ``paced(count)``, not by the count.
    """
    pace = paced(count)
    step = f"{name}Step"
    loop = f"for (int {step} = 0; {step} < {name}; {step} += {pace}) " if pace else ""
    return [
        f"  {loop}{{",
        *(f"    vec4 sum{row} = vec4(0.0);" for row in range(rows)),
        *["    {", *body, "    }"] * max(pace, 1),
        *(f"    total{row} += sum{row};" for row in range(rows)),
        "  }",
    ]


def paced(count: int) -> int:
    """Return how many steps a loop of ``count`` steps takes at a time; 0 if there is no loop."""
    return 0 if count == 1 else next(pace for pace in (4, 2, 1) if count % pace == 0)


def are_worth_tiles(draws: Draws, multiplications: int) -> bool:
    """Whether multiplications take longer than joining rows, on a device that has tiles."""
    minimum = _WORTH_TILES_EMULATED if draws.capabilities.is_emulated else _WORTH_TILES
    return tile_rows(draws) > 0 and multiplications >= minimum


def tile_rows(draws: Draws) -> int:
    """Return the rows of a tile on this device, or 0 if it has fewer than four render targets."""
    return min(TILE_ROWS, draws.capabilities.most_targets & ~3)


def _choice(first: int, count: int) -> str:
    """Return code that returns a texel of ``target``, one of ``count`` from ``first`` on."""
    if count == 1:
        return f"return getX{first}At(offset);"
    half = count // 2
    lower, upper = _choice(first, half), _choice(first + half, count - half)
    return f"if (target < {first + half}) {{ {lower} }} else {{ {upper} }}"


def draw_tiles(
    draws: Draws,
    program: Program,
    inputs: Sequence[Value],
    batch: int,
    rows: int,
    columns: int,
    are_neighbours: bool,
    *uniforms: float,
) -> Value:
    """Draw ``batch`` matrices of (rows, columns) by a program that computes tiles.

    The program's texel ``t`` is ``(batch, block, columns / 4)``; it sets one result for each row of
    a tile. If the rows ``are_neighbours``, they follow each other from ``block * tile`` on;
    otherwise they are every ``blocks``-th row from ``block`` on. Results past the last row are not
    used.
    """
    tile = tile_rows(draws)
    blocks = -(-rows // tile)
    size = batch * rows * columns
    part = batch * blocks * columns
    copies = draws.capabilities.can_copy and draws.capabilities.is_emulated
    if batch == 1 and not are_neighbours and copies:
        return draws.draw_parts(program, tile, inputs, part, size, *uniforms)
    parts = draws.draw_several(program, tile, inputs, part, float32, *uniforms)

    def join() -> Shader:
        part = f"split(block, {tile})" if are_neighbours else _PART
        code = _JOIN.replace("PART", part).replace("CHOICES", _choice(0, tile))
        sources = [Input(f"x{row}", float32, 4) for row in range(tile)]
        uniforms = [(name, "int") for name in ("rows", "columns", "blocks")]
        return Shader("join_tiles", sources, float32, 4, uniforms, code)

    joining = Program(("join_tiles", tile, are_neighbours), join)
    return draws.draw(joining, parts, size, float32, rows, columns >> 2, blocks)
