"""What pages that look at a picture have in common: images, the webcam, and what goes wrong."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Page, Playwright, expect

from tests_browser.browsers import launch_chromium, launch_firefox
from tests_browser.picture_pages import image_file, opened, png
from tests_browser.program_page import expect_no_tensors, run, stop

IMITATED_CAMERA = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
IMITATED_IN_FIREFOX = {
    "media.navigator.streams.fake": True,
    "media.navigator.permission.disabled": True,
}
#: Keeps the webcam's streams, to see whether they are stopped.
KEEP_STREAMS = """() => {
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  globalThis.streams = [];
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    const stream = await open(constraints);
    streams.push(stream);
    return stream;
  };
}"""
#: Says how large each picture is, and where it comes from.
PROGRAM = """
from picture import Picture

picture = Picture()
async for frame in picture.frames():
    picture.show(frame)
    kind = "image" if frame.timestamp is None else "frame"
    print(kind, *frame.pixels.shape)
    picture.say(f"A picture of {frame.pixels.shape[1]} pixels")
"""
#: Shows a picture, red on the left and blue on the right, in a mirror, with a dot on the left.
MIRRORED = """
from js import document
from overlay import Overlay
from page import element
from webtensor.vision import Keypoint

canvas = document.createElement("canvas")
canvas.width, canvas.height = 400, 100
context = canvas.getContext("2d")
context.fillStyle = "red"
context.fillRect(0, 0, 200, 100)
context.fillStyle = "blue"
context.fillRect(200, 0, 200, 100)
overlay = Overlay(element("picture"), canvas, is_mirrored=True)
overlay.draw_dots([Keypoint(100, 50, 1.0, "dot")])
"""
#: Counts what JavaScript and Python have of each other.
COUNTS = """
import gc
from pyodide_js import _module as module

module.enable_pyproxy_allocation_tracing()
gc.collect()
print(module._hiwire_num_refs(), module.pyproxy_alloc_map.size)
"""
#: Hands a file to the page as browsers do when it is dropped, or pasted.
HAND_OVER = """([type, name, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], name));
  const options = { bubbles: true, cancelable: true };
  const event = type === "drop"
    ? new DragEvent(type, { ...options, dataTransfer: data })
    : new ClipboardEvent(type, { ...options, clipboardData: data });
  document.body.dispatchEvent(event);
}"""


@pytest.fixture(scope="module")
def camera_browser(playwright: Playwright) -> Iterator[Browser]:
    """A Chromium with an imitated webcam, which pages may use."""
    browser = launch_chromium(playwright, IMITATED_CAMERA)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def firefox_with_camera(playwright: Playwright) -> Iterator[Browser]:
    """A Firefox of this kind."""
    browser = launch_firefox(playwright, IMITATED_IN_FIREFOX)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def shared_page(camera_browser: Browser, site_url: str) -> Iterator[Page]:
    """The page of poses."""
    with opened(camera_browser, site_url, "pose", "wasm") as page:
        page.evaluate(KEEP_STREAMS)
        yield page


@pytest.fixture
def page(shared_page: Page) -> Page:
    """The page with a program that looks at no model, and has seen the example."""
    run(shared_page, PROGRAM)
    expect(shared_page.locator("#output")).to_have_text("image 512 512 3\n")
    return shared_page


def colours(page: Page, places: list[tuple[float, float]]) -> list[list[int]]:
    """Return the colours at places of the canvas, which are parts of its width and height."""
    pixels: list[list[int]] = page.locator("#picture").evaluate(
        """(canvas, places) => places.map(([x, y]) => [
          ...canvas.getContext("2d").getImageData(x * canvas.width, y * canvas.height, 1, 1).data,
        ])""",
        places,
    )
    return pixels


def test_an_image_is_opened_and_the_example_comes_back(page: Page):
    page.locator("#file").set_input_files(image_file(png(30, 20)))
    output = page.locator("#output")
    expect(output).to_contain_text("image 20 30 3")
    page.locator("#example").click()
    expect(output).to_have_text("image 512 512 3\nimage 20 30 3\nimage 512 512 3\n")


@pytest.mark.parametrize("event", ["drop", "paste"])
def test_an_image_is_dropped_or_pasted(page: Page, event: str):
    page.evaluate(HAND_OVER, [event, "sky.png", [*png(31, 20)]])
    expect(page.locator("#output")).to_contain_text("image 20 31 3")


def test_large_images_are_scaled_down(page: Page):
    page.locator("#file").set_input_files(image_file(png(1920, 400)))
    expect(page.locator("#output")).to_contain_text("image 200 960 3")


def svg_file(text: str) -> FilePayload:
    return {"name": "box.svg", "mimeType": "image/svg+xml", "buffer": text.encode()}


def test_an_svg_file_is_opened(page: Page):
    for size, shape in (('width="40" height="30"', "30 40"), ('viewBox="0 0 8 4"', r"\d+ \d+")):
        text = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect width="8" height="4"/></svg>'
        page.locator("#file").set_input_files(svg_file(text))
        expect(page.locator("#output")).to_have_text(re.compile(rf"image {shape} 3\s*$"))
    page.locator("#file").set_input_files(svg_file("<svg"))
    expect(page.locator("#notice")).to_have_text("box.svg is no image that this browser can read.")


def test_what_is_no_image_is_refused(page: Page):
    page.locator("#file").set_input_files(image_file(b"no image"))
    expect(page.locator("#notice")).to_have_text("sky.png is no image that this browser can read.")


def test_the_webcam_starts_and_stops(page: Page):
    page.locator("#webcam").click()
    output = page.locator("#output")
    expect(page.locator("#webcam")).to_have_text("Stop the webcam")
    expect(output).to_contain_text("frame 480 640 3")
    expect(page.locator("#facts")).to_contain_text("frames a second")
    page.locator("#webcam").click()
    expect(page.locator("#webcam")).to_have_text("Webcam")
    expect(page.locator("#status")).to_have_text("A picture of 512 pixels")
    assert not page.evaluate("streams.at(-1).active")


def test_the_webcam_stops_with_the_program(page: Page):
    page.locator("#webcam").click()
    expect(page.locator("#output")).to_contain_text("frame 480 640 3")
    stop(page)
    assert not page.evaluate("streams.at(-1).active")
    expect(page.locator("#webcam")).to_be_disabled()
    expect_no_tensors(page)


def test_the_webcam_changes_its_size(page: Page):
    page.locator("#webcam").click()
    output = page.locator("#output")
    expect(output).to_contain_text("frame 480 640 3")
    page.evaluate("streams.at(-1).getTracks()[0].applyConstraints({ width: 320, height: 240 })")
    expect(output).to_contain_text("frame 240 320 3")
    page.locator("#webcam").click()


def test_nothing_is_left_of_a_run(page: Page):
    counts = []
    for _ in range(4):
        run(page, PROGRAM)
        page.locator("#webcam").click()
        expect(page.locator("#output")).to_contain_text("frame 480 640 3")
        run(page, COUNTS)
        expect(page.locator("#run-state")).to_have_text("Done")
        counts.append(page.locator("#output").inner_text())
    assert counts[1:] == [counts[1]] * 3


def test_the_webcam_is_taken_away(page: Page):
    page.locator("#webcam").click()
    expect(page.locator("#output")).to_contain_text("frame 480 640 3")
    page.evaluate("streams.at(-1).getTracks()[0].stop()")
    expect(page.locator("#webcam")).to_have_text("Webcam")
    expect(page.locator("#notice")).to_have_text("The webcam was taken away.")


@pytest.mark.parametrize(
    "error, sentence",
    [
        ("NotAllowedError", "The webcam was not allowed. The browser's settings can allow it."),
        ("NotFoundError", "There is no camera of this kind."),
        ("NotReadableError", "The camera cannot be used, perhaps as another program uses it."),
    ],
)
def test_the_webcam_does_not_start(page: Page, error: str, sentence: str):
    page.evaluate(
        """(name) => {
          globalThis.openCamera = navigator.mediaDevices.getUserMedia;
          const refuse = () => Promise.reject(new DOMException("no", name));
          navigator.mediaDevices.getUserMedia = refuse;
        }""",
        error,
    )
    page.locator("#webcam").click()
    expect(page.locator("#notice")).to_have_text(sentence)
    expect(page.locator("#webcam")).to_be_enabled()
    page.evaluate("void (navigator.mediaDevices.getUserMedia = openCamera)")


def test_a_picture_is_drawn_as_large_as_the_canvas_allows(page: Page):
    page.locator("#file").set_input_files(image_file(png(400, 100)))
    expect(page.locator("#status")).to_have_text("A picture of 400 pixels")
    orange, nothing = [255, 165, 0, 255], [0, 0, 0, 0]
    places = [(0.02, 0.5), (0.98, 0.5), (0.5, 0.02), (0.5, 0.98)]
    assert colours(page, places) == [orange, orange, nothing, nothing]


def test_a_mirrored_picture_has_its_dots_where_they_belong(page: Page):
    run(page, MIRRORED)
    expect(page.locator("#run-state")).to_have_text("Done")
    blue, red, white = [0, 0, 255, 255], [255, 0, 0, 255], [255, 255, 255, 255]
    assert colours(page, [(0.02, 0.5), (0.98, 0.5), (0.75, 0.5)]) == [blue, red, white]


@pytest.mark.pages_on_webgl
def test_the_webcam_on_the_gpu(camera_browser: Browser, site_url: str):
    with opened(camera_browser, site_url, "pose", "webgl") as page:
        run(page, PROGRAM)
        page.locator("#webcam").click()
        expect(page.locator("#output")).to_contain_text("frame 480 640 3")
        expect(page.locator("#facts")).to_contain_text("on the GPU")
        expect_no_tensors(page)


def test_the_webcam_in_firefox(firefox_with_camera: Browser, site_url: str):
    with opened(firefox_with_camera, site_url, "pose", "wasm") as page:
        page.locator("#webcam").click()
        expect(page.locator("#facts")).to_contain_text("frames a second")
        page.locator("#webcam").click()
        expect(page.locator("#status")).to_have_text("Persons: 1")
        expect_no_tensors(page)
