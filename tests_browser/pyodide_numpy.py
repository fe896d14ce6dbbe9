"""NumPy inside Pyodide, for the tests that compare with it there.

webtensor itself needs no NumPy in the page. The wheel for this Pyodide is the file named by
`WEBTENSOR_PYODIDE_NUMPY`, or one in `../shared/pyodide/`, or is downloaded from Pyodide's own
distribution into `dist/cache/` and checked against Pyodide's lock file.
"""

import hashlib
import json
import os
import urllib.error
import urllib.request
from pathlib import Path

from tests_browser.pyodide_lock import CACHE, locked
from web.build import PYODIDE, ROOT

BESIDE_THE_PROJECT = ROOT.parent / "shared" / "pyodide"
DISTRIBUTION = "https://cdn.jsdelivr.net/pyodide/v{version}/full/{file_name}"


class NumpyMissingError(RuntimeError):
    """No NumPy wheel for Pyodide can be had; the message says why."""


def numpy_wheel() -> Path:
    """Return the path of a NumPy wheel for the Pyodide in use."""
    chosen = os.environ.get("WEBTENSOR_PYODIDE_NUMPY")
    if chosen:
        if not Path(chosen).is_file():
            raise NumpyMissingError(f"WEBTENSOR_PYODIDE_NUMPY names no file: {chosen}")
        return Path(chosen)
    beside = sorted(BESIDE_THE_PROJECT.glob("numpy-*.whl"))
    return beside[-1] if beside else download()


def download() -> Path:
    """Download the wheel that Pyodide's lock file names, unless it was downloaded before."""
    package = locked("numpy")
    version = json.loads((PYODIDE / "package.json").read_text())["version"]
    wheel = CACHE / str(package["file_name"])
    if wheel.exists():
        return wheel
    url = DISTRIBUTION.format(version=version, file_name=wheel.name)
    try:
        with urllib.request.urlopen(url, timeout=30) as response:
            content = response.read()
    except (urllib.error.URLError, OSError) as error:
        raise NumpyMissingError(f"NumPy for Pyodide can't be downloaded: {error}") from error
    if hashlib.sha256(content).hexdigest() != package["sha256"]:
        raise NumpyMissingError(f"{url} isn't the file that Pyodide's lock file names")
    CACHE.mkdir(parents=True, exist_ok=True)
    wheel.write_bytes(content)
    return wheel
