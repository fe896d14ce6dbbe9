"""The listings of the documentation, and a way to run those in Python as one program per page."""

from __future__ import annotations

import ast
import asyncio
import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from inspect import iscoroutine
from itertools import pairwise
from pathlib import Path
from types import CodeType
from typing import NamedTuple

__all__ = ["PAGES", "ROOT", "Listing", "listings", "python_listings", "run_listings"]

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
)
FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


class Listing(NamedTuple):
    """A fenced block: the words after the fence, the text, and what the page says it prints."""

    page: str
    line: int
    words: list[str]
    text: str
    printed: str | None

    @property
    def code(self) -> CodeType:
        """The compiled text, which may await, at its lines of the page."""
        tree = ast.parse("\n" * self.line + self.text, self.page)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        return compile(tree, self.page, "exec", flags)


def listings(page: str) -> Iterator[Listing]:
    """Yield the listings of a page, each with the output that follows it."""
    text = (ROOT / page).read_text("utf-8")
    for fence, following in pairwise([*FENCE.finditer(text), None]):
        assert fence is not None
        printed = following[3] if following is not None and following[2] == "output" else None
        line = text.count("\n", 0, fence.start()) + 1
        yield Listing(page, line, fence[2].split(), fence[3], printed)


def python_listings(page: str, excluded: str) -> list[Listing]:
    """Return the listings of a page that run together, all but those for the ``excluded`` host."""
    return [
        listing
        for listing in listings(page)
        if listing.words[:1] == ["python"] and listing.words[1:] in ([], [_other(excluded)])
    ]


def _other(host: str) -> str:
    return "cpython" if host == "browser" else "browser"


def run_listings(page: str) -> None:
    """Run those of a page's listings that CPython can run, in one namespace; compare the output."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    with asyncio.Runner() as runner:
        for listing in python_listings(page, excluded="browser"):
            printed = io.StringIO()
            with redirect_stdout(printed):
                result = eval(listing.code, namespace)
                if iscoroutine(result):
                    runner.run(result)
            if listing.printed is not None:
                assert printed.getvalue() == listing.printed, f"{page}:{listing.line}"
