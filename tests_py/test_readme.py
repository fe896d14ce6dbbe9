"""The README: its programs run as they stand, and what it links to exists."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from webtensor import keras

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def printed(program: str, folder: Path) -> str:
    """Run a program, whose random numbers are the same each time, and return what it prints."""
    seeded = f"import webtensor\nwebtensor.keras.utils.set_random_seed(1)\n{program}"
    return subprocess.run(
        [sys.executable, "-c", seeded], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def test_the_model_learns_and_is_saved(tmp_path: Path) -> None:
    output = printed(PROGRAMS[0], tmp_path)
    assert "Epoch 50/50" in output
    zero, one = map(float, re.findall(r"-?\d\.\d+(?:e-\d+)?", output)[-2:])
    assert zero == pytest.approx(0, abs=0.2)
    assert one == pytest.approx(1, abs=0.2)
    model = keras.saving.load_model(tmp_path / "sine.keras")
    assert model.count_params() == 97


def test_the_line_is_found(tmp_path: Path) -> None:
    output = printed(PROGRAMS[1], tmp_path)
    slope, offset = map(float, re.findall(r"Tensor\((-?\d\.\d+)", output))
    assert [slope, offset] == pytest.approx([2, -1], abs=0.1)


def test_these_are_all_programs() -> None:
    assert len(PROGRAMS) == 2


def test_the_page_is_the_one_that_test_hosts_opens() -> None:
    (page,) = re.findall(r"^```html\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert page == (ROOT / "docs/examples/hosts/micropip.html").read_text("utf-8")
    assert len(page.splitlines()) == 15


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", README):
        path, _, section = target.partition("#")
        assert (ROOT / path).exists(), target
        if section:
            headings = re.findall(r"^#+ (.+)$", (ROOT / path).read_text("utf-8"), re.MULTILINE)
            assert section in {heading.lower().replace(" ", "-") for heading in headings}, target


def test_every_target_of_make_is_listed() -> None:
    targets = re.findall(r"^([a-z-]+):.* ## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    unlisted = {target for target in targets if f"make {target}" not in README}
    assert unlisted <= {"help", "site", "kernels", "browsers", "lock", "format"}
