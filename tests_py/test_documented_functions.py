"""Every public function of the Ops API and of ``keras.ops`` has a docstring with an example."""

from collections.abc import Iterator
from inspect import getdoc, isfunction, unwrap
from types import ModuleType

import pytest

import webtensor as wt
from webtensor import keras, train

NAMESPACES = [
    wt,
    wt.audio,
    wt.browser,
    wt.fft,
    wt.fused,
    wt.image,
    wt.io,
    wt.linalg,
    wt.losses,
    wt.math,
    wt.nn,
    wt.random,
    wt.signal,
    wt.sparse,
    wt.spectral,
    wt.string,
    wt.data,
    wt.vision,
    wt.vision.boxes,
    wt.visor,
    wt.visor.metrics,
    wt.visor.render,
    wt.visor.show,
    wt.wasm,
    wt.webgl,
    train,
    keras.ops,
    keras.ops.image,
    keras.ops.linalg,
    keras.ops.nn,
    keras.ops.numpy,
]


def functions(namespace: ModuleType) -> Iterator[str]:
    table = getattr(namespace, "TABLE", None)
    names = table.rows if table else getattr(namespace, "__all__", dir(namespace))
    for name in names:
        function = unwrap(getattr(namespace, name))
        is_public = not name.startswith("_") and isfunction(function)
        if is_public and function.__module__.startswith("webtensor"):
            yield name


@pytest.mark.parametrize("namespace", NAMESPACES, ids=lambda namespace: namespace.__name__)
def test_functions_have_an_example(namespace: ModuleType) -> None:
    names = list(functions(namespace))
    assert names
    assert [name for name in names if not has_example(getattr(namespace, name))] == []


def has_example(function: object) -> bool:
    """Whether a docstring has an example, or one for pages where only they can run it."""
    text = getdoc(function) or ""
    return ">>>" in text or "In a page::" in text


@pytest.mark.parametrize(
    "namespace",
    [module for module in NAMESPACES if "keras" in module.__name__],
    ids=lambda module: module.__name__,
)
def test_examples_of_keras_call_the_function_that_they_document(namespace: ModuleType) -> None:
    for name in functions(namespace):
        assert f".{name}" in (getdoc(getattr(namespace, name)) or ""), name
