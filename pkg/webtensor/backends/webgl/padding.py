"""Kernels that surround elements, with a constant or with mirror images."""

from __future__ import annotations

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader, Uniform, array_uniform
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.backends.webgl.movement import RUN, SHORT_ROW, SINGLE, TEXEL
from webtensor.dtypes import DType, bool_, float32
from webtensor.shapes import Shape, contiguous_strides

__all__: list[str] = []


def _collapse_padding(
    shape: Shape, source: Shape, low: Shape, step: Shape, mirrors: bool
) -> list[tuple[int, int, int, int]]:
    """Merge each axis that is not padded into the one before it.

    Return the size, the size in the source, ``low`` and ``step`` of each axis that is left. If
    padding mirrors, axes are merged only if neither is padded: the mirror image of a slice is not
    that of its elements.
    """
    axes: list[tuple[int, int, int, int]] = []
    for size, source_size, before, by in zip(shape, source, low, step, strict=True):
        if (
            axes
            and size == source_size
            and axes[-1][3] == 1
            and not (mirrors and axes[-1][0] != axes[-1][1])
        ):
            outer = axes.pop()
            axes.append((outer[0] * size, outer[1] * source_size, outer[2] * source_size, 1))
        else:
            axes.append((size, source_size, before, by))
    return axes or [(1, 1, 0, 1)]


# `source` returns the operand's index for index i of the result, or -1 outside.
_PAD_PLAIN = """
V compute(int t) {
  int p = source(t);
  V x = getX(max(p, 0));
  return p < 0 ? V(CELL) : x;
}
"""
# Four elements at a time, except at the ends of rows: a loop, as in `movement`.
_PAD_RUN = """
V compute(int t) {
  int i = t * 4;
  int p = source(i);
  V run = getXRun(max(p, 0));
  V result = p < 0 ? V(CELL) : run;
  bool whole = column >= 0 && column + 4 <= sourceSizes[LAST];
  whole = whole || (outside && column + low[LAST] + 4 <= sizes[LAST]);
  for (int lane = whole ? 4 : 0; lane < 4; lane++) {
    p = source(i + lane);
    T x = getX(max(p, 0));
    result[lane] = p < 0 ? CELL : x;
  }
  return result;
}
"""

_BEYOND = "c < 0 || c >= sourceSizes[AXIS]"
_MIRRORED = "c = c < 0 ? skipped - 1 - c : min(c, 2 * sourceSizes[AXIS] - 1 - skipped - c);"


def _pad_shader(
    dtype: DType, lanes: int, mode: int, spread: tuple[bool, ...], mirrors: bool
) -> Shader:
    last = len(spread) - 1
    lines = [
        "int column;",
        "bool outside = false;",
        "int source(int i) {",
        "  int sourceIndex = 0;",
    ]
    lines += ["  int c;"] if mirrors else ["  int c;", "  bool gap = false;", "  outside = false;"]
    for axis in range(last, -1, -1):
        lines.append(f"  c = {f'split(i, sizes[{axis}])' if axis else 'i'} - low[{axis}];")
        missing = "gap" if axis == last else "outside"
        if axis == last:
            lines.append("  column = c;")
        if spread[axis]:
            lines.append(f"  {missing} = {missing} || c < 0 || c % steps[{axis}] != 0;")
            lines.append(f"  c /= steps[{axis}];")
        where = _MIRRORED if mirrors else f"{missing} = {missing} || {_BEYOND};"
        lines.append("  " + where.replace("AXIS", str(axis)))
        lines.append(f"  sourceIndex += c * strides[{axis}];")
    lines += [
        "  return sourceIndex;" if mirrors else "  return gap || outside ? -1 : sourceIndex;",
        "}",
    ]
    cell = "value != 0" if dtype is bool_ else "value"
    code = "\n".join(lines) + (_PAD_RUN if mode == RUN else _PAD_PLAIN)
    code = code.replace("CELL", cell).replace("LAST", str(last))
    uniforms: list[Uniform] = [("value", "float" if dtype is float32 else "int")]
    uniforms.append(("skipped", "int"))
    for name in ("sizes", "sourceSizes", "low", "steps", "strides"):
        uniforms += array_uniform(name, len(spread))
    source = Input("x", dtype, 4 if mode == TEXEL else 1)
    return Shader("pad", [source], dtype, lanes, uniforms, code)


def _pad(draws: Draws, low: Shape, step: Shape, value: float, skipped: int | None) -> Value:
    """Pad with a value, or with mirror images that skip ``skipped`` elements at the edge."""
    (x,) = draws.inputs
    mirrors = skipped is not None
    axes = _collapse_padding(draws.shape, x.shape, low, step, mirrors)
    mode = SINGLE
    if (
        axes[-1][3] == 1
        and all(number % 4 == 0 for number in axes[-1][:3])
        and not (mirrors and axes[-1][0] != axes[-1][1])
    ):
        mode = TEXEL
        size, source_size, before, _ = axes[-1]
        axes[-1] = (size // 4, source_size // 4, before // 4, 1)
    elif axes[-1][3] == 1 and axes[-1][1] >= SHORT_ROW:
        mode = RUN
    lanes = 1 if mode == SINGLE else 4
    spread = tuple(axis[3] != 1 for axis in axes)
    source_strides = contiguous_strides(tuple(axis[1] for axis in axes))
    return draws.result(
        ("pad", x.dtype, mode, spread, mirrors),
        lambda: _pad_shader(x.dtype, lanes, mode, spread, mirrors),
        value,
        skipped or 0,
        *(axis[part] for part in range(4) for axis in axes),
        *source_strides,
    )


@kernel("pad")
def pad(draws: Draws, low: Shape, step: Shape, value: float) -> Value:
    """Write elements over a constant, ``step`` apart from ``low`` on."""
    return _pad(draws, low, step, value, None)


@kernel("mirror_pad")
def mirror_pad(draws: Draws, low: Shape, skipped: int) -> Value:
    """Pad with mirror images of the elements; the ``skipped`` outermost ones are not repeated."""
    return _pad(draws, low, (1,) * len(draws.shape), 0, skipped)
