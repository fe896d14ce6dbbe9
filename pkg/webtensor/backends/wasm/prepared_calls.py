"""Prepared calls: a kernel's call for operands of fixed shapes, worked out once.

Most kernels allocate a block and call one export with the operands' addresses, the block's, and
numbers that depend on shapes and dtypes alone. To learn them, the kernel is run once with stand-ins
for the operands and for the backend, which record the call. A kernel that does anything else is not
prepared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from webtensor.backends.api import Handle, Operand, PreparedKernel
from webtensor.backends.wasm.host import MOST_WORDS
from webtensor.backends.wasm.packed_weights import is_worth_packing
from webtensor.dtypes import DType
from webtensor.shapes import Shape

if TYPE_CHECKING:
    from webtensor.backends.wasm.backend import WasmBackend

__all__ = ["prepared"]


class _Address:
    """Stand-in for an address: arithmetic with it is impossible."""

    __slots__ = ()


class _Block(NamedTuple):
    handle: _Address


class _StandIn(NamedTuple):
    """An operand without elements."""

    shape: Shape
    dtype: DType
    size: int
    storage: _Block


class _Packed(NamedTuple):
    """Stand-in for the address of an operand's packed elements."""

    operand: _StandIn
    columns: int
    transposed: bool


class _NotOneCallError(Exception):
    """The kernel does more than to call one export."""


class _Notes:
    """Stand-in for the backend, which records the kernel's only call."""

    def __init__(self, backend: WasmBackend) -> None:
        self.parameters = backend.parameters
        self.block = _Address()
        self.count: int | None = None
        self.key: tuple[str, ...] | None = None
        self.work = 0.0
        self.is_shared = False
        self.arguments: tuple[Any, ...] = ()

    def allocate(self, count: int) -> _Address:
        if self.count is not None:
            raise _NotOneCallError
        self.count = count
        return self.block

    def call(self, key: tuple[str, ...], work: float, *arguments: Any) -> None:
        if self.key is not None:
            raise _NotOneCallError
        self.key, self.work, self.arguments = key, work, arguments

    def compute(self, key: tuple[str, ...], work: float, *arguments: Any) -> None:
        self.call(key, work, *arguments)
        self.is_shared = True

    def packed_weights(
        self, operand: _StandIn, columns: int, transposed: bool = False
    ) -> _Packed | int:
        return _Packed(operand, columns, transposed) if is_worth_packing(operand) else 0


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
    if notes.key is None or notes.count is None or result is not notes.block:
        return None
    waits = 0 < notes.work < backend.threads.waiting_work
    addresses = [*(stand_in.storage.handle for stand_in in stand_ins), notes.block]
    numbers = notes.arguments[len(addresses) :]
    in_order = all(a is b for a, b in zip(notes.arguments, addresses, strict=False))
    if waits and in_order and len(inputs) in _OF_FEW and not any(map(_is_address, numbers)):
        return _OF_FEW[len(inputs)](backend, notes.key, notes.count, numbers)
    fill = _filling(backend, notes.arguments, stand_ins, notes.block)
    if waits:
        return _waiting(backend, notes.key, notes.count, len(notes.arguments), fill)
    if not notes.is_shared or notes.work < backend.threads.least_work:
        return _calling(backend.allocate, notes.count, backend.functions[notes.key], fill)
    return _calling(
        backend.allocate, notes.count, partial(backend.compute, notes.key, notes.work), fill
    )


def _is_address(argument: Any) -> bool:
    return isinstance(argument, (_Address, _Packed))


Filling = Callable[[Sequence[Operand], int], Sequence[float]]


def _filling(
    backend: WasmBackend, template: tuple[Any, ...], stand_ins: list[_StandIn], block: _Address
) -> Filling:
    """Return what puts the addresses of operands and of the result into a call's arguments."""
    packed = next((argument for argument in template if isinstance(argument, _Packed)), None)
    numbers = [argument for argument in template if not _is_address(argument)]
    addresses = [*(stand_in.storage.handle for stand_in in stand_ins), block, packed]
    after = iter(range(len(addresses), len(addresses) + len(numbers)))
    pick = itemgetter(
        *(
            next(index for index, other in enumerate(addresses) if other is argument)
            if _is_address(argument)
            else next(after)
            for argument in template
        )
    )
    packed_weights = backend.packed_weights

    def fill(inputs: Sequence[Operand], out: int) -> Sequence[float]:
        arguments = [x.storage.handle for x in inputs]
        arguments += (out, 0, *numbers)
        return pick(arguments)  # type: ignore[no-any-return]

    if packed is None:
        return fill
    operand = next(index for index, stand_in in enumerate(stand_ins) if stand_in is packed.operand)
    _, columns, transposed = packed

    def fill_with_packed(inputs: Sequence[Operand], out: int) -> Sequence[float]:
        arguments = [x.storage.handle for x in inputs]
        arguments += (out, packed_weights(inputs[operand], columns, transposed), *numbers)
        return pick(arguments)  # type: ignore[no-any-return]

    return fill_with_packed


def _calling(
    allocate: Callable[[int], Handle], count: int, call: Callable[..., object], fill: Filling
) -> PreparedKernel:
    def run(inputs: Sequence[Operand]) -> Handle:
        out = allocate(count)
        call(*fill(inputs, out))
        return out

    return run


def _waiting(
    backend: WasmBackend, key: tuple[str, ...], count: int, length: int, fill: Filling
) -> PreparedKernel:
    """Prepare a call that is queued."""
    allocate, run_waiting = backend.allocate, backend.host.run_waiting
    waiting, head = backend.host.waiting, (backend.numbers[key], length)

    def run(inputs: Sequence[Operand]) -> Handle:
        out = allocate(count)
        # Packing weights runs the queue, so the call's words must be appended together.
        arguments = fill(inputs, out)
        waiting.extend(head)
        waiting.extend(arguments)
        if len(waiting) > MOST_WORDS:
            run_waiting()
        return out

    return run


def _of_one(
    backend: WasmBackend, key: tuple[str, ...], count: int, numbers: tuple[float, ...]
) -> PreparedKernel:
    """Prepare a queued call of a kernel with one operand."""
    allocate, run_waiting = backend.allocate, backend.host.run_waiting
    parked, waiting = backend.pool.parked(count), backend.host.waiting
    number, length = backend.numbers[key], 2 + len(numbers)

    def run(inputs: Sequence[Operand]) -> Handle:
        out = parked.pop() if parked else allocate(count)
        waiting.extend((number, length, inputs[0].storage.handle, out))
        waiting.extend(numbers)
        if len(waiting) > MOST_WORDS:
            run_waiting()
        return out

    return run


def _of_two(
    backend: WasmBackend, key: tuple[str, ...], count: int, numbers: tuple[float, ...]
) -> PreparedKernel:
    """Prepare a queued call of a kernel with two operands."""
    allocate, run_waiting = backend.allocate, backend.host.run_waiting
    parked, waiting = backend.pool.parked(count), backend.host.waiting
    number, length = backend.numbers[key], 3 + len(numbers)

    def run(inputs: Sequence[Operand]) -> Handle:
        out = parked.pop() if parked else allocate(count)
        x, y = inputs
        waiting.extend((number, length, x.storage.handle, y.storage.handle, out))
        waiting.extend(numbers)
        if len(waiting) > MOST_WORDS:
            run_waiting()
        return out

    return run


#: Makes the most frequent calls, by the number of operands.
_OF_FEW = {1: _of_one, 2: _of_two}
