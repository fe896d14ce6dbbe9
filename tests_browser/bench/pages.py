"""The pages that rows run in: one per number of threads, which onnxruntime-web cannot change, one
with NumPy, which no other row may come to depend on, and one without shared memory, as jax-js would
start as many threads as there are processors, and hand each kernel to them by messages; and one for
each number of threads with TensorFlow.js's package of poses, which not every checkout has.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Error, Page, Route

from tests_browser.bench.models import MODELS
from tests_browser.bench.onnx_models import onnx_file
from tests_browser.pyodide_numpy import NumpyMissingError, numpy_wheel
from web.build import ROOT

__all__ = ["PACKAGES", "BenchPage", "Needs", "Pages"]

#: TensorFlow.js's packages of ready-made models.
PACKAGES = ROOT / "dist" / "models" / "packages" / "node_modules"

BENCH_PAGE = "/tests/bench/index.html"
#: Made when a page asks for them.
ONNX_FILES = "**/onnx/*.onnx"
WHEELS = "**/wheels/*.whl"
DESCRIBE = """
async () => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const information = gl?.getExtension("WEBGL_debug_renderer_info");
  const described = JSON.parse((await bench).describe());
  return {
    ...described,
    peers: { ...peer.versions, ...described.peers },
    renderer: gl ? gl.getParameter(information?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER) : "none",
  };
}
"""


class Needs(NamedTuple):
    """What a row needs its page to have."""

    threads: int = 1
    numpy: bool = False
    isolated: bool = True
    poses: bool = False


class BenchPage(NamedTuple):
    """A page, and what it says of itself."""

    page: Page
    environment: dict[str, Any]


class Pages:
    """Opens pages when they are needed; all stay open until `close`."""

    def __init__(self, browser: Browser, base_url: str) -> None:
        """Open none yet."""
        self._browser = browser
        self._base_url = base_url
        self._opened: list[Page] = []
        self.find = cache(self._open)

    def _open(self, needs: Needs) -> BenchPage:
        wheel = _find_wheel() if needs.numpy else None
        page = self._browser.new_page()
        self._opened.append(page)
        page.route(ONNX_FILES, _make_onnx_file)
        url = f"{self._base_url}{BENCH_PAGE}?threads={needs.threads}"
        if not needs.isolated:
            page.route(f"**{BENCH_PAGE}?*", _send_without_isolation)
        if wheel:
            page.route(WHEELS, partial(_send_wheel, wheel))
            url += f"&numpy={wheel.name}"
        if needs.poses:
            _check_packages()
            url += "&poses"
        page.goto(url)
        page.wait_for_function("'bench' in globalThis")  # its modules may wait for others
        return BenchPage(page, page.evaluate(DESCRIBE))

    def close(self) -> None:
        """Close all pages."""
        for page in self._opened:
            page.close()


def _make_onnx_file(route: Route) -> None:
    name = PurePosixPath(route.request.url).stem
    route.fulfill(body=onnx_file(MODELS[name]), content_type="application/octet-stream")


def _send_without_isolation(route: Route) -> None:
    response = route.fetch()
    headers = {
        name: value
        for name, value in response.headers.items()
        if not name.startswith("cross-origin-")
    }
    route.fulfill(response=response, headers=headers)


def _find_wheel() -> Path:
    try:
        return numpy_wheel()
    except NumpyMissingError as error:
        raise Error(str(error)) from error


def _check_packages() -> None:
    if not PACKAGES.is_dir():
        raise Error(f"{PACKAGES} is missing: `make bench` installs it")


def _send_wheel(wheel: Path, route: Route) -> None:
    route.fulfill(path=wheel, content_type="application/zip")
