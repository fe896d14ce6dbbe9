"""The page of hands: the points of the hand that it begins with, its gesture, and the game."""

import re
from math import dist

import pytest
from playwright.sync_api import Browser, expect

from tests_browser.picture_pages import image_file, opened, png, printed
from tests_browser.program_page import BACKENDS, expect_no_tensors
from web.hands.export_data import FINGERS

#: The landmarks at the tips of the fingers, from the thumb on.
TIPS = (4, 8, 12, 16, 20)
TOLERANCE = 15  # pixels
PRINTED = "[(*gestures, [(point.x, point.y) for point in hand.landmarks]) for hand in hands]"
OUTCOMES = re.compile(
    r"You: paper\. Python: (rock\. You win|paper\. A draw|scissors\. Python wins)\."
)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_drawn_hand_plays_paper(chromium: Browser, site_url: str, backend: str):
    with opened(chromium, site_url, "hands", backend, PRINTED) as page:
        ((gesture, points),) = printed(page)
        expect(page.locator("#status")).to_have_text(OUTCOMES)
        assert gesture == "paper"
        assert len(points) == 21
        for index, (_, tip, _) in zip(TIPS, FINGERS, strict=True):
            assert dist(points[index], tip) < TOLERANCE, index
        warnings = []
        page.on("console", lambda message: warnings.append(message.text))
        page.locator("#file").set_input_files(image_file(png(300, 200)))
        expect(page.locator("#status")).to_have_text("This is neither rock, paper nor scissors.")
        assert not warnings  # as Chromium warns of pixels that are read from the GPU again
        expect_no_tensors(page)


def test_it_runs_in_firefox(firefox: Browser, site_url: str):
    with opened(firefox, site_url, "hands", "webgl") as page:
        expect(page.locator("#status")).to_have_text(OUTCOMES)
