"""The listings of docs/hosts.md for which tools must be installed; `make test-hosts` runs them."""

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.hosts.distribution import installed_version
from tests_browser.hosts.environments import environment, interpreters, run
from tests_browser.hosts.web import StandIns
from tests_browser.page_watch import screenshot_path
from tests_browser.test_hosts import HOST, LISTINGS, RESULT
from web.build import ROOT, build_wheel
from web.docs_site import DOCS
from web.serve import serve

pytestmark = pytest.mark.host_tools

JUPYTERLITE = (
    *("jupyterlite-core==0.8.6", "jupyterlite-pyodide-kernel==0.8.6", "jupyter-server==2.21.1"),
)
#: Packages of Pyodide's distribution that JupyterLite's kernel loads.
PACKAGES = ("micropip", "ipython", "jedi", "packaging", "typing-extensions")


@pytest.fixture(scope="module")
def stand_ins() -> StandIns:
    """Local files in the place of the web's."""
    return StandIns(build_wheel(), PACKAGES)


@pytest.fixture
def page(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page in a context of its own; a picture of it is kept."""
    context = chromium.new_context()
    page = context.new_page()
    yield page
    page.screenshot(path=screenshot_path(request.node, "chromium"))
    context.close()


# -- consoles and notebooks ------------------------------------------------------------------------

SCREEN = """() => {
  const { active } = term.buffer;
  const lines = [...Array(active.length)].map((_, line) => active.getLine(line));
  return lines.map((line) => line.translateToString(true)).join("\\n");
}"""


def wait_for_screen(page: Page, text: str) -> None:
    """Wait until the terminal shows a regular expression."""
    page.wait_for_function(f"(text) => RegExp(text).test(({SCREEN})())", arg=text, timeout=120_000)


def test_console(page: Page, stand_ins: StandIns, tmp_path: Path):
    shutil.copytree(stand_ins.distribution(installed_version()), tmp_path, dirs_exist_ok=True)
    shutil.copyfile(
        ROOT / "node_modules" / "pyodide" / "console-v2.html", tmp_path / "console.html"
    )
    with serve(tmp_path, isolated=False, mounts={HOST: tmp_path}) as url:
        stand_ins.answer(page.context, url)
        page.goto(f"{url}{HOST}console.html")
        lines = list(filter(None, (LISTINGS / "console.py").read_text().splitlines()))
        for number, line in enumerate(lines):
            page.wait_for_function(
                f"(n) => (({SCREEN})().match(/^>>> ?/gm) ?? []).length > n",
                arg=number,
                timeout=120_000,
            )
            page.keyboard.type(f"{line}\n")
        wait_for_screen(page, RESULT.pattern)


def test_jupyterlite(page: Page, stand_ins: StandIns, tmp_path: Path):
    programs = environment("jupyterlite", Path(sys.executable), *JUPYTERLITE)
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    name = "jupyterlite_notebook.ipynb"
    shutil.copyfile(LISTINGS / name, notebooks / name)
    site = tmp_path / "site"
    run(
        *(programs / "jupyter", "lite", "build"),
        *("--contents", notebooks, "--output-dir", site),
        programs=programs,
        folder=tmp_path,
    )
    with serve(site, mounts={HOST: site}) as url:
        stand_ins.answer(page.context, url)
        page.goto(f"{url}{HOST}lab/index.html?path={name}")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=120_000)
        page.locator(".lm-MenuBar-item", has_text="Run").click()
        page.locator(".lm-Menu-item", has_text="Run All Cells").first.click()
        output = page.locator(".jp-OutputArea-output")
        expect(output.filter(has_text=RESULT)).to_be_visible(timeout=240_000)


# -- CPython ---------------------------------------------------------------------------------------

INTERPRETERS = interpreters()


def test_table_names_the_versions_of_cpython():
    row = re.search(r"\| CPython \| (.*), with NumPy", (DOCS / "hosts.md").read_text("utf-8"))
    assert row is not None
    assert set(row[1].split(", ")) <= INTERPRETERS.keys()


@pytest.mark.parametrize("version", INTERPRETERS)
def test_cpython(version: str):
    wheel = f"{build_wheel()}[wasm]"
    listing = LISTINGS / "cpython.py"
    python = INTERPRETERS[version]
    whole = environment(f"cpython-{version}", python, wheel, "numpy") / "python"
    assert RESULT_LINES.findall(run(whole, listing)) == ["numpy", "wasm"]
    without = environment(f"cpython-{version}-without-numpy", python, wheel)
    run(without / "python", "-m", "pip", "uninstall", "--yes", "--quiet", "numpy")
    assert RESULT_LINES.findall(run(without / "python", listing)) == ["wasm"]


RESULT_LINES = re.compile(r"^\[\[7\.0, 10\.0\], \[15\.0, 22\.0\]\] on (\w+)$", re.MULTILINE)
