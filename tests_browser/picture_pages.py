"""Driving pages whose program looks at a picture, as a visitor does."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests_browser.page_watch import watched_page
from web.build import WEB


@contextmanager
def opened(
    browser: Browser, site_url: str, name: str, backend: str, printing: str | None = None
) -> Iterator[Page]:
    """Open a page at desktop size until its program runs; at the end it must have had no errors.

    With `printing`, the program also prints this expression as JSON after every frame.
    """
    with watched_page(browser, viewport={"width": 1280, "height": 800}) as page:
        if printing is not None:
            file = f"{name}_program.py"
            source = (WEB / name / file).read_text("utf-8")
            program = f"import json\n{source}    print(json.dumps({printing}))\n"
            page.route(f"**/{file}", lambda route: route.fulfill(body=program))
        page.goto(f"{site_url}/{name}/?backend={backend}")
        expect(page.locator("#run-state")).to_have_text("Running")
        yield page


def png(width: int, height: int) -> bytes:
    """Return an orange image."""
    file = BytesIO()
    Image.new("RGB", (width, height), "orange").save(file, "PNG")
    return file.getvalue()


def image_file(content: bytes) -> FilePayload:
    """Return a file that a visitor opens."""
    return {"name": "sky.png", "mimeType": "image/png", "buffer": content}


def printed(page: Page, line: int = 0) -> Any:
    """Wait for a line that the program prints, and return it, read as JSON."""
    page.wait_for_function(
        "(line) => document.getElementById('output').textContent.split('\\n').length > line + 1",
        arg=line,
    )
    return json.loads(page.locator("#output").inner_text().splitlines()[line])


@contextmanager
def expect_new_picture(page: Page) -> Iterator[None]:
    """Expect that what is done in the block changes the picture."""
    before = page.locator("#picture").evaluate("(canvas) => canvas.toDataURL()")
    yield
    page.wait_for_function(
        "(before) => document.getElementById('picture').toDataURL() !== before",
        arg=before,
    )
