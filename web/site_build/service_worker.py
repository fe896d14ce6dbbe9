"""Writes the site's service worker, which is for one build and knows its files."""

from __future__ import annotations

import json
from collections.abc import Iterable

__all__ = ["service_worker"]


def service_worker(
    source: str, build: str, files: Iterable[str], start_files: Iterable[str]
) -> str:
    """Return the service worker's source.

    Args:
        source: `web/shared/service_worker.js`.
        build: the build's name.
        files: URL paths of what the site holds.
        start_files: URL paths of what Python starts from, in pages and in their workers.
    """
    values = {
        'BUILD = ""': f"BUILD = {json.dumps(build)}",
        "new Set([])": f"new Set({json.dumps(sorted(files))})",
        "START_FILES = []": f"START_FILES = {json.dumps(sorted(start_files))}",
    }
    for placeholder, value in values.items():
        source = source.replace(placeholder, value, 1)
    return source
