"""Kernel of the matrix product.

If the columns are a multiple of four, a fragment computes four neighbouring columns of one row,
else one element per lane. Operands are read four at a time along their innermost axis, if that is a
multiple of four.

Large products are computed in tiles (see ``tiles``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.backends.webgl.epilogue import NO_EPILOGUE, Epilogue, epilogue_of
from webtensor.backends.webgl.row_padding import narrowed, padded_size, widened
from webtensor.backends.webgl.tiles import (
    MAX_ELEMENTS,
    TILE_ROWS,
    are_worth_tiles,
    draw_tiles,
    paced,
    summed,
    tile_rows,
)
from webtensor.dtypes import DType, float32
from webtensor.matmul_sizes import MatmulSizes

__all__ = ["multiply"]

#: The most elements of a product whose sums are split.
_FEW_ELEMENTS = 1 << 12
#: The minimum number of multiplications at which two more draws pay off.
_WORTH_WIDENING = 1 << 16
#: The minimum numbers of columns at which it pays off to write ``a`` with rows of whole texels.
_MIN_COLUMNS = 13
_MIN_TRANSPOSED_COLUMNS = 3

# A texel of the result; a is read by fours along k.
_TEXEL_BY_FOURS = """
V compute(int t) {
  int columns = n / 4;
  int column = split(t, columns);
  int row = split(t, m);
  int a = (t * aStep + row * aRow) / 4;
  int b = t * bStep / 4 + START;
  V total = V(0);
  for (int i = 0; i < k; i += 4) {
    VECTOR left = getA(a++);
    total += STEP;
  }
  return total;
}
"""
# b is (k, n): four rows of b, each scaled by its element of a.
_B_ROWS = (
    "column",
    """left.x * getB(b) + left.y * getB(b + columns)
      + left.z * getB(b + 2 * columns) + left.w * getB(b + 3 * columns);
    b += 4 * columns""",
)
# b is (n, k): four dot products.
_B_COLUMNS = (
    "column * bColumn; int next = bColumn / 4",
    """V(inner(left, getB(b)), inner(left, getB(b + next)),
      inner(left, getB(b + 2 * next)), inner(left, getB(b + 3 * next)));
    b++""",
)

# A texel of the result, b being (k, n); a is read element by element, whatever its layout.
_TEXEL_ONE_BY_ONE = """
V compute(int t) {
  int columns = n / 4;
  int column = split(t, columns);
  int row = split(t, m);
  int a = t * aStep + row * aRow;
  int b = t * bStep / 4 + column;
  V total = V(0);
  for (int i = 0; i < k; i++) {
    total += getA(a) * getB(b);
    a += aColumn;
    b += columns;
  }
  return total;
}
"""

# One element of the result; both operands are read element by element.
_ELEMENT = """
V compute(int i) {
  int column = split(i, n);
  int row = split(i, m);
  int a = i * aStep + row * aRow;
  int b = i * bStep + column * bColumn;
  V total = V(0);
  for (int j = 0; j < k; j++) {
    total += getA(a) * getB(b);
    a += aColumn;
    b += bRow;
  }
  return total;
}
"""

# One element of the result; k is the innermost axis of both operands, read by fours.
_ELEMENT_DOT = """
V compute(int i) {
  int column = split(i, n);
  int row = split(i, m);
  int a = (i * aStep + row * aRow) / 4;
  int b = (i * bStep + column * bColumn) / 4;
  V total = V(0);
  for (int j = 0; j < k; j += 4) total += inner(getA(a++), getB(b++));
  return total;
}
"""

_ADD = """
V compute(int t) {
  V total = getX(t);
  for (int part = 1; part < parts; part++) {
    t += size;
    total += getX(t);
  }
  return total;
}
"""

_INNER = """
T inner(VECTOR a, VECTOR b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
"""


def _tile_code(rows: int, transpose_a: bool, transpose_b: bool, k: int) -> str:
    """Return the code of a tile: ``rows`` rows by four columns, four steps of k at a time.

    All sizes count texels: ``k`` is a quarter of the product's.
    """
    step = [
        *(f"    vec4 b{step} = getBAt(b + {step}.0 * bNext);" for step in range(4)),
        f"    b += {'1.0' if transpose_b else '4.0 * bNext'};",
    ]
    if transpose_a:
        step += _tile_steps_along_rows(rows)
    else:
        for row in range(rows):
            step.append(f"    vec4 a{row} = getAAt(a + {row}.0 * aNext);")
            if transpose_b:
                dots = ", ".join(f"dot(a{row}, b{tap})" for tap in range(4))
                step.append(f"    sum{row} += vec4({dots});")
            else:
                terms = " + ".join(f"a{row}.{lane} * b{tap}" for tap, lane in enumerate("xyzw"))
                step.append(f"    sum{row} += {terms};")
        step.append("    a += 1.0;")
    return "\n".join(
        [
            "void compute(int t) {",
            "  int column = split(t, n);",
            "  int block = split(t, blocks);",
            f"  float a = float(t * aStep + block * {rows // 4 if transpose_a else 'k'});",
            f"  float b = float(t * bStep + column{' * 4 * k' if transpose_b else ''});",
            f"  float aNext = float({'m' if transpose_a else 'blocks * k'});",
            f"  float bNext = float({'k' if transpose_b else 'n'});",
            *(f"  vec4 total{row} = vec4(0.0);" for row in range(rows)),
            *summed(k, "k", rows, step),
            *(f"  result{row} = total{row};" for row in range(rows)),
            "}",
        ]
    )


def _tile_steps_along_rows(rows: int) -> list[str]:
    """Return the code for ``a`` of shape (k, m): one texel has four rows of one step."""
    lines = []
    for step in range(4):
        for texel in range(rows // 4):
            name = f"a{step}_{texel}"
            lines.append(f"    vec4 {name} = getAAt(a + {step}.0 * aNext + {texel}.0);")
            lines += [
                f"    sum{texel * 4 + offset} += {name}.{lane} * b{step};"
                for offset, lane in enumerate("xyzw")
            ]
    return [*lines, "    a += 4.0 * aNext;"]


def _tiles_fit(draws: Draws, dtype: DType, sizes: MatmulSizes) -> bool:
    """Whether the product is large, and the axes that tiles read consist of whole texels."""
    _, m, k, n, transpose_a, transpose_b, _, _ = sizes
    return (
        dtype is float32
        and m >= TILE_ROWS
        and n % 4 == 0
        and k % 4 == 0
        and not (transpose_a and (m % 4 or transpose_b))
        and are_worth_tiles(draws, sizes.batch * m * k * n)
        and max(m * k, k * n) * sizes.batch <= MAX_ELEMENTS
    )


def _multiply_in_tiles(
    draws: Draws, a: Value, b: Value, sizes: MatmulSizes, epilogue: Epilogue
) -> Value:
    batch, m, k, n, transpose_a, transpose_b, a_batched, b_batched = sizes
    rows = tile_rows(draws)
    blocks = -(-m // rows)

    def shader() -> Shader:
        names = ("m", "k", "n", "rows", "blocks", "aStep", "bStep")
        sources = [Input("a", float32, 4), Input("b", float32, 4)]
        uniforms = [(name, "int") for name in names]
        code = _tile_code(rows, transpose_a, transpose_b, k >> 2)
        first, step = (f"block * {rows}", "1") if transpose_a else ("block", "blocks")
        offsets = [f"(t * rows + {first} + {row} * {step}) * n + column" for row in range(rows)]
        tile = Shader("matmul", sources, float32, 4, uniforms, code, rows)
        return epilogue.added_to_tile(tile, "column", offsets)

    key = ("matmul_tiles", rows, transpose_a, transpose_b, paced(k >> 2), epilogue.key)
    program = Program(key, shader)
    # All sizes but the rows and their blocks count texels.
    numbers = (
        *(m >> 2, k >> 2, n >> 2, m, blocks),
        m * k >> 2 if a_batched else 0,
        k * n >> 2 if b_batched else 0,
        *epilogue.parameters,
    )
    inputs = [a, b, *epilogue.textures]
    return draw_tiles(draws, program, inputs, batch, m, n, transpose_a, *numbers)


def _is_worth_widening(dtype: DType, sizes: MatmulSizes) -> bool:
    """Whether rows end within a texel, and there is enough to compute for a few more draws."""
    return (
        dtype is float32
        and sizes.batch == 1
        and not (sizes.transpose_a and sizes.transpose_b)
        and sizes.m > 1
        and sizes.m * sizes.k * sizes.n >= _WORTH_WIDENING
        and _widened_sizes(sizes) != sizes
    )


def _widened_sizes(sizes: MatmulSizes) -> MatmulSizes:
    """Return sizes at which rows are whole texels, as far as it pays off to write them so."""
    _, m, k, n, transpose_a, transpose_b, *_ = sizes
    if n >= (_MIN_TRANSPOSED_COLUMNS if transpose_b else _MIN_COLUMNS):
        k = padded_size(k)
        m = padded_size(m) if transpose_a else m
    if k % 4 == 0 or (n > 1 and not transpose_b):
        n = padded_size(n)
    return sizes._replace(m=m, k=k, n=n)


def _multiply_wide(
    draws: Draws, a: Value, b: Value, sizes: MatmulSizes, epilogue: Epilogue
) -> Value:
    """Multiply matrices with zeros behind their rows and columns, so that rows are whole texels."""
    wide = _widened_sizes(sizes)
    a = _padded(draws, a, _stored_a(sizes), _stored_a(wide))
    b = _padded(draws, b, _stored_b(sizes), _stored_b(wide))
    if (wide.m, wide.n) == (sizes.m, sizes.n):
        return multiply(draws, a, b, wide, epilogue)
    product = multiply(draws, a, b, wide)
    return narrowed(draws, product, sizes.m, sizes.n, epilogue)


def _stored_a(sizes: MatmulSizes) -> tuple[int, int]:
    return (sizes.k, sizes.m) if sizes.transpose_a else (sizes.m, sizes.k)


def _stored_b(sizes: MatmulSizes) -> tuple[int, int]:
    return (sizes.n, sizes.k) if sizes.transpose_b else (sizes.k, sizes.n)


def _padded(draws: Draws, x: Value, size: tuple[int, int], wide: tuple[int, int]) -> Value:
    """Put zeros behind the columns of a matrix, and behind its rows."""
    rows, columns = size
    if wide[1] != columns:
        x = widened(draws, x, rows, columns)
    if wide[0] != rows:
        x = widened(draws, x, 1, rows, wide[1])
    return x


@kernel("matmul", "fused_matmul")
def matmul(draws: Draws, sizes: MatmulSizes, *epilogue: Any) -> Value:
    """Multiply batches of matrices."""
    a, b = draws.inputs[:2]
    return multiply(draws, a, b, sizes, epilogue_of(draws.inputs, *epilogue))


def multiply(
    draws: Draws, a: Value, b: Value, sizes: MatmulSizes, epilogue: Epilogue = NO_EPILOGUE
) -> Value:
    """Multiply batches of matrices in textures."""
    if _tiles_fit(draws, a.dtype, sizes):
        return _multiply_in_tiles(draws, a, b, sizes, epilogue)
    if _is_worth_widening(a.dtype, sizes):
        return _multiply_wide(draws, a, b, sizes, epilogue)
    parts = _parts(draws, a.dtype, sizes)
    if parts == 1:
        return _draw(draws, a, b, sizes, epilogue)
    products = _draw(draws, a, b, sizes, NO_EPILOGUE, parts)
    return _added(draws, products, sizes, parts, epilogue)


def _parts(draws: Draws, dtype: DType, sizes: MatmulSizes) -> int:
    """Return into how many parts sums are split: a few fragments leave most of a GPU idle."""
    batch, m, k, n, *_ = sizes
    if draws.capabilities.is_emulated or dtype is not float32 or batch > 1 or m * n > _FEW_ELEMENTS:
        return 1
    return next((parts for parts in (16, 8, 4, 2) if k % (4 * parts) == 0 and k >= 64 * parts), 1)


def _added(draws: Draws, x: Value, sizes: MatmulSizes, parts: int, epilogue: Epilogue) -> Value:
    """Add the parts of a product's sums, and apply the epilogue."""
    size, columns = sizes.m * sizes.n, sizes.n
    lanes = 1 if columns % 4 else 4

    def shader() -> Shader:
        uniforms = [("parts", "int"), ("size", "int")]
        source = Input("x", float32, lanes)
        return epilogue.added_to(Shader("add_parts", [source], float32, lanes, uniforms, _ADD))

    program = Program(("add_parts", lanes, epilogue.key), shader)
    numbers = (parts, size // lanes, *epilogue.numbers(columns // lanes))
    return draws.draw(program, [x, *epilogue.textures], size, float32, *numbers)


class _Form(NamedTuple):
    """How a product is drawn: the code, and how many elements it writes and reads at once."""

    code: str
    lanes: int = 1
    a_lanes: int = 1
    b_lanes: int = 1


def _form(sizes: MatmulSizes) -> _Form:
    """Return the form that reads whole texels of both operands, or of one, if it can."""
    a_along_k = not sizes.transpose_a and sizes.k % 4 == 0
    b_along_k = sizes.transpose_b and sizes.k % 4 == 0
    b_along_n = not sizes.transpose_b and sizes.n % 4 == 0
    if a_along_k and sizes.n % 4 == 0 and (b_along_n or b_along_k):
        start, step = _B_ROWS if b_along_n else _B_COLUMNS
        code = _TEXEL_BY_FOURS.replace("START", start).replace("STEP", step)
        return _Form(code, lanes=4, a_lanes=4, b_lanes=4)
    if b_along_n:
        return _Form(_TEXEL_ONE_BY_ONE, lanes=4, b_lanes=4)
    if a_along_k and b_along_k:
        return _Form(_ELEMENT_DOT, a_lanes=4, b_lanes=4)
    return _Form(_ELEMENT)


def _draw(
    draws: Draws,
    a: Value,
    b: Value,
    sizes: MatmulSizes,
    epilogue: Epilogue,
    parts: int = 1,
) -> Value:
    """Draw products of batches, or the ``parts`` of the sums of one product, which has no batch."""
    batch, m, k, n, transpose_a, transpose_b, a_batched, b_batched = sizes
    dtype, form = a.dtype, _form(sizes)

    def shader() -> Shader:
        code = (_INNER if "inner(" in form.code else "") + form.code
        code = code.replace("VECTOR", "vec4" if dtype is float32 else "ivec4")
        sources = [Input("a", dtype, form.a_lanes), Input("b", dtype, form.b_lanes)]
        names = ("m", "k", "n", "aStep", "bStep", "aRow", "aColumn", "bRow", "bColumn")
        uniforms = [(name, "int") for name in names]
        return epilogue.added_to(Shader("matmul", sources, dtype, form.lanes, uniforms, code))

    a_row, a_column = (1, m) if transpose_a else (k, 1)
    b_row, b_column = (1, k) if transpose_b else (n, 1)
    part = k // parts
    return draws.draw(
        Program(("matmul", dtype, form.code, epilogue.key), shader),
        [a, b, *epilogue.textures],
        batch * parts * m * n,
        dtype,
        m,
        part,
        n,
        part * a_column if parts > 1 else m * k if a_batched else 0,
        part * b_row if parts > 1 else k * n if b_batched else 0,
        a_row,
        a_column,
        b_row,
        b_column,
        *epilogue.numbers(n // form.lanes),
    )
