"""Operations that graph models do not have, converted, against what NumPy computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import webtensor as wt
from tests_py.convert.node import NodeProcess
from tests_py.graph.cases import CASES as OPERATION_CASES, Case
from webtensor import io, keras
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


def updated(x: Array, update: Array, start: Array) -> Array:
    """Return an array with another one in the place of a part, which is moved to fit."""
    begins = np.clip(start, 0, np.subtract(x.shape, update.shape))
    ends = begins + update.shape
    result = x.copy()
    result[tuple(map(slice, begins, ends))] = update
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
    **{
        f"XlaDynamicUpdateSlice at {start}": (
            "XlaDynamicUpdateSlice",
            updated,
            [ROWS, -ROWS[1:3, :1], np.array(start, "int32")],
        )
        for start in ([1, 1], [3, -1])
    },
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


#: Operations that TensorFlow.js lacks or computes differently, of which the table has graphs.
DIFFERENT = (
    "BatchMatMulV3",
    "Cumprod",
    "Cumsum",
    "FloorDiv",
    "MatrixBandPart",
    "OneHot",
    "ShapeN",
    "StridedSlice",
)


@pytest.fixture(scope="module")
def node() -> Iterator[NodeProcess]:
    """TensorFlow.js."""
    with NodeProcess() as process:
        yield process


@pytest.mark.parametrize(
    "case", [case for case in OPERATION_CASES if case.op in DIFFERENT], ids=lambda case: case.name
)
def test_what_tensorflow_js_computes_differently(
    case: Case, tmp_path: Path, node: NodeProcess
) -> None:
    fed = case.inputs if case.op in ("FloorDiv", "ShapeN") else case.inputs[:1]
    topology = case.topology(range(len(fed), len(case.inputs)))
    outputs = {f"output{index}": {"name": name} for index, name in enumerate(case.fetches)}
    artifacts = io.ModelArtifacts(topology, "graph-model", signature={"outputs": outputs})
    io.save_artifacts(artifacts, str(tmp_path / "before"))
    convert_model(tmp_path / "before", tmp_path / "after")
    results = node.run(tmp_path / "after", dict(zip(case.feeds, fed, strict=False)))
    for result, expected in zip(results, case.expectation() or [], strict=True):
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "case",
    [case for case in OPERATION_CASES if case.op == "BatchNormWithGlobalNormalization"],
    ids=lambda case: case.name,
)
def test_normalization_of_older_models(case: Case, tmp_path: Path, node: NodeProcess) -> None:
    artifacts = io.ModelArtifacts(case.topology(range(1, 5)), "graph-model")
    io.save_artifacts(artifacts, str(tmp_path / "before"))
    assert convert_model(tmp_path / "before", tmp_path / "after").counts.lacking == ()
    (result,) = node.run(tmp_path / "after", dict(zip(case.feeds, case.inputs[:1], strict=False)))
    (expected,) = case.expectation() or []
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_groups_of_channels_of_layers(tmp_path: Path, node: NodeProcess) -> None:
    layers = [keras.layers.Conv2D(6, 3, padding="same", groups=2), keras.layers.ReLU()]
    one_each = keras.layers.Conv2D(12, 2, groups=6, activation="relu")
    model = keras.Sequential([keras.Input((None, 5, 4), name="x"), *layers, one_each])
    model.save(tmp_path / "model.keras")
    convert_model(tmp_path / "model.keras", tmp_path / "web", output_format="tfjs_graph_model")
    image = np.random.default_rng(1).random((2, 7, 5, 4), np.float32)
    (result,) = node.run(tmp_path / "web", {"x": image})
    np.testing.assert_allclose(result, model(image).numpy(), rtol=1e-4, atol=1e-6)
