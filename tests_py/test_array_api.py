"""`wt` as a namespace of the Python array API standard: names, signatures, dtypes, inspection."""

import inspect
import math
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt

#: The functions of the standard's version 2024.12 and its extensions, a signature in each line.
STANDARD = Path(__file__).with_name("array_api_functions.txt").read_text().splitlines()


def _signature(text: str) -> inspect.Signature:
    scope: dict[str, Any] = {}
    exec(f"def function{text[text.index('(') :]}: pass", scope)
    return inspect.signature(scope["function"])


@pytest.mark.parametrize("line", STANDARD, ids=lambda line: line.split("(")[0])
def test_function_of_the_standard(line: str) -> None:
    """Whatever call the standard allows, ours takes, with the same defaults."""
    name = line.split("(")[0]
    theirs = _signature(line)
    ours = inspect.signature(reduce(getattr, name.split("."), wt))
    positional, keywords = [], {}
    for parameter in theirs.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional += [0, 0]
        elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(0)
        else:
            keywords[parameter.name] = 0
    empty = inspect.Parameter.empty
    ours.bind(*positional, **keywords)
    ours.bind(
        *positional, **{key: 0 for key in keywords if theirs.parameters[key].default is empty}
    )
    for key in keywords:
        own, default = ours.parameters[key].default, theirs.parameters[key].default
        # Where the standard has None for the dtype, ours may name it.
        same = own == default or (key == "dtype" and default is None)
        assert default is empty or same or (name, key) in OWN_DEFAULTS


#: Whether to copy is for us to decide.
OWN_DEFAULTS = {("from_dlpack", "copy")}


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
    wanted = np.transpose(np.arange(48.0).reshape(shape), (7, 5, 3, 1, 0, 2, 4, 6)) + np.ones(
        (2, 1)
    )
    assert wt.sum(y, (0, 3, 6)).tolist() == wanted.sum((0, 3, 6)).tolist()


@pytest.mark.parametrize(
    "kind, held",
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
def test_isdtype(kind: Any, held: list[str]) -> None:
    known = ("bool", "int32", "float32", "complex64")
    assert [name for name in known if wt.isdtype(name, kind)] == held


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


def test_devices_are_backends(backend: str, no_leak: None) -> None:
    x = wt.ones(3, device="wasm")
    assert x.device == "wasm"
    assert x.to_device("numpy").tolist() == [1, 1, 1]
    assert x.device == "numpy"
    y = wt.tensor([1.0])
    assert y.device == y.to_device("host").device == "host"
    assert wt.asarray([1, 2], device="numpy").device == "numpy"
    assert wt.astype(x, "int32", device="wasm").device == "wasm"
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
    with pytest.raises(ValueError, match="copy must not be False"):
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
