"""Tensors: made from host data, read, converted, shown, indexed, iterated."""

import array
import asyncio
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt

# -- from host data -----------------------------------------------------------------------------

HOST_DATA: dict[str, tuple[Any, str, Any]] = {
    "a float": (2.5, "float32", 2.5),
    "an int": (3, "int32", 3),
    "a bool": (True, "bool", True),
    "nested lists": ([[1, 2], [3, 4]], "int32", [[1, 2], [3, 4]]),
    "tuples": (((1.0,), (2.0,)), "float32", [[1.0], [2.0]]),
    "a range": (range(3), "int32", [0, 1, 2]),
    "ints and floats": ([1, 2.5], "float32", [1.0, 2.5]),
    "bools and ints": ([True, 2], "int32", [1, 2]),
    "bools and floats": ([True, 2.5], "float32", [1.0, 2.5]),
    "an empty list": ([], "float32", []),
    "tensors of rank 0": ([wt.tensor(1), wt.tensor(2.5)], "float32", [1.0, 2.5]),
    "NumPy numbers": ([np.float32(1.5), np.int64(2)], "float32", [1.5, 2.0]),
    "NumPy floats, which are Python's": ([np.float64(1.5)], "float32", [1.5]),
    "bytes": (b"\x01\xff", "int32", [1, 255]),
    "an array of doubles": (array.array("d", [1.5, 2.5]), "float32", [1.5, 2.5]),
    "an array of shorts": (array.array("h", [-1, 2]), "int32", [-1, 2]),
    "a memoryview of rank 2": (
        memoryview(bytes(range(6))).cast("B", (2, 3)),
        "int32",
        [[0, 1, 2], [3, 4, 5]],
    ),
    "a float64 array": (np.array([1.5, 2.5]), "float32", [1.5, 2.5]),
    "a float16 array": (np.array([1.5], np.float16), "float32", [1.5]),
    "an int64 array": (np.array([[1], [2]]), "int32", [[1], [2]]),
    "a uint8 array": (np.array([0, 255], np.uint8), "int32", [0, 255]),
    "a bool array": (np.array([True, False]), "bool", [True, False]),
    "a big-endian array": (np.array([1, 2], ">f4"), "float32", [1.0, 2.0]),
    "a transposed array": (np.arange(6).reshape(2, 3).T, "int32", [[0, 3], [1, 4], [2, 5]]),
    "a stepped array": (np.arange(6.0)[::-2], "float32", [5.0, 3.0, 1.0]),
    "an array of rank 0": (np.array(7), "int32", 7),
    "a NumPy number": (np.float32(2.5), "float32", 2.5),
    "an array without elements": (np.zeros((0, 3)), "float32", []),
    "NaN and infinity": ([math.inf, -math.inf], "float32", [math.inf, -math.inf]),
    "the ends of int32": ([2**31 - 1, -(2**31)], "int32", [2**31 - 1, -(2**31)]),
    "what float32 rounds": ([0.1], "float32", [float(np.float32(0.1))]),
    "what float32 overflows": ([1e39], "float32", [math.inf]),
}


@pytest.mark.parametrize("data", HOST_DATA)
def test_a_tensor_is_made_of(data: str, no_leak: None) -> None:
    value, dtype, expected = HOST_DATA[data]
    x = wt.tensor(value)
    assert x.dtype == dtype
    assert x.tolist() == expected


def test_data_is_copied() -> None:
    source = np.ones(3, np.float32)
    x = wt.tensor(source)
    source[:] = 5
    assert x.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("rank", range(7))
def test_ranks_0_to_6(backend: str, rank: int) -> None:
    values = np.arange(2**rank, dtype=np.float32).reshape((2,) * rank)
    x = wt.tensor(values)
    assert x.shape == (2,) * rank
    assert x.ndim == x.rank == rank
    assert x.size == 2**rank
    assert (x * 2 + 1).tolist() == (values * 2 + 1).tolist()


def test_zero_size_axes_keep_their_shape(backend: str) -> None:
    x = wt.tensor([], shape=(2, 0, 3))
    assert x.shape == (2, 0, 3)
    assert x.size == 0
    assert x.tolist() == [[], []]
    assert wt.tensor([[], []]).shape == (2, 0)
    assert (x + 1).shape == (2, 0, 3)


def test_flat_values_take_a_shape() -> None:
    assert wt.tensor([1, 2, 3, 4], shape=(2, 2)).tolist() == [[1, 2], [3, 4]]
    assert wt.tensor(5, shape=(1, 1)).tolist() == [[5]]


def test_a_given_dtype_converts() -> None:
    assert wt.tensor([0, 1, 2], dtype="bool").tolist() == [False, True, True]
    assert wt.tensor([1.9, -1.9], dtype=wt.int32).tolist() == [1, -1]
    assert wt.tensor([True, False], dtype=float).tolist() == [1.0, 0.0]
    assert wt.tensor(np.array([1.9]), dtype=int).tolist() == [1]
    assert wt.tensor([0.0, math.nan], dtype=bool).tolist() == [False, True]


def test_a_fill_value_may_be_a_tensor_or_a_number_of_numpys() -> None:
    for value in (2.5, wt.tensor(2.5), wt.Variable([2.5]), np.float32(2.5), np.float64(2.5)):
        assert wt.full((2,), value).tolist() == [2.5, 2.5]
        assert wt.full((2,), value).dtype == "float32"
    assert wt.full((2,), np.int64(7)).dtype == "int32"
    assert wt.full((2,), np.bool_(True)).dtype == "bool"


def test_asarray_returns_a_tensor_itself_and_copies_on_request() -> None:
    x = wt.tensor([1.0])
    assert wt.asarray(x) is x
    assert wt.asarray(x, copy=True) is not x
    assert wt.asarray(x, dtype="int32").dtype is wt.int32
    assert wt.asarray([1, 2]).tolist() == [1, 2]


# -- dtypes -------------------------------------------------------------------------------------


def test_dtypes_are_names_and_objects() -> None:
    x = wt.tensor([1.0])
    assert x.dtype is wt.float32
    assert x.dtype == "float32"
    assert f"{x.dtype}" == "float32"
    assert wt.float32.itemsize == 4
    assert wt.bool.itemsize == 1
    assert pickle.loads(pickle.dumps(wt.int32)) is wt.int32
    assert {wt.float32: 1}["float32"] == 1


@pytest.mark.parametrize(
    "given, dtype",
    [
        ("float32", wt.float32),
        (float, wt.float32),
        (int, wt.int32),
        (bool, wt.bool),
        (np.float32, wt.float32),
        (np.dtype("int32"), wt.int32),
        (np.bool_, wt.bool),
        (wt.int32, wt.int32),
    ],
)
def test_a_dtype_may_be_given_as(given: Any, dtype: wt.DType) -> None:
    assert wt.zeros(1, given).dtype is dtype


@pytest.mark.parametrize("given", ["float64", "float", "int", "", 3, [], object, np.float64, "F32"])
def test_an_unknown_dtype_is_an_error_that_names_the_known_ones(given: Any, no_leak: None) -> None:
    for make in (
        lambda: wt.zeros((2,), given),
        lambda: wt.tensor([1], dtype=given),
        lambda: wt.astype([1], given),
        lambda: wt.Variable([1], dtype=given),
        lambda: wt.one_hot([1], 2, dtype=given),
        lambda: wt.random_uniform((2,), dtype=given),
    ):
        with pytest.raises(TypeError, match=r"dtype .* is not supported; wanted one of bool, int"):
            make()


PROMOTIONS = [
    ("bool", "bool", "int32"),
    ("bool", "int32", "int32"),
    ("int32", "int32", "int32"),
    ("int32", "float32", "float32"),
    ("bool", "float32", "float32"),
    ("float32", "float32", "float32"),
]


@pytest.mark.parametrize("first, second, result", PROMOTIONS)
def test_dtypes_promote(backend: str, first: str, second: str, result: str) -> None:
    x, y = wt.ones(2, first), wt.ones(2, second)
    for total in (x + y, y + x):
        assert total.dtype == result
        assert total.tolist() == [2, 2]


@pytest.mark.parametrize(
    "dtype, number, result",
    [
        ("float32", 2, "float32"),
        ("float32", True, "float32"),
        ("int32", 2, "int32"),
        ("int32", 0.5, "float32"),
        ("int32", True, "int32"),
        ("bool", 2, "int32"),
        ("bool", 0.5, "float32"),
        ("float32", np.float64(2), "float32"),
        ("int32", np.int64(2), "int32"),
    ],
)
def test_a_python_number_takes_the_tensors_dtype_where_it_fits(
    dtype: str, number: Any, result: str
) -> None:
    x = wt.ones(2, dtype)
    assert (x + number).dtype == result
    assert (number + x).dtype == result
    assert (x + number).tolist() == [1 + number] * 2


def test_the_sign_of_a_negative_zero_is_kept() -> None:
    assert (wt.tensor([1.0]) / 0.0).tolist() == [math.inf]
    assert (wt.tensor([1.0]) / -0.0).tolist() == [-math.inf]


# -- reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_every_way_to_read_gives_the_same(backend: str, dtype: str) -> None:
    expected = np.array([[1, 0, 1], [0, 0, 1]]).astype(dtype)
    x = wt.flip(wt.tensor(expected), 0)
    x = wt.flip(x, 0)
    assert x.tolist() == expected.tolist()
    assert asyncio.run(x.array()) == expected.tolist()
    assert list(x.data_sync()) == expected.ravel().tolist()
    assert list(asyncio.run(x.data())) == expected.ravel().tolist()
    assert x.numpy().dtype == expected.dtype
    assert np.array_equal(x.numpy(), expected)
    assert np.array_equal(np.asarray(x), expected)
    assert np.array_equal(np.asarray(x, dtype=np.float64), expected)


def test_what_is_read_is_read_only(backend: str) -> None:
    x = wt.ones((3,)) + 1
    assert x.data_sync().readonly
    array = x.numpy()
    array[0] = 9
    assert x.tolist() == [2.0, 2.0, 2.0]


def test_whatever_makes_an_array_makes_a_tensor() -> None:
    class ArrayLike:
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return np.array([0, 1, 2], dtype)

    assert wt.tensor(ArrayLike()).tolist() == [0, 1, 2]
    assert wt.tensor(ArrayLike(), dtype="float32").dtype == "float32"


def test_a_tensor_cannot_be_given_to_numpy_without_a_copy() -> None:
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(wt.tensor([1.0]), copy=False)


def test_scalars_become_python_numbers(backend: str) -> None:
    assert float(wt.tensor(2.5)) == 2.5
    assert int(wt.tensor(7)) == 7
    assert bool(wt.tensor(0.0)) is False
    assert [10, 20, 30][wt.tensor(1)] == 20
    assert wt.tensor([[2.5]]).item() == 2.5
    assert wt.tensor(3).item() == 3


def test_reading_twice_gives_the_same(backend: str) -> None:
    x = wt.ones((3,)) * 2
    assert x.tolist() == x.tolist() == [2.0] * 3


# -- showing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, shown",
    [
        (2.5, "Tensor(2.5, shape=(), dtype=float32, device=host)"),
        ([1, 2], "Tensor([1, 2], shape=(2,), dtype=int32, device=host)"),
        ([[True]], "Tensor([[True]], shape=(1, 1), dtype=bool, device=host)"),
        ([0.1, math.nan], "Tensor([0.1, nan], shape=(2,), dtype=float32, device=host)"),
        ([[], []], "Tensor([[], []], shape=(2, 0), dtype=float32, device=host)"),
    ],
)
def test_a_tensor_shows_values_shape_dtype_and_device(value: Any, shown: str) -> None:
    assert repr(wt.tensor(value)) == shown


def test_long_tensors_are_shown_with_their_middle_left_out() -> None:
    shown = repr(wt.arange(1000))
    assert shown.startswith("Tensor([0, 1, 2, ..., 997, 998, 999], shape=(1000,)")
    square = repr(wt.zeros((40, 40)))
    assert square.count("...") == 7
    assert len(square) < 400


def test_a_computed_tensor_names_its_backend(backend: str) -> None:
    assert f"device={backend}" in repr(wt.ones(2) + 1)


# -- as containers ------------------------------------------------------------------------------


def test_len_and_iteration() -> None:
    x = wt.tensor([[1, 2], [3, 4], [5, 6]])
    assert len(x) == 3
    assert [row.tolist() for row in x] == [[1, 2], [3, 4], [5, 6]]
    first, *rest = wt.tensor([1, 2, 3])
    assert first.tolist() == 1
    assert len(rest) == 2


def test_a_tensor_is_its_own_key() -> None:
    x, y = wt.tensor([1.0]), wt.tensor([1.0])
    assert {x: "x", y: "y"}[x] == "x"


def test_transposes() -> None:
    x = wt.tensor(np.arange(6).reshape(1, 2, 3))
    assert x.T.shape == (3, 2, 1)
    assert x.mT.shape == (1, 3, 2)


def test_numpy_arrays_leave_operators_to_tensors() -> None:
    x = wt.tensor([1.0, 2.0])
    for result in (np.ones(2) + x, x + np.ones(2), np.float64(1) + x, x + np.float32(1)):
        assert isinstance(result, wt.Tensor)
        assert result.tolist() == [2.0, 3.0]


def test_methods_are_the_functions() -> None:
    x = wt.tensor([[1.0, 4.0]])
    assert x.sqrt().tolist() == wt.sqrt(x).tolist()
    assert x.sum(1).tolist() == [5.0]
    assert x.where(x > 2, 0.0).tolist() == [[0.0, 4.0]]
    assert x.clip(2, 3).tolist() == [[2.0, 3.0]]
    assert x.astype("int32").matmul(x.astype("int32"), transpose_b=True).tolist() == [[17]]


# -- random indexing, against NumPy --------------------------------------------------------------


def random_key(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Any mix of integers, slices, None and an ellipsis that fits a shape."""
    key: list[Any] = []
    for length in shape[: random.integers(0, len(shape) + 1)]:
        kind = random.integers(0, 3)
        if kind == 0 and length:
            key.append(int(random.integers(-length, length)))
        else:
            ends = [int(n) for n in random.integers(-length - 2, length + 3, 2)]
            start, stop = (None if random.integers(0, 3) == 0 else end for end in ends)
            step = int(random.choice([-3, -2, -1, 1, 2, 3]))
            key.append(slice(start, stop, step))
        if random.integers(0, 6) == 0:
            key.append(None)
    if random.integers(0, 2):
        key.append(Ellipsis)
    return tuple(key)


@pytest.mark.parametrize("make", [wt.tensor, wt.Variable], ids=["tensor", "variable"])
def test_numpys_functions_take_tensors_and_return_arrays(make: Callable[..., Any]) -> None:
    values = [[1.0, 2.0], [3.0, 5.0]]
    x, expected = make(values), np.array(values, np.float32)
    for function in (np.sum, np.mean, np.std, np.exp, np.median, np.cumsum, np.linalg.norm, np.ptp):
        found = function(x)
        assert isinstance(found, (np.ndarray, np.generic)), function
        np.testing.assert_allclose(found, function(expected), rtol=1e-6)
    np.testing.assert_array_equal(np.stack([x, x], axis=1), np.stack([expected, expected], axis=1))
    np.testing.assert_array_equal(np.maximum.reduce(x, axis=0), [3, 5])
    np.testing.assert_array_equal(np.clip(x, a_min=make(2.0), a_max=None), [[2, 2], [3, 5]])


def test_adding_to_an_array_in_place_keeps_the_array() -> None:
    array = np.ones(2, np.float32)
    same = array
    array += wt.tensor([1.0, 2.0])
    assert array is same
    np.testing.assert_array_equal(array, [2, 3])


@pytest.mark.parametrize("seed", range(4))
def test_basic_indexing_is_numpys(backend: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    for _ in range(60):
        shape = tuple(int(n) for n in random.integers(0, 6, random.integers(0, 7)))
        values = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
        key = random_key(random, shape)
        got = wt.tensor(values)[key]
        assert got.shape == values[key].shape, (shape, key)
        assert got.tolist() == values[key].tolist(), (shape, key)
