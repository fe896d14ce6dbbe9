"""Tensors larger than the largest texture: their operations run on another backend.

The limit is lowered by a flag: to 128, of sizes around which a table of ops is compared with NumPy,
and to 4, beyond which most operands, results and what kernels make in between of the table of op
cases are.
"""

from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests_browser.python_page import PythonPage
from tests_browser.test_ops import RUN, SELECTION
from tests_py.cases import failures

Array = np.ndarray[Any, Any]

LIMIT = 128
MOST = 4 * LIMIT**2

START = """
import gc
from base64 import b64encode
import webtensor as wt
from webtensor.engine.storage import Storage

wt.set_backend("webgl")
webgl = wt.backend()

def held():
    gc.collect()
    memory = wt.memory()
    names = ("num_tensors", "num_storages", "num_bytes")
    return [*(memory[name] for name in names), memory["backends"]["webgl"]["programs"]]

def unowned():
    '''Textures in use that belong to no tensor.'''
    gc.collect()
    storages = sum(isinstance(one, Storage) and one.backend is webgl for one in gc.get_objects())
    counts = wt.memory()["backends"]["webgl"]
    return counts["textures"] + counts["paged_textures"] - storages

def numbers(size, step):
    return (wt.arange(size) * step % 97 - 48) / 8
"""


def numbers(size: int, step: int) -> Array:
    """What the function of this name makes in the page."""
    values: Array = ((np.arange(size) * step % 97 - 48) / 8).astype(np.float32)
    return values


@pytest.fixture(scope="module")
def limited(shared_chromium_python: PythonPage) -> Iterator[None]:
    """Have Chromium's page make no texture longer than 128; load it anew afterwards."""
    with shared_chromium_python.loaded_with(f"?wtflags=WEBGL_MAX_TEXTURE_SIZE:{LIMIT}"):
        yield


@pytest.fixture
def page(limited: None, chromium_python: PythonPage) -> PythonPage:
    """The page, watched for errors."""
    return chromium_python


# -- a table of ops -------------------------------------------------------------------------------


class Row(NamedTuple):
    """An op in the page, on ``x`` and ``y`` or ``m``, which is ``x`` by fours; and NumPy's."""

    code: str
    expected: Callable[[Array, Array, Array], Any]
    tolerance: float = 1e-5


ROWS = {
    "unary": Row("wt.exp(x)", lambda x, y, m: np.exp(x)),
    "binary": Row("x * y", lambda x, y, m: x * y),
    "broadcast": Row("m + [1.0, 2.0, 3.0, 4.0]", lambda x, y, m: m + np.arange(1.0, 5.0)),
    "comparison": Row("x < y", lambda x, y, m: x < y),
    "choice": Row("wt.where(x < y, x, y)", lambda x, y, m: np.minimum(x, y)),
    "integers": Row("wt.astype(x, 'int32') % 7", lambda x, y, m: x.astype(np.int32) % 7),
    "sum": Row("wt.sum(wt.abs(x))", lambda x, y, m: np.abs(x).sum(dtype=np.float64)),
    "sum of rows": Row("wt.sum(m, 1)", lambda x, y, m: m.sum(1)),
    "maximum of columns": Row("wt.max(m, 0)", lambda x, y, m: m.max(0)),
    "index of the maximum": Row("wt.argmax(m, 0)", lambda x, y, m: m.argmax(0)),
    "running sum": Row("wt.cumsum(m, 1)", lambda x, y, m: m.cumsum(1)),
    "sort": Row("wt.sort(x)", lambda x, y, m: np.sort(x)),
    "largest": Row("wt.topk(x, 3)[0]", lambda x, y, m: np.sort(x)[:-4:-1]),
    "softmax": Row("wt.softmax(m)", lambda x, y, m: np.exp(m) / np.exp(m).sum(1, keepdims=True)),
    "transpose": Row("wt.matrix_transpose(m)", lambda x, y, m: m.T),
    "strided slice": Row("m[1::2, ::-1]", lambda x, y, m: m[1::2, ::-1]),
    "concat": Row("wt.concat([m[:9], m[9:]])", lambda x, y, m: m),
    "pad": Row("wt.pad(m[5:], [[5, 0], [0, 0]])", lambda x, y, m: np.pad(m[5:], [[5, 0], [0, 0]])),
    "gather": Row("wt.take(m, [7, 0, -1], 0)", lambda x, y, m: m[[7, 0, -1]]),
    "product": Row("m @ wt.reshape(y[:12], (4, 3))", lambda x, y, m: m @ y[:12].reshape(4, 3)),
    "product of many": Row(
        "wt.matrix_transpose(m) @ m", lambda x, y, m: m.T.astype(np.float64) @ m, 1e-3
    ),
    "outer product": Row("wt.matmul(m[:, :1], y[:4][None])", lambda x, y, m: m[:, :1] * y[:4]),
    "pool": Row(
        "wt.max_pool(wt.reshape(x, (-1, 2, 2, 1)), 2)",
        lambda x, y, m: m.max(1)[:, None, None, None],
    ),
    "convolution": Row(
        "wt.conv2d(m[None, None], wt.reshape(y[:16], (1, 1, 4, 4)))",
        lambda x, y, m: (m @ y[:16].reshape(4, 4))[None, None],
    ),
    "gradient": Row("wt.grad(lambda x: wt.sum(wt.square(x)))(x)", lambda x, y, m: 2 * x),
    "gradient of a product": Row(
        "wt.grad(lambda w: wt.sum(wt.square(m @ w)))(wt.ones((4, 1)))",
        lambda x, y, m: 2 * m.T.astype(np.float64) @ m.sum(1, keepdims=True, dtype=np.float64),
        1e-3,
    ),
}

TABLE = """
x, y = numbers(size, 17), numbers(size, 29)
m = wt.reshape(x, (-1, 4))
before = held()[:3], unowned()
answers = {}
for name, code in codes.items():
    seen = wt.profile(lambda: eval(code))
    result = seen.result
    answers[name] = [
        str(result.dtype),
        list(result.shape),
        b64encode((await result.data()).tobytes()).decode(),
        sorted({(active, used) for _, active, used in seen.fallbacks}),
    ]
    del seen, result
[answers, before, (held()[:3], unowned())]
"""


@pytest.mark.parametrize("size", [MOST - 4, MOST, MOST + 4, 80_000])
def test_ops_around_the_limit(page: PythonPage, size: int):
    codes = {name: row.code for name, row in ROWS.items()}
    answers, before, after = page.run(START + TABLE, size=size, codes=codes)
    x, y = numbers(size, 17), numbers(size, 29)
    m = x.reshape(-1, 4)
    for name, row in ROWS.items():
        dtype, shape, elements, elsewhere = answers[name]
        array = np.frombuffer(b64decode(elements), dtype).reshape(shape)
        expected = np.asarray(row.expected(x, y, m))
        assert array.shape == expected.shape, name
        np.testing.assert_allclose(array, expected, row.tolerance, row.tolerance, err_msg=name)
        assert elsewhere == ([["webgl", "wasm"]] if size > MOST else []), name
    assert after == before
    assert after[1] == 0


# -- what moves -----------------------------------------------------------------------------------


def test_results_that_fit_go_back_to_the_gpu(page: PythonPage):
    code = """
large = numbers(size, 17)
small = wt.ones((3,)) * 2

def compute():
    return wt.sum(wt.abs(large)) * small

seen = wt.profile(compute)
names = [kernel.name for kernel in seen.kernels]
drawn = wt.webgl.explain(compute)
devices = [operation.device for operation in drawn.operations]
await wt.warm_up(wt.exp, (size,))
[seen.result.device, seen.result.tolist(), large.device, small.device,
 [list(key) + [count] for key, count in seen.fallbacks.items()], names, devices, str(drawn)]
"""
    answer = page.run(START + code, size=MOST + 1)
    device, values, large, small, fallbacks, names, devices, drawn = answer
    assert [device, large, small] == ["webgl", "wasm", "webgl"]
    assert values == pytest.approx([2 * np.abs(numbers(MOST + 1, 17)).sum()] * 3)
    assert fallbacks == [["unary", "webgl", "wasm", 1], ["reduce", "webgl", "wasm", 1]]
    assert names == ["abs", "sum", "multiply"]
    assert devices == ["wasm", "wasm", "webgl"]
    assert "no draw, on wasm" in drawn


def test_a_table_of_vectors_that_is_too_large_learns(page: PythonPage):
    code = """
def train(backend):
    wt.set_backend(backend)
    vectors = wt.Variable(wt.reshape(numbers(70_000 * 4, 17), (70_000, 4)))
    weights = wt.Variable(wt.reshape(numbers(4, 29), (4, 1)) / 8)
    optimizer = wt.optimizers.Adam(0.01)

    def loss():
        picked = wt.take(vectors, [5, 69_999, 17, 5], 0)
        return wt.mean(wt.square(picked @ weights - 1))

    losses, counts = [], []
    for step in range(6):
        losses.append(float(optimizer.minimize(loss)))
        counts.append([held(), unowned()])
    rows = vectors.value[:20].flatten().tolist() + weights.value.flatten().tolist()
    return losses + rows, counts

here, counts = train("webgl")
there, _ = train("wasm")
[here, there, counts[-3:]]
"""
    here, there, counts = page.run(START + code)
    assert here == pytest.approx(there, rel=1e-4, abs=1e-5)
    assert here[5] < 0.9 * here[0]
    assert counts[0] == counts[1] == counts[2]
    assert counts[0][1] == 0


def test_values_of_the_host_are_not_uploaded(page: PythonPage):
    code = """
from array import array
before = held()[:3], unowned()
host = wt.tensor(array("f", range(size)))
first = [float(wt.sum(host[:5])), float(host[-1])]
try:
    host.to_device("webgl")
except wt.BackendError as error:
    said = str(error)
back = host.tolist()[-2:], list((await host.data())[:2]), host.device
del host
[first, said, back, before == (held()[:3], unowned())]
"""
    first, said, back, freed = page.run(START + code, size=MOST + 1)
    assert first == [10, MOST]
    assert said == (
        "to_device: an operand of 65,537 elements does not fit backend 'webgl', which has room "
        "for 65,536"
    )
    assert back == [[MOST - 1, MOST], [0, 1], "wasm"]
    assert freed


def test_pictures_larger_than_a_texture(page: PythonPage):
    code = """
import js
canvas = js.OffscreenCanvas.new(300, 280)
context = canvas.getContext("2d")
context.fillStyle = "#406080"
context.fillRect(0, 0, 300, 280)
before = held()[:3], unowned()
image = wt.browser.from_pixels(canvas)
shown = js.OffscreenCanvas.new(1, 1)
wt.browser.draw(wt.maximum(image, 70), shown)
again = wt.browser.from_pixels(shown)
found = image.shape, image[-1, -1].tolist(), again[0, 0].tolist()
await wt.browser.to_pixels(image)
del image, again
[found, before == (held()[:3], unowned())]
"""
    (shape, first, maximum), freed = page.run(START + code)
    assert shape == [280, 300, 3]
    assert [first, maximum] == [[64, 96, 128], [70, 96, 128]]
    assert freed


def test_with_little_memory_besides(page: PythonPage):
    code = """
name = "WEBGL_DELETE_TEXTURE_THRESHOLD"
flags = wt.env()
usual = flags.get(name)
flags.set(name, 1 << 18)
before = held()[:3], unowned()
made = []
for n in range(6):
    x = numbers(25_000, 17) + n
    made += [x, wt.concat([x, x, x]) * 2]
totals = [float(wt.mean(one)) for one in made]
paged = webgl.memory()["paged_textures"]
del made, x
flags.set(name, usual)
[totals, paged, before == (held()[:3], unowned())]
"""
    totals, paged, freed = page.run(START + code)
    mean = numbers(25_000, 17).mean()
    expected = [value for n in range(6) for value in (mean + n, 2 * (mean + n))]
    assert totals == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert paged >= 4
    assert freed


# -- the table of op cases ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(shared_chromium_python: PythonPage) -> Iterator[None]:
    """Have Chromium's page make no texture longer than 4; load it anew afterwards."""
    with shared_chromium_python.loaded_with("?wtflags=WEBGL_MAX_TEXTURE_SIZE:4"):
        yield


@pytest.mark.parametrize("family", SELECTION)
def test_selection(tiny: None, chromium_python: PythonPage, family: str):
    cases = SELECTION[family]
    answer = chromium_python.run(RUN, cases=[case.encoded() for case in cases], backend="webgl")
    wrong = failures(cases, answer, "webgl", {kernel for kernel, _, _ in answer["fallbacks"]})
    assert not wrong, "\n".join(wrong)
    assert chromium_python.run(START + "unowned()") == 0
