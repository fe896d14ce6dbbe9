"""The pages on extending the library, and the scripts of "Outgrowing the page", followed literally.

A listing's words say what becomes of it: `append=` and `insert=` change a file of a copy of the
repository, `file=` writes one. Listings in `sh` are then run, one line after the other.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests_py.listings import ROOT, Listing, listings

COPIED = ("pkg", "tests_py", "wasm_build", "pyproject.toml", "docs")


def words_of(listing: Listing) -> dict[str, str]:
    """Return the words after a listing's language, as in ``insert=path after="a line"``."""
    words = shlex.split(" ".join(listing.words[1:]))
    return dict(word.split("=", 1) for word in words if "=" in word)


def apply(listing: Listing, folder: Path) -> None:
    """Make the change that a listing asks for."""
    words = words_of(listing)
    if "file" in words:
        (folder / words["file"]).write_text(listing.text)
    elif "append" in words:
        with (folder / words["append"]).open("a") as file:
            file.write(listing.text)
    elif "insert" in words:
        path = folder / words["insert"]
        lines = path.read_text().splitlines(keepends=True)
        matches = [line for line in lines if line.strip().startswith(words["after"].strip())]
        assert len(matches) == 1, f"{listing.page}:{listing.line}: not one such line in {path.name}"
        position = lines.index(matches[0]) + 1
        path.write_text("".join([*lines[:position], listing.text, *lines[position:]]))


def run(command: str, folder: Path, repository: Path = ROOT) -> str:
    """Run a command of a page with this Python and a repository; return what it prints."""
    dropped = ("KERAS_BACKEND", "PYTHONDONTWRITEBYTECODE")
    inherited = {name: value for name, value in os.environ.items() if name not in dropped}
    environment = {
        **inherited,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{repository / 'pkg'}{os.pathsep}{repository}",
    }
    finished = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, f"{command}\n{finished.stdout}{finished.stderr}"
    return finished.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of the repository."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            # Other processes of the tests may be writing compiled files.
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, tmp_path / name, ignore=ignored)
        else:
            shutil.copyfile(source, tmp_path / name)
    return tmp_path


@pytest.mark.timeout(900)  # the kernels are compiled
@pytest.mark.parametrize("name", ["add_op", "add_layer", "add_backend"])
def test_page_can_be_followed(name: str, repository: Path) -> None:
    commands = 0
    for listing in listings(f"docs/extending/{name}.md"):
        if listing.words == ["sh"]:
            printed = [
                run(command, repository, repository) for command in listing.text.splitlines()
            ]
            commands += len(printed)
            if listing.printed is not None:
                assert "".join(printed) == listing.printed
        else:
            apply(listing, repository)
    assert commands


def test_an_op_of_ones_own_can_be_used(repository: Path) -> None:
    folder = repository / "docs" / "examples" / "custom_op"
    printed = ""
    for listing in listings("docs/custom_ops.md"):
        apply(listing, folder)
        if listing.words == ["sh"]:
            printed = "".join(
                run(command, folder, repository) for command in listing.text.splitlines()
            )
            assert printed == listing.printed
    assert printed


def test_a_training_script_runs_here_and_under_keras_on_jax(tmp_path: Path) -> None:
    page = "docs/guides/outgrowing.md"
    scripts = [item for item in listings(page) if words_of(item).get("file") == "train.py"]
    commands = [
        command
        for item in listings(page)
        if item.words == ["sh"]
        for command in item.text.splitlines()
        if command.endswith("python train.py")
    ]
    assert (len(scripts), len(commands)) == (1, 2)
    apply(scripts[0], tmp_path)
    assert [run(command, tmp_path) for command in commands] == ["saved\n", "devices: 2\nsaved\n"]
