"""Loading ONNX models from bytes, files and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from webtensor.environment import IN_BROWSER
from webtensor.formats.element_types import Buffer
from webtensor.formats.onnx import Model, read_onnx
from webtensor.onnx.model import OnnxModel

__all__ = ["load_onnx", "load_onnx_async"]

_Source: TypeAlias = "str | PathLike[str] | Buffer"
_NAME = "model.onnx"


def load_onnx(source: _Source, files: Mapping[str, Buffer] | None = None) -> OnnxModel:
    """Load an ONNX model.

    Args:
        source: the path of a file, or its bytes.
        files: the contents of the files that have the model's external tensors, by their paths in
            the model; None reads them beside the file.

    Raises:
        ModelFormatError: it is no ONNX model, or it has operators that are unknown.
        OSError: a file cannot be read.

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
    if isinstance(source, (bytes, bytearray, memoryview)):
        return OnnxModel(read_onnx(source, _NAME), _NAME, files)
    path = Path(source)
    model = read_onnx(path.read_bytes(), path.name)
    if files is None:
        files = {name: (path.parent / name).read_bytes() for name in model.external_files}
    return OnnxModel(model, path.name, files)


async def load_onnx_async(source: _Source, files: Mapping[str, Buffer] | None = None) -> OnnxModel:
    """Load an ONNX model as ``load_onnx`` does; in a page, texts are addresses.

    Raises:
        ModelFormatError: it is no ONNX model, or it has operators that are unknown.
        OSError: a file cannot be read or fetched.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> from webtensor.formats.onnx_messages import SCHEMA
        >>> graph = {"input": [{"name": "x"}], "output": [{"name": "x"}]}
        >>> data = SCHEMA.encode("ModelProto", {"ir_version": 8, "graph": graph})
        >>> asyncio.run(wt.load_onnx_async(data)).output_names
        ['x']
    """
    if isinstance(source, (bytes, bytearray, memoryview)) or not IN_BROWSER:
        return load_onnx(source, files)
    from webtensor.io.fetching import fetch_bytes
    from webtensor.io.web_models import address_beside

    address = fspath(source)
    where = address.rsplit("/", 1)[-1]
    model: Model = read_onnx(await fetch_bytes(address), where)
    if files is None:
        files = {
            name: await fetch_bytes(address_beside(address, name)) for name in model.external_files
        }
    return OnnxModel(model, where, files)
