"""Models of Keras as graph-models, here and in TensorFlow.js, beside Keras itself."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import webtensor as wt
from tests_py.convert.node import NodeProcess
from tests_py.keras import traced_cases
from tests_py.keras.traced_cases import MODELS
from webtensor.convert import convert_model

Array = NDArray[Any]
Results = dict[str, tuple[dict[str, Array], list[Array]]]


@pytest.fixture(scope="module")
def node() -> Iterator[NodeProcess]:
    with NodeProcess() as process:
        yield process


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the models that Keras saved."""
    path = tmp_path_factory.mktemp("models")
    environment = {**os.environ, "KERAS_BACKEND": "numpy", "PYTHONWARNINGS": "ignore"}
    script = str(Path(traced_cases.__file__))
    subprocess.run([sys.executable, script, str(path)], env=environment, check=True)
    return path


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    """The inputs of each model, and its outputs in Keras."""
    read: Results = pickle.loads((folder / "results").read_bytes())
    return read


def close(actual: Array, expected: Array) -> None:
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def check(target: Path, name: str, results: Results, node: NodeProcess) -> None:
    """Compare a graph-model, here and in TensorFlow.js, with Keras."""
    inputs, expected = results[name]
    graph: Any = wt.load_graph_model(target)
    assert graph.input_nodes == [*inputs]
    predicted = graph.predict(inputs)
    ours = predicted if isinstance(predicted, list) else [predicted]
    theirs = node.run(target, inputs)
    for actual, other, expected_array in zip(ours, theirs, expected, strict=True):
        close(actual.numpy(), expected_array)
        close(other, expected_array)
    graph.dispose()


@pytest.mark.parametrize("name", MODELS)
def test_graphs_compute_what_keras_does(
    name: str, folder: Path, results: Results, tmp_path: Path, node: NodeProcess, no_leak: None
) -> None:
    source, target = folder / f"{name}.keras", tmp_path / "web"
    report = convert_model(source, target, output_format="tfjs_graph_model")
    assert report.output_format == "tfjs_graph_model"
    assert report.counts.lacking == ()
    check(target, name, results, node)


def test_all_files_of_keras_become_graphs(
    folder: Path, results: Results, tmp_path: Path, node: NodeProcess
) -> None:
    name = "convolutional"
    convert_model(folder / f"{name}.keras", tmp_path / "layers")
    for source in (folder / f"{name}.h5", tmp_path / "layers"):
        target = tmp_path / f"{source.name}-graph"
        convert_model(source, target, output_format="tfjs_graph_model")
        check(target, name, results, node)


def test_outputs_have_the_names_of_layers_and_weights_those_of_variables(
    folder: Path, tmp_path: Path
) -> None:
    convert_model(
        folder / "convolutional.keras",
        tmp_path,
        output_format="tfjs_graph_model",
        quantization={"uint8": "*/kernel"},
    )
    graph = wt.load_graph_model(tmp_path)
    assert graph.output_nodes == ["scores"]
    assert {"filters/kernel", "scores/kernel"} <= {*graph.weights}
    graph.dispose()
