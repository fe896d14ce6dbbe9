"""The visor in a page: its panel, charts in it and elsewhere, live curves, and what is left of it.

The pages have the site's own Content-Security-Policy; what it forbids fails a test.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests_browser.conftest import TEST_FOLDERS
from tests_browser.python_page import PlaywrightPythonPage
from tests_browser.test_accessibility import AXE, RUN_AXE
from web.serve import serve, site_headers

POLICY = "Content-Security-Policy"

CHARTS = """
import webtensor as wt

visor, render, show = wt.visor.visor(), wt.visor.render, wt.visor.show
render.line_chart(
    {"loss": [2.3, 1.2, 0.8, 0.6, 0.5], "val_loss": [2.4, 1.4, 1.1, 0.9, 0.85]},
    visor.surface("Loss"), x_label="epoch")
render.bar_chart({"cat": 12, "dog": 30, "bird": 7}, {"name": "Examples of each class"})
render.confusion_matrix(
    [[50, 2, 1], [4, 40, 6], [0, 3, 61]], {"name": "Confusion", "tab": "Evaluation"},
    tick_labels=["cat", "dog", "bird"])
show.per_class_accuracy(
    [(0.94, 53), (0.8, 50), (0.95, 64)], visor.surface("Accuracy", "Evaluation"),
    class_labels=["cat", "dog", "bird"])
model = wt.Sequential([wt.Input((4,)), wt.layers.Dense(16), wt.layers.Dense(3)])
show.model_summary(model, visor.surface("Summary", "Model"))
show.layer(model.layers[0], visor.surface("First layer", "Model"))
None
"""


@pytest.fixture(scope="module")
def strict_url(site: Path) -> Iterator[str]:
    """The URL of the site, with the site's own policy for the tests' pages, too."""
    with serve(site, mounts=TEST_FOLDERS, headers={POLICY: site_headers("/")[POLICY]}) as url:
        yield url


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def shared_page(request: pytest.FixtureRequest, strict_url: str) -> Iterator[PlaywrightPythonPage]:
    """Python in a page of each browser."""
    browser: Browser = request.getfixturevalue(request.param)
    context = browser.new_context(viewport={"width": 1100, "height": 800})
    yield PlaywrightPythonPage(request.param, strict_url, context.new_page())
    context.close()


@pytest.fixture
def python(shared_page: PlaywrightPythonPage) -> Iterator[PlaywrightPythonPage]:
    """Python in a page, whose visor is removed after the test."""
    shared_page.take_errors()
    yield shared_page
    shared_page.run("import webtensor as wt; wt.visor.visor().dispose()")
    assert shared_page.take_errors() == []


def panel(python: PlaywrightPythonPage) -> Locator:
    return python.page.get_by_role("complementary", name="Visor")


def tab(python: PlaywrightPythonPage, name: str) -> Locator:
    return python.page.get_by_role("tab", name=name)


def test_it_opens_and_closes(python: PlaywrightPythonPage):
    python.run(CHARTS)
    expect(panel(python)).to_be_visible()
    python.page.get_by_role("button", name="Close visor").click()
    expect(panel(python)).to_be_hidden()
    python.page.get_by_role("button", name="Visor", exact=True).click()
    expect(panel(python)).to_be_visible()
    python.page.keyboard.press("Escape")
    expect(panel(python)).to_be_hidden()
    expect(python.page.get_by_role("button", name="Visor", exact=True)).to_be_focused()
    states = python.run("""
        import webtensor as wt
        visor = wt.visor.visor()
        states = [visor.is_open]
        for method in (visor.toggle, visor.open, visor.toggle, visor.close):
            method()
            states.append(visor.is_open)
        states
    """)
    assert states == [False, True, True, False, False]


def test_tabs_are_operated_by_keyboard(python: PlaywrightPythonPage):
    python.run(CHARTS)
    page = python.page
    expect(page.get_by_role("region", name="Loss")).to_be_visible()
    tab(python, "Visor").focus()
    for key, name in (
        ("ArrowRight", "Evaluation"),
        ("End", "Model"),
        ("ArrowRight", "Visor"),
        ("ArrowLeft", "Model"),
        ("Home", "Visor"),
        ("ArrowRight", "Evaluation"),
    ):
        page.keyboard.press(key)
        expect(tab(python, name)).to_be_focused()
        expect(tab(python, name)).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("region", name="Confusion")).to_be_visible()
    expect(page.get_by_role("region", name="Loss")).to_be_hidden()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Close visor")).to_be_focused()


def test_tabs_are_chosen_by_clicks_and_from_python(python: PlaywrightPythonPage):
    python.run(CHARTS)
    tab(python, "Model").click()
    expect(python.page.get_by_role("region", name="Summary")).to_be_visible()
    message = python.run("""
        visor = __import__("webtensor").visor.visor()
        visor.set_active_tab("Evaluation")
        try:
            visor.set_active_tab("none")
        except ValueError as error:
            message = str(error)
        message
    """)
    expect(python.page.get_by_role("region", name="Confusion")).to_be_visible()
    python.run("__import__('webtensor').visor.visor().surface('more', 'More'); None")
    expect(tab(python, "More")).to_have_attribute("aria-selected", "false")
    expect(python.page.get_by_role("region", name="Confusion")).to_be_visible()
    assert message.endswith("must be one of 'Visor', 'Evaluation', 'Model', but got 'none'")


def test_a_chart_is_drawn_once_in_its_surface(python: PlaywrightPythonPage):
    python.run(CHARTS)
    python.run(CHARTS)
    pictures = python.page.get_by_role("region", name="Loss").get_by_role("img")
    expect(pictures).to_have_count(1)
    expect(pictures).to_have_attribute(
        "aria-label",
        "line chart; loss: 5 points, first 2.3, "
        "last 0.5, minimum 0.5, maximum 2.3; val_loss: 5 points, first 2.4, last 0.85, "
        "minimum 0.85, maximum 2.4",
    )


def test_text_stays_text(python: PlaywrightPythonPage):
    python.run("""
        import webtensor as wt
        hostile = '<img src=x onerror="hostile = true"><script>hostile = true</script>'
        surface = wt.visor.visor().surface(hostile, hostile)
        wt.visor.render.line_chart({hostile: [1, 2]}, surface, title=hostile)
        wt.visor.render.table([[hostile]], {"name": "table", "tab": hostile}, headers=[hostile])
        None
    """)
    assert python.evaluate("'hostile' in globalThis") is False
    assert panel(python).locator("script, img").count() == 0


def test_charts_are_drawn_in_elements(python: PlaywrightPythonPage):
    width = python.run("""
        import js
        import webtensor as wt
        element = js.document.createElement("div")
        element.id = "chart"
        element.style.width = "300px"
        js.document.body.append(element)
        wt.visor.render.line_chart([1, 2], "chart")
        wt.visor.render.histogram([1, 2], element)
        width = element.firstElementChild.getBoundingClientRect().width
        errors = []
        for container in ("none", 3, {"tab": "a"}):
            try:
                wt.visor.render.line_chart([1, 2], container)
            except (TypeError, ValueError) as error:
                errors.append(str(error))
        children = element.childElementCount
        element.remove()
        [width, children, errors]
    """)
    assert width == [
        300,
        1,
        [
            "line_chart: the page has no element with the id 'none'",
            "line_chart: container must be a surface, an element or its id, but got 3",
            'line_chart: container must have a "name" and may have a "tab", but got '
            "{'tab': 'a'}",
        ],
    ]


FIT = """
import webtensor as wt

wt.set_backend("wasm")
model = wt.Sequential([wt.Input((4,)), wt.layers.Dense(8, "relu"), wt.layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae"])
x = wt.random_normal((256, 4), seed=1)
y = wt.sum(x, 1, keepdims=True)
curves = wt.visor.fit_callbacks({"name": "Training", "tab": "Training"})
await model.fit_async(
    x, y, epochs=60, batch_size=16, validation_split=0.25, verbose=0, callbacks=[curves])
None
"""


def test_live_curves(python: PlaywrightPythonPage):
    python.page.evaluate("""() => {
        globalThis.drawings = [];
        const original = Element.prototype.replaceChildren;
        Element.prototype.replaceChildren = function (...nodes) {
            if (nodes.some((node) => node.localName === "svg")) drawings.push(performance.now());
            return original.apply(this, nodes);
        };
    }""")
    python.run(FIT)
    times = python.evaluate("drawings")
    seconds = (times[-1] - times[0]) / 1000
    assert 2 <= len(times) <= 10 * seconds + 2
    pictures = python.page.get_by_role("region", name="Training").get_by_role("img")
    expect(pictures).to_have_count(4)
    labels = [pictures.nth(index).get_attribute("aria-label") or "" for index in range(4)]
    assert labels[0].startswith("loss: line chart; loss: 60 points")
    assert "val_loss: 60 points" in labels[0]
    assert labels[2].startswith("loss: line chart; loss: ")


@pytest.mark.parametrize("scheme, width", [("light", 1100), ("dark", 390)])
def test_axe_finds_nothing_and_it_fits(
    python: PlaywrightPythonPage, scheme: Any, width: int, strict_url: str
):
    page: Page = python.page
    python.run(CHARTS)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    # Pages have a colour scheme and a main part of their own.
    page.evaluate("""() => {
        document.documentElement.style.colorScheme = "light dark";
        document.body.innerHTML ||= "";
        if (!document.querySelector("main")) {
            const main = document.createElement("main");
            main.innerHTML = "<h1>Page</h1><h2>Part</h2>";
            document.body.prepend(main);
        }
    }""")
    if not page.evaluate("'axe' in globalThis"):
        page.add_script_tag(url=strict_url + AXE)
    for name in ("Visor", "Evaluation", "Model"):
        tab(python, name).click()
        assert page.evaluate(RUN_AXE) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for picture in panel(python).get_by_role("img").all():
            box = picture.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
    page.set_viewport_size({"width": 1100, "height": 800})


LEAKS = """
import gc
from pyodide_js import _module as module

async def counts():
    await wt.next_frame()
    gc.collect()
    return {
        "JavaScript objects held by Python": module._hiwire_num_refs(),
        "Python objects held by JavaScript": module.pyproxy_alloc_map.size,
        "elements": len(js.document.body.children),
    }

async def use():
    namespace = {}
    exec(charts, namespace)
    visor = namespace["visor"]
    visor.close()
    visor.open()
    visor.set_active_tab("Evaluation")
    js.document.dispatchEvent(js.KeyboardEvent.new("keydown", key="Escape"))
    assert not visor.is_open
    visor.dispose()
    visor.dispose()
    js.document.dispatchEvent(js.KeyboardEvent.new("keydown", key="Escape"))

import js
import webtensor as wt
module.enable_pyproxy_allocation_tracing()
try:
    for _ in range(2):
        await use()
    before = await counts()
    for _ in range(10):
        await use()
    after = await counts()
finally:
    module.disable_pyproxy_allocation_tracing()
[before, after]
"""


def test_dispose_leaves_nothing_behind(python: PlaywrightPythonPage):
    before, after = python.run(LEAKS, charts=CHARTS)
    assert after == before


def test_a_disposed_visor_says_so(python: PlaywrightPythonPage):
    message = python.run("""
        import webtensor as wt
        visor = wt.visor.visor()
        assert wt.visor.visor() is visor
        visor.dispose()
        assert not visor.is_open
        try:
            visor.open()
        except RuntimeError as error:
            message = str(error)
        message
    """)
    assert message == "open: the visor is disposed; visor() makes a new one"
