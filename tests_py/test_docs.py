"""Every listing of the documentation runs, and prints what its page says.

Listings of a page are parts of one program. The word after `python` says where one runs: `cpython`
and `browser` only there, those that name a file in `test_extending.py`, and those without a word
everywhere. `tests_browser/test_docs_blocks.py` runs the pages with listings for browsers.
"""

import doctest
import json
import re
import tomllib
from functools import reduce
from pathlib import Path

import pytest

import webtensor as wt
from tests_py.listings import PAGES, ROOT, listings, python_listings, run_listings
from web.api_pages import api_pages

#: Languages of listings that are not the library's.
OTHERS = {"html", "js", "json", "output", "sh", "text", "toml", "{literalinclude}", "{toctree}"}


LAYERS = "webtensor.keras.layers"
#: A public name in a table of counterparts.
NAME = re.compile(r"`(?:await )?((?:wt|keras)\.[\w.]+)")


@pytest.mark.parametrize("page", PAGES)
def test_listings_say_their_language(page: str) -> None:
    for listing in listings(page):
        language, *words = listing.words or [""]
        if language == "python":
            assert not words or words[0] in ("cpython", "browser") or "=" in words[0], listing
        else:
            assert language in OTHERS, f"{page}:{listing.line}: name the language of the listing"
            assert language in ("{toctree}", "{literalinclude}") or not words, listing


@pytest.mark.parametrize(
    "page", [page for page in PAGES if python_listings(page, excluded="browser")]
)
def test_listings_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_listings(page)


@pytest.mark.parametrize(
    "page",
    [*(f"coming_from/{peer}" for peer in ("jax", "keras", "numpy", "pytorch")), "tensorflow_js"],
)
def test_counterparts_exist(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    rows = [line.split(" | ")[1] for line in text.splitlines() if line.startswith("| ")]
    names = [name for row in rows for name in NAME.findall(row)]
    assert len(names) > 5
    for name in names:
        path = name.removeprefix("wt.").split(".")
        assert reduce(getattr, path, wt) is not None, name


def test_every_page_has_a_place_in_the_navigation() -> None:
    contents = "".join(
        listing.text for listing in listings("docs/index.md") if "toctree" in listing.words[0]
    )
    for page in PAGES:
        path = Path(page)
        if path.parts[0] == "docs" and page != "docs/index.md":
            name = path.relative_to("docs").with_suffix("").as_posix()
            assert name in contents.split(), f"{page} is not in the contents"


def test_the_floors_name_every_module() -> None:
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    floors, _, rest = page.partition("The floors of `keras`")
    floors_of_keras = rest.partition("A package such as `ops`")[0]
    for folder, tables in (("", floors), ("keras", floors_of_keras)):
        for path in (ROOT / "pkg/webtensor" / folder).iterdir():
            if path.suffix in ("", ".py") and not path.name.startswith("__"):
                assert f"`{path.stem}`" in tables, f"{path.name} has no floor"


def test_versions_are_those_of_the_repository() -> None:
    pyodide = json.loads((ROOT / "package.json").read_text())["dependencies"]["pyodide"]
    occurrences = {"webtensor": 0, "pyodide": 0}
    for page in PAGES:
        text = (ROOT / page).read_text("utf-8")
        for library, version in re.findall(
            r"(webtensor|pyodide)[-=/]+v?([0-9]+\.[0-9.]*[0-9])", text
        ):
            assert version == (wt.__version__ if library == "webtensor" else pyodide), page
            occurrences[library] += 1
    assert all(occurrences.values())


def test_extras_that_are_named_can_be_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = [
        (page, name)
        for page in PAGES
        for name in re.findall(r"webtensor\[(\w+)\]", (ROOT / page).read_text("utf-8"))
    ]
    assert named
    assert [(page, name) for page, name in named if name not in extras] == []


def test_the_reference_lists_every_name_once() -> None:
    pages = api_pages()
    entries = [
        line.rpartition(" ")[2]
        for page in pages.values()
        for line in page.splitlines()
        if line.startswith((".. autofunction::", ".. autoclass::"))
    ]
    assert len(entries) == len(set(entries)) > 1200
    assert "webtensor.conv2d" in entries
    assert "webtensor.keras.layers.Dense" in entries
    assert "``Convolution2D`` is :py:obj:`webtensor.keras.layers.Conv2D`" in pages[LAYERS]
    assert "``normal`` is :py:obj:`webtensor.random_normal`" in pages["webtensor.random"]
    assert "``gelu`` is :py:obj:`webtensor.keras.ops.gelu`" in pages["webtensor.nn"]


def test_examples_import_the_library() -> None:
    parser = doctest.DocTestParser()
    incomplete = []
    for file in (ROOT / "pkg").rglob("*.py"):
        for docstring in re.findall('"""(.*?)"""', file.read_text("utf-8"), re.DOTALL):
            examples = parser.get_examples(docstring) if ">>> " in docstring else []
            source = "".join(example.source for example in examples)
            names = set(re.findall(r"(?<![\w.])(wt|keras)\.", source))
            if names - set(re.findall(r"\bimport .*?\b(wt|keras)\b", source)):
                incomplete.append(f"{file}: {source}")
    assert incomplete == []
