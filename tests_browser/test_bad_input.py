"""What can go wrong only in a page: textures too small, WebGL or kernels missing, a lost context.

Each gives a clear error, leaves memory counts where they were, and the page goes on computing.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests_browser.python_page import PlaywrightPythonPage, PythonPage

COUNTS = """
import webtensor as wt

def counts():
    memory = wt.memory()
    return [memory[name] for name in ("num_tensors", "num_storages", "num_bytes")]
"""


@pytest.fixture(scope="module")
def page(chromium: Browser, site_url: str) -> Iterator[PythonPage]:
    """A page in Chromium that each test loads anew, because it will spoil it."""
    page = PlaywrightPythonPage("chromium", site_url, chromium.new_page())
    yield page
    page.page.close()


def test_a_tensor_larger_than_a_texture_where_nothing_else_computes(page: PythonPage):
    page.reload("?wtflags=WEBGL_MAX_TEXTURE_SIZE:16")
    page.evaluate(NO_WASM)
    answer = page.run(
        COUNTS
        + """
wt.set_backend("webgl")
largest = float(wt.sum(wt.ones((1024,))))
before, errors = counts(), []
small, host = wt.ones((40,)), wt.tensor([1.0] * 1025)
for make in (
    lambda: wt.ones((1025,)),
    lambda: wt.reshape(small, (40, 1)) + small,
    lambda: wt.tile(small, (40,)),
    lambda: wt.matmul(wt.ones((40, 1)), wt.ones((1, 40))),
    lambda: wt.grad(lambda x: wt.sum(wt.exp(x + wt.reshape(x, (40, 1)))))(small),
    lambda: host + 1,
):
    try:
        make()
    except wt.BackendError as error:
        errors.append(str(error))
values = (small * 2).tolist()[:2]
on_host = sum(host.tolist())
del small, host, make
largest, errors, [before, counts()], values, on_host
"""
    )
    largest, errors, same, values, on_host = answer
    assert largest == 1024
    assert len(errors) == 6
    for error in errors:
        assert "neither backend 'webgl' nor any other available one has a kernel" in error
        assert "elements does not fit backend 'webgl', which has room for 1,024" in error
    assert same[0] == same[1]
    assert values == [2.0, 2.0]
    assert on_host == 1025


NO_WEBGL = """
for (const canvas of [OffscreenCanvas, HTMLCanvasElement]) canvas.prototype.getContext = () => null;
"""
NO_WASM = "WebAssembly.validate = () => false; 0"
ASK = """
import webtensor as wt

def why(name):
    try:
        wt.set_backend(name)
    except wt.BackendUnavailableError as error:
        return str(error)

def default():
    try:
        return wt.get_backend()
    except wt.BackendUnavailableError as error:
        return str(error)

[why("webgl"), why("wasm"), wt.unavailable_reason("webgl"), wt.available_backends(), default()]
"""


def test_without_webgl_wasm_computes(page: PythonPage):
    page.reload()
    page.evaluate(f"(() => {{ {NO_WEBGL} }})()")
    why_webgl, why_wasm, reason, available, default = page.run(ASK)
    assert "WebGL 2 is not available" in why_webgl
    assert reason == why_webgl
    assert why_wasm is None
    assert available == ["wasm"]
    assert default == "wasm"


def test_without_simd_webgl_computes(page: PythonPage):
    page.reload()
    page.evaluate(NO_WASM)
    why_webgl, why_wasm, _, available, default = page.run(ASK)
    assert why_webgl is None
    assert "needs WebAssembly SIMD" in why_wasm
    assert available == ["webgl"]
    assert default == "webgl"


def test_with_neither_the_error_gives_both_reasons(page: PythonPage):
    page.reload()
    page.evaluate(f"(() => {{ {NO_WEBGL} {NO_WASM} }})()")
    why_webgl, why_wasm, _, available, default = page.run(ASK)
    assert available == []
    assert default.startswith("no backend can start here")
    assert why_webgl in default
    assert why_wasm in default


def test_kernels_that_fail_to_load(page: PythonPage):
    page.reload()
    page.evaluate("WebAssembly.Module = function () { throw new Error('on purpose'); }, 0")
    _, why_wasm, _, available, default = page.run(ASK)
    assert "on purpose" in why_wasm
    assert available == ["webgl"]
    assert default == "webgl"


BLOCK_STORAGE = """
Object.defineProperty(window, "indexedDB", {
  get() { throw new DOMException("denied", "SecurityError"); },
});
"""
USE_STORAGE = """
from webtensor import keras

async def message(awaitable):
    try:
        await awaitable
    except OSError as error:
        return str(error)

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
address = "indexeddb://kept"
messages = [
    await message(keras.saving.save_layers_model_async(model, address)),
    await message(keras.saving.load_layers_model_async(address)),
]
model.save("/tmp/kept.keras")
again = keras.saving.load_model("/tmp/kept.keras")
messages, again.layers[0].kernel.tolist() == model.layers[0].kernel.tolist()
"""


def test_blocked_storage_is_told_of_and_files_still_work(page: PythonPage):
    page.reload()
    page.evaluate(f"(() => {{ {BLOCK_STORAGE} }})()")
    messages, is_same = page.run(USE_STORAGE)
    for message in messages:
        assert message.startswith("indexeddb://kept: the browser gives this page no storage")
        assert "SecurityError" in message
    assert is_same


def test_a_lost_context(page: PythonPage):
    page.reload()
    answer = page.run(
        COUNTS
        + """
async def lose():
    on_host = wt.tensor([1.0, 2.0])
    on_gpu = on_host * 3
    wt.backend().gl.getExtension("WEBGL_lose_context").loseContext()
    errors = []
    try:
        await on_gpu.data()
    except wt.ContextLostError as error:
        errors.append(str(error))
    try:
        on_gpu.tolist()
    except wt.ContextLostError as error:
        errors.append(str(error))
    wt.set_backend("wasm")
    return errors, repr(on_gpu), on_host.tolist(), (on_host + 1).tolist()

wt.set_backend("webgl")
before = counts()
errors, shown, host_values, computed = await lose()
errors, shown, host_values, computed, before, counts()
"""
    )
    errors, shown, host_values, computed, before, after = answer
    assert len(errors) == 2
    assert all("context was lost" in error for error in errors)
    assert shown == "Tensor(lost, shape=(2,), dtype=float32, device=webgl)"
    assert host_values == [1.0, 2.0]
    assert computed == [2.0, 3.0]
    assert after == before


def test_a_context_lost_during_a_read(page: PythonPage):
    page.reload()
    answer = page.run("""
        import asyncio
        import webtensor as wt

        wt.set_backend("webgl")
        x = wt.ones((1000, 1000)) @ wt.ones((1000, 100))
        reading = asyncio.ensure_future(x.data())
        await asyncio.sleep(0)
        wt.backend().gl.getExtension("WEBGL_lose_context").loseContext()
        try:
            await reading
            answer = "read before it was lost"
        except wt.ContextLostError as error:
            answer = str(error)
        answer
    """)
    assert answer.startswith("webgl: the context was lost during a read, and with it this tensor")


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_reads_may_overlap(python_page: PythonPage, backend: str):
    answer = python_page.run(
        COUNTS
        + """
import asyncio

wt.set_backend(backend)
before = counts()
xs = [wt.ones((n + 1,)) * float(n) for n in range(20)]
reads = [x.array() for x in xs] + [xs[3].data(), xs[3].data()]
first = asyncio.ensure_future(xs[5].array())
await asyncio.sleep(0)
synchronous = xs[5].tolist()  # while the other read of it is under way
xs[7].dispose()
results = await asyncio.gather(*reads, return_exceptions=True)
same = [result == [float(n)] * (n + 1) for n, result in enumerate(results[:20]) if n != 7]
late = results[7]
late = str(late) if isinstance(late, Exception) else late
done = await first
del xs, reads, first, results
all(same), synchronous == done, late, before == counts()
""",
        backend=backend,
    )
    all_same, agree, late, freed = answer
    assert all_same
    assert agree
    assert "disposed" in str(late)
    assert freed
