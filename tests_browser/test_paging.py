"""What the GPU has no room for waits on the host, and comes back when it is used."""

from collections.abc import Iterator

import pytest

from tests_browser.python_page import PythonPage

START = """
import webtensor as wt
wt.set_backend("webgl")
KIB = 1024
def held():
    return wt.memory()["backends"]["webgl"]
"""


@pytest.fixture
def page(any_python_page: PythonPage) -> Iterator[PythonPage]:
    """A page of each browser with room for 64 KiB of textures, loaded anew afterwards."""
    with any_python_page.loaded_with("?wtflags=WEBGL_DELETE_TEXTURE_THRESHOLD:65536") as small:
        yield small


def test_every_dtype_comes_back(page: PythonPage):
    code = """
made = []
for n in range(40):
    made.append(wt.full((30, 33), n) * 1)  # 4 KiB each, known to the GPU alone
    made.append(wt.full((30, 33), n / 8) * 1.5)
    made.append(wt.full((7, 9), n) < 20)
    assert held()["bytes"] <= 64 * KIB + 16 * KIB, held()
full = held()
sums = [float(wt.sum(wt.astype(one, "float32"))) for one in made]
awaited = [(await one.flatten().data())[-1] for one in made[:6]]
read = [one.flatten().tolist()[0] for one in made]
most = held()
del made
left = held()
[sums, list(map(float, awaited)), list(map(float, read)), full, most, left]
"""
    sums, awaited, read, full, most, left = page.run(START + code)
    expected = [[n, n / 8 * 1.5, float(n < 20)] for n in range(40)]
    firsts = [value for row in expected for value in row]
    sizes = [990, 990, 63] * 40
    assert read == firsts
    assert awaited == firsts[:6]
    assert sums == pytest.approx([size * first for size, first in zip(sizes, firsts, strict=True)])
    assert full["paged_textures"] > 50
    assert full["paged_bytes"] > 200 * 1024
    assert most["bytes"] <= 80 * 1024
    assert left["paged_bytes"] < 256  # constants that the library keeps


def test_the_longest_unused_goes_first(page: PythonPage):
    code = """
often = wt.full((32, 32), 2.0) * 3
seldom = wt.full((32, 32), 5.0) * 7
for n in range(40):
    made = often + n
    kept = [made] if n == 0 else [*kept, made]
paged = [one.storage.handle.is_paged for one in (often, seldom, kept[0], kept[-1])]
[paged, float(wt.max(seldom)), float(wt.max(kept[0]))]
"""
    paged, seldom, first = page.run(START + code)
    assert paged == [False, True, True, False]
    assert [seldom, first] == [35, 6]


def test_training_without_room(page: PythonPage):
    code = """
x = wt.random_normal((64, 40), seed=1)
labels = wt.random_normal((64, 30), seed=2)

def train(backend):
    wt.set_backend(backend)
    weights = [wt.Variable(wt.random_normal(shape, stddev=0.2, seed=n))
        for n, shape in enumerate([(40, 70), (70, 70), (70, 30)])]
    optimizer = wt.optimizers.Adam(0.01)
    def loss():
        y = x
        for one in weights:
            y = wt.tanh(wt.matmul(y, one))
        return wt.mean((y - labels) ** 2)
    losses, counts = [], []
    for step in range(25):
        losses.append(optimizer.minimize(loss).item())
        memory = wt.memory()
        on_gpu = memory["backends"]["webgl"]
        counts.append([memory["num_tensors"], memory["num_bytes"],
            on_gpu["textures"] + on_gpu["paged_textures"], on_gpu["bytes"] + on_gpu["paged_bytes"]])
    return losses, counts[5:], on_gpu["paged_textures"]

on_gpu, counts, paged = train("webgl")
expected, _, _ = train("wasm")
[max(abs(p - q) for p, q in zip(on_gpu, expected, strict=True)), counts[0], counts[-1], paged]
"""
    worst, before, after, paged = page.run(START + code)
    assert worst < 1e-4
    assert before == after
    assert paged > 0


def test_kernels_of_several_draws_and_pictures(page: PythonPage):
    code = """
import js
def compute():
    x = wt.random_normal((3, 41, 43), seed=3)
    y = wt.random_normal((3, 43, 17), seed=4)
    image = wt.full((20, 20, 3), 0.5) * 1
    bulk = [wt.full((40, 40), n) * 1 for n in range(30)]
    made = [wt.sort(x, axis=1), wt.matmul(x, y), wt.cumsum(x, axis=2), wt.concat(bulk, axis=0)]
    canvas = js.OffscreenCanvas.new(1, 1)
    wt.browser.draw(image, canvas)
    made.append(wt.browser.from_pixels(canvas))
    return [n for one in made for n in one.flatten().tolist()]
on_gpu = compute()
wt.set_backend("wasm")
max(abs(p - q) for p, q in zip(on_gpu, compute(), strict=True))
"""
    assert page.run(START + code) < 1e-4


def test_thresholds(any_python_page: PythonPage):
    code = """
flags = wt.env()
name = "WEBGL_DELETE_TEXTURE_THRESHOLD"
estimate = flags.get(name)
paged = []
for threshold in (-1, 16 * KIB, estimate):
    flags.set(name, threshold)
    made = [wt.full((37, 41), n) * 1 for n in range(20)]
    paged.append(held()["paged_textures"])
    del made
estimate, paged
"""
    with any_python_page.loaded_with() as fresh:
        estimate, paged = fresh.run(START + code)
    assert 0 < estimate <= 600 * 2**20
    assert paged[0] == paged[2] == 0
    assert paged[1] > 10
