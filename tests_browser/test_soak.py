"""50,000 ops of mixed shapes: what the backends hold stays as it is."""

import pytest

from tests_browser.python_page import PythonPage

OPS = 50_000

SOAK = """
import gc
from random import Random
import webtensor as wt

wt.set_backend(backend)
random = Random(7)
BOUNDED = ("free_textures", "free_bytes", "heap_bytes")

def shape():
    return tuple(random.randint(1, 24) for _ in range(random.randint(1, 3)))

def steps():
    '''Mixed ops, on shapes that seldom come again; how many there were.'''
    x = wt.random_uniform(shape(), -1.0, 1.0, seed=1)
    y = wt.relu(x * 2.0 + 0.5)
    rows = wt.reshape(y, (-1, x.shape[-1]))
    z = wt.matmul(rows, wt.ones((x.shape[-1], random.randint(1, 9))))
    parts = [wt.sum(y, -1), wt.max(z), wt.softmax(z), wt.concat([rows, rows], axis=0)]
    order = list(reversed(range(x.ndim)))
    return [wt.permute_dims(y, order), x > 0.25, wt.astype(x * 9, "int32"), *parts], 15

def held():
    gc.collect()
    memory = wt.memory()
    counts = memory["backends"][backend]
    return {
        **{name: memory[name] for name in ("num_tensors", "num_storages", "num_bytes")},
        **{name: counts[name] for name in ("bytes", "textures", "programs") if name in counts},
    }, {name: value for name, value in counts.items() if name in BOUNDED}

async def run(count):
    done = 0
    while done < count:
        results, ops = steps()
        done += ops
        if done % 900 < ops:  # as a page does
            await results[0].data()

wt.matmul(wt.ones((24 * 24, 24)), wt.ones((24, 9)))  # large for a product of these shapes
await run(warm_up)
before = held()
await run(ops)
[before, held()]
"""


@pytest.mark.parametrize("backend", ["webgl", "wasm"])
def test_counts_stay_flat(chromium_python: PythonPage, backend: str):
    before, after = chromium_python.run(SOAK, backend=backend, ops=OPS, warm_up=OPS)
    assert after[0] == before[0]
    for name, most in before[1].items():
        assert after[1][name] <= 1.25 * most, name
