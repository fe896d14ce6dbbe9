"""``einsum`` of tensors that are each followed by the labels of their axes, as in NumPy."""

from typing import Any

import numpy as np
import pytest

import webtensor as wt

MATRIX = np.arange(6, dtype=np.int32).reshape(2, 3)
CUBE = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "arguments",
    [
        (MATRIX, [0, 1], []),
        (MATRIX, (1, 0)),
        (MATRIX, [27, 3]),
        (MATRIX, [0, 1], MATRIX, [2, 1]),
        (MATRIX, [0, 1], MATRIX, [0, 1], [1]),
        (CUBE, [0, 1, 2], MATRIX, [0, 1], [2, 0]),
        (CUBE, [..., 2], [...]),
        (CUBE, [0, ...], [..., 0]),
        (MATRIX, [0, 1], CUBE, [0, 1, 2], MATRIX, [0, 3], [2, 3]),
    ],
    ids=str,
)
def test_labels_are_those_of_numpy(arguments: tuple[Any, ...], backend: str, no_leak: None) -> None:
    y = wt.einsum(*arguments)
    wanted = np.einsum(*arguments)
    assert y.dtype == "int32"
    assert y.shape == wanted.shape
    assert y.tolist() == wanted.tolist()
