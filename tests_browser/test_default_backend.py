"""The default backend: WebAssembly where the processor draws for WebGL, else WebGL."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser

from tests_browser.digits_page import DigitsPage
from tests_browser.python_page import PlaywrightPythonPage

#: Counts the contexts that the library opens, and has the browser tell of another device.
IMITATE = """
  window.contexts = 0;
  const [renderer, isSlow] = %s;
  const RENDERERS = [0x1f01, 0x9246];
  for (const canvas of [OffscreenCanvas, HTMLCanvasElement]) {
    const getContext = canvas.prototype.getContext;
    canvas.prototype.getContext = function (kind, options = {}) {
      if (options.failIfMajorPerformanceCaveat && isSlow) return null;
      delete options.failIfMajorPerformanceCaveat;
      const context = getContext.call(this, kind, options);
      if (kind.startsWith("webgl") && context !== null) window.contexts++;
      return context;
    };
  }
  for (const context of [WebGLRenderingContext, WebGL2RenderingContext]) {
    const getParameter = context.prototype.getParameter;
    context.prototype.getParameter = function (name) {
      return RENDERERS.includes(name) ? renderer : getParameter.call(this, name);
    };
  }
"""
DEFAULT = """
import js
import webtensor as wt
opened = [js.contexts]
chosen = wt.get_backend()
opened.append(js.contexts)
value = float(wt.sum(wt.ones((3,)) + 1.0))
opened, chosen, value, wt.priority_reason("webgl"), wt.registered_backends()
"""

Open = Callable[..., PlaywrightPythonPage]


@contextmanager
def opening(browser: Browser, site_url: str) -> Iterator[Open]:
    """Lend a function that opens Python in a page, on a device of another name."""
    context = browser.new_context()

    def start(renderer: str, *, is_slow: bool = False, query: str = "") -> PlaywrightPythonPage:
        page = context.new_page()
        page.add_init_script(IMITATE % str([renderer, int(is_slow)]))
        path = f"/tests/blank.html{query}"
        return PlaywrightPythonPage(browser.browser_type.name, site_url, page, path=path)

    yield start
    context.close()


@pytest.fixture(params=["chromium", "firefox"])
def open_page(request: pytest.FixtureRequest, site_url: str) -> Iterator[Open]:
    """Open Python in a page of Chromium, and, in a second run of the test, of Firefox."""
    with opening(request.getfixturevalue(request.param), site_url) as start:
        yield start


@pytest.fixture
def open_chromium(chromium: Browser, site_url: str) -> Iterator[Open]:
    """Open Python in a page of Chromium."""
    with opening(chromium, site_url) as start:
        yield start


def test_webgl_where_a_graphics_processor_draws(open_page: Open):
    opened, chosen, value, reason, names = open_page("ANGLE (NVIDIA, RTX 4090)").run(DEFAULT)
    assert (chosen, value, reason) == ("webgl", 6.0, None)
    assert names == ["webgl", "wasm", "numpy"]
    assert opened == [0, 1], "the context that was looked at is the one that computes"


def test_webassembly_where_the_processor_draws(open_page: Open):
    page = open_page("ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero)))")
    opened, chosen, value, reason, names = page.run(DEFAULT)
    assert (opened, chosen, value) == ([0, 1], "wasm", 6.0)
    assert names == ["wasm", "webgl", "numpy"]
    assert "the processor draws in place of a graphics processor (ANGLE (Google" in reason
    assert 'wt.set_backend("webgl") or the flag WEBGL_ALLOW_SOFTWARE' in reason
    source = """
        import js
        import webtensor as wt
        wt.set_backend("webgl")
        wt.get_backend(), float(wt.sum(wt.ones((3,)) + 1.0)), js.contexts
    """
    assert page.run(source) == ["webgl", 6.0, 1]


def test_webassembly_where_the_browser_says_that_webgl_is_slow(open_chromium: Open):
    _, chosen, _, reason, _ = open_chromium("Some GPU", is_slow=True).run(DEFAULT)
    assert chosen == "wasm"
    assert "the browser says that WebGL is slow here (Some GPU)" in reason


def test_a_flag_prefers_webgl_in_software(open_chromium: Open):
    page = open_chromium("llvmpipe", is_slow=True, query="?wtflags=WEBGL_ALLOW_SOFTWARE:true")
    _, chosen, _, reason, names = page.run(DEFAULT)
    assert (chosen, reason, names[0]) == ("webgl", None, "webgl")


def test_who_asks_for_webassembly_opens_no_context(open_chromium: Open):
    source = """
        import js
        import webtensor as wt
        wt.set_backend("wasm")
        float(wt.sum(wt.ones((3,)))), js.contexts
    """
    assert open_chromium("llvmpipe").run(source) == [3.0, 0]


def test_a_context_of_the_pages_own_is_preferred(open_chromium: Open):
    source = """
        import js
        import webtensor as wt
        wt.webgl.set_context(js.OffscreenCanvas.new(1, 1).getContext("webgl2"))
        wt.get_backend(), wt.priority_reason("webgl")
    """
    assert open_chromium("llvmpipe").run(source) == ["webgl", None]


@pytest.mark.parametrize("renderer, chosen", [("llvmpipe", "wasm"), ("A GPU", "webgl")])
def test_digits_page(chromium: Browser, site_url: str, renderer: str, chosen: str):
    page = chromium.new_page()
    page.add_init_script(IMITATE % str([renderer, 0]))
    digits = DigitsPage(page, site_url)
    assert digits.facts["backend"] == chosen
    assert ("WebAssembly is quicker" in digits.text("webgl-note")) == (chosen == "wasm")
    page.close()


#: Flags that stopped the page, or made no sense, by what the console says of them.
BAD_FLAGS = {
    "WEBGL_MAX_TEXTURE_SIZE:-1": "must be an integer of at least 1, but got -1",
    "WEBGL_VERSION:7": "must be one of 1, 2, but got 7",
    "WEBGL_VERISON:1": "there is no flag 'WEBGL_VERISON'. Did you mean 'WEBGL_VERSION'?",
}


def test_flags_that_make_no_sense_are_reported_and_ignored(open_page: Open):
    said: list[str] = []
    page = open_page("A GPU")
    page.page.on("console", lambda message: said.append(message.text))
    page.reload(f"?wtflags={','.join(BAD_FLAGS)}&wtflags=&wtflags=WEBGL_RECYCLED_BYTES_LIMIT:-5")
    assert page.run(DEFAULT)[1:3] == ["webgl", 6.0]
    for mistake in [*BAD_FLAGS.values(), "WEBGL_RECYCLED_BYTES_LIMIT must be an integer"]:
        assert len([text for text in said if mistake in text]) == 1


def test_the_largest_texture_is_no_larger_than_the_devices(open_chromium: Open):
    source = """
        import webtensor as wt
        wt.set_backend("webgl")
        wt.backend().most_elements, float(wt.sum(wt.ones((40,))))
    """
    usual = open_chromium("A GPU").run(source)
    assert usual[1] == 40
    forced = open_chromium("A GPU", query="?wtflags=WEBGL_MAX_TEXTURE_SIZE:1000000000").run(source)
    assert forced == usual
    smallest = open_chromium("A GPU", query="?wtflags=WEBGL_MAX_TEXTURE_SIZE:1").run(source)
    assert smallest == [4, 40.0]
