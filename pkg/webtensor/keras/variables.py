"""Variables of layers: those of the engine, with a path and what keeps their values in bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

from webtensor import engine
from webtensor.dtypes import as_dtype
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.names import auto_name, current_path

__all__ = ["Variable", "sizes_limited"]

#: How many elements variables may still have, within ``sizes_limited``; the innermost one last.
_allowances: list[int] = []


@contextmanager
def sizes_limited(elements: int) -> Iterator[None]:
    """Within the ``with``, variables may have so many elements in all.

    A model is made from a file within this, so that a small file cannot make one without limits.
    """
    _allowances.append(elements)
    try:
        yield
    finally:
        _allowances.pop()


def _claim(name: str | None, shape: Any) -> None:
    _allowances[-1] -= prod(shape)
    if _allowances[-1] < 0:
        raise ValueError(
            f"Variable: {name!r} of shape {tuple(shape)} is larger than what the file holds"
        )


class Variable(engine.Variable):
    """A value that training changes, made by an initializer or from a value.

    ``path`` is its name after those of the layers around it.

    Example:
        >>> from webtensor import keras
        >>> keras.Variable("ones", shape=(2,), name="scale").tolist()
        [1.0, 1.0]
    """

    __slots__ = (
        "aggregation",
        "autocast",
        "constraint",
        "initializer",
        "overwrite_with_gradient",
        "path",
        "regularizer",
    )

    def __init__(
        self,
        initializer: Any,
        shape: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        aggregation: str = "none",
        name: str | None = None,
    ) -> None:
        from webtensor.keras import initializers

        kind = None if dtype is None else as_dtype(dtype)
        value = initializer
        if callable(initializer) or isinstance(initializer, str):
            if shape is None:
                raise ValueError("Variable: shape is missing, which an initializer needs")
            if _allowances:
                _claim(name, shape)
            make: Callable[..., Any] = initializers.get(initializer)
            with outside_scopes():
                value = make(tuple(shape), dtype=kind or as_dtype("float32"))
        super().__init__(value, trainable, name or auto_name("variable"), kind)
        if shape is not None and self.shape != tuple(shape):
            raise ValueError(f"Variable: wanted shape {tuple(shape)}, but got {self.shape}")
        around = current_path()
        self.path = f"{around}/{self.name}" if around else self.name
        self.initializer = initializer
        self.autocast, self.aggregation = autocast, aggregation
        self.regularizer: Any = None
        self.constraint: Any = None
        self.overwrite_with_gradient = False

    def __repr__(self) -> str:
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}>"
