"""Kernel of the matrix product.

A fragment computes four neighbouring columns of one row where the columns are a multiple of four,
else one element per lane. Operands are read four at a time along whichever axis lies innermost in
memory and is a multiple of four.

Large products are computed in tiles (see ``tiles``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.backends.api import Handle, Operand
from webtensor.backends.webgl.backend import WebGLBackend, kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.finishing import Finish, finish_of
from webtensor.backends.webgl.textures import Texture
from webtensor.backends.webgl.tiles import TILE_ROWS, WORTH_TILING, draw_tiles, tile_rows
from webtensor.dtypes import DType, float32
from webtensor.geometry import MatmulSizes
from webtensor.shapes import Shape

__all__ = ["multiply"]

# A texel of the result; a is read along k by fours.
_TEXEL_BY_FOURS = """
V compute(int t) {
  int column = split(t, n >> 2);
  int row = t % m; int batch = t / m;
  int a = ((batch * aStep) + row * k) >> 2;
  int b = batch * bStep;
  V total = V(0);
  for (int i = 0; i < k; i += 4) {
    VECTOR left = getA(a + (i >> 2));
    total += STEP;
  }
  return total;
}
"""
# b lies as (k, n): four rows of b, each scaled by its element of a.
_B_ROWS = """left.x * getB((b + i * n >> 2) + column)
      + left.y * getB((b + (i + 1) * n >> 2) + column)
      + left.z * getB((b + (i + 2) * n >> 2) + column)
      + left.w * getB((b + (i + 3) * n >> 2) + column)"""
# b lies as (n, k): four dot products.
_B_COLUMNS = """V(inner(left, getB((b + column * 4 * k + i) >> 2)),
      inner(left, getB((b + (column * 4 + 1) * k + i) >> 2)),
      inner(left, getB((b + (column * 4 + 2) * k + i) >> 2)),
      inner(left, getB((b + (column * 4 + 3) * k + i) >> 2)))"""

# A texel of the result, b as (k, n); a is read one by one, wherever it lies.
_TEXEL_ONE_BY_ONE = """
V compute(int t) {
  int column = split(t, n >> 2);
  int row = t % m; int batch = t / m;
  int a = batch * aStep + row * aRow;
  int b = (batch * bStep >> 2) + column;
  V total = V(0);
  for (int i = 0; i < k; i++) total += getA(a + i * aColumn) * getB(b + i * (n >> 2));
  return total;
}
"""

# One element of the result; both operands are read one by one.
_ELEMENT = """
V compute(int i) {
  int column = split(i, n);
  int row = i % m; int batch = i / m;
  int a = batch * aStep + row * aRow;
  int b = batch * bStep + column * bColumn;
  V total = V(0);
  for (int j = 0; j < k; j++) total += getA(a + j * aColumn) * getB(b + j * bRow);
  return total;
}
"""

# One element of the result; both operands lie along k, read by fours.
_ELEMENT_DOT = """
V compute(int i) {
  int column = split(i, n);
  int row = i % m; int batch = i / m;
  int a = (batch * aStep + row * k) >> 2;
  int b = (batch * bStep + column * k) >> 2;
  V total = V(0);
  for (int j = 0; j < k >> 2; j++) total += inner(getA(a + j), getB(b + j));
  return total;
}
"""

_INNER = """
T inner(VECTOR a, VECTOR b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
"""


def _tile_code(rows: int, transpose_a: bool, transpose_b: bool) -> str:
    """Code of a tile: ``rows`` rows by four columns, four steps of k at a time."""
    lines = [
        "void compute(int t) {",
        "  int column = split(t, n >> 2);",
        f"  int row = t % blocks * {rows}; int batch = t / blocks;",
        "  int a = batch * aStep + row * aRow;",
        "  int b = batch * bStep;",
        *(f"  vec4 c{row} = vec4(0.0);" for row in range(rows)),
        "  for (int i = 0; i < k; i += 4) {",
    ]
    for step in range(4):
        place = (
            f"(b + (column * 4 + {step}) * k + i) >> 2"
            if transpose_b
            else f"(b + (i + {step}) * n >> 2) + column"
        )
        lines.append(f"    vec4 b{step} = getB({place});")
    if transpose_a:
        lines += _tile_steps_along_rows(rows)
    else:
        for row in range(rows):
            lines.append(f"    vec4 a{row} = getA((a + {row} * k + i) >> 2);")
            if transpose_b:
                dots = ", ".join(f"dot(a{row}, b{step})" for step in range(4))
                lines.append(f"    c{row} += vec4({dots});")
            else:
                terms = " + ".join(f"a{row}.{lane} * b{step}" for step, lane in enumerate("xyzw"))
                lines.append(f"    c{row} += {terms};")
    lines.append("  }")
    lines += [f"  result{row} = c{row};" for row in range(rows)]
    return "\n".join([*lines, "}"])


def _tile_steps_along_rows(rows: int) -> list[str]:
    """The steps where ``a`` lies as (k, m): one texel holds four rows of one step."""
    lines = []
    for step in range(4):
        for first in range(0, rows, 4):
            texel = f"a{step}_{first}"
            lines.append(f"    vec4 {texel} = getA((a + (i + {step}) * m + {first}) >> 2);")
            lines += [
                f"    c{first + offset} += {texel}.{lane} * b{step};"
                for offset, lane in enumerate("xyzw")
            ]
    return lines


def _tiles_fit(dtype: DType, sizes: MatmulSizes) -> bool:
    """Whether the product is large, and whole texels lie along the axes that tiles read."""
    _, m, k, n, transpose_a, transpose_b, _, _ = sizes
    return (
        dtype is float32
        and m >= TILE_ROWS
        and n % 4 == 0
        and k % 4 == 0
        and not (transpose_a and (m % 4 or transpose_b))
        and sizes.batch * m * k * n >= WORTH_TILING
    )


def _multiply_in_tiles(
    backend: WebGLBackend, a: Texture, b: Texture, sizes: MatmulSizes, finish: Finish
) -> Texture:
    batch, m, k, n, transpose_a, transpose_b, a_batched, b_batched = sizes
    rows = tile_rows(backend)
    blocks = -(-m // rows)

    def shader() -> Shader:
        names = ("m", "k", "n", "blocks", "aStep", "bStep", "aRow")
        sources = [Input("a", float32, 4), Input("b", float32, 4)]
        uniforms = [(name, "int") for name in names]
        code = _tile_code(rows, transpose_a, transpose_b)
        return Shader("matmul", sources, float32, 4, uniforms, code, rows)

    program = backend.program(("matmul_tiles", rows, transpose_a, transpose_b), shader)
    numbers = (
        *(m, k, n, blocks),
        m * k if a_batched else 0,
        k * n if b_batched else 0,
        1 if transpose_a else k,
    )
    return draw_tiles(backend, program, [a, b], batch, m, n, finish, *numbers)


@kernel("matmul", "fused_matmul")
def matmul(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    sizes: MatmulSizes,
    *finish: Any,
) -> Handle:
    """Multiply batches of matrices."""
    a, b = (operand.storage.handle for operand in inputs[:2])
    return multiply(backend, a, b, dtype, sizes, finish_of(inputs, *finish))


def multiply(
    backend: WebGLBackend, a: Texture, b: Texture, dtype: DType, sizes: MatmulSizes, finish: Finish
) -> Texture:
    """Multiply batches of matrices that lie in textures."""
    if tile_rows(backend) and _tiles_fit(dtype, sizes):
        return _multiply_in_tiles(backend, a, b, sizes, finish)
    batch, m, k, n, transpose_a, transpose_b, a_batched, b_batched = sizes
    a_along_k = not transpose_a and k % 4 == 0
    b_along_k = transpose_b and k % 4 == 0
    b_along_n = not transpose_b and n % 4 == 0
    lanes, a_lanes, b_lanes = 4, 4, 4
    if a_along_k and n % 4 == 0 and (b_along_n or b_along_k):
        form = _TEXEL_BY_FOURS.replace("STEP", _B_ROWS if b_along_n else _B_COLUMNS)
    elif b_along_n:
        form, a_lanes = _TEXEL_ONE_BY_ONE, 1
    elif a_along_k and b_along_k:
        form, lanes = _ELEMENT_DOT, 1
    else:
        form, lanes, a_lanes, b_lanes = _ELEMENT, 1, 1, 1

    def shader() -> Shader:
        code = (_INNER if "inner(" in form else "") + form
        code = code.replace("VECTOR", "vec4" if dtype is float32 else "ivec4")
        sources = [Input("a", dtype, a_lanes), Input("b", dtype, b_lanes)]
        names = ("m", "k", "n", "aStep", "bStep", "aRow", "aColumn", "bRow", "bColumn")
        used = [(name, "int") for name in names]
        return finish.added_to(Shader("matmul", sources, dtype, lanes, used, code))

    return backend.draw(
        backend.program(("matmul", dtype, form, finish.key), shader),
        [a, b, *finish.textures],
        batch * m * n,
        dtype,
        m,
        k,
        n,
        m * k if a_batched else 0,
        k * n if b_batched else 0,
        *((1, m) if transpose_a else (k, 1)),
        *((1, k) if transpose_b else (n, 1)),
        *finish.numbers(n // lanes),
    )
