"""Programs of captured functions: what a recording needs for its results, compiled by a backend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from webtensor.backends.api import Backend, CompiledProgram
from webtensor.backends.programs import KernelCall, Program
from webtensor.backends.signatures import Signature, Spec
from webtensor.dtypes import DType
from webtensor.engine import Storage, Tensor, Variable
from webtensor.engine.dispatch import no_room
from webtensor.engine.scopes import outside_scopes
from webtensor.ops.random_bits import drawn_seed, seed_attributes
from webtensor.programs.recording import Argument, RecordedCall, Recording, Source, View
from webtensor.shapes import Shape, prod

__all__ = ["CapturedProgram"]


class CapturedProgram:
    """What a recorded function computes from its arguments and variables.

    Args:
        backend: what computes it.
        recording: what the function did.
        views: the tensors that it returned.

    Raises:
        KernelNotFoundError: the backend cannot compute all of it.
        OutOfMemoryError: it has no room for temporary values.
    """

    def __init__(self, backend: Backend, recording: Recording, views: Sequence[View]) -> None:
        self._backend = backend
        self._seeds = recording.seeds
        wanted = [*views, *[view for _, view in recording.assigned]]
        calls, same = _simplified(recording, wanted)
        wanted = [_replaced(view, same) for view in wanted]
        #: The names of what it computes, in order.
        self.operations = [call.primitive.name for call in calls]
        values = {view.value for call in calls for view in call.inputs}
        values.update(view.value for view in wanted)
        numbers = {
            value: number for number, value in enumerate(sorted(values & recording.sources.keys()))
        }
        self._sources: list[Source] = [recording.sources[value] for value in numbers]
        count = len(numbers)
        numbers |= {call.output.value: count + index for index, call in enumerate(calls)}
        results = dict.fromkeys(
            numbers[view.value] for view in wanted if view.value not in recording.sources
        )
        self._compiled: CompiledProgram = backend.compiled(
            Program(count, tuple(_kernel_call(call, numbers) for call in calls), tuple(results))
        )
        outputs = {numbers[call.output.value]: call.output for call in calls}
        self._made = [
            _Made(outputs[number].dtype, prod(outputs[number].shape)) for number in results
        ]
        positions = {number: index for index, number in enumerate([*range(count), *results])}
        located = [
            _Result(positions[numbers[view.value]], view.shape, view.dtype) for view in wanted
        ]
        self._results = located[: len(views)]
        self._assigned = [
            (variable, result)
            for (variable, _), result in zip(recording.assigned, located[len(views) :], strict=True)
        ]

    def __call__(self, arguments: Sequence[Tensor]) -> list[Tensor]:
        """Return the results for these arguments, and assign to variables."""
        backend = self._backend
        storages = [_storage_of(source, arguments) for source in self._sources]
        for storage in storages:
            if storage.backend is not backend:
                storage.move_to(backend, "function")
        seeds = [seed_attributes(drawn_seed(source)) for source in self._seeds]
        try:
            handles = self._compiled(storages, seeds)
        except MemoryError as error:
            largest = max(self._made, key=lambda made: made.size)
            raise no_room(error, "function", (largest.size,), largest.dtype) from None
        storages += [
            Storage(made.dtype, made.size, None, backend, handle)
            for made, handle in zip(self._made, handles, strict=True)
        ]
        with outside_scopes():
            for variable, result in self._assigned:
                variable.assign(Tensor(storages[result.place], result.shape, result.dtype))
        return [Tensor(storages[result.place], *result[1:]) for result in self._results]

    def close(self) -> None:
        """Free what the backend keeps for the program."""
        self._compiled.close()


class _Made(NamedTuple):
    dtype: DType
    size: int


class _Result(NamedTuple):
    """A tensor that the program makes: its storage's place among sources and results."""

    place: int
    shape: Shape
    dtype: DType


def _storage_of(source: Source, arguments: Sequence[Tensor]) -> Storage:
    if isinstance(source, Argument):
        return arguments[source.number].storage
    return source.value.storage if isinstance(source, Variable) else source


def _kernel_call(call: RecordedCall, numbers: dict[int, int]) -> KernelCall:
    specs = tuple(Spec(view.shape, view.dtype, prod(view.shape)) for view in call.inputs)
    return KernelCall(
        call.primitive.kernel,
        tuple(numbers[view.value] for view in call.inputs),
        Signature(specs, call.output.shape, call.output.dtype),
        call.attributes,
        call.seed,
    )


def _simplified(
    recording: Recording, wanted: Iterable[View]
) -> tuple[list[RecordedCall], dict[int, int]]:
    """Return the calls that are needed, each once, and what replaces the values of others."""
    same: dict[int, int] = {}
    first: dict[Any, int] = {}
    calls: list[RecordedCall] = []
    for call in recording.calls:
        inputs = tuple(_replaced(view, same) for view in call.inputs)
        _, shape, dtype = call.output
        key = call.primitive.kernel, inputs, shape, dtype, repr(call.attributes)
        value = call.output.value
        earlier = value if call.seed is not None else first.setdefault(key, value)
        if earlier == value:
            calls.append(call._replace(inputs=inputs))
        else:
            same[value] = earlier
    needed = {_replaced(view, same).value for view in wanted}
    kept: list[RecordedCall] = []
    for call in reversed(calls):
        if call.output.value in needed:
            needed.update(view.value for view in call.inputs)
            kept.append(call)
    return kept[::-1], same


def _replaced(view: View, same: dict[int, int]) -> View:
    """Return a view of the value that replaces another one, if one does."""
    return view._replace(value=same.get(view.value, view.value))
