"""Writes the site's service worker, which is for one build and knows its files."""

from __future__ import annotations

import json
from collections.abc import Iterable

__all__ = ["service_worker"]


def service_worker(source: str, build: str, files: Iterable[str]) -> str:
    """Return the service worker's source for a build with files of these URL paths."""
    values = {
        'BUILD = ""': f"BUILD = {json.dumps(build)}",
        "new Set([])": f"new Set({json.dumps(sorted(files))})",
    }
    for placeholder, value in values.items():
        source = source.replace(placeholder, value, 1)
    return source
