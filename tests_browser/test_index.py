"""The front page, and what holds for every page."""

from urllib.parse import urljoin
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests_browser.test_digits import NO_SIMD, NO_WEBGL

PAGES = ["/", "/digits/", "/linear/", "/worker/", "/docs/", "/docs/tensorflow_js.html"]


def facts(page: Page, table: str) -> dict[str, str]:
    """Return a table of facts: its rows' answers by name."""
    expect(page.locator(f"#{table} tr").first).to_be_visible(timeout=60_000)
    rows = page.locator(f"#{table} tr").all()
    return {row.locator("th").inner_text(): row.locator("td").first.inner_text() for row in rows}


def check_backends(page: Page) -> None:
    """WebGL is chosen where a graphics processor draws; else the page says why it is not."""
    backends = facts(page, "backends")  # once Python has listed them
    by_software = "the processor draws" in page.locator("#backends").inner_text()
    chosen, other = ("wasm", "webgl") if by_software else ("webgl", "wasm")
    assert backends == {chosen: "chosen", other: "yes"}


def test_capabilities_are_listed(chromium_page: Page, site_url: str):
    chromium_page.goto(site_url)
    assert facts(chromium_page, "capabilities") == {
        "WebGL 2": "yes",
        "WebGL 1": "yes",
        "Float render targets": "yes",
        "WebAssembly SIMD": "yes",
        "WebAssembly relaxed SIMD": "yes",
        "WebAssembly threads": "yes",
        "WebAssembly JSPI": "yes",
        "WebGPU": chromium_page.evaluate("'gpu' in navigator ? 'yes' : 'no'"),
    }
    check_backends(chromium_page)


def test_capabilities_are_listed_in_firefox(firefox_page: Page, site_url: str):
    firefox_page.goto(site_url)
    check_backends(firefox_page)


def test_what_is_missing_is_said(chromium_page: Page, plain_site_url: str):
    chromium_page.add_init_script(NO_WEBGL)
    chromium_page.goto(plain_site_url)
    capabilities = facts(chromium_page, "capabilities")
    assert capabilities["WebGL 2"] == capabilities["Float render targets"] == "no"
    assert capabilities["WebAssembly threads"] == "no"
    assert facts(chromium_page, "backends") == {"webgl": "no", "wasm": "chosen"}
    expect(chromium_page.locator("#backends")).to_contain_text("WebGL 2 is not available")


def test_page_stands_where_no_backend_can_start(chromium_page: Page, site_url: str):
    chromium_page.add_init_script(NO_WEBGL + NO_SIMD)
    chromium_page.goto(site_url)
    assert facts(chromium_page, "backends") == {"webgl": "no", "wasm": "no"}


@pytest.mark.parametrize("path", PAGES)
def test_links_lead_somewhere(chromium_page: Page, site_url: str, path: str):
    chromium_page.goto(site_url + path, wait_until="commit")
    links = chromium_page.locator("a[href]").evaluate_all(
        "(links) => links.map((link) => link.getAttribute('href'))"
    )
    inner = [urljoin(site_url + path, link) for link in links if "://" not in link]
    assert inner
    for url in inner:
        with urlopen(url, timeout=10) as response:
            assert response.status == 200


@pytest.mark.parametrize("path", PAGES)
def test_page_is_accessible(chromium_page: Page, site_url: str, path: str):
    chromium_page.set_viewport_size({"width": 360, "height": 740})
    chromium_page.goto(site_url + path)
    expect(chromium_page.locator("#loading")).to_have_count(0, timeout=60_000)
    assert chromium_page.locator("html").get_attribute("lang") == "en"
    assert "webtensor" in chromium_page.title()
    assert chromium_page.locator("h1").count() == 1
    assert chromium_page.evaluate("document.documentElement.scrollWidth") <= 360
    unnamed = chromium_page.locator(
        "input:not([type=hidden]), button, canvas, [role=img]"
    ).evaluate_all(
        """(controls) => controls
          .filter((c) => !c.labels?.length && !c.ariaLabel && !c.textContent.trim())
          .map((c) => c.outerHTML)"""
    )
    assert unnamed == []


@pytest.mark.parametrize("path", PAGES)
def test_page_asks_no_other_host(chromium_page: Page, site_url: str, path: str):
    asked: list[str] = []
    chromium_page.on("request", lambda request: asked.append(request.url))
    chromium_page.goto(site_url + path)
    expect(chromium_page.locator("#loading")).to_have_count(0, timeout=60_000)
    assert asked
    assert [url for url in asked if not url.startswith((site_url, "data:", "blob:"))] == []
