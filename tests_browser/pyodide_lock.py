"""The packages that Pyodide's lock file names, and the folder where tests keep downloads."""

import json
from typing import Any

from web.build import DIST, PYODIDE

CACHE = DIST / "cache"


def locked(name: str) -> dict[str, Any]:
    """Return what the lock file of the installed Pyodide says of a package."""
    lock = json.loads((PYODIDE / "pyodide-lock.json").read_text())
    package: dict[str, Any] = lock["packages"][name]
    return package
