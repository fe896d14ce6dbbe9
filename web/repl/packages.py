"""Further packages: those that Pyodide builds come from its CDN, all others from PyPI by micropip.

Nothing is loaded before the visitor asks for it. The CDN's files are checked against the hashes in
this site's own lock file of Pyodide.
"""

from importlib.util import find_spec
from typing import Any

CDN = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"


async def install(*names: str) -> None:
    """Load packages by the names that PyPI knows them by."""
    if find_spec("micropip") is None:
        await _load_micropip()
    import micropip

    await micropip.install(list(names))


async def _load_micropip() -> None:
    import pyodide_js

    lockfile: Any = pyodide_js.lockfile
    base = CDN.format(version=pyodide_js.version)
    for package in lockfile.packages.object_values():
        if "://" not in package.file_name:
            package.file_name = base + package.file_name
    await pyodide_js.loadPackage("micropip")
    if find_spec("micropip") is None:
        raise OSError(
            f"packages come from {base} and PyPI, which could not be reached: "
            "is this device online, and does the site's Content-Security-Policy allow it?"
        )
