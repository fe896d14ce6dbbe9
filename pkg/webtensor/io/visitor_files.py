"""Files of a page's visitor: those that were dropped or picked, and downloads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from webtensor.environment import IN_BROWSER
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.files import MAX_MEMBERS
from webtensor.formats.model_artifacts import ModelArtifacts, get_model_artifacts_info_for_json
from webtensor.formats.model_json import model_files
from webtensor.io.folders import name_of_json
from webtensor.io.handlers import IOHandler, ProgressFunction, SaveResult
from webtensor.io.progress import Progress
from webtensor.io.shard_buffers import ModelReader
from webtensor.javascript import function_of
from webtensor.transfer import javascript_bytes, javascript_text, python_buffer

__all__ = ["DOWNLOADS", "browser_downloads", "browser_files"]

DOWNLOADS = "downloads://"


class _VisitorFilesHandler(IOHandler):
    label = "the visitor's files"

    def __init__(
        self,
        entries: Sequence[Any],
        on_progress: ProgressFunction | None,
        integrity: str | Mapping[str, str] | None,
    ) -> None:
        self._entries = entries
        self._on_progress, self._integrity = on_progress, integrity

    async def load_async(self) -> ModelArtifacts:
        files = await self._files()
        label = name_of_json([*files])
        data = await _contents(_only(files[label], label))
        with reading(label):
            reader = ModelReader(data.tobytes(), label, self._integrity)
            # The browser knows the names of files, but not always their folders.
            names = [shard.path.rpartition("/")[2] for shard in reader.shards]
            if len({*names}) < len(names):
                raise ModelFormatError(f"{label} names several files of one name, {sorted(names)}")
            selected_files = [_only(files.get(name, ()), name, label) for name in names]
            reader.reserve([file.size for file in selected_files])
            progress = Progress(self._on_progress, sum(file.size for file in selected_files))
            for shard, file in zip(reader.shards, selected_files, strict=True):
                await _settled(_functions().read(file, shard.address), shard.path)
                shard.filled = file.size
                progress.add(shard.filled)
            progress.end()
            return reader.artifacts()

    async def _files(self) -> dict[str, list[Any]]:
        """Return the files by their names."""
        import js

        listing = _functions().listed(js.Array.of(*self._entries), MAX_MEMBERS)
        listed = await _settled(listing, self.label)
        if listed.length > MAX_MEMBERS:
            raise ModelFormatError(f"{self.label}: there are more than {MAX_MEMBERS} files")
        files: dict[str, list[Any]] = {}
        for file in listed:
            files.setdefault(str(file.name), []).append(file)
        return files


@cache
def _functions() -> Any:
    import pyodide_js

    return function_of("io/visitor_files.js")(pyodide_js._module)


def _only(files: Sequence[Any], name: str, label: str = "") -> Any:
    """Return the only file of a name."""
    if not files:
        raise ModelFormatError(f"{label} names the file {name!r}, which is missing")
    if len(files) > 1:
        raise ValueError(f"browser_files: {len(files)} of the files have the name {name!r}")
    return files[0]


async def _contents(file: Any) -> memoryview:
    return python_buffer(await _settled(file.arrayBuffer(), file.name))


async def _settled(reading: Awaitable[Any], name: str) -> Any:
    """Wait for the browser to read files.

    Raises:
        OSError: a file was changed or removed meanwhile, or must not be read.
    """
    from pyodide.ffi import JsException

    try:
        return await reading
    except JsException as error:
        raise OSError(f"{name}: the file cannot be read ({error})") from None


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
            others are ignored. It may be the ``files`` of an input, or the ``items`` of a drop,
            which may be a folder; call this while the drop is handled.
        on_progress: called with the fraction of the bytes that were read, from 0 to 1.
        integrity: as of ``http``.

    Loading raises ``ValueError`` where there is no ``model.json`` and not exactly one other JSON
    file, or where several files have a name that is needed.

    Raises:
        ValueError: this is no page.

    Example:
        In a page::

            picked = js.document.getElementById("model").files
            model = await keras.saving.load_layers_model_async(wt.io.browser_files(picked))
    """
    if not IN_BROWSER:
        raise ValueError("browser_files: this is no page; use file_system or from_files")
    entries = list(files)
    if entries and hasattr(entries[0], "webkitGetAsEntry"):
        entries = list(_functions().dropped(files))
    return _VisitorFilesHandler(entries, on_progress, integrity)


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
