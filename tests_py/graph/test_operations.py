"""Every operation of a graph computes what NumPy does, on fed tensors and on constants."""

import re
from pathlib import Path

import numpy as np
import pytest

import webtensor as wt
from tests_py.graph.cases import CASES, Case
from tests_py.graph.graphs import Array, arrays_of, model_of, tensor_of
from webtensor.graph.compilation import unknown_operations
from webtensor.graph.nodes import Node
from webtensor.graph.operations import OPERATIONS
from webtensor.graph.tables import table_rows

OP_LISTS = (
    Path(__file__).parents[2] / "node_modules/@tensorflow/tfjs-converter/dist/operations/op_list"
)


def computed(case: Case, constants: range = range(0)) -> list[Array]:
    """The outputs of a case, some of whose inputs are constants."""
    model = model_of(case.topology(constants))
    feeds = {
        name: tensor_of(value)
        for index, (name, value) in enumerate(case.feeds.items())
        if index not in constants
    }
    return arrays_of(model.execute(feeds, case.fetches))


def assert_alike(results: list[Array], expected: list[Array], tolerance: float) -> None:
    """Check shapes, dtypes and elements."""
    assert len(results) == len(expected)
    for result, array in zip(results, expected, strict=True):
        assert (result.shape, result.dtype) == (array.shape, array.dtype)
        if result.dtype.kind in "fc":
            finite = np.abs(array[np.isfinite(array)])
            atol = tolerance * float(finite.max(initial=0.0))
            np.testing.assert_allclose(result, array, rtol=tolerance, atol=atol)
        else:
            assert result.tolist() == array.tolist()


def test_names_of_cases_are_unique():
    names = [case.name for case in CASES]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_operation(case: Case, no_leak: None):
    results = {}
    for backend in ("numpy", "wasm"):
        wt.set_backend(backend)
        fed = computed(case)
        expected = case.expectation() or results.get("numpy") or fed
        results[backend] = fed
        assert_alike(fed, expected, case.tolerance)
        assert_alike(computed(case, range(1, len(case.inputs))), expected, case.tolerance)
        assert_alike(computed(case, range(len(case.inputs))), expected, case.tolerance)


def names_in_tensorflow_js() -> set[str]:
    """The operations in the lists of TensorFlow.js's converter, save those of decision forests."""
    texts = [
        path.read_text(encoding="utf-8") for path in OP_LISTS.glob("*.js") if path.name != "tfdf.js"
    ]
    return {name for text in texts for name in re.findall(r"'tfOpName': '(\w+)'", text)}


def test_every_operation_of_tensorflow_js_is_there():
    names = names_in_tensorflow_js()
    assert len(names) == 245
    nodes = [Node(name, name, (), (), {}) for name in names]
    assert unknown_operations(nodes, (), {**OPERATIONS, **table_rows({})}) == []
