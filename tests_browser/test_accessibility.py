"""What holds for every page: axe finds nothing, nothing scrolls sideways or jumps, links lead on.

Each page is opened once, and then looked at in both colour schemes and at two widths: colours do
not depend on the width.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.page_watch import PageWatch
from web.build import WEB

PAGES = [
    "/",
    "/404.html",
    *sorted(f"/{page.parent.name}/" for page in WEB.glob("*/index.html")),
    *(
        f"/docs/{page}.html"
        for page in ("index", "differences_from_tfjs", "tutorial", "guides/async", "search")
    ),
]
WIDTHS = {"wide": 1280, "phone": 390}
AXE = "/node_modules/axe-core/axe.min.js"
RUN_AXE = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join("\\n")));
}"""
#: How far elements moved without anybody's doing; up to 0.1 counts as good.
ADD_UP_LAYOUT_SHIFTS = """
globalThis.layoutShift = 0;
new PerformanceObserver((list) => {
  for (const { hadRecentInput, value } of list.getEntries()) {
    if (!hadRecentInput) globalThis.layoutShift += value;
  }
}).observe({ type: "layout-shift", buffered: true });
"""


class Visit(NamedTuple):
    """A page that was opened, and what it asked for."""

    page: Page
    url: str
    watch: PageWatch
    requests: list[str]


@pytest.fixture(scope="module", params=PAGES)
def visit(request: pytest.FixtureRequest, chromium: Browser, site_url: str) -> Iterator[Visit]:
    """Each page, opened until Python has done what it does at first."""
    context = chromium.new_context(viewport={"width": WIDTHS["wide"], "height": 800})
    page = context.new_page()
    page.add_init_script(ADD_UP_LAYOUT_SHIFTS)
    requests: list[str] = []
    page.on("request", lambda sent: requests.append(sent.url))
    visit = Visit(page, site_url + request.param, PageWatch(page), requests)
    page.goto(visit.url)
    expect(page.locator("#loading")).to_be_hidden()
    yield visit
    context.close()


def test_it_loads_nothing_from_other_hosts_and_without_errors(visit: Visit, site_url: str):
    own = (site_url, "data:", "blob:")
    assert visit.requests
    assert [url for url in visit.requests if not url.startswith(own)] == []
    assert visit.watch.take_errors() == []


def test_nothing_jumps_while_it_loads(visit: Visit):
    assert visit.page.evaluate("layoutShift") < 0.1


def test_it_has_a_language_a_title_and_a_heading(visit: Visit):
    assert visit.page.locator("html").get_attribute("lang") == "en"
    assert "webtensor" in visit.page.title()
    assert visit.page.locator("h1").count() == 1


@pytest.mark.parametrize("scheme, width", [("light", "wide"), ("dark", "phone")])
def test_axe_finds_nothing(visit: Visit, site_url: str, scheme: Any, width: str):
    visit.page.emulate_media(color_scheme=scheme)
    visit.page.set_viewport_size({"width": WIDTHS[width], "height": 800})
    if not visit.page.evaluate("'axe' in globalThis"):
        visit.page.add_script_tag(url=site_url + AXE)
    assert visit.page.evaluate(RUN_AXE) == []


def test_colours_that_are_data_stay_where_others_are_forced(visit: Visit):
    visit.page.emulate_media(color_scheme="light", forced_colors="active")
    marks = visit.page.locator(":is(.legend, .bar) i")
    colours = marks.evaluate_all(
        "(marks) => marks.map((mark) => getComputedStyle(mark).backgroundColor)"
    )
    visit.page.emulate_media(forced_colors="none")
    assert "rgb(255, 255, 255)" not in colours


def test_a_phone_is_wide_enough(visit: Visit):
    visit.page.set_viewport_size({"width": WIDTHS["phone"], "height": 800})
    width = visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= WIDTHS["phone"]


def test_its_links_lead_somewhere(visit: Visit):
    links = visit.page.locator("a[href]").evaluate_all(
        "(links) => links.map((link) => link.getAttribute('href'))"
    )
    inner = {urljoin(visit.url, link).partition("#")[0] for link in links if "://" not in link}
    assert inner
    for url in sorted(inner):
        with urlopen(url, timeout=10) as response:
            assert response.status == 200
