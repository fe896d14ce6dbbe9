"""Kernels of running sums, products and recurrences along the middle axis of three.

The axis is cut into blocks. A first draw scans within each block; the last element of each block is
what the block adds up to, and scanning those (in the same way, recursively) gives what the last
draw carries into each block. That takes 2 draws per factor of 32 in length, and some 20 reads an
element. Four lanes work side by side where the innermost axis is a multiple of four.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

from webtensor.backends.api import Handle, Operand
from webtensor.backends.webgl.backend import WebGLBackend, kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.textures import Texture
from webtensor.dtypes import DType, float32
from webtensor.shapes import Shape

__all__: list[str] = []

_BLOCK = 32

_NEUTRAL = {
    ("cumsum", "float32"): "0.0",
    ("cumsum", "int32"): "0",
    ("cumprod", "float32"): "1.0",
    ("cumprod", "int32"): "1",
    ("recurrence", "float32"): "0.0",
}
#: What element ``q`` (by its index) does to the total.
_STEP = {
    "cumsum": "total + getX(at)",
    "cumprod": "total * getX(at)",
    "recurrence": "getA(at) * total + getX(at)",
}

# Positions count along the direction of the scan. Element q of this level is the last of `stride`
# elements of the source, or, shifted, the one before.
_WITHIN_BLOCKS = """
V compute(int t) {
  int j = t % inner; t /= inner;
  int k = t % length_;
  int row = (t / length_) * source_length;
  int p = turned == 1 ? length_ - 1 - k : k;
  V total = V(NEUTRAL);
  for (int q = p & ~(BLOCK - 1); q <= p; q++) {
    int s = min((q + 1) * stride, source_length) - 1 - shift;
    if (s < 0) continue;
    int at = (row + (source_turned == 1 ? source_length - 1 - s : s)) * inner + j;
    total = STEP;
  }
  return total;
}
"""

_CARRY = {
    "cumsum": "carry + getX(t)",
    "cumprod": "carry * getX(t)",
    "recurrence": "getA(t) * carry + getX(t)",
}
_INTO_BLOCKS = """
V compute(int t) {
  int i = t / inner;
  int k = i % length_;
  int block = (turned == 1 ? length_ - 1 - k : k) / BLOCK;
  if (block == 0) return getX(t);
  V carry = getCarries(((i / length_) * blocks + block - 1) * inner + t % inner);
  return CARRY;
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


def _shader(
    name: str, kind: str, dtype: DType, lanes: int, inputs: Sequence[str], code: str, numbers: str
) -> Shader:
    sources = [Input(one, dtype, lanes) for one in inputs]
    return Shader(name, sources, dtype, lanes, [(one, "int") for one in numbers.split()], code)


class _Scan:
    """A scan of one kind, with what all its levels share. Textures live until the stack closes."""

    def __init__(
        self, backend: WebGLBackend, dtype: DType, outer: int, inner: int, temporary: ExitStack
    ) -> None:
        self.backend = backend
        self.dtype = dtype
        self.lanes = 4 if inner % 4 == 0 else 1
        self.outer = outer
        self.inner = inner
        self.temporary = temporary

    def _held(self, texture: Texture) -> Texture:
        self.temporary.callback(self.backend.release, texture)
        return texture

    def _within_blocks(self, kind: str, sources: Sequence[Texture], level: _Level) -> Texture:
        dtype, lanes = self.dtype, self.lanes

        def shader() -> Shader:
            code = _WITHIN_BLOCKS.replace("NEUTRAL", _NEUTRAL[kind, dtype])
            code = code.replace("STEP", _STEP[kind]).replace("BLOCK", str(_BLOCK))
            names = ["x", "a"][: len(sources)]
            numbers = "length_ source_length stride shift turned source_turned inner"
            return _shader(kind, kind, dtype, lanes, names, code, numbers)

        program = self.backend.program(("scan", kind, dtype, lanes), shader)
        size = self.outer * level.length * self.inner
        return self.backend.draw(program, sources, size, dtype, *level, self.inner // lanes)

    def run(self, kind: str, sources: Sequence[Texture], level: _Level) -> Texture:
        """Scan a level; the sources are ``x`` and, for a recurrence, its coefficients ``a``."""
        length = level.length
        blocks = -(-length // _BLOCK)
        if blocks == 1:
            return self._within_blocks(kind, sources, level)
        parts = [self._held(self._within_blocks(kind, sources, level))]
        if kind == "recurrence":
            parts.append(self._held(self._within_blocks("cumprod", [sources[1]], level)))
        totals = _Level(blocks, length, _BLOCK, 0, 0, level.turned)
        carries = self._held(self.run(kind, parts, totals))
        return self._into_blocks(kind, carries, parts, level, blocks)

    def _into_blocks(
        self, kind: str, carries: Texture, parts: Sequence[Texture], level: _Level, blocks: int
    ) -> Texture:
        dtype, lanes = self.dtype, self.lanes

        def shader() -> Shader:
            code = _INTO_BLOCKS.replace("BLOCK", str(_BLOCK)).replace("CARRY", _CARRY[kind])
            names = ["carries", "x", "a"][: 1 + len(parts)]
            return _shader(kind, kind, dtype, lanes, names, code, "length_ turned blocks inner")

        program = self.backend.program(("scan carry", kind, dtype, lanes), shader)
        size = self.outer * level.length * self.inner
        numbers = (level.length, level.turned, blocks, self.inner // lanes)
        return self.backend.draw(program, [carries, *parts], size, dtype, *numbers)


def _run(
    backend: WebGLBackend,
    kind: str,
    inputs: Sequence[Operand],
    dtype: DType,
    exclusive: bool,
    reverse: bool,
    group: tuple[int, int, int],
) -> Handle:
    outer, length, inner = group
    turned = int(reverse)
    level = _Level(length, length, 1, int(exclusive), turned, turned)
    with ExitStack() as temporary:
        scanner = _Scan(backend, dtype, outer, inner, temporary)
        return scanner.run(kind, [operand.storage.handle for operand in inputs], level)


@kernel("scan")
def scan(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    kind: str,
    exclusive: bool,
    reverse: bool,
    *group: int,
) -> Handle:
    """Combine each element with all before it, or leave itself out where exclusive."""
    outer, length, inner = group
    return _run(backend, kind, inputs, dtype, exclusive, reverse, (outer, length, inner))


@kernel("recurrence")
def recurrence(
    backend: WebGLBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    reverse: bool,
    *group: int,
) -> Handle:
    """``y[k] = a[k] * y[k - 1] + b[k]``, from the other end where reverse."""
    a, b = inputs
    outer, length, inner = group
    return _run(backend, "recurrence", (b, a), float32, False, reverse, (outer, length, inner))
