"""Answers a browser's requests to other hosts from local files, and refuses all else.

Pages of other hosts take Pyodide and npm's packages from content delivery networks, and wheels from
PyPI. `StandIns.answer` serves a browser's context with the same addresses, so that a listing of the
documentation runs as it stands.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

from playwright.sync_api import BrowserContext, Route

from tests_browser.hosts.distribution import (
    WheelMissingError,
    download_wheel,
    make_distribution,
    normalized,
)
from web.build import ROOT
from web.serve import SiteRequestHandler

NODE_MODULES = ROOT / "node_modules"
INDEX_TYPE = "application/vnd.pypi.simple.v1+json"
WHEEL_HOST = "https://wheels.test/"


class StandIns:
    """Local files at the addresses of other hosts; `refused` lists the requests to any others."""

    def __init__(self, wheel: Path, packages: Iterable[str]) -> None:
        """Take webtensor's wheel, and the packages of Pyodide's distribution."""
        self.distribution = cache(partial(make_distribution, names=tuple(packages)))
        self.wheels = {"webtensor": wheel}
        self.refused: list[str] = []
        self.routes: dict[str, Callable[[Route, str], None]] = {
            r"https://cdn\.jsdelivr\.net/pyodide/v([^?]+)": self._runtime,
            r"https://(?:cdn\.jsdelivr\.net/npm|unpkg\.com)/([^?]+)": self._npm,
            r"https://[^/]+/simple/([^/?]+)/?": self._index,
            rf"{re.escape(WHEEL_HOST)}([^/?]+)/[^?]*": self._wheel,
        }

    def answer(self, context: BrowserContext, own_url: str) -> None:
        """Answer all requests of a context but those to its own host."""
        others = re.compile(rf"^https?://(?!{re.escape(own_url.split('//')[1])}/)")
        context.route(others, self._answer)

    def _answer(self, route: Route) -> None:
        for pattern, answer in self.routes.items():
            match = re.match(pattern, route.request.url)
            if match is not None:
                answer(route, match[1])
                return
        self._refuse(route)

    def _refuse(self, route: Route) -> None:
        self.refused.append(route.request.url)
        route.abort()

    def _file(self, route: Route, path: Path) -> None:
        if not path.is_file():
            self._refuse(route)
            return
        types = SiteRequestHandler.extensions_map
        route.fulfill(
            body=path.read_bytes(),
            headers={
                "Access-Control-Allow-Origin": "*",
                "Cross-Origin-Resource-Policy": "cross-origin",
                "Content-Type": types.get(path.suffix, "application/octet-stream"),
            },
        )

    def _runtime(self, route: Route, path: str) -> None:
        version, _, name = path.partition("/full/")
        self._file(route, self.distribution(version) / name)

    def _npm(self, route: Route, path: str) -> None:
        """Serve a file of an npm package, whose address names the version that is installed."""
        match = re.fullmatch(r"((?:@[^/]+/)?[^@/]+)@([^/]+)(?:/(.+))?", path)
        assert match is not None, path
        name, version, file = match.groups()
        package = json.loads((NODE_MODULES / name / "package.json").read_text())
        assert package["version"] == version, f"{name} {package['version']} is installed"
        self._file(route, NODE_MODULES / name / (file or package["main"]))

    def _index(self, route: Route, name: str) -> None:
        """List the only wheel of a package."""
        try:
            wheel = self.wheels.get(normalized(name)) or download_wheel(name)
        except WheelMissingError:
            route.fulfill(status=404, headers={"Access-Control-Allow-Origin": "*"})
            return
        file = {
            "filename": wheel.name,
            "url": f"{WHEEL_HOST}{normalized(name)}/{wheel.name}",
            "hashes": {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()},
            "size": wheel.stat().st_size,
            "core-metadata": False,
        }
        version = wheel.name.split("-")[1]
        answer = {
            "meta": {"api-version": "1.4"},
            "name": normalized(name),
            "versions": [version],
            "files": [file],
        }
        route.fulfill(
            body=json.dumps(answer),
            headers={"Access-Control-Allow-Origin": "*", "Content-Type": INDEX_TYPE},
        )

    def _wheel(self, route: Route, name: str) -> None:
        self._file(route, self.wheels.get(name) or download_wheel(name))
