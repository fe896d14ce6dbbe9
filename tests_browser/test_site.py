"""The wheel and the site as they are built and served, without a browser."""

import json
import zipfile
from email.message import Message
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests_py.test_tfjs_map import SYMBOLS
from web.build import build_wheel
from web.serve import serve


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
    rows = (site / "docs" / "tensorflow_js.html").read_text("utf-8").count('<th scope="row">')
    assert rows == SYMBOLS


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
