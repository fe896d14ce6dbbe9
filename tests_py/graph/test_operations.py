"""Every operation of a graph computes what NumPy does, on fed tensors and on constants."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.graph.cases import CASES, Case
from tests_py.graph.graphs import (
    Array,
    arrays_of,
    constant,
    model_of,
    node,
    placeholder,
    tensor_of,
    topology,
)
from webtensor.graph.compilation import unknown_operations
from webtensor.graph.hash_tables import table_rows
from webtensor.graph.nodes import Node
from webtensor.graph.operations import ONLY_HERE, OPERATIONS

OP_LISTS = (
    Path(__file__).parents[2] / "node_modules/@tensorflow/tfjs-converter/dist/operations/op_list"
)


def computed(case: Case, constants: range = range(0)) -> list[list[Array]]:
    """The outputs of three runs of a case, some of whose inputs are constants.

    The second run is that of a block for these shapes, and the third is a replay of it.
    """
    model = model_of(case.topology(constants))
    feeds = {
        name: tensor_of(value)
        for index, (name, value) in enumerate(case.feeds.items())
        if index not in constants
    }
    return [arrays_of(model.execute(feeds, case.fetches)) for _ in range(3)]


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
    expected = case.expectation()
    count = len(case.inputs)
    for backend in ("numpy", "wasm"):
        wt.set_backend(backend)
        for constants in (range(0), range(1, count), range(count)):
            for results in computed(case, constants):
                expected = results if expected is None else expected
                assert_alike(results, expected, case.tolerance)


def factors(op: str, x: Array, outputs: int, **attributes: Any) -> list[Array]:
    """The factors of a matrix, whose signs are not defined."""
    return computed(Case(op, "", (x,), attributes, outputs, None, 0))[0]


@pytest.mark.parametrize("full", [False, True])
def test_factors_of_matrices(full: bool):
    x = np.random.default_rng(2).normal(size=(4, 3)).astype("float32")
    values, left, right = factors("Svd", x, 3, full_matrices=full)
    assert left.shape == (4, 4 if full else 3)
    np.testing.assert_allclose(left[:, :3] * values @ right.T, x, atol=1e-5)
    orthogonal, triangular = factors("Qr", x, 2, full_matrices=full)
    assert orthogonal.shape == left.shape
    np.testing.assert_allclose(orthogonal @ triangular, x, atol=1e-5)
    np.testing.assert_allclose(orthogonal.T @ orthogonal, np.eye(orthogonal.shape[1]), atol=1e-5)
    eigenvalues, vectors = factors("SelfAdjointEigV2", x.T @ x, 2)
    np.testing.assert_allclose(vectors * eigenvalues @ vectors.T, x.T @ x, atol=1e-5)


def test_diagonals_must_be_in_order():
    inputs = (np.ones((2, 3), "float32"), np.array([1, 0]), np.zeros((), "float32"))
    case = Case("MatrixDiagPartV3", "", inputs, {}, 1, None, 0)
    with pytest.raises(ValueError, match=r"k must be the lowest and .*, but is \[1, 0\]"):
        computed(case, range(1, 3))


def test_groups_of_channels_in_volumes():
    """TensorFlow.js lacks them."""
    x, filter = (
        np.random.default_rng(1).normal(size=(2, 3, 4, 4, 4)).astype("float32") for _ in "xf"
    )
    filter = filter[:, :, :3, :2]
    attributes = {"strides": [1, 1, 1, 1, 1], "padding": "SAME", "data_format": "NDHWC"}
    case = Case("Conv3D", "", (x, filter), attributes, 1, None, 1e-5)
    parts = [wt.conv3d(x[..., at], filter[..., at], 1, "same") for at in (slice(2), slice(2, 4))]
    assert_alike(computed(case)[0], [wt.concat(parts, -1).numpy()], 1e-5)


def with_another_order(case: Case) -> list[Case]:
    """The case with the elements of one of its inputs in another order, for each input."""
    return [
        case._replace(inputs=(*case.inputs[:index], value[::-1].copy(), *case.inputs[index + 1 :]))
        for index, value in enumerate(case.inputs)
        if value.ndim
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_later_runs_depend_on_what_is_fed(case: Case):
    model = model_of(case.topology())
    feeds = {name: tensor_of(value) for name, value in case.feeds.items()}
    model.execute(feeds, case.fetches)
    for other in with_another_order(case):
        try:
            expected = computed(other)[0]
        except (ValueError, IndexError):
            continue  # an input such as a shape may be impossible in another order
        fed = {name: tensor_of(value) for name, value in other.feeds.items()}
        assert_alike(arrays_of(model.execute(fed, case.fetches)), expected, 1e-6)


def test_every_operation_that_tensorflow_js_lacks_has_a_case():
    variants = {"RaggedTensorFromVariant", "RaggedTensorToVariant"}
    assert {*ONLY_HERE} - {"_Normalized", *variants} <= {case.op for case in CASES}


@pytest.mark.parametrize("is_batch", [True, False])
def test_ragged_tensors_as_values(is_batch: bool, no_leak: None):
    splits, values = [[0, 2, 2, 3], [0, 1, 1, 4]], np.arange(4, dtype="float32")
    graph = [
        *(placeholder(name, "int32") for name in "ab"),
        placeholder("values"),
        node("packed", "RaggedTensorToVariant", "a b values", batched_input=is_batch),
        node("y", "RaggedTensorFromVariant", "packed", output_ragged_rank=2),
    ]
    feeds = {name: tensor_of(np.array(x, "int32")) for name, x in zip("ab", splits, strict=True)}
    model = model_of(topology(graph))
    for _ in range(3):
        results = model.execute({**feeds, "values": tensor_of(values)}, ["y:0", "y:1", "y:2"])
        assert [x.tolist() for x in results] == [*splits, values.tolist()]


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


@pytest.mark.parametrize(
    "shape, padding",
    [
        ((6, 6), {"padding": "SAME"}),
        ((5, 4), {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 0, 1, 1, 0, 0]}),
    ],
)
def test_transposed_convolution_with_channels_first(
    shape: tuple[int, int], padding: dict[str, Any]
):
    rng = np.random.default_rng(0)
    filter, x = rng.normal(size=(2, 2, 3, 3)), rng.normal(size=(2, 3, 3, 3)).astype("float32")

    def computed(shape: list[int], x: Array, **attributes: Any) -> Array:
        product = node("y", "Conv2DBackpropInput", "shape filter x", **attributes)
        sources = [constant("shape", shape), constant("filter", filter), placeholder("x")]
        (result,) = arrays_of(model_of(topology([*sources, product])).execute(wt.tensor(x)))
        return result

    last = computed([2, *shape, 3], x, strides=[1, 2, 2, 1], **padding)
    if "explicit_paddings" in padding:
        padding = {**padding, "explicit_paddings": [0, 0, 0, 0, 1, 0, 1, 1]}
    first = computed(
        [2, 3, *shape],
        x.transpose(0, 3, 1, 2),
        strides=[1, 1, 2, 2],
        data_format="NCHW",
        **padding,
    )
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), last, rtol=1e-5)
