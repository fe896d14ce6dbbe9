"""What the site's build keeps from one time to the next, and does once for all pages."""

import subprocess
import sys
from pathlib import Path

import pytest

from web import build

SCRIPT = """
from pathlib import Path

SOURCES = [Path(__file__).with_name("source.txt")]

def export(output_dir):
    (output_dir / "first").write_text("first")
    (output_dir / "second").write_text(SOURCES[0].read_text().removeprefix("good "))
    if "bad" in SOURCES[0].read_text():
        raise ValueError("bad source")
"""


def test_an_export_that_failed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "ASSETS", tmp_path / "assets")
    script, source = tmp_path / "page" / "export_data.py", tmp_path / "page" / "source.txt"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    source.write_text("good words")
    assert (build.export_page_data(script) / "second").read_text() == "words"
    source.write_text("bad words")
    with pytest.raises(ValueError, match="bad source"):
        build.export_page_data(script)
    source.write_text("good words")
    assert (build.export_page_data(script) / "second").read_text() == "words"


def test_chromium_is_told_to_compile_the_runtime_script_as_it_arrives() -> None:
    folder, files = build.runtime_files()
    hint, _, script = files[folder + "pyodide.asm.mjs"].read_text("utf-8").partition("\n")
    assert hint == "//# allFunctionsCalledOnLoad"
    assert script == (build.PYODIDE / "pyodide.asm.mjs").read_text("utf-8")


FIRST_MODEL = """
import inspect
import webtensor as wt
from web.digits.model import digits_network
from web.site_build.webtensor_snapshot import inspect_layers

inspect_layers()
wt.set_backend("numpy")
wt.ones(1)  # NumPy inspects functions when it is imported

def inspected(function, **options):
    raise AssertionError(f"inspected again: {function}")

inspect.Signature.from_callable = inspected
digits_network()(wt.ones((1, 8, 8, 1)))
"""


def test_pages_inspect_no_layers_that_the_snapshot_has() -> None:
    subprocess.run([sys.executable, "-c", FIRST_MODEL], check=True)
