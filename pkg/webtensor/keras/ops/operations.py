"""Rows of the tables of ``keras.ops``, and what is made of them: functions, and operations.

A row says what computes, and which of its arguments are an operation's configuration. Called with
tensors, the function computes. Called with symbolic tensors, it makes an operation, a part of a
functional model, whose class has the name, the module and the configuration that it has in Keras.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar

from webtensor.explanation import MISUSE, raise_explained
from webtensor.keras.names import nearest
from webtensor.keras.nest import flatten, map_structure
from webtensor.keras.nodes import Node, Operation
from webtensor.keras.ops.documentation import DOCSTRINGS
from webtensor.keras.ops.unknown_dimensions import fitting_outcome
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.shape_inference import outcome_of_trial
from webtensor.keras.symbols import KerasTensor, any_symbolic
from webtensor.keras.types import Config, Shape
from webtensor.ops import tensor, zeros
from webtensor.shapes import normalize_axes

__all__ = ["Row", "Table", "binary", "elementwise", "like", "op", "plain", "reduction", "unary"]

#: What unknown lengths are in trials: short ones, longer ones, such as for a large window, and ones
#: that have many divisors.
_LENGTHS = ((2, 5), (83, 167), (60, 120))
Spec = Callable[..., Any]


class Row:
    """One function of ``keras.ops``."""

    def __init__(
        self,
        compute: Callable[..., Any],
        config: str = "",
        *,
        kind: str | None = None,
        keywords: str = "",
        names: str = "",
        spec: Spec | None = None,
        defaults: Mapping[str, Callable[[], Any]] | None = None,
        is_plain: bool = False,
    ) -> None:
        self.compute = compute
        #: Names of the arguments that are the operation's, not the call's.
        self.config = config.split()
        #: Names of the call's arguments that a configuration writes by name.
        self.keywords = keywords.split()
        #: The class in Keras, where it is not the function's name in camel case.
        self.kind = kind
        self._names = names.split()
        self.spec = spec
        #: What None stands for in a configuration, where that is a setting.
        self.defaults = defaults or {}
        #: Whether the function computes with symbolic tensors itself.
        self.is_plain = is_plain

    @cached_property
    def signature(self) -> Signature:
        """The function's signature."""
        if not self._names:
            return signature(self.compute)
        return Signature([Parameter(one, Parameter.POSITIONAL_OR_KEYWORD) for one in self._names])

    @cached_property
    def operands(self) -> list[str]:
        """Names of the call's arguments."""
        return [one for one in self.signature.parameters if one not in self.config]

    @cached_property
    def has_operands_first(self) -> bool:
        """Whether the call's arguments come before those of the configuration."""
        return list(self.signature.parameters)[: len(self.operands)] == self.operands

    def run(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Compute; arguments may be named."""
        if not kwargs or not self._names:
            return self.compute(*args, **kwargs)
        bound = self.signature.bind(*args, **kwargs)
        return self.compute(*bound.args, **bound.kwargs)

    def ordered(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], config: Mapping[str, Any]
    ) -> list[Any]:
        """Return the arguments of a call and those of a configuration in the function's order."""
        rest = iter(args)
        found: list[Any] = []
        for name, parameter in self.signature.parameters.items():
            if name in config:
                found.append(config[name])
            elif parameter.kind is Parameter.VAR_POSITIONAL:
                found += rest
            else:
                found.append(kwargs[name] if name in kwargs else next(rest, parameter.default))
        return found

    def split(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[Any], dict[str, Any]]:
        """Return the configuration, the call's arguments, and those that it names."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        operands: list[Any] = []
        named = {name: given[name] for name in self.keywords}
        for name in self.operands:
            kind = self.signature.parameters[name].kind
            if kind is Parameter.VAR_POSITIONAL:
                operands += given[name]
            elif kind is Parameter.VAR_KEYWORD:
                named |= given[name]
            elif name not in self.keywords:
                operands.append(given[name])
        config = {name: given[name] for name in self.config}
        for name, default in self.defaults.items():
            if config[name] is None:
                config[name] = default()
        return config, operands, named


class _Function(Operation):
    """An operation that a row describes; there is a class of it for each row."""

    row: ClassVar[Row]

    def __init__(self, *args: Any, name: str | None = None, **config: Any) -> None:
        super().__init__(name)
        given = self.row.signature
        kept = [given.parameters[one] for one in self.row.config]
        bound = Signature([one.replace(kind=Parameter.POSITIONAL_OR_KEYWORD) for one in kept])
        arguments = bound.bind(*args, **config)
        arguments.apply_defaults()
        self._config: Config = dict(arguments.arguments)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not any_symbolic(args, kwargs):
            return self.call(*args, **kwargs)
        output = self.compute_output_spec(*args, **kwargs)
        Node(self, args, kwargs, output)
        return output

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Compute."""
        row = self.row
        if row.has_operands_first:
            return row.run(args, {**kwargs, **self._config} if self._config else kwargs)
        return row.compute(*row.ordered(args, kwargs, self._config))

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return symbolic tensors like what ``call`` returns.

        Raises:
            TypeError, ValueError: the arguments do not fit.
        """
        try:
            if self.row.spec is not None:
                return self.row.spec(self.call, args, {**kwargs, **self._config})
            return _tried(self.call, args, kwargs)
        except (IndexError, TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"operation {self.name!r}: {error}") from error

    def compute_output_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shapes of what ``call`` returns, given those of its inputs."""
        found = self.compute_output_spec(*map(KerasTensor, args), **kwargs)
        return map_structure(lambda one: one.shape, found)

    def get_config(self) -> Config:
        """Return the arguments that would make another such operation."""
        return {"name": self.name, **serialize_keras_object(self._config)}

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Make an operation of what ``get_config`` returned."""
        return cls(
            **{
                key: deserialize_keras_object(one) if isinstance(one, dict) else one
                for key, one in config.items()
            }
        )


def _tried(compute: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return symbolic tensors like what a function returns, whatever unknown lengths are."""
    given = [one for one in flatten([*args, kwargs]) if isinstance(one, KerasTensor)]
    if not any(None in one.shape for one in given):
        return outcome_of_trial(compute, args, kwargs)
    reason: Exception | None = None
    for lengths in _LENGTHS:
        try:
            return outcome_of_trial(compute, args, kwargs, lengths)
        except (IndexError, TypeError, ValueError) as error:
            reason = reason or error
    try:
        return fitting_outcome(compute, args, kwargs)
    except ValueError:
        raise reason from None  # type: ignore[misc]


class Table:
    """The functions of one module of Keras, each made when it is first asked for."""

    def __init__(self, home: str, rows: Mapping[str, Row]) -> None:
        #: The module where Keras keeps the classes.
        self.home = home
        self.rows = rows
        self._functions: dict[str, Any] = {}
        self._classes: dict[str, type[_Function]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self.rows

    def function(self, name: str) -> Any:
        """Return the function of a name.

        Raises:
            AttributeError: there is none.
        """
        found = self._functions.get(name)
        if found is None:
            if name not in self.rows:
                raise AttributeError(
                    f"{self.home} has no function {name!r}{nearest(name, self.rows)}"
                )
            found = self._functions[name] = self._made(name, self.rows[name])
        return found

    def _made(self, name: str, row: Row) -> Any:
        def function(*args: Any, **kwargs: Any) -> Any:
            try:
                if not row.is_plain and any_symbolic(args, kwargs):
                    return self._noted(name, row, args, kwargs)
                return row.run(args, kwargs)
            except MISUSE as error:
                raise_explained(function, error, args, kwargs)

        function.__name__ = function.__qualname__ = name
        function.__module__ = "webtensor.keras.ops"
        function.__doc__ = DOCSTRINGS.get(name, row.compute.__doc__)
        function.__wrapped__ = row.compute  # type: ignore[attr-defined]
        if row._names:
            function.__signature__ = row.signature  # type: ignore[attr-defined]
        return function

    def _noted(self, name: str, row: Row, args: Any, kwargs: Any) -> Any:
        """Make a node of a functional model."""
        config, operands, named = row.split(args, kwargs)
        return self.operation(name)(**config)(*operands, **named)

    def operation(self, name: str) -> type[_Function]:
        """Return the class of a function's operations."""
        row = self.rows[name]
        kind = row.kind or _camel_case(name)
        operation = self._classes.get(kind)
        if operation is None:
            operation = type(kind, (_Function,), {"row": row, "keras_module": self.home})
            operation.__module__ = "webtensor.keras.ops"
            self._classes[kind] = operation
        return operation

    def class_named(self, kind: str) -> type[_Function] | None:
        """Return the class that a configuration names, or None."""
        for name, row in self.rows.items():
            if not row.is_plain and kind == (row.kind or _camel_case(name)):
                return self.operation(name)
        return None


def _camel_case(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


# -- rows ------------------------------------------------------------------------------------


def op(compute: Callable[..., Any], config: str = "", **facts: Any) -> Row:
    """A function whose result has a shape of its own, which a trial finds out."""
    return Row(compute, config, **facts)


def plain(compute: Callable[..., Any], **facts: Any) -> Row:
    """A function that is no operation: it makes or reads something, or takes functions."""
    return Row(compute, is_plain=True, **facts)


def like(compute: Callable[..., Any], config: str = "", **facts: Any) -> Row:
    """A function whose result has the shape and the dtype of its first argument."""
    return Row(compute, config, spec=_alike, **facts)


def elementwise(compute: Callable[..., Any], config: str = "", **facts: Any) -> Row:
    """A function of corresponding elements: shapes are broadcast."""
    return Row(compute, config, spec=_elementwise, **facts)


def reduction(compute: Callable[..., Any], config: str = "axis keepdims", **facts: Any) -> Row:
    """A function of ``x`` along axes, which its result has not, or as 1."""
    return Row(compute, config, spec=_reduced, **facts)


def unary(compute: Callable[..., Any], kind: str | None = None) -> Row:
    """A function of each element of ``x``."""
    return elementwise(compute, names="x", kind=kind)


def binary(compute: Callable[..., Any], kind: str | None = None, names: str = "x1 x2") -> Row:
    """A function of the corresponding elements of two tensors."""
    return elementwise(compute, names=names, kind=kind)


def _elementwise(
    compute: Callable[..., Any], args: tuple[Any, ...], given: dict[str, Any]
) -> KerasTensor:
    """Broadcast the shapes; a trial with single elements finds the dtype out."""
    shape: Shape = ()
    for arg in args:
        is_constant = isinstance(arg, (list, tuple)) and not any_symbolic((arg,), {})
        for one in (tensor(arg),) if is_constant else flatten(arg):
            shape = _broadcast(shape, getattr(one, "shape", ()))

    def single(one: Any) -> Any:
        return zeros((), one.dtype) if isinstance(one, KerasTensor) else one

    found = outcome_of_trial(compute, tuple(map_structure(single, args)), {})
    return KerasTensor(shape, found.dtype)


def _alike(
    compute: Callable[..., Any], args: tuple[Any, ...], given: dict[str, Any]
) -> KerasTensor:
    return KerasTensor(args[0].shape, args[0].dtype)


def _reduced(
    compute: Callable[..., Any], args: tuple[Any, ...], given: dict[str, Any]
) -> KerasTensor:
    x, axis, keepdims = args[0], given.get("axis"), given.get("keepdims", False)
    axes = normalize_axes("reduction", axis, len(x.shape))
    single = KerasTensor([1] * len(x.shape), x.dtype)
    found = outcome_of_trial(compute, (single, *args[1:]), {})
    lengths = [1 if place in axes else n for place, n in enumerate(x.shape)]
    shape = lengths if keepdims else [n for i, n in enumerate(lengths) if i not in axes]
    return KerasTensor(shape, found.dtype)


def _broadcast(first: Shape, second: Shape) -> Shape:
    """The shape of elements that correspond, where an unknown length may be any."""
    rank = max(len(first), len(second))
    rows = zip(
        (1,) * (rank - len(first)) + tuple(first),
        (1,) * (rank - len(second)) + tuple(second),
        strict=True,
    )
    lengths: list[int | None] = []
    for p, q in rows:
        if p == q or q == 1:
            lengths.append(p)
        elif p == 1 or p is None:
            lengths.append(q)
        elif q is None:
            lengths.append(p)
        else:
            raise ValueError(f"shapes {tuple(first)} and {tuple(second)} do not broadcast")
    return tuple(lengths)
