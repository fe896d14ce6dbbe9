"""Variable: a reference to a tensor, to which another one can be assigned."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from webtensor.dtypes import DType, as_dtype
from webtensor.engine.convert import host_buffer
from webtensor.engine.scopes import outside_scopes
from webtensor.engine.state import state
from webtensor.engine.storage import Storage, host_storage
from webtensor.engine.tensor import Operators, Tensor
from webtensor.shapes import Shape

__all__ = ["Variable"]

_numbers = count()


def _unscoped_tensor(storage: Storage, like: Tensor) -> Tensor:
    """Return a tensor that no scope disposes; ``outside_scopes`` takes five times as long."""
    scopes, state.scopes = state.scopes, None
    tensor = Tensor(storage, like.shape, like.dtype)
    state.scopes = scopes
    return tensor


class Variable(Operators):
    """A value that training changes.

    It can be used wherever a tensor can; ``value`` is its current tensor. ``assign`` accepts only
    tensors of the variable's shape and dtype.

    Example:
        >>> import webtensor as wt
        >>> weight = wt.Variable([1.0, 2.0], name="weight")
        >>> weight.assign(weight * 2)
        >>> weight.assign_sub(0.5).tolist()
        [1.5, 3.5]
    """

    __slots__ = ("__weakref__", "_value", "name", "trainable")

    def __init__(
        self, initial_value: Any, trainable: bool = True, name: str | None = None, dtype: Any = None
    ) -> None:
        value = initial_value.value if isinstance(initial_value, Variable) else initial_value
        self._value = self._own_tensor(value, None if dtype is None else as_dtype(dtype))
        for recorder in state.captures:
            recorder.make_variable(self, value if isinstance(value, Tensor) else self._value)
        self.trainable = trainable
        self.name = f"variable_{next(_numbers)}" if name is None else name

    @staticmethod
    def _own_tensor(value: Any, dtype: DType | None) -> Tensor:
        """Return a tensor of our own, which no scope disposes, over the elements of ``value``."""
        with outside_scopes():
            if not isinstance(value, Tensor):
                host, shape, dtype = host_buffer("Variable", value, dtype)
                return Tensor(host_storage(dtype, host), shape, dtype)
            if dtype is not None and value.dtype is not dtype:
                raise ValueError(f"Variable: wanted dtype {dtype}, but got a {value.dtype} tensor")
            value.storage.size  # noqa: B018  (raises where the tensor is disposed)
            return Tensor(value.storage, value.shape, value.dtype)

    @property
    def value(self) -> Tensor:
        """The current tensor. A tape watches it if it is read while the tape records."""
        for reader in state.variable_readers:
            reader.read_variable(self, self._value)
        return self._value

    def renew(self) -> Tensor:
        """Replace the current tensor by another one with the same storage, and return that.

        The old tensor then no longer stands for the variable.
        """
        value = self._value
        self._value = _unscoped_tensor(value.storage, value)
        for recorder in state.captures:
            recorder.note_alias(value, self._value)
        return self._value

    @property
    def shape(self) -> Shape:
        """Sizes of the axes."""
        return self._value.shape

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._value.dtype

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._value.size

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._value.shape)

    def assign(self, value: Any) -> None:
        """Replace the value; the old one is freed when nothing else refers to it.

        Raises:
            ValueError: the shape or the dtype differs from the variable's.
        """
        current = self._value
        if type(value) is not Tensor:
            value = (
                value.value
                if isinstance(value, Variable)
                else self._own_tensor(value, current.dtype)
            )
        if value.shape != current.shape or value.dtype is not current.dtype:
            raise ValueError(
                f"assign: variable {self.name!r} holds {current.dtype} of shape {current.shape}, "
                f"but value is {value.dtype} of shape {value.shape}"
            )
        storage = value.storage
        storage.size  # noqa: B018  (raises where the tensor is disposed)
        self._value = assigned = _unscoped_tensor(storage, current)
        for writer in state.variable_writers:
            writer.write_variable(self, assigned, value)

    def assign_storage(self, storage: Storage) -> None:
        """Assign what a program stored, of the variable's size and dtype."""
        tensor = _unscoped_tensor(storage, self._value)
        if state.variable_writers:
            self.assign(tensor)
        else:
            self._value = tensor

    def assign_add(self, value: Any) -> Tensor:
        """Add to the value, and return the sum.

        Raises:
            ValueError: the sum has another shape or dtype than the variable.
        """
        self.assign(self.value + value)
        return self._value

    def assign_sub(self, value: Any) -> Tensor:
        """Subtract from the value, and return the difference.

        Raises:
            ValueError: the difference has another shape or dtype than the variable.
        """
        self.assign(self.value - value)
        return self._value

    def dispose(self) -> None:
        """Free the memory now; using the variable afterwards raises ``ValueError``."""
        self._value.dispose()

    def __getattr__(self, name: str) -> Any:
        """Read the tensor's attributes and methods as the variable's own."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.value, name)

    def __len__(self) -> int:
        return len(self._value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return self.value.__index__()

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.value.__array__(dtype, copy)

    def __format__(self, spec: str) -> str:
        return format(self._value, spec) if spec else str(self)

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        for name, value in state[1].items():
            setattr(self, name, value)
        self._value = self._own_tensor(self._value, None)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(
            f"elements of variable {self.name!r} cannot be assigned to; assign a whole value: "
            "variable.assign(wt.where(mask, value, variable))"
        )

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        start = "Variable("
        value = self._value._text(start)
        return f"{start}{value}, name={self.name!r}, trainable={self.trainable})"

    def _repr_html_(self) -> str:
        from webtensor.engine.tensor_html import tensor_html

        return tensor_html(self._value, repr(self))
