"""Kernels that the WebGL backend has for GPUs, on an emulated device that counts as a GPU."""

from collections.abc import Iterator

import pytest

from tests_browser.python_page import PythonPage
from tests_browser.test_programs import wrong_captures
from tests_py.cases import FAMILIES

SET = """
import webtensor as wt

wt.set_backend("webgl")
await wt.ready()
backend = wt.backend()
before = backend.capabilities.is_emulated
backend.capabilities = backend.capabilities._replace(is_emulated=is_emulated)
backend.epoch = object()
before
"""

#: The families whose kernels differ on a GPU.
PRODUCTS = ("matmul", "matmul gradients", "conv2d", "convolution gradients", "fused")


@pytest.fixture
def page(chromium_python: PythonPage) -> Iterator[PythonPage]:
    """A page whose device counts as a GPU."""
    is_emulated = chromium_python.run(SET, is_emulated=False)
    yield chromium_python
    chromium_python.run(SET, is_emulated=is_emulated)


@pytest.mark.parametrize("family", PRODUCTS)
def test_captured_products(page: PythonPage, family: str):
    wrong = wrong_captures(page, FAMILIES[family], "webgl")
    assert not wrong, "\n".join(wrong)


COMPARED = """
import webtensor as wt

def apart(results, expected):
    return max(
        max(abs(p - q) for p, q in zip(ours, theirs, strict=True)) / max(map(abs, theirs))
        for ours, theirs in zip(results, expected, strict=True)
    )

def on_both(compute):
    found = []
    for backend in ("webgl", "wasm"):
        wt.set_backend(backend)
        found.append([one.flatten().tolist() for one in compute()])
    wt.set_backend("webgl")
    return apart(*found)
"""

LARGE = """
def large():
    a, b = wt.random_normal((264, 256), seed=1), wt.random_normal((256, 260), seed=2)
    bias, images = wt.random_normal((260,), seed=3), wt.random_normal((1, 40, 40, 32), seed=4)
    filter = wt.random_normal((3, 3, 32, 64), seed=5)
    product = wt.fused.mat_mul(a, b, bias=bias, activation="relu")
    return [product, wt.conv2d(images, filter, 1, "same")]

def small():
    images, filter = wt.ones((1, 14, 14, 96)), wt.ones((1, 1, 96, 64))
    return wt.conv2d(images, filter, 1, "same")

wt.set_backend("webgl")
names = [draw.name for draw in wt.webgl.explain(large).draws]
[names.count("join_tiles"), "copy" in names, on_both(large),
 [len(draw.outputs) for draw in wt.webgl.explain(small).draws if draw.name == "matmul"]]
"""


def test_tiles_are_joined_by_a_shader(page: PythonPage):
    joined, copies, apart, targets = page.run(COMPARED + LARGE)
    assert joined == 2
    assert not copies
    assert apart < 1e-5
    assert targets == [1]


LONG = """
from itertools import product

def long():
    for m, k, n, *transposed, bias in product(
        (1, 3, 8), (128, 1000, 1024), (1, 10, 64), (False, True), (False, True), (False, True)
    ):
        a = wt.random_normal((k, m) if transposed[0] else (m, k), seed=m + k)
        b = wt.random_normal((n, k) if transposed[1] else (k, n), seed=n)
        if bias:
            yield wt.fused.mat_mul(a, b, *transposed, bias=wt.ones((n,)), activation="elu")
        else:
            yield wt.matmul(a, b, *transposed)

wt.set_backend("webgl")
thin = lambda: wt.matmul(wt.ones((1, 1024)), wt.ones((1024, 63)))
[on_both(long), [draw.name for draw in wt.webgl.explain(thin).draws][-2:]]
"""


def test_long_sums_are_split(page: PythonPage):
    apart, names = page.run(COMPARED + LONG)
    assert apart < 1e-5
    assert names == ["matmul", "add_parts"]
