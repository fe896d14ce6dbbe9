"""Calls that NumPy's functions take, and TensorFlow.js's functions of these names do not.

Numbers of NumPy's types are among them: they are options wherever Python's numbers are.
"""

from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.cases.runner import flat, function_named

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


ONE: Any = np.int64(1)
TWO: Any = np.int64(2)
HALF: Any = np.float32(0.5)
FOURTH: Any = np.float32(0.25)

IMAGE = np.linspace(-1, 1, 48, dtype=np.float32).reshape(4, 4, 3)
ROW, SQUARES = IMAGE[0], np.ones((2, 2, 3, 3), np.float32)
BOXES, SCORES = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.75]], [0.5, 1.0]
SIDES = [[0, 0], [ONE, ONE - ONE], [TWO, ONE], [0, 0]]

NUMBERS: list[tuple[str, tuple[Any, ...]]] = [
    *[("avg_pool", (IMAGE, 2, 1, padding)) for padding in (ONE, SIDES, np.array(SIDES))],
    ("conv1d", (ROW, SQUARES[0], 1, ONE)),
    ("conv1d", (ROW, SQUARES[0], 1, np.array([*SIDES[:1], *SIDES[2:]]))),
    ("conv2d", (IMAGE, SQUARES, TWO, ONE)),
    ("max_pool3d", (IMAGE[np.newaxis], 2, 1, ONE)),
    ("batch_norm", (ROW, 0.5, 2.0, None, None, HALF)),
    ("local_response_normalization", (IMAGE, ONE, HALF, FOURTH, HALF)),
    ("dropout", (IMAGE, HALF, None, TWO)),
    ("random_uniform", ((TWO,), HALF, TWO, "float32", FOURTH)),
    ("random_gamma", ((4,), TWO, HALF, "float32", ONE)),
    ("norm", (ROW, HALF)),
    ("image.non_max_suppression", (BOXES, SCORES, TWO, HALF, FOURTH)),
    ("image.non_max_suppression_with_score", (BOXES, SCORES, 2, 1.0, 0.0, HALF)),
    ("image.rotate_with_offset", (IMAGE[np.newaxis], HALF, FOURTH, HALF)),
    ("image.threshold", (IMAGE, "binary", False, HALF)),
    ("losses.huber_loss", (ROW, ROW * 3, None, HALF)),
    ("losses.log_loss", (abs(ROW), abs(ROW), None, HALF)),
    ("losses.sigmoid_cross_entropy", (abs(ROW), ROW, None, HALF)),
    ("optimizer_steps", ("train.adamax", (HALF, HALF, HALF, FOURTH, HALF), ROW, 2, 3)),
]


def of_python(argument: Any) -> Any:
    """Return numbers of Python for those of NumPy."""
    if isinstance(argument, np.generic) or getattr(argument, "dtype", None) == np.int64:
        return argument.tolist()
    if isinstance(argument, (list, tuple)):
        return type(argument)(map(of_python, argument))
    return argument


@pytest.mark.parametrize("name, arguments", NUMBERS)
def test_options_may_be_numbers_of_numpy(name: str, arguments: tuple[Any, ...]) -> None:
    function = function_named(name)
    wanted = flat(function(*map(of_python, arguments)))
    for result, expected in zip(flat(function(*arguments)), wanted, strict=True):
        np.testing.assert_array_equal(result.numpy(), expected.numpy())


def test_a_seed_may_be_a_number_of_numpy() -> None:
    wt.set_random_seed(2)
    expected = wt.random_uniform((3,)).tolist()
    wt.set_random_seed(TWO)
    assert wt.random_uniform((3,)).tolist() == expected


def test_a_scan_is_unrolled_a_number_of_times_of_numpy() -> None:
    total, _ = wt.scan(lambda total, x: (total + x, x), 0.0, wt.ones((3,)), unroll=TWO)
    assert total.tolist() == 3.0


def test_layers_take_numbers_of_numpy() -> None:
    dropout = wt.keras.saving.serialize_keras_object(wt.layers.Dropout(HALF))
    assert dropout["config"]["rate"] == 0.5
    assert wt.layers.Resizing(TWO, ONE)(IMAGE).shape == (2, 1, 3)
