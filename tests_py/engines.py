"""The scripts of "Outgrowing the page" for Ray Data and Dask, with the engines from PyPI.

`make test-engines` runs these tests, with an environment of its own: it takes 640 MB.
"""

from pathlib import Path

import pytest

from tests_py.listings import ROOT, Listing, listings
from tests_py.test_extending import apply, run, words_of

ENGINES = ROOT / ".engines" / "bin"
SCRIPTS = {
    words_of(listing)["file"]: listing
    for listing in listings("docs/guides/outgrowing.md")
    if "file" in words_of(listing)
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a saved model, in which Ray keeps its files, too."""
    apply(SCRIPTS["train.py"], tmp_path)
    run("python train.py", tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["with_ray.py", "with_dask.py"])
def test_a_saved_model_is_applied_in_batches(name: str, folder: Path) -> None:
    script: Listing = SCRIPTS[name]
    apply(script, folder)
    command = f'PYTHONPATH="{ROOT / "pkg"}" HOME="{folder}" RAY_AUTH_MODE=disabled'
    assert run(f'{command} "{ENGINES / "python"}" {name}', folder) == script.printed
