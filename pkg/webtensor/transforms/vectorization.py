"""``vmap``: a function of one example, applied to a batch of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeAlias

from webtensor.arguments import as_integer, check_callable
from webtensor.autodiff import custom_grad, is_recording, note_constant, paused
from webtensor.autodiff.functions import is_host_data, own_tensor
from webtensor.autodiff.tape import IDENTITY
from webtensor.dtypes import complex64
from webtensor.engine import Storage, Tensor, Variable, alias, as_operand, constant, run, state
from webtensor.engine.late_numbers import recomputed
from webtensor.errors import CaptureError
from webtensor.nest import alike, is_nested, keys, leaves, map_structure
from webtensor.ops import moveaxis, reshape, stack, where, zeros
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.programs.loops import Part, RecordedLoop
from webtensor.programs.recording import (
    CUSTOM,
    Argument,
    Custom,
    RecordedCall,
    Recorder,
    Recording,
    Source,
    View,
    on_device,
)
from webtensor.shapes import normalize_axis
from webtensor.transforms.batching_rules import Operand, batched, one_by_one
from webtensor.transforms.control_flow import masked_gradient, while_loop

__all__ = ["vmap"]

#: The axis of examples of an argument or a result: an integer, None for what all examples share, or
#: a structure of these.
Axes: TypeAlias = Any


def vmap(function: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[..., Any]:
    """Return a function that applies ``function``, which takes an example, to a batch of them.

    What ``function`` does with one example is recorded; each operation is then computed for all
    examples at once, or, where there is no way to, for one after the other. Functions that use
    ``wt.grad`` give the gradients of each example; random numbers differ from example to example.

    Args:
        function: takes tensors, or structures of them, and returns such.
        in_axes: the axis of the examples in the arguments: an integer for all, or a list or a tuple
            with an integer for each argument; None is for those that all examples share, whose
            Python values stay as they are. It is for all tensors of a structure, or a structure
            of axes. The axis of named arguments is 0.
        out_axes: the axis of the examples in the results: an integer, or a structure of these, as
            the function returns it; None is for a result that is the same for all examples.

    Raises:
        TypeError: ``function`` cannot be called.
        ValueError: an axis is none, or the numbers of examples differ.
        CaptureError: ``function`` reads elements, or assigns to variables.

    Example:
        >>> import webtensor as wt
        >>> wt.vmap(wt.sum)(wt.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [3.0, 7.0]
        >>> wt.vmap(lambda x, factor: x * factor, in_axes=(0, None))([1.0, 2.0], 3.0).tolist()
        [3.0, 6.0]
    """
    check_callable("vmap", "function", function)
    for name, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        for axis in leaves(axes):
            as_integer("vmap", name, axis)

    @wraps(function)
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        axes = in_axes if isinstance(in_axes, (list, tuple)) else [in_axes] * len(args)
        if len(axes) != len(args):
            raise ValueError(
                f"vmap: in_axes must have an axis for each argument, but there are {len(axes)} "
                f"axes and {len(args)} arguments"
            )
        operands: list[Operand] = []
        positional = [
            _with_placeholders(value, axis, operands)
            for value, axis in zip(args, axes, strict=True)
        ]
        named = {name: _with_placeholders(value, 0, operands) for name, value in kwargs.items()}
        count = _count_of(operands)
        recorder, form, views = _recorded(function, positional, named, operands)
        batch = _Batch(recorder.recording, operands, count, recorder)
        return _with_results(form, out_axes, batch, views)

    return vectorized


@dataclass(frozen=True)
class _Placeholder:
    """The number of a tensor among those of the arguments, or among those of the results."""

    number: int

    def __repr__(self) -> str:  # for errors
        return "tensor"


def _with_placeholders(value: Any, axes: Axes, operands: list[Operand]) -> Any:
    """Return an argument with placeholders for tensors, which are added to ``operands``."""
    if value is None or (axes is None and is_host_data(value)):
        return value
    if is_nested(axes) or (is_nested(value) and not is_host_data(value)):
        parts = _with_axes(value, axes, "in_axes")
        return alike(value, [_with_placeholders(part, own, operands) for part, own in parts])
    operands.append(_operand(own_tensor("vmap", value), axes))
    return _Placeholder(len(operands) - 1)


def _with_axes(structure: Any, axes: Axes, argument: str) -> list[tuple[Any, Axes]]:
    """Return the items of a structure with their axes: one for all, or a structure alike."""
    if not is_nested(axes):
        return [(structure[key], axes) for key in keys(structure)]
    if not is_nested(structure) or [*keys(structure)] != [*keys(axes)]:
        raise ValueError(
            f"vmap: {argument} must have an axis for all of a structure or for each item, but got "
            f"{axes!r} for {structure!r}"
        )
    return [(structure[key], axes[key]) for key in keys(structure)]


def _with_results(part: Any, axes: Axes, batch: _Batch, views: Sequence[View]) -> Any:
    """Return what the function returned, with the batch's results in place of placeholders."""
    if is_nested(axes) or is_nested(part):
        parts = _with_axes(part, axes, "out_axes")
        return alike(part, [_with_results(item, own, batch, views) for item, own in parts])
    if type(part) is not _Placeholder:
        return part
    view = views[part.number]
    if axes is None:
        return batch.shared(view)
    result = batch.batched(view)
    return moveaxis(result, 0, normalize_axis("vmap: out_axes", axes, len(result.shape)))


def _operand(tensor: Tensor, axis: int | None) -> Operand:
    """Return a tensor with the axis of examples in front."""
    if axis is None:
        return Operand(tensor, False)
    if not tensor.shape:
        raise ValueError(
            "vmap: a tensor of rank 0 has no axis of examples; give it the axis None in in_axes"
        )
    axis = normalize_axis("vmap: in_axes", axis, len(tensor.shape))
    return Operand(moveaxis(tensor, axis, 0), True)


def _count_of(operands: Sequence[Operand]) -> int:
    """Return the number of examples."""
    counts = {operand.tensor.shape[0] for operand in operands if operand.is_batched}
    if not counts:
        raise ValueError("vmap: no argument has an axis of examples")
    if len(counts) > 1:
        raise ValueError(
            "vmap: there must be as many examples in all arguments, but their numbers are "
            f"{sorted(counts)}"
        )
    return counts.pop()


def _recorded(
    function: Callable[..., Any],
    positional: list[Any],
    named: dict[str, Any],
    operands: Sequence[Operand],
) -> tuple[Recorder, Any, list[View]]:
    """Record what a function does with the first example.

    Returns the recording, what the function returned, with placeholders for tensors, and these.
    """
    around = state.captures[-1] if state.captures else None
    is_differentiated = is_recording() or (around is not None and around.is_differentiated)
    recorder = Recorder(around=around, is_differentiated=is_differentiated)
    with paused():
        examples = [
            _first(operand.tensor) if operand.is_batched else operand.tensor for operand in operands
        ]

        def example(leaf: Any) -> Any:
            if type(leaf) is not _Placeholder:
                return leaf
            tensor = on_device(examples[leaf.number])
            recorder.argument(leaf.number, tensor)
            return tensor

        with recorder.active():
            args, kwargs = map_structure(example, (positional, named))
            result = function(*args, **kwargs)
            views: list[View] = []

            def as_placeholder(leaf: Any) -> Any:
                if not isinstance(leaf, (bool, int, float, complex)) and not hasattr(leaf, "dtype"):
                    recorder.check_result("vmap", leaf)
                    return leaf
                views.append(recorder.view(as_operand("vmap", leaf)))
                return _Placeholder(len(views) - 1)

            form = map_structure(as_placeholder, result)
            recording = recorder.finish()
    if recording.assigned or recording.assigned_numbers:
        raise CaptureError(
            "vmap: the function assigns to variables, of which each example would have its own; "
            "return the values instead"
        )
    return recorder, form, views


def _first(batch: Tensor) -> Tensor:
    """Return the first example; zeros if there is none."""
    return batch[0] if batch.shape[0] else zeros(batch.shape[1:], batch.dtype)


class _Batch:
    """The replay with a batch of a function, or a part of a loop, recorded for one example.

    Args:
        recording: what it does.
        operands: the tensors of its arguments.
        count: the number of examples.
        recorder: the recorder of the function; None for a part of a loop, which has no constants
            and draws nothing.
    """

    def __init__(
        self,
        recording: Recording,
        operands: Sequence[Operand],
        count: int,
        recorder: Recorder | None = None,
    ) -> None:
        self._constants = recorder.constants if recorder else {}
        self._constant_views = recorder.constant_views if recorder else {}
        self._operands, self._count = operands, count
        #: What late numbers are, for each example, or for all where none is drawn.
        self._numbers: list[dict[int, Any]] = []
        for index in range(max(count, 1) if recording.drawn else 1):
            # The first example was drawn for when it was recorded.
            numbers = recorder.draws if recorder and not index else {}
            for number in recording.drawn:
                recomputed(number, numbers)
            self._numbers.append(numbers)
        for number, _ in recording.choices:  # a capture around this depends on them, too
            bool(recomputed(number, self._numbers[0]))
        self._values = {
            value: self._begun(value, source) for value, source in recording.sources.items()
        }
        for index, call in enumerate(recording.calls):
            self._note_constants(index)
            if isinstance(call, RecordedCall):
                compute = self._custom if call.primitive is CUSTOM else self._computed
                self._values[call.output.value] = compute(call)
            elif isinstance(call, RecordedLoop):
                loop = _BatchedLoop(call, [self._viewed(view) for view in call.inputs], count)
                for view, result in zip(call.results, loop.results(), strict=True):
                    self._values[view.value] = result
            else:
                raise CaptureError(
                    "vmap: the function must not compute gradients through a while_loop; compute "
                    "those of the batch outside of vmap, or use scan"
                )
        self._note_constants(len(recording.calls))

    def _note_constants(self, calls: int) -> None:
        """Tell tapes what depends only on shapes, as the function did after ``calls`` calls."""
        for source, output in self._constant_views.get(calls, ()):
            note_constant(self._values[source.value].tensor, self._values[output.value].tensor)

    def batched(self, view: View) -> Tensor:
        """Return a result for each example."""
        return self._viewed(view).batched(self._count)

    def shared(self, view: View) -> Tensor:
        """Return a result that is the same for all examples.

        Raises:
            ValueError: it may differ.
        """
        operand = self._viewed(view)
        if operand.is_batched:
            raise ValueError(
                "vmap: out_axes is None for a result that may differ from example to example"
            )
        return operand.tensor

    def _begun(self, value: int, source: Source) -> Operand:
        """Return a value that no operation made."""
        if isinstance(source, Argument):
            return self._operands[source.number]
        if isinstance(source, Variable):
            return Operand(source.value, False)
        if isinstance(source, Storage):
            return Operand(self._constants[value], False)
        scalars = [
            constant("vmap", recomputed(source.number, numbers), source.dtype)
            for numbers in self._numbers
        ]
        return Operand(scalars[0], False) if len(scalars) == 1 else Operand(stack(scalars), True)

    def _viewed(self, view: View) -> Operand:
        """Return a value in the shape and the dtype of a view."""
        tensor, is_batched = self._values[view.value]
        shape = (self._count, *view.shape) if is_batched else view.shape
        if tensor.dtype is not view.dtype:
            if tensor.dtype is complex64:
                tensor = as_pairs(tensor)
            elif view.dtype is complex64:
                tensor = from_pairs(reshape(tensor, (*shape, 2)))
            else:
                tensor = alias(IDENTITY, tensor, shape, dtype=view.dtype)
        if tensor.shape != shape:
            tensor = reshape(tensor, shape)
        return Operand(tensor, is_batched)

    def _custom(self, call: RecordedCall) -> Operand:
        """Return the value of a function that has a gradient of its own, and keeps it."""
        (compute,) = call.attributes
        operands = [self._viewed(view) for view in call.inputs]
        is_batched = any(operand.is_batched for operand in operands)
        tensors = [operand.tensor for operand in operands]
        function = _batched_custom(compute, operands) if is_batched else compute
        return Operand(custom_grad(lambda *xs: function(xs))(*tensors), is_batched)

    def _computed(self, call: RecordedCall) -> Operand:
        """Return the result of an operation."""
        operands = [self._viewed(view) for view in call.inputs]
        if call.late is None or len(self._numbers) == 1:
            attributes = tuple(
                recomputed(part, self._numbers[0]) for part in call.late or call.attributes
            )
            if any(operand.is_batched for operand in operands):
                result = batched(call, operands, attributes, self._count)
                return Operand(result, True)
            tensors = tuple(operand.tensor for operand in operands)
            _, shape, dtype = call.output
            return Operand(run(call.primitive, tensors, shape, dtype, *attributes), False)
        attributes_of_each = [
            tuple(recomputed(part, numbers) for part in call.late) for numbers in self._numbers
        ]
        return Operand(one_by_one(call, operands, attributes_of_each), True)


class _BatchedLoop:
    """The replay with a batch of a loop that was recorded for one example.

    If the condition differs from example to example, the body runs for all as long as it holds for
    any; those for which it holds no longer keep their values.

    Args:
        loop: the loop.
        inputs: its inputs.
        count: the number of examples.
    """

    def __init__(self, loop: RecordedLoop, inputs: Sequence[Operand], count: int) -> None:
        self._loop, self._count = loop, count
        self._variables, self._of_condition, self._of_body = loop.split(inputs)
        self._are_batched, self._differs = _batched_variables(
            loop, [operand.is_batched for operand in inputs]
        )

    def results(self) -> list[Operand]:
        """Return the last values of the loop variables."""
        variables = [
            operand.batched(self._count) if is_batched else operand.tensor
            for operand, is_batched in zip(self._variables, self._are_batched, strict=True)
        ]
        limit = self._loop.limit
        if self._differs:
            variables = [self._condition(*variables), *variables]
            _, *results = while_loop(
                lambda mask, *_: mask.any(), self._masked_body, variables, limit
            )
        else:
            results = while_loop(self._condition, self._body, variables, limit)
        return list(map(Operand, results, self._are_batched))

    def _condition(self, *variables: Tensor) -> Tensor:
        (holds,) = self._replayed(
            self._loop.condition, variables, self._of_condition, [self._differs]
        )
        return holds

    def _body(self, *variables: Tensor) -> list[Tensor]:
        return self._replayed(self._loop.body, variables, self._of_body, self._are_batched)

    def _masked_body(self, mask: Tensor, *variables: Tensor) -> list[Tensor]:
        """Return a mask of the examples for which the condition holds, and their next values."""
        masks = [reshape(mask, (-1, *(1,) * (x.ndim - 1))) for x in variables]
        updated = self._body(*map(masked_gradient, masks, variables))
        updated = list(map(where, masks, updated, variables))
        return [self._condition(*updated), *updated]

    def _replayed(
        self,
        part: Part,
        variables: Sequence[Tensor],
        outer: Sequence[Operand],
        are_batched: Sequence[bool],
    ) -> list[Tensor]:
        """Return the results of a part; ``are_batched`` says which have an axis of examples."""
        operands = [*map(Operand, variables, self._are_batched), *outer]
        batch = _Batch(part.recording, operands, self._count)
        return [
            batch.batched(view) if is_batched else batch.shared(view)
            for view, is_batched in zip(part.results, are_batched, strict=True)
        ]


def _batched_variables(loop: RecordedLoop, are_batched: list[bool]) -> tuple[list[bool], bool]:
    """Return which loop variables differ from example to example, and whether the condition does.

    ``are_batched`` says it of the loop's inputs. A variable that is the same at first may differ
    after an iteration.
    """
    variables, of_condition, of_body = map(list, loop.split(are_batched))
    while True:
        (differs,) = _batched_results(loop.condition, [*variables, *of_condition])
        updated = _batched_results(loop.body, [*variables, *of_body])
        updated = [differs or any(pair) for pair in zip(variables, updated, strict=True)]
        if updated == variables:
            return variables, differs
        variables = updated


def _batched_results(part: Part, are_batched: Sequence[bool]) -> list[bool]:
    """Return which results of a part of a loop depend on batched arguments."""
    depends = {
        value: isinstance(source, Argument) and are_batched[source.number]
        for value, source in part.recording.sources.items()
    }
    for call in part.recording.calls:
        outputs = (call.output,) if isinstance(call, RecordedCall) else call.outputs
        depends |= dict.fromkeys(
            (view.value for view in outputs), any(depends[view.value] for view in call.inputs)
        )
    return [depends[view.value] for view in part.results]


def _batched_custom(custom: Custom, operands: Sequence[Operand]) -> Custom:
    """Return a function with a gradient of its own for a batch of examples."""
    axes = [0 if operand.is_batched else None for operand in operands]

    def each_gradient(dy: Tensor, *xs: Tensor) -> list[Tensor]:
        gradients = custom(xs)[1](dy)
        return [gradients] if isinstance(gradients, Tensor) else list(gradients)

    def compute(xs: tuple[Tensor, ...]) -> tuple[Tensor, Callable[[Tensor], list[Tensor]]]:
        def gradient(dy: Tensor) -> list[Tensor]:
            parts = vmap(each_gradient, [0, *axes])(dy, *xs)
            return [p if axis == 0 else p.sum(0) for p, axis in zip(parts, axes, strict=True)]

        return vmap(lambda *x: custom(x)[0], axes)(*xs), gradient

    return compute
