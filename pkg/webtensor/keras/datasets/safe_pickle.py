"""Pickled arrays, read without executing code.

A pickle names functions and calls them. Here only the names that NumPy's arrays need are allowed,
and they stand for a class that does nothing but record its arguments.
"""

from __future__ import annotations

import pickle
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

from webtensor.formats.budgets import reading
from webtensor.formats.limits import MAX_DEPTH

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Content", "load", "load_array"]

#: What a pickle may have: numbers, texts, lists, dicts and arrays.
Content: TypeAlias = "float | str | bytes | list[Any] | dict[Any, Content] | NDArray[Any] | None"


class _Recorded:
    """An object of a pickle: the arguments and the state that it is created with."""

    def __init__(self, *args: object) -> None:
        self.args = args
        self.state: object = None

    def __setstate__(self, state: object) -> None:
        self.state = state


_ALLOWED = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type[_Recorded]:
        if (module, name) not in _ALLOWED:
            raise ValueError(f"the file has {module}.{name}, which is code and is not executed")
        return _Recorded


def load(file: IO[bytes]) -> Content:
    """Return the content of a pickle.

    Raises:
        ModelFormatError: there is anything else in it, or it is broken.
    """
    with reading("the pickle"):
        return _content(_Reader(file, encoding="bytes").load(), 0)


def load_array(file: IO[bytes]) -> NDArray[Any]:
    """Return the array in a pickle.

    Raises:
        ModelFormatError: there is anything else in it, or it is broken.
    """
    with reading("the pickle"):
        value = _Reader(file, encoding="bytes").load()
        if not isinstance(value, _Recorded):
            raise ValueError("the file has no array")
        return _array(value)


def _content(value: Content | _Recorded, depth: int) -> Content:
    if depth > MAX_DEPTH:
        raise ValueError(f"its dicts are nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        return {key: _content(element, depth + 1) for key, element in value.items()}
    return _array(value) if isinstance(value, _Recorded) else value


def _array(recorded: _Recorded) -> NDArray[Any]:
    import numpy as np

    if not isinstance(recorded.state, tuple) or len(recorded.state) != 5:
        raise ValueError("the file has an array that is not complete")
    _, shape, dtype, is_column_major, data = recorded.state
    code = dtype.args[0] if isinstance(dtype, _Recorded) and dtype.args else None
    code = code.decode() if isinstance(code, bytes) else code
    if isinstance(data, list):
        objects = np.empty(len(data), dtype=object)
        objects[:] = data
        return objects.reshape(shape)
    if not isinstance(code, str) or code[:1] not in "biuf" or not isinstance(data, bytes):
        raise ValueError(f"the file has an array of {code!r}, which is not supported")
    order: Literal["F", "C"] = "F" if is_column_major else "C"
    return np.frombuffer(data, "<" + code).reshape(shape, order=order)
