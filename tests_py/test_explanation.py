"""Errors are completed where they leave a public function; see `webtensor.explanation`."""

import asyncio
import gc
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor.shapes import SIZE_LIMIT

X = [[1.0, 2.0], [3.0, 4.0]]


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda: wt.mean(X, keepdims=[1]), TypeError, "mean: keepdims must be True or False"),
        (lambda: wt.all(X, keepdims=[[]]), TypeError, "all: keepdims must be True or False"),
        (lambda: wt.fft.fft([1.0], norm=["ortho"]), TypeError, "fft: norm must be a string"),
        (
            lambda: wt.pool(wt.ones((1, 2, 2, 1)), 2, ["max"], "same"),
            TypeError,
            "pool: pooling_type must be",
        ),
        (
            lambda: wt.avg_pool(wt.ones((1, 2, 2, 1)), 2, 1, 0, dim_rounding_mode=["floor"]),
            (TypeError, ValueError),
            "avg_pool: dim_rounding_mode must be",
        ),
        (lambda: wt.tidy([1]), TypeError, "tidy: function must be callable"),
        (lambda: wt.add(X, [None]), TypeError, r"add: elements must be numbers.*x=.*y=\[None\]"),
        (
            lambda: wt.clip(X, [0.0, 0.0, 0.0]),
            ValueError,
            r"clip: shapes .* \(called with x=.*min=",
        ),
        (lambda: wt.one_hot([0], 2, dtype="f8"), TypeError, "one_hot: dtype 'f8' is not supported"),
        (lambda: wt.signal.hann_window(-1), ValueError, "hann_window: window_length must not be"),
        (lambda: wt.relu("\ud800"), ValueError, "relu: .*called with x="),
        (lambda: wt.tensor(X).sum(axis=7), ValueError, r"sum: axis 7 .*\(shape=\(2, 2\), dtype="),
        (lambda: wt.random_uniform((2,), 0, 10**400), ValueError, "random_uniform: .*maxval="),
    ],
)
def test_the_called_function_and_its_argument_are_named(
    call: Callable[[], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_asynchronous_functions_complete_their_errors() -> None:
    with pytest.raises(TypeError, match="in_top_k_async: targets must be"):
        asyncio.run(wt.in_top_k_async(X, [1j, 2j]))


def test_a_disposed_tensor_is_told_with_its_argument() -> None:
    x = wt.tensor(X)
    x.dispose()
    with pytest.raises(ValueError, match=r"add: the tensor is disposed.*y=Tensor\(disposed, "):
        wt.add(1.0, x)


def test_lists_that_hold_themselves_or_are_deep_end() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="exp: sequences must not be nested deeper than 64"):
        wt.exp(endless)


def test_what_python_raised_is_the_cause() -> None:
    with pytest.raises(ValueError, match=r"asarray: .*obj=") as raised:
        wt.asarray("\ud800")
    assert isinstance(raised.value.__cause__, UnicodeEncodeError)


def test_what_a_function_of_the_users_raises_stays() -> None:
    def draw() -> float:
        raise KeyError("mine")

    with pytest.raises(KeyError, match=r"^'mine'$"):
        wt.rand((2,), draw)
    with pytest.raises(KeyError, match=r"^'mine'$"):
        wt.tidy(draw)


def test_an_error_is_completed_once_for_the_outermost_function() -> None:
    with pytest.raises(ValueError) as raised:
        wt.losses.mean_squared_error([1.0, 2.0], [1.0, 2.0, 3.0])
    assert str(raised.value).count("called with") == 1


def test_errors_hold_no_tensors_in_cycles() -> None:
    gc.collect()
    gc.disable()
    try:
        before = wt.memory()["num_tensors"]
        for call in (wt.matmul, wt.add, wt.asarray, wt.take):
            with pytest.raises((TypeError, ValueError)):
                call(wt.ones((2, 3)), object())
        del call
        assert wt.memory()["num_tensors"] == before
    finally:
        gc.enable()


SIGNATURE = "its signature is std(x, axis=None, correction=0.0, keepdims=False)"
MISMATCHES: list[tuple[Callable[[], Any], str]] = [
    (lambda: wt.std(X, ddof=1), f"std() got an unexpected keyword argument 'ddof'; {SIGNATURE}"),  # type: ignore[call-arg]
    (
        lambda: wt.tensor(X).std(ddof=1),
        f"std() got an unexpected keyword argument 'ddof'; {SIGNATURE}",
    ),
    (
        lambda: wt.gather(X),  # type: ignore[call-arg]
        "gather() missing 1 required positional argument: 'indices'; its signature is "
        "gather(x, indices, axis=0, batch_dims=0)",
    ),
]


@pytest.mark.parametrize("call, text", MISMATCHES)
def test_calls_that_do_not_fit_the_signature_are_told_it(
    call: Callable[[], Any], text: str
) -> None:
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value) == text


# -- sizes ----------------------------------------------------------------------------------------

TOO_LARGE: list[tuple[str, Callable[[], Any]]] = [
    ("limits", lambda: wt.ragged_range([1.1, 0.1], [10.0, 1e10], [1.0, 1.0])),
    ("limits", lambda: wt.ragged_range(0.0, float("inf"), 1.0)),
    ("stop", lambda: wt.arange(10**9)),
    ("stop", lambda: wt.arange(0.0, 1e30)),
    ("num", lambda: wt.linspace(0, 1, 2**31)),
    ("n_rows", lambda: wt.eye(10**5)),
    ("n", lambda: wt.fft.rfftfreq(10**9)),
    ("n", lambda: wt.fft.fftfreq(10**30)),
    ("s", lambda: wt.fft.fftn(X, s=(10**6, 10**6))),
    ("window_length", lambda: wt.signal.cosine_window(10**30, 0.5, 0.5)),
    ("window_length", lambda: wt.signal.hann_window(2**63)),
    ("repeats", lambda: wt.repeat([1, 2], 10**12)),
    ("repeats", lambda: wt.repeat([1], 10**12)),
    ("repeats", lambda: wt.repeat([1, 2], [2**31 - 1, 2**31 - 1])),
    ("shape", lambda: wt.ones((10**6, 10**6))),
    ("shape", lambda: wt.full(2**31, 1)),
    ("shape", lambda: wt.broadcast_to([1.0], (10**6, 10**6))),
    ("shape", lambda: wt.random_normal(SIZE_LIMIT)),
    ("repetitions", lambda: wt.tile([1.0, 2.0], (2**40,))),
    ("depth", lambda: wt.one_hot([1, 2], 2**40)),
    ("paddings", lambda: wt.pad([1.0], [(0, 2**40)])),
    ("size", lambda: wt.image.resize_bilinear(wt.ones((1, 2, 2, 1)), (2**20, 2**20))),
]


@pytest.mark.parametrize("argument, call", TOO_LARGE)
def test_sizes_are_checked_before_anything_is_made(
    argument: str, call: Callable[[], Any], backend: str, no_leak: None
) -> None:
    with pytest.raises(
        wt.OutOfMemoryError, match=f"fewer than {SIZE_LIMIT:,}|no room for"
    ) as raised:
        call()
    assert re.search(rf"\b{argument}\b", str(raised.value))


# -- integers one by one --------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [((2, 3),), (2, 3), (np.int64(2), -1), ([2, 3],)])
def test_reshape_takes_lengths_one_by_one(shape: Any) -> None:
    assert wt.arange(6).reshape(*shape).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_methods_of_variables_and_keywords_stay() -> None:
    variable = wt.Variable([1.0, 2.0, 3.0, 4.0])
    assert variable.reshape(2, 2, copy=True).shape == (2, 2)
    assert variable.reshape(shape=(4, 1)).shape == (4, 1)
    assert wt.ones((2, 3, 4)).transpose(2, 0, 1).shape == (4, 2, 3)
    assert wt.ones((2, 3)).transpose(perm=(1, 0)).shape == (3, 2)
    assert wt.ones((2, 3)).transpose().shape == (3, 2)


def test_the_function_says_what_is_meant() -> None:
    with pytest.raises(TypeError, match=r"one argument: reshape\(x, \(2, 3\)\)"):
        wt.reshape(wt.arange(6), 2, 3)
    with pytest.raises(ValueError, match=r"reshape: shape \(2, 4\) does not hold 6 elements"):
        wt.arange(6).reshape(2, 4)
