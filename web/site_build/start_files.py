"""What pages start Python from: a snapshot of Python's memory, or else compiled modules.

- `heap.bin`: Python's memory after importing what pages need, compressed by gzip. It fits only the
  Pyodide and the wheel that it was made with. Modules that it lacks are imported from the wheel.
- `webtensor.zip`: the wheel's files, each module also compiled for Pyodide's CPython, for starts
  without the snapshot.

Both are made in Node, by the Pyodide that pages load; Python imports from archives as they are.
`docs/design/cold_start.md` has the reasons.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["StartFiles", "make_start_files"]

HERE = Path(__file__).resolve().parent
SOURCES = ("start_files.mjs", "compile_modules.py", "webtensor_snapshot.py")

HEAP = "heap.bin"
COMPILED = "webtensor.zip"
FACTS = "facts.json"
STAMP = "digest"


@dataclass
class StartFiles:
    """The files in `folder`, whose content `digest` identifies."""

    folder: Path
    digest: str

    @property
    def heap(self) -> Path:
        """The compressed memory."""
        return self.folder / HEAP

    @property
    def compiled(self) -> Path:
        """The wheel's files and the compiled modules."""
        return self.folder / COMPILED

    @property
    def facts(self) -> dict[str, Any]:
        """What the loader has to know of the memory."""
        facts: dict[str, Any] = json.loads((self.folder / FACTS).read_text())
        return {"sha256": hashlib.sha256(self.heap.read_bytes()).hexdigest(), **facts}


def digest(*files: Path) -> str:
    """Hash the contents of files."""
    hashes = (hashlib.sha256(file.read_bytes()).digest() for file in files)
    return hashlib.sha256(b"".join(hashes)).hexdigest()[:16]


def make_start_files(wheel: Path, pyodide: Path, cache: Path) -> StartFiles | None:
    """Make the files in a folder of `cache` unless they are there; None where Node is missing."""
    runtime = digest(pyodide / "package.json", *(HERE / name for name in SOURCES))
    folder = cache / "start"
    files = StartFiles(folder, digest(wheel) + runtime)
    stamp = folder / STAMP
    if stamp.exists() and stamp.read_text() == files.digest:
        return files
    # npm's Node.js first: that of the machine may be too old to suspend Python.
    folders = (str(pyodide.parent / ".bin"), os.environ.get("PATH", os.defpath))
    node = shutil.which("node", path=os.pathsep.join(folders))
    if node is None:
        print(
            "Node.js is missing: pages will start without a snapshot, which takes seconds longer."
        )
        return None

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    library = cache / f"compiled-library-{runtime}.zip"
    for stale in set(cache.glob("compiled-library-*.zip")) - {library}:
        stale.unlink()
    arguments = [HERE / "start_files.mjs", pyodide, wheel, library, folder]
    result = subprocess.run(
        [node, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        sys.exit(f"Making the snapshot failed:\n{result.stdout}{result.stderr}")
    stamp.write_text(files.digest)
    sizes = (f"{file.name} {file.stat().st_size:,} bytes" for file in (files.heap, files.compiled))
    print(f"compiled and snapshotted the wheel: {', '.join(sizes)}")
    if not files.facts["suspends"]:
        print("Node.js cannot suspend Python (25 can): many browsers start without the snapshot.")
    return files
