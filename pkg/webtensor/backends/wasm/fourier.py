"""Kernel of the discrete Fourier transform.

The plan of a transform's length (see ``wasm_build/source/fourier.c``) is made once and cached for
the most recent lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from weakref import WeakKeyDictionary

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []

_MOST_PLANS = 8

#: Address of the plan and size of the work area, by backend and length.
_plans: WeakKeyDictionary[WasmBackend, dict[int, tuple[int, int]]] = WeakKeyDictionary()


def _plan(backend: WasmBackend, length: int) -> tuple[int, int]:
    plans = _plans.setdefault(backend, {})
    plan = plans.pop(length, None)
    if plan is None:
        if len(plans) >= _MOST_PLANS:
            backend.release(plans.pop(next(iter(plans)))[0])
        functions = backend.functions
        work_bytes = int(functions["fft", "work", "bytes"](length))
        work = backend.allocate(work_bytes)
        try:
            address = backend.allocate(int(functions["fft", "plan", "bytes"](length)))
            functions["fft", "plan"](address, work, length)
        finally:
            backend.release(work)
        plan = address, work_bytes
    plans[length] = plan  # the most recently used is last
    return plan


@kernel("fft")
def fft(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    rows: int,
    length: int,
    inverse: bool,
) -> Handle:
    """Transform rows of complex numbers, without a factor."""
    plan, work_bytes = _plan(backend, length)
    out = backend.allocate(prod(shape) * 4)
    try:
        work = backend.allocate(work_bytes)
    except MemoryError:
        backend.release(out)
        raise
    run = backend.functions[("fft",)]
    run(inputs[0].storage.handle, out, work, plan, rows, int(inverse))
    backend.release(work)
    return out
