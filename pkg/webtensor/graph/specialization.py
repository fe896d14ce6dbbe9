"""Specializing blocks: what follows from the shapes of the arguments is computed only once.

Graphs compute shapes as they compute anything else, from ``Shape`` nodes. For arguments of given
shapes these are constants, and so is what follows from them and from the weights. ``specialize``
runs a block and notes which values these are; the block that it returns has them in the place of
the steps that computed them, and functions that are bound to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.engine import Tensor
from webtensor.engine.placement import on_host
from webtensor.graph.blocks import Block, Reads, Step, compute
from webtensor.graph.compilation import released

__all__ = ["specialize"]

#: Constants with more elements are kept if they are not much larger than what they follow from.
_ALWAYS_KEPT = 1 << 16
_GROWTH = 4


def specialize(block: Block, arguments: Sequence[Any]) -> Reads:
    """Compute the results of a block, and return them with the block for such arguments.

    The block has no branches. Tensors that must be read before are yielded, as by ``run``.
    """
    values = block.initial.copy()
    for slot, argument in zip(block.feeds, arguments, strict=True):
        values[slot] = argument
    known = {slot for slot, value in enumerate(block.initial) if value is not None}
    static = known | {*block.feeds}
    steps = []
    for step in block.steps:
        is_constant = _is_constant(step, known, static)
        if is_constant:
            with on_host("constants"):
                yield from compute(step, values)
        else:
            yield from compute(step, values)
        if is_constant and _is_worth_keeping(step, values):
            known.update(step.outputs)
            static.update(step.outputs)
            continue
        if _has_static_shape(step, known, static):
            static.update(step.outputs)
        steps.append(step)
        for slot in step.releases:
            if slot not in known:
                values[slot] = None
    results = [values[slot] for slot in block.fetches]
    bound = [_bound(step, values, known) for step in steps]
    used = {slot for step in bound for slot in (*step.inputs, *step.operands)} | {*block.fetches}
    initial = [
        value if slot in known and slot in used else None for slot, value in enumerate(values)
    ]
    return results, block._replace(steps=released(bound, {*block.fetches} | known), initial=initial)


def _is_constant(step: Step, known: set[int], static: set[int]) -> bool:
    row = step.row
    if row is None or not row.is_pure:
        return False
    if row.is_of_shapes:
        return static.issuperset(step.operands)
    return known.issuperset(step.operands)


def _has_static_shape(step: Step, known: set[int], static: set[int]) -> bool:
    row = step.row
    return (
        row is not None
        and row.has_static_shape
        and static.issuperset(step.operands)
        and known.issuperset(step.reads)
    )


def _is_worth_keeping(step: Step, values: list[Any]) -> bool:
    results = sum(_size(values[slot]) for slot in step.outputs)
    return results <= max(
        _ALWAYS_KEPT, _GROWTH * sum(_size(values[slot]) for slot in step.operands)
    )


def _size(value: Any) -> int:
    return value.size if isinstance(value, Tensor) else 0


def _bound(step: Step, values: list[Any], known: set[int]) -> Step:
    """Return the step with the constants among its operands in its function."""
    if step.bind is None or known.isdisjoint(step.operands):
        return step
    constants = {
        index: values[slot]
        for index, slot in enumerate(step.operands)
        if slot in known and isinstance(values[slot], Tensor)
    }
    bound = step.bind(constants)
    return step._replace(
        function=bound.function,
        inputs=tuple(step.operands[index] for index in bound.inputs),
        reads=tuple(step.operands[index] for index in bound.reads),
        operands=tuple(step.operands[index] for index in bound.inputs),
        bind=None,
    )
