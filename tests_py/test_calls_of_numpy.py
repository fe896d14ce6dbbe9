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
    # Numbers, and tensors of every rank.
    ("dot", (3, MATRIX)),
    ("dot", (MATRIX, 3)),
    ("dot", (CUBE, MATRIX[0, 0])),
    ("dot", (CUBE, np.arange(4, dtype=np.int32))),
    ("dot", (MATRIX[0], CUBE)),
    ("dot", (MATRIX, CUBE)),
    ("dot", (CUBE, CUBE.reshape(3, 4, 2))),
    ("dot", (CUBE, np.zeros((1, 2, 4, 0), np.int32))),
]


@pytest.mark.parametrize("name, arguments", CALLS)
def test_results_are_those_of_numpy(
    name: str, arguments: tuple[Any, ...], backend: str, no_leak: None
) -> None:
    y = getattr(wt, name)(*arguments)
    expected = getattr(np, name)(*arguments)
    assert y.dtype == "int32"
    assert y.shape == expected.shape
    assert y.tolist() == expected.tolist()


@pytest.mark.parametrize("x", [MATRIX, MATRIX[0]])
def test_gradients_of_dot_reach_both_operands(x: np.ndarray[Any, Any]) -> None:
    a, b = wt.tensor(x, dtype="float32"), wt.tensor(CUBE, dtype="float32")
    first, second = wt.grads(lambda a, b: wt.sum(wt.dot(a, b)))(a, b)
    assert first.tolist() == np.broadcast_to(CUBE.sum((0, 2)), x.shape).tolist()
    assert (
        second.tolist()
        == np.broadcast_to(x.reshape(-1, 3).sum(0)[:, np.newaxis], CUBE.shape).tolist()
    )
