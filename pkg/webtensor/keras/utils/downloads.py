"""Files from the web: downloaded once, checked, cached, and unpacked if they are archives."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from importlib import import_module
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import urlsplit
from urllib.request import urlopen
from warnings import warn

from webtensor.engine.jspi import can_suspend, suspended
from webtensor.environment import IN_BROWSER
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, Readable, reading
from webtensor.formats.files import count_members, write_file
from webtensor.keras.logging import say

__all__ = ["get_file", "get_file_async"]

_FORMATS = ("tar", "zip")
#: The first bytes of compressed files, and the modules that decompress them.
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "lzma"}
#: Python objects for each member of a zip archive.
_ITEMS_PER_MEMBER = 8


def get_file(
    fname: str | PathLike[str] | None = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: str | Sequence[str] | None = "auto",
    cache_dir: str | PathLike[str] | None = None,
    force_download: bool = False,
) -> str:
    """Return the path of a file from the web, which is downloaded unless it is in the cache.

    The cache is the folder ``cache_subdir`` of ``cache_dir``, by default of ``$KERAS_HOME`` or
    ``~/.keras``. ``file_hash`` is the SHA-256 or MD5 hash that the file must have. With
    ``extract``, an archive (tar or zip) is unpacked, and the path is that of its folder. A page can
    download only in browsers that can suspend Python (JSPI), and from servers that allow it (CORS).

    Raises:
        OSError: the file cannot be downloaded.
        RuntimeError: the browser cannot suspend Python.
        ModelFormatError: an archive is broken, has members outside of its folder, or would unpack
            to far more than its own size.
        ValueError: an argument is invalid, or the file has another hash.
    """
    hashes = (md5_hash, file_hash, hash_algorithm)
    entry = _entry(fname, origin, hashes, extract or untar, cache_subdir, cache_dir)
    if force_download or not entry.is_complete():
        say(f"Downloading data from {entry.origin}")
        entry.write(lambda file: _fetch(entry.origin, file))
    return entry.result("tar" if untar else archive_format)


async def get_file_async(
    fname: str | PathLike[str] | None = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: str | Sequence[str] | None = "auto",
    cache_dir: str | PathLike[str] | None = None,
    force_download: bool = False,
) -> str:
    """Return the path of a file from the web, as ``get_file`` does, in any browser.

    A function that calls ``get_file`` for the same file finds it in the cache from then on.

    Raises:
        OSError, ModelFormatError, ValueError: as of ``get_file``.

    Example:
        In a page::

            await keras.utils.get_file_async("cat.jpg", "https://example.org/cat.jpg")
    """
    hashes = (md5_hash, file_hash, hash_algorithm)
    entry = _entry(fname, origin, hashes, extract or untar, cache_subdir, cache_dir)
    if force_download or not entry.is_complete():
        say(f"Downloading data from {entry.origin}")
        data = await _fetch_async(entry.origin)
        entry.write(lambda file: shutil.copyfileobj(BytesIO(data), file))
    return entry.result("tar" if untar else archive_format)


class _Entry(NamedTuple):
    """A file in the cache: its address, its path, its hash, and the folder of its members."""

    origin: str
    path: Path
    expected_hash: str | None
    algorithm: str
    #: None for a file that is no archive.
    unpacked: Path | None

    def is_complete(self) -> bool:
        """Whether the file is there."""
        return self.path.exists() and _matches(self.path, self.expected_hash, self.algorithm)

    def write(self, fetch: Callable[[IO[bytes]], None]) -> None:
        """Write what ``fetch`` writes.

        Raises:
            ValueError: it has another hash.
        """
        write_file(self.path, fetch)
        if not _matches(self.path, self.expected_hash, self.algorithm):
            self.path.unlink()
            raise ValueError(
                f"get_file: {self.origin} is not the file that was expected: its hash is not "
                f"{self.expected_hash!r}"
            )

    def result(self, archive_format: str | Sequence[str] | None) -> str:
        """Return the path of the file, or unpack it and return the path of its folder."""
        if self.unpacked is None:
            return str(self.path)
        if not _unpack(self.path, self.unpacked, archive_format):
            warn(
                f"get_file: {self.path} is no archive of the format {archive_format!r}",
                stacklevel=3,
            )
        return str(self.unpacked)


def _entry(
    fname: str | PathLike[str] | None,
    origin: str | None,
    hashes: tuple[str | None, str | None, str],
    unpacks: bool,
    cache_subdir: str,
    cache_dir: str | PathLike[str] | None,
) -> _Entry:
    if origin is None:
        raise ValueError("get_file: origin, the address of the file, must be given")
    name = os.fspath(fname) if fname else Path(urlsplit(origin).path).name
    if not name or Path(name).name != name:
        raise ValueError(
            f"get_file: fname must be the name of a file, without folders, but got {name!r}; "
            "cache_dir and cache_subdir name the folder"
        )
    md5_hash, file_hash, hash_algorithm = hashes
    algorithm = "md5" if md5_hash and not file_hash else hash_algorithm
    folder = _folder(cache_dir, cache_subdir)
    path, unpacked = folder / name, None
    if unpacks and fname and "." in name:
        unpacked = folder / f"{name[: name.find('.')]}_extracted"
    elif unpacks:
        path, unpacked = folder / f"{name}_archive", path
    return _Entry(origin, path, file_hash or md5_hash, algorithm, unpacked)


def _folder(cache_dir: str | PathLike[str] | None, cache_subdir: str) -> Path:
    base = Path(cache_dir or os.environ.get("KERAS_HOME") or Path("~", ".keras").expanduser())
    if not base.exists():
        try:
            base.mkdir(parents=True)
        except OSError:
            base = Path(tempfile.gettempdir(), ".keras")
    folder = base / cache_subdir
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _matches(path: Path, expected_hash: str | None, algorithm: str) -> bool:
    if expected_hash is None:
        return True
    is_sha256 = algorithm == "sha256" or (algorithm == "auto" and len(expected_hash) == 64)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256" if is_sha256 else "md5")
    return digest.hexdigest() == expected_hash.lower()


def _fetch(origin: str, file: IO[bytes]) -> None:
    if IN_BROWSER:
        file.write(_fetch_in_page(origin))
        return
    with urlopen(origin) as response:
        shutil.copyfileobj(response, file)


def _fetch_in_page(origin: str) -> bytes:
    if not can_suspend():
        raise RuntimeError(
            "get_file: this browser cannot wait for a file here; call it first with "
            f"await keras.utils.get_file_async(…, {origin!r}), or write the file to the folder of "
            "the cache"
        )
    return suspended(_fetch_async(origin))


async def _fetch_async(origin: str) -> bytes:
    if IN_BROWSER:
        from webtensor.io.fetching import fetch_bytes

        return await fetch_bytes(origin)
    with urlopen(origin) as response:
        data: bytes = response.read()
    return data


def _unpack(path: Path, folder: Path, archive_format: str | Sequence[str] | None) -> bool:
    """Unpack a file, and return whether it is an archive."""
    formats = _FORMATS if archive_format == "auto" else archive_format or ()
    for format in (formats,) if isinstance(formats, str) else formats:
        if format not in _FORMATS:
            raise ValueError(
                f"get_file: archive_format must be 'auto' or one of {_FORMATS}, but got {format!r}"
            )
        try:
            if (_unpack_tar if format == "tar" else _unpack_zip)(path, folder):
                return True
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return False


class _Limited:
    """A stream that spends a budget as its bytes are read."""

    def __init__(self, stream: Readable, budget: Budget) -> None:
        self._stream, self._budget = stream, budget

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._budget.spend(len(data))
        return data


def _decompressed(file: IO[bytes]) -> Readable:
    """Return a stream of a file's bytes, which are decompressed if they are compressed."""
    begin = file.read(6)
    file.seek(0)
    for signature, module in _COMPRESSIONS.items():
        if begin.startswith(signature):
            stream: Readable = import_module(module).open(file)
            return stream
    return file


def _unpack_tar(path: Path, folder: Path) -> bool:
    """Unpack a tar archive, member by member, and return whether the file is one."""
    budget = Budget(str(path), path.stat().st_size)
    with path.open("rb") as file, reading(f"get_file: {path}"):
        try:
            stream = _Limited(_decompressed(file), budget)
            archive = tarfile.open(fileobj=stream, mode="r|")  # type: ignore[call-overload]  # noqa: SIM115
        except tarfile.ReadError:
            return False
        with archive:
            for member in archive:
                budget.spend_items(1)
                # Sparse files become larger than the bytes that are read.
                budget.spend(member.size, f"get_file: {path}: {member.name!r}")
                try:
                    archive.extract(member, folder, filter="data")
                except tarfile.FilterError as error:
                    raise _leads_out(path, member.name) from error
    return True


def _unpack_zip(path: Path, folder: Path) -> bool:
    """Unpack a zip archive, and return whether the file is one."""
    budget = Budget(str(path), path.stat().st_size)
    with path.open("rb") as file, reading(f"get_file: {path}"):
        if not zipfile.is_zipfile(file):
            return False
        budget.spend_items(_ITEMS_PER_MEMBER * count_members(file))
        with zipfile.ZipFile(file) as archive:
            budget.spend(sum(member.file_size for member in archive.infolist()))
            for name in archive.namelist():
                if not (folder / name).resolve().is_relative_to(folder.resolve()):
                    raise _leads_out(path, name)
            archive.extractall(folder)
    return True


def _leads_out(path: Path, member: str) -> ModelFormatError:
    """Return the error that a member of an archive would be unpacked outside of its folder."""
    return ModelFormatError(f"get_file: {path} has a member that leads out of it: {member!r}")
