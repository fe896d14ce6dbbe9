"""The page of objects: it finds the person of the photograph, and the slider leaves it out."""

import pytest
from playwright.sync_api import Browser, expect

from tests_browser.picture_pages import opened, printed
from tests_browser.program_page import BACKENDS, expect_no_tensors

#: The corners of what the photograph shows of the astronaut, by eye, in pixels.
PERSON = (22, 14, 362, 512)
TOLERANCE = 25
PRINTED = """[
    (item.label, item.score, item.box.x_min, item.box.y_min, item.box.x_max, item.box.y_max)
    for item in objects]"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_finds_the_person(chromium: Browser, site_url: str, backend: str):
    with opened(chromium, site_url, "detect", backend, PRINTED) as page:
        ((label, score, *corners),) = printed(page)
        assert label == "person"
        assert 0.4 <= score <= 1
        assert corners == pytest.approx(PERSON, abs=TOLERANCE)
        status = page.locator("#status")
        expect(status).to_have_text(f"Scores of 40% or more: person {score:.0%}")
        page.locator("#score").fill("0.9")
        expect(status).to_have_text("Scores of 90% or more: none")
        expect_no_tensors(page)


def test_it_runs_in_firefox(firefox: Browser, site_url: str):
    with opened(firefox, site_url, "detect", "webgl") as page:
        expect(page.locator("#status")).to_contain_text("person")
