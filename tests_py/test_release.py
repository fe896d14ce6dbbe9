"""Packages: their version, metadata, size and contents, and the checks of `make release`."""

import re
import tarfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

import webtensor as wt
from web import release
from web.build import ROOT, build_wheel
from web.release import ReleaseError, archive_site, check_names, check_wheel, hashes, release_notes

CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.fixture(scope="module")
def wheel() -> Path:
    return build_wheel()


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def test_the_version_is_in_one_place(metadata: Message) -> None:
    assert metadata["Version"] == wt.__version__
    first = re.search(r"^## (\S+)", CHANGELOG, re.MULTILINE)
    assert first is not None
    assert first[1] == wt.__version__
    for name in ("pyproject.toml", "package.json"):
        assert wt.__version__ not in (ROOT / name).read_text("utf-8").replace("==", "")


def test_numpy_is_required_outside_pages_alone(metadata: Message) -> None:
    required = metadata.get_all("Requires-Dist")
    assert required == [
        "numpy>=1.26; sys_platform != 'emscripten'",
        "wasmtime>=30; (sys_platform != 'emscripten') and extra == 'wasm'",
    ]


def test_metadata_says_where_it_runs(metadata: Message) -> None:
    classifiers = metadata.get_all("Classifier") or []
    assert "Environment :: WebAssembly :: Emscripten" in classifiers
    for version in ("3.11", "3.12", "3.13", "3.14"):
        assert f"Programming Language :: Python :: {version}" in classifiers
    urls = metadata.get_all("Project-URL") or []
    assert {url.partition(",")[0] for url in urls} >= {"Source", "Documentation", "Changelog"}


def test_what_the_description_shows_and_links_to_is_on_the_web(metadata: Message) -> None:
    targets = re.findall(r"\]\((.*?)\)", str(metadata.get_payload()))
    assert "https://github.com/webtensor/webtensor/blob/main/docs/tutorial.md" in targets
    assert all(target.startswith("https://") for target in targets)


def test_the_wheel_is_small_and_has_no_tests(wheel: Path) -> None:
    check_wheel(wheel)


def test_a_wheel_that_is_too_large_is_refused(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "MAX_WHEEL_BYTES", 1_000)
    with pytest.raises(ReleaseError, match="bytes, more than 1,000"):
        check_wheel(wheel)


@pytest.mark.parametrize(
    "name",
    [
        "tests_py/test_ops.py",
        "webtensor/tests/a.py",
        "webtensor/test_a.py",
        "webtensor/__pycache__/a",
    ],
)
def test_files_that_do_not_belong_into_a_wheel_are_refused(name: str) -> None:
    with pytest.raises(ReleaseError, match=f"a.whl has the file {name}"):
        check_names("a.whl", ["webtensor/attestation.py", name], "webtensor/")


def test_release_notes_are_the_part_about_the_version() -> None:
    changelog = "# Changelog\n\n## 0.2.0 (2027)\n\n- New\n\n## 0.1.0\n\n### Added\n\n- Old\n"
    assert release_notes(changelog, "0.2.0") == "- New\n"
    assert release_notes(changelog, "0.1.0") == "### Added\n\n- Old\n"
    with pytest.raises(ReleaseError, match=r"no part about version 0\.3\.0"):
        release_notes(changelog, "0.3.0")
    assert release_notes(CHANGELOG, wt.__version__).startswith("### Added")


def test_archives_and_hashes_of_the_same_files_are_the_same(tmp_path: Path) -> None:
    site, target = tmp_path / "site", tmp_path / "release"
    (site / "a").mkdir(parents=True)
    target.mkdir()
    (site / "a" / "page.html").write_text("text")
    archive_site(site, target / "first.tar.gz", 1_000_000_000)
    (site / "a" / "page.html").touch()
    archive_site(site, target / "second.tar.gz", 1_000_000_000)
    (first, first_name), (second, second_name) = (
        line.split("  ") for line in hashes(target).splitlines()
    )
    assert first == second
    assert (first_name, second_name) == ("first.tar.gz", "second.tar.gz")
    with tarfile.open(target / "first.tar.gz") as archive:
        assert archive.getnames() == ["a/page.html"]
