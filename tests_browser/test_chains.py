"""Chains of elementwise calls in pages: the same as the calls one by one, and in fewer draws."""

from pathlib import Path

import pytest

from tests_browser.draw_counts import COUNTED_DRAWS
from tests_browser.python_page import PythonPage
from tests_py import chains

COMPARE = (
    Path(chains.__file__).read_text("utf-8")
    + """
import asyncio
from itertools import product
wt.set_backend(backend)
threads = wt.backend().threads if backend == "wasm" else None
if threads:
    grain, threads.grain = threads.grain, 100.0
    wt.sum(wt.ones((100, 100)), axis=1)  # it starts them
    await asyncio.sleep(0.3)
before = wt.memory()["num_tensors"]
wrong = []
for seed, make in product(seeds, (random_chain, random_broadcast_chain, random_ended_chain)):
    with wt.tidy():
        function, operands, *details = make(seed)
        kind, terms = details or ("", 0)
        is_exact = kind == "sum of integers" or (backend == "wasm" and kind != "product")
        replayed = wt.function(function)
        results = [[part.tolist() for part in compute(*operands)]
            for compute in (function, replayed, replayed, replayed)]
        flat = [[value for part in parts for value in wt.flatten(wt.tensor(part)).tolist()]
            for parts in results]
        worst = max(abs(p - q) for other in flat[1:] for p, q in zip(flat[0], other, strict=True))
        largest = max(map(abs, flat[0])) if details else 0.0
        if not worst <= (0 if is_exact else 1e-5 + 1e-7 * terms + 1e-5 * largest):
            wrong.append([make.__name__, seed, worst])
        replayed.clear()
if threads:
    threads.grain = grain
[wrong, wt.memory()["num_tensors"] - before]
"""
)


# On WebGL nearly each chain is a shader of its own, which takes long to compile.
@pytest.mark.parametrize("backend, count", [("wasm", 30), ("webgl", 10)])
def test_chains_compute_the_same(python_page: PythonPage, backend: str, count: int):
    wrong, left = python_page.run(COMPARE, backend=backend, seeds=list(range(count)))
    assert wrong == []
    assert left == 0


ROWS = (
    Path(chains.__file__).read_text("utf-8")
    + """
wt.set_backend(backend)
wrong = []
for name, function, operands in row_chains():
    expected = function(*operands).tolist()
    replayed = wt.function(function)
    replayed(*operands)
    for p, q in zip(expected, replayed(*operands).tolist(), strict=True):
        if not (p == q or p != p and q != q or abs(p - q) <= 1e-5 * max(abs(p), 1)):
            wrong.append([name, p, q])
wrong
"""
)


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_all_rows_are_links(chromium_python: PythonPage, backend: str):
    assert chromium_python.run(ROWS, backend=backend) == []


DRAWS = f"""
import webtensor as wt
{COUNTED_DRAWS}
wt.set_backend("webgl")
x = wt.ones((40, 50))
replayed = wt.function(lambda x: wt.tanh(wt.leaky_relu(x, 0.25) * 1.5 + x))
replayed(x)
with counted_draws() as draws:
    result = replayed(x)
[len(draws), wt.max(result).item()]
"""


def test_a_chain_is_one_draw(chromium_python: PythonPage):
    draws, value = chromium_python.run(DRAWS)
    assert draws == 1
    assert value == pytest.approx(0.98661, abs=1e-5)
