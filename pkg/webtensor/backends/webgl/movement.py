"""Kernels that move elements. Where whole texels move, four elements are moved at a time."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from webtensor.backends.api import Handle, Operand
from webtensor.backends.webgl.backend import WebGLBackend, kernel
from webtensor.backends.webgl.compiler import Input, Shader, Uniform, array_uniform
from webtensor.backends.webgl.textures import Texture
from webtensor.dtypes import DType, bool_, float32, int32
from webtensor.shapes import Shape, contiguous_strides, prod
from webtensor.views import collapse

__all__: list[str] = []

#: Textures that one concat draw reads; more inputs are joined in a tree.
_MOST_INPUTS = 8

_ZERO = {"float32": "0.0", "int32": "0", "bool": "false"}


#: How a strided view is read: element by element, four that follow each other, or texel by texel.
_SINGLE, _RUN, _TEXEL = range(3)

#: Rows shorter than this are read element by element: most texels would hold parts of several.
_SHORT_ROW = 16

#: Choose between four elements and four others, lane by lane.
_CHOOSE = {
    float32: "vec4 choose(vec4 a, vec4 b, bvec4 second) { return mix(a, b, second); }",
    int32: (
        "ivec4 choose(ivec4 a, ivec4 b, bvec4 second) { return a ^ ((a ^ b) & -ivec4(second)); }"
    ),
    bool_: (
        "bvec4 choose(bvec4 a, bvec4 b, bvec4 second) "
        "{ return bvec4((ivec4(a) & ~-ivec4(second)) | (ivec4(b) & -ivec4(second))); }"
    ),
}

_RUN_CODE = """
int find(int i, out int rest) {
  rest = lengths[LAST];
  int column = split(i, rest);
  rest -= column;
  PLACE
  return place;
}
V compute(int t) {
  int i = t * 4;
  int rest;
  int place = find(i, rest);
  V result = READ(place);
  REST
  return result;
}
"""

# Where four elements belong to several rows: a loop, since devices that are emulated go through all
# branches, but leave a loop that none of their fragments is in.
_NEXT_ROWS = """
  for (int filled = rest; filled < 4; filled += rest) {
    place = find(i + filled, rest) - filled * STEP;
    V more = READ(place);
    result = choose(result, more, greaterThanEqual(ivec4(0, 1, 2, 3), ivec4(filled)));
  }
"""
_PLAIN_CODE = """
V compute(int i) {
  int column = split(i, lengths[LAST]);
  PLACE
  return READ(place);
}
"""

#: What reads from a place on, by the way of reading and the innermost step.
_READ = {
    (_SINGLE, 0): "getX(p)",
    (_RUN, 1): "getXRun(p)",
    (_RUN, -1): "getXRun((p) - 3).wzyx",
    (_RUN, 0): "V(getX(p), getX((p) + STEP), getX((p) + 2 * STEP), getX((p) + 3 * STEP))",
    (_TEXEL, 1): "getX(p)",
    (_TEXEL, -1): "getX(p).wzyx",
}


def _strided_shader(dtype: DType, rank: int, way: int, step: int, whole: bool) -> Shader:
    """Shader of a view; ``step`` is the innermost one where that is 1 or -1.

    With ``whole``, rows are whole texels of the result.
    """
    lines = [f"int place = offset + column * steps[{rank - 1}];"]
    lines += [
        f"place += split(i, lengths[{axis}]) * steps[{axis}];" for axis in range(rank - 2, 0, -1)
    ]
    if rank > 1:
        lines.append("place += i * steps[0];")
    code = _RUN_CODE if way == _RUN else _PLAIN_CODE
    code = f"#define READ(p) {_READ[way, step]}\n{code}"
    if way == _RUN and not whole:
        code = f"{_CHOOSE[dtype]}\n" + code.replace("REST", _NEXT_ROWS.strip())
    for word, meaning in {
        "REST": "",
        "PLACE": "\n  ".join(lines),
        "LAST": str(rank - 1),
        "STEP": str(step) if step else f"steps[{rank - 1}]",
    }.items():
        code = code.replace(word, meaning)
    uniforms = [("offset", "int"), *array_uniform("lengths", rank), *array_uniform("steps", rank)]
    source = Input("x", dtype, 4 if way == _TEXEL else 1)
    return Shader("strided", [source], dtype, 1 if way == _SINGLE else 4, uniforms, code)


def _is_aligned(lengths: Sequence[int], steps: Sequence[int], offset: int) -> bool:
    """Whether whole texels are moved, though perhaps turned round."""
    first = offset if steps[-1] == 1 else offset - 3
    return lengths[-1] % 4 == 0 and first % 4 == 0 and all(step % 4 == 0 for step in steps[:-1])


@kernel("strided")
def strided(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    strides: Shape,
    offset: int,
    *details: Any,
) -> Handle:
    """Copy a strided view out."""
    lengths, (steps,) = collapse(shape, strides)
    step = steps[-1] if steps[-1] in (1, -1) else 0
    if step and _is_aligned(lengths, steps, offset):
        way = _TEXEL
        offset //= 4
        lengths[-1] //= 4
        steps = [*(one // 4 for one in steps[:-1]), step]
    elif lengths[-1] >= _SHORT_ROW:
        way = _RUN
    else:
        way, step = _SINGLE, 0
    rank = len(lengths)
    whole = way == _RUN and lengths[-1] % 4 == 0
    return backend.run(
        ("strided", dtype, way, step, whole, rank),
        lambda: _strided_shader(dtype, rank, way, step, whole),
        inputs,
        prod(shape),
        dtype,
        offset,
        *lengths,
        *steps,
    )


def _collapse_padding(
    shape: Shape, source: Shape, low: Shape, step: Shape, mirrors: bool
) -> list[tuple[int, int, int, int]]:
    """Merge each axis that is not padded into the one before it; gives (length, own, low, step).

    Mirror images of slices are not those of elements: there, neither of the two is padded.
    """
    axes: list[tuple[int, int, int, int]] = []
    for length, own, before, by in zip(shape, source, low, step, strict=True):
        if (
            axes
            and length == own
            and axes[-1][3] == 1
            and not (mirrors and axes[-1][0] != axes[-1][1])
        ):
            outer = axes.pop()
            axes.append((outer[0] * length, outer[1] * own, outer[2] * own, 1))
        else:
            axes.append((length, own, before, by))
    return axes or [(1, 1, 0, 1)]


# `source` finds the element that lies where element i of the result does, or -1 outside.
_PAD_PLAIN = """
V compute(int t) {
  int p = source(t);
  V x = getX(max(p, 0));
  return p < 0 ? V(CELL) : x;
}
"""
# Four elements at a time, save at the ends of rows: a loop, as in `_RUN_CODE`.
_PAD_RUN = """
V compute(int t) {
  int i = t * 4;
  int p = source(i);
  V run = getXRun(max(p, 0));
  V result = p < 0 ? V(CELL) : run;
  bool whole = column >= 0 && column + 4 <= own[LAST];
  whole = whole || (outside && column + low[LAST] + 4 <= lengths[LAST]);
  for (int lane = whole ? 4 : 0; lane < 4; lane++) {
    p = source(i + lane);
    T x = getX(max(p, 0));
    result[lane] = p < 0 ? CELL : x;
  }
  return result;
}
"""

_BEYOND = "c < 0 || c >= own[AXIS]"
_MIRRORED = "c = c < 0 ? skipped - 1 - c : min(c, 2 * own[AXIS] - 1 - skipped - c);"


def _pad_shader(
    dtype: DType, lanes: int, way: int, spread: tuple[bool, ...], mirrors: bool
) -> Shader:
    last = len(spread) - 1
    lines = ["int column;", "bool outside = false;", "int source(int i) {", "  int place = 0;"]
    lines += ["  int c;"] if mirrors else ["  int c;", "  bool gap = false;", "  outside = false;"]
    for axis in range(last, -1, -1):
        lines.append(f"  c = {f'split(i, lengths[{axis}])' if axis else 'i'} - low[{axis}];")
        missing = "gap" if axis == last else "outside"
        if axis == last:
            lines.append("  column = c;")
        if spread[axis]:
            lines.append(f"  {missing} = {missing} || c < 0 || c % steps[{axis}] != 0;")
            lines.append(f"  c /= steps[{axis}];")
        where = _MIRRORED if mirrors else f"{missing} = {missing} || {_BEYOND};"
        lines.append("  " + where.replace("AXIS", str(axis)))
        lines.append(f"  place += c * strides[{axis}];")
    lines += ["  return place;" if mirrors else "  return gap || outside ? -1 : place;", "}"]
    cell = "value != 0" if dtype is bool_ else "value"
    code = "\n".join(lines) + (_PAD_RUN if way == _RUN else _PAD_PLAIN)
    code = code.replace("CELL", cell).replace("LAST", str(last))
    uniforms: list[Uniform] = [("value", "float" if dtype is float32 else "int")]
    uniforms.append(("skipped", "int"))
    for name in ("lengths", "own", "low", "steps", "strides"):
        uniforms += array_uniform(name, len(spread))
    source = Input("x", dtype, 4 if way == _TEXEL else 1)
    return Shader("pad", [source], dtype, lanes, uniforms, code)


def _pad(
    backend: WebGLBackend,
    x: Operand,
    shape: Shape,
    low: Shape,
    step: Shape,
    value: float,
    skipped: int | None,
) -> Handle:
    """Pad with a value or, where it is known how many elements they skip, with mirror images."""
    mirrors = skipped is not None
    axes = _collapse_padding(shape, x.shape, low, step, mirrors)
    way = _SINGLE
    if (
        axes[-1][3] == 1
        and all(number % 4 == 0 for number in axes[-1][:3])
        and not (mirrors and axes[-1][0] != axes[-1][1])
    ):
        way = _TEXEL
        length, own, before, _ = axes[-1]
        axes[-1] = (length // 4, own // 4, before // 4, 1)
    elif axes[-1][3] == 1 and axes[-1][1] >= _SHORT_ROW:
        way = _RUN
    lanes = 1 if way == _SINGLE else 4
    spread = tuple(axis[3] != 1 for axis in axes)
    own_strides = contiguous_strides(tuple(axis[1] for axis in axes))
    return backend.run(
        ("pad", x.dtype, way, spread, mirrors),
        lambda: _pad_shader(x.dtype, lanes, way, spread, mirrors),
        [x],
        prod(shape),
        x.dtype,
        value,
        skipped or 0,
        *(axis[part] for part in range(4) for axis in axes),
        *own_strides,
    )


@kernel("pad")
def pad(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    low: Shape,
    step: Shape,
    value: float,
) -> Handle:
    """Spread elements over a constant, ``step`` apart from ``low`` on."""
    return _pad(backend, inputs[0], shape, low, step, value, None)


@kernel("mirror_pad")
def mirror_pad(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    low: Shape,
    skipped: int,
) -> Handle:
    """Surround elements with their mirror images; ``skipped`` outermost ones are not repeated."""
    return _pad(backend, inputs[0], shape, low, (1,) * len(shape), 0, skipped)


@kernel("concat")
def concat(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    lengths: tuple[int, ...],
) -> Handle:
    """Join rows side by side."""
    parts = [
        (operand.storage.handle, length) for operand, length in zip(inputs, lengths, strict=True)
    ]
    with ExitStack() as temporary:
        while len(parts) > _MOST_INPUTS:
            joined = []
            for start in range(0, len(parts), _MOST_INPUTS):
                some = parts[start : start + _MOST_INPUTS]
                if len(some) > 1:
                    texture = _join(backend, some, outer, dtype)
                    temporary.callback(backend.release, texture)
                    some = [(texture, sum(length for _, length in some))]
                joined += some
            parts = joined
        return _join(backend, parts, outer, dtype)


def _join(
    backend: WebGLBackend, parts: list[tuple[Texture, int]], outer: int, dtype: DType
) -> Texture:
    """Join the rows of a few textures in one draw; each comes with the length of its rows."""
    sizes = [length for _, length in parts]
    total = outer * sum(sizes)
    lanes = 4 if all(size % 4 == 0 for size in sizes) else 1
    if lanes == 4:
        sizes = [size // 4 for size in sizes]
    count = len(sizes)

    def shader() -> Shader:
        lines = ["V compute(int t) {", "  int row = t / total;", "  int c = t % total;"]
        for index in range(count - 1):
            lines += [
                f"  if (c < sizes[{index}]) return getX{index}(row * sizes[{index}] + c);",
                f"  c -= sizes[{index}];",
            ]
        lines += [f"  return getX{count - 1}(row * sizes[{count - 1}] + c);", "}"]
        inputs = [Input(f"x{index}", dtype, lanes) for index in range(count)]
        uniforms = [("total", "int"), *array_uniform("sizes", count)]
        return Shader("concat", inputs, dtype, lanes, uniforms, "\n".join(lines))

    program = backend.program(("concat", dtype, lanes, count), shader)
    textures = [texture for texture, _ in parts]
    return backend.draw(program, textures, total, dtype, sum(sizes), *sizes)


_GATHER = """
int place(int index, int row, int j) {
  if (index < 0) index += length_;
  return index >= 0 && index < length_ ? (row * length_ + index) * inner + j : -1;
}
V compute(int t) {
  int j = split(t, inner);
  int from = place(getIndices(split(t, count)), t, j);
  V x = getX(max(from, 0));
  return from < 0 ? V(ZERO) : x;
}
"""

# Four single elements of one row, by four indices that lie in one texel.
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
def gather(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
    inner: int,
    count: int,
) -> Handle:
    """Pick slices by index; out of range picks zeros."""
    fours = inner == 1 and (count % 4 == 0 or outer == 1)
    lanes = 4 if fours or inner % 4 == 0 else 1

    def shader() -> Shader:
        source = Input("x", dtype, 1 if fours else lanes)
        indices = Input("indices", int32, 4 if fours else 1)
        uniforms = [("length_", "int"), ("inner", "int"), ("count", "int")]
        code = (_GATHER_FOURS if fours else _GATHER).replace("ZERO", _ZERO[dtype])
        return Shader("gather", [source, indices], dtype, lanes, uniforms, code)

    size = outer * count * inner
    inner = inner // 4 if inner % 4 == 0 else inner
    count = -(-count // 4) if fours else count
    key = ("gather", dtype, lanes, fours)
    return backend.run(key, shader, inputs, size, dtype, length, inner, count)


@kernel("flat_indices")
def flat_indices(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, lengths: Shape
) -> Handle:
    """Places, in row-major order, of rows of coordinates; one past the last for those outside."""
    depth = len(lengths)

    def shader() -> Shader:
        lines = ["ivec4 compute(int t) {", "  ivec4 c, place = ivec4(0), outside = ivec4(0);"]
        lines += [f"  ivec4 x{texel} = getX(t * {depth} + {texel});" for texel in range(depth)]
        for axis in range(depth):
            numbers = [divmod(row * depth + axis, 4) for row in range(4)]
            column = ", ".join(f"x{texel}[{lane}]" for texel, lane in numbers)
            lines += [
                f"  c = ivec4({column});",
                f"  outside |= ivec4(greaterThanEqual(uvec4(c), uvec4(lengths[{axis}])));",
                f"  place = place * lengths[{axis}] + c;",
            ]
        lines += ["  return place + (end - place) * outside;", "}"]
        uniforms = [("end", "int"), *array_uniform("lengths", depth)]
        return Shader("flat_indices", [Input("x", int32, 4)], int32, 4, uniforms, "\n".join(lines))

    numbers = (prod(lengths), *lengths)
    return backend.run(("flat_indices", depth), shader, inputs, prod(shape), int32, *numbers)


@kernel("coordinates")
def coordinates(
    backend: WebGLBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, lengths: Shape
) -> Handle:
    """Coordinates of places in row-major order."""
    depth = len(lengths)

    def shader() -> Shader:
        lines = ["int compute(int i) {", f"  int axis = split(i, {depth});"]
        lines += ["  int rest = getX(i);", "  int found = 0;"]
        for one in range(depth - 1, 0, -1):
            lines.append(f"  int c{one} = split(rest, lengths[{one}]);")
            lines.append(f"  found = axis == {one} ? c{one} : found;")
        lines += ["  return axis == 0 ? rest : found;", "}"]
        uniforms = array_uniform("lengths", depth)
        code = "\n".join(lines)
        return Shader("coordinates", [Input("x", int32, 1)], int32, 1, uniforms, code)

    return backend.run(("coordinates", depth), shader, inputs, prod(shape), int32, *lengths)
