"""Kernels of the elementwise table, casts and fills."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from webtensor.backends.api import Elementwise
from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import (
    Input,
    Shader,
    Uniform,
    array_uniform,
    getter_name,
    vector_type,
)
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.dtypes import DType, bool_, float32, int32
from webtensor.shapes import Shape
from webtensor.views import broadcast_strides, collapse

__all__ = [
    "by_lane",
    "element_expression",
    "element_function",
    "operand_reads",
    "reading_plan",
    "row_shader",
]

_NAMES = ("x", "y", "z", "w")

#: How an operand is read: the texel at the result's index, one element for all, four along the
#: innermost axis, or one for the four along it.
_SAME, _SCALAR, _VECTOR, _SPLAT, _ELEMENT = range(5)


_CASTS = {
    (float32, int32): "to_int(x)",
    (float32, bool_): "x != 0.0",
    (int32, float32): "float(x)",
    (int32, bool_): "x != 0",
    (bool_, float32): "x ? 1.0 : 0.0",
    (bool_, int32): "x ? 1 : 0",
}


def element_expression(row: Elementwise | None, inputs: Sequence[DType], output: DType) -> str:
    """Return the GLSL expression of a row or, with None, of a cast."""
    if row is None:
        return _CASTS[inputs[0], output]
    return row.glsl_int if row.glsl_int and inputs[-1] is int32 else row.glsl


def element_function(
    name: str,
    expression: str,
    inputs: Sequence[DType],
    output: DType,
    parameters: Sequence[str] = (),
) -> str:
    """Return a GLSL function of one element of each operand.

    A parameter that is a uniform isn't listed.
    """
    declared = [
        f"{vector_type(dtype, 1)} {letter}" for dtype, letter in zip(inputs, _NAMES, strict=False)
    ]
    declared += [f"float {parameter}" for parameter in parameters]
    return f"{vector_type(output, 1)} {name}({', '.join(declared)}) {{ return {expression}; }}"


def by_lane(
    function: str,
    operands: Sequence[str],
    are_vectors: Sequence[bool],
    output: DType,
    lanes: int = 4,
    parameters: Sequence[str] = (),
) -> str:
    """Return the call of a function of elements for each lane; scalars are the same in all."""
    if lanes == 1:
        return f"{function}({', '.join([*operands, *parameters])})"
    calls = []
    for lane in "xyzw":
        elements = [
            f"{operand}.{lane}" if is_vector else operand
            for operand, is_vector in zip(operands, are_vectors, strict=True)
        ]
        calls.append(f"{function}({', '.join([*elements, *parameters])})")
    return f"{vector_type(output, 4)}({', '.join(calls)})"


class Reads(NamedTuple):
    """How a shader reads operands.

    Attributes:
        inputs: the operands.
        uniforms: what their offsets follow from.
        are_vectors: whether these variables are of four elements, rather than of one.
        lanes: how many elements the shader computes at once.
        walk: the code that finds offsets for index ``t``.
        arguments: what each operand's getter is called with; None where that is index ``t``.
    """

    inputs: list[Input]
    uniforms: list[Uniform]
    are_vectors: list[bool]
    lanes: int
    walk: list[str]
    arguments: list[str | None]

    def lines(self, here: str) -> list[str]:
        """Return code that sets ``a0``, ``a1`` and so on to what they have at index ``t``.

        ``here`` is what follows a getter's name to read at the index.
        """
        reads = [
            f"  {vector_type(source.dtype, source.lanes)} a{index} = "
            f"{getter_name(source.name)}{argument or here};"
            for index, (source, argument) in enumerate(
                zip(self.inputs, self.arguments, strict=True)
            )
        ]
        return self.walk + reads


def operand_reads(
    names: Sequence[str], dtypes: Sequence[DType], modes: Sequence[int], rank: int
) -> Reads:
    """Return how operands are read in the modes of ``reading_plan``, under these names."""
    are_vectors = [mode in (_SAME, _VECTOR) for mode in modes]
    inputs = [
        Input(name, dtype, 4 if is_vector else 1)
        for name, dtype, is_vector in zip(names, dtypes, are_vectors, strict=True)
    ]
    walkers = [index for index, mode in enumerate(modes) if mode in (_VECTOR, _SPLAT, _ELEMENT)]
    uniforms = array_uniform("sizes", rank) if walkers else []
    for index in walkers:
        uniforms += array_uniform(f"strides{index}", rank)
    arguments = [
        None if mode == _SAME else "(0)" if mode == _SCALAR else f"(p{index})"
        for index, mode in enumerate(modes)
    ]
    walk = [_walk(rank, walkers)] if walkers else []
    return Reads(inputs, uniforms, are_vectors, 1 if _ELEMENT in modes else 4, walk, arguments)


def row_shader(
    row: Elementwise, dtypes: Sequence[DType], output: DType, modes: Sequence[int], rank: int
) -> Shader:
    """Describe the shader of a row; a mode of 0 reads the texel that is written."""
    reads = operand_reads(_NAMES[: len(modes)], dtypes, modes, rank)
    uniforms = [(name, "float") for name in row.parameters] + reads.uniforms
    operands = [f"a{index}" for index in range(len(modes))]
    code = "\n".join(
        [
            element_function("element", element_expression(row, dtypes, output), dtypes, output),
            "V compute(int t) {",
            *reads.lines("Here()"),
            f"  return {by_lane('element', operands, reads.are_vectors, output, reads.lanes)};",
            "}",
        ]
    )
    return Shader(row.name, reads.inputs, output, reads.lanes, uniforms, code)


def _walk(rank: int, operands: Sequence[int]) -> str:
    """Return code that decomposes ``t`` by ``sizes`` into operands' offsets ``p…``."""
    lines = ["  int rest = t;"]
    lines += [f"  int p{index} = 0;" for index in operands]
    for axis in range(rank - 1, -1, -1):
        if axis:
            lines.append(f"  int c{axis} = split(rest, sizes[{axis}]);")
        else:
            lines.append("  int c0 = rest;")
        lines += [f"  p{index} += c{axis} * strides{index}[{axis}];" for index in operands]
    return "\n".join(lines)


@lru_cache(maxsize=4096)
def reading_plan(
    shape: Shape, operands: tuple[Shape, ...], by_element: bool = False
) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    """Return how each operand is read, the rank to walk over, and the uniforms of the walk.

    ``by_element`` says that the index is that of an element, rather than that of a texel.
    """
    size = prod(shape)
    sizes = [prod(operand) for operand in operands]
    simple = [_SAME if n == size else _SCALAR if n == 1 else None for n in sizes]
    if None not in simple and not by_element:
        return tuple(mode for mode in simple if mode is not None), 0, ()
    views = [broadcast_strides(operand, shape) for operand in operands]
    dimensions, strides = collapse(shape, *views)
    aligned = (
        not by_element
        and dimensions[-1] % 4 == 0
        and all(
            view[-1] == 0 or (view[-1] == 1 and all(step % 4 == 0 for step in view[:-1]))
            for view in strides
        )
    )
    modes = []
    uniforms: list[int] = []
    for mode, view in zip(simple, strides, strict=True):
        if mode is _SCALAR or (mode is _SAME and aligned):
            modes.append(mode)
            continue
        if not aligned:
            modes.append(_ELEMENT)
            uniforms += view
        elif view[-1] == 1:
            modes.append(_VECTOR)
            uniforms += [*(step // 4 for step in view[:-1]), 1]
        else:
            modes.append(_SPLAT)
            uniforms += view
    if aligned:
        dimensions[-1] //= 4
    return tuple(modes), len(dimensions), (*dimensions, *uniforms)


@kernel("unary", "binary", "ternary", "joint")
def elementwise(draws: Draws, row: Elementwise, *parameters: float) -> Value:
    """Evaluate a row's GLSL expression with broadcasting."""
    modes, rank, uniforms = reading_plan(
        draws.shape, tuple([operand.shape for operand in draws.inputs])
    )
    dtypes = tuple([operand.dtype for operand in draws.inputs])
    return draws.result(
        (row.name, dtypes, modes, rank),
        lambda: row_shader(row, dtypes, draws.dtype, modes, rank),
        *parameters,
        *uniforms,
    )


@kernel("cast")
def cast(draws: Draws) -> Value:
    """Convert to another dtype; float to int32 saturates, and NaN becomes 0."""
    source = draws.inputs[0].dtype

    def shader() -> Shader:
        expression = element_expression(None, [source], draws.dtype)
        element = element_function("element", expression, [source], draws.dtype)
        code = (
            f"{element}\nV compute(int t) {{\n"
            f"  {vector_type(source, 4)} a0 = getXHere();\n"
            f"  return {by_lane('element', ['a0'], [True], draws.dtype)};\n}}"
        )
        return Shader("cast", [Input("x", source, 4)], draws.dtype, 4, [], code)

    return draws.result(("cast", source, draws.dtype), shader)


@kernel("fill")
def fill(draws: Draws, value: float) -> Value:
    """Repeat one value."""
    kind = "float" if draws.dtype is float32 else "int"

    def shader() -> Shader:
        cell = "value != 0" if draws.dtype is bool_ else "value"
        code = f"V compute(int t) {{ return V({cell}); }}"
        return Shader("fill", [], draws.dtype, 4, [("value", kind)], code)

    return draws.result(("fill", draws.dtype), shader, value)
