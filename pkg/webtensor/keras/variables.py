"""Variables of layers: those of the engine, with a path, a regularizer and a constraint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

from webtensor import engine, keras
from webtensor.arguments import check_choice
from webtensor.dtypes import DType, float32
from webtensor.engine import Storage, Tensor, TensorLike, state
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.allocations import claim
from webtensor.keras.changes import note_change
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.names import auto_name, current_path
from webtensor.keras.stateless_scopes import stateless_scopes
from webtensor.keras.types import DTypeLike, InitializerLike
from webtensor.ops import logical_and, logical_not, logical_or, logical_xor, round, tensor

__all__ = ["Variable"]

#: A regularizer or a constraint.
_Function: TypeAlias = Callable[[Tensor], Tensor]

#: The attribute of the engine's variables.
_TRAINABLE: Any = vars(engine.Variable)["trainable"]

_AGGREGATIONS = ("none", "mean", "sum", "only_first_replica")
_SYNCHRONIZATIONS = ("none", "auto", "on_write", "on_read")


class Variable(engine.Variable):
    """A value that training changes, made by an initializer or from a value.

    ``path`` is its name after those of the layers around it. Values that are assigned to it are
    converted to its dtype.

    Args:
        initializer: an initializer or its name, which needs ``shape``, or a value.
        shape: a shape without None; the default is the shape of the value.
        dtype: a dtype or its name; the default is the value's dtype, or float32 for an initializer.
        trainable: a boolean, whether training changes the variable.
        autocast: a boolean, which changes nothing, since variables are used in their own dtype.
        aggregation, synchronization: how Keras joins copies on several devices. They change
            nothing, since there is one device.
        name: a string without slashes; None makes one.
        layout: None, as there is one device.

    Raises:
        ValueError: the shape is missing or has None, or differs from the value's, or another
            argument has none of the values above.

    Example:
        >>> from webtensor import keras
        >>> scale = keras.Variable("ones", shape=(2,), name="scale")
        >>> scale.assign_add([1.0, 2.0]).tolist()
        [2.0, 3.0]
    """

    __slots__ = (
        "_constraint",
        "_overwrite_with_gradient",
        "_regularizer",
        "aggregation",
        "autocast",
        "path",
        "synchronization",
    )

    def __init__(
        self,
        initializer: InitializerLike | TensorLike,
        shape: Sequence[int | None] | None = None,
        dtype: DTypeLike = None,
        trainable: bool = True,
        autocast: bool = True,
        aggregation: str | None = "none",
        synchronization: str | None = "auto",
        name: str | None = None,
        layout: None = None,
    ) -> None:
        name = auto_name("variable") if name is None else name
        _check_arguments(name, aggregation, synchronization, layout)
        value_dtype = None if dtype is None else storage_dtype(dtype)
        with outside_scopes():
            if callable(initializer) or isinstance(initializer, str):
                value = _initialized(name, initializer, shape, value_dtype or float32)
            else:
                value = _as_tensor(initializer, value_dtype)
        super().__init__(value, bool(trainable), name)
        if shape is not None and self.shape != tuple(shape):
            raise ValueError(f"Variable: wanted shape {tuple(shape)}, but got {self.shape}")
        parent_path = current_path()
        self.path = f"{parent_path}/{self.name}" if parent_path else self.name
        self.autocast = autocast
        self.aggregation, self.synchronization = aggregation or "none", synchronization or "none"
        self._regularizer: _Function | None = None
        self._constraint: _Function | None = None
        self._overwrite_with_gradient = False

    # -- training -----------------------------------------------------------------------------

    @property
    def trainable(self) -> bool:
        """Whether training changes it."""
        trainable: bool = _TRAINABLE.__get__(self)
        return trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        _TRAINABLE.__set__(self, value)
        note_change()

    @property
    def regularizer(self) -> _Function | None:
        """The function of its value that is added to the loss; None for none."""
        return self._regularizer

    @regularizer.setter
    def regularizer(self, value: _Function | None) -> None:
        _check_function("regularizer", value)
        note_change()
        self._regularizer = value

    @property
    def constraint(self) -> _Function | None:
        """The function that makes its next value, after each step of training; None for none."""
        return self._constraint

    @constraint.setter
    def constraint(self, value: _Function | None) -> None:
        _check_function("constraint", value)
        note_change()
        self._constraint = value

    @property
    def overwrite_with_gradient(self) -> bool:
        """Whether training replaces its value by its gradient."""
        return self._overwrite_with_gradient

    @overwrite_with_gradient.setter
    def overwrite_with_gradient(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"overwrite_with_gradient must be a boolean, but got {value!r}")
        note_change()
        self._overwrite_with_gradient = value

    # -- assignments --------------------------------------------------------------------------

    def assign(self, value: TensorLike) -> Tensor:  # type: ignore[override]
        """Set the value, converted to the variable's dtype, and return it.

        Raises:
            ValueError: the shape differs from the variable's.
        """
        dtype = self._value.dtype
        if not (type(value) is Tensor and value.dtype is dtype):
            value = _as_tensor(value, dtype)
        if not stateless_scopes.get():
            engine.Variable.assign(self, value)
        elif value.shape == self.shape:
            stateless_scopes.top.set_value(self, value)
        else:
            raise ValueError(
                f"assign: variable {self.name!r} has shape {self.shape}, but got {value.shape}"
            )
        return self._value

    def assign_storage(self, storage: Storage) -> None:
        """Set the value to what a program stored, of the variable's size and dtype."""
        if stateless_scopes.get():
            with outside_scopes():
                self.assign(Tensor(storage, self._value.shape, self._value.dtype))
        else:
            engine.Variable.assign_storage(self, storage)

    def assign_add(self, value: TensorLike) -> Tensor:
        """Add to the value, and return the sum."""
        return self.assign(self.value + _as_tensor(value, None))

    def assign_sub(self, value: TensorLike) -> Tensor:
        """Subtract from the value, and return the difference."""
        return self.assign(self.value - _as_tensor(value, None))

    # -- operators with another meaning in Keras ----------------------------------------------

    def __bool__(self) -> bool:
        raise TypeError("a variable is neither true nor false; compare its value with something")

    def __and__(self, other: TensorLike) -> Tensor:
        return logical_and(self, other)

    def __or__(self, other: TensorLike) -> Tensor:
        return logical_or(self, other)

    def __xor__(self, other: TensorLike) -> Tensor:
        return logical_xor(self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Tensor:
        return logical_not(self)

    def __round__(self, ndigits: int | None = None) -> Tensor:
        factor = 10.0 ** (ndigits or 0)
        return round(self.value * factor) / factor if ndigits else round(self)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        start = f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}"
        if state.captures or self._value.is_disposed:  # there are no elements to be read
            return f"{start}>"
        start = f"{start}, value="
        return f"{start}{self._value._values_text(len(start))}>"


def _check_arguments(
    name: object, aggregation: str | None, synchronization: str | None, layout: None
) -> None:
    if not isinstance(name, str) or "/" in name:
        raise ValueError(f"Variable: name must be a string without '/', but got {name!r}")
    for argument, value, choices in (
        ("aggregation", aggregation, _AGGREGATIONS),
        ("synchronization", synchronization, _SYNCHRONIZATIONS),
    ):
        if value is not None:
            check_choice("Variable", argument, value, choices)
    if layout is not None:
        raise ValueError(f"Variable: there is one device, so layout must be None, not {layout!r}")


def _check_function(attribute: str, value: object) -> None:
    if value is not None and not callable(value):
        raise ValueError(f"{attribute} must be None or callable, but got {value!r}")


def _initialized(
    name: str,
    initializer: InitializerLike | TensorLike,
    shape: Sequence[int | None] | None,
    dtype: DType,
) -> Tensor:
    """Call an initializer."""
    if shape is None:
        raise ValueError("Variable: shape is missing, which an initializer needs")
    sizes = tuple([size for size in shape if size is not None])
    if len(sizes) < len(shape):
        raise ValueError(
            f"Variable: all dimensions of {name!r} must be known, but its shape is {tuple(shape)}"
        )
    claim(prod(sizes), f"Variable: {name!r} of shape {sizes}", variable=True)
    make: Callable[..., TensorLike] = keras.initializers.get(initializer)
    return _as_tensor(make(sizes, dtype=dtype), dtype)


def _as_tensor(value: Any, dtype: DType | None) -> Tensor:
    if isinstance(value, engine.Variable):
        value = value.value
    return value if type(value) is Tensor and dtype is None else tensor(value, dtype=dtype)
