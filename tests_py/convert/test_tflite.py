"""Models of TensorFlow Lite become graph-models."""

from pathlib import Path

import numpy as np
import pytest

import webtensor as wt
from tests_py.convert.node import NodeProcess
from tests_py.tflite.classifier import X, classified, classifier
from tests_py.tflite.files import Operator, Tensor, file, subgraph
from tests_py.tflite.test_quantization import quantization


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


def test_quantized_models_stay_as_they_are(tmp_path: Path) -> None:
    tensors = [Tensor(name, (2, 3), "int8", None, quantization(0.1)) for name in ("x", "y")]
    model = file(subgraph(tensors, [Operator("RELU", ["x"], ["y"])], ["x"], ["y"]))
    (tmp_path / "model.tflite").write_bytes(model)
    with pytest.raises(wt.ModelFormatError, match=r"model\.tflite has quantized.* load_tflite"):
        wt.convert_model(tmp_path / "model.tflite", tmp_path / "web")
    assert not (tmp_path / "web").exists()
