"""The WASM backend on its JavaScript host: what wasmtime cannot show."""

import subprocess

from tests_browser.python_page import PythonPage
from web.build import ROOT


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
        row, column = wt.ones((1, 1 << 15)) * 1, wt.ones((1 << 15, 1)) * 1
        before = wt.backend().memory()["blocks"]
        try:
            row + column
            message = ""
        except MemoryError as error:
            message = str(error)
        message, wt.backend().memory()["blocks"] - before, wt.ones((3,)).tolist()
    """)
    message, left, values = answer
    assert "no room for a float32 tensor of shape (32768, 32768)" in message
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
    with chromium_python.loaded_with("?wtflags=WASM_RELAXED_SIMD:false") as page:
        assert page.run(source) == ["simd", 37 * 37 * 41]
    assert chromium_python.run(source) == ["relaxed", 37 * 37 * 41]


def test_calls_that_wait_see_memory_in_their_order(chromium_python: PythonPage):
    """Blocks are freed, reused, written and given back while calls on them wait."""
    answer = chromium_python.run("""
        import random
        import webtensor as wt
        wt.set_backend("wasm")
        backend = wt.backend()
        draw = random.Random(5)
        held = [(wt.tensor([float(i)] * 8), float(i)) for i in range(20)]
        longest_queue = wrong = 0
        for step in range(6000):
            (x, a), (y, b) = draw.choice(held), draw.choice(held)
            choice = draw.random()
            if choice < 0.6:
                made = x + y, a + b
            elif choice < 0.9:
                made = wt.minimum(x, y), min(a, b)
            elif choice < 0.97:
                made = wt.tensor([a] * 8) - 1.0, a - 1.0
            elif choice < 0.98:
                backend.pool.trim()
                continue
            else:
                wrong += x.tolist() != [a] * 8
                continue
            if abs(made[1]) > 1e6:  # all numbers stay exact
                made = wt.tensor([1.0] * 8), 1.0
            held[draw.randrange(20)] = made
            longest_queue = max(longest_queue, len(backend.host.queue))
        wrong += sum(x.tolist() != [a] * 8 for x, a in held)
        wrong, longest_queue, len(backend.host.queue)
    """)
    wrong, longest_queue, left = answer
    assert wrong == 0
    assert longest_queue > 100
    assert left == 0


def test_a_long_row_of_small_calls_is_run_in_between(chromium_python: PythonPage):
    answer = chromium_python.run("""
        import webtensor as wt
        wt.set_backend("wasm")
        x, one = wt.tensor([0.0]), wt.tensor([1.0])
        longest = 0
        for step in range(3000):
            x = x + one
            longest = max(longest, len(wt.backend().host.queue))
        float(x[0]), longest
    """)
    assert answer[0] == 3000
    assert 1000 < answer[1] < 3100


def test_it_computes_in_node_without_a_page():
    program = """
import webtensor as wt
wt.set_backend("wasm")
x = wt.ones((300, 300))
f"{wt.wasm.get_threads_count()} {float(wt.sum(wt.matmul(x, x)))}"
"""
    script = ROOT / "tests_browser" / "pages" / "python_in_node.mjs"
    command = ["node", str(script), str(ROOT / "pkg"), program]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stdout.split() == ["1", f"{300.0**3}"], result.stderr[-2000:]
