"""Scopes in TensorFlow.js's manner: ``tidy``, ``keep``, ``dispose``.

Python frees a tensor with its last reference, so these are seldom needed: for cycles, for code
carried over from TensorFlow.js, and to be sure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, overload
from weakref import ref

from webtensor.engine.state import state
from webtensor.engine.tensor import Tensor

__all__ = ["dispose", "keep", "outside_scopes", "tensors_in", "tidy"]

Result = TypeVar("Result")

#: What was made in each scope that is open now.
_open: list[list[ref[Tensor]]] = []


def tensors_in(container: Any) -> Iterator[Tensor]:
    """Every tensor in nested lists, tuples, sets and mappings."""
    if isinstance(container, Tensor):
        yield container
    elif isinstance(container, Mapping):
        for value in container.values():
            yield from tensors_in(value)
    elif isinstance(container, (list, tuple, set, frozenset)):
        for value in container:
            yield from tensors_in(value)


class Scope:
    """A block after which the tensors made in it are disposed, save those kept."""

    def __init__(self) -> None:
        self._kept: list[Tensor] = []
        self._made: list[ref[Tensor]] = []
        self._outer: list[ref[Tensor]] | None = None

    def __enter__(self) -> Scope:
        self._outer = state.scope
        state.scope = self._made
        _open.append(self._made)
        return self

    def keep(self, container: Any) -> Any:
        """Let tensors made in this block outlive it; returns what it was given."""
        self._kept.extend(tensors_in(container))
        return container

    def __exit__(self, *_: object) -> None:
        state.scope = self._outer
        _open.pop()
        outlives = {id(tensor) for tensor in self._kept}
        for tape in state.variable_readers:  # gradients are computed after the block
            outlives |= tape.held()
        for made in self._made:
            tensor = made()
            if tensor is None:
                continue
            if id(tensor) not in outlives:
                tensor.dispose()
            elif self._outer is not None:
                self._outer.append(made)
        self._kept, self._made = [], []


@overload
def tidy() -> Scope: ...
@overload
def tidy(function: Callable[[], Result]) -> Result: ...


def tidy(function: Callable[[], Result] | None = None) -> Scope | Result:
    """Dispose the tensors that a block or a function made, except what it returns or keeps.

    With a function, calls it and returns its result, whose tensors live on. Without one, returns a
    context manager whose ``keep`` names the tensors that live on.

    Example:
        >>> import webtensor as wt
        >>> wt.tidy(lambda: wt.add(1.0, 2.0)).tolist()
        3.0
        >>> with wt.tidy() as scope:
        ...     total = scope.keep(wt.sum(wt.ones((3,))))
        >>> total.tolist()
        3.0
    """
    scope = Scope()
    if function is None:
        return scope
    with scope:
        return scope.keep(function())  # type: ignore[no-any-return]


def keep(tensor: Tensor) -> Tensor:
    """Let a tensor outlive the scopes it was made in; free it with ``dispose`` or by dropping it.

    Raises:
        TypeError: not a tensor.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"keep: tensor must be a Tensor, but got {type(tensor).__name__}")
    for scope in _open:
        scope[:] = [made for made in scope if made() is not tensor]
    return tensor


def dispose(container: Any) -> None:
    """Dispose a tensor, or every tensor in nested lists, tuples and dictionaries."""
    for tensor in tensors_in(container):
        tensor.dispose()


@contextmanager
def outside_scopes() -> Iterator[None]:
    """Make tensors that no scope will dispose."""
    scope, state.scope = state.scope, None
    try:
        yield
    finally:
        state.scope = scope
