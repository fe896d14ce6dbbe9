"""Variables of layers: those of the engine, with a path and what keeps their values in bounds."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from webtensor import engine
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.budgets import claim
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.names import auto_name, current_path
from webtensor.keras.stateless_scopes import stateless_scopes
from webtensor.keras.types import ConstraintLike, DTypeLike, InitializerLike, RegularizerLike
from webtensor.ops import logical_and, logical_not, logical_or, logical_xor, round, tensor

__all__ = ["Variable"]

_AGGREGATIONS = ("none", "mean", "sum", "only_first_replica")
_SYNCHRONIZATIONS = ("none", "auto", "on_write", "on_read")


class Variable(engine.Variable):
    """A value that training changes, made by an initializer or from a value.

    ``path`` is its name after those of the layers around it. What is assigned to it is made a
    tensor of its dtype. There is one device, so ``aggregation`` and ``synchronization``, which say
    how copies on several become one, are kept but change nothing; ``layout`` must be None. Nor does
    ``autocast`` change anything, as everything is computed in the variable's own dtype.

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
        shape: Any = None,
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
        kind = None if dtype is None else held_dtype(dtype)
        with outside_scopes():
            if callable(initializer) or isinstance(initializer, str):
                value = _initialized(name, initializer, shape, kind or float32)
            else:
                value = _as_tensor(initializer, kind)
        super().__init__(value, bool(trainable), name)
        if shape is not None and self.shape != tuple(shape):
            raise ValueError(f"Variable: wanted shape {tuple(shape)}, but got {self.shape}")
        around = current_path()
        self.path = f"{around}/{self.name}" if around else self.name
        self.autocast = autocast
        self.aggregation, self.synchronization = aggregation or "none", synchronization or "none"
        self._regularizer: RegularizerLike = None
        self._constraint: ConstraintLike = None
        self._overwrite_with_gradient = False

    # -- what training makes of it ------------------------------------------------------------

    @property
    def regularizer(self) -> Any:
        """What of its value is added to the loss; None, or a function."""
        return self._regularizer

    @regularizer.setter
    def regularizer(self, value: Any) -> None:
        _check_function("regularizer", value)
        self._regularizer = value

    @property
    def constraint(self) -> Any:
        """What its value becomes after each step of training; None, or a function."""
        return self._constraint

    @constraint.setter
    def constraint(self, value: Any) -> None:
        _check_function("constraint", value)
        self._constraint = value

    @property
    def overwrite_with_gradient(self) -> bool:
        """Whether its gradient is its next value."""
        return self._overwrite_with_gradient

    @overwrite_with_gradient.setter
    def overwrite_with_gradient(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"overwrite_with_gradient must be a boolean, but got {value!r}")
        self._overwrite_with_gradient = value

    # -- giving it other values ---------------------------------------------------------------

    def assign(self, value: Any) -> Tensor:  # type: ignore[override]
        """Hold another value from now on, cast to the variable's dtype, and return it.

        Raises:
            ValueError: the shape differs from the variable's.
        """
        dtype = self._value.dtype
        held = value if type(value) is Tensor and value.dtype is dtype else _as_tensor(value, dtype)
        if not stateless_scopes.get():
            engine.Variable.assign(self, held)
        elif held.shape == self.shape:
            stateless_scopes.top.hold(self, held)
        else:
            raise ValueError(
                f"assign: variable {self.name!r} has shape {self.shape}, but got {held.shape}"
            )
        return self._value

    def assign_add(self, value: Any) -> Tensor:
        """Add to the value, and return the sum."""
        return self.assign(self.value + _as_tensor(value, None))

    def assign_sub(self, value: Any) -> Tensor:
        """Subtract from the value, and return the difference."""
        return self.assign(self.value - _as_tensor(value, None))

    # -- operators that mean something else to Keras ------------------------------------------

    def __bool__(self) -> bool:
        raise TypeError("a variable is neither true nor false; compare its value with something")

    def __and__(self, other: Any) -> Tensor:
        return logical_and(self, other)

    def __or__(self, other: Any) -> Tensor:
        return logical_or(self, other)

    def __xor__(self, other: Any) -> Tensor:
        return logical_xor(self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Tensor:
        return logical_not(self)

    def __round__(self, ndigits: int | None = None) -> Tensor:
        factor = 10.0 ** (ndigits or 0)
        return round(self.value * factor) / factor if ndigits else round(self)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}>"


def _check_arguments(name: Any, aggregation: Any, synchronization: Any, layout: Any) -> None:
    if not isinstance(name, str) or "/" in name:
        raise ValueError(f"Variable: name must be a string without '/', but got {name!r}")
    for argument, value, known in (
        ("aggregation", aggregation, _AGGREGATIONS),
        ("synchronization", synchronization, _SYNCHRONIZATIONS),
    ):
        if value is not None and value not in known:
            raise ValueError(f"Variable: {argument} must be one of {known}, but got {value!r}")
    if layout is not None:
        raise ValueError(f"Variable: there is one device, so layout must be None, not {layout!r}")


def _check_function(attribute: str, value: Any) -> None:
    if value is not None and not callable(value):
        raise ValueError(f"{attribute} must be None or callable, but got {value!r}")


def _initialized(
    name: str, initializer: InitializerLike | TensorLike, shape: Any, dtype: Any
) -> Tensor:
    """What an initializer makes."""
    from webtensor.keras import initializers

    if shape is None:
        raise ValueError("Variable: shape is missing, which an initializer needs")
    if None in tuple(shape):
        raise ValueError(
            f"Variable: all lengths of {name!r} must be known, but its shape is {tuple(shape)}"
        )
    claim(prod(shape), f"Variable: {name!r} of shape {tuple(shape)}", variable=True)
    make: Callable[..., Any] = initializers.get(initializer)
    return _as_tensor(make(tuple(shape), dtype=dtype), dtype)


def _as_tensor(value: Any, dtype: Any) -> Tensor:
    if isinstance(value, engine.Variable):
        value = value.value
    return value if type(value) is Tensor and dtype is None else tensor(value, dtype=dtype)
