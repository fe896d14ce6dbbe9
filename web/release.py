"""Builds all that a release uploads, into `dist/release/`, and checks it.

These are the source distribution, the wheel that is built from it, an archive of the site, an SBOM
of the library and one of the site (CycloneDX), the release notes from `CHANGELOG.md`, and the
SHA-256 hashes of all. The wheel is checked, installed in an empty environment, and tried there.
Packages and archive are the same for the same commit: their dates are the commit's.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

from web.build import DIST, ROOT, build_site

RELEASE = DIST / "release"
CHANGELOG = ROOT / "CHANGELOG.md"
#: 1.3 MB were enough without graph models, ONNX, TensorFlow Lite, the converter, Keras's networks,
#: data pipelines, ready-made models, charts.
MAX_WHEEL_BYTES = 2_041_000
HASHES = "SHA256SUMS"
KERNELS = {
    f"{kind}-{file}" for kind in ("kernels", "rows") for file in ("relaxed.patch", "simd.wasm")
}
TESTS_AND_CACHES = re.compile(r"(^|/)(tests?|__pycache__)[_/.]")

#: Trains a model on both backends of CPython.
TRIAL = """
import webtensor as wt
from webtensor import keras

for backend in ("numpy", "wasm"):
    wt.set_backend(backend)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    history = model.fit(wt.ones((8, 4)), wt.ones((8, 1)), epochs=2, verbose=0)
    assert history.history["loss"][1] < history.history["loss"][0]
print(wt.__version__)
"""


class ReleaseError(Exception):
    """What is built must not be uploaded; the message says why."""


def release_notes(changelog: str, version: str) -> str:
    """Return the part of the changelog about a version, without its heading.

    Raises:
        ReleaseError: there is no such part.
    """
    parts = re.split(r"^## (.+)$", changelog, flags=re.MULTILINE)
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        if heading.split()[0] == version:
            return str(text).strip() + "\n"
    raise ReleaseError(f"CHANGELOG.md has no part about version {version}")


def check_wheel(wheel: Path) -> None:
    """Check the size and the contents of a wheel.

    Raises:
        ReleaseError: it is too large, has files that are not the library's, or lacks some.
    """
    size = wheel.stat().st_size
    if size > MAX_WHEEL_BYTES:
        raise ReleaseError(f"{wheel.name} has {size:,} bytes, more than {MAX_WHEEL_BYTES:,}")
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    check_names(wheel.name, [name for name in names if ".dist-info/" not in name], "webtensor/")
    kernels = {Path(name).name for name in names if "/kernels/" in name}
    if "webtensor/py.typed" not in names or kernels != KERNELS:
        raise ReleaseError(f"{wheel.name} lacks py.typed or the kernels")


def check_names(label: str, names: Sequence[str], folder: str) -> None:
    """Check that files of a package are in a folder, and that none is a test's or a cache's.

    Raises:
        ReleaseError: one is.
    """
    for name in names:
        if not name.startswith(folder) or TESTS_AND_CACHES.search(name):
            raise ReleaseError(f"{label} has the file {name}")


def hashes(folder: Path) -> str:
    """Return the SHA-256 hashes of the files in a folder, as `sha256sum -c` reads them."""
    return "".join(
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(folder.iterdir())
        if file.name != HASHES
    )


def archive_site(site: Path, target: Path, date: int) -> None:
    """Write the files of the site as an archive, which is the same for the same files."""
    with (
        target.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=date) as stream,
        tarfile.open(fileobj=stream, mode="w") as archive,
    ):
        for path in sorted(path for path in site.rglob("*") if path.is_file()):
            member = archive.gettarinfo(path, path.relative_to(site).as_posix())
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode, member.mtime = 0o644, date
            with path.open("rb") as content:
                archive.addfile(member, content)


def run(*command: object, **environment: str) -> str:
    """Run a command in the repository, and return what it prints.

    Raises:
        ReleaseError: it fails.
    """
    words = [str(word) for word in command]
    result = subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise ReleaseError(f"{' '.join(words)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def build_packages(target: Path, date: int) -> tuple[Path, Path]:
    """Build the source distribution, and the wheel from it; return their paths."""
    run(
        sys.executable, "-m", "build", "--no-isolation", "--outdir", target, ROOT,
        SOURCE_DATE_EPOCH=str(date),
    )  # fmt: skip
    (source,), (wheel,) = target.glob("*.tar.gz"), target.glob("*.whl")
    check_wheel(wheel)
    with tarfile.open(source) as archive:
        check_names(source.name, archive.getnames(), source.name.removesuffix(".tar.gz") + "/")
    return source, wheel


def installed(wheel: Path, folder: Path) -> Path:
    """Install a wheel with what it depends on in an empty environment; return its Python."""
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    options = ("--quiet", "--disable-pip-version-check", "--no-warn-script-location")
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, f"{wheel}[wasm]")
    return python


def build_release(tools: Path) -> Path:
    """Build and check all files of a release, with the tools of an environment's folder.

    Raises:
        ReleaseError: something must not be uploaded.
    """
    date = int(run("git", "log", "-1", "--format=%ct"))
    shutil.rmtree(RELEASE, ignore_errors=True)
    RELEASE.mkdir(parents=True)
    source, wheel = build_packages(RELEASE, date)
    version = wheel.name.split("-")[1]
    run(tools / "twine", "check", "--strict", source, wheel)
    print(f"checked {source.name} and {wheel.name}, {wheel.stat().st_size:,} bytes")

    with tempfile.TemporaryDirectory() as scratch:
        python = installed(wheel, Path(scratch) / "environment")
        tried = run(python, "-I", "-c", TRIAL).strip()
        if tried != version:
            raise ReleaseError(f"the installed library says it is {tried}, not {version}")
        components = run(
            tools / "cyclonedx-py", "environment", "--output-reproducible", python,
            SOURCE_DATE_EPOCH=str(date),
        )  # fmt: skip
        bill = components.replace(f"{RELEASE.as_uri()}/", "")
        (RELEASE / f"webtensor-{version}.cdx.json").write_text(bill, "utf-8")
    print(f"tried webtensor {version} with NumPy and wasmtime in an empty environment")

    archive_site(build_site(wheel), RELEASE / f"webtensor-site-{version}.tar.gz", date)
    packages = run("npm", "sbom", "--sbom-format=cyclonedx", "--omit=dev", "--package-lock-only")
    site_bill = json.loads(packages)
    site_bill["metadata"]["component"].update(name="webtensor-site", version=version)
    (RELEASE / f"webtensor-site-{version}.cdx.json").write_text(json.dumps(site_bill, indent=2))
    notes = release_notes(CHANGELOG.read_text("utf-8"), version)
    (RELEASE / f"webtensor-{version}.md").write_text(notes, "utf-8")
    (RELEASE / HASHES).write_text(hashes(RELEASE))
    return RELEASE


def main() -> None:
    """Build a release of the commit that is checked out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--tools", type=Path, required=True, help="where twine and cyclonedx-py are"
    )
    options = parser.parse_args()
    try:
        changes = run("git", "status", "--porcelain")
        if changes:
            raise ReleaseError(f"these changes are not committed:\n{changes}")
        folder = build_release(options.tools.absolute())
    except ReleaseError as error:
        sys.exit(f"No release: {error}")
    print((folder / HASHES).read_text(), end="")


if __name__ == "__main__":
    main()
