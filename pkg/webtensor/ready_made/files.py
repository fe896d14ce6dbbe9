"""Small files beside a model, such as vocabularies and the names of classes."""

from __future__ import annotations

from pathlib import Path

from webtensor.data import URLDataSource
from webtensor.environment import IN_BROWSER
from webtensor.formats.files import Source, read_bytes
from webtensor.io.routers import has_scheme

__all__ = ["read_bytes_async"]


async def read_bytes_async(source: Source) -> bytes:
    """Return the contents of a path, a file object, bytes, or an address.

    In a page, text that is no path of a file is an address relative to it.

    Raises:
        OSError: the file or the server cannot be read.
        TypeError: ``source`` is none of these.
    """
    if isinstance(source, str) and (
        has_scheme(source) or (IN_BROWSER and not Path(source).exists())
    ):
        return b"".join([chunk async for chunk in URLDataSource(source).chunks()])
    return read_bytes(source)
