"""Programs of captured functions: what a recording needs for its results, compiled by a backend.

A program is a list of stages: calls of kernels that a backend compiled together, loops, and ways
back through these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from webtensor.backends.api import Backend, CompiledProgram
from webtensor.backends.programs import KernelCall, Program
from webtensor.backends.signatures import Signature, Spec
from webtensor.dtypes import DType
from webtensor.engine import Storage, Tensor, Variable
from webtensor.engine.dispatch import no_room
from webtensor.programs.numbers import Numbers
from webtensor.programs.recording import (
    Argument,
    LateScalar,
    RecordedCall,
    Recording,
    Source,
    View,
    scalar_storage,
)
from webtensor.programs.simplification import divided, replaced, simplified
from webtensor.shapes import Shape, prod

if TYPE_CHECKING:
    from webtensor.programs.loops import RecordedLoop, RecordedPass

__all__ = ["CapturedProgram", "Located", "Stage"]

_Kind = TypeVar("_Kind")


class Stage(Protocol):
    """A part of a program: calls of kernels, a loop, or a backward pass through one.

    Attributes:
        values: the numbers of the values that it makes.
    """

    values: list[int]

    def results(self, storages: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
        """Return what it makes: storages, and histories of loops."""

    def close(self) -> None:
        """Free what the backend keeps."""


class CapturedProgram:
    """A recorded function, compiled for a backend.

    Args:
        backend: the backend that computes it.
        recording: what the function did.
        views: the tensors that it returned.

    Raises:
        KernelNotFoundError: the backend cannot compute all of it.
        OutOfMemoryError: it has no room for temporary values.
    """

    def __init__(self, backend: Backend, recording: Recording, views: Sequence[View]) -> None:
        self._backend = backend
        result_views = [*views, *[view for _, view in recording.assigned]]
        calls, same = simplified(recording, result_views)
        result_views = [replaced(view, same) for view in result_views]
        constant, calls = divided(calls, recording.sources, {view.value for view in result_views})
        #: The names of what it computes, in order.
        self.operations = [
            call.primitive.name if isinstance(call, RecordedCall) else call.name for call in calls
        ]
        self._numbers = Numbers(recording.drawn)
        used_values = {view.value for call in calls for view in call.inputs}
        used_values.update(view.value for view in result_views)
        sources = {
            **recording.sources,
            **_computed(backend, constant, recording.sources, used_values),
        }
        constants = _of_kind(Storage, sources, used_values)
        arguments = _of_kind(Argument, sources, used_values)
        variables = _of_kind(Variable, sources, used_values)
        scalars = _of_kind(LateScalar, sources, used_values)
        self._constants = [*constants.values()]
        self._arguments = [argument.number for argument in arguments.values()]
        self._variables = [*variables.values()]
        self._scalars = [
            (self._numbers.index(scalar.number), scalar.dtype) for scalar in scalars.values()
        ]
        #: The index of each value's storage among those of a replay.
        indices = {
            value: index
            for index, value in enumerate([*constants, *arguments, *variables, *scalars])
        }
        self._stages = self._staged(calls, indices, {view.value for view in result_views})
        self._assigned_numbers = [
            (holder, self._numbers.index(number)) for holder, number in recording.assigned_numbers
        ]
        located = [Located(indices[view.value], view.shape, view.dtype) for view in result_views]
        self._results = located[: len(views)]
        self._assigned = [
            (variable, assigned.storage_index)
            for (variable, _), assigned in zip(
                recording.assigned, located[len(views) :], strict=True
            )
        ]

    def __call__(self, arguments: Sequence[Tensor]) -> list[Tensor]:
        """Return the results for these arguments, and assign to variables."""
        backend = self._backend
        numbers = self._numbers()
        storages: list[Any] = [*self._constants]
        storages += [arguments[number].storage for number in self._arguments]
        # No tape watches a replay.
        storages += [variable._value.storage for variable in self._variables]
        storages += [scalar_storage(numbers[index], dtype) for index, dtype in self._scalars]
        _move(storages, backend)
        for stage in self._stages:
            storages += stage.results(storages, numbers)
        for variable, index in self._assigned:
            variable.assign_storage(storages[index])
        for holder, index in self._assigned_numbers:
            holder.number = numbers[index]
        return [Tensor(storages[result.storage_index], *result[1:]) for result in self._results]

    def close(self) -> None:
        """Free what the backend keeps for the program."""
        for stage in self._stages:
            stage.close()

    def _staged(
        self,
        calls: Sequence[RecordedCall | RecordedLoop | RecordedPass],
        indices: dict[int, int],
        result_values: set[int],
    ) -> list[Stage]:
        """Return the stages; the storages of their results are added to ``indices``, by value."""
        groups: list[list[RecordedCall] | RecordedLoop | RecordedPass] = []
        for call in calls:
            if not isinstance(call, RecordedCall):
                groups.append(call)
            elif groups and isinstance(groups[-1], list):
                groups[-1].append(call)
            else:
                groups.append([call])
        #: The values that are needed after each group.
        needed_after: list[set[int]] = []
        needed = set(result_values)
        for group in reversed(groups):
            needed_after.append(set(needed))
            for call in group if isinstance(group, list) else [group]:
                needed.update(view.value for view in call.inputs)
        stages: list[Stage] = []
        for group, needed in zip(groups, reversed(needed_after), strict=True):
            stage: Stage
            if isinstance(group, list):
                stage = _Kernels(self._backend, group, indices, needed, self._numbers)
            else:
                stage = group.stage(self._backend, indices, needed)
            for value in stage.values:
                indices[value] = len(indices)
            stages.append(stage)
        return stages


class _Kernels:
    """Calls of kernels that a backend compiled together.

    Args:
        backend: the backend.
        calls: what they compute.
        indices: those of the storages of values before them, by value.
        needed: the values that are needed after them.
        numbers: the numbers of the whole program.
    """

    def __init__(
        self,
        backend: Backend,
        calls: Sequence[RecordedCall],
        indices: dict[int, int],
        needed: set[int],
        numbers: Numbers,
    ) -> None:
        self._backend = backend
        outputs = {call.output.value: call.output for call in calls}
        inputs = dict.fromkeys(
            view.value for call in calls for view in call.inputs if view.value not in outputs
        )
        self._inputs = [indices[value] for value in inputs]
        positions = {value: position for position, value in enumerate([*inputs, *outputs])}
        #: The values that it makes.
        self.values = [value for value in outputs if value in needed]
        self._result_specs = [
            _ResultSpec(outputs[value].dtype, prod(outputs[value].shape)) for value in self.values
        ]
        #: The indices of each call's late attributes among the numbers.
        self._late: list[tuple[int, ...]] = []
        kernel_calls = tuple(self._kernel_call(call, positions, numbers) for call in calls)
        results = tuple(positions[value] for value in self.values)
        self._compiled: CompiledProgram = backend.compiled(
            Program(len(inputs), kernel_calls, results)
        )

    def results(self, storages: Sequence[Storage], numbers: Sequence[Any]) -> list[Storage]:
        """Return the storages of the values that it makes."""
        late = [tuple([numbers[index] for index in indices]) for indices in self._late]
        try:
            handles = self._compiled([storages[index] for index in self._inputs], late)
        except MemoryError as error:
            largest = max(self._result_specs, key=lambda spec: spec.size)
            raise no_room(error, "function", (largest.size,), largest.dtype) from None
        return [
            Storage(spec.dtype, spec.size, None, self._backend, handle)
            for spec, handle in zip(self._result_specs, handles, strict=True)
        ]

    def close(self) -> None:
        """Free what the backend keeps."""
        self._compiled.close()

    def _kernel_call(
        self, call: RecordedCall, positions: dict[int, int], numbers: Numbers
    ) -> KernelCall:
        specs = tuple(Spec(view.shape, view.dtype, prod(view.shape)) for view in call.inputs)
        late = None
        if call.late is not None:
            late = len(self._late)
            self._late.append(tuple(map(numbers.index, call.late)))
        return KernelCall(
            call.primitive.kernel,
            tuple(positions[view.value] for view in call.inputs),
            Signature(specs, call.output.shape, call.output.dtype),
            call.attributes,
            late,
        )


def _computed(
    backend: Backend,
    calls: Sequence[RecordedCall],
    sources: Mapping[int, Source],
    needed: set[int],
) -> dict[int, Storage]:
    """Return the values that calls make of constants, as far as they are needed."""
    if not calls:
        return {}
    storages = {
        view.value: source
        for call in calls
        for view in call.inputs
        if isinstance(source := sources.get(view.value), Storage)
    }
    _move(storages.values(), backend)
    indices = {value: index for index, value in enumerate(storages)}
    kernels = _Kernels(backend, calls, indices, needed, Numbers([]))
    try:
        return dict(zip(kernels.values, kernels.results([*storages.values()], ()), strict=True))
    finally:
        kernels.close()


def _move(storages: Iterable[Storage], backend: Backend) -> None:
    """Move storages to a backend, where they are not there yet."""
    for storage in storages:
        if storage.backend is not backend:
            storage.move_to(backend, "function")


class _ResultSpec(NamedTuple):
    dtype: DType
    size: int


class Located(NamedTuple):
    """A tensor: the index of its storage, its shape and its dtype."""

    storage_index: int
    shape: Shape
    dtype: DType


def _of_kind(
    kind: type[_Kind], sources: Mapping[int, Source], values: Iterable[int]
) -> dict[int, _Kind]:
    """Return the sources of a kind among some values, by value."""
    return {
        value: source for value in sorted(values) if isinstance(source := sources.get(value), kind)
    }
