"""micropip's wheel, which Pyodide's npm package leaves out; pip downloads it into `dist/cache/`."""

import subprocess
import sys
from pathlib import Path

from tests_browser.pyodide_lock import CACHE, locked


def micropip_wheel() -> Path:
    """Return the path of the wheel of the version that Pyodide's lock file names."""
    package = locked("micropip")
    wheel = CACHE / str(package["file_name"])
    if not wheel.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        options = ["--quiet", "--no-deps", "--only-binary=:all:", "--python-version=3.14"]
        command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(CACHE)]
        subprocess.run([*command, f"micropip=={package['version']}"], check=True)
    return wheel
