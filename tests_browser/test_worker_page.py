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


@pytest.mark.parametrize(
    "way, backend, times", [("page", "wasm", 1), ("worker", "wasm", 2), ("worker", "webgl", 1)]
)
def test_it_learns(chromium_page: Page, site_url: str, way: str, backend: str, times: int):
    chromium_page.goto(f"{site_url}/worker/?backend={backend}")
    start = chromium_page.locator(f"#{way}-start")
    state = chromium_page.locator(f"#{way}-state")
    for _ in range(times):
        expect(start).to_be_enabled(timeout=60_000)
        start.click()
        expect(state).to_have_text("Starting")
        expect(state).to_contain_text("after epoch 60 of 60", timeout=120_000)
    expect(start).to_be_enabled()
    found = re.match(r"(\d+)% right", state.inner_text())
    assert found is not None
    assert int(found[1]) >= 90
    colours, opaque = chromium_page.locator(f"#{way}-canvas").evaluate(LOOK)
    assert colours > 50
    assert opaque == 96 * 96
