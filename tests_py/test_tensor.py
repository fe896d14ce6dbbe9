"""Tensors: made from host data, read, converted, shown, indexed, iterated."""

import array
import asyncio
import math
import operator
import pickle
import sys
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from PIL import Image

import webtensor as wt
from webtensor.engine.elements import Elements

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
    "an array of signed bytes": (array.array("b", [-128, -1, 127]), "int32", [-128, -1, 127]),
    "an array of bytes": (array.array("B", [0, 128, 255]), "int32", [0, 128, 255]),
    "an array of shorts": (array.array("h", [-(2**15), -1, 256]), "int32", [-(2**15), -1, 256]),
    "an array of unsigned shorts": (array.array("H", [255, 2**16 - 1]), "int32", [255, 2**16 - 1]),
    "truth values": (memoryview(bytes([0, 1, 2])).cast("?"), "bool", [False, True, True]),
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
    "a list of arrays": ([np.arange(2), np.ones(2)], "float32", [[0, 1], [1, 1]]),
    "nested arrays": (([np.arange(2)], (np.ones(2, int),)), "int32", [[[0, 1]], [[1, 1]]]),
    "an array before a list": ([np.arange(2), [1.5, 2]], "float32", [[0, 1], [1.5, 2]]),
    "a list before a nested array": ([[[2, 3]], [np.arange(2)]], "int32", [[[2, 3]], [[0, 1]]]),
    "a list before a tensor": ([[3, 4], wt.tensor([1, 2])], "int32", [[3, 4], [1, 2]]),
    "arrays of one bool": ([np.array([True]), np.array([False])], "bool", [[True], [False]]),
    "a list of arrays of text": ([np.array(["a", "b"])], "string", [["a", "b"]]),
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


def test_the_last_axis_of_nested_values_takes_a_shape() -> None:
    assert wt.tensor([[1, 2, 3, 4]], shape=(1, 2, 2)).tolist() == [[[1, 2], [3, 4]]]
    assert wt.tensor([[1, 2], [3, 4]], shape=(2, 2)).tolist() == [[1, 2], [3, 4]]
    assert wt.tensor(wt.tensor([[1, 2]]), shape=(2, 1)).tolist() == [[1], [2]]


def test_lists_may_hold_buffers() -> None:
    row = array.array("f", [1.5, 2.5])
    rows = [[3, 4], row, memoryview(row), wt.tensor([5.0, 6.0]).data_sync()]
    x = wt.tensor(rows)
    assert x.dtype == "float32"
    assert x.tolist() == [[3.0, 4.0], [1.5, 2.5], [1.5, 2.5], [5.0, 6.0]]


@pytest.mark.parametrize("make", [lambda values: values, np.array])
@pytest.mark.parametrize(
    "values, shape",
    [
        ([[1, 2], [3, 4], [5, 6]], (2, 3)),
        ([[1, 2], [3, 4]], (4,)),
        ([[1, 2]], ()),
        ([[[1], [2], [3]], [[4], [5], [6]]], (3, 2, 1)),
        ([[[1, 2]], [[3, 4]]], (2, 2, 1)),
    ],
)
def test_nested_values_of_another_shape_are_refused(
    make: Callable[[Any], Any], values: Any, shape: tuple[int, ...]
) -> None:
    with pytest.raises(ValueError, match=r"^tensor: (values of )?shape"):
        wt.tensor(make(values), shape=shape)


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
    sizes: dict[str, int] = {wt.float32: 1}
    assert sizes["float32"] == 1


@pytest.mark.parametrize(
    "spec, dtype",
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
def test_a_dtype_may_be_given_as(spec: Any, dtype: wt.DType) -> None:
    assert wt.zeros(1, spec).dtype is dtype
    assert operator.eq(dtype, spec)
    assert operator.eq(spec, dtype)
    assert not operator.ne(dtype, spec)


@pytest.mark.parametrize("other", [np.float64, np.int32, np.dtype("int32"), int, None, object, 3])
def test_a_dtype_differs_from(other: Any) -> None:
    assert operator.ne(wt.float32, other)
    assert not operator.eq(wt.float32, other)
    assert other not in (wt.float32, wt.bool)
    assert wt.float64 == np.float64


@pytest.mark.parametrize("spec", ["float64", "float", "int", "", 3, [], object, np.float64, "F32"])
def test_an_unknown_dtype_is_an_error_that_names_the_known_ones(spec: Any, no_leak: None) -> None:
    for make in (
        lambda: wt.zeros((2,), spec),
        lambda: wt.tensor([1], dtype=spec),
        lambda: wt.astype([1], spec),
        lambda: wt.Variable([1], dtype=spec),
        lambda: wt.one_hot([1], 2, dtype=spec),
        lambda: wt.random_uniform((2,), dtype=spec),
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
    assert memoryview(x.data_sync()).readonly
    array = x.numpy()
    array[0] = 9
    assert x.tolist() == [2.0, 2.0, 2.0]


def test_whatever_makes_an_array_makes_a_tensor() -> None:
    class ArrayLike:
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return np.array([0, 1, 2], dtype)

    assert wt.tensor(ArrayLike()).tolist() == [0, 1, 2]
    assert wt.tensor(ArrayLike(), dtype="float32").dtype == "float32"


class _ArrayOfAnotherLibrary:
    """As tensors of PyTorch: its dtype is none of NumPy's."""

    dtype = object()

    def __init__(self, values: Any) -> None:
        self._array = np.asarray(values)
        self.shape = self._array.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._array.astype(dtype or self._array.dtype)

    def __float__(self) -> float:
        return float(self._array)

    __int__ = __index__ = lambda self: int(self._array)


IMAGE = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
#: What other libraries have, and the elements and the dtype of the tensor that it becomes.
OF_OTHER_LIBRARIES: dict[str, tuple[Any, Any, str]] = {
    "an image": (Image.fromarray(IMAGE), IMAGE, "int32"),
    "images": ([Image.fromarray(IMAGE)] * 2, [IMAGE, IMAGE], "int32"),
    "arrays in a list": ([_ArrayOfAnotherLibrary([1.0, 2.0])] * 2, [[1, 2], [1, 2]], "float32"),
    "scalars in a list": ([_ArrayOfAnotherLibrary(3), _ArrayOfAnotherLibrary(4)], [3, 4], "int32"),
    "a scalar beside a number": ([_ArrayOfAnotherLibrary(3), 0.5], [3, 0.5], "float32"),
    "texts as objects": (np.array([["a", "bc"]], object), [["a", "bc"]], "string"),
    "bfloat16": (np.array([1.5, -2.0], ml_dtypes.bfloat16), [1.5, -2.0], "float32"),
    "a scalar of bfloat16": (ml_dtypes.bfloat16(1.5), 1.5, "float32"),
    "int4": (np.array([7, -8], ml_dtypes.int4), [7, -8], "int32"),
}


@pytest.mark.parametrize("what", OF_OTHER_LIBRARIES)
def test_data_of_other_libraries(what: str) -> None:
    value, elements, dtype = OF_OTHER_LIBRARIES[what]
    x = wt.tensor(value)
    assert (x.tolist(), x.dtype) == (np.asarray(elements).tolist(), dtype)


def test_text_of_other_libraries_may_ask_for_its_dtype() -> None:
    text = _ArrayOfAnotherLibrary(np.array(["a", "b"], object))
    assert wt.tensor(text, dtype="string").tolist() == ["a", "b"]


def test_numpy_sees_elements_on_the_host_without_a_copy() -> None:
    for x in (wt.ones((3,)) * 2, wt.tensor([2.0, 2.0, 2.0]), wt.tensor([1j, 2.0])):
        array = np.asarray(x, copy=False)
        assert np.shares_memory(array, np.asarray(x))
        assert not array.flags.writeable
        assert np.array(x).flags.writeable
        assert not np.shares_memory(np.array(x), array)
        assert np.asarray(x, dtype=np.complex128).flags.writeable
    array = np.asarray(wt.ones((3,)) * 2)  # the elements live as long as the array
    assert array.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("make", [wt.tensor, wt.Variable])
def test_without_numpy_another_way_to_read_is_named(
    make: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ModuleNotFoundError, match=r"NumPy is not loaded; use x.tolist\(\)"):
        make([1.0]).numpy()


def test_what_numpy_cannot_have_without_a_copy() -> None:
    wt.set_backend("wasm")
    for x, dtype in ((wt.tensor([1.0]), "int32"), (wt.tensor(["a"]), None), (wt.ones(2) * 2, None)):
        with pytest.raises(ValueError, match="without a copy"):
            np.asarray(x, dtype=dtype, copy=False)


MATRIX = [[3.0, 1.0], [2.0, 5.0]]
#: Calls with an integer ``n``, which is 2.
COUNTING: dict[str, Callable[[Any], Any]] = {
    "arange": wt.arange,
    "arange by steps": lambda n: wt.arange(0, 6, n),
    "bincount": lambda n: wt.bincount(wt.tensor([1]), minlength=n),
    "conv2d": lambda n: wt.conv2d(wt.ones((1, 4, 4, 1)), wt.ones((1, 1, 1, 1)), n),
    "diff": lambda n: wt.diff([1.0, 2.0, 4.0], n=n),
    "full": lambda n: wt.full(n, 1.0),
    "matrix_power": lambda n: wt.linalg.matrix_power(MATRIX, n),
    "max_pool": lambda n: wt.max_pool(wt.ones((1, 4, 4, 1)), n, (n, n)),
    "multinomial": lambda n: wt.multinomial([0.5, 0.5], n, n),
    "one_hot": lambda n: wt.one_hot([0, 1], n),
    "random_uniform": lambda n: wt.random_uniform((n,), seed=n),
    "random_uniform_int": lambda n: wt.random_uniform_int(n, n, 5, seed=1),
    "reshape": lambda n: wt.reshape(wt.ones((2, 1)), n),
    "resize_bilinear": lambda n: wt.image.resize_bilinear(wt.ones((1, 1, 1)), [n, n]),
    "roll": lambda n: wt.roll([1, 2, 3], n),
    "split": lambda n: wt.split(wt.arange(4), n)[1],
    "std": lambda n: wt.std([1.0, 2.0, 4.0], correction=n),
    "sum": lambda n: wt.sum(wt.ones((1, 2, 3)), n),
    "tensordot": lambda n: wt.linalg.tensordot(MATRIX, MATRIX, axes=n),
    "topk": lambda n: wt.topk([3.0, 1.0, 2.0], n).values,
    "zeros": wt.zeros,
}


@pytest.mark.parametrize("integer", [np.int64, np.array, wt.tensor, wt.Variable])
@pytest.mark.parametrize("name", COUNTING)
def test_integers_of_numpy_and_in_tensors_are_integers(
    name: str, integer: Callable[[int], Any]
) -> None:
    expected, actual = COUNTING[name](2), COUNTING[name](integer(2))
    assert (actual.dtype, actual.tolist()) == (expected.dtype, expected.tolist())


def test_a_variable_of_rank_0_has_no_elements_to_iterate_over() -> None:
    with pytest.raises(TypeError, match="a tensor of rank 0 cannot be iterated over"):
        list(wt.Variable(2.0))
    assert [row.tolist() for row in wt.Variable([[1], [2]])] == [[1], [2]]


#: Functions of NumPy that write to a tensor ``x``.
WRITING: dict[str, Callable[[Any], Any]] = {
    "add.at": lambda x: np.add.at(x, [0], 1.0),
    "add.at of a row": lambda x: np.add.at(x[0], 0, 1.0),
    "copyto": lambda x: np.copyto(x, 1.0),
    "put": lambda x: np.put(x, [0], 1.0),
    "place": lambda x: np.place(x, np.asarray(x) > 2, [1.0]),
    "putmask": lambda x: np.putmask(x, np.asarray(x) > 2, [1.0]),
    "put_along_axis": lambda x: np.put_along_axis(x, np.array([[0], [1]]), 9.0, 1),
    "fill_diagonal": lambda x: np.fill_diagonal(x, 1.0),
    "add": lambda x: np.add(x, 1.0, out=x),
    "multiply": lambda x: np.multiply(np.ones((2, 2), "float32"), 2.0, out=x),
    "modf": lambda x: np.modf(np.asarray(x), out=(None, x)),  # type: ignore[arg-type]
    "exp": lambda x: np.exp(x, out=x),
    "sum": lambda x: np.sum([MATRIX], 0, out=x),
    "cumsum": lambda x: np.cumsum(x, axis=0, out=x),
    "clip": lambda x: np.clip(x, 0, 1, out=x),
    "add.reduce": lambda x: np.add.reduce(np.ones((3, 2, 2), "float32"), out=x),
    "einsum": lambda x: np.einsum("ij->ij", x, out=x),
    "nan_to_num": lambda x: np.nan_to_num(x, copy=False),
    "median": lambda x: np.median(x, overwrite_input=True),
    "random.shuffle": lambda x: np.random.default_rng(1).shuffle(x),
    "the old random.shuffle": lambda x: np.random.RandomState(1).shuffle(x),
    "sort": lambda x: x.sort(),
    "an item": lambda x: x.__setitem__(0, 1.0),
}


@pytest.mark.filterwarnings("ignore:you are shuffling:UserWarning")
@pytest.mark.parametrize("make", [wt.tensor, wt.Variable], ids=["tensor", "variable"])
@pytest.mark.parametrize("name", WRITING)
def test_functions_that_write_are_refused(
    name: str, make: Callable[..., Any], backend: str
) -> None:
    x = make(MATRIX)
    with pytest.raises(TypeError, match=r"immutable|cannot be assigned to"):
        WRITING[name](x)
    assert x.tolist() == MATRIX


def test_the_refusal_says_what_to_write() -> None:
    x = wt.tensor(MATRIX)
    with pytest.raises(TypeError, match=r"numpy.copyto: tensors are immutable.*tensor.numpy\(\)"):
        np.copyto(x, 1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"x = wt.where\(mask, value, x\) for x\[mask\] = value"):
        x[x > 0] = 1
    with pytest.raises(TypeError, match="tensors are immutable, so their elements cannot be del"):
        del x[0]
    with pytest.raises(TypeError, match=r"use wt.sort\(x\)"):
        x.sort()
    with pytest.raises(TypeError, match=r"variable.assign\(wt.where"):
        wt.Variable(MATRIX, name="w")[0] = 1


def test_adding_in_place_makes_another_tensor() -> None:
    x = wt.tensor([1.0, 2.0])
    y = x
    x += 1
    assert (x.tolist(), y.tolist()) == ([2.0, 3.0], [1.0, 2.0])


def test_quotient_and_remainder_make_up_the_dividend(backend: str) -> None:
    """Also where the quotient in float32 rounds up to an integer, as 1 / 0.1 does."""
    tenths = np.arange(-300, 301, dtype=np.float32) / np.float32(10)
    y = wt.tensor(np.delete(tenths, 300))
    quotients, remainders = divmod(wt.tensor(tenths[:, None]), y)
    assert divmod(wt.tensor(1.0), 0.1)[0].item() == 9.0
    made_up = quotients.numpy().astype(np.float64) * y.numpy() + remainders.numpy()
    np.testing.assert_allclose(made_up, np.broadcast_to(tenths[:, None], made_up.shape), atol=1e-5)
    np.testing.assert_array_equal(quotients.numpy(), np.floor_divide(tenths[:, None], y.numpy()))


def test_round_of_python() -> None:
    x = wt.tensor([1.25, -2.75])
    assert round(x).tolist() == [1.0, -3.0]
    assert round(x, 1).tolist() == round(wt.Variable(x), 1).tolist() == x.round(1).tolist()


def test_scalars_are_formatted_like_numbers() -> None:
    assert f"{wt.tensor(3.14159):.3f}|{wt.tensor(7):>4d}|{wt.tensor(2.5)}" == "3.142|   7|2.5"
    assert f"{wt.tensor(True)} {wt.tensor('a'):>3} {wt.tensor(1 + 2j):.1f}" == "True   a 1.0+2.0j"
    assert f"{wt.Variable(2.0):.2f} {wt.tensor(0.5):.0%}" == "2.00 50%"
    x = wt.tensor([1.0, 2.0])
    assert f"{x}" == str(x)
    with pytest.raises(TypeError, match=r"rank 0 can be formatted as '.3f', .* shape is \(2,\)"):
        f"{x:.3f}"
    scalar = wt.tensor(1.0)
    scalar.dispose()
    assert f"{scalar}" == str(scalar)


def test_scalars_become_python_numbers(backend: str) -> None:
    assert float(wt.tensor(2.5)) == 2.5
    assert int(wt.tensor(7)) == 7
    assert bool(wt.tensor(0.0)) is False
    assert bool(wt.tensor([[2]])) is True
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
        ([[True]], "Tensor([[ True]], shape=(1, 1), dtype=bool, device=host)"),
        ([0.1, math.nan], "Tensor([0.1, nan], shape=(2,), dtype=float32, device=host)"),
        ([[], []], "Tensor([], shape=(2, 0), dtype=float32, device=host)"),
    ],
)
def test_a_tensor_shows_values_shape_dtype_and_device(value: Any, shown: str) -> None:
    assert repr(wt.tensor(value)) == shown


def test_a_matrix_is_shown_on_several_lines() -> None:
    assert repr(wt.tensor([[1.0, -2.5], [30.0, 4.0]])).splitlines() == [
        "Tensor([[ 1. , -2.5],",
        "        [30. ,  4. ]], shape=(2, 2), dtype=float32, device=host)",
    ]
    assert repr(wt.Variable([[1], [2]], name="v")).splitlines() == [
        "Variable(Tensor([[1],",
        "                 [2]], shape=(2, 1), dtype=int32, device=host), name='v', trainable=True)",
    ]


def test_read_elements_show_their_numbers() -> None:
    elements = Elements(memoryview(array.array("f", [1.0, 2.5, 3.0])).toreadonly(), wt.float32)
    assert repr(elements) == "Elements([1. , 2.5, 3. ], dtype=float32)"
    assert repr(elements[1:]) == "Elements([2.5, 3. ], dtype=float32)"


@pytest.mark.parametrize(
    "values, dtype",
    [([1.5, 2.5, 3.0], "float32"), ([1, 2, 3], "int32"), ([True, False, True], "bool")],
)
def test_read_elements_are_a_sequence_and_a_buffer(values: list[Any], dtype: str) -> None:
    x = wt.tensor(values, dtype=dtype)
    elements = x.data_sync()
    assert list(elements) == elements.tolist() == [*elements[:1], *elements[1:]] == values
    assert (len(elements), elements.nbytes, elements.itemsize) == (
        3,
        3 * x.dtype.itemsize,
        x.dtype.itemsize,
    )
    assert elements == x.data_sync()
    assert elements != (x + x).data_sync()
    assert values[1] in elements
    assert memoryview(elements).readonly
    assert bytes(elements) == elements.tobytes() == np.array(values, dtype).tobytes()
    assert np.asarray(elements).tolist() == values
    assert wt.tensor(elements).tolist() == values
    with pytest.raises(TypeError):
        elements[0] = 0


def random_array(generator: np.random.Generator, dtype: str) -> Any:
    shape = tuple(generator.choice([1, 2, 3, 4, 7, 12, 40], generator.integers(0, 4)))
    if dtype == "bool":
        return generator.random(shape) < 0.5
    if dtype == "int32":
        bound = 10 ** generator.integers(1, 9)
        return generator.integers(-bound, bound, shape, np.int32)
    if dtype == "complex64":
        real, imaginary = (random_array(generator, "float32") for _ in range(2))
        return (real.ravel()[0] + 1j * imaginary).astype(np.complex64)
    exponents = generator.integers(-7, 9, shape if generator.random() < 0.5 else ())
    numbers = generator.normal(size=shape) * 10.0**exponents
    if generator.random() < 0.5:
        numbers = np.round(numbers, generator.integers(0, 3))
    odd = generator.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape)
    return np.where(generator.random(shape) < 0.1, odd, numbers).astype(np.float32)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "complex64"])
def test_tensors_are_shown_as_numpy_prints_arrays(dtype: str) -> None:
    generator = np.random.default_rng(7)
    for _ in range(250):
        values = random_array(generator, dtype)
        expected = np.array2string(values, separator=", ", threshold=100, prefix="Tensor(")
        shown = repr(wt.tensor(values))
        assert shown == f"Tensor({expected}, shape={values.shape}, dtype={dtype}, device=host)"


@pytest.mark.parametrize(
    "values", [[1e6], [999_999.0], [1e-4], [9e-5], [0.5, 500.0], [0.5, 501.0], [-1e6, 1e6]]
)
def test_exponents_are_shown_where_numpy_shows_them(values: list[float]) -> None:
    expected = np.array2string(np.array(values, np.float32), separator=", ")
    assert repr(wt.tensor(values)).startswith(f"Tensor({expected}, ")


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


@pytest.mark.parametrize("value", [2.5, 3, np.float32(2), [1, 2.5], math.nan])
def test_in_says_whether_an_element_equals_a_value(value: Any) -> None:
    rows = [[1, 2.5], [2, math.nan]]
    assert (value in wt.tensor(rows)) is (value in wt.Variable(rows)) is (value in np.array(rows))


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
    functions: list[Callable[[Any], Any]] = [np.sum, np.mean, np.std, np.exp, np.median]
    functions += [np.cumsum, np.linalg.norm, np.ptp]
    for function in functions:
        result = function(x)
        assert isinstance(result, (np.ndarray, np.generic)), function
        np.testing.assert_allclose(np.asarray(result), function(expected), rtol=1e-6)
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


def random_advanced_key(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A key with arrays of indices, masks and single bools among its parts."""
    key: list[Any] = []
    common = [(), (1,), (3,), (2, 1), (2, 3)][random.integers(0, 5)]
    axis = 0
    while axis < len(shape) and random.integers(0, 8):
        length = shape[axis]
        kind = random.integers(0, 9)
        consumed = 1
        if kind == 0:
            key.append(slice(None, None, int(random.choice([1, 2, -1]))))
        elif kind == 1 and length:
            key.append(int(random.integers(-length, length)))
        elif kind in (2, 3, 4) and length:
            ones = [1 if random.integers(0, 4) == 0 else size for size in common]
            key.append(random.integers(-length, length, ones[random.integers(0, len(ones) + 1) :]))
        elif kind == 5:
            lengths = shape[axis : axis + random.integers(1, 3)]
            key.append(random.integers(0, 2, lengths).astype(bool))
            consumed = len(lengths)
        elif kind == 6:
            key.append(None)
            consumed = 0
        elif kind == 7 and random.integers(0, 3) == 0:
            key.append(bool(random.integers(0, 2)))
            consumed = 0
        else:
            key.append(slice(None))
        axis += consumed
    if random.integers(0, 3) == 0:
        key.insert(random.integers(0, len(key) + 1), Ellipsis)
    return tuple(key)


def outcome(values: Any, key: tuple[Any, ...]) -> Any:
    """Elements and shape of ``values[key]``, or the error."""
    try:
        result = values[key]
    except IndexError:
        return IndexError
    return result.shape, result.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_advanced_indexing_is_numpys(backend: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    for _ in range(60):
        shape = tuple(int(n) for n in random.integers(random.integers(0, 2), 5, 4))[: 1 + seed]
        values = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
        key = random_advanced_key(random, shape)
        forms: list[Any] = [wt.tensor, np.ndarray.tolist, lambda part: part]
        ours = tuple(
            random.choice(forms)(part) if isinstance(part, np.ndarray) and part.size else part
            for part in key
        )
        assert outcome(wt.tensor(values), ours) == outcome(values, key), (shape, key)


@pytest.mark.parametrize("seed", range(3))
def test_gradients_of_indexing_add_up_where_indices_repeat(backend: str, seed: int) -> None:
    random = np.random.default_rng(100 + seed)
    for _ in range(15):
        shape = tuple(int(n) for n in random.integers(1, 5, 3))
        values = random.normal(size=shape).astype("float32")
        key = random_advanced_key(random, shape)
        if outcome(values, key) is IndexError:
            continue
        weights = random.normal(size=values[key].shape).astype("float32")
        expected = np.zeros_like(values)
        np.add.at(expected, key, weights)
        gradient = wt.grad(itemgetter(key))(values, weights)
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_indexing_of_other_dtypes(backend: str) -> None:
    rows, columns = wt.tensor([0, 1, 0]), wt.tensor([-1, 0, 0])
    for values in (
        [["a", "b"], ["c", "d"]],
        [[1j, 2.0], [3.0, 4j]],
        [[True, False], [False, True]],
    ):
        expected = np.array(values)[[0, 1, 0], [-1, 0, 0]].tolist()
        assert wt.tensor(values)[rows, columns].tolist() == expected


def test_a_scalar_tensor_of_bool_is_an_index() -> None:
    x = wt.tensor([1.0, 2.0])
    assert x[wt.tensor(True)].tolist() == x[True].tolist() == x[np.bool_(True)].tolist()
    assert x[True].tolist() == [[1.0, 2.0]]
    assert x[wt.sum(x) < 0].shape == (0, 2)
    assert wt.tensor(3.0)[wt.tensor(True)].tolist() == [3.0]


WRONG_KEYS = {
    "too many": (lambda x: x[[0], [0], [0]], IndexError, "index: 3 indices for a tensor of rank 2"),
    "too many for a mask": (
        lambda x: x[0, np.ones((2, 3), bool)],
        IndexError,
        "index: 3 indices for a tensor of rank 2",
    ),
    "a mask of another shape": (
        lambda x: x[:, np.ones(2, bool)],
        IndexError,
        r"index: a mask of shape \(2,\) does not fit the axes from 1 on, of sizes \(3,\)",
    ),
    "shapes that do not broadcast": (
        lambda x: x[[0, 1], [0, 1, 2]],
        IndexError,
        r"index: indices of shapes \(2,\), \(3,\) cannot be broadcast together",
    ),
    "out of range": (
        lambda x: x[[0, 2], [0, 0]],
        IndexError,
        r"index: indices must lie in \[-2, 2\) for an axis of size 2, but they range from 0 to 2",
    ),
    "fractions": (
        lambda x: x[wt.tensor([0.5])],
        TypeError,
        "index: a tensor of indices must be int32, but got float32",
    ),
}


@pytest.mark.parametrize("what", WRONG_KEYS)
def test_wrong_keys(what: str) -> None:
    use, kind, message = WRONG_KEYS[what]
    with pytest.raises(kind, match=message):
        use(wt.ones((2, 3)))


def test_where_without_choices_gives_indices(backend: str) -> None:
    condition = np.random.default_rng(0).random((3, 5)) < 0.5
    rows, columns = wt.where(wt.tensor(condition))
    expected_rows, expected_columns = np.where(condition)
    np.testing.assert_array_equal(rows.numpy(), expected_rows)
    np.testing.assert_array_equal(columns.numpy(), expected_columns)
