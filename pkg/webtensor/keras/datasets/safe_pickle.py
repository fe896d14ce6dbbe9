"""Pickled arrays, read without executing what a file says.

A pickle names functions and calls them. Here only the names that NumPy's arrays need are known, and
they stand for things that do nothing but keep what they are given.
"""

from __future__ import annotations

import pickle
from typing import IO, Any

from webtensor.keras.budgets import MAX_DEPTH, reading

__all__ = ["load"]


class _Kept:
    """What a pickle makes and what it says about it."""

    def __init__(self, *args: Any) -> None:
        self.args = args
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


_KNOWN = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise ValueError(f"the file has {module}.{name}, which is code and is not executed")
        return _Kept


def load(file: IO[bytes]) -> Any:
    """Return what a pickle holds: numbers, texts, lists, dicts and arrays.

    Raises:
        ModelFormatError: there is anything else in it, or it is broken.
    """
    with reading("the pickle"):
        return _array_in(_Reader(file, encoding="bytes").load(), 0)


def _array_in(held: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"its dicts are nested more than {MAX_DEPTH} levels deep")
    if isinstance(held, dict):
        return {key: _array_in(value, depth + 1) for key, value in held.items()}
    if not isinstance(held, _Kept):
        return held
    import numpy as np

    if not isinstance(held.state, tuple) or len(held.state) != 5:
        raise ValueError("the file has an array that is not complete")
    _, shape, dtype, in_columns, data = held.state
    letters = dtype.args[0] if isinstance(dtype, _Kept) and dtype.args else None
    letters = letters.decode() if isinstance(letters, bytes) else letters
    if isinstance(data, list):
        found = np.empty(len(data), dtype=object)
        found[:] = data
        return found.reshape(shape)
    if not isinstance(letters, str) or letters[:1] not in "biuf" or not isinstance(data, bytes):
        raise ValueError(f"the file has an array of {letters!r}, which is not read")
    return np.frombuffer(data, "<" + letters).reshape(shape, order="F" if in_columns else "C")
