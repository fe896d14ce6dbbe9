"""`wt` as a namespace of the Python array API standard: names, signatures, dtypes, inspection."""

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.standards.signatures import FUNCTIONS, METHODS, fault_of


@pytest.mark.parametrize("line", FUNCTIONS, ids=lambda line: line.split("(")[0])
def test_function_of_the_standard(line: str) -> None:
    """Whatever call the standard allows, ours takes, with the same defaults."""
    assert fault_of(line, wt) is None


@pytest.mark.parametrize("line", METHODS, ids=lambda line: line.split("(")[0])
def test_method_of_the_standard(line: str) -> None:
    assert fault_of(line, wt.Tensor) is None


def test_other_signatures_are_noticed() -> None:
    assert fault_of("stack(arrays, /, *, place=0)", wt) == (
        "stack: got an unexpected keyword argument 'place'"
    )
    assert fault_of("stack(arrays, /, *, axis=1)", wt) == (
        "stack: axis is 0 unless it is given, not 1"
    )


def test_constants() -> None:
    assert (wt.e, wt.pi, wt.inf, wt.newaxis) == (math.e, math.pi, math.inf, None)
    assert wt.nan != wt.nan
    assert wt.ones((2,))[:, wt.newaxis].shape == (2, 1)


def test_tensors_know_their_namespace() -> None:
    x = wt.ones(2)
    assert x.__array_namespace__() is wt
    assert wt.Variable(1.0).__array_namespace__(api_version="2022.12") is wt
    assert wt.__array_api_version__ == "2024.12"
    with pytest.raises(ValueError, match="api_version must be one of"):
        x.__array_namespace__(api_version="1999.01")


def test_inspection() -> None:
    info = wt.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] is True
    assert info.default_device() == "numpy"
    assert set(info.devices()) >= {"numpy", "wasm"}
    assert info.default_dtypes()["real floating"] is wt.float32
    assert list(info.dtypes()) == ["bool", "int32", "float32", "complex64"]
    assert info.dtypes(kind="integral") == {"int32": wt.int32}
    assert list(info.dtypes(kind=("bool", "real floating"))) == ["bool", "float32"]


def test_tensors_have_eight_axes_at_least(backend: str) -> None:
    shape = (2, 1, 3, 1, 2, 2, 1, 2)
    x = wt.reshape(wt.arange(48, dtype="float32"), shape)
    y = wt.permute_dims(x, (7, 5, 3, 1, 0, 2, 4, 6)) + wt.ones((2, 1))
    expected = np.transpose(np.arange(48.0).reshape(shape), (7, 5, 3, 1, 0, 2, 4, 6)) + np.ones(
        (2, 1)
    )
    assert wt.sum(y, (0, 3, 6)).tolist() == expected.sum((0, 3, 6)).tolist()


@pytest.mark.parametrize(
    "kind, members",
    [
        ("bool", ["bool"]),
        ("signed integer", ["int32"]),
        ("unsigned integer", []),
        ("integral", ["int32"]),
        ("real floating", ["float32"]),
        ("complex floating", ["complex64"]),
        ("numeric", ["int32", "float32", "complex64"]),
        ("int32", ["int32"]),
        (wt.float32, ["float32"]),
        (("bool", wt.complex64), ["bool", "complex64"]),
    ],
)
def test_isdtype(kind: Any, members: list[str]) -> None:
    known = ("bool", "int32", "float32", "complex64")
    assert [name for name in known if wt.isdtype(name, kind)] == members


ORDER = ("bool", "int32", "float32", "complex64")


@pytest.mark.parametrize("first", ORDER)
@pytest.mark.parametrize("second", ORDER)
def test_promotion(first: str, second: str) -> None:
    higher = max(first, second, key=ORDER.index)
    x, y = wt.zeros(2, dtype=first), wt.zeros(2, dtype=second)
    assert wt.result_type(first, y) == higher
    assert wt.can_cast(x, second) == (higher == second)
    summed = "int32" if higher == "bool" else higher
    assert wt.add(x, y).dtype == summed
    assert wt.concat([x, y]).dtype == higher


def test_result_type_of_numbers() -> None:
    x = wt.tensor([1])
    assert wt.result_type(x, 2) == wt.result_type(x, True) == "int32"
    assert wt.result_type(x, 2.5) == (x + 2.5).dtype == "float32"
    assert wt.result_type(x, 2j) == (x + 2j).dtype == "complex64"
    assert wt.result_type(wt.Variable(1.0), "bool") == "float32"


def test_limits_are_those_of_numpy() -> None:
    for dtype in ("float32", "complex64"):
        ours, theirs = wt.finfo(dtype), np.finfo(dtype)
        for name in ("bits", "eps", "max", "min", "smallest_normal"):
            assert getattr(ours, name) == getattr(theirs, name)
    assert wt.iinfo(wt.tensor([1])).min == np.iinfo(np.int32).min
    assert wt.iinfo("int32").bits == 32
    assert wt.finfo("complex64").dtype == "float32"


UNSUPPORTED = (
    *("int8", "int16", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float64", "complex128"),
)
ALL_DTYPES = (*ORDER, *UNSUPPORTED)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_dtypes_are_names(name: str) -> None:
    dtype = getattr(wt, name)
    assert dtype == name == str(dtype)
    assert hash(dtype) == hash(name)
    assert repr(dtype) == repr(name)
    assert pickle.loads(pickle.dumps(dtype)) is copy.deepcopy(dtype) is dtype
    assert name not in wt.__array_namespace_info__().dtypes()
    kinds = ("bool", "signed integer", "unsigned integer", "real floating", "complex floating")
    for kind in (*kinds, "integral", "numeric", *ALL_DTYPES):
        theirs = np.isdtype(np.dtype(name), np.dtype(kind) if kind in ALL_DTYPES else kind)
        assert wt.isdtype(dtype, kind) is theirs


@pytest.mark.parametrize("name", UNSUPPORTED)
@pytest.mark.parametrize("make", ["tensor", "zeros", "astype", "full_like", "sum", "linspace"])
def test_unsupported_dtypes_cannot_be_used(name: str, make: str) -> None:
    x = wt.ones(2)
    calls: dict[str, Callable[[Any], Any]] = {
        "tensor": lambda dtype: wt.asarray([1], dtype=dtype),
        "zeros": lambda dtype: wt.zeros(3, dtype=dtype),
        "astype": lambda dtype: wt.astype(x, dtype),
        "full_like": lambda dtype: wt.full_like(x, 1, dtype=dtype),
        "sum": lambda dtype: wt.sum(x, dtype=dtype),
        "linspace": lambda dtype: wt.linspace(0, 1, 3, dtype=dtype),
    }
    nearest = {"f": "float32", "c": "complex64"}.get(name[0], "int32")
    for dtype in (getattr(wt, name), name, np.dtype(name)):
        message = f"dtype .*{name}.* is not supported; wanted one of bool, .* use {nearest}"
        with pytest.raises(TypeError, match=message):
            calls[make](dtype)


def test_substitutes_for_unsupported_dtypes() -> None:
    wt.env().set("SUBSTITUTE_DTYPES", True)
    try:
        assert wt.zeros(2, dtype=wt.float64).dtype is wt.float32
        assert wt.astype(wt.ones(2), "complex128").dtype is wt.complex64
        assert wt.asarray([1.5], dtype=np.int64).tolist() == [1]
        assert wt.full(2, 3, dtype=np.dtype("uint8")).dtype is wt.int32
        with pytest.raises(TypeError, match="dtype 'float63' is not supported"):
            wt.zeros(2, dtype="float63")
    finally:
        wt.env().set("SUBSTITUTE_DTYPES", False)


@pytest.mark.parametrize("first", ALL_DTYPES)
def test_result_types_are_those_of_numpy_within_a_kind(first: str) -> None:
    for second in ALL_DTYPES:
        theirs = np.result_type(np.dtype(first), np.dtype(second))
        if "int" in first and "int" in second and theirs.kind == "f":
            with pytest.raises(TypeError, match="no dtype holds the integers of both"):
                wt.result_type(first, second)
        elif not _integers_meet_floats(first, second):
            assert wt.result_type(getattr(wt, first), getattr(wt, second)) == theirs.name
            assert wt.can_cast(first, second) == (theirs.name == second)


def _integers_meet_floats(*names: str) -> bool:
    """Whether the standard leaves it open what two dtypes give, as NumPy has more than float32."""
    return any("int" in name for name in names) and any(name[0] in "fc" for name in names)


def test_result_types_of_numbers_and_unsupported_dtypes() -> None:
    assert wt.result_type(wt.int8, 2) == "int8"
    assert wt.result_type(wt.float64, 2.5, 1) == "float64"
    assert wt.result_type(wt.float64, 2j) == "complex128"
    assert wt.result_type(wt.int64, 2.5) == "float32"


@pytest.mark.parametrize("name", ALL_DTYPES[1:])
def test_limits_of_every_dtype(name: str) -> None:
    ours: Any
    theirs: Any
    fields: tuple[str, ...]
    if "int" in name:
        ours, theirs, fields = wt.iinfo(name), np.iinfo(name), ("bits", "min", "max")
    else:
        ours, theirs = wt.finfo(name), np.finfo(name)
        fields = ("bits", "eps", "max", "min", "smallest_normal")
    for field in fields:
        assert getattr(ours, field) == getattr(theirs, field)
        assert type(getattr(ours, field)) in (int, float)
    assert ours.dtype == getattr(wt, theirs.dtype.name)
    assert not isinstance(ours.dtype, str)
    assert str(ours.dtype) == ours.dtype.name == theirs.dtype.name
    if name in ORDER:
        assert wt.zeros(2, dtype=ours.dtype).dtype is getattr(wt, theirs.dtype.name)


@pytest.mark.parametrize("name", ALL_DTYPES)
def test_dtypes_have_the_kinds_of_numpy(name: str) -> None:
    assert getattr(wt, name).kind == np.dtype(name).kind
    assert wt.tensor("a").dtype.kind == "T"


@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_that_cannot_be_inserted_is_an_index_error(axis: int) -> None:
    for kind in (IndexError, ValueError):
        with pytest.raises(kind, match=f"expand_dims: axis {axis} is out of range"):
            wt.expand_dims([1, 2], axis)


def test_unstack_returns_a_tuple() -> None:
    rows = wt.unstack(wt.tensor([[1, 2], [3, 4]]))
    assert isinstance(rows, tuple)
    assert [row.tolist() for row in rows] == [[1, 2], [3, 4]]


def test_attributes_of_the_standard() -> None:
    x = wt.ones((2, 3))
    assert (x.dtype, x.ndim, x.shape, x.size) == (wt.float32, 2, (2, 3), 6)
    assert x.T.shape == x.mT.shape == (3, 2)
    assert x.device in wt.__array_namespace_info__().devices()


def test_dlpack_takes_its_arguments() -> None:
    x = wt.tensor([1.0, 2.0])
    for copy_ in (None, True, False):
        for version in (None, (0, 0), (1, 0), (2, 0)):
            assert x.__dlpack__(max_version=version, dl_device=(1, 0), copy=copy_) is not None
    with pytest.raises(BufferError, match=r"dl_device must be \(1, 0\), but got \(2, 0\)"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="stream must be None, but got 1"):
        x.__dlpack__(stream=1)  # type: ignore[arg-type]
    with pytest.raises(BufferError, match="string tensors"):
        wt.tensor(["a"]).__dlpack__()


def test_tensors_pass_through_from_dlpack(no_leak: None) -> None:
    x = wt.ones(3, device="wasm")
    assert wt.from_dlpack(x, copy=False) is x
    assert wt.from_dlpack(x).device == "wasm"
    assert wt.from_dlpack(x, copy=True) is not x
    assert wt.from_dlpack(x, device="numpy", copy=True).device == "numpy"


@pytest.mark.parametrize("values", [[1.0, 2.0], 3, []])
def test_tensors_have_a_device_before_they_are_used(backend: str, values: Any) -> None:
    x = wt.asarray(values)
    assert x.device == (x * 2).device == backend
    assert x.device in wt.__array_namespace_info__().devices()


def test_devices_are_backends(backend: str, no_leak: None) -> None:
    x = wt.ones(3, device="wasm")
    assert x.device == "wasm"
    assert x.to_device("numpy").tolist() == [1, 1, 1]
    assert x.device == "numpy"
    y = wt.tensor([1.0])
    assert y.to_device("host") is y
    assert wt.asarray([1, 2], device="numpy").device == "numpy"
    assert wt.astype(x, "int32", device="wasm").device == "wasm"
    assert wt.fft.fftfreq(4, device="wasm").device == "wasm"
    assert wt.fft.rfftfreq(4, device="wasm").device == "wasm"
    with pytest.raises(ValueError, match=r"to_device: device must be one of .*, but got 'cuda'"):
        x.to_device("cuda")
    with pytest.raises(ValueError, match="stream must be None"):
        x.to_device("numpy", stream=1)


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "complex64"])
def test_exchange_through_dlpack(backend: str, no_leak: None, dtype: str) -> None:
    x = wt.astype(wt.tensor([[0, 1, 2], [3, 4, 5]]), dtype)
    assert x.__dlpack_device__() == (1, 0)
    array = np.from_dlpack(x)
    assert array.dtype == dtype
    assert array.tolist() == x.tolist()
    back = wt.from_dlpack(array)
    assert back.dtype == dtype
    assert back.tolist() == x.tolist()
    with pytest.raises(TypeError, match="x must have __dlpack__, but got list"):
        wt.from_dlpack([1])
    with pytest.raises(BufferError, match="copy must not be False"):
        wt.from_dlpack(array, copy=False)


def test_asarray_copies_as_it_is_told() -> None:
    x = wt.tensor([1.0])
    assert wt.asarray(x) is x
    assert wt.asarray(x, copy=True) is not x
    assert wt.asarray(x, copy=False) is x
    assert wt.astype(x, "float32", copy=False) is x
    for values in ([1.0], x):
        with pytest.raises(ValueError, match="copy must not be False"):
            wt.asarray(values, dtype="int32", copy=False)


def test_shapes_that_broadcast() -> None:
    assert wt.broadcast_shapes() == ()
    assert wt.broadcast_shapes((2, 1), 3, ()) == (2, 3)
    first, second = wt.broadcast_arrays(wt.ones((2, 1)), [True, False, True])
    assert (first.shape, second.shape, second.dtype) == ((2, 3), (2, 3), "bool")


ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "limits of floats of int32": (lambda: wt.finfo("int32"), TypeError, "finfo: dtype must be"),
    "limits of integers of float32": (lambda: wt.iinfo("float32"), TypeError, "iinfo: dtype must"),
    "limits of nothing": (lambda: wt.finfo("float63"), TypeError, "finfo: dtype 'float63' is not"),
    "a kind that there is not": (
        lambda: wt.isdtype("int32", "round"),
        ValueError,
        "isdtype: kind must be a dtype or one of bool, .*, but got 'round'",
    ),
    "a kind that there is not, after one that fits": (
        lambda: wt.isdtype("int32", ("integral", "round")),
        ValueError,
        "isdtype: kind must be a dtype or one of bool, .*, but got 'round'",
    ),
    "the kind of nothing": (lambda: wt.isdtype("text", "bool"), TypeError, "isdtype: dtype 'text'"),
    "the type of nothing": (wt.result_type, ValueError, "result_type: wanted at least"),
    "the type of a list": (lambda: wt.result_type([1]), TypeError, "result_type: dtype"),
    "casting to nothing": (lambda: wt.can_cast("int32", "x"), TypeError, "can_cast: dtype 'x'"),
    "shapes that do not broadcast": (
        lambda: wt.broadcast_shapes((2,), (3,)),
        ValueError,
        "broadcast_shapes: shapes",
    ),
    "tensors that do not broadcast": (
        lambda: wt.broadcast_arrays(wt.ones(2), wt.ones(3)),
        ValueError,
        "broadcast_arrays: shapes",
    ),
    "plus a truth": (lambda: wt.positive(True), TypeError, "positive: x must hold numbers"),
}


@pytest.mark.parametrize("what", ERRORS)
def test_bad_input(what: str, no_leak: None) -> None:
    do, kind, message = ERRORS[what]
    with pytest.raises(kind, match=message):
        do()
