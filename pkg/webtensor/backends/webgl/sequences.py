"""Numbers in equal steps, and ones on a diagonal."""

from __future__ import annotations

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Shader
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.dtypes import float32

__all__: list[str] = []

_SEQUENCE = """
V compute(int t) {
  ivec4 i = t * 4 + ivec4(0, 1, 2, 3);
  return choose_lanes(start + V(i) * step_, V(last), equal(i, ivec4(count - 1)));
}
"""


@kernel("sequence")
def sequence(draws: Draws, start: float, step: float, last: float) -> Value:
    """Element ``i`` is ``start + i * step``; the last one is ``last``."""
    kind = "float" if draws.dtype is float32 else "int"

    def shader() -> Shader:
        uniforms = [*((name, kind) for name in ("start", "step_", "last")), ("count", "int")]
        return Shader("sequence", [], draws.dtype, 4, uniforms, _SEQUENCE)

    return draws.result(("sequence", draws.dtype), shader, start, step, last, draws.size)


_EYE = """
V compute(int t) {
  int row = t * 4;
  int column = split(row, columns);
  V result;
  for (int lane = 0; lane < 4; lane++) {
    result[lane] = T(column == row + k);
    column++;
    if (column == columns) {
      column = 0;
      row++;
    }
  }
  return result;
}
"""


@kernel("eye")
def eye(draws: Draws, k: int) -> Value:
    """Ones at (row, row + k), else zeros."""

    def shader() -> Shader:
        return Shader("eye", [], draws.dtype, 4, [("columns", "int"), ("k", "int")], _EYE)

    return draws.result(("eye", draws.dtype), shader, draws.shape[1], k)
