"""Files, folders and archives: writing them completely or not at all, and reading untrusted ones.

A file is written under another name and then renamed. What a file claims about names and sizes is
checked before it is believed.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Self, TypeAlias

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, Readable, reading
from webtensor.formats.element_types import Buffer

__all__ = [
    "MAX_MEMBERS",
    "Archive",
    "Folder",
    "PathLike",
    "Source",
    "Target",
    "count_members",
    "label_of",
    "path_beside",
    "read_beside",
    "read_bytes",
    "write_file",
    "write_files",
    "write_folder",
    "write_members",
]

PathLike: TypeAlias = str | os.PathLike[str]
#: What files are read from, and written to.
Source: TypeAlias = PathLike | Buffer | Readable
Target: TypeAlias = PathLike | IO[bytes]

#: The largest number of members of an archive.
MAX_MEMBERS = 10_000
_DIRECTORY_ENTRY = b"PK\1\2"
_CHUNK = 1 << 20


def label_of(file: object) -> str:
    """Return what errors call a file."""
    if isinstance(file, (str, os.PathLike)):
        return os.fspath(file) if isinstance(os.fspath(file), str) else repr(file)
    return str(getattr(file, "name", None) or f"a {type(file).__name__}")


def read_bytes(file: Source) -> bytes:
    """Return the contents of a path, a file object or bytes.

    Raises:
        TypeError: ``file`` is none of these.
    """
    if isinstance(file, Buffer):
        return bytes(file)
    if isinstance(file, (str, os.PathLike)):
        return Path(file).read_bytes()
    if hasattr(file, "read"):
        content = file.read()
        if isinstance(content, bytes):
            return content
    raise TypeError(f"expected a path, bytes or a file opened for reading bytes, but got {file!r}")


def write_file(file: Target, write: Callable[[IO[bytes]], None], *, overwrite: bool = True) -> None:
    """Call ``write`` with a file object; a file appears at a path only when it is complete.

    Raises:
        FileExistsError: the file exists, and ``overwrite`` is False.
    """
    if not isinstance(file, (str, os.PathLike)):
        write(file)
        return
    path = Path(file)
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists already; pass overwrite=True to replace it")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as opened:
            write(opened)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


class Archive:
    """An untrusted zip file, whose names and sizes are checked before anything is read.

    Args:
        file: a binary file object.
        label: what errors call the file.
        budget: limits what reading it may cost; None is that of a file of its size.

    Raises:
        ModelFormatError: it is no zip file, is broken, has names that lead out of it, or would
            become far larger than it is.
    """

    def __init__(self, file: IO[bytes], label: str, budget: Budget | None = None) -> None:
        self.label = label
        self.budget = budget or Budget(label, file.seek(0, os.SEEK_END))
        with reading(f"{label} is no zip archive, or is broken"):
            count = count_members(file)
            if count > MAX_MEMBERS:
                raise ModelFormatError(
                    f"{label} has {count} members, but at most {MAX_MEMBERS} are read"
                )
            self._zip = zipfile.ZipFile(file)
            self._check()

    def _check(self) -> None:
        members = self._zip.infolist()
        names = {member.filename for member in members}
        if len(names) != len(members):
            raise ModelFormatError(f"{self.label} has two members with the same name")
        for member in members:
            parts = member.filename.split("/")
            if ".." in parts or parts[0] == "" or set("\\:\0") & set(member.orig_filename):
                raise ModelFormatError(
                    f"{self.label} has a member whose name leads out of it: {member.filename!r}"
                )
            where = f"{self.label}: {member.filename!r}"
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ModelFormatError(f"{where} is compressed in an unusual way")
            Budget(where, member.compress_size).spend(member.file_size)
        self.budget.spend(sum(member.file_size for member in members), f"{self.label}: all members")
        self.names = names

    def read(self, name: str) -> bytes:
        """Return a member's bytes.

        Raises:
            ModelFormatError: it is missing or broken.
        """
        if name not in self.names:
            raise ModelFormatError(f"{self.label} has no {name!r}")
        with reading(f"{self.label}: {name!r} is broken"):
            return self._zip.read(name)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def count_members(file: IO[bytes]) -> int:
    """Return an upper bound for the number of members of a zip file, without reading them.

    The number at the end of the file may be wrong, so the signatures of directory entries are
    counted, of which each member needs one.
    """
    file.seek(0)
    count, tail = 0, b""
    while chunk := file.read(_CHUNK):
        chunk = tail + chunk
        count += chunk.count(_DIRECTORY_ENTRY)
        tail = chunk[1 - len(_DIRECTORY_ENTRY) :]
    file.seek(0)
    return count


class Folder:
    """A folder whose files are the members of an archive."""

    def __init__(self, path: PathLike) -> None:
        self.label = label_of(path)
        self._path = Path(path)
        files = [file for file in self._path.rglob("*") if file.is_file() and not file.is_symlink()]
        self.names = {file.relative_to(self._path).as_posix() for file in files}
        self.budget = Budget(self.label, sum(file.stat().st_size for file in files))

    def read(self, name: str) -> bytes:
        """Return a file's bytes.

        Raises:
            ModelFormatError: it is missing.
        """
        if name not in self.names:
            raise ModelFormatError(f"{self.label} has no {name!r}")
        return (self._path / name).read_bytes()


def read_beside(file: Path, name: str) -> bytes:
    """Return the bytes of a file that another one names, in the same folder or below it.

    Raises:
        ModelFormatError: it is missing, or is a link.
    """
    return path_beside(file, name).read_bytes()


def path_beside(file: Path, name: str) -> Path:
    """Return the path of a file that another one names, in the same folder or below it.

    Raises:
        ModelFormatError: it is missing, or is a link.
    """
    folder = file.parent.resolve()
    path = folder / name
    with reading(f"{file} names the file {name!r}, which cannot be read"):
        if path.resolve() != path:
            raise ModelFormatError(f"{file} names {name!r}, which is a link that leads elsewhere")
        if not path.is_file():
            raise ModelFormatError(f"{file} names the file {name!r}, which is missing")
        return path


def write_files(folder: Path, files: Iterable[tuple[str, Buffer]]) -> None:
    """Write files into a folder; they replace those of the same names when all are complete."""
    folder.mkdir(parents=True, exist_ok=True)
    parts: dict[Path, Path] = {}
    try:
        for name, data in files:
            part = folder / f".{name}.{os.getpid()}.part"
            parts[part] = folder / name
            part.write_bytes(data)
        for part, path in parts.items():
            part.replace(path)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def write_folder(path: PathLike, members: Iterable[tuple[str, Iterable[Buffer]]]) -> None:
    """Write members, which are names and pieces of bytes, as files in a folder."""
    for name, pieces in members:
        file = Path(path, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(
            file,
            lambda opened, pieces=pieces: opened.writelines(pieces),  # type: ignore[misc]
        )


def write_members(file: IO[bytes], members: Iterable[tuple[str, Iterable[Buffer]]]) -> None:
    """Write members, which are names and pieces of bytes, as a zip archive without compression."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, pieces in members:
            with archive.open(name, "w", force_zip64=True) as opened:
                for piece in pieces:
                    opened.write(piece)
