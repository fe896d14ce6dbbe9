"""The wheel and the site as they are built and served."""

import json
import re
import zipfile
from argparse import ArgumentTypeError
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from shutil import copytree
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, expect

from tests_py.test_tfjs_map import SYMBOLS
from web.build import WEB, build_wheel, site_path
from web.serve import serve
from web.site_build.pages import rendered
from web.site_build.start_files import make_start_files

NAVIGATION = [
    *("webtensor", "Gallery", "Models", "Benchmark", "REPL"),
    "Documentation",
]
ISSUES = "https://github.com/webtensor/webtensor/issues"


def headers_of(url: str) -> Message:
    with urlopen(url, timeout=10) as response:
        headers: Message = response.headers
        return headers


def test_wheel_is_pure_and_complete():
    wheel = build_wheel()
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "webtensor/py.typed" in names
    assert any(name.endswith(".wasm") for name in names)
    assert not [name for name in names if name.endswith((".c", ".h", ".pyc"))]


def test_wheel_is_built_once():
    wheel = build_wheel()
    built = wheel.stat().st_mtime_ns
    assert build_wheel().stat().st_mtime_ns == built


def test_build_file_names_what_is_there(site: Path):
    build = json.loads((site / "build.json").read_text())
    assert (site / build["wheel"]).is_file()
    assert (site / build["pyodide"] / "pyodide.mjs").is_file()


def test_compiled_libraries_of_other_runtimes_are_removed(tmp_path: Path):
    pyodide, cache = tmp_path / "pyodide", tmp_path / "assets"
    for folder in (pyodide, cache, tmp_path / ".bin"):
        folder.mkdir()
    (pyodide / "package.json").write_text("{}")
    (cache / "compiled-library-0123456789abcdef.zip").touch()
    node = tmp_path / ".bin" / "node"
    node.write_text("#!/bin/sh\nexit 1\n")
    node.chmod(0o755)
    with pytest.raises(SystemExit, match="Making the snapshot failed"):
        make_start_files(Path(__file__), pyodide, cache)
    assert not [*cache.glob("*.zip")]


def test_site_keeps_build_scripts_to_itself(site: Path):
    assert not list(site.glob("build.py"))
    assert not list(site.rglob("export_data.py"))


def test_bundle_comes_with_its_licences(site: Path):
    licences = (site / "shared" / "editor.licences.txt").read_text("utf-8")
    assert "@codemirror/view" in licences
    assert "@lezer/python" in licences
    bundle = (site / "shared" / "editor.js").read_text("utf-8")
    assert "editor.licences.txt" in bundle.splitlines()[0]


def test_page_has_every_symbol_of_tensorflow_js(site: Path):
    rows = (site / "docs" / "tensorflow_js.html").read_text("utf-8").count('<th scope="row"')
    assert rows == SYMBOLS


def test_pages_have_the_same_navigation(site: Path):
    pages = [path.relative_to(WEB) for path in [*WEB.glob("*.html"), *WEB.glob("*/index.html")]]
    for page in map(site.joinpath, pages):
        _, _, rest = page.read_text("utf-8").partition('<nav aria-label="Pages">')
        names = re.findall(r">([^<>]+)</a>", rest.partition("</nav>")[0])
        assert names == NAVIGATION, page


@pytest.mark.parametrize(
    "name, content_type",
    [
        ("pyodide.asm.wasm", "application/wasm"),
        ("pyodide.mjs", "text/javascript; charset=utf-8"),
        ("pyodide-lock.json", "application/json; charset=utf-8"),
    ],
)
def test_content_types(site: Path, site_url: str, name: str, content_type: str):
    folder = json.loads((site / "build.json").read_text())["pyodide"]
    assert headers_of(f"{site_url}/{folder}{name}")["Content-Type"] == content_type


def test_pages_are_cross_origin_isolated(site_url: str):
    headers = headers_of(f"{site_url}/build.json")
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Embedder-Policy"] == "require-corp"


def test_isolation_can_be_left_out(plain_site_url: str):
    headers = headers_of(f"{plain_site_url}/build.json")
    assert "Cross-Origin-Opener-Policy" not in headers
    assert "Cross-Origin-Embedder-Policy" not in headers


@pytest.mark.parametrize("path", ["/missing", "/docs/missing.html", "/a/b/c/"])
def test_missing_pages_are_answered_by_a_page(site_url: str, path: str):
    with pytest.raises(HTTPError, match="404") as raised:
        urlopen(site_url + path, timeout=10)
    with raised.value as answer:
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "There is no such page" in answer.read().decode()


@pytest.mark.parametrize("path", ["/digits/missing.py", "/wheels/missing", "/shared/none.js"])
def test_missing_code_is_answered_by_a_line(site_url: str, path: str):
    with pytest.raises(HTTPError, match="404") as raised:
        urlopen(site_url + path, timeout=10)
    with raised.value as answer:
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert answer.read() == b"There is no such file.\n"


PROJECT = "/name/project/"


@pytest.fixture
def project_url(site: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a site that was built for a path of its host, and nothing else beside it."""
    folder = Path(copytree(site, tmp_path / "site"))
    page = rendered((WEB / "404.html").read_text("utf-8"), "404.html", [], PROJECT)
    (folder / "404.html").write_text(page, "utf-8")
    with serve(tmp_path / "empty", mounts={PROJECT: folder}) as url:
        yield url + PROJECT


@pytest.mark.parametrize("path", ["missing", "docs/guides/missing.html", "größe/%25/"])
def test_the_missing_page_leads_back_below_a_path(chromium: Browser, project_url: str, path: str):
    with chromium.new_context(service_workers="block") as context:
        page = context.new_page()
        answer = page.goto(project_url + path)
        assert answer is not None
        assert answer.status == 404
        expect(page.locator("#address")).to_have_text(f"{PROJECT}{path}".replace("%25", "%"))
        # The site's style: browsers' own have no panels.
        expect(page.locator(".panel")).to_have_css("border-radius", "9.6px")
        links = page.locator("a").evaluate_all("(links) => links.map(({ href }) => href)")
        inner = {link for link in links if link.startswith(project_url)}
        assert inner == set(links) - {ISSUES}
        for link in inner:
            with urlopen(link, timeout=10) as response:
                assert response.status == 200


@pytest.mark.parametrize("value", ["", "project", "/project", "project/", "//", "/a b/", "/a?/"])
def test_path_on_the_host_begins_and_ends_with_a_slash(value: str):
    with pytest.raises(ArgumentTypeError, match="must begin and end with '/'"):
        site_path(value)


@pytest.mark.parametrize("path", ["/secret.txt", "/../secret.txt", "/more/../../secret.txt"])
def test_server_stays_in_its_folders(tmp_path: Path, path: str):
    (tmp_path / "secret.txt").write_text("no")
    (tmp_path / "site").mkdir()
    with (
        serve(tmp_path / "site", mounts={"/more/": tmp_path / "site"}) as url,
        pytest.raises(HTTPError, match="404") as raised,
    ):
        urlopen(url + path, timeout=10)
    raised.value.close()
