"""`docs/standards.md` says what passes; `make standards` writes it."""

import pytest

from tests_py.standards.libraries import CALLS, LIBRARIES, outcomes
from tests_py.standards.report import PAGE, array_api_section, introduction, path_of

WRITTEN = PAGE.read_text("utf-8")
#: Every n-th of a library's calls is tried here; `make standards` tries all.
SAMPLE = {"scipy": 4, "sklearn": 6}


def test_the_page_says_what_passes_of_the_array_api() -> None:
    assert introduction() in WRITTEN
    assert array_api_section() in WRITTEN, "docs/standards.md is not up to date: make standards"


@pytest.mark.parametrize("substitutes", [False, True])
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_page_says_what_works_of_libraries(library: str, substitutes: bool) -> None:
    section = WRITTEN.partition(f"## {LIBRARIES[library]}\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| `")]
    assert [row[0] for row in rows] == [f"| `{path_of(call)}`" for call in CALLS[library]]
    written = {call: row[1 + substitutes] for call, row in zip(CALLS[library], rows, strict=True)}
    sample = CALLS[library][:: SAMPLE[library]]
    for call, outcome in outcomes(library, "numpy", sample, substitutes).items():
        said = written[call].removesuffix(" |")
        assert (outcome or "works") == said or f"numpy: {outcome or 'works'}" in said, call
