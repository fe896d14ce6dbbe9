"""The page about page and worker: the same file learns either way, and its picture is shown."""

import re

import pytest
from playwright.sync_api import Page, expect

#: How many different colours a canvas shows, and how many of its pixels are opaque.
LOOK = """(canvas) => {
  const { width, height } = canvas;
  const copy = new OffscreenCanvas(width, height).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  const pixels = new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer);
  return [new Set(pixels).size, pixels.filter((pixel) => pixel >>> 24 === 255).length];
}"""

#: Keeps what the page says of a way.
RECORD_STATES = """(way) => {
  const state = document.getElementById(`${way}-state`);
  globalThis.states = [];
  const observer = new MutationObserver(() => states.push(state.textContent));
  observer.observe(state, { childList: true });
}"""


@pytest.mark.parametrize(
    "way, backend, times", [("page", "wasm", 1), ("worker", "wasm", 2), ("worker", "webgl", 1)]
)
def test_it_learns(chromium_page: Page, site_url: str, way: str, backend: str, times: int):
    chromium_page.goto(f"{site_url}/worker/?backend={backend}")
    start = chromium_page.locator(f"#{way}-start")
    state = chromium_page.locator(f"#{way}-state")
    expect(start).to_be_enabled()
    assert chromium_page.locator(f"#{way}-points circle").count() == 256
    chromium_page.evaluate(RECORD_STATES, way)
    for _ in range(times):
        expect(start).to_be_enabled()
        start.click()
        expect(state).to_contain_text("after epoch 60 of 60")
    expect(start).to_be_enabled()
    assert chromium_page.locator(f"#{way}-progress").evaluate("(bar) => bar.value") == 1
    states: list[str] = chromium_page.evaluate("states")
    assert states[0] == "Starting"
    loads = [state for state in states if state.startswith("The worker's own Python: ")]
    assert (len(set(loads)) >= 2) is (way == "worker")
    assert loads == states[1 : len(loads) + 1], "Python is loaded once"
    match = re.match(r"(\d+)% right", state.inner_text())
    assert match is not None
    assert int(match[1]) >= 90
    colours, opaque = chromium_page.locator(f"#{way}-canvas").evaluate(LOOK)
    assert colours > 50
    assert opaque == 96 * 96
