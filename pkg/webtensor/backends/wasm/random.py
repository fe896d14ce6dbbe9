"""Random bits by Threefry-2x32 (Salmon et al., SC 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


def _signed(word: int) -> int:
    """The int32 with the bits of a uint32, which is what WebAssembly takes."""
    return word - (word >> 31 << 32)


@kernel("random_bits")
def random_bits(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    key0: int,
    key1: int,
) -> Handle:
    """Element ``i`` is word ``i & 1`` of the block whose counter is ``i >> 1``."""
    size = prod(shape)
    out = backend.allocate(size * 4)
    backend.functions["random", "bits"](out, size, _signed(key0), _signed(key1))
    return out
