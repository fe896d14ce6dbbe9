"""Which calls of a recording a replay can do without: unused, repeated and constant ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from webtensor.engine import Storage
from webtensor.nest import map_structure
from webtensor.programs.recording import RecordedCall, Recording, Source, View
from webtensor.shapes import prod

if TYPE_CHECKING:
    from webtensor.programs.loops import RecordedLoop, RecordedPass

__all__ = ["divided", "replaced", "simplified"]

_Call: TypeAlias = "RecordedCall | RecordedLoop | RecordedPass"

#: The value of a constant call may take this many bytes, or as many as its operands.
_FEW_BYTES = 1 << 16


def simplified(recording: Recording, results: Iterable[View]) -> tuple[list[_Call], dict[int, int]]:
    """Return the calls that are needed, each once, and what replaces the values of others."""
    same: dict[int, int] = {}
    first: dict[Any, int] = {}
    calls: list[_Call] = []
    for call in recording.calls:
        inputs = tuple(replaced(view, same) for view in call.inputs)
        if not isinstance(call, RecordedCall):
            calls.append(call._replace(inputs=inputs))
            continue
        key = _key(call, inputs)
        value = call.output.value
        earlier = value if call.late is not None else first.setdefault(key, value)
        if earlier == value:
            calls.append(call._replace(inputs=inputs))
        else:
            same[value] = earlier
    needed = {replaced(view, same).value for view in results}
    needed_calls: list[_Call] = []
    for call in reversed(calls):
        if not needed.isdisjoint(view.value for view in _outputs(call)):
            needed.update(view.value for view in call.inputs)
            needed_calls.append(call)
    return needed_calls[::-1], same


def _key(call: RecordedCall, inputs: tuple[View, ...]) -> tuple[Any, ...]:
    """Return what two calls have in common that make the same elements."""
    _, shape, dtype = call.output
    kernel = call.primitive.kernel
    attributes = repr(map_structure(_shown, call.attributes))
    if kernel == "concat":  # whatever the shapes, the elements follow from its attributes
        return kernel, tuple(view.value for view in inputs), dtype, attributes
    return kernel, inputs, shape, dtype, attributes


def _shown(leaf: Any) -> Any:
    """Return a number or a text, and the identity of others: arrays may differ and read alike."""
    return leaf if isinstance(leaf, (int, float, complex, str)) else id(leaf)


def divided(
    calls: Sequence[_Call], sources: Mapping[int, Source], results: set[int]
) -> tuple[list[RecordedCall], list[_Call]]:
    """Return the calls that compute constants from constants, and the others.

    A call whose value is a result, or takes too much memory to be kept, is among the others.
    """
    constants = {value for value, source in sources.items() if isinstance(source, Storage)}
    constant: list[RecordedCall] = []
    others: list[_Call] = []
    for call in calls:
        if (
            isinstance(call, RecordedCall)
            and call.late is None
            and call.output.value not in results
            and constants.issuperset(view.value for view in call.inputs)
            and _bytes(call.output) <= max(_FEW_BYTES, sum(map(_bytes, call.inputs)))
        ):
            constant.append(call)
            constants.add(call.output.value)
        else:
            others.append(call)
    return constant, others


def _bytes(view: View) -> int:
    return prod(view.shape) * view.dtype.itemsize


def _outputs(call: _Call) -> tuple[View, ...]:
    return (call.output,) if isinstance(call, RecordedCall) else call.outputs


def replaced(view: View, same: dict[int, int]) -> View:
    """Return a view of the value that replaces another one, if one does."""
    return view._replace(value=same.get(view.value, view.value))
