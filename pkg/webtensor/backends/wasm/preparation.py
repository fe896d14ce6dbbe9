"""Prepared calls: what a kernel does with operands of given shapes, found out once.

Most kernels allocate a block and call one export with the operands' addresses, that of the block,
and numbers that shapes and dtypes alone decide. Which numbers, the kernel itself tells: it is run
with stand-ins for the operands and for the backend, which note what it wants called. A kernel that
does anything else is called as always.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from webtensor.backends.api import Handle, Operand, PreparedKernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

if TYPE_CHECKING:
    from webtensor.backends.wasm.backend import WasmBackend

__all__ = ["prepared"]


class _Address:
    """Stands for an address: nothing can be computed with it."""

    __slots__ = ()


class _Block(NamedTuple):
    handle: _Address


class _StandIn(NamedTuple):
    """An operand without elements."""

    shape: Shape
    dtype: DType
    size: int
    storage: _Block


class _NotOneCallError(Exception):
    """The kernel does more than to call one export."""


class _Notes:
    """Stands for the backend, and notes the kernel's only call."""

    def __init__(self, backend: WasmBackend) -> None:
        self.parameters = backend.parameters
        self.is_shared = False
        self.block = _Address()
        self.count: int | None = None
        self.noted: tuple[tuple[str, ...], float, tuple[Any, ...]] | None = None

    def allocate(self, count: int) -> _Address:
        if self.count is not None:
            raise _NotOneCallError
        self.count = count
        return self.block

    def call(self, key: tuple[str, ...], work: float, *arguments: Any) -> None:
        if self.noted is not None:
            raise _NotOneCallError
        self.noted = key, work, arguments

    def compute(self, key: tuple[str, ...], work: float, *arguments: Any) -> None:
        self.call(key, work, *arguments)
        self.is_shared = True


def prepared(
    backend: WasmBackend,
    kernel: Callable[..., Handle],
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    attributes: tuple[Any, ...],
) -> PreparedKernel | None:
    """Return the kernel's call, or None where it is more than one call of an export."""
    stand_ins = [_StandIn(x.shape, x.dtype, x.size, _Block(_Address())) for x in inputs]
    notes = _Notes(backend)
    try:
        result = kernel(notes, stand_ins, shape, dtype, *attributes)
    except (AttributeError, TypeError, _NotOneCallError):
        return None
    if notes.noted is None or notes.count is None or result is not notes.block:
        return None
    key, work, arguments = notes.noted
    addresses = [*(one.storage.handle for one in stand_ins), notes.block]
    numbers = arguments[len(addresses) :]
    in_order = all(a is b for a, b in zip(arguments, addresses, strict=False))
    if not in_order or any(isinstance(number, _Address) for number in numbers):
        return None
    if 0 < work < backend.threads.waiting_work:
        return _waiting(backend, key, notes.count, len(inputs), numbers)
    call = backend.compute if notes.is_shared else backend.call
    return _whole(backend.allocate, notes.count, call, key, work, numbers)


def _whole(
    allocate: Callable[[int], Handle],
    count: int,
    call: Callable[..., None],
    key: tuple[str, ...],
    work: float,
    numbers: tuple[float, ...],
) -> PreparedKernel:
    def run(inputs: Sequence[Operand]) -> Handle:
        out = allocate(count)
        call(key, work, *[x.storage.handle for x in inputs], out, *numbers)
        return out

    return run


def _waiting(
    backend: WasmBackend,
    key: tuple[str, ...],
    count: int,
    operands: int,
    numbers: tuple[float, ...],
) -> PreparedKernel:
    from webtensor.backends.wasm.backend import MOST_WORDS

    allocate, run_waiting = backend.allocate, backend.host.run_waiting
    parked, waiting = backend.pool.parked(count), backend.host.waiting
    number, length = backend.numbers[key], operands + 1 + len(numbers)

    def of_one(inputs: Sequence[Operand]) -> Handle:
        out = parked.pop() if parked else allocate(count)
        waiting.extend((number, length, inputs[0].storage.handle, out))
        waiting.extend(numbers)
        if len(waiting) > MOST_WORDS:
            run_waiting()
        return out

    def of_two(inputs: Sequence[Operand]) -> Handle:
        out = parked.pop() if parked else allocate(count)
        x, y = inputs
        waiting.extend((number, length, x.storage.handle, y.storage.handle, out))
        waiting.extend(numbers)
        if len(waiting) > MOST_WORDS:
            run_waiting()
        return out

    def of_several(inputs: Sequence[Operand]) -> Handle:
        out = parked.pop() if parked else allocate(count)
        waiting.extend((number, length, *[x.storage.handle for x in inputs], out))
        waiting.extend(numbers)
        if len(waiting) > MOST_WORDS:
            run_waiting()
        return out

    return {1: of_one, 2: of_two}.get(operands, of_several)
