"""The page of the character model: what it writes gets better, and heeds prompt and temperature."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from docs.examples.character_model import rhyme
from tests_browser.page_watch import watched_page
from tests_browser.program_page import expect_no_tensors

WORDS = set(rhyme().replace(".", "").split())


@pytest.fixture(scope="module")
def page(chromium: Browser, site_url: str) -> Iterator[Page]:
    """The page, which learns the rhyme with WebAssembly."""
    with watched_page(chromium) as page:
        page.goto(f"{site_url}/text/?backend=wasm")
        page.locator("#text").select_option("rhyme")
        expect(page.locator("#prompt-shown")).to_have_text("this is ")
        yield page


def wait_for_epoch(page: Page, epoch: int) -> None:
    """Wait until an epoch's recital has been written."""
    expect(page.locator("#earlier")).to_contain_text(f"Epoch {epoch} ")


def share_of_words(text: str) -> float:
    """Return how much of a text is words of the rhyme; the last one may be cut off."""
    words = text.replace(".", "").split()[:-1]
    return sum(word in WORDS for word in words) / len(words)


def recital(page: Page, epoch: int) -> str:
    item = page.locator("#earlier li").filter(has_text=re.compile(rf"^Epoch {epoch} "))
    return item.inner_text().removeprefix(f"Epoch {epoch}")


def test_it_learns_words_while_it_writes(page: Page):
    wait_for_epoch(page, 12)
    assert share_of_words(recital(page, 0)) < 0.5
    assert share_of_words(recital(page, 12)) > 0.9
    assert recital(page, 12).strip().startswith("this is ")
    state = page.locator("#state").inner_text()
    match = re.search(r"as if between (\d+\.\d) of the 23 characters", state)
    assert match, state
    assert float(match[1]) < 1.6
    expect(page.locator("#losses svg")).to_have_attribute("aria-label", re.compile("nats"))


def test_it_goes_on_from_a_prompt_without_unknown_characters(page: Page):
    page.locator("#prompt").fill("The cow that?")
    expect(page.locator("#prompt-shown")).to_have_text("he cow that")
    page.locator("#prompt").fill("")
    expect(page.locator("#prompt-shown")).to_have_text("this is ")


def test_it_makes_more_mistakes_at_a_high_temperature(page: Page):
    expect(page.locator("#state")).to_contain_text("It has learned")
    slider = page.locator("#temperature")
    slider.focus()
    slider.press("End")
    expect(page.locator("#degrees")).to_have_text("2")
    expect(page.locator("#heading")).to_have_text("Learned")
    written = page.locator("#written")
    expect(written).to_have_text(re.compile(r"[\s\S]{110}"))
    assert share_of_words(written.inner_text()) < 0.9


def test_a_text_to_learn_nothing_from_is_refused(page: Page):
    page.locator("#text").select_option("own")
    expect(page.locator("#state")).to_have_text("The network waits for your text.")
    page.locator("#own").fill("short")
    page.locator("#own").blur()
    expect(page.locator("#problem")).to_have_text(
        "Your text has 5 characters; the network learns from 300 to 20,000."
    )
    page.locator("#own").fill("a" * 300)
    page.locator("#own").blur()
    expect(page.locator("#problem")).to_have_text(
        "Your text repeats 'a'; the network chooses from two at least."
    )
    page.locator("#own").fill("la " * 100)
    page.locator("#own").blur()
    expect(page.locator("#problem")).to_be_hidden()
    expect(page.locator("#state")).to_contain_text("of the 3 characters")
    page.locator("#own").fill("la " * 7000)
    page.locator("#own").blur()
    expect(page.locator("#problem")).to_contain_text("21,000 characters")
    expect(page.locator("#state")).to_have_text("The network waits for your text.")
    page.locator("#own").fill("la " * 100)
    page.locator("#own").blur()


def test_nothing_is_left_of_a_run_that_is_stopped(page: Page):
    expect(page.locator("#run-state")).to_have_text("Running")
    expect_no_tensors(page)


@pytest.mark.pages_on_webgl
def test_it_learns_on_the_gpu(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/text/?backend=webgl")
    chromium_page.locator("#text").select_option("rhyme")
    expect(chromium_page.locator("#earlier li").first).to_be_attached()
    expect(chromium_page.locator("#facts")).to_contain_text("on the GPU")


def test_it_learns_in_firefox(firefox_page: Page, site_url: str):
    firefox_page.goto(f"{site_url}/text/?backend=wasm")
    expect(firefox_page.locator("#earlier li").nth(1)).to_be_attached()
    expect(firefox_page.locator("#prompt-shown")).to_have_text("Shall I ")
