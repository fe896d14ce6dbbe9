"""`wt.time` and `wt.profile` on WebGL: the GPU's own time where the browser has a timer.

Some browsers have one, on some devices, so the context is given one that counts, a draw takes a
millisecond, and the answer is there when it was asked for the second time; or none.
"""

from collections.abc import Iterator

import pytest

from tests_browser.python_page import UNTIL, PythonPage

TIMER = """
(() => {
  const real = WebGL2RenderingContext.prototype;
  const ELAPSED = 0x88bf;
  const DISJOINT = 0x8fbb;
  const queries = (window.queries = { alive: 0, running: null, disjoint: false });
  const { getExtension, getParameter, drawArrays } = real;
  Object.assign(real, {
    getExtension(name) {
      if (name !== "EXT_disjoint_timer_query_webgl2") return getExtension.call(this, name);
      return { TIME_ELAPSED_EXT: ELAPSED, GPU_DISJOINT_EXT: DISJOINT };
    },
    getParameter(name) {
      if (name !== DISJOINT) return getParameter.call(this, name);
      const was = queries.disjoint;
      queries.disjoint = false;
      return was;
    },
    createQuery() {
      queries.alive += 1;
      return { draws: 0, asked: 0 };
    },
    deleteQuery() {
      queries.alive -= 1;
    },
    beginQuery(target, query) {
      if (target !== ELAPSED || queries.running) throw new Error("a query runs already");
      queries.running = query;
    },
    endQuery() {
      queries.running.ended = true;
      queries.running = null;
    },
    getQueryParameter(query, name) {
      if (!query.ended) throw new Error("the query has not ended");
      if (name === this.QUERY_RESULT_AVAILABLE) return ++query.asked > 1;
      return query.draws * 1e6;
    },
    drawArrays(...numbers) {
      if (queries.running) queries.running.draws += 1;
      drawArrays.apply(this, numbers);
    },
  });
})()
"""

NO_TIMER = """
(() => {
  const real = WebGL2RenderingContext.prototype;
  const { getExtension } = real;
  real.getExtension = function (name) {
    return name === "EXT_disjoint_timer_query_webgl2" ? null : getExtension.call(this, name);
  };
})()
"""

START = (
    UNTIL
    + """
import js
import webtensor as wt

wt.set_backend("webgl")
x = wt.ones((4, 4)) + 0
x.data_sync()

def work():
    return wt.exp(x) * wt.sin(x) + 1.0
"""
)


@pytest.fixture
def timed_page(python_page: PythonPage) -> Iterator[PythonPage]:
    """A page whose context has a timer."""
    yield from _changed(python_page, TIMER)


@pytest.fixture
def page_without_timer(any_python_page: PythonPage) -> Iterator[PythonPage]:
    """A page whose context has none."""
    yield from _changed(any_python_page, NO_TIMER)


def _changed(page: PythonPage, script: str) -> Iterator[PythonPage]:
    page.reload()
    page.evaluate(f"(() => {{ {script} }})()")
    yield page
    page.spoil()


def test_time_is_the_gpus_where_it_has_a_timer(timed_page: PythonPage):
    answer = timed_page.run(
        START
        + """
async def waiting():
    y = wt.exp(x)
    await asyncio.sleep(0.01)  # the queue is flushed
    return y + 1.0

timings = [await wt.time_async(work), wt.time(work), await wt.time_async(waiting)]
[[[timing.clock, timing.kernel_ms] for timing in timings],
 all(timing.wall_ms > timing.download_wait_ms >= 0 for timing in timings), js.queries.alive]
"""
    )
    timings, plausible, left = answer
    assert timings == [["gpu", 4], ["gpu", 4], ["gpu", 2]]
    assert plausible
    assert left == 0


def test_profile_times_each_kernel(timed_page: PythonPage):
    answer = timed_page.run(
        START
        + """
large = wt.ones((256, 256))
def work():
    return wt.reshape(wt.matmul(large, large), (-1,)) + 1.0

seen = [await wt.profile_async(work), wt.profile(work)]
[[[[kernel.name, kernel.gpu_ms] for kernel in one.kernels] for one in seen], js.queries.alive]
"""
    )
    for kernels in answer[0]:
        assert kernels == [["matmul", 1], ["reshape", 0], ["add", 1]]
    assert answer[1] == 0


def test_what_the_gpu_was_interrupted_in_has_no_gpu_time(timed_page: PythonPage):
    answer = timed_page.run(
        START
        + """
js.queries.disjoint = True
before = await wt.time_async(work)

def interrupted():
    y = work()
    js.queries.disjoint = True
    return y

during = await wt.time_async(interrupted)
profile = await wt.profile_async(interrupted)
after = await wt.time_async(work)
[[timing.clock for timing in (before, during, after)], during.kernel_ms == during.wall_ms,
 [kernel.gpu_ms for kernel in profile.kernels], js.queries.alive]
"""
    )
    clocks, wall, kernels, left = answer
    assert clocks == ["gpu", "wall", "gpu"]
    assert wall
    assert kernels == [None] * 4  # none had been told its time before the interruption
    assert left == 0


def test_measurements_do_not_nest(timed_page: PythonPage):
    answer = timed_page.run(
        START
        + """
inner = []

async def outer():
    inner.append(await wt.time_async(work))
    return wt.sin(x)

timing = await wt.time_async(outer)

def fail():
    work()
    raise RuntimeError("on purpose")

for measure in (wt.time_async, wt.profile_async):
    try:
        await measure(fail)
    except RuntimeError:
        pass
again = await wt.time_async(work)
await until(lambda: not js.queries.alive)  # queries end in events of the page's own
[[each.clock for each in (timing, *inner, again)], timing.kernel_ms, js.queries.alive]
"""
    )
    clocks, kernel_ms, left = answer
    assert clocks == ["gpu", "wall", "gpu"]
    assert kernel_ms == 5
    assert left == 0


def test_without_a_timer_the_time_is_the_walls(page_without_timer: PythonPage):
    answer = page_without_timer.run(
        START
        + """
timing = await wt.time_async(work)
synchronous = wt.time(work)
profile = await wt.profile_async(work)
host = wt.zeros((100, 100)).data_sync()
uploaded = wt.time(lambda: wt.tensor(list(host)) + 1)
[timing.clock, synchronous.clock, timing.kernel_ms == timing.wall_ms,
 {kernel.gpu_ms for kernel in profile.kernels} == {None}, uploaded.upload_wait_ms > 0,
 uploaded.download_wait_ms > 0]
"""
    )
    assert answer == ["wall", "wall", True, True, True, True]
