"""micropip's wheel, which Pyodide's npm package leaves out; pip downloads it into `dist/cache/`."""

import json
import subprocess
import sys
from pathlib import Path

from web.build import PYODIDE

CACHE = Path(__file__).resolve().parent.parent / "dist" / "cache"


def micropip_wheel() -> Path:
    """Return the path of the wheel of the version that Pyodide's lock file names."""
    lock = json.loads((PYODIDE / "pyodide-lock.json").read_text())["packages"]["micropip"]
    wheel = CACHE / str(lock["file_name"])
    if not wheel.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        options = ["--quiet", "--no-deps", "--only-binary=:all:", "--python-version=3.14"]
        command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(CACHE)]
        subprocess.run([*command, f"micropip=={lock['version']}"], check=True)
    return wheel
