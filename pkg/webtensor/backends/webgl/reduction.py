"""Kernels of reductions, which see their operand as (outer, reduced, inner).

A long reduction runs in stages, each shortening the reduced axis by a fixed factor, so that enough
fragments work at once. Reads are four lanes wide where the innermost axis allows it: along
``inner`` where that is a multiple of four, else along the reduced axis where that is innermost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader, vector_type
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.dtypes import DType, bool_, float32, int32

if TYPE_CHECKING:
    from webtensor.backends.webgl.chain_code import ChainCode

__all__ = ["reduced_value"]

#: The operand: a value, or a function that gives the code of a chain, by element or not.
_Source: TypeAlias = "Value | Callable[[bool], ChainCode]"

#: A reduction longer than this is split into parts of this length.
_PART = 64

#: The number of elements that keeps the device busy without splitting the reduction.
_BUSY = 4096

_COMBINE = {
    "sum": "a + b",
    "mean": "a + b",
    "prod": "a * b",
    "any": "a || b",
    "all": "a && b",
}

_NEUTRAL = {
    ("sum", float32): "0.0",
    ("sum", int32): "0",
    ("mean", float32): "0.0",
    ("prod", float32): "1.0",
    ("prod", int32): "1",
    ("max", float32): "-infinity()",
    ("max", int32): "(-2147483647 - 1)",
    ("min", float32): "infinity()",
    ("min", int32): "2147483647",
    ("any", bool_): "false",
    ("all", bool_): "true",
}


def _combine(kind: str, dtype: DType, lanes: int) -> str:
    """GLSL functions ``combine`` for single elements and, for four lanes, for vectors."""
    expression = _COMBINE.get(kind) or f"{'float_' if dtype is float32 else ''}{kind}(a, b)"
    scalar, vector = vector_type(dtype, 1), vector_type(dtype, 4)
    code = f"{scalar} combine({scalar} a, {scalar} b) {{ return {expression}; }}\n"
    if lanes == 4:
        calls = ", ".join(f"combine(a.{lane}, b.{lane})" for lane in "xyzw")
        code += f"{vector} combine({vector} a, {vector} b) {{ return {vector}({calls}); }}\n"
    return code


# Output index t is (outer, part, inner); a part has `part` elements of the reduced axis.
_ALONG_INNER = """
V compute(int t) {
  int j = split(t, inner);
  int start = (t % parts) * part;
  int end = min(start + part, reduced);
  int row = (t / parts) * reduced;
  V total = V(NEUTRAL);
  int flatIndex = (row + start) * inner + j;
  for (int k = start; k < end; k++) {
    total = combine(total, getX(flatIndex));
    flatIndex += inner;
  }
  return SCALE total;
}
"""

# The reduced axis is innermost and starts at whole texels; lanes beyond its end are ignored.
_ALONG_REDUCED = """
V compute(int t) {
  int start = (t % parts) * part;
  int end = min(start + part, reduced);
  int row = (t / parts) * reduced;
  VECTOR total = VECTOR(NEUTRAL);
  int texel = (row + start) / 4;
  for (int k = start + 4; k <= end; k += 4) total = combine(total, getX(texel++));
  int left = (end - start) % 4;
  if (left > 0) {
    VECTOR last = getX(texel);
    total.x = combine(total.x, last.x);
    if (left > 1) total.y = combine(total.y, last.y);
    if (left > 2) total.z = combine(total.z, last.z);
  }
  return SCALE combine(combine(total.x, total.y), combine(total.z, total.w));
}
"""


def _form(group: tuple[int, int, int], part: int) -> tuple[str, int, int]:
    """Return the code of a stage, and how many elements it computes and reads at once."""
    outer, reduced, inner = group
    if inner % 4 == 0:
        return _ALONG_INNER, 4, 4
    if inner == 1 and (reduced % 4 == 0 or outer == 1) and part % 4 == 0:
        return _ALONG_REDUCED, 1, 4
    return _ALONG_INNER, 1, 1


class _Split(NamedTuple):
    """The number of parts of the middle axis, their size, and what turns sums into means."""

    parts: int
    part: int
    scale: float


def _stage(
    draws: Draws,
    source: _Source,
    dtype: DType,
    kind: str,
    group: tuple[int, int, int],
    split: _Split,
) -> Value:
    """Reduce each part of the middle axis."""
    outer, reduced, inner = group
    parts, part, scale = split
    form, lanes, read_lanes = _form(group, part)
    chain = None if isinstance(source, Value) else source(read_lanes == 1)
    if chain is not None and chain.lanes < read_lanes:
        form, lanes, read_lanes = _ALONG_INNER, 1, 1

    def shader() -> Shader:
        code = form.replace("NEUTRAL", _NEUTRAL[kind, dtype])
        code = code.replace("VECTOR", vector_type(dtype, 4))
        code = code.replace("SCALE ", "scale * " if kind == "mean" else "")
        uniforms = [("reduced", "int"), ("parts", "int"), ("part", "int")]
        if form is _ALONG_INNER:
            uniforms.append(("inner", "int"))
        if kind == "mean":
            uniforms.append(("scale", "float"))
        code = _combine(kind, dtype, read_lanes) + code
        if chain is None:
            inputs = [Input("x", dtype, read_lanes)]
            return Shader(kind, inputs, dtype, lanes, uniforms, code)
        title, code = f"{kind} of {chain.title}", f"{chain.function('getX')}\n{code}"
        return Shader(title, chain.inputs, dtype, lanes, uniforms + chain.uniforms, code)

    numbers: list[float] = [reduced, parts, part]
    if form is _ALONG_INNER:
        numbers.append(inner // 4 if lanes == 4 else inner)
    if kind == "mean":
        numbers.append(scale)
    chain_key, chain_numbers = ((), ()) if chain is None else (chain.key, chain.numbers)
    key = ("reduce", kind, dtype, lanes, read_lanes, *chain_key)
    inputs = [source] if isinstance(source, Value) else draws.inputs
    size = outer * parts * inner
    return draws.run(key, shader, inputs, size, dtype, *numbers, *chain_numbers)


def reduced_value(
    draws: Draws, source: _Source, dtype: DType, kind: str, group: tuple[int, int, int]
) -> Value:
    """Reduce the middle axis of what is viewed as (outer, reduced, inner).

    The source may be a chain of the operands.
    """
    outer, reduced, inner = group
    left = 1.0 / reduced  # of the scale of a mean
    while True:
        parts = 1
        if reduced > 2 * _PART and outer * inner < _BUSY:
            parts = -(-reduced // _PART)
        part = -(-reduced // parts) if parts == 1 else _PART
        part = (part + 3) & ~3
        scale = left if parts == 1 else 1.0 / part
        left /= scale
        split = _Split(parts, part, scale)
        result = _stage(draws, source, dtype, kind, (outer, reduced, inner), split)
        if parts == 1:
            return result
        source, reduced = result, parts


@kernel("reduce")
def reduce(draws: Draws, kind: str, outer: int, reduced: int, inner: int) -> Value:
    """Reduce the middle axis."""
    return reduced_value(draws, draws.inputs[0], draws.dtype, kind, (outer, reduced, inner))


# The extremum is searched among the candidates of the previous stage, or along the whole axis at
# first.
_CONSIDER = """
bool better(VALUE a, VALUE b) { return BETTER; }
void consider(int axisIndex, VALUE other, inout int best, inout VALUE value) {
  bool wins = better(other, value);
  best = wins ? axisIndex : best;
  value = wins ? other : value;
}
"""
_ARG_REDUCE = """
int compute(int t) {
  int j = split(t, inner);
  int start = (t % parts) * part;
  int end = min(start + part, candidates);
  int o = t / parts;
  int best = AXIS_INDEX(start);
  VALUE value = getX((o * reduced + best) * inner + j);
  for (int k = start + 1; k < end; k++) {
    int axisIndex = AXIS_INDEX(k);
    consider(axisIndex, getX((o * reduced + axisIndex) * inner + j), best, value);
  }
  return best;
}
"""

# In the first stage, if the axis is innermost and consists of whole texels.
_ARG_REDUCE_FOURS = """
int compute(int t) {
  int start = split(t, parts) * part;
  int end = min(start + part, reduced);
  int best = start;
  int texel = (t * reduced + start) / 4;
  VALUE value = getX(texel).x;
  for (int k = start; k < end; k += 4) {
    VECTOR four = getX(texel++);
    consider(k, four.x, best, value);
    consider(k + 1, four.y, best, value);
    consider(k + 2, four.z, best, value);
    consider(k + 3, four.w, best, value);
  }
  return best;
}
"""


def _arg_shader(kind: str, source: DType, first: bool, fours: bool) -> Shader:
    better = f"a {'>' if kind == 'argmax' else '<'} b"
    if source is float32:
        better = f"nan_or_{'greater' if kind == 'argmax' else 'less'}(a, b)"
    code = _CONSIDER + (_ARG_REDUCE_FOURS if fours else _ARG_REDUCE)
    sources = [Input("x", source, 4 if fours else 1)]
    index_code = "(k)"
    if not first:
        index_code = "getFound((o * candidates + (k)) * inner + j)"
        sources.append(Input("found", int32, 1))
    code = f"#define AXIS_INDEX(k) {index_code}\n{code}".replace("BETTER", better)
    code = code.replace("VALUE", vector_type(source, 1)).replace("VECTOR", vector_type(source, 4))
    names = ("reduced", "candidates", "parts", "part", "inner")
    return Shader(kind, sources, int32, 1, [(name, "int") for name in names], code)


@kernel("arg_reduce")
def arg_reduce(draws: Draws, kind: str, outer: int, reduced: int, inner: int) -> Value:
    """Find the index of the first extremum along the middle axis; NaN precedes all else."""
    x = draws.inputs[0]
    source = x.dtype
    best: Value | None = None
    candidates = reduced
    while True:
        parts = 1
        if candidates > 2 * _PART and outer * inner < _BUSY:
            parts = -(-candidates // _PART)
        part = candidates if parts == 1 else _PART
        first = best is None
        fours = first and inner == 1 and reduced % 4 == 0
        program = Program(
            (kind, source, first, fours), partial(_arg_shader, kind, source, first, fours)
        )
        textures = [x] if best is None else [x, best]
        numbers = (reduced, candidates, parts, part, inner)
        result = draws.draw(program, textures, outer * parts * inner, int32, *numbers)
        if parts == 1:
            return result
        best, candidates = result, parts
