"""Pyodide's distribution: the runtime of npm's package, and wheels of the versions that it names.

npm's package has no wheels. They come from PyPI, in the versions of `pyodide-lock.json`, and the
lock file of the distribution has their checksums instead of those of Pyodide's own builds.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests_browser.pyodide_lock import CACHE
from web.build import PYODIDE, PYODIDE_FILES, copy_changed

LOCK = "pyodide-lock.json"
PYTHON_VERSION = "3.14"
PLATFORM = "pyemscripten_2026_0_wasm32"


class WheelMissingError(RuntimeError):
    """PyPI has no such wheel, or cannot be reached."""


def normalized(name: str) -> str:
    """Return a package's name as PyPI's addresses have it."""
    return name.lower().replace("_", "-").replace(".", "-")


def installed_version() -> str:
    """Return the version of the npm package that is installed."""
    return str(json.loads((PYODIDE / "package.json").read_text())["version"])


def runtime(version: str) -> Path:
    """Return the folder of npm's package in a version, downloaded unless it is installed."""
    if version == installed_version():
        return PYODIDE
    folder = CACHE / f"pyodide-{version}"
    if not folder.exists():
        partial = folder.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        subprocess.run(
            ["npm", "pack", "--silent", f"pyodide@{version}"],
            cwd=partial,
            check=True,
            capture_output=True,
        )
        with tarfile.open(next(partial.glob("*.tgz"))) as archive:
            archive.extractall(partial, filter="data")
        (partial / "package").rename(folder)
    return folder


def download_wheel(name: str, version: str | None = None) -> Path:
    """Return a wheel for Pyodide, downloaded from PyPI unless it was before."""
    folder = CACHE / "wheels" / f"{normalized(name)}-{version or 'newest'}"
    wheels = sorted(folder.glob("*.whl"))
    if not wheels:
        requirement = name if version is None else f"{name}=={version}"
        command: list[str | Path] = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder),
            *("--only-binary=:all:", "--python-version", PYTHON_VERSION),
            *("--platform", PLATFORM, "--abi", "cp314", "--abi", "none", requirement),
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = sorted(folder.glob("*.whl"))
        if result.returncode != 0 or not wheels:
            raise WheelMissingError(f"no wheel of {requirement}: {result.stderr.strip()}")
    return wheels[-1]


def with_dependencies(names: Iterable[str], packages: dict[str, Any]) -> list[str]:
    """Return the keys of packages and of all that they depend on in a lock file."""
    keys: dict[str, None] = {}
    waiting = [normalized(name) for name in names]
    while waiting:
        key = waiting.pop()
        if key not in keys:
            keys[key] = None
            waiting.extend(map(normalized, packages[key]["depends"]))
    return list(keys)


def make_distribution(version: str, names: Iterable[str]) -> Path:
    """Return a folder with the runtime, and with the wheels of packages and their dependencies."""
    source = runtime(version)
    lock = json.loads((source / LOCK).read_text())
    packages = lock["packages"]
    keys = with_dependencies(names, packages)
    digest = hashlib.sha256(repr([version, sorted(keys)]).encode()).hexdigest()
    folder = CACHE / f"distribution-{digest[:8]}"
    for file in PYODIDE_FILES:
        if file != LOCK:
            copy_changed(source / file, folder / file)
    for key in keys:
        entry = packages[key]
        wheel = download_wheel(entry["name"], entry["version"])
        copy_changed(wheel, folder / wheel.name)
        entry["file_name"] = wheel.name
        entry["sha256"] = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (folder / LOCK).write_text(json.dumps(lock))
    return folder
