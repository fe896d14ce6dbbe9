"""The digits page, used as a visitor uses it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.digits_page import DigitsPage
from tests_browser.page_watch import watched_page
from tests_browser.stage import NOTE_TEXTS

TEST_DIGITS = 360
ONE = [(0.35, 0.35), (0.5, 0.15), (0.5, 0.85)]

# Scripts that run before the page's own, and take something away from the browser.
NO_WEBGL = """
for (const canvas of [HTMLCanvasElement, OffscreenCanvas]) {
  const getContext = canvas.prototype.getContext;
  canvas.prototype.getContext = function (kind, ...options) {
    return kind.startsWith("webgl") ? null : getContext.call(this, kind, ...options);
  };
}
"""
NO_SIMD = "WebAssembly.validate = () => false;"

#: How dark the pixels of the preview are, row by row.
INK = """(canvas) => [...canvas.getContext("2d").getImageData(0, 0, 8, 8).data]
  .filter((_, index) => index % 4 === 3)"""


@pytest.fixture(params=["webgl", "wasm"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend that computes in pages."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def trained_page(chromium: Browser, site_url: str) -> Iterator[DigitsPage]:
    """A page whose network was trained on WASM."""
    with watched_page(chromium) as page:
        digits = DigitsPage(page, site_url, "?backend=wasm&epochs=4")
        digits.train()
        yield digits


@pytest.fixture
def trained(trained_page: DigitsPage) -> DigitsPage:
    """The page whose network was trained, with an empty pad."""
    trained_page.page.get_by_role("button", name="Clear").click()
    trained_page.expect_guess("Draw, and the network guesses")
    return trained_page


def test_network_guesses_before_training_which_is_shown(
    chromium_page: Page, site_url: str, backend: str, trained_page: DigitsPage
):
    digits = DigitsPage(chromium_page, site_url, f"?backend={backend}&epochs=1")
    assert digits.facts["backend"] == backend
    predictions = digits.facts["initial_predictions"]
    assert len(predictions) == TEST_DIGITS
    assert predictions == trained_page.facts["initial_predictions"], "initial weights are the same"
    assert digits.chart_points("loss-chart") == 0
    digits.draw(ONE)
    digits.expect_guess()
    assert sum(digits.probabilities()) == pytest.approx(1, abs=0.01)
    chromium_page.locator("#progress-text").evaluate(NOTE_TEXTS)

    digits.start()
    digits.wait_for_step(2)
    shown = digits.chart_points("loss-chart")
    assert 2 <= shown < digits.facts["step"] + 2
    assert digits.wait_for("done", "failed") == "done", digits.text("notice")
    texts = chromium_page.evaluate("texts")
    assert any(re.fullmatch(r"Epoch 1 of 1, \d+ s left", text) for text in texts), texts

    assert digits.chart_points("loss-chart") == 23
    assert digits.chart_points("accuracy-chart") == 2
    accuracy = digits.facts["accuracy"]
    assert accuracy > 0.85
    assert digits.text("accuracy") == f"{accuracy:.1%}"
    assert float(digits.text("seconds").removesuffix(" s")) > 0
    assert digits.text("longest-task").endswith(" ms")
    expect(chromium_page.locator("#frames")).to_have_text(re.compile(r"^\d+$"))
    assert chromium_page.locator("#progress").evaluate("(bar) => bar.value") == 1


def test_results_agree_with_each_other(trained: DigitsPage):
    counts = [
        [int(cell) for cell in row.split()]
        for row in trained.page.locator("#confusion tbody tr").all_inner_texts()
    ]
    right = sum(row[1 + digit] for digit, row in enumerate(counts))
    wrong = trained.page.locator("#test-digits .wrong").count()
    assert [row[0] for row in counts] == list(range(10))
    assert sum(sum(row[1:]) for row in counts) == TEST_DIGITS
    assert trained.page.locator("#test-digits li").count() == TEST_DIGITS
    assert right == TEST_DIGITS - wrong == round(trained.facts["accuracy"] * TEST_DIGITS)
    assert trained.text("mistakes") == f"{wrong} of {TEST_DIGITS} wrong"

    trained.page.get_by_label("Mistakes only").check()
    expect(trained.page.locator("#test-digits li:visible")).to_have_count(wrong)
    trained.page.get_by_label("Mistakes only").uncheck()


def test_training_can_be_stopped_and_begun_anew(chromium_page: Page, site_url: str):
    digits = DigitsPage(chromium_page, site_url, "?backend=wasm&epochs=2000")
    digits.start()
    digits.wait_for_step(30)  # in the second epoch
    expect(chromium_page.get_by_role("button", name="Start")).to_be_disabled()
    expect(chromium_page.get_by_label("WebAssembly")).to_be_disabled()
    chromium_page.get_by_role("button", name="Stop").click()
    digits.wait_for("stopped")

    step = digits.facts["step"]
    assert 30 <= step < 2000 * 22
    chromium_page.wait_for_timeout(200)
    assert digits.facts["step"] == step
    expect(chromium_page.get_by_role("button", name="Stop")).to_be_disabled()

    chromium_page.locator("#progress-text").evaluate(NOTE_TEXTS)
    digits.start()
    chromium_page.wait_for_function("() => texts.some((text) => text.startsWith('Epoch 1 of'))")
    chromium_page.get_by_role("button", name="Stop").click()
    digits.wait_for("stopped")


def test_drawn_one_is_read_after_training(trained: DigitsPage):
    trained.draw(ONE)
    trained.expect_guess("Your drawing: read as 1")
    ink = trained.page.locator("#preview").evaluate(INK)
    assert all(sum(ink[row : row + 8]) > 0 for row in range(0, 64, 8)), "it fills the height"
    assert 0.2 < sum(ink) / len(ink) / 255 < 0.4
    assert sum(trained.probabilities()) == pytest.approx(1, abs=0.01)

    trained.page.get_by_role("button", name="Clear").click()
    trained.expect_guess("Draw, and the network guesses")
    assert trained.probabilities() == [0] * 10


def test_page_lives_while_training(chromium_page: Page, site_url: str):
    digits = DigitsPage(chromium_page, site_url, "?backend=wasm&epochs=2000")
    digits.start()
    digits.wait_for_step(1)
    digits.draw(ONE)
    digits.expect_guess()
    assert digits.phase == "training"
    digits.wait_for_step(digits.facts["step"] + 3)
    chromium_page.get_by_role("button", name="Stop").click()
    digits.wait_for("stopped")


def test_dragging_selects_no_text(trained: DigitsPage):
    trained.page.locator("#pad").scroll_into_view_if_needed()
    matrix = trained.page.locator("#confusion").bounding_box()
    assert matrix is not None
    trained.page.mouse.move(*trained.on_screen((0.5, 0.5)))
    trained.page.mouse.down()
    trained.page.mouse.move(matrix["x"] + 50, matrix["y"] + matrix["height"] / 2, steps=5)
    trained.page.mouse.up()
    assert trained.page.evaluate("getSelection().toString()") == ""


def test_keys_draw(trained: DigitsPage):
    trained.page.locator("#pad").focus()
    keys = trained.page.keyboard
    keys.press("ArrowUp")
    trained.expect_guess("Draw, and the network guesses")
    keys.press("Space")
    expect(trained.page.locator("#pen")).to_have_text("The pen is down.")
    for _ in range(5):
        keys.press("ArrowDown")
    trained.expect_guess()
    straight = trained.page.locator("#preview").evaluate(INK)
    assert {index % 8 for index, level in enumerate(straight) if level} <= {2, 3, 4, 5}
    keys.down("ArrowRight")
    for _ in range(5):
        keys.press("ArrowDown")  # with the other one, at an angle
    keys.up("ArrowRight")
    keys.press("Space")
    expect(trained.page.locator("#pen")).to_have_text("The pen is up.")
    trained.page.wait_for_function(
        f"() => ({INK})(document.getElementById('preview')).slice(-2).some((level) => level > 0)"
    )


def test_touch_draws(chromium: Browser, site_url: str):
    context = chromium.new_context(has_touch=True, viewport={"width": 390, "height": 840})
    digits = DigitsPage(context.new_page(), site_url, "?backend=wasm")
    digits.page.locator("#pad").scroll_into_view_if_needed()
    touch = context.new_cdp_session(digits.page)

    def send(kind: str, *points: Any) -> None:
        places = [{"x": x, "y": y} for x, y in map(digits.on_screen, points)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    send("touchStart", ONE[0])
    for point in ONE[1:]:
        send("touchMove", point)
    send("touchEnd")
    digits.expect_guess()
    scrolled = digits.page.evaluate("document.documentElement.scrollWidth")
    context.close()
    assert scrolled <= 390, "the page is as narrow as the screen"


def test_test_digit_can_be_shown_by_keyboard(trained: DigitsPage):
    trained.draw(ONE)
    trained.expect_guess()
    trained.page.get_by_role("button", name="A test digit").press("Enter")
    trained.expect_guess(r"A test digit, truly a \d: read as \d")


def test_backends_agree_and_weights_move_along(chromium_page: Page, site_url: str):
    digits = DigitsPage(chromium_page, site_url, "?backend=wasm&epochs=1")
    digits.train()
    on_wasm = chromium_page.locator("#test-digits").inner_text()
    chromium_page.get_by_label("WebGL").check()
    digits.wait_for("switching", "ready")
    assert digits.wait_for("ready", "failed") == "ready"
    assert digits.facts["backend"] == "webgl"
    assert chromium_page.locator("#test-digits").inner_text() == on_wasm


def test_works_without_isolation(chromium_page: Page, plain_site_url: str):
    digits = DigitsPage(chromium_page, plain_site_url, "?backend=wasm&epochs=1")
    assert chromium_page.evaluate("crossOriginIsolated") is False
    digits.train()


def test_works_in_firefox(firefox_page: Page, site_url: str, backend: str):
    digits = DigitsPage(firefox_page, site_url, f"?backend={backend}&epochs=1")
    assert digits.facts["backend"] == backend
    digits.train()
    assert digits.facts["accuracy"] > 0.75
    digits.draw(ONE)
    digits.expect_guess()


def test_missing_webgl_is_explained(chromium_page: Page, site_url: str):
    chromium_page.add_init_script(NO_WEBGL)
    digits = DigitsPage(chromium_page, site_url, "?backend=webgl")
    assert digits.facts["backend"] == "wasm"
    expect(chromium_page.get_by_label("WebGL")).to_be_disabled()
    expect(chromium_page.get_by_label("WebAssembly")).to_be_checked()
    assert "WebGL 2 is not available" in digits.text("webgl-note")
    assert digits.text("notice").startswith("WebGL isn't available here: ")


def test_missing_simd_is_explained(chromium_page: Page, site_url: str):
    chromium_page.add_init_script(NO_SIMD)
    digits = DigitsPage(chromium_page, site_url)
    assert digits.facts["backend"] == "webgl"
    expect(chromium_page.get_by_label("WebAssembly")).to_be_disabled()
    assert "WebAssembly SIMD" in digits.text("wasm-note")


def test_nothing_to_compute_on_is_explained(chromium_page: Page, site_url: str):
    chromium_page.add_init_script(NO_WEBGL + NO_SIMD)
    digits = DigitsPage(chromium_page, site_url)
    assert digits.phase == "failed"
    assert "Neither WebGL nor WebAssembly" in digits.text("notice")
    expect(chromium_page.get_by_role("button", name="Start")).to_be_disabled()


def test_unknown_backend_in_the_address_is_explained(chromium_page: Page, site_url: str):
    digits = DigitsPage(chromium_page, site_url, "?backend=abacus")
    assert digits.phase == "ready"
    assert "“abacus” isn't available here" in digits.text("notice")


def test_lost_context_is_explained(chromium_page: Page, site_url: str):
    chromium_page.add_init_script("""
        const getContext = OffscreenCanvas.prototype.getContext;
        OffscreenCanvas.prototype.getContext = function (kind, ...options) {
          const context = getContext.call(this, kind, ...options);
          if (kind === "webgl2") window.computingContext = context;
          return context;
        };
    """)
    digits = DigitsPage(chromium_page, site_url, "?backend=webgl&epochs=2000")
    digits.start()
    digits.wait_for_step(2)
    chromium_page.evaluate("computingContext.getExtension('WEBGL_lose_context').loseContext()")
    assert digits.wait_for("failed", "done") == "failed"
    assert "took the graphics context away" in digits.text("notice")

    chromium_page.get_by_label("WebAssembly").check()
    assert digits.wait_for("ready") == "ready"


def test_data_names_its_source_and_licence(site: Path):
    text = (site / "digits" / "digits.json").read_text()
    assert "Optical Recognition of Handwritten Digits" in text
    assert "CC BY 4.0" in text
    assert "scikit-learn" in text
    assert (site / "digits" / "digits.bin").stat().st_size < 60_000
