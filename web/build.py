"""Builds the wheel into `dist/` and the static site into `dist/site/`.

The site is the pages of `web/` within their templates (`site_build/pages.py`), the documentation
(`docs_site.py`), Pyodide's core runtime, the wheel, its JavaScript, what pages start Python from
(`site_build/start_files.py`), and data assets that pages export at build time; `build.json` tells
the loader where all that is. Its folders are named after their version or content, so a host may
let browsers keep them for ever.

A page adds build-time data with a file `web/<page>/export_data.py` holding
`export(output_dir: Path) -> None`; what it writes appears beside the page. It runs again only when
that file changes, or one under the paths in its list `SOURCES`.

`404.html` has addresses from the root of the host, because a host answers with it below any path;
all other pages are the same wherever the site lies.

Everything is done only where something changed, so building twice is quick.
"""

import argparse
import filecmp
import hashlib
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from web.bundle import bundle_files, make_bundle
from web.docs_site import build_docs
from web.site_build.pages import rendered
from web.site_build.service_worker import service_worker
from web.site_build.start_files import StartFiles, make_start_files

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
DIST = ROOT / "dist"
SITE = DIST / "site"
ASSETS = DIST / "assets"
PACKAGE = ROOT / "pkg" / "webtensor"
PYODIDE = ROOT / "node_modules" / "pyodide"

RUNTIME_SCRIPT = "pyodide.asm.mjs"
#: Lets Chromium compile all functions of a script while it arrives, beside the page's thread.
COMPILE_ALL = "//# allFunctionsCalledOnLoad\n"

#: In the order in which a start needs them.
PYODIDE_FILES = (
    "pyodide.mjs",
    RUNTIME_SCRIPT,
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
WHEEL_SOURCES = ("pkg", "wasm_build", "pyproject.toml", "README.md", "LICENSE")
DOCS_SOURCES = (
    *("docs", "pkg/webtensor", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("web/api_pages.py", "web/docs_site.py", "web/tfjs_tables.py"),
)
SERVICE_WORKER = WEB / "shared" / "service_worker.js"
#: The scripts that start Python, in pages and in their workers.
START_SCRIPTS = (
    "shared/downloads.js",
    "shared/loader.js",
    "shared/python_worker.js",
    "shared/snapshot_download.js",
    "shared/snapshot_worker.js",
)
MISSING_PAGE = "404.html"
#: Paths in the wheel: the library's JavaScript, and the script of the threads that it starts.
JAVASCRIPT = "webtensor/javascript.js"
THREAD = "webtensor/backends/wasm/thread.js"
#: Names of files and folders of `web/`.
NOT_PUBLISHED = {
    "api_pages.py",
    "build.py",
    "bundle.py",
    "docs_site.py",
    "release.py",
    "serve.py",
    "export_data.py",
    "service_worker.js",
    "site_build",
    "snapshot.js",
    "snapshot_files.js",
    "templates",
    "tfjs_tables.py",
}
COMPILED = (PACKAGE / "backends" / "wasm" / "kernels", ROOT / "wasm_build" / "generated")


def source_files(paths: Iterable[Path]) -> Iterator[Path]:
    """List the files under `paths` in a stable order, without caches and compiled kernels."""
    for path in paths:
        if path.is_file():
            yield path
            continue
        for file in sorted(path.rglob("*")):
            is_generated = "__pycache__" in file.parts or any(
                folder in file.parents for folder in COMPILED
            )
            if file.is_file() and not is_generated:
                yield file


def digest(paths: Iterable[Path]) -> str:
    """Hash names and contents of the files under `paths`."""
    total = hashlib.sha256()
    for file in source_files(paths):
        content = file.read_bytes()
        total.update(f"{file.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def content_digest(files: dict[str, Path], written: dict[str, str]) -> str:
    """Hash the paths and contents of files that are copied, and of those that are written."""
    contents = {path: file.read_bytes() for path, file in files.items()}
    contents |= {path: content.encode() for path, content in written.items()}
    total = hashlib.sha256()
    for path, content in sorted(contents.items()):
        total.update(f"{path} {hashlib.sha256(content).hexdigest()}\n".encode())
    return total.hexdigest()[:16]


def build_wheel() -> Path:
    """Return the path of the wheel in `dist/`, built anew when its sources changed."""
    stamp = DIST / ".wheel.json"
    sources = digest(ROOT / name for name in WHEEL_SOURCES)
    if stamp.exists():
        built = json.loads(stamp.read_text())
        if built["sources"] == sources and (DIST / built["wheel"]).exists():
            return DIST / str(built["wheel"])

    DIST.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".wheel-", dir=DIST) as scratch:
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", scratch]
        result = subprocess.run(
            [*command, str(ROOT)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if result.returncode != 0:
            sys.exit(f"Building the wheel failed:\n{result.stdout}{result.stderr}")
        (built_wheel,) = Path(scratch).glob("*.whl")
        wheel = DIST / built_wheel.name
        built_wheel.replace(wheel)
    stamp.write_text(json.dumps({"sources": sources, "wheel": wheel.name}))
    print(f"built {wheel.relative_to(ROOT)}, {wheel.stat().st_size:,} bytes")
    return wheel


def export_page_data(script: Path) -> Path:
    """Run a page's `export_data.py` if need be, and return the folder with what it wrote."""
    specification = spec_from_file_location(f"{script.parent.name}_export_data", script)
    assert specification is not None
    assert specification.loader is not None
    module = module_from_spec(specification)
    specification.loader.exec_module(module)

    folder = ASSETS / script.parent.name
    stamp = ASSETS / f"{script.parent.name}.digest"
    current = digest([script, *getattr(module, "SOURCES", [])])
    if folder.is_dir() and stamp.exists() and stamp.read_text() == current:
        return folder
    stamp.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    module.export(folder)
    stamp.write_text(current)
    print(f"exported the data of web/{script.parent.name}/")
    return folder


def built_docs() -> Path:
    """Return the folder of the documentation, built anew when its sources changed."""
    work = ASSETS / "documentation"
    stamp = ASSETS / "documentation.digest"
    current = digest(ROOT / name for name in DOCS_SOURCES)
    if not stamp.exists() or stamp.read_text() != current:
        stamp.unlink(missing_ok=True)
        build_docs(work)
        stamp.write_text(current)
        print("built the documentation")
    return work / "html"


def page_files() -> dict[str, Path]:
    """Map the site's URL paths to the files of `web/`, the documentation and the exported data."""
    files: dict[str, Path] = {}
    for file in source_files([WEB]):
        if NOT_PUBLISHED.isdisjoint(file.relative_to(WEB).parts):
            files[file.relative_to(WEB).as_posix()] = file
    files |= bundle_files(WEB, ASSETS)
    docs = built_docs()
    for file in source_files([docs]):
        files[f"docs/{file.relative_to(docs).as_posix()}"] = file
    for script in sorted(WEB.glob("*/export_data.py")):
        folder = export_page_data(script)
        for file in source_files([folder]):
            files[f"{script.parent.name}/{file.relative_to(folder).as_posix()}"] = file
    return files


def runtime_files() -> tuple[str, dict[str, Path]]:
    """Return the URL path of Pyodide's folder, and its files by URL path."""
    if not (PYODIDE / "package.json").exists():
        sys.exit("node_modules/pyodide is missing: run `npm ci` (or `make site`) first.")
    version = json.loads((PYODIDE / "package.json").read_text())["version"]
    hinted = ASSETS / RUNTIME_SCRIPT
    write_changed(COMPILE_ALL + (PYODIDE / RUNTIME_SCRIPT).read_text("utf-8"), hinted)
    folder = f"pyodide/{version}/"
    files = {folder + name: PYODIDE / name for name in PYODIDE_FILES}
    return folder, files | {folder + RUNTIME_SCRIPT: hinted}


def wheel_files(wheel: Path) -> tuple[str, dict[str, Path]]:
    """Return the URL path of the wheel's folder, and its files: the wheel, and its JavaScript."""
    folder = f"wheels/{digest([wheel])[:12]}/"
    unpacked, bundle = ASSETS / "wheel", ASSETS / "bundles" / JAVASCRIPT
    with ZipFile(wheel) as archive:
        archive.extractall(unpacked, [name for name in archive.namelist() if name.endswith(".js")])
    make_bundle(unpacked / JAVASCRIPT, bundle)
    return folder, {
        folder + JAVASCRIPT: bundle,
        folder + THREAD: unpacked / THREAD,
        folder + wheel.name: wheel,
    }


def copy_changed(source: Path, target: Path) -> None:
    """Copy a file in one step, unless the same content is already there."""
    if target.exists() and filecmp.cmp(source, target, shallow=False):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copyfile(source, partial)
    partial.replace(target)


def write_changed(content: str, target: Path) -> None:
    """Write a file, unless it has this content already."""
    if not target.exists() or target.read_text("utf-8") != content:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, "utf-8")


def start_paths(start: StartFiles | None) -> dict[str, Path]:
    """Return the files that pages start Python from, by URL path."""
    if start is None:
        return {}
    return {f"start/{start.digest}/{file.name}": file for file in (start.heap, start.compiled)}


def loader_facts(
    wheel: str, pyodide: str, start: StartFiles | None, files: dict[str, Path]
) -> dict[str, Any]:
    """Return what the loader has to know: where files are, and the sizes of those it counts."""
    heap, compiled = start_paths(start) or (None, wheel)
    counted = [
        path for path in files if path.startswith(pyodide) or path in (wheel, heap, compiled)
    ]
    return {
        "wheel": wheel,
        "pyodide": pyodide,
        "javascript": f"{posixpath.dirname(wheel)}/{JAVASCRIPT}",
        "compiled": compiled,
        "snapshot": start and {"heap": heap, **start.facts},
        "sizes": {path: files[path].stat().st_size for path in counted},
    }


def preloaded(facts: dict[str, Any]) -> list[str]:
    """Return the URL paths of what pages fetch at once, in the order in which a start needs it."""
    runtime = [facts["pyodide"] + name for name in PYODIDE_FILES]
    # With the snapshot, a worker fetches its memory and the wheel.
    modules = [] if facts["snapshot"] else [facts["compiled"]]
    return ["build.json", *runtime, facts["javascript"], *modules]


def start_files(facts: dict[str, Any]) -> list[str]:
    """Return the URL paths of all that Python starts from, in pages and in their workers."""
    snapshot = [facts["snapshot"]["heap"], facts["wheel"]] if facts["snapshot"] else []
    thread = f"{posixpath.dirname(facts['wheel'])}/{THREAD}"
    return [*preloaded(facts), *snapshot, thread, *START_SCRIPTS]


def site_path(value: str) -> str:
    """Return the path of the site on its host, which begins and ends with a slash.

    Raises:
        ArgumentTypeError: the value is no path.
    """
    if not re.fullmatch(r"/([^/?#\s]+/)*", value):
        raise argparse.ArgumentTypeError(
            f"the site's path is {value!r}; it must begin and end with '/', as '/project/' does"
        )
    return value


def build_site(wheel: Path | None = None, path_on_host: str = "/") -> Path:
    """Build the site and return its folder.

    `wheel` is by default that of the current sources; `path_on_host` is where the site will lie.
    """
    wheel = wheel or build_wheel()
    pyodide_path, runtime = runtime_files()
    wheel_path, library = wheel_files(wheel)
    start = make_start_files(wheel, PYODIDE, ASSETS)
    files = {**page_files(), **runtime, **library, **start_paths(start)}

    facts = loader_facts(wheel_path + wheel.name, pyodide_path, start, files)
    preloads = preloaded(facts)
    written = {
        path: rendered(
            file.read_text("utf-8"), path, preloads, path_on_host if path == MISSING_PAGE else None
        )
        for path, file in files.items()
        if path.endswith(".html") and WEB in file.parents
    }
    facts["build"] = content_digest(files, written)
    written["build.json"] = json.dumps(facts, indent=2) + "\n"
    written["service_worker.js"] = service_worker(
        SERVICE_WORKER.read_text(), facts["build"], {*files, "build.json"}, start_files(facts)
    )

    for path, source in files.items():
        if path not in written:
            copy_changed(source, SITE / path)
    for path, content in written.items():
        write_changed(content, SITE / path)
    for stale in source_files([SITE]):
        if stale.relative_to(SITE).as_posix() not in {*files, *written}:
            stale.unlink(missing_ok=True)
    return SITE


def main() -> None:
    """Build the site, or with --wheel the wheel alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", action="store_true", help="build the wheel only")
    parser.add_argument(
        "--path",
        type=site_path,
        default="/",
        help="where the site will lie on its host, such as /project/ (default: /)",
    )
    options = parser.parse_args()
    if options.wheel:
        print(build_wheel().relative_to(ROOT))
    else:
        site = build_site(path_on_host=options.path)
        size = sum(file.stat().st_size for file in source_files([site]))
        print(f"{site.relative_to(ROOT)}/ is ready, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
