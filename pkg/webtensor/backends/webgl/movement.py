"""Kernels that move elements. Where whole texels move, four elements are moved at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader, array_uniform
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.dtypes import DType
from webtensor.shapes import Shape
from webtensor.views import collapse

__all__ = ["RUN", "SHORT_ROW", "SINGLE", "TEXEL"]

#: Textures that one concat draw reads; more inputs are joined in a tree.
_MAX_INPUTS = 8


#: How a kernel reads: element by element, four consecutive elements, or texel by texel.
SINGLE, RUN, TEXEL = range(3)

#: Rows shorter than this are read element by element: most texels would have parts of several.
SHORT_ROW = 16

_RUN_CODE = """
int find(int i, out int rest) {
  rest = sizes[LAST];
  int column = split(i, rest);
  rest -= column;
  SOURCE_INDEX
  return sourceIndex;
}
V compute(int t) {
  int i = t * 4;
  int rest;
  int sourceIndex = find(i, rest);
  V result = READ(sourceIndex);
  REST
  return result;
}
"""

# If four elements belong to several rows: a loop, since emulated devices execute all branches,
# but skip the rest of a loop that all fragments have left.
_NEXT_ROWS = """
  for (int filled = rest; filled < 4; filled += rest) {
    sourceIndex = find(i + filled, rest) - filled * STEP;
    V more = READ(sourceIndex);
    result = choose_lanes(result, more, greaterThanEqual(ivec4(0, 1, 2, 3), ivec4(filled)));
  }
"""
_PLAIN_CODE = """
V compute(int i) {
  int column = split(i, sizes[LAST]);
  SOURCE_INDEX
  return READ(sourceIndex);
}
"""

#: The expression that reads from an offset on, by the mode of reading and the innermost step.
_READ = {
    (SINGLE, 0): "getX(p)",
    (RUN, 1): "getXRun(p)",
    (RUN, -1): "getXRun((p) - 3).wzyx",
    (RUN, 0): "V(getX(p), getX((p) + STEP), getX((p) + 2 * STEP), getX((p) + 3 * STEP))",
    (TEXEL, 1): "getX(p)",
    (TEXEL, -1): "getX(p).wzyx",
}


def _strided_shader(dtype: DType, rank: int, mode: int, step: int, writes_texels: bool) -> Shader:
    """Return the shader of a view; ``step`` is the innermost stride if that is 1 or -1, else 0.

    With ``writes_texels``, rows are whole texels of the result.
    """
    lines = [f"int sourceIndex = offset + column * steps[{rank - 1}];"]
    lines += [
        f"sourceIndex += split(i, sizes[{axis}]) * steps[{axis}];"
        for axis in range(rank - 2, 0, -1)
    ]
    if rank > 1:
        lines.append("sourceIndex += i * steps[0];")
    code = _RUN_CODE if mode == RUN else _PLAIN_CODE
    code = f"#define READ(p) {_READ[mode, step]}\n{code}"
    if mode == RUN and not writes_texels:
        code = code.replace("REST", _NEXT_ROWS.strip())
    for word, meaning in {
        "REST": "",
        "SOURCE_INDEX": "\n  ".join(lines),
        "LAST": str(rank - 1),
        "STEP": str(step) if step else f"steps[{rank - 1}]",
    }.items():
        code = code.replace(word, meaning)
    uniforms = [("offset", "int"), *array_uniform("sizes", rank), *array_uniform("steps", rank)]
    source = Input("x", dtype, 4 if mode == TEXEL else 1)
    return Shader("strided", [source], dtype, 1 if mode == SINGLE else 4, uniforms, code)


def _is_aligned(sizes: Sequence[int], steps: Sequence[int], offset: int) -> bool:
    """Whether whole texels are moved, possibly reversed."""
    first = offset if steps[-1] == 1 else offset - 3
    return sizes[-1] % 4 == 0 and first % 4 == 0 and all(step % 4 == 0 for step in steps[:-1])


@kernel("strided")
def strided(draws: Draws, strides: Shape, offset: int, *details: Any) -> Value:
    """Copy a strided view out."""
    sizes, (steps,) = collapse(draws.shape, strides)
    step = steps[-1] if steps[-1] in (1, -1) else 0
    if step and _is_aligned(sizes, steps, offset):
        mode = TEXEL
        offset //= 4
        sizes[-1] //= 4
        steps = [*(stride // 4 for stride in steps[:-1]), step]
    elif sizes[-1] >= SHORT_ROW:
        mode = RUN
    else:
        mode, step = SINGLE, 0
    rank = len(sizes)
    writes_texels = mode == RUN and sizes[-1] % 4 == 0
    return draws.result(
        ("strided", draws.dtype, mode, step, writes_texels, rank),
        lambda: _strided_shader(draws.dtype, rank, mode, step, writes_texels),
        offset,
        *sizes,
        *steps,
    )


@kernel("concat")
def concat(draws: Draws, outer: int, row_sizes: tuple[int, ...]) -> Value:
    """Join rows side by side."""
    parts = [*zip(draws.inputs, row_sizes, strict=True)]
    while len(parts) > _MAX_INPUTS:
        joined = []
        for start in range(0, len(parts), _MAX_INPUTS):
            some = parts[start : start + _MAX_INPUTS]
            if len(some) > 1:
                texture = _join(draws, some, outer, draws.dtype)
                some = [(texture, sum(length for _, length in some))]
            joined += some
        parts = joined
    return _join(draws, parts, outer, draws.dtype)


def _join(draws: Draws, parts: list[tuple[Value, int]], outer: int, dtype: DType) -> Value:
    """Join the rows of a few textures in one draw; each comes with the size of its rows."""
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

    program = Program(("concat", dtype, lanes, count), shader)
    textures = [texture for texture, _ in parts]
    return draws.draw(program, textures, total, dtype, sum(sizes), *sizes)
