"""Virtual environments of Python, made once and kept in `dist/cache/`."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests_browser.pyodide_lock import CACHE

ENVIRONMENTS = CACHE / "environments"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
#: Where pyenv keeps interpreters that may not be on the path.
PYENV = Path.home() / ".pyenv" / "versions"
ASK_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


def version_of(python: Path) -> str | None:
    """Return the version of an interpreter, such as 3.12; None if it does not run."""
    result = subprocess.run(
        [python, "-c", ASK_VERSION], capture_output=True, text=True, check=False
    )
    return result.stdout.strip() if result.returncode == 0 else None


def candidates() -> Iterator[Path]:
    """Yield the paths of interpreters: those of `WEBTENSOR_PYTHONS`, of the path, and of pyenv."""
    yield from map(Path, filter(None, os.environ.get("WEBTENSOR_PYTHONS", "").split(os.pathsep)))
    for version in VERSIONS:
        command = shutil.which(f"python{version}")
        if command is not None:
            yield Path(command)
        yield from sorted(PYENV.glob(f"{version}.*/bin/python"))


def interpreters() -> dict[str, Path]:
    """Return an interpreter of each version that webtensor supports and this machine has."""
    by_version: dict[str, Path] = {}
    for path in candidates():
        version = version_of(path)
        if version in VERSIONS:
            by_version.setdefault(version, path)
    return by_version


def environment(name: str, python: Path, *requirements: str) -> Path:
    """Return the folder of programs of an environment, made anew if its requirements changed."""
    folder = ENVIRONMENTS / name
    programs = folder / "bin"
    stamp = folder / "requirements"
    text = "\n".join(requirements)
    if not stamp.exists() or stamp.read_text() != text:
        shutil.rmtree(folder, ignore_errors=True)
        run(python, "-m", "venv", folder)
        run(programs / "python", "-m", "pip", "install", "--quiet", *requirements)
        stamp.write_text(text)
    return programs


def run(*command: str | Path, programs: Path | None = None, folder: Path | None = None) -> str:
    """Run a command in a folder, with an environment's programs first; return what it printed."""
    path = os.pathsep.join(
        [str(programs), os.environ["PATH"]] if programs else [os.environ["PATH"]]
    )
    result = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout
