"""TensorFlow.js in a process of Node, which runs converted models."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["NodeProcess"]

SCRIPT = Path(__file__).with_name("tensorflow_js.mjs")
_DTYPES = {"float32": "float32", "int32": "int32", "bool": "bool", "int64": "int32"}


class NodeProcess:
    """A process that answers one request after another."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            ["node", "--max-old-space-size=4096", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def run(
        self, folder: Path, inputs: Mapping[str, NDArray[Any]], kind: str = "graph"
    ) -> list[NDArray[Any]]:
        """Return the outputs of a model for inputs by their names.

        Raises:
            AssertionError: TensorFlow.js raises an error.
        """
        request = {
            "folder": str(folder),
            "kind": kind,
            "inputs": {name: _encoded(array) for name, array in inputs.items()},
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return [_decoded(output) for output in answer["outputs"]]


def _encoded(array: NDArray[Any]) -> dict[str, Any]:
    elements = array.ravel().tolist()
    if array.dtype == object:
        elements = [text.decode() for text in elements]
    dtype = "string" if array.dtype == object else _DTYPES[str(array.dtype)]
    return {"dtype": dtype, "shape": list(array.shape), "elements": elements}


def _decoded(output: Mapping[str, Any]) -> NDArray[Any]:
    dtype = object if output["dtype"] == "string" else output["dtype"]
    # JSON has null for NaN and the infinities.
    elements = [_element(value) for value in output["elements"]]
    return np.array(elements, dtype).reshape(output["shape"])


def _element(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode()
    return np.nan if value is None else value
