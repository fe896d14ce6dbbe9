"""Rows of whole texels: zeros behind the elements of rows that end within one."""

from __future__ import annotations

from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.backends.webgl.epilogue import Epilogue
from webtensor.dtypes import float32

__all__ = ["narrowed", "padded_size", "widened"]

# The operand is (outer, rows, inner); inner is 1 or a multiple of four.
_WIDEN = """
V compute(int t) {
  int column = split(t, columns);
  int first = split(t, texels) * (inner == 1 ? 4 : 1);
  V v = getXRun((t * rows + min(first, rows - 1)) * inner + column * 4);
  int left = rows - first;
  int next = inner == 1 ? 1 : 0;
  return V(within(v.x, left > 0), within(v.y, left > next), within(v.z, left > 2 * next),
    within(v.w, left > 3 * next));
}
"""
_NARROW = """
V compute(int i) {
  int column = split(i, columns);
  return getX(i * wide + column);
}
"""


def padded_size(count: int) -> int:
    """Return the size of a row of whole texels: the next multiple of four."""
    return (count + 3) & ~3


def widened(draws: Draws, x: Value, outer: int, rows: int, inner: int = 1) -> Value:
    """Put zeros behind the rows of (outer, rows, inner), up to a multiple of four."""
    numbers = {
        "rows": rows,
        "inner": inner,
        "columns": -(-inner // 4),  # texels
        "texels": padded_size(rows) // 4 if inner == 1 else padded_size(rows),
    }

    def shader() -> Shader:
        uniforms = [(name, "int") for name in numbers]
        return Shader("widen", [Input("x", float32, 1)], float32, 4, uniforms, _WIDEN)

    program = Program(("widen",), shader)
    return draws.draw(program, [x], outer * padded_size(rows) * inner, float32, *numbers.values())


def narrowed(draws: Draws, x: Value, outer: int, columns: int, epilogue: Epilogue) -> Value:
    """Remove the elements behind the columns, and apply the epilogue to the rest."""

    def shader() -> Shader:
        uniforms = [("columns", "int"), ("wide", "int")]
        source = Input("x", float32, 1)
        return epilogue.added_to(Shader("narrow", [source], float32, 1, uniforms, _NARROW))

    program = Program(("narrow", epilogue.key), shader)
    numbers = (columns, padded_size(columns), *epilogue.numbers(columns))
    return draws.draw(program, [x, *epilogue.textures], outer * columns, float32, *numbers)
