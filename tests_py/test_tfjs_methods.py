"""Methods of TensorFlow.js's tensors that stand for a call of another function."""

import asyncio
import math
from typing import Any

import numpy as np
import pytest

import webtensor as wt

pytestmark = pytest.mark.usefixtures("no_leak")


@pytest.mark.parametrize(
    "method, lengths", [("as1d", ()), ("as2d", (6, 4)), ("as3d", (2, 3, 4)), ("as4d", (1, 2, 3, 4))]
)
def test_rank(method: str, lengths: tuple[int, ...], backend: str):
    y = getattr(wt.arange(24), method)(*lengths)
    assert y.shape == (lengths or (24,))
    assert wt.flatten(y).tolist() == list(range(24))


def test_five_axes_and_the_shape_of_another(backend: str):
    assert wt.arange(24).as5d(1, 2, 3, 2, 2).shape == (1, 2, 3, 2, 2)
    assert wt.arange(6).reshape_as(wt.zeros((3, 2))).tolist() == [[0, 1], [2, 3], [4, 5]]


def test_scalar(backend: str):
    x = wt.tensor([[3.0]]).as_scalar()
    assert (x.shape, x.item()) == ((), 3.0)
    with pytest.raises(ValueError, match=r"as_scalar: .* one element, .* \(2,\)"):
        wt.zeros(2).as_scalar()


def test_dtypes(backend: str):
    x = wt.tensor([0.0, -1.5, 2.0])
    assert x.to_int().tolist() == [0, -1, 2]
    assert x.to_bool().tolist() == [False, True, True]
    assert x.to_int().to_float().dtype == "float32"


def test_joining(backend: str):
    x, y = wt.tensor([1, 2]), wt.tensor([3, 4])
    assert x.concat(y).tolist() == [1, 2, 3, 4]
    assert x.concat([y, x]).tolist() == [1, 2, 3, 4, 1, 2]
    assert x.stack(y, 1).tolist() == [[1, 3], [2, 4]]
    assert x.stack([y, y]).shape == (3, 2)
    assert x.concat([3, 4]).tolist() == [1, 2, 3, 4]
    assert x.concat([[3], [4, 5]]).tolist() == [1, 2, 3, 4, 5]
    assert x.stack([[3, 4], [5, 6]]).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert x.stack([3, 4]).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "values, dtype",
    [
        ([[1.5, 2.0]], "float32"),
        ([[7, 2**30 + 1]], "int32"),
        ([[True, False]], "bool"),
        ([[1 + 2j, 3j]], "complex64"),
        ([["a", "ü"]], "string"),
    ],
)
def test_buffers(values: Any, dtype: str, backend: str):
    x = wt.tensor(values, dtype=dtype)
    for copy in (x.buffer_sync(), asyncio.run(x.buffer())):
        copy.set(values[0][1], 0, 0)
        y = copy.to_tensor()
        assert (y.dtype, y.tolist()) == (dtype, [[values[0][1]] * 2])
    assert x.tolist() == values


@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3), (2, 1, 3, 2)])
def test_where_an_element_of_a_buffer_lies(shape: tuple[int, ...]):
    board = wt.buffer(shape, "int32", list(range(math.prod(shape))))
    for index in range(board.size):
        indices = board.index_to_loc(index)
        assert indices == np.unravel_index(index, shape)
        assert board.loc_to_index(indices) == index
        assert board.get(*indices) == index
    for index in (-1, board.size):
        with pytest.raises(IndexError, match=rf"index_to_loc: index {index} does not lie within"):
            board.index_to_loc(index)
    with pytest.raises(IndexError, match=r"loc_to_index: indices .* do not lie within"):
        board.loc_to_index((*shape, 0))


def test_variable(backend: str):
    x = wt.tensor([1.0, 2.0])
    state = x.variable(trainable=False, name="held")
    x.dispose()
    assert (state.name, state.trainable, state.tolist()) == ("held", False, [1.0, 2.0])
    state.dispose()


def test_print(capsys: pytest.CaptureFixture[str]):
    x = wt.tensor([[1, 2]])
    x.print()
    wt.print(x, verbose=True)
    line = "Tensor([[1, 2]], shape=(1, 2), dtype=int32, device=host)\n"
    assert capsys.readouterr().out == f"{line}rank 2, 2 elements\n{line}"


@pytest.mark.parametrize("batch_shape", [(), (3,), (2, 3), [2, 1, 2]])
def test_eye_of_a_batch(backend: str, batch_shape: Any) -> None:
    expected = np.broadcast_to(np.eye(2, 3), (*batch_shape, 2, 3))
    for matrices in (wt.eye(2, 3, batch_shape), wt.eye(2, 3, batch_shape=batch_shape)):
        np.testing.assert_array_equal(matrices.numpy(), expected)
    assert wt.eye(2, None, None, "int32").tolist() == [[1, 0], [0, 1]]
