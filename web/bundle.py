"""Bundles JavaScript of `web/` that imports npm packages into modules for browsers, by esbuild.

A bundle takes the URL of its source. Beside it lie the licences of the packages that are in it.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NODE_MODULES = ROOT / "node_modules"
LOCK = ROOT / "package-lock.json"

#: URL paths of the modules that are served bundled.
BUNDLES = ("shared/editor.js",)

OPTIONS = (
    "--bundle",
    "--format=esm",
    "--target=es2022",
    "--minify",
    "--charset=utf8",
    "--legal-comments=none",
    "--log-level=warning",
)


def bundle_files(web: Path, assets: Path) -> dict[str, Path]:
    """Map URL paths to the bundles and their licences, which are written below `assets`."""
    files = {}
    for path in BUNDLES:
        bundle = assets / "bundles" / path
        licences = bundle.with_suffix(".licences.txt")
        make_bundle(web / path, bundle, licences)
        files[path] = bundle
        files[licences.relative_to(assets / "bundles").as_posix()] = licences
    return files


def make_bundle(source: Path, bundle: Path, licences: Path) -> None:
    """Bundle a module, unless neither it nor the packages have changed since."""
    content = source.read_bytes() + LOCK.read_bytes() + " ".join(OPTIONS).encode()
    digest = hashlib.sha256(content).hexdigest()
    stamp = bundle.with_suffix(".digest")
    if bundle.exists() and stamp.exists() and stamp.read_text() == digest:
        return
    esbuild = NODE_MODULES / "esbuild" / "bin" / "esbuild"
    if not esbuild.exists():
        sys.exit("node_modules/esbuild is missing: run `npm ci --ignore-scripts` (or `make site`).")
    bundle.parent.mkdir(parents=True, exist_ok=True)
    inputs = bundle.with_suffix(".json")
    banner = f"--banner:js=/* The licences of what is bundled here: {licences.name} */"
    command = ["node", str(esbuild), str(source), *OPTIONS, banner]
    result = subprocess.run(
        [*command, f"--outfile={bundle}", f"--metafile={inputs}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        sys.exit(f"Bundling {source.relative_to(ROOT)} failed:\n{result.stderr}")
    licences.write_text(licence_texts(json.loads(inputs.read_text())["inputs"]), "utf-8")
    stamp.write_text(digest)
    print(f"bundled web/{source.name}, {bundle.stat().st_size:,} bytes")


def licence_texts(inputs: dict[str, object]) -> str:
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
