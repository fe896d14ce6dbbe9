"""The page in the README, as it stands: the hosts that it loads from are answered from here."""

import json
import re
from hashlib import sha256

from playwright.sync_api import Page, Route

from tests_browser.micropip_wheel import micropip_wheel
from web.build import PYODIDE, ROOT, build_wheel

ADDRESS = "https://a-page.test/"
DISTRIBUTION = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
#: The page of the project, below the address of any package index.
INDEX = "/simple/webtensor/"
FILES = "https://packages.test/"


def page_in_readme() -> str:
    """The only page of HTML in the README."""
    text = (ROOT / "README.md").read_text("utf-8")
    (html,) = re.findall(r"^```html\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return str(html)


def index_of(name: str, content: bytes) -> str:
    """PyPI's page of a project of one file, as JSON (https://peps.python.org/pep-0691/)."""
    file = {
        "filename": name,
        "url": FILES + name,
        "hashes": {"sha256": sha256(content).hexdigest()},
    }
    return json.dumps({"meta": {"api-version": "1.0"}, "name": "webtensor", "files": [file]})


def test_the_page_computes(chromium_page: Page) -> None:
    wheel, micropip = build_wheel(), micropip_wheel()
    version = json.loads((PYODIDE / "package.json").read_text())["version"]
    distribution = DISTRIBUTION.format(version=version)
    # Pyodide's own build of micropip differs from PyPI's in its hash.
    lock = json.loads((PYODIDE / "pyodide-lock.json").read_text())
    lock["packages"]["micropip"]["sha256"] = sha256(micropip.read_bytes()).hexdigest()
    texts = {
        ADDRESS: ("text/html", page_in_readme()),
        f"{distribution}pyodide-lock.json": ("application/json", json.dumps(lock)),
    }
    index = "application/vnd.pypi.simple.v1+json", index_of(wheel.name, wheel.read_bytes())
    files = {FILES + wheel.name: wheel, distribution + micropip.name: micropip}

    def answer(route: Route) -> None:
        url = route.request.url
        headers = {"Access-Control-Allow-Origin": "*"}
        if url in texts or url.endswith(INDEX):
            kind, body = texts.get(url, index)
            route.fulfill(body=body, headers={**headers, "Content-Type": kind})
        elif url in files or url.startswith(distribution):
            path = files.get(url) or PYODIDE / url.removeprefix(distribution)
            route.fulfill(path=path, headers=headers)
        else:
            route.abort()

    chromium_page.route("**", answer)
    chromium_page.goto(ADDRESS)
    output = chromium_page.locator("#output")
    output.filter(has_text="computed by").wait_for()
    text = output.inner_text()
    assert text.startswith("Tensor([[ 7., 10.],\n        [15., 22.]], shape=(2, 2), dtype=float32")
    assert text.endswith(("computed by wasm", "computed by webgl"))
