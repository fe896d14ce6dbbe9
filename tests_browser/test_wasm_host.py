"""The WASM backend on its JavaScript host: what wasmtime cannot show."""

from tests_browser.python_page import PythonPage


def test_views_follow_memory_as_it_grows(any_python_page: PythonPage):
    answer = any_python_page.run("""
        import webtensor as wt
        wt.set_backend("wasm")
        wt.tensor([1.0]) * 2.0 + 1.0  # these constants stay
        before = wt.backend().memory()
        x = wt.tensor([1.0, 2.0, 3.0]) * 2.0
        large = [wt.ones((4 << 20,)) for _ in range(4)]
        during = wt.backend().memory()
        y = wt.tensor([4.0, 5.0])
        sums = [float(wt.sum(one)) for one in large]
        values = (x.tolist(), y.tolist(), (y + 1.0).tolist())
        del x, y, large
        after = wt.backend().memory()
        values, sums, before, during, after
    """)
    values, sums, before, during, after = answer
    assert values == [[2, 4, 6], [4, 5], [5, 6]]
    assert sums == [float(4 << 20)] * 4
    assert during["heap_bytes"] >= before["heap_bytes"] + (48 << 20)
    assert (after["bytes"], after["blocks"]) == (before["bytes"], before["blocks"])


def test_what_does_not_fit_is_refused_and_leaves_nothing(any_python_page: PythonPage):
    answer = any_python_page.run("""
        import webtensor as wt
        wt.set_backend("wasm")
        before = wt.backend().memory()["blocks"]
        try:
            wt.ones((1 << 30,))
            message = ""
        except MemoryError as error:
            message = str(error)
        message, wt.backend().memory()["blocks"] - before, wt.ones((3,)).tolist()
    """)
    message, left, values = answer
    assert "no room for 4,294,967,296 bytes" in message
    assert left == 0
    assert values == [1, 1, 1]


def test_flag_in_the_url_chooses_plain_simd(chromium_python: PythonPage):
    source = """
        import webtensor as wt
        wt.set_backend("wasm")
        x = wt.ones((37, 41))
        wt.backend().host.variant, float(wt.sum(wt.matmul(x, x, False, True)))
    """
    try:
        chromium_python.reload("?wtflags=WASM_RELAXED_SIMD:false")
        assert chromium_python.run(source) == ["simd", 37 * 37 * 41]
    finally:
        chromium_python.reload()
    assert chromium_python.run(source) == ["relaxed", 37 * 37 * 41]
