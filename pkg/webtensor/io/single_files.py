"""Models that are one file: bytes, a path, or an address."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TypeAlias

from webtensor.environment import IN_BROWSER
from webtensor.formats.element_types import Buffer
from webtensor.io.routers import has_scheme
from webtensor.io.web_models import fetch_files

__all__ = ["Source", "fetched", "is_local", "read_local"]

Source: TypeAlias = "str | PathLike[str] | Buffer"


def is_local(source: Source) -> bool:
    """Whether a source is bytes or a path, rather than an address."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return True
    return not has_scheme(source) and not (IN_BROWSER and not Path(source).exists())


def read_local(source: Source, name: str) -> tuple[Buffer, str]:
    """Return the bytes of a source that is no address, and its file's name, or ``name``."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return source, name
    path = Path(source)
    return path.read_bytes(), path.name


async def fetched(address: str, name: str) -> tuple[Buffer, str]:
    """Return the bytes at an address, and its file's name, or ``name`` where it has none."""
    (data,) = await fetch_files([address])
    return data, address.partition("?")[0].rpartition("/")[2] or name
