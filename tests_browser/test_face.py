"""The page of faces: where the mesh lies on the face of the photograph."""

from math import dist

import pytest
from playwright.sync_api import Browser, expect

from tests_browser.picture_pages import expect_new_picture, opened, printed
from tests_browser.program_page import BACKENDS, expect_no_tensors
from web.pretrained.export_data import FACE

#: The corners of the face in the photograph, by eye, and where its irises are, in pixels.
FACE_BOX = (177, 68, 275, 182)
IRISES = {468: (203, 101), 473: (247, 103)}
PRINTED = "[[(point.x, point.y) for point in face.landmarks] for face in faces]"


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_mesh_lies_on_the_face(chromium: Browser, site_url: str, backend: str):
    with opened(chromium, site_url, "face", backend, PRINTED) as page:
        (points,) = printed(page)
        expect(page.locator("#status")).to_have_text("Faces: 1")
        assert len(points) == 478
        mesh = [(x + FACE[0], y + FACE[1]) for x, y in points]
        x_min, y_min, x_max, y_max = FACE_BOX
        assert all(x_min - 8 < x < x_max + 8 and y_min - 8 < y < y_max + 8 for x, y in mesh)
        xs, ys = zip(*mesh, strict=True)
        assert max(xs) - min(xs) > 70
        assert max(ys) - min(ys) > 80
        for index, position in IRISES.items():
            assert dist(mesh[index], position) < 5, index
        expect_no_tensors(page)


def test_points_and_outlines_are_shown_by_choice(chromium: Browser, site_url: str):
    with opened(chromium, site_url, "face", "wasm") as page:
        expect(page.locator("#facts")).to_contain_text("ms for this image")
        for name in ("points", "outlines"):
            with expect_new_picture(page):
                page.locator(f"#{name}").uncheck()


def test_it_runs_in_firefox(firefox: Browser, site_url: str):
    with opened(firefox, site_url, "face", "wasm") as page:
        expect(page.locator("#status")).to_have_text("Faces: 1")
