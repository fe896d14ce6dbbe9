"""Files of a page's visitor: those that were dropped or picked, and downloads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from webtensor.environment import IN_BROWSER
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.model_artifacts import ModelArtifacts, get_model_artifacts_info_for_json
from webtensor.formats.model_json import model_files
from webtensor.io.folders import name_of_json
from webtensor.io.handlers import IOHandler, ProgressFunction, SaveResult
from webtensor.io.progress import Progress
from webtensor.io.shard_buffers import ModelReader
from webtensor.transfer import javascript_bytes, javascript_text, python_buffer

__all__ = ["DOWNLOADS", "browser_downloads", "browser_files"]

DOWNLOADS = "downloads://"


class _VisitorFilesHandler(IOHandler):
    def __init__(
        self,
        files: Sequence[Any],
        on_progress: ProgressFunction | None,
        integrity: str | Mapping[str, str] | None,
    ) -> None:
        self._files = {str(file.name): file for file in files}
        if len(self._files) != len(files):
            names = sorted(str(file.name) for file in files)
            raise ValueError(f"browser_files: two of the files have the same name: {names}")
        self.label = name_of_json(list(self._files))
        self._on_progress, self._integrity = on_progress, integrity

    async def load_async(self) -> ModelArtifacts:
        data = bytes(await _contents(self._files[self.label]))
        with reading(self.label):
            reader = ModelReader(data, self.label, self._integrity)
            files = [self._file(shard.path) for shard in reader.shards]
            progress = Progress(self._on_progress, sum(file.size for file in files))
            for shard, file in zip(reader.shards, files, strict=True):
                shard.rest.append(await _contents(file))
                progress.add(shard.size)
            progress.end()
            return reader.artifacts()

    def _file(self, path: str) -> Any:
        """Return a file of weights; the browser knows only its name, not its folder."""
        file = self._files.get(path.rpartition("/")[2])
        if file is None:
            raise ModelFormatError(f"{self.label} names the file {path!r}, which is missing")
        return file


async def _contents(file: Any) -> memoryview:
    from pyodide.ffi import JsException

    try:
        return python_buffer(await file.arrayBuffer())
    except JsException as error:
        raise OSError(f"{file.name}: the file cannot be read ({error})") from None


class _DownloadsHandler(IOHandler):
    def __init__(self, prefix: str) -> None:
        self.label = f"{DOWNLOADS}{prefix}"
        self._prefix = prefix

    async def save_async(self, artifacts: ModelArtifacts) -> SaveResult:
        files = model_files(
            artifacts,
            json_name=f"{self._prefix}.json",
            weights_name=f"{self._prefix}.weights.bin",
        )
        # The file that refers to the other comes first, as in TensorFlow.js.
        for name, data in sorted(files):
            _download(name, data)
            # Firefox keeps only the last of several downloads that begin at the same time.
            await asyncio.sleep(0)
        return SaveResult(get_model_artifacts_info_for_json(artifacts))


def _download(name: str, data: Buffer) -> None:
    """Have the browser save bytes as a file."""
    import js

    if not hasattr(js, "document"):
        raise OSError(f"{DOWNLOADS}{name}: workers cannot download files")
    is_json = name.endswith(".json")
    kind = "application/json" if is_json else "application/octet-stream"
    blob = js.Blob.new(js.Array.of(javascript_bytes(data)), type=kind)
    url = js.URL.createObjectURL(blob)
    link = js.document.createElement("a")
    link.href, link.download = url, javascript_text(name)
    link.click()
    js.setTimeout(js.URL.revokeObjectURL.bind(js.URL, url), _MILLISECONDS_TO_DOWNLOAD)


#: The browser must have begun to read a file before its address is revoked.
_MILLISECONDS_TO_DOWNLOAD = 60_000


def browser_files(
    files: Iterable[Any],
    *,
    on_progress: ProgressFunction | None = None,
    integrity: str | Mapping[str, str] | None = None,
) -> IOHandler:
    """Return a handler that loads a model from files that a visitor dropped or picked in the page.

    Args:
        files: the ``File`` objects of ``model.json`` and of the files that it names, in any order;
            others are ignored. It may be the ``files`` of an input or of a drop.
        on_progress: called with the fraction of the bytes that were read, from 0 to 1.
        integrity: as of ``http``.

    Raises:
        ValueError: this is no page, there is not exactly one JSON file, or two files have the same
            name.

    Example:
        In a page::

            picked = js.document.getElementById("model").files
            model = await keras.saving.load_layers_model_async(wt.io.browser_files(picked))
    """
    if not IN_BROWSER:
        raise ValueError("browser_files: this is no page; use file_system or from_files")
    return _VisitorFilesHandler(list(files), on_progress, integrity)


def browser_downloads(file_name_prefix: str = "model") -> IOHandler:
    """Return a handler that saves a model as two downloads, a JSON file and one of weights.

    Args:
        file_name_prefix: what the names of both files begin with: "model" stands for
            ``model.json`` and ``model.weights.bin``.

    Raises:
        ValueError: this is no page.

    Example:
        In a page::

            await keras.saving.save_layers_model_async(model, wt.io.browser_downloads("digits"))
    """
    if not IN_BROWSER:
        raise ValueError("browser_downloads: this is no page; use file_system")
    return _DownloadsHandler(file_name_prefix.removeprefix(DOWNLOADS) or "model")
