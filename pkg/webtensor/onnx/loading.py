"""Loading ONNX models from bytes, files and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from webtensor.formats.element_types import Buffer
from webtensor.formats.onnx import read_onnx
from webtensor.io.handlers import without_awaiting
from webtensor.io.single_files import Source, fetched, read_local, resolved
from webtensor.io.web_models import address_beside, fetch_files
from webtensor.onnx.model import OnnxModel

__all__ = ["load_onnx", "load_onnx_async"]

_NAME = "model.onnx"


def load_onnx(source: Source, files: Mapping[str, Buffer] | None = None) -> OnnxModel:
    """Load an ONNX model.

    Args:
        source: the path of a file, its address, or its bytes. In a page, addresses need a browser
            that can suspend Python (JSPI); ``load_onnx_async`` does not.
        files: the contents of the files that have the model's external tensors, by their paths in
            the model; None reads them beside the file.

    Raises:
        ModelFormatError: it is no ONNX model, or it has operators that are unknown.
        OSError: a file cannot be read or fetched.

    Example:
        >>> import webtensor as wt
        >>> from webtensor.formats.onnx_messages import SCHEMA
        >>> node = {"op_type": "Relu", "input": ["x"], "output": ["y"]}
        >>> graph = {"node": [node], "input": [{"name": "x"}], "output": [{"name": "y"}]}
        >>> values = {"ir_version": 8, "opset_import": [{"version": 17}], "graph": graph}
        >>> model = wt.load_onnx(SCHEMA.encode("ModelProto", values))
        >>> model.predict({"x": wt.tensor([-1.0, 2.0])}).tolist()
        [0.0, 2.0]
    """
    source = resolved(source)
    if isinstance(source, str):
        loading = partial(_fetched, source, files)
        return without_awaiting(loading, "load_onnx", "load_onnx_async")
    data, name = read_local(source, _NAME)
    model = read_onnx(data, name)
    if files is None and isinstance(source, Path):
        folder = source.parent
        files = {path: (folder / path).read_bytes() for path in model.external_files}
    return OnnxModel(model, name, files)


async def load_onnx_async(source: Source, files: Mapping[str, Buffer] | None = None) -> OnnxModel:
    """Load an ONNX model as ``load_onnx`` does, without blocking the page.

    Args:
        source: as of ``load_onnx``; in a page, the address may be relative to it.
        files: as of ``load_onnx``.

    Raises:
        ModelFormatError: as of ``load_onnx``.
        OSError: as of ``load_onnx``.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> from webtensor.formats.onnx_messages import SCHEMA
        >>> graph = {"input": [{"name": "x"}], "output": [{"name": "x"}]}
        >>> data = SCHEMA.encode("ModelProto", {"ir_version": 8, "graph": graph})
        >>> asyncio.run(wt.load_onnx_async(data)).output_names
        ['x']
    """
    source = resolved(source)
    if isinstance(source, str):
        return await _fetched(source, files)
    return load_onnx(source, files)


async def _fetched(address: str, files: Mapping[str, Buffer] | None) -> OnnxModel:
    data, name = await fetched(address, _NAME)
    model = read_onnx(data, name)
    if files is None:
        paths = model.external_files
        contents = await fetch_files([address_beside(address, path) for path in paths])
        files = dict(zip(paths, contents, strict=True))
    return OnnxModel(model, name, files)
