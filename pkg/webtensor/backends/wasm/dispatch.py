"""Dispatching descriptions: a kernel's call for operands of fixed shapes, worked out once.

Most kernels allocate a block and call one export. What is called with operands does only that; the
most frequent forms, which queue a call with one operand or two, have functions of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from webtensor.backends.api import Handle, Operand, PreparedKernel
from webtensor.backends.wasm.descriptions import (
    RESULT,
    Address,
    Call,
    Description,
    Geometry,
    is_lookup,
    operands,
)
from webtensor.backends.wasm.host import MAX_WORDS

if TYPE_CHECKING:
    from webtensor.backends.signatures import Signature
    from webtensor.backends.wasm.backend import WasmBackend

__all__ = ["dispatched"]

#: Takes the operands and the addresses of all blocks, and does a call.
_Step = Callable[[Sequence[Operand], list[int]], object]


def dispatched(backend: WasmBackend, of: Signature, description: Description) -> PreparedKernel:
    """Return a function that computes a kernel for operands of its signature."""
    calls = description.calls
    first, is_single = calls[0], len(calls) == 1
    has_lookup = any(is_lookup(part) for call in calls for part in call.arguments)
    addresses = tuple(part for part in first.arguments if isinstance(part, Address))
    is_plain = first.arguments[: len(addresses)] == addresses == (*operands(of), RESULT)
    numbers = first.arguments[len(addresses) :]
    if has_lookup or description.scratch or not all(_is_queued(backend, call) for call in calls):
        if not is_single or description.scratch:
            return _several(backend, description)
        if has_lookup or not is_plain:
            return _single(backend, first, description.bytes)
        return _at_once(backend, first, description.bytes, numbers)
    if is_plain and is_single and len(of.inputs) in _OF_FEW:
        return _OF_FEW[len(of.inputs)](backend, first, description.bytes, numbers)
    return _queued(backend, description)


def _is_queued(backend: WasmBackend, call: Call) -> bool:
    """Whether a call is queued."""
    return 0 < call.work < backend.threads.queued_work


# -- single calls --------------------------------------------------------------------------------


def _single(backend: WasmBackend, call: Call, count: int) -> PreparedKernel:
    allocate, step = backend.allocate, _step(backend, call)

    def run(inputs: Sequence[Operand]) -> Handle:
        out = allocate(count)
        step(inputs, [*[x.storage.handle for x in inputs], out])
        return out

    return run


def _at_once(
    backend: WasmBackend, call: Call, count: int, numbers: tuple[Any, ...]
) -> PreparedKernel:
    """Do a call with the operands, the result, and numbers."""
    allocate, parked = backend.allocate, backend.pool.parked(count)
    function = _running(backend, call)
    plain = tuple(_number(backend, argument) for argument in numbers)

    def run(inputs: Sequence[Operand]) -> Handle:
        out = parked.pop() if parked else allocate(count)
        function(*[x.storage.handle for x in inputs], out, *plain)
        return out

    return run


def _of_one(
    backend: WasmBackend, call: Call, count: int, numbers: tuple[Any, ...]
) -> PreparedKernel:
    """Queue a call with one operand."""
    allocate, run_queue = backend.allocate, backend.host.run_queue
    parked, queue = backend.pool.parked(count), backend.host.queue
    number, length = backend.numbers[call.export], 2 + len(numbers)
    plain = tuple(_number(backend, argument) for argument in numbers)

    def run(inputs: Sequence[Operand]) -> Handle:
        out = parked.pop() if parked else allocate(count)
        queue.extend((number, length, inputs[0].storage.handle, out))
        queue.extend(plain)
        if len(queue) > MAX_WORDS:
            run_queue()
        return out

    return run


def _of_two(
    backend: WasmBackend, call: Call, count: int, numbers: tuple[Any, ...]
) -> PreparedKernel:
    """Queue a call with two operands."""
    allocate, run_queue = backend.allocate, backend.host.run_queue
    parked, queue = backend.pool.parked(count), backend.host.queue
    number, length = backend.numbers[call.export], 3 + len(numbers)
    plain = tuple(_number(backend, argument) for argument in numbers)

    def run(inputs: Sequence[Operand]) -> Handle:
        out = parked.pop() if parked else allocate(count)
        x, y = inputs
        queue.extend((number, length, x.storage.handle, y.storage.handle, out))
        queue.extend(plain)
        if len(queue) > MAX_WORDS:
            run_queue()
        return out

    return run


_OF_FEW = {1: _of_one, 2: _of_two}


def _queued(backend: WasmBackend, description: Description) -> PreparedKernel:
    """Queue calls, all at once."""
    allocate, run_queue = backend.allocate, backend.host.run_queue
    count, queue = description.bytes, backend.host.queue
    words: list[float] = []
    addresses: list[tuple[int, int, int]] = []
    for call in description.calls:
        words += (backend.numbers[call.export], len(call.arguments))
        for argument in call.arguments:
            if isinstance(argument, Address):
                addresses.append((len(words), *argument))
                words.append(0)
            else:
                words.append(_number(backend, argument))

    def run(inputs: Sequence[Operand]) -> Handle:
        out = allocate(count)
        blocks = [*[x.storage.handle for x in inputs], out]
        start = len(queue)
        queue.extend(words)
        for index, block, offset in addresses:
            queue[start + index] = blocks[block] + offset
        if len(queue) > MAX_WORDS:
            run_queue()
        return out

    return run


# -- several calls -------------------------------------------------------------------------------


def _several(backend: WasmBackend, description: Description) -> PreparedKernel:
    """Return a function that does several calls, or uses scratch memory."""
    allocate, release = backend.allocate, backend.release
    steps = [_step(backend, call) for call in description.calls]
    sizes = (*reversed(description.scratch), description.bytes)

    def run(inputs: Sequence[Operand]) -> Handle:
        blocks: list[int] = []
        try:
            for size in sizes:
                blocks.append(allocate(size))  # noqa: PERF401  (released where others have no room)
            addresses = [*[x.storage.handle for x in inputs], *blocks]
            for step in steps:
                step(inputs, addresses)
        except BaseException:
            for block in blocks:
                release(block)
            raise
        out = blocks.pop()
        for block in blocks:
            release(block)
        return out

    return run


# -- calls ---------------------------------------------------------------------------------------


def _step(backend: WasmBackend, call: Call) -> _Step:
    """Return a function that does a call."""
    fill, run = _filling(backend, call.arguments), _running(backend, call)
    return lambda inputs, blocks: run(*fill(inputs, blocks))


def _running(backend: WasmBackend, call: Call) -> Callable[..., object]:
    """Return what takes a call's arguments: the export, or a function that queues or shares it."""
    if _is_queued(backend, call):
        return _queueing(backend, call)
    function = backend.functions[call.export]
    if call.is_shared and call.work >= backend.threads.least_work:
        return partial(backend.threads.run, call.export, call.work)
    return function


def _queueing(backend: WasmBackend, call: Call) -> Callable[..., object]:
    queue, run_queue = backend.host.queue, backend.host.run_queue
    head = backend.numbers[call.export], len(call.arguments)

    def enqueue(*arguments: float) -> None:
        queue.extend(head)
        queue.extend(arguments)
        if len(queue) > MAX_WORDS:
            run_queue()

    return enqueue


def _filling(
    backend: WasmBackend, arguments: tuple[Any, ...]
) -> Callable[[Sequence[Operand], list[int]], Sequence[float]]:
    """Return a function that puts addresses into the arguments of a call."""
    order = sorted(range(len(arguments)), key=lambda index: _kind(arguments[index]))
    addresses = [argument for argument in arguments if isinstance(argument, Address)]
    late = [argument for argument in arguments if is_lookup(argument)]
    numbers = [_number(backend, arguments[index]) for index in order[len(addresses) + len(late) :]]

    def fill_in_order(inputs: Sequence[Operand], blocks: list[int]) -> Sequence[float]:
        return [*[blocks[block] + offset for block, offset in addresses], *numbers]

    if not late and order == [*range(len(arguments))]:
        return fill_in_order
    pick = itemgetter(*map(order.index, range(len(arguments))))

    def fill(inputs: Sequence[Operand], blocks: list[int]) -> Sequence[float]:
        filled: list[float] = [blocks[block] + offset for block, offset in addresses]
        filled += [argument.find(backend, inputs) for argument in late]
        return pick([*filled, *numbers])  # type: ignore[no-any-return]

    return fill


def _kind(argument: Any) -> int:
    """Return the position of an argument's kind: addresses, what is looked up, numbers."""
    return 0 if isinstance(argument, Address) else 1 if is_lookup(argument) else 2


def _number(backend: WasmBackend, argument: Any) -> float:
    """Return a number, or the address of integers."""
    if isinstance(argument, Geometry):
        return backend.geometries.address(argument.integers)
    number: float = argument
    return number
