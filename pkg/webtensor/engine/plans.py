"""Plans: what an op inferred from its operands' shapes and dtypes, cached for the next such call.

Programs call their ops with the same few shapes over and over. The work before a kernel runs
(checking, promoting, broadcasting, computing a geometry) depends on shapes, dtypes and options
alone, and in an interpreter takes longer than many kernels do. A call that is repeated is therefore
cached. If it ends in one primitive, applied to its own operands, that is a **plan**: the primitive
with the arguments of its call, and the backend's prepared call of its kernel. One that runs several
primitives, or views operands in other shapes, is cached as a **chain** of plans.

A plan is valid while its backend is active and in the ``epoch`` in which the plan was made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from marshal import dumps
from math import copysign
from threading import get_ident
from typing import Any, NamedTuple, ParamSpec

from webtensor.backends.api import Backend, PreparedKernel
from webtensor.dtypes import DType, complex64
from webtensor.engine.dispatch import alias, no_room, run
from webtensor.engine.operands import cached_number, constant
from webtensor.engine.primitive import Primitive
from webtensor.engine.state import observing, state
from webtensor.engine.storage import Storage
from webtensor.engine.tensor import Tensor
from webtensor.errors import KernelNotFoundError
from webtensor.explanation import MISUSE, raise_explained
from webtensor.shapes import Shape

__all__ = ["MAX_PLANS", "Plans", "keep_plan", "planned", "run_plan"]

#: The maximum number of an op's plans; then its cache is cleared.
MAX_PLANS = 1024

Arguments = ParamSpec("Arguments")

#: The types of options that may be part of a key.
_OPTIONS = frozenset({bool, int, float, str, type(None), DType})


class Plan:
    """A primitive with the arguments of its call, except the operands."""

    __slots__ = (
        "attributes",
        "backend",
        "call",
        "dtype",
        "epoch",
        "order",
        "primitive",
        "shape",
        "size",
    )

    def __init__(
        self,
        backend: Backend,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
        order: tuple[int, ...] = (),
    ) -> None:
        self.backend = backend
        self.epoch = backend.epoch
        self.primitive = primitive
        self.shape: Shape = output.shape
        self.dtype: DType = output.dtype
        self.size: int = output.storage.size
        self.attributes = attributes
        #: The primitive's inputs among the op's operands.
        self.order = order
        self.call: PreparedKernel = backend.prepared_call(
            primitive.kernel, inputs, output.shape, output.dtype, attributes
        )


class _Chain(NamedTuple):
    """The steps of an op that runs several primitives."""

    epoch: object
    order: tuple[int, ...]
    #: Numbers and their dtypes.
    constants: list[Any]
    #: Functions, the indices of their inputs among all values, and of values not used afterwards.
    steps: list[tuple[partial[Tensor], list[int], list[int]]]


#: An op's plans by their keys; None for a call that cannot be planned.
Plans = dict[Any, Any]

#: What stands for the plan of a call that is new, and of one that ran once. Planning a call takes
#: as long as running it, and many are not repeated, such as those of slices at other places.
_NEW: Any = _Chain(object(), (), [], [])
_SEEN: Any = _Chain(object(), (), [], [])


def run_plan(plan: Plan, inputs: tuple[Tensor, ...]) -> Tensor:
    """Do what ``run`` does, by a plan."""
    backend = plan.backend
    dtype = plan.dtype
    try:
        for operand in inputs:
            source = operand.storage
            if source.backend is not backend:
                source.move_to(backend, plan.primitive.name)
        handle = plan.call(inputs)
    except KernelNotFoundError:  # the device was lost
        return run(plan.primitive, inputs, plan.shape, dtype, *plan.attributes)
    except MemoryError as error:
        raise no_room(error, plan.primitive.name, plan.shape, dtype) from None
    output = Tensor(Storage(dtype, plan.size, None, backend, handle), plan.shape, dtype)
    if state.observers:
        for observer in state.observers:
            observer.record(plan.primitive, inputs, output, plan.attributes)
    return output


def _run_chain(chain: _Chain, inputs: tuple[Tensor, ...]) -> Tensor:
    """Run the steps of an op one after another."""
    values: list[Any] = [*inputs, *[constant("", *number) for number in chain.constants]]
    for step, indices, unused in chain.steps:
        taken = tuple([values[index] for index in indices])
        for index in unused:
            values[index] = None
        values.append(step(taken))
    return values[-1]  # type: ignore[no-any-return]


def keep_plan(
    plans: Plans,
    key: Any,
    primitive: Primitive,
    inputs: tuple[Tensor, ...],
    output: Tensor,
    attributes: tuple[Any, ...],
    order: tuple[int, ...] = (),
) -> None:
    """Cache the plan of an op that computed ``output``; it has none if that is empty.

    Nothing is cached if the op ran on another backend than the active one: it may not do so again.
    """
    backend = state.backend
    if not output.storage.size:
        _store(plans, key, None)
    elif backend is not None and output.storage.backend is backend:
        _store(plans, key, Plan(backend, primitive, inputs, output, attributes, order))


def _store(plans: Plans, key: Any, plan: Plan | _Chain | None) -> None:
    """Cache a plan, or that a call has none; a full cache is cleared first."""
    if len(plans) >= MAX_PLANS:
        plans.clear()
    plans[key] = plan


_Record = tuple[Primitive, tuple[Tensor, ...], Tensor, tuple[Any, ...]]


class _Recorder:
    """Observer that records the primitives that an op runs."""

    def __init__(self) -> None:
        self.records: list[_Record] = []
        self._thread = get_ident()

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        if get_ident() == self._thread:
            self.records.append((primitive, inputs, output, attributes))


def planned(function: Callable[Arguments, Tensor]) -> Callable[Arguments, Tensor]:
    """Make an op plan its calls, and complete their errors (see ``explanation``).

    The op's result must depend on its arguments only, and the primitives that it runs only on the
    operands' shapes and dtypes and on the other arguments.
    """
    plans: Plans = {}

    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Tensor:
        try:
            backend = state.backend
            if len(args) == 1 and not kwargs:  # the same key as below, sooner
                operand = args[0]
                if isinstance(operand, Tensor):
                    plan = plans.get((operand.shape, operand.dtype))
                    if plan is not None and backend is not None and plan.epoch is backend.epoch:
                        return (run_plan if type(plan) is Plan else _run_chain)(plan, (operand,))
            elif len(args) == 2 and not kwargs:  # so is this one
                x, y = args
                if isinstance(x, Tensor) and isinstance(y, Tensor) and x is not y:
                    pair = x, y
                    plan = plans.get((x.shape, x.dtype, y.shape, y.dtype))
                    if plan is not None and backend is not None and plan.epoch is backend.epoch:
                        inputs = tuple([pair[index] for index in plan.order])
                        return (run_plan if type(plan) is Plan else _run_chain)(plan, inputs)
            operands: list[Tensor] = []
            key: list[Any] = [*kwargs]
            value: Any
            for value in (*args, *kwargs.values()):
                kind = type(value)
                if isinstance(value, Tensor):
                    operands.append(value)
                    key.append(value.shape)
                    key.append(value.dtype)
                elif kind in _OPTIONS:
                    key.append(kind)
                    key.append(value)
                    if kind is float and not value:  # 0.0 and -0.0 are equal
                        key.append(copysign(1.0, value))
                elif kind is not tuple and kind is not list:
                    return function(*args, **kwargs)
                elif not operands and value and all(isinstance(part, Tensor) for part in value):
                    operands += value
                    key.append(len(value))
                    key += [part for x in value for part in (x.shape, x.dtype)]
                elif kind is tuple or (operands and len(value) < 16):  # a longer list may be data
                    key.append(kind)
                    try:
                        key.append(dumps(value, 0))  # (0,) and (False,) are equal
                    except ValueError:  # a tensor inside, which a key would keep alive
                        return function(*args, **kwargs)
                else:
                    return function(*args, **kwargs)
            # The plan of x @ x may be another one.
            if len(operands) > 1 and len({*map(id, operands)}) < len(operands):
                ids = [*map(id, operands)]
                key.append(tuple(map(ids.index, ids)))
            plan_key = tuple(key)
            plan = plans.get(plan_key, _NEW)
            if plan is None:
                return function(*args, **kwargs)
            if backend is not None and plan.epoch is backend.epoch:
                inputs = tuple([operands[index] for index in plan.order])
                return (run_plan if type(plan) is Plan else _run_chain)(plan, inputs)
            if plan is _NEW:
                _store(plans, plan_key, _SEEN)
                return function(*args, **kwargs)
            return _recorded(plans, plan_key, operands, partial(function, *args, **kwargs))
        except MISUSE as error:
            raise_explained(function, error, args, kwargs)

    call.explains_errors = True  # type: ignore[attr-defined]
    return call


def _recorded(
    plans: Plans,
    key: tuple[Any, ...],
    operands: list[Tensor],
    call: Callable[[], Tensor],
) -> Tensor:
    """Call the op, and plan it if all that it ran were primitives on its operands."""
    recorder = _Recorder()
    with observing(recorder):
        result = call()
    positions = {id(operand): index for index, operand in enumerate(operands)}
    if len(recorder.records) == 1:
        primitive, inputs, output, attributes = recorder.records[0]
        order = tuple(positions.get(id(operand), -1) for operand in inputs)
        is_new = all(output.storage is not operand.storage for operand in inputs)
        takes_them = order == (0,) if len(operands) == 1 else -1 not in order
        if output is result and is_new and takes_them:
            keep_plan(plans, key, primitive, inputs, output, attributes, order)
            return result
    if not state.captures:  # they have constants of their own
        _store(plans, key, _chain(recorder.records, operands, result))
    return result


def _chain(records: list[_Record], operands: list[Tensor], result: Tensor) -> _Chain | None:
    """Return what an op ran as a chain, unless it took other tensors."""
    backend = state.backend
    values = [*operands, *[output for _, _, output, _ in records]]
    if backend is None or not records or values[-1] is not result:
        return None
    last = {id(x): record for record in records for x in record[1]}
    others = {id(x): x for record in records for x in record[1]}
    for value in values:
        others.pop(id(value), None)
    constants = [*map(cached_number, others.values())]
    # Functions of complex numbers may have gradients of their own.
    if None in constants or any(value.dtype is complex64 for value in values):
        return None
    values[len(operands) : len(operands)] = others.values()
    positions = {id(value): index for index, value in enumerate(values)}
    steps = []
    for record in records:
        primitive, inputs, output, attributes = record
        if inputs and output.storage is inputs[0].storage:
            step = partial(_view, primitive, output.shape, output.dtype, attributes)
        elif output.storage.size and output.storage.backend is backend:
            step = partial(run_plan, Plan(backend, primitive, inputs, output, attributes))
        else:
            return None
        unused = [positions[id(x)] for x in inputs if last[id(x)] is record]
        steps.append((step, [positions[id(x)] for x in inputs], unused))
    return _Chain(backend.epoch, tuple(range(len(operands))), constants, steps)


def _view(
    primitive: Primitive,
    shape: Shape,
    dtype: DType,
    attributes: tuple[Any, ...],
    inputs: tuple[Tensor, ...],
) -> Tensor:
    return alias(primitive, inputs[0], shape, *attributes, dtype=dtype)
