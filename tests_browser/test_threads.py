"""Threads of the WASM backend: real workers in a cross-origin isolated page."""

import pytest
from playwright.sync_api import Browser

from tests_browser.python_page import PlaywrightPythonPage, PythonPage
from tests_browser.test_ops import run
from tests_py.cases import FAMILIES
from tests_py.wasm.test_threads import SHARED

EVERY_KERNEL_IN_PARTS = """
    import webtensor as wt
    wt.set_backend("wasm")
    wt.wasm.set_threads_count(2)
    wt.backend().threads.grain = 0.01
    wt.wasm.get_threads_count()
"""
AS_IT_WAS = """
    import webtensor as wt
    from webtensor.backends.wasm.threads import Threads
    threads = wt.backend().threads
    threads.close()
    threads.grain = Threads.GRAIN
    threads.count = wt.backend().host.most_threads
"""


@pytest.mark.parametrize("family", SHARED)
def test_family_on_two_threads(python_page: PythonPage, family: str):
    assert python_page.run(EVERY_KERNEL_IN_PARTS) == 2
    try:
        wrong = run(python_page, FAMILIES[family], "wasm")
    finally:
        python_page.run(AS_IT_WAS)
    assert not wrong, "\n".join(wrong)


def test_burst_of_small_products(python_page: PythonPage):
    """Threads that sleep at first take part."""
    source = """
        import asyncio
        import webtensor as wt
        wt.set_backend("wasm")
        x, w = wt.random_normal((32, 64), seed=1), wt.random_normal((64, 256), seed=2)

        async def products(count):
            wt.wasm.set_threads_count(count)
            wt.matmul(wt.ones((300, 300)), wt.ones((300, 300)))
            await asyncio.sleep(0.5)  # workers start while the page's thread has nothing to do
            return wt.concat([wt.matmul(x * float(i), w) for i in range(200)]).tolist()

        alone, together = await products(1), await products(2)
        wt.wasm.set_threads_count(wt.backend().host.most_threads)
        alone == together
    """
    assert python_page.run(source) is True


def test_a_flag_tells_of_threads_and_turns_them_off(chromium_python: PythonPage):
    source = """
        import webtensor as wt
        known = wt.env().get("WASM_HAS_MULTITHREAD_SUPPORT")
        wt.set_backend("wasm")
        x = wt.ones((300, 300))
        known, wt.wasm.get_threads_count() > 1, float(wt.sum(wt.matmul(x, x)))
    """
    assert chromium_python.run(source) == [True, True, 300.0**3]
    with chromium_python.loaded_with("?wtflags=WASM_HAS_MULTITHREAD_SUPPORT:false") as page:
        assert page.run(source) == [False, False, 300.0**3]


def test_without_room_for_stacks_one_thread_computes(chromium_python: PythonPage):
    answer = chromium_python.run("""
        import webtensor as wt
        wt.set_backend("wasm")
        backend = wt.backend()
        processors, backend.host.most_threads = backend.host.most_threads, 3
        backend.threads.count = 3
        x = wt.ones((300, 300))
        before = backend.memory()["blocks"]
        find, backend.pool._find = backend.pool._find, lambda size: (
            0 if size >= 2 << 20 and len(backend.threads._stacks) else find(size)
        )
        backend.pool.trim()
        try:
            total = float(wt.sum(wt.matmul(x, x)))
        finally:
            backend.pool._find = find
            backend.host.most_threads = processors
        alone = backend.threads._helpers is None
        after = backend.memory()["blocks"]
        again = float(wt.sum(wt.matmul(x, x)))
        total, again, alone, backend.threads._helpers is None, after - before
    """)
    chromium_python.run(AS_IT_WAS)
    assert answer == [300.0**3, 300.0**3, True, False, 0]


def test_threads_come_and_go_and_leave_nothing(python_page: PythonPage):
    answer = python_page.run("""
        import webtensor as wt
        wt.set_backend("wasm")
        x = wt.random_normal((300, 300), seed=1)
        wt.wasm.set_threads_count(1)
        alone = wt.matmul(x, x).tolist()
        wt.matmul(x, x)  # from the second use on, the right operand is kept packed
        before = wt.backend().memory()["blocks"]
        same, blocks = [], []
        for _ in range(5):
            wt.wasm.set_threads_count(2)
            same.append(wt.matmul(x, x).tolist() == alone)
            blocks.append(wt.backend().memory()["blocks"] - before)
            wt.wasm.set_threads_count(1)
            blocks.append(wt.backend().memory()["blocks"] - before)
        wt.wasm.set_threads_count(99)
        same, blocks, wt.wasm.get_threads_count() == wt.backend().host.most_threads
    """)
    same, blocks, is_most = answer
    assert all(same)
    assert blocks == [1, 0] * 5  # the stack of the second thread
    assert is_most


def test_steps_on_several_threads_leak_nothing(chromium_python: PythonPage):
    answer = chromium_python.run("""
        import webtensor as wt
        wt.set_backend("wasm")
        x = wt.random_normal((200, 200), seed=1)
        y = wt.matmul(x, x)
        def counts():
            memory = wt.memory()
            return memory["num_tensors"], memory["backends"]["wasm"]["blocks"]
        before = counts()
        for _ in range(2000):
            y = wt.relu(wt.matmul(x, y))
            y = y / wt.max(y)
        before, counts(), float(wt.max(y))
    """)
    before, after, largest = answer
    assert before == after
    assert largest == 1


ON_ALL_PROCESSORS = """
import webtensor as wt
wt.set_backend("wasm")
x = wt.ones((300, 300))
f"{wt.wasm.get_threads_count()} {float(wt.sum(wt.matmul(x, x)))}"
"""


def test_a_page_that_is_not_isolated_has_one_thread(chromium: Browser, plain_site_url: str) -> None:
    page = PlaywrightPythonPage("chromium", plain_site_url, chromium.new_page())
    assert page.evaluate("crossOriginIsolated") is False
    assert page.run(ON_ALL_PROCESSORS) == f"1 {300.0**3}"
    page.page.close()


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_the_library_in_a_worker_has_threads_save_in_firefox(
    browser: str, site_url: str, request: pytest.FixtureRequest
) -> None:
    page = request.getfixturevalue(f"{browser}_page")
    page.goto(f"{site_url}/tests/blank.html")
    answer = page.evaluate(
        """(source) => new Promise((resolve) => {
          const worker = new Worker("/tests/python_worker.js", { type: "module" });
          worker.onmessage = ({ data }) => {
            worker.terminate();
            resolve(data);
          };
          worker.postMessage(source);
        })""",
        ON_ALL_PROCESSORS,
    )
    threads = 1 if browser == "firefox" else min(page.evaluate("navigator.hardwareConcurrency"), 16)
    assert answer == {"value": f"{threads} {300.0**3}"}
