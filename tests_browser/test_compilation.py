"""Programs compile side by side, and the page stays live while they do.

Where the browser has no ``KHR_parallel_shader_compile``, a context that pretends to have it shows
what the library asks for, and when.
"""

from typing import Any

import pytest

from tests_browser.python_page import UNTIL, PlaywrightPythonPage, PythonPage

#: Runs before a backend starts: counts what is asked of the context, and adds the extension, by
#: which a program is complete when it was asked for the third time.
SPY = """
(() => {
  const real = WebGL2RenderingContext.prototype;
  const log = (window.asked = []);
  const polls = new Map();
  window.COMPLETION = 0x91b1;
  const { getExtension, getProgramParameter, linkProgram, drawArrays } = real;
  real.getExtension = function (name) {
    if (name !== "KHR_parallel_shader_compile") return getExtension.call(this, name);
    return parallel ? { COMPLETION_STATUS_KHR: COMPLETION } : null;
  };
  real.linkProgram = function (program) {
    log.push("link");
    linkProgram.call(this, program);
  };
  real.getProgramParameter = function (program, name) {
    if (name !== COMPLETION) {
      log.push("ask");
      return getProgramParameter.call(this, program, name);
    }
    log.push("poll");
    polls.set(program, (polls.get(program) ?? 0) + 1);
    return polls.get(program) > 2;
  };
  real.drawArrays = function (...numbers) {
    log.push("draw");
    drawArrays.apply(this, numbers);
  };
})()
"""

WARM_UP = """
import asyncio
import js
import webtensor as wt

wt.set_backend("webgl")
weights = wt.Variable([[0.25, -0.5, 0.75, 1.0]] * 8)
wt.backend()

def model(x):
    return wt.softmax(wt.tanh(wt.matmul(x, weights)) * wt.sigmoid(wt.sum(x)))

def counts():
    memory = wt.memory()
    webgl = memory["backends"]["webgl"]
    return [memory["num_tensors"], memory["num_bytes"], webgl["pending_reads"]]

turns = 0

async def live():
    global turns
    while True:
        await asyncio.sleep(0)
        turns += 1

js.asked.splice(0)
before = counts()
living = asyncio.ensure_future(live())
await wt.warm_up(model, (2, 8))
living.cancel()
warm = list(js.asked)
after = counts()

programs = wt.memory()["backends"]["webgl"]["programs"]
js.asked.splice(0)
answer = model(wt.tensor([[1.0] * 8] * 2)).tolist()
[warm, list(js.asked), turns, programs, before, after, answer]
"""


def page_with_spy(page: PythonPage, parallel: bool) -> PythonPage:
    """Load the page anew, with a context that tells what it is asked."""
    page.reload()
    page.evaluate(f"(() => {{ window.parallel = {str(parallel).lower()}; {SPY} }})()")
    return page


@pytest.mark.parametrize("parallel", [True, False])
def test_warm_up_asks_for_all_programs_before_it_waits_for_one(
    any_python_page: PythonPage, parallel: bool
):
    warm, later, turns, programs, before, after, answer = page_with_spy(
        any_python_page, parallel
    ).run(WARM_UP)
    links = warm.count("link")
    assert links == programs >= 5
    assert warm[:links] == ["link"] * links
    assert warm.count("ask") == links
    assert warm.count("poll") == (3 * links if parallel else 0)
    assert "draw" not in warm[: len(warm) - warm[::-1].index("ask")]
    assert turns >= links
    assert before == after
    assert set(later) == {"draw"}
    assert abs(sum(answer[0]) - 1) < 1e-5
    any_python_page.spoil()


AWAITED = (
    UNTIL
    + """
import webtensor as wt

wt.set_backend("webgl")
x = wt.ones((4, 4))
y = wt.tanh(wt.exp(x)) + 1
pending = len(wt.backend().programs.pending)
reads = await asyncio.gather(y.data(), wt.sin(y).data())
z = wt.cosh(y)
await until(lambda: not wt.backend().programs.pending)  # drawn without anybody asking for it
[pending, len(wt.backend().programs.pending), [read[0] for read in reads], z.tolist()[0][0]]
"""
)


def test_programs_compile_while_a_read_is_awaited(any_python_page: PythonPage):
    page_with_spy(any_python_page, parallel=True)
    pending, left, (first, second), third = any_python_page.run(AWAITED)
    asked = any_python_page.evaluate("asked.filter((what) => what !== 'draw').join(' ')")
    assert pending == 4  # with the one that fills
    assert left == 0
    assert first == pytest.approx(1.9913, abs=1e-3)
    assert second == pytest.approx(0.9129, abs=1e-3)
    assert third == pytest.approx(3.7315, abs=1e-3)
    assert asked.startswith("link link link link link poll")
    any_python_page.spoil()


#: A kernel of the user's, and one of the library's, whose shader has a mistake.
BROKEN = """
import webtensor as wt
from webtensor.backends.webgl.compiler import Input, Shader

wt.set_backend("webgl")

def broken(backend, inputs, shape, dtype, *attributes):
    code = "vec4 compute(int t) {\\n  return getX(t) + nonsense;\\n}"
    shader = Shader("broken", [Input("x", dtype, 4)], dtype, 4, [], code)
    return backend.run("broken", lambda: shader, inputs, 4, dtype)

x = wt.ones((4,)) + 0
x.data_sync()

def counts():
    memory = wt.memory()
    webgl = memory["backends"]["webgl"]
    return [memory["num_tensors"], webgl["bytes"], webgl["programs"]]

before = counts()
errors = []
"""

OF_A_USER = """
op = wt.register_op("broken", lambda x: (x.shape, x.dtype))
wt.register_kernel("broken", "webgl", broken)
for _ in range(2):
    try:
        op(x)
    except wt.BackendError as error:
        errors.append(str(error))
wt.deregister_op("broken")
errors, before, counts(), (x + 1).tolist()
"""

OF_THE_LIBRARY = """
from types import MethodType
kernels = wt.backend().kernels
exp = kernels["unary"]
kernels["unary"] = MethodType(broken, wt.backend())
try:
    for wait in (lambda y: y.data(), lambda y: y.data(), lambda y: wt.backend().finish()):
        y = wt.exp(x)
        try:
            await wait(y)
        except wt.BackendError as error:
            errors.append(str(error))
    y = wt.exp(x)
    try:
        y.tolist()
    except wt.BackendError as error:
        errors.append(str(error))
finally:
    kernels["unary"] = exp
del y
errors, before, counts(), (x + 1).tolist()
"""


@pytest.mark.parametrize("whose, times", [(OF_A_USER, 2), (OF_THE_LIBRARY, 4)])
def test_a_shader_with_a_mistake_names_op_and_line(
    any_python_page: PythonPage, whose: str, times: int
):
    errors, before, after, plus_one = any_python_page.run(BROKEN + whose)
    assert len(errors) == times
    for error in errors:
        assert error.startswith("webgl: compiling the shader of broken failed: ")
        assert "nonsense" in error.splitlines()[0]
        (line,) = [line for line in error.splitlines() if "getX(t) + nonsense" in line]
        assert line.split()[0].isdigit()
    assert after == before
    assert plus_one == [2.0] * 4


def test_a_program_that_does_not_link_names_the_op(chromium_python: PlaywrightPythonPage):
    (error,) = chromium_python.run("""
        import webtensor as wt
        from webtensor.backends.webgl.compiler import Input, Shader

        wt.set_backend("webgl")

        def unlinkable(backend, inputs, shape, dtype):
            # The vertex shader has this uniform, as a vec2.
            code = "uniform vec4 hereSize; vec4 compute(int t) { return getX(t) + hereSize; }"
            shader = Shader("unlinkable", [Input("x", dtype, 4)], dtype, 4, [], code)
            return backend.run("unlinkable", lambda: shader, inputs, 4, dtype)

        op = wt.register_op("unlinkable", lambda x: (x.shape, x.dtype))
        wt.register_kernel("unlinkable", "webgl", unlinkable)
        errors = []
        try:
            op([1.0])
        except wt.BackendError as error:
            errors.append(str(error))
        wt.deregister_op("unlinkable")
        errors
    """)
    assert error.startswith("webgl: linking the program of unlinkable failed: ")


def answers_of(page: PythonPage, backend: str) -> Any:
    """What a warmed-up function computes."""
    return page.run(
        """
        import webtensor as wt

        wt.set_backend(backend)
        calls = []

        async def model(x, y):
            calls.append(1)
            return [await (x + 1).data(), wt.take([5.0, 6.0], y)]

        before = wt.memory()["num_tensors"]
        await wt.warm_up(model, (2, 2), ((3,), "int32"))
        [len(calls), wt.memory()["num_tensors"] - before]
        """,
        backend=backend,
    )


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_warm_up_calls_once_and_leaves_nothing(python_page: PythonPage, backend: str):
    assert answers_of(python_page, backend) == [1, 0]
