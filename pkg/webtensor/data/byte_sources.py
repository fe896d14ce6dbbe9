"""Where the bytes of text come from: files, a visitor's files, memory and servers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from webtensor.arguments import as_non_negative_integer, as_positive_integer
from webtensor.environment import IN_BROWSER
from webtensor.formats.element_types import Buffer

__all__ = ["DataSource", "FileDataSource", "TextSource", "URLDataSource", "as_source"]

_CHUNK = 1 << 18


class DataSource(ABC):
    """Bytes that are read in chunks, from the first on for each iteration.

    Attributes:
        label: what errors call it.
        is_async: whether the bytes have to be waited for.
    """

    label: str
    is_async: bool

    @abstractmethod
    def chunks(self) -> AsyncGenerator[bytes, None]:
        """Give the bytes."""


class FileDataSource(DataSource):
    r"""The bytes of a file.

    Args:
        input: a path, which may begin with "file://", bytes, or in a page a File or Blob, as a
            visitor chooses it.
        chunk_size: the largest number of bytes that are read at once.
        offset: the number of bytes at the beginning that are left out.

    Raises:
        TypeError: ``input`` is something else.
        ValueError: ``chunk_size`` is not positive, or ``offset`` is negative.

    Example:
        >>> import webtensor as wt
        >>> source = wt.data.FileDataSource(b"first\nsecond\n")
        >>> wt.data.TextLineDataset(source).to_list()
        ['first', 'second']
    """

    def __init__(
        self, input: str | PathLike[str] | bytes | Any, chunk_size: int = _CHUNK, offset: int = 0
    ) -> None:
        self._input = input
        self._size = as_positive_integer("FileDataSource", "chunk_size", chunk_size)
        self._offset = as_non_negative_integer("FileDataSource", "offset", offset)
        self.is_async = IN_BROWSER and hasattr(input, "stream")
        if self.is_async:
            self.label = str(getattr(input, "name", "Blob"))
        elif isinstance(input, Buffer):
            self.label = f"{len(input)} bytes"
        elif isinstance(input, (str, PathLike)):
            self.label = self._input = fspath(input).removeprefix("file://")
        else:
            raise TypeError(
                f"FileDataSource: input must be a path, bytes, a File or a Blob, but got {input!r}"
            )

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Give the bytes.

        Raises:
            OSError: the file cannot be read.
        """
        if self.is_async:
            from webtensor.io.fetching import blob_chunks

            blob: Any = self._input
            async for chunk in blob_chunks(blob.slice(self._offset) if self._offset else blob):
                yield chunk
        elif isinstance(self._input, Buffer):
            for start in range(self._offset, len(self._input), self._size):
                yield bytes(self._input[start : start + self._size])
        else:
            with Path(self._input).open("rb") as file:
                file.seek(self._offset)
                while chunk := file.read(self._size):
                    yield chunk


class URLDataSource(DataSource):
    """The bytes of a file on a server, as they arrive.

    Args:
        url: the address, in a page also one relative to it.
        request_init: options of the request, as of ``fetch``; outside of pages the method and the
            headers count.
        timeout: the number of seconds that the server may take for its next bytes; None is no
            limit.

    Raises:
        OSError: the server cannot be reached, breaks off, or has no such file; raised in an
            iteration.

    Example:
        >>> import webtensor as wt
        >>> wt.data.URLDataSource("https://example.org/table.csv").label
        'https://example.org/table.csv'
    """

    is_async = True

    def __init__(
        self,
        url: str,
        request_init: Mapping[str, Any] | None = None,
        timeout: float | None = 60.0,
    ) -> None:
        if not isinstance(url, str):
            raise TypeError(f"URLDataSource: url must be text, but got {url!r}")
        self.label, self._request_init, self._timeout = url, dict(request_init or {}), timeout

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Give the bytes.

        Raises:
            OSError: the server cannot be reached, breaks off, or has no such file.
        """
        if IN_BROWSER:
            from webtensor.io.fetching import url_chunks
        else:
            from webtensor.io.threaded_requests import url_chunks
        async for chunk in url_chunks(self.label, self._request_init, self._timeout):
            yield chunk


#: What text is read from.
TextSource = str | PathLike[str] | bytes | DataSource | Any


def as_source(source: TextSource) -> DataSource:
    """Return a source; text is an address if it has a scheme, or else a path.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(source, DataSource):
        return source
    if isinstance(source, str) and "://" in source and not source.startswith("file://"):
        return URLDataSource(source)
    return FileDataSource(source)
