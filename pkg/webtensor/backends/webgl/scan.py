"""Kernels of running sums, products and recurrences along the middle axis of three.

The axis is cut into blocks. A first draw scans within each block; the last element of each block is
the block's total. Scanning the totals (recursively, in the same way) gives the carry into each
block, which the last draw adds. So a million elements take 7 draws. If the innermost axis is a
multiple of four, four lanes are scanned independently; if it is 1 and rows begin at whole texels,
the four elements of a texel are scanned together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Program, Value
from webtensor.dtypes import DType

__all__ = ["cumsum_texture"]

_BLOCK = 32
_BLOCK_OF_TEXELS = 64

_NEUTRAL = {
    ("cumsum", "float32"): "0.0",
    ("cumsum", "int32"): "0",
    ("cumprod", "float32"): "1.0",
    ("cumprod", "int32"): "1",
    ("recurrence", "float32"): "0.0",
}
#: ``total`` after an element ``x`` (and the coefficient ``a`` of a recurrence).
_STEP = {
    "cumsum": "total + x",
    "cumprod": "total * x",
    "recurrence": "a * total + x",
}

# Positions count along the direction of the scan. Element q of this level is the last of `stride`
# elements of the source, or, shifted, the one before.
_WITHIN_BLOCKS = """
V compute(int t) {
  int j = split(t, inner);
  int k = t % length_;
  int row = (t / length_) * source_length;
  int p = turned == 1 ? length_ - 1 - k : k;
  V total = V(NEUTRAL);
  for (int q = p - p % block; q <= p; q++) {
    int s = min((q + 1) * stride, source_length) - 1 - shift;
    if (s < 0) continue;
    int at = (row + (source_turned == 1 ? source_length - 1 - s : s)) * inner + j;
    total = STEP;
  }
  return total;
}
"""

# Rows begin at whole texels, or there is one only. Position p is the first of a texel's four.
_WITHIN_BLOCKS_OF_TEXELS = """
T step_(T total, T x, T a) { return STEP; }

int texel(int row, int p) { return row + ((turned == 1 ? length_ - 4 - p : p) >> 2); }

V compute(int t) {
  int k = (t << 2) % length_;
  int row = ((t << 2) - k) >> 2;
  int p = turned == 1 ? length_ - 4 - k : k;
  int start = p - p % block;
  T total = T(NEUTRAL);
  if (shift == 1 && start > 0) {
    V before = getX(texel(row, start - 4));
    total = turned == 1 ? before.x : before.w;
  }
  V result;
  for (int q = start; q <= p; q += 4) {
    V x = getX(texel(row, q));
    V a = COEFFICIENTS;
    if (turned == 1) { x = x.wzyx; a = a.wzyx; }
    result.x = step_(total, x.x, a.x);
    result.y = step_(result.x, x.y, a.y);
    result.z = step_(result.y, x.z, a.z);
    result.w = step_(result.z, x.w, a.w);
    if (q < p) total = result.w;
  }
  if (shift == 1) result = V(total, result.xyz);
  return turned == 1 ? result.wzyx : result;
}
"""

_INTO_BLOCKS = """
V compute(int t) {
  int i = PER_TEXEL * t / inner;
  int k = i % length_;
  int b = (turned == 1 ? length_ - PER_TEXEL - k : k) / block;
  V x = getX(t);
  if (b == 0) return x;
  C total = getCarries(((i / length_) * blocks + b - 1) * inner + t % inner);
  return STEP;
}
"""


class _Level(NamedTuple):
    """One level of blocks: how it reads its source, as the uniforms of ``_WITHIN_BLOCKS``."""

    length: int
    source_length: int
    stride: int
    shift: int
    turned: int
    source_turned: int


class _Scan:
    """A scan of one kind, with the data that its levels share."""

    def __init__(self, draws: Draws, dtype: DType, outer: int, inner: int) -> None:
        self.draws = draws
        self.dtype = dtype
        self.outer = outer
        self.inner = inner

    def _draw(
        self,
        name: str,
        code: str,
        lanes: int,
        sources: Sequence[tuple[str, Value, int]],
        level: _Level,
        **numbers: int,
    ) -> Value:
        """Draw the elements of a level from sources (name, texture, lanes)."""
        dtype = self.dtype

        def shader() -> Shader:
            inputs = [Input(source, dtype, wide) for source, _, wide in sources]
            return Shader(name, inputs, dtype, lanes, [(number, "int") for number in numbers], code)

        wides = tuple(wide for _, _, wide in sources)
        program = Program((name, dtype, lanes, *wides), shader)
        size = self.outer * level.length * self.inner
        textures = [texture for _, texture, _ in sources]
        return self.draws.draw(program, textures, size, dtype, *numbers.values())

    def _texels_are_whole(self, level: _Level) -> bool:
        """Whether the four elements of a texel follow each other along the axis."""
        if self.inner > 1 or level.stride > 1:
            return False
        return level.length % 4 == 0 or (self.outer == 1 and not level.turned)

    def _within_blocks(
        self, kind: str, sources: Sequence[Value], level: _Level, block: int
    ) -> Value:
        neutral = _NEUTRAL[kind, self.dtype]
        names = ("x", "a")[: len(sources)]
        if self._texels_are_whole(level):
            code = _WITHIN_BLOCKS_OF_TEXELS.replace("NEUTRAL", neutral)
            code = code.replace("STEP", _STEP[kind])
            code = code.replace("COEFFICIENTS", "getA(texel(row, q))" if "a" in names else "V(0)")
            numbers = {
                "length_": level.length,
                "shift": level.shift,
                "turned": level.turned,
                "block": block,
            }
            wide = [(name, texture, 4) for name, texture in zip(names, sources, strict=True)]
            return self._draw(f"{kind} within texels", code, 4, wide, level, **numbers)
        lanes = 4 if self.inner % 4 == 0 else 1
        step = _STEP[kind].replace("x", "getX(at)").replace("a *", "getA(at) *")
        code = _WITHIN_BLOCKS.replace("NEUTRAL", neutral).replace("STEP", step)
        numbers = {
            "length_": level.length,
            "source_length": level.source_length,
            "stride": level.stride,
            "shift": level.shift,
            "turned": level.turned,
            "source_turned": level.source_turned,
            "block": block,
            "inner": self.inner // lanes,
        }
        wide = [(name, texture, lanes) for name, texture in zip(names, sources, strict=True)]
        return self._draw(f"{kind} within blocks", code, lanes, wide, level, **numbers)

    def run(self, kind: str, sources: Sequence[Value], level: _Level) -> Value:
        """Scan a level; the sources are ``x`` and, for a recurrence, its coefficients ``a``."""
        length = level.length
        in_texels = self._texels_are_whole(level)
        block = _BLOCK_OF_TEXELS if in_texels else _BLOCK
        blocks = -(-length // block)
        if blocks == 1:
            return self._within_blocks(kind, sources, level, block)
        parts = [self._within_blocks(kind, sources, level, block)]
        if kind == "recurrence":
            parts.append(self._within_blocks("cumprod", [sources[1]], level, block))
        totals = _Level(blocks, length, block, 0, 0, level.turned)
        carries = self.run(kind, parts, totals)
        lanes = 4 if in_texels or self.inner % 4 == 0 else 1
        code = _INTO_BLOCKS.replace("STEP", _STEP[kind].replace("a *", "getA(t) *"))
        code = code.replace("PER_TEXEL", "4" if in_texels else "1")
        code = code.replace("C total", "T total" if in_texels else "V total")
        wide = [("carries", carries, 1 if in_texels else lanes)]
        wide += [(name, part, lanes) for name, part in zip(("x", "a"), parts, strict=False)]
        name = f"{kind} into {'texels' if in_texels else 'blocks'}"
        return self._draw(
            name,
            code,
            lanes,
            wide,
            level,
            length_=length,
            turned=level.turned,
            block=block,
            blocks=blocks,
            inner=1 if in_texels else self.inner // lanes,
        )


def _run(
    draws: Draws,
    kind: str,
    sources: Sequence[Value],
    group: tuple[int, ...],
    exclusive: bool = False,
    reverse: bool = False,
) -> Value:
    """Scan the middle axis of sources, viewed as (outer, length, inner)."""
    outer, length, inner = group
    turned = int(reverse)
    level = _Level(length, length, 1, int(exclusive), turned, turned)
    return _Scan(draws, sources[0].dtype, outer, inner).run(kind, sources, level)


def cumsum_texture(draws: Draws, x: Value, group: tuple[int, int, int]) -> Value:
    """Running sums along the middle axis of a texture, viewed as (outer, length, inner)."""
    return _run(draws, "cumsum", [x], group)


@kernel("scan")
def scan(draws: Draws, kind: str, exclusive: bool, reverse: bool, *group: int) -> Value:
    """Combine each element with all before it, and with itself unless exclusive."""
    return _run(draws, kind, draws.inputs, group, exclusive, reverse)


@kernel("recurrence")
def recurrence(draws: Draws, reverse: bool, *group: int) -> Value:
    """``y[k] = a[k] * y[k - 1] + b[k]``, from the other end if reverse."""
    a, b = draws.inputs
    return _run(draws, "recurrence", (b, a), group, reverse=reverse)
