"""Blocks: steps that compute tensors from others, in an order in which they can run.

A graph, the body of a function and that of a loop are a block each. ``run`` is a generator: it
yields the tensors whose elements the host must know before it can go on, and coroutines, so that a
synchronous caller reads or runs them, and an asynchronous one awaits them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, NamedTuple

from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.graph.nodes import Node, Reference
from webtensor.graph.operations import Row
from webtensor.io.handlers import without_awaiting

__all__ = ["DEAD", "Block", "Reads", "Step", "compute", "finish", "finish_async", "run"]

Reads = Generator[Tensor | Awaitable[Any], Any, Any]

#: What functions raise when the graph gives them something else than they take.
_MISFITS = (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError)


class _Dead:
    """The value of tensors on a branch that was not taken."""

    def __repr__(self) -> str:
        return "DEAD"


DEAD = _Dead()


class Step(NamedTuple):
    """A node that is computed; tensors are numbers of slots.

    Attributes:
        function: it takes the values of ``inputs``.
        inputs: what it takes.
        outputs: where its results go.
        reads: the inputs whose elements the host must know.
        controls: what must not be dead, besides the inputs.
        runs_blocks: whether it returns a generator, as ``run`` does.
        operands: all inputs of the node, of which ``inputs`` are some.
        node: the node.
        row: its row in the table of operations, or None where it has none.
    """

    function: Callable[..., Any]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    reads: tuple[int, ...]
    controls: tuple[int, ...]
    runs_blocks: bool
    operands: tuple[int, ...]
    node: Node
    row: Row | None


class Block(NamedTuple):
    """Steps in order.

    Attributes:
        steps: the steps.
        releases: for each step the slots that no later one needs.
        initial: the values of all slots before the first step: constants, and None.
        feeds: the slots of the arguments.
        fetches: the slots of the results.
        has_branches: whether values may be dead.
        references: the tensors of the slots.
        where: what errors call the model.
    """

    steps: tuple[Step, ...]
    releases: tuple[tuple[int, ...], ...]
    initial: list[Any]
    feeds: tuple[int, ...]
    fetches: tuple[int, ...]
    has_branches: bool
    references: tuple[Reference, ...]
    where: str


def run(block: Block, arguments: Sequence[Any]) -> Reads:
    """Compute the results of a block, as a list; yield tensors that must be read before."""
    values = block.initial.copy()
    for slot, argument in zip(block.feeds, arguments, strict=True):
        values[slot] = argument
    for step, releases in zip(block.steps, block.releases, strict=True):
        if block.has_branches and _is_dead(step, values):
            for slot in step.outputs:
                values[slot] = DEAD
            continue
        yield from compute(step, values, block.where)
        for slot in releases:
            values[slot] = None
    return [values[slot] for slot in block.fetches]


def compute(step: Step, values: list[Any], where: str) -> Reads:
    """Compute a step, and put its results where later steps find them.

    Raises:
        ValueError: the inputs are not what the operation takes, or the node has too few outputs.
    """
    for slot in step.reads:
        value = values[slot]
        if isinstance(value, Tensor) and value.storage.host is None and value.storage.is_readable:
            yield value
    try:
        result = step.function(*[values[slot] for slot in step.inputs])
        if step.runs_blocks:
            result = yield from result
    except _MISFITS as error:
        misfit = ValueError(str(error) or type(error).__name__)
        misfit.add_note(_place(step, where))
        raise misfit from error
    except Exception as error:
        if not getattr(error, "__notes__", None):
            error.add_note(_place(step, where))
        raise
    results = result if isinstance(result, (tuple, list)) else (result,)
    if len(results) < len(step.outputs) and len(step.outputs) > 1:
        raise ModelFormatError(
            f"{where}: node {step.node.name!r:.200} of operation {step.node.op} has no output "
            f"{len(step.outputs) - 1}"
        )
    for slot, value in zip(step.outputs, results, strict=False):
        values[slot] = value


def finish(reads: Reads) -> Any:
    """Return what a generator such as ``run`` computes; read the tensors that it yields."""

    def read(value: Tensor | Awaitable[Any]) -> Any:
        if isinstance(value, Tensor):
            return value.data_sync()
        return without_awaiting(lambda: _awaited(value), "execute", "execute_async")

    try:
        value = next(reads)
        while True:
            value = reads.send(read(value))
    except StopIteration as stop:
        return stop.value


async def finish_async(reads: Reads) -> Any:
    """Return what a generator such as ``run`` computes, without blocking the page."""
    try:
        value = next(reads)
        while True:
            value = reads.send(await _awaited(value))
    except StopIteration as stop:
        return stop.value


async def _awaited(value: Any) -> Any:
    return await (value.data() if isinstance(value, Tensor) else value)


def _place(step: Step, where: str) -> str:
    name, op = step.node.name, step.node.op
    return f"This happened in node {name!r:.200} of operation {op} in {where}."


def _is_dead(step: Step, values: list[Any]) -> bool:
    if any(values[slot] is DEAD for slot in step.controls):
        return True
    dead = (values[slot] is DEAD for slot in step.inputs)
    return all(dead) and bool(step.inputs) if step.node.op == "Merge" else any(dead)
