"""Kernels that pick slices, and convert between coordinates and flat indices."""

from __future__ import annotations

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader, array_uniform
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.dtypes import int32
from webtensor.shapes import Shape, prod

__all__: list[str] = []

_ZERO = {"float32": "0.0", "int32": "0", "bool": "false"}

_GATHER = """
int sourceIndex(int index, int row, int j) {
  if (index < 0) index += length_;
  return index >= 0 && index < length_ ? (row * length_ + index) * inner + j : -1;
}
V compute(int t) {
  int j = split(t, inner);
  int from = sourceIndex(getIndices(split(t, count)), t, j);
  V x = getX(max(from, 0));
  return from < 0 ? V(ZERO) : x;
}
"""

# Four single elements of one row, by the four indices in one texel.
_GATHER_FOURS = """
T pick(int index, int row) {
  if (index < 0) index += length_;
  T x = getX(row * length_ + clamp(index, 0, length_ - 1));
  return index >= 0 && index < length_ ? x : ZERO;
}
V compute(int t) {
  ivec4 some = getIndices(split(t, count));
  return V(pick(some.x, t), pick(some.y, t), pick(some.z, t), pick(some.w, t));
}
"""


@kernel("gather")
def gather(draws: Draws, outer: int, length: int, inner: int, count: int) -> Value:
    """Pick slices by index; out of range picks zeros."""
    fours = inner == 1 and (count % 4 == 0 or outer == 1)
    lanes = 4 if fours or inner % 4 == 0 else 1

    def shader() -> Shader:
        source = Input("x", draws.dtype, 1 if fours else lanes)
        indices = Input("indices", int32, 4 if fours else 1)
        uniforms = [("length_", "int"), ("inner", "int"), ("count", "int")]
        code = (_GATHER_FOURS if fours else _GATHER).replace("ZERO", _ZERO[draws.dtype])
        return Shader("gather", [source, indices], draws.dtype, lanes, uniforms, code)

    inner = inner // 4 if inner % 4 == 0 else inner
    count = -(-count // 4) if fours else count
    key = ("gather", draws.dtype, lanes, fours)
    return draws.result(key, shader, length, inner, count)


@kernel("flat_indices")
def flat_indices(draws: Draws, sizes: Shape) -> Value:
    """Return the flat indices of rows of coordinates; one past the last for those outside."""
    depth = len(sizes)

    def shader() -> Shader:
        lines = ["ivec4 compute(int t) {", "  ivec4 c, flatIndex = ivec4(0), outside = ivec4(0);"]
        lines += [f"  ivec4 x{texel} = getX(t * {depth} + {texel});" for texel in range(depth)]
        for axis in range(depth):
            numbers = [divmod(row * depth + axis, 4) for row in range(4)]
            column = ", ".join(f"x{texel}[{lane}]" for texel, lane in numbers)
            lines += [
                f"  c = ivec4({column});",
                f"  outside = max(outside, outside_of(c, sizes[{axis}]));",
                f"  flatIndex = flatIndex * sizes[{axis}] + c;",
            ]
        lines += ["  return flatIndex + (end - flatIndex) * outside;", "}"]
        uniforms = [("end", "int"), *array_uniform("sizes", depth)]
        return Shader("flat_indices", [Input("x", int32, 4)], int32, 4, uniforms, "\n".join(lines))

    return draws.result(("flat_indices", depth), shader, prod(sizes), *sizes)


@kernel("coordinates")
def coordinates(draws: Draws, sizes: Shape) -> Value:
    """Return the coordinates of flat indices in row-major order."""
    depth = len(sizes)

    def shader() -> Shader:
        lines = ["int compute(int i) {", f"  int axis = split(i, {depth});"]
        lines += ["  int rest = getX(i);", "  int coordinate = 0;"]
        for axis in range(depth - 1, 0, -1):
            lines.append(f"  int c{axis} = split(rest, sizes[{axis}]);")
            lines.append(f"  coordinate = axis == {axis} ? c{axis} : coordinate;")
        lines += ["  return axis == 0 ? rest : coordinate;", "}"]
        uniforms = array_uniform("sizes", depth)
        code = "\n".join(lines)
        return Shader("coordinates", [Input("x", int32, 1)], int32, 1, uniforms, code)

    return draws.result(("coordinates", depth), shader, *sizes)
