"""Operations that graph models do not have, converted, against what NumPy computes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import webtensor as wt
from tests_py.convert.node import NodeProcess
from webtensor import io
from webtensor.convert import convert_model

Array = NDArray[Any]
KINDS = {"float32": "DT_FLOAT", "int32": "DT_INT32"}


def added(sign: int) -> Callable[..., Array]:
    """Return what adds updates to rows."""

    def compute(x: Array, indices: Array, updates: Array) -> Array:
        result = x.copy()
        np.add.at(result, indices[:, 0], sign * updates)
        return result

    return compute


def summed(x: Array, segments: Array, count: Array) -> Array:
    """Sum what is in each segment."""
    result = np.zeros((count, *x.shape[segments.ndim :]), x.dtype)
    np.add.at(result, segments, x)
    return result


ROWS = np.arange(8, dtype="float32").reshape(4, 2)
PLACES = np.array([[1], [3], [1]], "int32")
CASES: dict[str, tuple[str, Callable[..., Array], list[Array]]] = {
    "TensorScatterAdd": ("TensorScatterAdd", added(1), [ROWS, PLACES, ROWS[1:]]),
    "TensorScatterSub": ("TensorScatterSub", added(-1), [ROWS, PLACES, ROWS[1:]]),
    "UnsortedSegmentSum of matrices": (
        "UnsortedSegmentSum",
        summed,
        [ROWS.reshape(2, 2, 2), np.array([[2, 0], [2, 1]], "int32"), np.array(4, "int32")],
    ),
    "UnsortedSegmentSum of elements": (
        "UnsortedSegmentSum",
        summed,
        [ROWS, np.array([[2, 0]] * 4, "int32"), np.array(3, "int32")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rewritten_operations(name: str, tmp_path: Path) -> None:
    op, compute, values = CASES[name]
    inputs: list[dict[str, Any]] = [
        {
            "name": f"x{index}",
            "op": "Placeholder",
            "attr": {"dtype": {"type": KINDS[str(value.dtype)]}},
        }
        for index, value in enumerate(values)
    ]
    names = [node["name"] for node in inputs]
    node = {"name": "y", "op": op, "input": names, "attr": {"T": {"type": "DT_FLOAT"}}}
    artifacts = io.ModelArtifacts({"node": [*inputs, node]}, "graph-model")
    io.save_artifacts(artifacts, str(tmp_path / "before"))
    convert_model(tmp_path / "before", tmp_path / "after")
    model = wt.load_graph_model(tmp_path / "after")
    result = model.predict([wt.tensor(value) for value in values])
    assert isinstance(result, wt.Tensor)
    np.testing.assert_allclose(result.numpy(), compute(*values), rtol=1e-6)


@pytest.mark.parametrize("op, compute", [("Cumsum", np.cumsum), ("Cumprod", np.cumprod)])
def test_scans_along_axes_from_the_last(
    op: str, compute: Callable[..., Array], tmp_path: Path
) -> None:
    """TensorFlow.js gives a tensor of no elements for a negative axis."""
    encoded = io.encode_weights({"axis": wt.tensor(-2, dtype="int32")})
    nodes = [
        {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}},
        {"name": "axis", "op": "Const", "attr": {"dtype": {"type": "DT_INT32"}}},
        {"name": "y", "op": op, "input": ["x", "axis"], "attr": {"T": {"type": "DT_FLOAT"}}},
    ]
    artifacts = io.ModelArtifacts(
        {"node": nodes}, "graph-model", weight_specs=encoded.specs, weight_data=encoded.data
    )
    io.save_artifacts(artifacts, str(tmp_path / "before"))
    convert_model(tmp_path / "before", tmp_path / "after")
    expected = compute(ROWS, 0)
    result = wt.load_graph_model(tmp_path / "after").predict(wt.tensor(ROWS))
    assert isinstance(result, wt.Tensor)
    np.testing.assert_allclose(result.numpy(), expected)
    with NodeProcess() as process:
        (theirs,) = process.run(tmp_path / "after", {"x": ROWS})
    np.testing.assert_allclose(theirs, expected)
