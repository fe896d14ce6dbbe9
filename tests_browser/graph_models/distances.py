"""How far results of a graph model are from those of TensorFlow in float64."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from web.build import ROOT

__all__ = ["distance", "reference"]


def reference(
    python: Path, model_json: Path, inputs: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> list[np.ndarray]:
    """Compute the outputs of a model in float64.

    Args:
        python: the Python that has TensorFlow.
        model_json: the path of ``model.json``.
        inputs: the name, the shape, the dtype and the elements of each input.
        names: the names of the outputs.
    """
    arrays: dict[str, Any] = {
        row["name"]: np.array(row["data"], row["dtype"]).reshape(row["shape"]) for row in inputs
    }
    module = "tests_browser.graph_models.float64_reference"
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'pkg'}{os.pathsep}{ROOT}",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    with TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("inputs.npz", "results.npz")]
        np.savez(files[0], **arrays)
        command = [*map(str, [python, "-m", module, model_json, *files, *names])]
        process = subprocess.run(
            command, check=False, env=environment, cwd=ROOT, capture_output=True, text=True
        )
        if process.returncode:
            raise RuntimeError(process.stderr[-2000:])
        with np.load(files[1]) as results:
            return [results[name] for name in names]


def distance(results: Sequence[Mapping[str, Any]], expected: Sequence[np.ndarray]) -> float:
    """Return the largest difference of outputs, in parts of the largest magnitude of each."""
    return max(_distance(*pair) for pair in zip(results, expected, strict=True))


def _distance(result: Mapping[str, Any], expected: np.ndarray) -> float:
    if tuple(result["shape"]) != expected.shape:
        return float("inf")
    values = np.array(result["data"], np.float64).reshape(expected.shape)
    apart = float(np.max(np.abs(values - expected), initial=0))
    return apart / float(np.max(np.abs(expected))) if apart else 0.0
