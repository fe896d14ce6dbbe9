"""Fills the site's pages into the templates of `web/templates/`, which hold what pages share."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

__all__ = ["rendered"]

ROOT = Path(__file__).resolve().parents[2]
#: Templates, and the listings that pages show.
INCLUDED = (ROOT / "web" / "templates", ROOT / "docs" / "examples" / "hosts")
#: What fetches the snapshot, and the loader, which every page imports.
SNAPSHOT_DOWNLOAD = "shared/snapshot_download.js"
LOADER = "shared/loader.js"
#: The ends of the names of files that Python needs only when it runs.
NEEDED_LAST = ("-lock.json", "stdlib.zip")


def rendered(source: str, url_path: str, files: Iterable[str], root: str | None = None) -> str:
    """Return a page of the site.

    Args:
        source: the page, which extends a template.
        url_path: where it will lie in the site.
        files: URL paths of what pages start Python from, to be fetched while the page is read.
        root: the address of the site in the page's links, by default relative to the page.
    """
    folder = posixpath.dirname(url_path)
    snapshot_download, *preloads = (
        posixpath.relpath(file, folder or ".") for file in (SNAPSHOT_DOWNLOAD, LOADER, *files)
    )
    if root is None:
        root = posixpath.relpath(".", folder) + "/" if folder else ""
    return (
        _environment()
        .from_string(source)
        .render(
            root=root,
            snapshot_download=snapshot_download,
            preloads=preloads,
            needed_last=NEEDED_LAST,
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(INCLUDED),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
