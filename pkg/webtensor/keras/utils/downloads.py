"""Files from the web: fetched once, checked, kept, and unpacked where that is wanted."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
import zipfile
from importlib import import_module
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit
from warnings import warn

from webtensor.engine.jspi import can_suspend, suspended
from webtensor.environment import IN_BROWSER
from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import Budget, reading
from webtensor.keras.saving.files import count_members, write_file
from webtensor.keras.utils.logging import say

__all__ = ["get_file"]

_FORMATS = ("tar", "zip")
#: How compressed files begin, and the modules that read them.
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "lzma"}
#: Python objects for each member of a zip archive.
_ITEMS_PER_MEMBER = 8


def get_file(
    fname: Any = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: Any = None,
    force_download: bool = False,
) -> str:
    """Return the path of a file of the web, which is fetched where it is not kept yet.

    Files are kept in the folder ``cache_subdir`` of ``cache_dir``, or of ``$KERAS_HOME`` or
    ``~/.keras``. ``file_hash`` is the SHA-256 (or MD5) sum that the file must have. An archive, tar
    or zip, is unpacked with ``extract``, and the path is then that of the folder. In a page, files
    are fetched where the browser can suspend Python (JSPI), and only from servers that let a page.

    Raises:
        OSError: the file cannot be fetched.
        RuntimeError: the browser cannot suspend Python.
        ModelFormatError: an archive is broken, has members that lead out of it, or would become far
            larger than it is.
        ValueError: an argument makes no sense, or the file has another sum.
    """
    if origin is None:
        raise ValueError("get_file: origin, the address of the file, must be given")
    name = os.fspath(fname) if fname else Path(urlsplit(origin).path).name
    if not name or Path(name).name != name:
        raise ValueError(
            f"get_file: fname must be the name of a file, without folders, but got {name!r}; "
            "cache_dir and cache_subdir say where it is kept"
        )
    folder = _folder(cache_dir, cache_subdir)
    wanted = file_hash or md5_hash
    algorithm = "md5" if md5_hash and not file_hash else hash_algorithm
    unpacks = extract or untar
    path = folder / name
    unpacked = folder / name
    if unpacks and fname and "." in name:
        unpacked = folder / f"{name[: name.find('.')]}_extracted"
    elif unpacks:
        path = folder / f"{name}_archive"
    if force_download or not path.exists() or not _matches(path, wanted, algorithm):
        say(f"Downloading data from {origin}")
        write_file(path, lambda file: _fetch(origin, file))
        if not _matches(path, wanted, algorithm):
            path.unlink()
            raise ValueError(
                f"get_file: {origin} is not the file that was expected: its sum is not {wanted!r}"
            )
    if not unpacks:
        return str(path)
    if not _unpack(path, unpacked, "tar" if untar else archive_format):
        warn(f"get_file: {path} is no archive of the format {archive_format!r}", stacklevel=2)
    return str(unpacked)


def _folder(cache_dir: Any, cache_subdir: str) -> Path:
    base = Path(cache_dir or os.environ.get("KERAS_HOME") or Path("~", ".keras").expanduser())
    if not base.exists():
        try:
            base.mkdir(parents=True)
        except OSError:
            base = Path(tempfile.gettempdir(), ".keras")
    folder = base / cache_subdir
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _matches(path: Path, wanted: str | None, algorithm: str) -> bool:
    if wanted is None:
        return True
    is_long = algorithm == "sha256" or (algorithm == "auto" and len(wanted) == 64)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256" if is_long else "md5")
    return found.hexdigest() == wanted.lower()


def _fetch(origin: str, file: IO[bytes]) -> None:
    if IN_BROWSER:
        file.write(_fetched_in_page(origin))
        return
    from urllib.request import urlopen

    with urlopen(origin) as response:
        shutil.copyfileobj(response, file)


def _fetched_in_page(origin: str) -> bytes:
    from webtensor.keras.saving.layers_model.web import fetch_bytes

    if not can_suspend():
        raise RuntimeError(
            "get_file: this browser cannot wait for a file here; fetch it by await "
            "pyodide.http.pyfetch(…) and write it to the folder where it is to be kept"
        )
    return suspended(fetch_bytes(origin))


def _unpack(path: Path, folder: Path, archive_format: Any) -> bool:
    """Unpack an archive; returns whether it is one."""
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
    """A stream whose bytes are spent from a budget as they are read."""

    def __init__(self, stream: Any, budget: Budget) -> None:
        self._stream, self._budget = stream, budget

    def read(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        self._budget.spend(len(data))
        return data


def _decompressed(file: IO[bytes]) -> Any:
    """A stream of what a file holds, compressed or not."""
    begin = file.read(6)
    file.seek(0)
    for signature, module in _COMPRESSIONS.items():
        if begin.startswith(signature):
            return import_module(module).open(file)
    return file


def _unpack_tar(path: Path, folder: Path) -> bool:
    """Unpack a tar archive, member by member; returns whether it is one."""
    budget = Budget(str(path), path.stat().st_size)
    with path.open("rb") as file, reading(f"get_file: {path}"):
        try:
            stream: Any = _Limited(_decompressed(file), budget)
            archive = tarfile.open(fileobj=stream, mode="r|")  # noqa: SIM115
        except tarfile.ReadError:
            return False
        with archive:
            for member in archive:
                budget.spend_items(1)
                # Sparse files are larger than what is read of them.
                budget.spend(member.size, f"get_file: {path}: {member.name!r}")
                try:
                    archive.extract(member, folder, filter="data")
                except tarfile.FilterError as error:
                    raise ModelFormatError(
                        f"get_file: {path} has a member that leads out of it: {member.name!r}"
                    ) from error
    return True


def _unpack_zip(path: Path, folder: Path) -> bool:
    """Unpack a zip archive; returns whether it is one."""
    budget = Budget(str(path), path.stat().st_size)
    with path.open("rb") as file, reading(f"get_file: {path}"):
        if not zipfile.is_zipfile(file):
            return False
        budget.spend_items(_ITEMS_PER_MEMBER * count_members(file))
        with zipfile.ZipFile(file) as archive:
            budget.spend(sum(member.file_size for member in archive.infolist()))
            for name in archive.namelist():
                if not (folder / name).resolve().is_relative_to(folder.resolve()):
                    raise ModelFormatError(
                        f"get_file: {path} has a member that leads out of it: {name!r}"
                    )
            archive.extractall(folder)
    return True
