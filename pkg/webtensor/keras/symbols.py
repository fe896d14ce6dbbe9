"""Symbolic tensors: the operands with which layers are called to make a functional model.

A ``KerasTensor`` has a shape, where None is a dimension of unknown size, and a dtype, but no
elements. Its history is the call of an operation that it is an output of (``nodes``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeGuard

from webtensor import keras
from webtensor.dtypes import DType
from webtensor.engine import Tensor, Variable
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.names import auto_name
from webtensor.keras.types import DTypeLike, Operand, Shape
from webtensor.nest import flatten
from webtensor.ops import tensor
from webtensor.shapes import single_integer

if TYPE_CHECKING:
    from webtensor.keras.nodes import Operation

__all__ = [
    "History",
    "KerasTensor",
    "any_symbolic",
    "as_tensor",
    "is_shape",
    "map_shapes",
    "standardize_shape",
]


class History(NamedTuple):
    """The call that returned a symbolic tensor, and the tensor's index among its outputs."""

    operation: Operation
    node_index: int
    tensor_index: int


# -- shapes ------------------------------------------------------------------------------------


def standardize_shape(shape: object) -> Shape:
    """Return a shape as a tuple of sizes, which are integers or None.

    Raises:
        ValueError: it is not a sequence of non-negative integers and None.
    """
    if single_integer(shape) is not None:
        shape = (shape,)
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        raise ValueError(f"shape must be a sequence of integers and None, but got {shape!r}")
    for size in shape:
        if size is not None and (single_integer(size) is None or size < 0):
            raise ValueError(
                f"shape must consist of non-negative integers and None, but got {tuple(shape)}"
            )
    return tuple([None if size is None else int(size) for size in shape])


def is_shape(shape: object) -> TypeGuard[Sequence[int | None]]:
    """Whether the argument is one shape, not a structure of shapes."""
    return isinstance(shape, (list, tuple)) and all(
        size is None or isinstance(size, int) for size in shape
    )


def map_shapes(function: Callable[[Shape], object], shapes: Any) -> Any:
    """Call a function with each shape in a structure, and return the results in this structure."""
    if is_shape(shapes):
        return function(tuple(shapes))
    if isinstance(shapes, dict):
        return {name: map_shapes(function, shape) for name, shape in shapes.items()}
    return type(shapes)(map_shapes(function, shape) for shape in shapes)


# -- symbolic tensors --------------------------------------------------------------------------


class KerasTensor:
    """A tensor without elements.

    Args:
        shape: a sequence of integers and None, which is an unknown size.
        dtype: a dtype or its name.
        sparse: a boolean that is stored; what is computed does not depend on it.
        ragged: a boolean that is stored, likewise.
        record_history: without effect.

    Raises:
        ValueError: ``shape`` or ``dtype`` is malformed.

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
        shape: int | Sequence[int | None],
        dtype: DTypeLike = "float32",
        sparse: bool = False,
        ragged: bool = False,
        record_history: bool = True,
        name: str | None = None,
    ) -> None:
        self.shape = standardize_shape(shape)
        self.dtype: DType = storage_dtype(dtype)
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

    def _no_elements(self, *_: object, **__: object) -> NoReturn:
        raise ValueError(
            "a KerasTensor is symbolic: it has a shape and a dtype but no elements. Compute with "
            "it by layers and by functions of keras.ops"
        )

    __array__ = __float__ = __int__ = __index__ = numpy = tolist = item = _no_elements

    def __iter__(self) -> NoReturn:
        raise NotImplementedError("a KerasTensor cannot be iterated over")

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__ and name in ("shape", "dtype", "sparse", "ragged"):
            raise AttributeError(f"{name} of a KerasTensor cannot be changed")
        super().__setattr__(name, value)

    def __bool__(self) -> bool:
        raise TypeError(
            "a KerasTensor is symbolic: it has no elements, so is neither true nor false"
        )

    def reshape(self, *shape: int | Sequence[int]) -> KerasTensor:
        """Return the elements in another shape."""
        return _symbolic_call("reshape", self, shape[0] if len(shape) == 1 else shape)

    def squeeze(self, axis: int | Sequence[int] | None = None) -> KerasTensor:
        """Leave out axes of size 1."""
        return _symbolic_call("squeeze", self, axis)

    def __getitem__(self, key: object) -> KerasTensor:
        return _symbolic_call("get_item", self, key)

    if TYPE_CHECKING:
        # The tables below attach these.

        def __neg__(self) -> KerasTensor: ...
        def __abs__(self) -> KerasTensor: ...
        def __invert__(self) -> KerasTensor: ...
        def __add__(self, other: Any, /) -> KerasTensor: ...
        def __radd__(self, other: Any, /) -> KerasTensor: ...
        def __sub__(self, other: Any, /) -> KerasTensor: ...
        def __rsub__(self, other: Any, /) -> KerasTensor: ...
        def __mul__(self, other: Any, /) -> KerasTensor: ...
        def __rmul__(self, other: Any, /) -> KerasTensor: ...
        def __truediv__(self, other: Any, /) -> KerasTensor: ...
        def __rtruediv__(self, other: Any, /) -> KerasTensor: ...
        def __floordiv__(self, other: Any, /) -> KerasTensor: ...
        def __rfloordiv__(self, other: Any, /) -> KerasTensor: ...
        def __mod__(self, other: Any, /) -> KerasTensor: ...
        def __rmod__(self, other: Any, /) -> KerasTensor: ...
        def __pow__(self, other: Any, /) -> KerasTensor: ...
        def __rpow__(self, other: Any, /) -> KerasTensor: ...
        def __matmul__(self, other: Any, /) -> KerasTensor: ...
        def __rmatmul__(self, other: Any, /) -> KerasTensor: ...
        def __and__(self, other: Any, /) -> KerasTensor: ...
        def __rand__(self, other: Any, /) -> KerasTensor: ...
        def __or__(self, other: Any, /) -> KerasTensor: ...
        def __ror__(self, other: Any, /) -> KerasTensor: ...
        def __xor__(self, other: Any, /) -> KerasTensor: ...
        def __rxor__(self, other: Any, /) -> KerasTensor: ...
        def __lt__(self, other: Any, /) -> KerasTensor: ...
        def __le__(self, other: Any, /) -> KerasTensor: ...
        def __gt__(self, other: Any, /) -> KerasTensor: ...
        def __ge__(self, other: Any, /) -> KerasTensor: ...
        def __ne__(self, other: object, /) -> KerasTensor: ...  # type: ignore[override]


def _symbolic_call(name: str, *args: object) -> KerasTensor:
    """Call a function of ``keras.ops``, a module that needs this one."""
    output: KerasTensor = getattr(keras.ops, name)(*args)
    return output


def _operator(name: str, *, swapped: bool = False) -> Callable[..., KerasTensor]:
    def operator(*operands: Operand) -> KerasTensor:
        return _symbolic_call(name, *(reversed(operands) if swapped else operands))

    return operator


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


# -- arguments of calls ------------------------------------------------------------------------

_NESTED = (list, tuple, dict)


def any_symbolic(args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
    """Whether there is a symbolic tensor among the arguments of a call."""
    for arg in args:
        if type(arg) is KerasTensor or (isinstance(arg, _NESTED) and _has_symbolic(arg)):
            return True
    return bool(kwargs) and _has_symbolic(kwargs)


def _has_symbolic(structure: object) -> bool:
    return any(isinstance(leaf, KerasTensor) for leaf in flatten(structure))


def as_tensor(value: Any) -> Any:
    """Return the tensor of a variable or an array, and other values as they are."""
    if isinstance(value, Variable):
        return value.value
    if isinstance(value, (Tensor, KerasTensor)) or not hasattr(value, "__array__"):
        return value
    return tensor(value)
