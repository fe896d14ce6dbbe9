"""Models of TensorFlow Lite become graph-models."""

from collections.abc import Iterator
from pathlib import Path
from struct import pack

import numpy as np
import pytest

import webtensor as wt
from tests_py.convert.node import NodeProcess
from tests_py.tflite.cases import CASES, Case, convolved, convolved_backwards, normal
from tests_py.tflite.classifier import X, classified, classifier
from tests_py.tflite.files import Operator, Tensor, file, subgraph
from tests_py.tflite.test_flows import table
from tests_py.tflite.test_operators import assert_alike
from tests_py.tflite.test_quantization import quantization, rounded


def test_a_classifier_computes_the_same_here_and_in_tensorflow_js(tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(classifier())
    report = wt.convert_model(tmp_path / "model.tflite", tmp_path / "web")
    assert (report.input_format, report.output_format) == ("tflite", "tfjs_graph_model")
    model = wt.load_graph_model(tmp_path / "web")
    expected = classified(X)
    scores = model.predict(X)
    assert isinstance(scores, wt.Tensor)
    np.testing.assert_allclose(scores.numpy(), expected, rtol=0, atol=1e-6)
    with NodeProcess() as node:
        (theirs,) = node.run(tmp_path / "web", {"x": X})
    np.testing.assert_allclose(theirs, expected, rtol=0, atol=1e-6)


#: Operators that TensorFlow.js computes differently, and why.
DIFFERENT = {
    "DIV int32": "it rounds down",
    "RFFT2D of rows": "Node sends no complex numbers",
    "SELECT": "it does not choose rows by a vector",
}


@pytest.fixture(scope="module")
def node() -> Iterator[NodeProcess]:
    """TensorFlow.js."""
    with NodeProcess() as process:
        yield process


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.op != "NON_MAX_SUPPRESSION_V5"],  # its values are read
    ids=lambda case: case.name,
)
def test_operators_compute_the_same(case: Case, tmp_path: Path, node: NodeProcess) -> None:
    (tmp_path / "model.tflite").write_bytes(case.file(range(1, len(case.inputs))))
    report = wt.convert_model(tmp_path / "model.tflite", tmp_path / "web")
    model = wt.load_graph_model(tmp_path / "web")
    feeds = {name: value for name, value in case.feeds.items() if name == "input0"}
    values = model.execute({name: wt.tensor(value) for name, value in feeds.items()})
    results = values if isinstance(values, list) else [values]
    expected = case.expectation()
    assert_alike([value.numpy() for value in results], expected)
    assert report.counts is not None
    is_complex = any(value.dtype == "complex64" for value in feeds.values())
    if not (report.counts.lacking or is_complex or case.name in DIFFERENT):
        theirs = node.run(tmp_path / "web", feeds)
        # Truth values come as numbers.
        assert_alike(
            [
                value.astype("bool") if np.asarray(expected_array).dtype == "bool" else value
                for value, expected_array in zip(theirs, expected, strict=True)
            ],
            expected,
        )


def test_tensorflow_js_joins_more_than_two_tensors(tmp_path: Path) -> None:
    x = normal(1, 3)
    tensors = [Tensor("x", x.shape), Tensor("y", (1, 9))]
    options = ("ConcatenationOptions", {"axis": 1})
    operator = Operator("CONCATENATION", ["x", "x", "x"], ["y"], options)
    (tmp_path / "model.tflite").write_bytes(file(subgraph(tensors, [operator], ["x"], ["y"])))
    wt.convert_model(tmp_path / "model.tflite", tmp_path / "web")
    with NodeProcess() as node:
        (theirs,) = node.run(tmp_path / "web", {"x": x})
    np.testing.assert_array_equal(theirs, np.concatenate([x, x, x], 1))


def test_spectra_of_rows_run_in_tensorflow_js(tmp_path: Path) -> None:
    x = normal(2, 1, 8)
    tensors = [
        Tensor("x", x.shape),
        Tensor.constant("lengths", np.array([1, 8], "int32")),
        Tensor("spectra", (2, 1, 5), "complex64"),
        Tensor("y", (2, 1, 5)),
    ]
    operators = [
        Operator("RFFT2D", ["x", "lengths"], ["spectra"]),
        Operator("COMPLEX_ABS", ["spectra"], ["y"]),
    ]
    (tmp_path / "model.tflite").write_bytes(file(subgraph(tensors, operators, ["x"], ["y"])))
    report = wt.convert_model(tmp_path / "model.tflite", tmp_path / "web")
    assert report.counts is not None
    assert report.counts.lacking == ()
    with NodeProcess() as node:
        (theirs,) = node.run(tmp_path / "web", {"x": x})
    np.testing.assert_allclose(theirs, np.abs(np.fft.rfft(x)), atol=1e-5)


def test_tables_run_in_tensorflow_js(tmp_path: Path, node: NodeProcess) -> None:
    (tmp_path / "model.tflite").write_bytes(table())
    wt.convert_model(tmp_path / "model.tflite", tmp_path / "web")
    texts, size = node.run(tmp_path / "web", {"x": np.array([5, 4], "int32")})
    assert [texts.tolist(), size.item()] == [[b"bc", b"?"], 2]


def test_transposed_convolutions_of_mediapipe_run_in_tensorflow_js(tmp_path: Path) -> None:
    x, filters, bias = normal(1, 3, 4, 3), normal(2, 2, 2, 3), normal(2)
    options = pack("<3i", 1, 2, 2)
    operator = Operator(
        "Convolution2DTransposeBias", ["x", "filters", "bias"], ["y"], custom_options=options
    )
    tensors = [
        Tensor("x", x.shape),
        Tensor.constant("filters", filters),
        Tensor.constant("bias", bias),
        Tensor("y", (1, 6, 8, 2)),
    ]
    (tmp_path / "model.tflite").write_bytes(file(subgraph(tensors, [operator], ["x"], ["y"])))
    wt.convert_model(tmp_path / "model.tflite", tmp_path / "web")
    with NodeProcess() as node:
        (theirs,) = node.run(tmp_path / "web", {"x": x})
    np.testing.assert_allclose(theirs, convolved_backwards(x, filters, 2) + bias, atol=1e-5)


def test_quantized_models_take_and_return_the_integers_of_the_file(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    x = generator.integers(-128, 128, (1, 5, 5, 3)).astype("int32")
    weights = generator.integers(-127, 128, (2, 3, 3, 3)).astype("int8")
    bias, scales = np.array([40, -900], "int32"), np.array([0.01, 0.02])
    tensors = [
        Tensor("x", x.shape, "int8", None, quantization(0.05, 3)),
        Tensor.constant("w", weights, **quantization([*scales])),
        Tensor.constant("b", bias, **quantization([*(0.05 * scales)])),
        Tensor("y", (1, 5, 5, 2), "int8", None, quantization(0.1, -7)),
    ]
    strides = {"stride_h": 1, "stride_w": 1, "fused_activation_function": "RELU"}
    operator = Operator("CONV_2D", ["x", "w", "b"], ["y"], ("Conv2DOptions", strides))
    model = file(subgraph(tensors, [operator], ["x"], ["y"]))
    (tmp_path / "model.tflite").write_bytes(model)
    wt.convert_model(tmp_path / "model.tflite", tmp_path / "web")
    real = 0.05 * (x - 3.0)
    exact = convolved(real, weights * scales.reshape(2, 1, 1, 1), (1, 1), True)
    expected = rounded(np.maximum(exact + 0.05 * scales * bias, 0), 0.1, -7)
    graph = wt.load_graph_model(tmp_path / "web")
    result = graph.predict({"x": x})
    assert isinstance(result, wt.Tensor)
    assert str(result.dtype) == "int32"
    with NodeProcess() as node:
        (theirs,) = node.run(tmp_path / "web", {"x": x})
    for actual in (result.numpy(), theirs):
        assert np.abs(actual - expected).max() <= 1
        assert (actual != expected).mean() < 0.02  # those in the middle between two steps
    graph.dispose()
