"""Every listing of the documentation runs, and prints what its page says.

Listings of a page are parts of one program. The word after `python` says where it runs: `cpython` and
`browser` only there, `file=…` in the tests of the pages that extend the library (`test_extending.py`);
listings without a word run in both. `tests_browser/test_docs_blocks.py` runs those of browsers.
"""

from pathlib import Path

import pytest

from tests_py.listings import PAGES, listings, python_listings, run_listings

#: Languages of listings that are not the library's.
OTHERS = {"c", "glsl", "html", "js", "output", "sh", "text", "toml", "{include}", "{toctree}"}


@pytest.mark.parametrize("page", PAGES)
def test_listings_say_their_language(page: str) -> None:
    for listing in listings(page):
        language, *words = listing.words or [""]
        if language == "python":
            assert not words or words[0] in ("cpython", "browser") or "=" in words[0], listing
        else:
            assert language in OTHERS, f"{page}:{listing.line}: name the language of the listing"
            assert language in ("{toctree}", "{include}") or not words, listing


@pytest.mark.parametrize(
    "page", [page for page in PAGES if python_listings(page, excluded="browser")]
)
def test_listings_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_listings(page)
