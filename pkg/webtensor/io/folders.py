"""Models in folders of the file system, and in files that are in memory already."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from reprlib import repr as shortened

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import reading
from webtensor.formats.files import (
    PathLike,
    Source,
    label_of,
    path_beside,
    read_bytes,
    write_files,
)
from webtensor.formats.model_artifacts import ModelArtifacts, get_model_artifacts_info_for_json
from webtensor.formats.model_json import MODEL_JSON, SHARD_BYTES, model_files
from webtensor.io.handlers import IOHandler, ProgressFunction, SaveResult
from webtensor.io.progress import Progress
from webtensor.io.shard_buffers import ModelReader

__all__ = ["file_system", "files_of_model", "from_files", "name_of_json"]

_CHUNK = 1 << 20


class _FolderHandler(IOHandler):
    """A folder with ``model.json``, or that file, and the files of weights beside it."""

    def __init__(
        self,
        path: PathLike,
        on_progress: ProgressFunction | None,
        integrity: str | Mapping[str, str] | None,
        shard_bytes: int,
        checksum: str,
    ) -> None:
        self.label = label_of(path)
        self._path = Path(path)
        self._on_progress, self._integrity = on_progress, integrity
        self._shard_bytes, self._checksum = shard_bytes, checksum

    def load(self) -> ModelArtifacts:
        is_folder = self._path.is_dir()
        path = self._path / MODEL_JSON if is_folder else self._path
        label = label_of(path)
        data = (path_beside(path, MODEL_JSON) if is_folder else path).read_bytes()
        with reading(label):
            reader = ModelReader(data, label, self._integrity)
            paths = [path_beside(path, shard.path) for shard in reader.shards]
            sizes = [file.stat().st_size for file in paths]
            reader.reserve(sizes)
            progress = Progress(self._on_progress, sum(sizes))
            for shard, file in zip(reader.shards, paths, strict=True):
                with file.open("rb") as opened:
                    while count := opened.readinto(shard.region[shard.filled :][:_CHUNK]):
                        shard.filled += count
                        progress.add(count)
            progress.end()
            return reader.artifacts()

    def save(self, artifacts: ModelArtifacts) -> SaveResult:
        folder, name = self._path, MODEL_JSON
        if folder.suffix == ".json":
            folder, name = folder.parent, folder.name
        files = model_files(
            artifacts, shard_bytes=self._shard_bytes, checksum=self._checksum, json_name=name
        )
        write_files(folder, files)
        return SaveResult(get_model_artifacts_info_for_json(artifacts))


class _FilesHandler(IOHandler):
    """Files by their names: ``model.json`` and those that it names."""

    def __init__(
        self,
        files: Mapping[str, Source],
        on_progress: ProgressFunction | None,
        integrity: str | Mapping[str, str] | None,
    ) -> None:
        self._files = files
        self._json_name = name_of_json(list(files))
        self.label = f"the files' {self._json_name}"
        self._on_progress, self._integrity = on_progress, integrity

    def load(self) -> ModelArtifacts:
        data = read_bytes(self._files[self._json_name])
        with reading(self.label):
            reader = ModelReader(data, self.label, self._integrity)
            progress = Progress(self._on_progress, reader.declared_bytes, len(reader.shards))
            for shard in reader.shards:
                if shard.path not in self._files:
                    raise ModelFormatError(
                        f"{self.label} names the file {shard.path!r}, which is missing"
                    )
                shard.rest.append(read_bytes(self._files[shard.path]))
                progress.add(shard.size, ends_file=True)
            progress.end()
            return reader.artifacts()


def name_of_json(names: Sequence[str]) -> str:
    """Return ``model.json``, or the name of the only JSON file.

    Raises:
        ValueError: there is none, or there are several of other names.
    """
    if MODEL_JSON in names:
        return MODEL_JSON
    json_names = [name for name in names if str(name).endswith(".json")]
    if len(json_names) != 1:
        there = shortened([*names])
        raise ValueError(f"one of the files must be {MODEL_JSON}, but there are {there}")
    return json_names[0]


def file_system(
    path: PathLike | Sequence[PathLike],
    *,
    on_progress: ProgressFunction | None = None,
    integrity: str | Mapping[str, str] | None = None,
    shard_bytes: int = SHARD_BYTES,
    checksum: str = "crc32",
) -> IOHandler:
    """Return a handler that loads a model from a folder, and saves one there.

    In a page it is a folder of Pyodide's file system. A model is saved completely or not at all.

    Args:
        path: the folder, or the path of ``model.json`` in it; for loading also a list of the paths
            of all files.
        on_progress: called with the fraction of the bytes that were read, from 0 to 1.
        integrity: as of ``http``.
        shard_bytes: the largest size of a file of weights that is written.
        checksum: the algorithm of the checksums that are written, "crc32" or "sha256".

    Example:
        >>> import tempfile
        >>> import webtensor as wt
        >>> handler = wt.io.file_system(tempfile.mkdtemp())
        >>> result = handler.save(wt.io.ModelArtifacts({"class_name": "Sequential"}))
        >>> handler.load().model_topology
        {'class_name': 'Sequential'}
    """
    if isinstance(path, (str, os.PathLike)):
        return _FolderHandler(path, on_progress, integrity, shard_bytes, checksum)
    paths = {PurePath(file).name: os.fspath(file) for file in path}
    if len(paths) != len(path):
        raise ValueError("file_system: two of the files have the same name")
    return _FilesHandler(paths, on_progress, integrity)


def from_files(
    files: Mapping[str, Source],
    *,
    on_progress: ProgressFunction | None = None,
    integrity: str | Mapping[str, str] | None = None,
) -> IOHandler:
    """Return a handler that loads a model from files by their names.

    Args:
        files: ``model.json`` and the files that it names, as bytes, paths or file objects.
        on_progress: called with the fraction of the bytes that were read, from 0 to 1.
        integrity: as of ``http``.

    Raises:
        ValueError: there is no ``model.json``, and not exactly one other JSON file.

    Example:
        >>> import webtensor as wt
        >>> wt.io.from_files({"model.json": b'{"modelTopology": {}}'}).load().model_topology
        {}
    """
    return _FilesHandler(files, on_progress, integrity)


def files_of_model(artifacts: ModelArtifacts) -> dict[str, bytes]:
    """Return the files of a model by their names."""
    return {name: bytes(data) for name, data in model_files(artifacts)}
