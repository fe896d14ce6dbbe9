"""Kernel of the discrete Fourier transform.

The plan of a transform's length (see ``wasm_build/source/fourier.c``) is made once and cached for
the most recent lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from webtensor.backends.api import Operand
from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.backends.wasm.descriptions import RESULT, Address, Call, Description, scratch

__all__ = ["work_bytes"]

_MAX_PLANS = 8
_RADICES = (2, 3, 5, 7, 11, 13)

#: Addresses of plans, by backend and length.
_plans: WeakKeyDictionary[WasmBackend, dict[int, int]] = WeakKeyDictionary()


def work_bytes(length: int) -> int:
    """Return the size of the work area: ``fft_work_bytes`` of ``wasm_build/source/fourier.c``."""
    remainder = length
    for radix in _RADICES:
        while remainder % radix == 0:
            remainder //= radix
    if remainder == 1:
        return 8 * length + 64
    padded_sizes = (odd << (-(-(2 * length - 1) // odd) - 1).bit_length() for odd in (1, 3, 5))
    return 24 * min(padded_sizes) + 64


class _Plan(NamedTuple):
    """The address of the plan of a length."""

    length: int

    def find(self, backend: WasmBackend, inputs: Sequence[Operand]) -> int:
        """Return the address; make the plan where there is none."""
        plans = _plans.setdefault(backend, {})
        address = plans.pop(self.length, None)
        if address is None:
            if len(plans) >= _MAX_PLANS:
                backend.release(plans.pop(next(iter(plans))))
            address = self._new(backend)
        plans[self.length] = address  # the most recently used is last
        return address

    def _new(self, backend: WasmBackend) -> int:
        functions, length = backend.functions, self.length
        work = backend.allocate(work_bytes(length))
        try:
            address = backend.allocate(int(functions["fft", "plan", "bytes"](length)))
            functions["fft", "plan"](address, work, length)
        finally:
            backend.release(work)
        return address


@kernel("fft")
def fft(of: Signature, rows: int, length: int, inverse: bool) -> Description:
    """Transform rows of complex numbers, without a factor."""
    arguments = (Address(0), RESULT, scratch(0), _Plan(length), rows, int(inverse))
    return Description(of.bytes, (Call(("fft",), arguments),), (work_bytes(length),))
