"""Rows of the tables of ``keras.ops``, and the functions and operations that they become.

A row names the Python function that computes, and the arguments that are an operation's
configuration. Called with tensors, the function of ``keras.ops`` computes. Called with symbolic
tensors, it adds an operation to a functional model; the operation's class has the name, the module
and the configuration that it has in Keras.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar, Protocol, TypeAlias, TypedDict, Unpack

from webtensor.explanation import MISUSE, raise_explained
from webtensor.keras.names import nearest
from webtensor.keras.nodes import Node, Operation
from webtensor.keras.ops.documentation import DOCSTRINGS
from webtensor.keras.ops.unknown_dimensions import fitting_outcome
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.shape_inference import outcome_of_trial
from webtensor.keras.symbols import KerasTensor, any_symbolic
from webtensor.keras.types import Config, Operand, Shape
from webtensor.nest import flatten, map_structure
from webtensor.ops import tensor, zeros
from webtensor.shapes import normalize_axes, reduced_shape

__all__ = [
    "Arguments",
    "Computation",
    "Row",
    "Table",
    "binary",
    "elementwise",
    "like",
    "op",
    "plain",
    "reduction",
    "unary",
]

#: Pairs of sizes that trials substitute for unknown dimensions: small ones, larger ones, such as a
#: large window needs, and ones with many divisors.
_TRIAL_SIZES = ((2, 5), (83, 167), (60, 120))

#: A function of tensors; what it returns depends on the row.
Computation: TypeAlias = Callable[..., object]
#: The positional arguments of a call.
Arguments: TypeAlias = tuple[Operand, ...]


class Spec(Protocol):
    """Infer symbolic results from the arguments of a call and the operation's configuration."""

    def __call__(self, compute: Computation, args: Arguments, config: Config, /) -> object:
        """Return symbolic tensors, or a structure of them."""


class _Options(TypedDict, total=False):
    """Arguments of ``Row`` beside the function and its configuration."""

    class_name: str | None
    keywords: str
    names: str
    spec: Spec | None
    defaults: Mapping[str, Callable[[], object]] | None


class Row:
    """One function of ``keras.ops``."""

    def __init__(
        self,
        compute: Computation,
        config: str = "",
        *,
        class_name: str | None = None,
        keywords: str = "",
        names: str = "",
        spec: Spec | None = None,
        defaults: Mapping[str, Callable[[], object]] | None = None,
        is_plain: bool = False,
    ) -> None:
        self.compute = compute
        #: Names of the arguments that belong to the operation's configuration, not to its calls.
        self.config = config.split()
        #: Names of the call's arguments that a model's configuration stores by name.
        self.keywords = keywords.split()
        #: The name of the class in Keras, where it is not the function's name in camel case.
        self.class_name = class_name
        self._names = names.split()
        self.spec = spec
        #: Functions that return what None stands for, of arguments whose default is a setting.
        self.defaults = defaults or {}
        #: Whether the function handles symbolic tensors itself, without an operation.
        self.is_plain = is_plain

    @cached_property
    def signature(self) -> Signature:
        """The function's signature."""
        if not self._names:
            return signature(self.compute)
        return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in self._names])

    @cached_property
    def operands(self) -> list[str]:
        """Names of the call's arguments."""
        return [name for name in self.signature.parameters if name not in self.config]

    @cached_property
    def has_operands_first(self) -> bool:
        """Whether the call's arguments come before those of the configuration."""
        return list(self.signature.parameters)[: len(self.operands)] == self.operands

    def run(self, args: Sequence[Operand], kwargs: Mapping[str, Operand]) -> object:
        """Call the function; keywords may be those of the signature of the row."""
        if not kwargs or not self._names:
            return self.compute(*args, **kwargs)
        bound = self.signature.bind(*args, **kwargs)
        return self.compute(*bound.args, **bound.kwargs)

    def ordered(
        self, args: Sequence[Operand], kwargs: Mapping[str, Operand], config: Config
    ) -> list[Operand]:
        """Return the arguments of a call and those of a configuration in the function's order."""
        positional = iter(args)
        arguments: list[Operand] = []
        for name, parameter in self.signature.parameters.items():
            if name in config:
                arguments.append(config[name])
            elif parameter.kind is Parameter.VAR_POSITIONAL:
                arguments += positional
            elif name in kwargs:
                arguments.append(kwargs[name])
            else:
                arguments.append(next(positional, parameter.default))
        return arguments

    def split(
        self, args: Sequence[Operand], kwargs: Mapping[str, Operand]
    ) -> tuple[Config, list[Operand], dict[str, Operand]]:
        """Split arguments into the configuration and the call's, by position and by name."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        operands: list[Operand] = []
        keywords = {name: arguments[name] for name in self.keywords}
        for name in self.operands:
            kind = self.signature.parameters[name].kind
            if kind is Parameter.VAR_POSITIONAL:
                operands += arguments[name]
            elif kind is Parameter.VAR_KEYWORD:
                keywords |= arguments[name]
            elif name not in self.keywords:
                operands.append(arguments[name])
        config = {name: arguments[name] for name in self.config}
        for name, default in self.defaults.items():
            if config[name] is None:
                config[name] = default()
        return config, operands, keywords


class _Function(Operation):
    """An operation that a row describes; each row has a subclass of its own."""

    row: ClassVar[Row]

    def __init__(self, *args: Any, name: str | None = None, **config: Any) -> None:
        super().__init__(name)
        declared = self.row.signature.parameters
        parameters = [
            declared[name].replace(kind=Parameter.POSITIONAL_OR_KEYWORD) for name in self.row.config
        ]
        arguments = Signature(parameters).bind(*args, **config)
        arguments.apply_defaults()
        self._config: Config = dict(arguments.arguments)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not any_symbolic(args, kwargs):
            return self.call(*args, **kwargs)
        output = self.compute_output_spec(*args, **kwargs)
        Node(self, args, kwargs, output)
        return output

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function of the row with the arguments and the configuration."""
        row = self.row
        if row.has_operands_first:
            return row.run(args, {**kwargs, **self._config} if self._config else kwargs)
        return row.compute(*row.ordered(args, kwargs, self._config))

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return the symbolic tensors that stand for what ``call`` returns.

        Raises:
            TypeError, ValueError: the arguments do not fit.
        """
        try:
            if self.row.spec is not None:
                return self.row.spec(self.call, args, {**kwargs, **self._config})
            return _spec_of_trials(self.call, args, kwargs)
        except (IndexError, TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"operation {self.name!r}: {error}") from error

    def compute_output_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shapes of what ``call`` returns for inputs of the given shapes."""
        outputs = self.compute_output_spec(*map(KerasTensor, args), **kwargs)
        return map_structure(lambda output: output.shape, outputs)

    def get_config(self) -> Config:
        """Return the name and the arguments that create an equal operation."""
        return {"name": self.name, **serialize_keras_object(self._config)}

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Create an operation from what ``get_config`` returned."""
        return cls(
            **{
                name: deserialize_keras_object(value) if isinstance(value, dict) else value
                for name, value in config.items()
            }
        )


def _spec_of_trials(compute: Computation, args: Arguments, kwargs: Config) -> object:
    """Return symbolic results by calling the function with sizes for the unknown dimensions.

    Raises:
        IndexError, TypeError, ValueError: the function raises with all sizes.
    """
    symbolic = [leaf for leaf in flatten([*args, kwargs]) if isinstance(leaf, KerasTensor)]
    if not any(None in tensor.shape for tensor in symbolic):
        return outcome_of_trial(compute, args, kwargs)
    errors: list[Exception] = []
    for sizes in _TRIAL_SIZES:
        try:
            return outcome_of_trial(compute, args, kwargs, sizes)
        except (IndexError, TypeError, ValueError) as error:
            errors.append(error)
    try:
        return fitting_outcome(compute, args, kwargs)
    except ValueError:
        raise errors[0] from None


class Table:
    """The functions of one module of Keras, each created when it is first used."""

    def __init__(self, home: str, rows: Mapping[str, Row]) -> None:
        #: The module of the operations' classes in Keras.
        self.home = home
        self.rows = rows
        self._functions: dict[str, Callable[..., Any]] = {}
        self._classes: dict[str, type[_Function]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self.rows

    def function(self, name: str) -> Callable[..., Any]:
        """Return the function of a row.

        Raises:
            AttributeError: the table has no row of this name.
        """
        function = self._functions.get(name)
        if function is None:
            if name not in self.rows:
                raise AttributeError(
                    f"{self.home} has no function {name!r}{nearest(name, self.rows)}"
                )
            function = self._functions[name] = self._make_function(name, self.rows[name])
        return function

    def _make_function(self, name: str, row: Row) -> Callable[..., Any]:
        def function(*args: Operand, **kwargs: Operand) -> object:
            try:
                if not row.is_plain and any_symbolic(args, kwargs):
                    return self._call_symbolically(name, row, args, kwargs)
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

    def _call_symbolically(
        self, name: str, row: Row, args: Arguments, kwargs: Mapping[str, Operand]
    ) -> object:
        """Create an operation and call it, which adds a node to a functional model."""
        config, operands, keywords = row.split(args, kwargs)
        return self.operation(name)(**config)(*operands, **keywords)

    def operation(self, name: str) -> type[_Function]:
        """Return the class of a function's operations."""
        row = self.rows[name]
        class_name = row.class_name or _camel_case(name)
        operation = self._classes.get(class_name)
        if operation is None:
            namespace = {"row": row, "keras_module": self.home}
            operation = type(class_name, (_Function,), namespace)
            operation.__module__ = "webtensor.keras.ops"
            self._classes[class_name] = operation
        return operation

    def class_named(self, class_name: str) -> type[_Function] | None:
        """Return the class that a configuration names, or None if the table has none."""
        for name, row in self.rows.items():
            if not row.is_plain and class_name == (row.class_name or _camel_case(name)):
                return self.operation(name)
        return None


def _camel_case(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


# -- rows ------------------------------------------------------------------------------------


def op(compute: Computation, config: str = "", **options: Unpack[_Options]) -> Row:
    """A function whose result's shape is found out by trials, or by a ``spec`` of its own."""
    return Row(compute, config, **options)


def plain(compute: Computation) -> Row:
    """A function that is not an operation: it makes or reads a value, or takes functions."""
    return Row(compute, is_plain=True)


def like(compute: Computation, config: str = "") -> Row:
    """A function whose result has the shape and the dtype of its first argument."""
    return Row(compute, config, spec=_same_spec)


def elementwise(
    compute: Computation, config: str = "", *, class_name: str | None = None, names: str = ""
) -> Row:
    """A function of corresponding elements: shapes are broadcast."""
    return Row(compute, config, class_name=class_name, names=names, spec=_broadcast_spec)


def reduction(compute: Computation, config: str = "axis keepdims") -> Row:
    """A function of ``x`` along axes, which its result lacks, or has of size 1."""
    return Row(compute, config, spec=_reduced_spec)


def unary(compute: Computation, class_name: str | None = None) -> Row:
    """A function of each element of ``x``."""
    return elementwise(compute, names="x", class_name=class_name)


def binary(compute: Computation, class_name: str | None = None, names: str = "x1 x2") -> Row:
    """A function of the corresponding elements of two tensors."""
    return elementwise(compute, names=names, class_name=class_name)


def _broadcast_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    """Broadcast the shapes; a trial with single elements finds out the dtype."""
    shape: Shape = ()
    for arg in args:
        is_constant = isinstance(arg, (list, tuple)) and not any_symbolic((arg,), {})
        for operand in (tensor(arg),) if is_constant else flatten(arg):
            shape = _broadcast(shape, getattr(operand, "shape", ()))

    def single_element(leaf: Operand) -> Operand:
        return zeros((), leaf.dtype) if isinstance(leaf, KerasTensor) else leaf

    outcome = outcome_of_trial(compute, tuple(map_structure(single_element, args)), {})
    return KerasTensor(shape, outcome.dtype)


def _same_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    return KerasTensor(args[0].shape, args[0].dtype)


def _reduced_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    x, keepdims = args[0], config.get("keepdims", False)
    axes = normalize_axes("reduction", config.get("axis"), len(x.shape))
    single = KerasTensor([1] * len(x.shape), x.dtype)
    outcome = outcome_of_trial(compute, (single, *args[1:]), {})
    return KerasTensor(reduced_shape(x.shape, axes, keepdims), outcome.dtype)


def _broadcast(first: Shape, second: Shape) -> Shape:
    """Broadcast two shapes; an unknown dimension fits any size."""
    rank = max(len(first), len(second))
    pairs = zip(
        (1,) * (rank - len(first)) + tuple(first),
        (1,) * (rank - len(second)) + tuple(second),
        strict=True,
    )
    shape: list[int | None] = []
    for size, other in pairs:
        if size == other or other == 1:
            shape.append(size)
        elif size == 1 or size is None:
            shape.append(other)
        elif other is None:
            shape.append(size)
        else:
            raise ValueError(f"shapes {tuple(first)} and {tuple(second)} do not broadcast")
    return tuple(shape)
