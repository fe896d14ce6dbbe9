"""The page of poses: where its models see the points of the example's body."""

from math import dist

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.picture_pages import opened, printed
from tests_browser.program_page import BACKENDS, expect_no_tensors

#: Where the photograph has them, by eye, and how far off a model may be, in pixels.
POINTS = {"nose": (226, 118), "left_eye": (247, 104), "right_eye": (203, 102)}
TOLERANCE = 15
PRINTED = "[{point.name: (point.x, point.y) for point in pose.keypoints} for pose in poses]"


def check_poses(page: Page, line: int) -> None:
    (pose,) = printed(page, line)
    for name, position in POINTS.items():
        assert dist(pose[name], position) < TOLERANCE, name


@pytest.mark.parametrize("backend", BACKENDS)
def test_both_models_find_the_face(chromium: Browser, site_url: str, backend: str):
    with opened(chromium, site_url, "pose", backend, PRINTED) as page:
        check_poses(page, 0)
        expect(page.locator("#status")).to_have_text("Persons: 1")
        expect(page.locator("#facts")).to_contain_text("ms for this image")
        page.locator("#model").select_option("PoseNet")
        check_poses(page, 1)
        expect_no_tensors(page)


def test_it_runs_in_firefox(firefox: Browser, site_url: str):
    with opened(firefox, site_url, "pose", "wasm") as page:
        expect(page.locator("#status")).to_have_text("Persons: 1")
