"""The names of ``wt``: what ``dir`` lists, and namespaces with other libraries' names."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from inspect import isclass, iscoroutinefunction, isfunction, ismodule
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor.keras.names import to_snake_case
from webtensor.peer_names import _NAMES

#: Where NumPy has the names.
NUMPY = (np, np.linalg, np.fft, np.random, np.random.Generator, np.ndarray)
#: Functions of TensorFlow.js that its users would look for in ``wt``.
TENSORFLOW_JS: dict[str, str] = {
    symbol: ours
    for symbol, ours in tomllib.loads(Path("docs/tfjs_map.toml").read_text("utf-8"))["top"].items()
    if isinstance(ours, str) and symbol[0].islower()
}
#: Those that have a counterpart of the same name, or one in another namespace.
FOUND_OTHERWISE = (
    *("fft", "forceHalfFloat", "ifft", "irfft", "rfft", "setWebGLContext"),
    *("clipByValue", "deregisterOp", "loadGraphModelSync", "registerOp"),
)
#: Names of TensorFlow and of PyTorch.
OTHERS = (
    *("constant", "reduce_max", "reduce_mean", "reduce_min", "reduce_sum"),
    *("cat", "clamp", "from_numpy", "manual_seed", "permute", "unsqueeze"),
)
#: Modules that users see; all other modules of the package are inner ones.
NAMESPACES = {
    *("activations", "audio", "browser", "callbacks", "constraints", "data", "fft", "fused"),
    "image",
    *("initializers", "io", "keras", "layers", "linalg", "losses", "math", "metrics", "models"),
    *("nn", "optimizers", "random", "regularizers", "signal", "sparse", "spectral", "string"),
    *("text", "train", "vision", "visor", "wasm", "webgl"),
}
DUNDERS = {"__array_api_version__", "__array_namespace_info__", "__version__"}


def test_dir_lists_the_public_names_alone() -> None:
    names = dir(wt)
    assert len(names) == len(set(names))
    assert {name for name in names if name.startswith("_")} == DUNDERS
    assert {name for name in names if ismodule(getattr(wt, name))} == NAMESPACES


def test_what_is_used_changes_no_listing() -> None:
    code = """
import webtensor as wt
before = dir(wt)
import webtensor.ops.fft, webtensor.keras.models, webtensor.engine.profiling
wt.ones((2,)).sum(), wt.keras.layers.Dense, wt.nn.relu
assert dir(wt) == before
from webtensor import *
assert sigmoid(0.0).item() == 0.5
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", dir(wt.nn))
def test_functions_of_nn_are_those_of_the_same_name(name: str) -> None:
    origin = getattr(wt, name, None) or getattr(wt.keras.ops, name)
    assert getattr(wt.nn, name) is origin


def test_functions_of_random_draw_what_the_longer_names_draw() -> None:
    longer_names = {
        "normal": "random_normal",
        "uniform": "random_uniform",
        "standard_normal": "random_standard_normal",
        "truncated_normal": "truncated_normal",
    }
    for name, longer_name in longer_names.items():
        wt.random.seed(5)
        drawn = getattr(wt.random, name)((3, 2))
        wt.set_random_seed(5)
        assert drawn.tolist() == getattr(wt, longer_name)((3, 2)).tolist()
    assert set(wt.random.randint((100,), 2, 4, seed=1).tolist()) == {2, 3}
    assert all(isfunction(getattr(wt.random, name)) for name in dir(wt.random))


@pytest.mark.parametrize("namespace", [wt.nn, wt.random])
def test_an_unknown_name_is_an_attribute_error(namespace: object) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nomal'"):
        namespace.nomal  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("peer_name, name", _NAMES.items())
def test_renamed_functions_of_other_libraries(peer_name: str, name: str) -> None:
    known = {*map(to_snake_case, TENSORFLOW_JS), *OTHERS}
    assert peer_name in known or any(hasattr(owner, peer_name) for owner in NUMPY)
    assert attrgetter(name)(wt) is not None
    with pytest.raises(AttributeError, match=f"no attribute '{peer_name}'; use wt.{name}$"):
        getattr(wt.random if peer_name == "random" else wt, peer_name)


@pytest.mark.parametrize("symbol, name", TENSORFLOW_JS.items())
def test_renamed_functions_of_tensorflow_js(symbol: str, name: str) -> None:
    if hasattr(wt, symbol) or symbol in FOUND_OTHERWISE:
        return
    with pytest.raises(AttributeError) as raised:
        getattr(wt, symbol)
    advice = str(raised.value).partition("; use ")[2].removeprefix("wt.")
    assert advice.removesuffix("_async") == name.removesuffix("_async")


@pytest.mark.parametrize(
    "owner, name, text",
    [
        (wt, "median", "module 'webtensor' has no attribute 'median'; use wt.keras.ops.median"),
        (wt, "meen", "module 'webtensor' has no attribute 'meen'"),
        (wt, "floorDiv", "module 'webtensor' has no attribute 'floorDiv'; use wt.floor_divide"),
        (
            wt.image,
            "resizeBilinear",
            "module 'webtensor.ops.image' has no attribute 'resizeBilinear'; use resize_bi",
        ),
        (wt, "__wrapped__", "module 'webtensor' has no attribute '__wrapped__'"),
        (wt.linalg, "norm", "module 'webtensor.ops.linalg' has no attribute 'norm'; use wt.keras"),
        (wt.random, "randn", "module 'webtensor.random' has no attribute 'randn'; use wt.random."),
    ],
)
def test_unknown_attributes(owner: Any, name: str, text: str) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(owner, name)
    assert str(raised.value).startswith(text)
    assert raised.value.name == name  # by which Python suggests similar ones


def test_array_copies_as_numpys_does() -> None:
    x = wt.tensor([1.5, 2.5])
    assert wt.array(x) is not x
    assert wt.array(x, copy=False) is x
    assert wt.array(x, "int32").tolist() == [1, 2]
    assert wt.array([[1, 2], [3, 4]]).shape == (2, 2)


def test_a_variable_adds_and_subtracts(backend: str, no_leak: None) -> None:
    variable = wt.Variable([1.0, 2.0])
    assert variable.assign_add([1.0, 1.0]).tolist() == [2.0, 3.0]
    assert variable.assign_sub(wt.tensor([0.5, 0.5])).tolist() == [1.5, 2.5]
    assert variable.tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match=r"assign: variable .* shape \(2,\)"):
        variable.assign_add(wt.ones((3, 2)))


def asynchronous_functions() -> Iterator[Any]:
    """Public functions and methods whose results must be awaited, by their names."""
    spaces = [wt, wt.browser, wt.io, wt.keras.saving, wt.keras.Model, wt.keras.utils, wt.Tensor]
    for space in spaces:
        for name in dir(space):
            value = getattr(space, name)
            if name.endswith("_async") and not isclass(value):
                yield pytest.param(value, id=name)
    for value in (wt.ready, wt.next_frame, wt.Tensor.data, wt.Tensor.array, wt.Tensor.bytes):
        yield pytest.param(value, id=value.__name__)


@pytest.mark.parametrize("function", list(asynchronous_functions()))
def test_what_must_be_awaited_is_a_coroutine_function(function: Any) -> None:
    assert iscoroutinefunction(function)
