"""Programs: the kernels of a captured function, with what they read and write, replayed at once.

A program is a list of calls of kernels on numbered **values**. The first ones are its sources:
arguments, variables and constants, whose handles are given at each replay. Each call makes the next
value. The handles of the results are new ones, which belong to the caller.

``Replay`` calls kernels that were prepared once, and is what every backend can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from webtensor.backends.signatures import Signature, Spec
from webtensor.dtypes import DType
from webtensor.shapes import Shape

if TYPE_CHECKING:
    from webtensor.backends.api import Backend, Handle, PreparedKernel, Stored

__all__ = ["KernelCall", "Program", "ProgramOperand", "Replay", "last_uses", "with_calls"]


class KernelCall(NamedTuple):
    """A call of a kernel.

    Attributes:
        kernel: its name.
        inputs: the numbers of the values that it reads.
        signature: their shapes and dtypes, and those of what it makes.
        attributes: those of the primitive.
        late: which of the late attributes replace those of the capture, or None.
    """

    kernel: str
    inputs: tuple[int, ...]
    signature: Signature
    attributes: tuple[Any, ...]
    late: int | None = None


class Program(NamedTuple):
    """The calls of a captured function.

    Attributes:
        sources: how many values it is called with.
        calls: what is computed, in order; call number ``i`` makes value ``sources + i``.
        results: the numbers of the values that are returned, each once; none is a source.
    """

    sources: int
    calls: tuple[KernelCall, ...]
    results: tuple[int, ...]


def with_calls(program: Program, calls: Sequence[KernelCall | None]) -> Program:
    """Return the program with other calls in place of its own; None leaves one out.

    The calls read values by the program's numbers, and are numbered anew.
    """
    numbers = {number: number for number in range(program.sources)}
    own_calls: list[KernelCall] = []
    for index, call in enumerate(calls):
        if call is not None:
            own_calls.append(call._replace(inputs=tuple(numbers[number] for number in call.inputs)))
            numbers[program.sources + index] = program.sources + len(own_calls) - 1
    results = tuple(numbers[number] for number in program.results)
    return Program(program.sources, tuple(own_calls), results)


def last_uses(program: Program) -> list[tuple[int, ...]]:
    """Return for each call the values that neither a later one nor the caller needs."""
    remaining = {program.sources + index for index in range(len(program.calls))}
    remaining -= {*program.results}
    unneeded: list[tuple[int, ...]] = []
    for index in reversed(range(len(program.calls))):
        values = remaining & {*program.calls[index].inputs, program.sources + index}
        remaining -= values
        unneeded.append(tuple(sorted(values)))
    return unneeded[::-1]


class _Cell:
    """Holds the handle of a value."""

    __slots__ = ("handle",)

    def __init__(self) -> None:
        self.handle: Any = None


class ProgramOperand:
    """A value as an operand of a kernel, with a shape of its own; what stores it changes."""

    __slots__ = ("dtype", "shape", "size", "storage")

    def __init__(self, spec: Spec, storage: Any = None) -> None:
        self.shape: Shape = spec.shape
        self.dtype: DType = spec.dtype
        self.size: int = spec.size
        self.storage = storage


class Replay:
    """Replays a program by prepared kernels."""

    def __init__(self, backend: Backend, program: Program) -> None:
        self._backend = backend
        self._program = program
        self._cells = [_Cell() for _ in range(program.sources + len(program.calls))]
        self._operands = [
            tuple(
                ProgramOperand(spec, self._cells[number])
                for spec, number in zip(call.signature.inputs, call.inputs, strict=True)
            )
            for call in program.calls
        ]
        self._unneeded = [
            tuple(self._cells[number] for number in numbers) for numbers in last_uses(program)
        ]
        self._epoch: object = None
        #: Held during a replay, as each thread would use the same cells.
        self._lock = RLock()
        self._prepared: list[PreparedKernel | None] = []

    def __call__(self, sources: Sequence[Stored], late: Sequence[tuple[Any, ...]]) -> list[Handle]:
        """Return the handles of the results for these sources and late attributes."""
        with self._lock:
            return self._replayed(sources, late)

    def _replayed(self, sources: Sequence[Stored], late: Sequence[tuple[Any, ...]]) -> list[Handle]:
        if self._epoch is not self._backend.epoch:
            self._prepare()
        cells, calls, sources_count = self._cells, self._program.calls, self._program.sources
        for cell, source in zip(cells, sources, strict=False):
            cell.handle = source.handle
        computed = cells[sources_count:]
        release = self._backend.release
        try:
            for prepared, call, operands, cell, unneeded in zip(
                self._prepared, calls, self._operands, computed, self._unneeded, strict=True
            ):
                if prepared is None:
                    cell.handle = self._called(call, operands, late)
                else:
                    cell.handle = prepared(operands)
                for dead in unneeded:
                    handle, dead.handle = dead.handle, None
                    release(handle)
            results = [cells[number].handle for number in self._program.results]
            for number in self._program.results:
                cells[number].handle = None
            return results
        finally:
            for cell in cells[:sources_count]:
                cell.handle = None
            for cell in computed:  # where a kernel failed
                if cell.handle is not None:
                    handle, cell.handle = cell.handle, None
                    release(handle)

    def close(self) -> None:
        """Free what is kept for replays: nothing."""

    def _prepare(self) -> None:
        """Prepare the kernels for the backend's epoch, if it does not end meanwhile."""
        self._epoch = epoch = self._backend.epoch
        self._prepared = [
            self._backend.prepared_call(
                call.kernel,
                operands,
                call.signature.shape,
                call.signature.dtype,
                call.attributes,
            )
            if call.late is None
            else None
            for call, operands in zip(self._program.calls, self._operands, strict=True)
        ]
        if epoch is not self._backend.epoch:  # there is not enough room for all geometries
            self._epoch = None
            self._prepared = [None] * len(self._program.calls)

    def _called(
        self,
        call: KernelCall,
        operands: tuple[ProgramOperand, ...],
        late: Sequence[tuple[Any, ...]],
    ) -> Handle:
        attributes = call.attributes if call.late is None else late[call.late]
        kernel = self._backend.kernels[call.kernel]
        return kernel(operands, call.signature.shape, call.signature.dtype, *attributes)
