"""Symbolic tensors: what layers are called with when a functional model is put together.

A ``KerasTensor`` has a shape, where None stands for any length, and a dtype, but no elements. It
knows which call of which operation it came from: a ``Node``. Calling an operation (a layer or a
function of ``keras.ops``) with symbolic tensors makes a node instead of computing something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any, NamedTuple

from webtensor.dtypes import DType
from webtensor.engine import Tensor, Variable
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.names import auto_name, to_snake_case
from webtensor.keras.nest import flatten, map_structure
from webtensor.keras.types import Config
from webtensor.ops import tensor

__all__ = [
    "History",
    "KerasTensor",
    "Node",
    "Operation",
    "SymbolicShape",
    "any_symbolic",
    "as_tensor",
    "is_shape",
    "map_shapes",
    "standardize_shape",
]

SymbolicShape = tuple[int | None, ...]


class History(NamedTuple):
    """Where a symbolic tensor came from."""

    operation: Operation
    node_index: int
    tensor_index: int


def standardize_shape(shape: Any) -> SymbolicShape:
    """Return a shape as a tuple of lengths and None.

    Raises:
        ValueError: it is not a sequence of non-negative integers and None.
    """
    if isinstance(shape, int) and not isinstance(shape, bool):
        shape = (shape,)
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        raise ValueError(f"shape must be a sequence of integers and None, but got {shape!r}")
    for length in shape:
        if length is not None and (
            isinstance(length, bool) or not hasattr(length, "__index__") or length < 0
        ):
            raise ValueError(
                f"shape must consist of non-negative integers and None, but got {tuple(shape)}"
            )
    return tuple([None if length is None else int(length) for length in shape])


def is_shape(shape: Any) -> bool:
    """Whether this is one shape, not a structure of shapes."""
    return isinstance(shape, (list, tuple)) and all(
        length is None or isinstance(length, int) for length in shape
    )


def map_shapes(function: Callable[[Any], Any], shapes: Any) -> Any:
    """Call a function with each shape in a structure."""
    if is_shape(shapes):
        return function(tuple(shapes))
    if isinstance(shapes, dict):
        return {name: map_shapes(function, one) for name, one in shapes.items()}
    return type(shapes)(map_shapes(function, one) for one in shapes)


class KerasTensor:
    """A tensor without elements; ``shape`` may hold None.

    Example:
        >>> from webtensor import keras
        >>> x = keras.KerasTensor((None, 3))
        >>> (x + 1).shape
        (None, 3)
    """

    # NumPy arrays leave operators to this class.
    __array_ufunc__ = None

    def __init__(
        self,
        shape: Any,
        dtype: Any = "float32",
        sparse: bool = False,
        ragged: bool = False,
        record_history: bool = True,
        name: str | None = None,
    ) -> None:
        self.shape = standardize_shape(shape)
        self.dtype: DType = held_dtype(dtype)
        self.sparse, self.ragged = sparse, ragged
        self.name = name or auto_name("keras_tensor")
        self._keras_history: History | None = None
        self._keras_mask: KerasTensor | None = None

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}, name={self.name}>"

    def _no_elements(self, *_: Any, **__: Any) -> Any:
        raise ValueError(
            "a KerasTensor is symbolic: it has a shape and a dtype but no elements. Compute with "
            "it by layers and by functions of keras.ops"
        )

    __array__ = __float__ = __int__ = __index__ = __iter__ = _no_elements
    numpy = tolist = item = _no_elements

    def __bool__(self) -> bool:
        raise TypeError(
            "a KerasTensor is symbolic: it has no elements, so is neither true nor false"
        )

    def __len__(self) -> int:
        if not self.shape or self.shape[0] is None:
            self._no_elements()
        return int(self.shape[0] or 0)

    def reshape(self, *shape: Any) -> Any:
        """Return the elements in another shape."""
        return _ops().reshape(self, shape[0] if len(shape) == 1 else shape)

    def squeeze(self, axis: Any = None) -> Any:
        """Leave out axes of length 1."""
        return _ops().squeeze(self, axis)

    def __getitem__(self, key: Any) -> Any:
        return _ops().get_item(self, key)


def _ops() -> Any:
    """The functions of ``keras.ops``, which need what is here."""
    from webtensor.keras import ops

    return ops


def _operator(name: str, *, swapped: bool = False) -> Callable[..., Any]:
    def call(*operands: Any) -> Any:
        return getattr(_ops(), name)(*(reversed(operands) if swapped else operands))

    return call


_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "mod",
    "pow": "power",
    "matmul": "matmul",
    "and": "logical_and",
    "or": "logical_or",
    "xor": "logical_xor",
}
_UNARY = {"neg": "negative", "abs": "absolute", "invert": "logical_not"}
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "ne": "not_equal",
}

for _short, _name in _BINARY.items():
    setattr(KerasTensor, f"__{_short}__", _operator(_name))
    setattr(KerasTensor, f"__r{_short}__", _operator(_name, swapped=True))
for _short, _name in (_UNARY | _COMPARISONS).items():
    setattr(KerasTensor, f"__{_short}__", _operator(_name))


def any_symbolic(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether there is a symbolic tensor among arguments."""
    for value in args:
        kind = type(value)
        if kind is KerasTensor:
            return True
        if isinstance(value, _NESTED) and any(
            isinstance(one, KerasTensor) for one in flatten(value)
        ):
            return True
    return bool(kwargs) and any(isinstance(one, KerasTensor) for one in flatten(kwargs))


_NESTED = (list, tuple, dict)


class Node:
    """A call of an operation with symbolic tensors."""

    __slots__ = ("args", "inputs", "kwargs", "operation", "output", "outputs")

    def __init__(
        self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> None:
        self.operation = operation
        self.args = args
        self.kwargs = kwargs
        self.output = output
        self.inputs = [
            one for one in (*flatten(args), *flatten(kwargs)) if isinstance(one, KerasTensor)
        ]
        self.outputs: list[KerasTensor] = flatten(output)
        index = len(operation._inbound_nodes)
        operation._inbound_nodes.append(self)
        for place, one in enumerate(self.outputs):
            one._keras_history = History(operation, index, place)

    def arguments(self, values: Mapping[int, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the call's arguments with values, by identity, for the symbolic tensors."""

        def filled(one: Any) -> Any:
            return values[id(one)] if isinstance(one, KerasTensor) else one

        return map_structure(filled, self.args), map_structure(filled, self.kwargs)


class Operation:
    """What can be a part of a functional model: a layer, or a function of ``keras.ops``.

    A class of one's own has a ``call``, and may have a ``compute_output_spec``, which says what
    ``call`` returns; without, it is tried out.

    Example:
        >>> from webtensor import keras
        >>> class Scale(keras.Operation):
        ...     def __init__(self, factor, name=None):
        ...         super().__init__(name)
        ...         self.factor = factor
        ...     def call(self, x):
        ...         return x * self.factor
        >>> scale = Scale(3.0, name="scale")
        >>> scale.get_config()
        {'factor': 3.0, 'name': 'scale'}
        >>> scale(keras.Input((2,))).shape
        (None, 2)
    """

    name: str

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        made.__dict__["_arguments"] = (args, kwargs)
        return made

    def __init__(self, name: str | None = None) -> None:
        if name is not None and (not isinstance(name, str) or "/" in name):
            raise ValueError(
                f"{type(self).__name__}: name must be a string without '/', but got {name!r}"
            )
        self.name = name or auto_name(to_snake_case(type(self).__name__))
        self._inbound_nodes: list[Node] = []

    # -- calls --------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = map_structure(as_tensor, args), map_structure(as_tensor, kwargs)
        if any_symbolic(args, kwargs):
            return self.symbolic_call(*args, **kwargs)
        return self.call(*args, **kwargs)

    def symbolic_call(self, *args: Any, **kwargs: Any) -> Any:
        """Make a node of a functional model; return its symbolic outputs."""
        output = self.compute_output_spec(*args, **kwargs)
        Node(self, args, kwargs, output)
        return output

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Compute; operations have their own."""
        raise NotImplementedError(f"{type(self).__name__} has no method call")

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return symbolic tensors like what ``call`` returns."""
        from webtensor.keras.shape_inference import outcome_of_trial

        return outcome_of_trial(self.call, args, kwargs)

    # -- configurations -----------------------------------------------------------------------

    def get_config(self) -> Config:
        """Return the arguments that would make another such operation.

        Raises:
            NotImplementedError: ``__init__`` takes any number of arguments, or one that has no
                configuration; the class needs a ``get_config`` of its own.
        """
        try:
            config = self._given_arguments()
        except ValueError as error:
            raise NotImplementedError(
                f"{type(self).__name__} needs a method get_config: {error}"
            ) from error
        parameters = signature(type(self).__init__).parameters
        if "name" in parameters or any(
            one.kind is Parameter.VAR_KEYWORD for one in parameters.values()
        ):
            config["name"] = self.name
        return config

    def _given_arguments(self) -> dict[str, Any]:
        """The arguments of ``__init__``, as they were given, as configurations."""
        from webtensor.keras.registry import serialize_keras_object

        args, kwargs = self.__dict__["_arguments"]
        wanted = signature(type(self).__init__)
        bound = wanted.bind(self, *args, **kwargs)
        bound.apply_defaults()
        found: dict[str, Any] = {}
        for name, value in list(bound.arguments.items())[1:]:
            kind = wanted.parameters[name].kind
            if kind is Parameter.VAR_POSITIONAL and value:
                raise ValueError(f"__init__ takes any number of arguments, *{name}")
            if kind is not Parameter.VAR_POSITIONAL:
                found |= value if kind is Parameter.VAR_KEYWORD else {name: value}
        return {name: serialize_keras_object(value) for name, value in found.items()}

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Make an operation of what ``get_config`` returned."""
        from webtensor.keras.registry import deserialize_keras_object

        return cls(
            **{
                key: deserialize_keras_object(one) if isinstance(one, dict) else one
                for key, one in config.items()
            }
        )

    # -- nodes --------------------------------------------------------------------------------

    @property
    def input(self) -> Any:
        """The symbolic tensors of the first call."""
        inputs = self._first_node("input").inputs
        return inputs[0] if len(inputs) == 1 else list(inputs)

    @property
    def output(self) -> Any:
        """What the first call returned: a symbolic tensor, or a list of them."""
        outputs = self._first_node("output").outputs
        return outputs[0] if len(outputs) == 1 else list(outputs)

    def _first_node(self, attribute: str) -> Node:
        if not self._inbound_nodes:
            raise AttributeError(
                f"{self.name} has no {attribute}: it was never called with symbolic tensors"
            )
        return self._inbound_nodes[0]


def as_tensor(value: Any) -> Any:
    """Return the tensor of a variable or an array; other things as they are."""
    if isinstance(value, Variable):
        return value.value
    if isinstance(value, (Tensor, KerasTensor)) or not hasattr(value, "__array__"):
        return value
    return tensor(value)
