"""Numbers in equal steps, and ones on a diagonal."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Operand
from webtensor.backends.webgl.backend import WebGLBackend, kernel
from webtensor.backends.webgl.compiler import Shader
from webtensor.dtypes import DType, float32
from webtensor.shapes import Shape, prod

__all__: list[str] = []

_SEQUENCE = """
V compute(int t) {
  ivec4 i = t * 4 + ivec4(0, 1, 2, 3);
  return choose_lanes(start + V(i) * step_, V(last), equal(i, ivec4(count - 1)));
}
"""


@kernel("sequence")
def sequence(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    start: float,
    step: float,
    last: float,
) -> Handle:
    """Element ``i`` is ``start + i * step``; the last one is ``last``."""
    kind = "float" if dtype is float32 else "int"

    def shader() -> Shader:
        uniforms = [*((name, kind) for name in ("start", "step_", "last")), ("count", "int")]
        return Shader("sequence", [], dtype, 4, uniforms, _SEQUENCE)

    size = prod(shape)
    return backend.run(("sequence", dtype), shader, inputs, size, dtype, start, step, last, size)


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
def eye(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, k: int
) -> Handle:
    """Ones at (row, row + k), else zeros."""

    def shader() -> Shader:
        return Shader("eye", [], dtype, 4, [("columns", "int"), ("k", "int")], _EYE)

    return backend.run(("eye", dtype), shader, inputs, prod(shape), dtype, shape[1], k)
