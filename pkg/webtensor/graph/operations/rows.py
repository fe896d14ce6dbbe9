"""Rows of the table of operations: which function computes one, and where its arguments are.

``Row("sum", 0, axis=axes(1), keepdims=boolean("keep_dims"))`` says that ``wt.sum`` is called with
the first input, the integers of the second, and an attribute. An integer is the index of a tensor
among the inputs; negative ones count from the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.graph.nodes import Node

__all__ = ["Argument", "Attribute", "Bound", "Host", "Part", "Row", "Tensors"]


class Attribute(NamedTuple):
    """An argument that follows from the attributes of a node."""

    of: Callable[[Node], Any]


@dataclass(frozen=True)
class Host:
    """An argument made of the elements of an input, such as a shape.

    Attributes:
        index: the index of the input.
        of: makes the argument of the input's value.
        default: the argument where the node has no such input; by default that is an error.
    """

    index: int
    of: Callable[[Tensor], Any]
    default: Any = ...


class Tensors(NamedTuple):
    """A list of the inputs from ``start`` to ``stop``."""

    start: int = 0
    stop: int | None = None

    def indices(self, count: int) -> range:
        """Return the indices of these of ``count`` inputs."""
        return range(count)[self.start : self.stop]


class Part(NamedTuple):
    """A list of inputs, where they are ``parts`` lists of the same size, one after another."""

    position: int
    parts: int

    def indices(self, count: int) -> range:
        """Return the indices of these of ``count`` inputs."""
        size = count // self.parts
        return range(count)[self.position * size :][:size]


Argument: TypeAlias = int | Host | Attribute | Part | Tensors


class Bound(NamedTuple):
    """What computes a node.

    Attributes:
        function: it takes the values of ``inputs``, and returns that of the node, or a sequence
            where it has several outputs.
        inputs: the indices of the inputs that it needs.
        reads: the indices of those whose elements the host must know before the call.
        runs_blocks: whether the function returns a generator, as ``blocks.run`` does.
    """

    function: Callable[..., Any]
    inputs: tuple[int, ...]
    reads: tuple[int, ...] = ()
    runs_blocks: bool = False


class Row:
    """What computes the nodes of an operation.

    Args:
        function: a function, or its name in ``webtensor``.
        arguments: where its arguments are in the inputs and attributes of the node.
        options: where its arguments by keyword are.
    """

    def __init__(
        self, function: str | Callable[..., Any], *arguments: Argument, **options: Argument
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.options = options
        inputs = [argument for argument in arguments if isinstance(argument, int)]
        #: The arguments by position where all are inputs.
        self._inputs = inputs if len(inputs) == len(arguments) else None
        self.reads: tuple[int | Part | Tensors, ...] = ()
        #: Whether equal inputs give equal results, so that the result of constants is constant.
        self.is_pure = True
        #: Whether the shapes of results follow from those of the inputs.
        self.has_static_shape = True
        #: Whether results follow from the shapes of the inputs alone.
        self.is_of_shapes = False
        #: Whether the function returns a generator, as ``blocks.run`` does.
        self.runs_blocks = False

    def reading(self, *indices: int | Part | Tensors) -> Row:
        """Return the row of a function that looks at the elements of these inputs on the host."""
        return self._changed(reads=indices)

    def impure(self) -> Row:
        """Return the row of a function with a state, or of random numbers."""
        return self._changed(is_pure=False)

    def dynamic(self) -> Row:
        """Return the row of a function the shape of whose results depends on elements."""
        return self._changed(has_static_shape=False)

    def of_shapes(self) -> Row:
        """Return the row of a function that looks at shapes only."""
        return self._changed(is_of_shapes=True)

    def running_blocks(self) -> Row:
        """Return the row of a function that returns a generator, as ``blocks.run`` does."""
        return self._changed(runs_blocks=True)

    def _changed(self, **attributes: Any) -> Row:
        row = copy(self)
        vars(row).update(attributes)
        return row

    def bind(self, node: Node, constants: Mapping[int, Tensor], where: str) -> Bound:
        """Return what computes a node.

        Args:
            node: the node.
            constants: the values of those inputs that are constant, by their index.
            where: what errors call the model.

        Raises:
            ModelFormatError: an input or attribute is missing or impossible.
        """
        try:
            return self._bind(node, constants)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            reason = f"no attribute {error}" if isinstance(error, KeyError) else str(error)
            raise ModelFormatError(
                f"{where}: node {node.name!r:.200} of operation {node.op}: {reason}"
            ) from error

    def _bind(self, node: Node, constants: Mapping[int, Tensor]) -> Bound:
        function = resolved(self.function)
        reads = tuple([index for part in self.reads for index in _indices(part, node)])
        fixed: dict[str, Any] = {}
        late: dict[str, _Located] = {}
        for name, argument in self.options.items():
            if isinstance(argument, Attribute):
                fixed[name] = argument.of(node)
                continue
            part = _located(argument, node, constants)
            if part.indices:
                late[name] = part
            else:
                fixed[name] = part.value
        if not late and self._inputs is not None:
            inputs = tuple([_index(index, node) for index in self._inputs])
            function = partial(function, **fixed) if fixed else function
            return Bound(function, inputs, reads, self.runs_blocks)
        positional = [_located(argument, node, constants) for argument in self.arguments]
        parts = (*positional, *late.values())
        inputs = tuple(dict.fromkeys(index for part in parts for index in part.indices))
        host = (index for part in parts if part.is_on_host for index in part.indices)

        def call(*values: Any) -> Any:
            at = dict(zip(inputs, values, strict=True))
            return function(
                *(part.of(at) for part in positional),
                **fixed,
                **{name: part.of(at) for name, part in late.items()},
            )

        return Bound(call, inputs, tuple(dict.fromkeys((*reads, *host))), self.runs_blocks)


class _Located(NamedTuple):
    """An argument of a node: its value, or the indices of the inputs that it is made of."""

    value: Any
    indices: tuple[int, ...] = ()
    make: Callable[[list[Any]], Any] | None = None
    is_on_host: bool = False

    def of(self, at: Mapping[int, Any]) -> Any:
        if self.make is None:
            return self.value
        return self.make([at[index] for index in self.indices])


def _first(values: list[Any]) -> Any:
    return values[0]


def _located(argument: Argument, node: Node, constants: Mapping[int, Tensor]) -> _Located:
    if isinstance(argument, Attribute):
        return _Located(argument.of(node))
    if isinstance(argument, (Part, Tensors)):
        return _Located(None, _indices(argument, node), list)
    if isinstance(argument, int):
        return _Located(None, (_index(argument, node),), _first)
    count = len(node.inputs)
    if argument.default is not ... and not -count <= argument.index < count:
        return _Located(argument.default)
    index = _index(argument.index, node)
    if index in constants:
        return _Located(argument.of(constants[index]))
    return _Located(None, (index,), lambda values: argument.of(values[0]), is_on_host=True)


def _indices(part: int | Part | Tensors, node: Node) -> tuple[int, ...]:
    return (_index(part, node),) if isinstance(part, int) else (*part.indices(len(node.inputs)),)


def _index(index: int, node: Node) -> int:
    count = len(node.inputs)
    if not -count <= index < count:
        raise ValueError(f"it has {count} inputs, but needs the one of index {index}")
    return index % count


def resolved(function: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that a name such as "image.resize_bilinear" stands for."""
    return _named(function) if isinstance(function, str) else function


@cache
def _named(function: str) -> Callable[..., Any]:
    value: Any = import_module("webtensor")
    for name in function.split("."):
        value = getattr(value, name)
    public_function: Callable[..., Any] = value
    return public_function
