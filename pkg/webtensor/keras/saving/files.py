"""Files and archives: written beside and then renamed, and read only as far as can be believed."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

__all__ = [
    "Archive",
    "Folder",
    "as_json",
    "check_configuration",
    "label_of",
    "malformed",
    "read_bytes",
    "write_file",
    "write_folder",
    "write_members",
]

#: Archives have at most this many members.
_MOST_MEMBERS = 10_000
#: What is read of an archive may be this much larger than the archive, or this large at any rate.
_MOST_EXPANSION = 100
_ALWAYS_ALLOWED = 1 << 24
_LARGEST_JSON = 1 << 28

#: What goes wrong when a configuration makes no sense, wherever that is noticed.
_CONFUSED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
)


def label_of(file: Any) -> str:
    """What errors call a file."""
    if isinstance(file, (str, os.PathLike)):
        return os.fspath(file) if isinstance(os.fspath(file), str) else repr(file)
    return str(getattr(file, "name", None) or f"a {type(file).__name__}")


@contextmanager
def malformed(where: str) -> Iterator[None]:
    """Turn whatever a part of a file leads to into a ``ValueError`` that names it."""
    try:
        yield
    except _CONFUSED as error:
        if isinstance(error, ValueError) and str(error).startswith(where):
            raise
        raise ValueError(f"{where}: {error or type(error).__name__}") from error


def read_bytes(file: Any) -> bytes:
    """Return the contents of a path, a file object or bytes.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(file, (bytes, bytearray, memoryview)):
        return bytes(file)
    if isinstance(file, (str, os.PathLike)):
        return Path(file).read_bytes()
    if hasattr(file, "read"):
        content = file.read()
        if isinstance(content, bytes):
            return content
    raise TypeError(f"a path, bytes or a file opened for reading bytes is wanted, but got {file!r}")


def write_file(file: Any, write: Callable[[IO[bytes]], None], *, overwrite: bool = True) -> None:
    """Let ``write`` fill a path or a file object; a path is there only when all went well.

    Raises:
        FileExistsError: there is a file, which is not to be overwritten.
    """
    if hasattr(file, "write"):
        write(file)
        return
    path = Path(file)
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists already; pass overwrite=True to replace it")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as opened:
            write(opened)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def as_json(data: bytes, where: str) -> Any:
    """Return what JSON says.

    Raises:
        ValueError: it is none, or too large.
    """
    import json

    if len(data) > _LARGEST_JSON:
        raise ValueError(f"{where} is too large to be a configuration: {len(data)} bytes")
    with malformed(where):
        return json.loads(data)


def check_configuration(config: Any) -> None:
    """Refuse a configuration that would have a layer read a file of this computer.

    Lookup layers take the name of a file for their vocabulary; in a file from elsewhere it would be
    a way to any file here.

    Raises:
        ValueError: there is such a name.
    """
    waiting = [config]
    while waiting:
        held = waiting.pop()
        if isinstance(held, dict):
            name = held.get("vocabulary")
            if isinstance(name, str):
                raise ValueError(
                    f"vocabulary is the name of a file, {name!r}, which is not read; save the "
                    "model with the tokens themselves"
                )
            waiting += held.values()
        elif isinstance(held, list):
            waiting += held


class Archive:
    """A zip file from anywhere: names and sizes are checked before anything is read.

    Raises:
        ValueError: it is no zip file, is broken, has names that lead out of it, or would become
            far larger than it is.
    """

    def __init__(self, file: Any, label: str) -> None:
        self.label = label
        try:
            self._zip = zipfile.ZipFile(file)
            end = self._zip.fp
            assert end is not None
            end.seek(0, os.SEEK_END)
            size = end.tell()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise ValueError(f"{label} is no zip archive, or is broken: {error}") from error
        self._check(size)

    def _check(self, size: int) -> None:
        members = self._zip.infolist()
        if len(members) > _MOST_MEMBERS:
            raise ValueError(f"{self.label} has {len(members)} members, which are too many")
        names = {one.filename for one in members}
        if len(names) != len(members):
            raise ValueError(f"{self.label} has two members with the same name")
        for one in members:
            parts = one.filename.split("/")
            if ".." in parts or parts[0] == "" or set("\\:\0") & set(one.orig_filename):
                raise ValueError(
                    f"{self.label} has a member whose name leads out of it: {one.filename!r}"
                )
            if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{self.label}: {one.filename!r} is compressed in an unusual way")
            self._check_size(repr(one.filename), one.file_size, one.compress_size)
        self._check_size("all members", sum(one.file_size for one in members), size)
        self.names = names

    def _check_size(self, what: str, size: int, stored: int) -> None:
        if size > max(_ALWAYS_ALLOWED, _MOST_EXPANSION * stored):
            raise ValueError(
                f"{self.label}: {what} would become {size} bytes, but only {stored} are stored: "
                "that is not read"
            )

    def read(self, name: str) -> bytes:
        """Return a member's bytes.

        Raises:
            ValueError: it is missing or broken.
        """
        if name not in self.names:
            raise ValueError(f"{self.label} has no {name!r}")
        try:
            return self._zip.read(name)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError) as error:
            raise ValueError(f"{self.label}: {name!r} is broken: {error}") from error

    def close(self) -> None:
        """Let the file go."""
        self._zip.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Folder:
    """A model's parts as files in a folder, where an archive has members."""

    def __init__(self, path: Any) -> None:
        self.label = label_of(path)
        self._path = Path(path)
        files = (one for one in self._path.rglob("*") if one.is_file() and not one.is_symlink())
        self.names = {one.relative_to(self._path).as_posix() for one in files}

    def read(self, name: str) -> bytes:
        """Return a file's bytes.

        Raises:
            ValueError: it is missing.
        """
        if name not in self.names:
            raise ValueError(f"{self.label} has no {name!r}")
        return (self._path / name).read_bytes()


def write_folder(path: Any, members: Iterable[tuple[str, Iterable[Any]]]) -> None:
    """Write files into a folder, each made of pieces of bytes."""
    for name, held in members:
        file = Path(path, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, lambda opened, held=held: opened.writelines(held))  # type: ignore[misc]


def write_members(file: IO[bytes], members: Iterable[tuple[str, Iterable[Any]]]) -> None:
    """Write a zip archive whose members are stored as they are, from pieces of bytes."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, pieces in members:
            with archive.open(name, "w", force_zip64=True) as opened:
                for piece in pieces:
                    opened.write(piece)
