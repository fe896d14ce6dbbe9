"""Small files beside a model, such as vocabularies and the names of classes."""

from __future__ import annotations

from pathlib import Path
from typing import TypeGuard

from webtensor.data import URLDataSource
from webtensor.data.iteration import from_async_iterable, waiting_synchronously
from webtensor.environment import IN_BROWSER
from webtensor.formats.files import Source, read_bytes
from webtensor.io.routers import has_scheme

__all__ = ["read_file", "read_file_async"]


def read_file(source: Source) -> bytes:
    """Return the contents of a path, a file object, bytes, or an address.

    In a page, text that is no path of a file is an address relative to it.

    Raises:
        OSError: the file or the server cannot be read.
        RuntimeError: it is an address, and Python cannot wait here.
        TypeError: ``source`` is none of these.
    """
    if _is_address(source):
        chunks = URLDataSource(source).chunks()
        return b"".join(
            waiting_synchronously(lambda iteration: from_async_iterable(chunks, iteration))
        )
    return read_bytes(source)


async def read_file_async(source: Source) -> bytes:
    """Return what ``read_file`` does, without blocking the page."""
    if _is_address(source):
        return b"".join([chunk async for chunk in URLDataSource(source).chunks()])
    return read_bytes(source)


def _is_address(source: Source) -> TypeGuard[str]:
    return isinstance(source, str) and (
        has_scheme(source) or (IN_BROWSER and not Path(source).exists())
    )
