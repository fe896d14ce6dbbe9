"""Kernels that put or add slices at their indices.

A fragment shader cannot choose where it writes, so each output searches for the indices equal to
its own. If outputs times indices are many, the indices are sorted first and searched by bisection;
otherwise each output walks over all of them, in several parts if the outputs are too few to keep
the device busy.
"""

from __future__ import annotations

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.backends.webgl.reduction import reduced_value
from webtensor.backends.webgl.sorting import argsort_texture
from webtensor.dtypes import float32, int32

__all__: list[str] = []

#: Indices are sorted if comparing all of them for each output would take more reads than this,
#: and at least this many outputs: sorting reads some hundred times per index.
_MAX_READS = 1 << 24
_MANY_OUTPUTS = 512

#: An output walks over at least this many indices.
_PART = 64

#: The number of outputs that keeps the device busy.
_BUSY = 4096


def _must_sort(outputs: int, count: int) -> bool:
    return outputs > _MANY_OUTPUTS and outputs * count > _MAX_READS


_WRAP = """
int compute(int c) {
  int index = getIndices(c);
  if (index < 0) index += length_;
  return index < 0 ? length_ : index;
}
"""

_FIND = """
int find(int position) {
  int low = 0;
  int high = count;
  while (low < high) {
    int middle = (low + high) >> 1;
    if (getWrapped(getOrder(middle)) COMPARED position) low = middle + 1;
    else high = middle;
  }
  return low;
}
"""


def _sorted_indices(draws: Draws, indices: Value, length: int, count: int) -> list[Value]:
    """The indices counted from the front, those out of range as ``length``, and their order."""

    def shader() -> Shader:
        return Shader("wrap", [Input("indices", int32, 1)], int32, 1, [("length_", "int")], _WRAP)

    wrapped = draws.draw(Program("wrap", shader), [indices], count, int32, length)
    order = argsort_texture(draws, wrapped, False, 1, count)
    return [wrapped, order]


_SET = """
V compute(int t) {
  int j = t % inner;
  int position = t / inner;
  for (int c = count - 1; c >= 0; c--) {
    int index = getIndices(c);
    if (index == position || index + length_ == position) return getUpdates(c * inner + j);
  }
  return KEPT;
}
"""
_SET_SORTED = """
V compute(int t) {
  int last = find(t / inner) - 1;
  if (last < 0) return KEPT;
  int c = getOrder(last);
  return getWrapped(c) == t / inner ? getUpdates(c * inner + t % inner) : KEPT;
}
"""


@kernel("scatter_set")
def scatter_set(draws: Draws, length: int, inner: int, count: int) -> Value:
    """Replace slices of a copy; the last of equal indices wins, others out of range are ignored."""
    x, indices, updates = draws.inputs
    lanes = 4 if inner % 4 == 0 else 1
    size = length * inner
    inner //= lanes
    must_sort = _must_sort(length * inner, count)
    is_scalar = x.size < size

    def shader() -> Shader:
        names = ["wrapped", "order"] if must_sort else ["indices"]
        code = _FIND.replace("COMPARED", "<=") + _SET_SORTED if must_sort else _SET
        code = code.replace("KEPT", "V(getX(0))" if is_scalar else "getX(t)")
        sources = [
            Input("x", draws.dtype, 1 if is_scalar else lanes),
            Input("updates", draws.dtype, lanes),
        ]
        sources += [Input(name, int32, 1) for name in names]
        uniforms = [(name, "int") for name in ("length_", "inner", "count")]
        return Shader("scatter_set", sources, draws.dtype, lanes, uniforms, code)

    program = Program(("scatter_set", draws.dtype, lanes, must_sort, is_scalar), shader)
    index_textures = [indices]
    if must_sort:
        index_textures = _sorted_indices(draws, indices, length, count)
    return draws.draw(
        program, [x, updates, *index_textures], size, draws.dtype, length, inner, count
    )


_ADD = """
V compute(int t) {
  int j = split(t, inner);
  int position = split(t, length_);
  int begin = (t % parts) * part;
  int end = min(begin + part, count);
  int start = (t / parts) * count;
  V total = V(0);
  for (int c = begin; c < end; c++) {
    int index = getIndices(c);
    if (index == position || index + length_ == position) total += getX(ROW * inner + j);
  }
  return total;
}
"""
_ADD_SORTED = """
V compute(int t) {
  int j = split(t, inner);
  int position = t % length_;
  int start = (t / length_) * count;
  V total = V(0);
  for (int found = find(position); found < count; found++) {
    int c = getOrder(found);
    if (getWrapped(c) != position) break;
    total += getX(ROW * inner + j);
  }
  return total;
}
"""
#: The row of the operand that update c adds: its own, or one that is picked.
_ROW = {False: "(start + c)", True: "getPicked(c)"}


@kernel("scatter_add")
def scatter_add(draws: Draws, outer: int, length: int, inner: int, count: int) -> Value:
    """Add slices up at their indices; those out of range are left out."""
    x, indices = draws.inputs
    return _add(draws, [x], indices, (outer, length, inner, count))


@kernel("sum_picked")
def sum_picked(draws: Draws, length: int, inner: int, count: int) -> Value:
    """Pick slices at the second operand's indices, and add them up at the third's."""
    x, indices, segments = draws.inputs
    return _add(draws, [x, indices], segments, (1, length, inner, count))


def _add(
    draws: Draws, rows: list[Value], indices: Value, group: tuple[int, int, int, int]
) -> Value:
    """Add rows up, those of a texture or, where there are two, those that the second picks."""
    outer, length, inner, count = group
    dtype = draws.dtype
    lanes = 4 if inner % 4 == 0 else 1
    size = outer * length * inner
    picks = len(rows) > 1
    inner //= lanes
    must_sort = _must_sort(outer * length * inner, count)

    def shader() -> Shader:
        names = ["wrapped", "order"] if must_sort else ["indices"]
        code = _FIND.replace("COMPARED", "<") + _ADD_SORTED if must_sort else _ADD
        code = code.replace("ROW", _ROW[picks])
        names = ["picked", *names] if picks else names
        sources = [Input("x", dtype, lanes), *(Input(name, int32, 1) for name in names)]
        numbers = ["length_", "inner", "count"] + ([] if must_sort else ["parts", "part"])
        return Shader("scatter_add", sources, dtype, lanes, [(n, "int") for n in numbers], code)

    program = Program(("scatter_add", dtype, lanes, must_sort, picks), shader)
    if must_sort:
        index_textures = _sorted_indices(draws, indices, length, count)
        return draws.draw(program, [*rows, *index_textures], size, dtype, length, inner, count)
    parts = max(1, min(count // _PART, _BUSY // size))
    part = -(-count // parts)
    numbers = (length, inner, count, parts, part)
    total = draws.draw(program, [*rows, indices], size * parts, dtype, *numbers)
    if parts == 1:
        return total
    parted = (outer, parts, length * inner * lanes)
    return reduced_value(draws, total, dtype, "sum", parted)


@kernel("one_hot")
def one_hot(draws: Draws, depth: int, on: float, off: float) -> Value:
    """Rows of one number, with another at each row's index."""

    def shader() -> Shader:
        kind = "float" if draws.dtype is float32 else "int"
        code = """
V compute(int i) {
  int column = split(i, depth);
  return T(getIndices(i) == column ? on : off);
}
"""
        uniforms = [("depth", "int"), ("on", kind), ("off", kind)]
        return Shader("one_hot", [Input("indices", int32, 1)], draws.dtype, 1, uniforms, code)

    return draws.result(("one_hot", draws.dtype), shader, depth, on, off)
