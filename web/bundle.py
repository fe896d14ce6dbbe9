"""Bundles JavaScript with what it imports into modules for browsers, by esbuild.

Few files are quicker to load than many. A bundle of `web/` takes the URL of its source. Beside it
lie the licences of the packages that are in it.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NODE_MODULES = ROOT / "node_modules"
LOCK = ROOT / "package-lock.json"

#: URL paths of the modules that are served bundled.
BUNDLES = (
    "shared/editor.js",
    "shared/loader.js",
    "shared/snapshot_download.js",
    "shared/snapshot_worker.js",
)

OPTIONS = (
    "--bundle",
    "--format=esm",
    "--target=es2022",
    "--minify",
    "--charset=utf8",
    "--legal-comments=none",
    "--log-level=warning",
    # Pages load it before the loader, which must import the same module.
    "--external:./snapshot_download.js",
)


def bundle_files(web: Path, assets: Path) -> dict[str, Path]:
    """Map URL paths to the bundles and their licences, which are written below `assets`."""
    files = {}
    for path in BUNDLES:
        bundle = assets / "bundles" / path
        make_bundle(web / path, bundle)
        files[path] = bundle
        licences = licences_of(bundle)
        if licences.exists():
            files[licences.relative_to(assets / "bundles").as_posix()] = licences
    return files


def licences_of(bundle: Path) -> Path:
    """Return where the licences of a bundle's packages are, if it has any."""
    return bundle.with_suffix(".licences.txt")


def make_bundle(source: Path, bundle: Path) -> None:
    """Bundle a module, unless neither it nor what it imports has changed since."""
    facts, stamp = bundle.with_suffix(".json"), bundle.with_suffix(".digest")
    is_there = all(file.exists() for file in (bundle, facts, stamp))
    if is_there and stamp.read_text() == digest_of(inputs_of(facts)):
        return
    esbuild = NODE_MODULES / "esbuild" / "bin" / "esbuild"
    if not esbuild.exists():
        sys.exit("node_modules/esbuild is missing: run `npm ci --ignore-scripts` (or `make site`).")
    bundle.parent.mkdir(parents=True, exist_ok=True)
    licences = licences_of(bundle)
    command = ["node", str(esbuild), str(source), *OPTIONS]
    result = subprocess.run(
        [*command, f"--outfile={bundle}", f"--metafile={facts}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        sys.exit(f"Bundling {source.relative_to(ROOT)} failed:\n{result.stderr}")
    inputs = inputs_of(facts)
    licences.unlink(missing_ok=True)
    if texts := licence_texts(inputs):
        licences.write_text(texts, "utf-8")
        notice = f"/* The licences of what is bundled here: {licences.name} */\n"
        bundle.write_text(notice + bundle.read_text("utf-8"), "utf-8")
    stamp.write_text(digest_of(inputs))
    print(f"bundled {source.relative_to(ROOT)}, {bundle.stat().st_size:,} bytes")


def inputs_of(facts: Path) -> list[str]:
    """Return the paths, relative to the repository, of what esbuild says a bundle was made of."""
    return sorted(json.loads(facts.read_text("utf-8"))["inputs"])


def digest_of(inputs: Iterable[str]) -> str:
    """Hash what a bundle is made of, and how; packages are known by their versions."""
    own = [ROOT / path for path in inputs if not package_of(path)]
    contents = (file.read_bytes() if file.exists() else b"" for file in (LOCK, *own))
    return hashlib.sha256(b"".join(contents) + " ".join(OPTIONS).encode()).hexdigest()


def licence_texts(inputs: Iterable[str]) -> str:
    """Return the licences of the packages whose files a bundle was made of."""
    packages = sorted({name for name in map(package_of, inputs) if name})
    texts = []
    for package in packages:
        folder = NODE_MODULES / package
        version = json.loads((folder / "package.json").read_text("utf-8"))["version"]
        licence = (folder / "LICENSE").read_text("utf-8").strip()
        texts.append(f"{package} {version}\n\n{licence}\n")
    return f"\n{'-' * 80}\n\n".join(texts)


def package_of(path: str) -> str:
    """Return the name of the npm package that a file belongs to, empty for our own files."""
    _, _, inner = path.rpartition("node_modules/")
    if inner == path:
        return ""
    parts = inner.split("/")
    return "/".join(parts[:2] if parts[0].startswith("@") else parts[:1])
