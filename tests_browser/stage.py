"""What a page with a program shows on its stage, looked at as a visitor does."""

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests_browser.program_page import stop

#: x, y and the number of the colour in the legend.
Pixel = tuple[int, int, int]

FIRST_SCREEN = {"width": 1280, "height": 800}

#: The colours of a legend, as integers of the pixels that have them.
LEGEND_COLOURS = """
  const colours = Array.from(document.querySelectorAll("#legend i"), (swatch) => {
    const [red, green, blue] = getComputedStyle(swatch).color.match(/\\d+/g).map(Number);
    return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
  });"""
READ_PIXELS = """
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const pixels = new Uint32Array(data.buffer);"""
#: The pixels in the legend's colours: x, y and the index of the colour.
COLOURED_PIXELS = f"""(canvas) => {{{LEGEND_COLOURS}{READ_PIXELS}
  const points = [];
  pixels.forEach((pixel, index) => {{
    const colour = colours.indexOf(pixel);
    if (colour >= 0) points.push([index % width, Math.floor(index / width), colour]);
  }});
  return points;
}}"""
#: Presses Run, and returns the coloured pixels once the status has a number that is at least this.
#: The page does both, as programs do not wait for a test that is slow.
RUN_AND_LOOK = f"""async (canvas, {{ pattern, minimum }}) => {{
  const step = document.getElementById("step");
  document.getElementById("run").click();
  while (!(Number(step.textContent.match(pattern)?.[1]) >= minimum)) {{
    await new Promise(requestAnimationFrame);
  }}
  return ({COLOURED_PIXELS})(canvas);
}}"""
#: Keeps all texts that an element has, however short, as `texts`.
NOTE_TEXTS = """(element) => {
  window.texts = [];
  new MutationObserver(() => texts.push(element.textContent)).observe(element, {
    childList: true,
    characterData: true,
    subtree: true,
  });
}"""
COUNT_COLOURS = f"""(canvas) => {{{READ_PIXELS}
  return new Set(pixels).size;
}}"""


def open_page(page: Page, url: str) -> None:
    """Open a page, and wait until its program runs."""
    page.set_viewport_size(FIRST_SCREEN)  # type: ignore[arg-type]
    page.goto(url)
    expect(page.locator("#run-state")).to_have_text("Running")


def expect_on_first_screen(page: Page) -> None:
    """Check that one sees all that the stage shows, and its controls, without scrolling."""
    for shown in page.locator(".stage :is(canvas, svg, select, input, button)").all():
        box = shown.bounding_box()
        if box is not None:
            assert box["y"] + box["height"] <= FIRST_SCREEN["height"], shown


def coloured_pixels(canvas: Locator) -> list[Pixel]:
    """Return all pixels in a colour of the legend."""
    return [tuple(pixel) for pixel in canvas.evaluate(COLOURED_PIXELS)]


def await_frames(page: Page, count: int) -> None:
    """Wait until the page has painted so often."""
    page.evaluate(
        """async (count) => {
          while (count-- > 0) await new Promise(requestAnimationFrame);
        }""",
        count,
    )


def count_colours(canvas: Locator) -> int:
    """Return how many colours a canvas has."""
    return int(canvas.evaluate(COUNT_COLOURS))


def number_in(locator: Locator, pattern: str) -> float:
    """Wait until an element's text has a number where the pattern's group is, and return it."""
    expect(locator).to_have_text(re.compile(pattern))
    match = re.search(pattern, locator.inner_text())
    assert match is not None
    return float(match[1].replace(",", ""))


def wait_for_number(locator: Locator, pattern: str, minimum: float) -> None:
    """Wait until the number in an element's text is at least this."""
    values: dict[str, Any] = {"pattern": pattern, "minimum": minimum}
    element = locator.element_handle()
    locator.page.wait_for_function(
        """([element, { pattern, minimum }]) =>
          Number(element.textContent.match(pattern)?.[1].replace(",", "")) >= minimum""",
        arg=[element, values],
    )


def stop_and_clear(page: Page) -> None:
    """Stop the program, and leave nothing in the status line."""
    stop(page)
    page.locator("#step").evaluate("(step) => { step.textContent = ''; }")


def run_to(page: Page, pattern: str, minimum: int) -> None:
    """Let the program run from its beginning until the status line has such a number."""
    stop_and_clear(page)
    page.locator("#run").click()
    wait_for_number(page.locator("#step"), pattern, minimum)


def first_pixels(page: Page, pattern: str, minimum: int) -> list[Pixel]:
    """Run the program from its beginning, and return the coloured pixels of one of its first steps.

    That is the first whose number in the status line is at least ``minimum``; the program goes on.
    """
    stop_and_clear(page)
    values: dict[str, Any] = {"pattern": pattern, "minimum": minimum}
    return [tuple(pixel) for pixel in page.locator("#plane").evaluate(RUN_AND_LOOK, values)]
