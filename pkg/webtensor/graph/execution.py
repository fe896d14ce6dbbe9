"""Executing graphs: blocks are compiled once for each choice of tensors, and for their shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from webtensor import ops
from webtensor.engine import Tensor, keep
from webtensor.engine.scopes import tensors_in
from webtensor.graph.blocks import Block, Reads, finish, run
from webtensor.graph.compilation import Compiler
from webtensor.graph.fusing import Program, fuse
from webtensor.graph.nodes import Nodes, Reference
from webtensor.graph.specialization import specialize
from webtensor.nest import map_structure
from webtensor.programs import Function

__all__ = ["Executor"]

#: The tensors that are fed, and those that are fetched.
_Key: TypeAlias = tuple[tuple[Reference, ...], tuple[Reference, ...]]

#: The maximum number of shapes of inputs for which blocks are kept.
_MAX_SPECIALIZED = 16


class Executor:
    """Computes tensors of a graph from others.

    What follows from the shapes of those that are given and from the weights is computed only the
    first time. From the second time on, what is computed is replayed (``programs``), unless it
    depends on elements or on a state.

    Args:
        compiler: compiles the nodes.
        nodes: the nodes of the graph.
        fuse: makes nodes one where a kernel computes them together.
    """

    def __init__(
        self, compiler: Compiler, nodes: Nodes, fuse: Callable[[Program], None] = fuse
    ) -> None:
        self._compiler, self._nodes, self._fuse = compiler, nodes, fuse
        self._blocks: dict[_Key, Block] = {}
        self._specialized: dict[tuple[_Key, Any], Block] = {}
        #: The specialized blocks as captured functions; None for those that cannot be captured.
        self._captured: dict[tuple[_Key, Any], Function[..., list[Any]] | None] = {}

    def clear(self) -> None:
        """Forget what was compiled."""
        self._blocks.clear()
        for key in list(self._specialized):
            self._forget(key)

    def run(self, feeds: Mapping[Reference, Any], fetches: Sequence[Reference]) -> Reads:
        """Compute tensors, as a list; yield those that must be read before.

        The caller may dispose each of them: none is an argument, a constant or another result.

        Raises:
            ModelFormatError: a tensor depends on itself or on something that is missing.
            ValueError: tensors do not fit.
        """
        tensors, arguments = (tuple(feeds), tuple(fetches)), list(feeds.values())
        key = tensors, _kind_of(arguments)
        special = self._specialized.get(key)
        if special is not None:
            captured = self._captured[key]
            if captured is not None:
                return captured(*arguments)
            return _separate((yield from run(special, arguments)))
        block = self.block(*tensors)
        if block.has_branches:
            return _separate((yield from run(block, arguments)))
        results, special = yield from specialize(self._compiler, block, arguments, self._fuse)
        if len(self._specialized) >= _MAX_SPECIALIZED:
            self._forget(next(iter(self._specialized)))
        _keep_constants(special)
        self._specialized[key] = special
        self._captured[key] = (
            Function(partial(_results, special), is_strict=False) if _is_pure(special) else None
        )
        constants = [*block.initial, *special.initial]
        return _separate(results, [*arguments, *constants] if _is_pure(block) else None)

    def _forget(self, key: tuple[_Key, Any]) -> None:
        del self._specialized[key]
        captured = self._captured.pop(key)
        if captured is not None:
            captured.clear()

    def block(self, feeds: Sequence[Reference], fetches: Sequence[Reference]) -> Block:
        """Return the steps that compute tensors from others, for any shapes of these.

        Raises:
            ModelFormatError: a tensor depends on itself or on something that is missing.
        """
        key = tuple(feeds), tuple(fetches)
        if key not in self._blocks:
            self._blocks[key] = self._compiler.compile(self._nodes, *key)
            _keep_constants(self._blocks[key])
        return self._blocks[key]


def _keep_constants(block: Block) -> None:
    """Let a block's constants outlive the ``wt.tidy`` block in which it was compiled."""
    for value in block.initial:
        if isinstance(value, Tensor):
            keep(value)


def _is_pure(block: Block) -> bool:
    """Whether equal arguments give equal results, and nothing else happens."""
    return all(
        step.row is not None and step.row.is_pure and not step.runs_blocks for step in block.steps
    )


def _results(block: Block, *arguments: Any) -> list[Any]:
    return _separate(finish(run(block, arguments)), [*arguments, *block.initial])


def _separate(results: list[Any], shared: Sequence[Any] | None = None) -> list[Any]:
    """Return results of which none is another, or among ``shared``: by default, all may be."""
    used = None if shared is None else set(map(id, tensors_in(shared)))

    def separate(value: Any) -> Any:
        if isinstance(value, Tensor) and (used is None or id(value) in used):
            return ops.clone(value)
        if used is not None:
            used.add(id(value))
        return value

    separated: list[Any] = map_structure(separate, results)
    return separated


def _kind_of(value: Any) -> Any:
    """Return what is known of a value without its elements: shapes and dtypes."""
    if isinstance(value, Tensor):
        return value.shape, value.dtype
    if isinstance(value, (list, tuple)):
        return tuple(map(_kind_of, value))
    return type(value)
