"""Calls that NumPy's functions take, and TensorFlow.js's functions of these names do not."""

from typing import Any

import numpy as np
import pytest

import webtensor as wt

MATRIX = np.arange(6, dtype=np.int32).reshape(2, 3)
CUBE = np.arange(24, dtype=np.int32).reshape(2, 3, 4)

CALLS: list[tuple[str, tuple[Any, ...]]] = [
    # Each tensor is followed by the labels of its axes.
    ("einsum", (MATRIX, [0, 1], [])),
    ("einsum", (MATRIX, (1, 0))),
    ("einsum", (MATRIX, [27, 3])),
    ("einsum", (MATRIX, [0, 1], MATRIX, [2, 1])),
    ("einsum", (MATRIX, [0, 1], MATRIX, [0, 1], [1])),
    ("einsum", (CUBE, [0, 1, 2], MATRIX, [0, 1], [2, 0])),
    ("einsum", (CUBE, [..., 2], [...])),
    ("einsum", (CUBE, [0, ...], [..., 0])),
    ("einsum", (MATRIX, [0, 1], CUBE, [0, 1, 2], MATRIX, [0, 3], [2, 3])),
    # One number, or one pair, is the padding of all axes.
    ("pad", (MATRIX, 1)),
    ("pad", (MATRIX, np.int64(2))),
    ("pad", (MATRIX, (1, 2))),
    ("pad", (MATRIX, [(1, 0)])),
    ("pad", (MATRIX, [2])),
    ("pad", (MATRIX, [(1,), (2,)])),
    ("pad", (CUBE[0, 0], (0, 2))),
    ("pad", (CUBE, 0)),
]


@pytest.mark.parametrize("name, arguments", CALLS)
def test_results_are_those_of_numpy(
    name: str, arguments: tuple[Any, ...], backend: str, no_leak: None
) -> None:
    y = getattr(wt, name)(*arguments)
    wanted = getattr(np, name)(*arguments)
    assert y.dtype == "int32"
    assert y.shape == wanted.shape
    assert y.tolist() == wanted.tolist()
