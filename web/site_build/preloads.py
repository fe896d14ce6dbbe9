"""Lets browsers fetch what a page starts Python from while they still read the page.

A page has the line `<!-- preloads -->` in its head, after its scripts: nothing starts before them,
and hosts that speak HTTP/1.1 send few files at once. The build replaces the line by links to the
files that scripts and Python would ask for one after another.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from html import escape

__all__ = ["MARKER", "with_preloads"]

MARKER = "<!-- preloads -->"
#: The loader itself, which every page imports.
LOADER = ("shared/loader.js", "shared/downloads.js", "shared/snapshot.js")
SCRIPTS = (".js", ".mjs")


def with_preloads(page: str, url_path: str, files: Iterable[str]) -> str:
    """Return a page with links to the loader and to files of the site, given by their URL paths."""
    folder = posixpath.dirname(url_path) or "."
    links = (_link(posixpath.relpath(file, folder)) for file in (*LOADER, *files))
    return page.replace(MARKER, "\n    ".join(links))


def _link(url: str) -> str:
    if url.endswith(SCRIPTS):
        return f'<link rel="modulepreload" href="{escape(url)}" />'
    # Without "crossorigin" a later fetch() would not take what was preloaded.
    return f'<link rel="preload" as="fetch" crossorigin href="{escape(url)}" />'
