"""Specializing blocks: what follows from the shapes of the arguments is computed only once.

Graphs compute shapes as they compute anything else, from ``Shape`` nodes. For arguments of given
shapes these are constants, and so is what follows from them and from the weights. ``specialize``
runs a block and notes which values these are. The nodes of all others, with these as constants,
are fused (``fusing``) and compiled again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor.engine import Tensor
from webtensor.engine.placement import on_host
from webtensor.graph.blocks import Block, Reads, Step, compute
from webtensor.graph.compilation import Compiler
from webtensor.graph.fusing import Program
from webtensor.graph.nodes import Node, Reference

__all__ = ["specialize"]

#: Constants with more elements are kept if they are not much larger than what they follow from.
_ALWAYS_KEPT = 1 << 16
_GROWTH = 4


def specialize(
    compiler: Compiler, block: Block, arguments: Sequence[Any], fuse: Callable[[Program], None]
) -> Reads:
    """Compute the results of a block, and return them with a block for such arguments.

    The block has no branches. Tensors that must be read before are yielded, as by ``run``.
    ``fuse`` changes the nodes that are compiled again.
    """
    recording = _Recording(block, arguments)
    yield from recording.run()
    program = recording.program()
    fuse(program)
    feeds = [block.references[slot] for slot in block.feeds]
    return recording.results, compiler.compile_program(
        program.nodes, feeds, program.fetches, program.constants
    )


class _Recording:
    """A run of a block, and what was found out about its values."""

    def __init__(self, block: Block, arguments: Sequence[Any]) -> None:
        self._block = block
        self._values = block.initial.copy()
        for slot, argument in zip(block.feeds, arguments, strict=True):
            self._values[slot] = argument
        #: Slots whose values follow from the weights and the shapes of the arguments.
        self._constant_slots = {
            slot for slot, value in enumerate(block.initial) if value is not None
        }
        #: Slots whose values have shapes that follow from those.
        self._static = self._constant_slots | {*block.feeds}
        self._steps: list[Step] = []
        self._shapes = {slot: self._shape(slot) for slot in self._static}
        self.results: list[Any] = []

    def _shape(self, slot: int) -> tuple[int, ...] | None:
        value = self._values[slot]
        return value.shape if isinstance(value, Tensor) else None

    def run(self) -> Reads:
        """Run the block."""
        values, where = self._values, self._block.where
        for step, releases in zip(self._block.steps, self._block.releases, strict=True):
            is_constant = self._is_constant(step)
            if is_constant:
                with on_host("constants"):
                    yield from compute(step, values, where)
            else:
                yield from compute(step, values, where)
            self._note(step, is_constant and self._is_worth_keeping(step))
            for slot in releases:
                if slot not in self._constant_slots:
                    values[slot] = None
        self.results = [values[slot] for slot in self._block.fetches]

    def _note(self, step: Step, is_known: bool) -> None:
        if is_known:
            self._constant_slots.update(step.outputs)
        else:
            self._steps.append(step)
        if is_known or self._has_static_shape(step):
            self._static.update(step.outputs)
            self._shapes.update((slot, self._shape(slot)) for slot in step.outputs)

    def _is_constant(self, step: Step) -> bool:
        row = step.row
        if row is None or not row.is_pure:
            return False
        return (self._static if row.is_of_shapes else self._constant_slots).issuperset(
            step.operands
        )

    def _has_static_shape(self, step: Step) -> bool:
        return (
            step.row is not None
            and step.row.has_static_shape
            and self._static.issuperset(step.operands)
            and self._constant_slots.issuperset(step.reads)
        )

    def _is_worth_keeping(self, step: Step) -> bool:
        if not all(isinstance(self._values[slot], Tensor) for slot in step.outputs):
            return False
        results, operands = map(self._elements, (step.outputs, step.operands))
        return results <= max(_ALWAYS_KEPT, _GROWTH * operands)

    def _elements(self, slots: Sequence[int]) -> int:
        values = (self._values[slot] for slot in slots)
        return sum(value.size for value in values if isinstance(value, Tensor))

    def program(self) -> Program:
        """Return the nodes that are left, whose other inputs are constants."""
        references = self._block.references
        constant_values = {
            references[slot]: self._values[slot]
            for slot in self._constant_slots
            if isinstance(self._values[slot], Tensor)
        }
        constants: dict[str, Tensor] = {}

        def operand(reference: Reference) -> Reference:
            """Return what a tensor is called now: each that is constant has a node of its own."""
            if reference not in constant_values:
                return reference
            name = str(reference)
            constants[name] = constant_values[reference]
            return Reference(name)

        steps = {
            name: Node(name, op, tuple([operand(source) for source in inputs]), (), attributes)
            for name, op, inputs, _, attributes in [step.node for step in self._steps]
        }
        fetches = [operand(references[slot]) for slot in self._block.fetches]
        shapes = {
            references[slot]: shape
            for slot, shape in self._shapes.items()
            if shape is not None and references[slot] not in constant_values
        }
        return Program(
            {**{name: Node(name, "Const", (), (), {}) for name in constants}, **steps},
            constants,
            {**shapes, **{Reference(name): value.shape for name, value in constants.items()}},
            fetches,
        )
