"""The listings of docs/hosts.md and docs/deploy.md run as they stand, in pages of other hosts.

Those that need JupyterLite, Pyodide's console or other versions of CPython are in
`test_host_tools.py`.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.hosts.web import NODE_MODULES, StandIns
from tests_browser.page_watch import PageWatch
from web.build import PYODIDE, PYODIDE_FILES, ROOT, build_wheel
from web.docs_site import DOCS
from web.serve import serve
from webtensor import keras
from webtensor.version import __version__

#: A folder without this site's policy.
HOST = "/host/"
LISTINGS = DOCS / "examples" / "hosts"
RESULT = re.compile(r"\[\[7\.0, 10\.0\], \[15\.0, 22\.0\]\] on (webgl|wasm)")

Open = Callable[[str], Page]


@pytest.fixture(scope="module")
def stand_ins() -> StandIns:
    """Local files in the place of the web's, for webtensor and micropip."""
    return StandIns(build_wheel(), ["micropip"])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the listings, Pyodide and the wheel, as somebody's site has it."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(LISTINGS, folder, dirs_exist_ok=True)
    for name in PYODIDE_FILES:
        (folder / "pyodide").mkdir(exist_ok=True)
        (folder / "pyodide" / name).symlink_to(PYODIDE / name)
    (folder / build_wheel().name).symlink_to(build_wheel())
    return folder


@pytest.fixture(params=[True, False], ids=["isolated", "plain"])
def own_url(request: pytest.FixtureRequest, files: Path) -> Iterator[str]:
    """The URL of a site that sends COOP and COEP, and of one that does not."""
    with serve(files, isolated=request.param, mounts={HOST: files}) as url:
        yield url


@pytest.fixture
def open_listing(chromium: Browser, stand_ins: StandIns, own_url: str) -> Iterator[Open]:
    """Open listings in a context without the web; errors in their consoles fail the test."""
    context = chromium.new_context()
    stand_ins.refused.clear()
    stand_ins.answer(context, own_url)
    page = context.new_page()
    watch = PageWatch(page)

    def open_page(name: str) -> Page:
        page.goto(f"{own_url}{HOST}{name}")
        return page

    yield open_page
    errors = watch.take_errors()
    context.close()
    assert errors == []
    assert stand_ins.refused == []


@pytest.mark.other_hosts
@pytest.mark.parametrize("own_url", [False], indirect=True)
@pytest.mark.parametrize(
    "name", ["own_files.html", "micropip.html", "worker.html", "pyscript_page.html"]
)
def test_listing(open_listing: Open, name: str):
    expect(open_listing(name).locator("#output")).to_have_text(RESULT)


@pytest.mark.other_hosts
@pytest.mark.parametrize("own_url", [True], indirect=True)
def test_pyscript_in_a_worker(open_listing: Open):
    page = open_listing("pyscript_worker.html")
    expect(page.locator("#output")).to_have_text(RESULT)


@pytest.mark.other_hosts
@pytest.mark.parametrize("own_url", [False], indirect=True)
def test_the_page_with_a_model_predicts(open_listing: Open, files: Path):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, kernel_initializer="ones")])
    model.save(files / "model.keras")
    page = open_listing("model.html")
    page.get_by_role("button", name="Predict").click()
    expect(page.locator("#output")).to_have_text("[[10.0]]")
    page.get_by_role("textbox").fill("1, one")
    page.get_by_role("button", name="Predict").click()
    expect(page.locator("#output")).to_contain_text("could not convert string to float")


# -- the pages of the documentation ----------------------------------------------------------------

PAGES = "".join((DOCS / name).read_text("utf-8") for name in ("hosts.md", "deploy.md"))


def test_pages_show_every_listing_as_it_is():
    blocks = re.findall(r"`(\w+\.\w+)`:\n\n```[^\n]+\n(.*?)```\n", PAGES, re.DOTALL)
    assert dict(blocks) == {file.name: file.read_text("utf-8") for file in LISTINGS.iterdir()}
    assert (DOCS / "hosts.md").read_text("utf-8").count("```") == 2 * (len(blocks) - 1)


def test_listings_name_the_versions_that_are_tried():
    package = json.loads((ROOT / "package.json").read_text())
    installed = {**package["dependencies"], **package["devDependencies"]}
    assert set(re.findall(r"/pyodide/v([\d.]+)/", PAGES)) == {installed["pyodide"]}
    assert set(re.findall(r"@pyscript/core@([\d.]+)/", PAGES)) == {installed["@pyscript/core"]}
    assert set(re.findall(r"webtensor-([\d.]+)-py3", PAGES)) == {__version__}
    assert f"Pyodide {installed['pyodide']}" in PAGES
    assert f"`@pyscript/core` {installed['@pyscript/core']}" in PAGES
    assert (NODE_MODULES / "@pyscript" / "core").is_dir()
