"""Models that are one file: bytes, a path, or an address."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from webtensor.environment import IN_BROWSER
from webtensor.formats.element_types import Buffer
from webtensor.io.routers import has_scheme
from webtensor.io.web_models import fetch_files

__all__ = ["Source", "fetched", "read_local", "resolved"]

Source: TypeAlias = "str | PathLike[str] | Buffer"


def resolved(source: Source) -> Buffer | Path | str:
    """Return a source as bytes, as the path of a file, or, if it is an address, as a string."""
    if isinstance(source, Buffer):
        return source
    is_path = not has_scheme(source) and not (IN_BROWSER and not Path(source).exists())
    return Path(source) if is_path else fspath(source)


def read_local(source: Buffer | Path, name: str) -> tuple[Buffer, str]:
    """Return the bytes of a source that is no address, and its file's name, or ``name``."""
    return (source.read_bytes(), source.name) if isinstance(source, Path) else (source, name)


async def fetched(address: str, name: str) -> tuple[Buffer, str]:
    """Return the bytes at an address, and its file's name, or ``name`` where it has none."""
    (data,) = await fetch_files([address])
    return data, address.partition("?")[0].rpartition("/")[2] or name
