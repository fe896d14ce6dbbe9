"""Random bits by Threefry-2x32 (Salmon et al., SC 2011)."""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Description, one_call

__all__: list[str] = []


def _signed(word: int) -> int:
    """The int32 with the bits of a uint32, which is what WebAssembly takes."""
    return word - (word >> 31 << 32)


@kernel("random_bits")
def random_bits(of: Signature, key0: int, key1: int) -> Description:
    """Element ``i`` is word ``i & 1`` of the block whose counter is ``i >> 1``."""
    return one_call(of, ("random", "bits"), of.size, _signed(key0), _signed(key1))
