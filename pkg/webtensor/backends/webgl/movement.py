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
    lanes = 1
    if (
        steps[-1] == 1
        and lengths[-1] % 4 == 0
        and offset % 4 == 0
        and all(step % 4 == 0 for step in steps[:-1])
    ):
        lanes = 4
        offset //= 4
        lengths[-1] //= 4
        steps = [*(step // 4 for step in steps[:-1]), 1]
    rank = len(lengths)

    def shader() -> Shader:
        lines = [
            "V compute(int t) {",
            "  int place = offset;",
            *(
                f"  place += split(t, lengths[{axis}]) * steps[{axis}];"
                for axis in range(rank - 1, 0, -1)
            ),
            "  return getX(place + t * steps[0]);",
            "}",
        ]
        uniforms = [
            ("offset", "int"),
            *array_uniform("lengths", rank),
            *array_uniform("steps", rank),
        ]
        return Shader(
            "strided", [Input("x", dtype, lanes)], dtype, lanes, uniforms, "\n".join(lines)
        )

    key = ("strided", dtype, lanes, rank)
    return backend.run(key, shader, inputs, prod(shape), dtype, offset, *lengths, *steps)


def _collapse_padding(
    shape: Shape, source: Shape, low: Shape, step: Shape
) -> list[tuple[int, int, int, int]]:
    """Merge each axis that is not padded into the one before it; gives (length, own, low, step)."""
    axes: list[tuple[int, int, int, int]] = []
    for length, own, before, by in zip(shape, source, low, step, strict=True):
        if axes and length == own and axes[-1][3] == 1:
            outer = axes.pop()
            axes.append((outer[0] * length, outer[1] * own, outer[2] * own, 1))
        else:
            axes.append((length, own, before, by))
    return axes or [(1, 1, 0, 1)]


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
    axes = _collapse_padding(shape, inputs[0].shape, low, step)
    lanes = 1
    if axes[-1][3] == 1 and all(number % 4 == 0 for number in axes[-1][:3]):
        lanes = 4
        length, own, before, _ = axes[-1]
        axes[-1] = (length // 4, own // 4, before // 4, 1)
    rank = len(axes)
    spread = tuple(axis[3] != 1 for axis in axes)
    own_strides = contiguous_strides(tuple(axis[1] for axis in axes))

    def shader() -> Shader:
        cell = "value != 0" if dtype is bool_ else "value"
        lines = ["V compute(int t) {", "  int place = 0;", "  bool inside = true;", "  int c;"]
        for axis in range(rank - 1, -1, -1):
            along = f"split(t, lengths[{axis}])" if axis else "t"
            lines.append(f"  c = {along} - low[{axis}];")
            if spread[axis]:
                lines += [
                    f"  inside = inside && c >= 0 && c % steps[{axis}] == 0;",
                    f"  c /= steps[{axis}];",
                ]
            lines += [
                f"  inside = inside && c >= 0 && c < own[{axis}];",
                f"  place += c * strides[{axis}];",
            ]
        lines += ["  V x = getX(inside ? place : 0);", f"  return inside ? x : V({cell});", "}"]
        uniforms: list[Uniform] = [("value", "float" if dtype is float32 else "int")]
        for name in ("lengths", "own", "low", "steps", "strides"):
            uniforms += array_uniform(name, rank)
        return Shader("pad", [Input("x", dtype, lanes)], dtype, lanes, uniforms, "\n".join(lines))

    numbers = [axis[part] for part in range(4) for axis in axes]
    key = ("pad", dtype, lanes, spread)
    return backend.run(key, shader, inputs, prod(shape), dtype, value, *numbers, *own_strides)


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
V compute(int t) {
  int j = split(t, inner);
  int index = getIndices(t % count);
  if (index < 0) index += length_;
  if (index < 0 || index >= length_) return V(ZERO);
  return getX(((t / count) * length_ + index) * inner + j);
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
    lanes = 4 if inner % 4 == 0 else 1

    def shader() -> Shader:
        sources = [Input("x", dtype, lanes), Input("indices", int32, 1)]
        uniforms = [("length_", "int"), ("inner", "int"), ("count", "int")]
        code = _GATHER.replace("ZERO", _ZERO[dtype])
        return Shader("gather", sources, dtype, lanes, uniforms, code)

    size = outer * count * inner
    inner = inner // 4 if lanes == 4 else inner
    return backend.run(("gather", dtype, lanes), shader, inputs, size, dtype, length, inner, count)
