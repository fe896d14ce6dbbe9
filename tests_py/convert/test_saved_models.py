"""SavedModels that TensorFlow wrote compute the same when they are converted."""

from __future__ import annotations

import gc
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.convert.node import NodeProcess
from tests_py.convert.samples import SAMPLES, Array, Sample, as_tensor
from webtensor.convert import ConversionReport, convert_model
from webtensor.convert.report import tensorflow_js_lacks
from webtensor.graph.hash_tables import table_rows
from webtensor.graph.operations import OPERATIONS


@pytest.fixture(scope="module")
def node() -> Iterator[NodeProcess]:
    """TensorFlow.js."""
    with NodeProcess() as process:
        yield process


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> Sample:
    """A SavedModel."""
    return SAMPLES[request.param]


def converted(name: str, folder: Path, **options: Any) -> tuple[ConversionReport, dict[str, Any]]:
    """Convert a SavedModel, and return the report and ``model.json``."""
    saved = SAMPLES[name].write(folder / "saved")
    report = convert_model(saved, folder / "web", **options)
    return report, json.loads((folder / "web" / "model.json").read_text())


def assert_close(results: Sequence[Array], sample: Sample) -> None:
    """Compare results with TensorFlow's, whose names are in the order of the outputs."""
    for actual, expected in zip(results, sample.outputs.values(), strict=True):
        assert actual.shape == expected.shape
        if expected.dtype.kind == "f":
            scale = np.abs(expected).max(initial=1e-6)
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-4 * scale)
        else:
            np.testing.assert_array_equal(actual, expected)


def results_here(model: wt.GraphModel, sample: Sample) -> list[Array]:
    """Execute a converted model on the sample's inputs."""
    results = model.execute({name: as_tensor(array) for name, array in sample.inputs.items()})
    return [value.numpy() for value in (results if isinstance(results, list) else [results])]


def test_same_here(sample: Sample, tmp_path: Path) -> None:
    gc.collect()
    before = wt.memory()["num_tensors"]
    convert_model(sample.write(tmp_path / "saved"), tmp_path / "web")
    assert wt.memory()["num_tensors"] == before
    model = wt.load_graph_model(tmp_path / "web")
    assert_close(results_here(model, sample), sample)
    assert model.model_signature is not None
    assert list(model.model_signature.outputs) == list(sample.outputs)


def test_same_in_tensorflow_js(sample: Sample, tmp_path: Path, node: NodeProcess) -> None:
    convert_model(sample.write(tmp_path / "saved"), tmp_path / "web")
    assert_close(node.run(tmp_path / "web", sample.inputs), sample)


def test_converted_models_convert_to_the_same(sample: Sample, tmp_path: Path) -> None:
    convert_model(sample.write(tmp_path / "saved"), tmp_path / "web")
    convert_model(tmp_path / "web", tmp_path / "again")
    model = wt.load_graph_model(tmp_path / "again" / "model.json")
    assert_close(results_here(model, sample), sample)


def operations(topology: dict[str, Any]) -> Counter[str]:
    """How many nodes there are of each operation."""
    return Counter(node["op"] for node in topology["node"])


def test_normalization_bias_and_activation_become_part_of_convolutions(tmp_path: Path) -> None:
    report, model = converted("MobileNet v2 block", tmp_path)
    assert operations(model["modelTopology"]) == {
        "AddV2": 1,
        "Const": 6,
        "FusedDepthwiseConv2dNative": 1,
        "Identity": 1,
        "Placeholder": 1,
        "_FusedConv2D": 2,
    }
    nodes = {node["op"]: node for node in model["modelTopology"]["node"]}
    assert nodes["FusedDepthwiseConv2dNative"]["attr"]["num_args"] == {"i": "1"}
    assert {spec["name"] for spec in model["weightsManifest"][0]["weights"]} > {
        "depthwise",
        "expand",
        "project",
    }
    assert report.counts.folded == 3
    assert report.counts.fused == 6
    assert report.counts.written == 12 < report.counts.read


def test_loops_that_write_no_lists_call_functions(tmp_path: Path) -> None:
    _, model = converted("while loop", tmp_path)
    assert operations(model["modelTopology"])["While"] == 1
    assert len(model["modelTopology"]["library"]["function"]) == 4


def test_loops_that_write_lists_become_frames(tmp_path: Path) -> None:
    _, model = converted("LSTM", tmp_path)
    counts = operations(model["modelTopology"])
    assert counts["LoopCond"] == 1
    assert counts["Enter"] == counts["NextIteration"] > counts["Exit"]
    assert "function" not in model["modelTopology"].get("library", {})


def test_signatures(tmp_path: Path) -> None:
    _, model = converted("while loop", tmp_path)
    assert model["signature"]["inputs"] == {
        "n": {"name": "n:0", "dtype": "DT_INT32", "tensorShape": {}},
        "x": {
            "name": "x:0",
            "dtype": "DT_FLOAT",
            "tensorShape": {"dim": [{"size": "-1"}, {"size": "3"}]},
        },
    }
    assert list(model["signature"]["outputs"]) == ["value"]
    assert model["generatedBy"].startswith("2.")
    assert model["convertedBy"] == f"webtensor {wt.__version__}"


def test_tables_are_filled_by_an_initializer(tmp_path: Path) -> None:
    _, model = converted("hash tables", tmp_path)
    assert operations(model["modelInitializer"]) == {
        "Const": 4,
        "HashTableV2": 2,
        "LookupTableImportV2": 2,
    }
    names = {node["name"] for node in model["modelInitializer"]["node"]}
    tables = {
        node["name"] for node in model["modelTopology"]["node"] if node["op"] == "HashTableV2"
    }
    assert len(tables) == 2
    assert tables < names


@pytest.mark.parametrize("dtype, size", [("float16", 2), ("uint16", 2), ("uint8", 1)])
def test_only_floats_are_quantized(dtype: str, size: int, tmp_path: Path) -> None:
    _, model = converted("LSTM", tmp_path, quantization={dtype: True})
    specs = model["weightsManifest"][0]["weights"]
    assert {spec["dtype"] for spec in specs if "quantization" in spec} == {"float32"}
    assert all("quantization" in spec for spec in specs if spec["dtype"] == "float32")
    sample = SAMPLES["LSTM"]
    (expected,) = sample.outputs.values()
    result = wt.load_graph_model(tmp_path / "web").predict(
        {name: as_tensor(array) for name, array in sample.inputs.items()}
    )
    assert isinstance(result, wt.Tensor)
    # The gates' slopes are at most 1, and five steps add up what each of seven products is off.
    np.testing.assert_allclose(result.numpy(), expected, atol=5 * 7 * 2.0 ** (-4 * size))


def test_patterns_that_fit_no_weight_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="stored as 'uint8' has a name like 'kernels'"):
        converted("LSTM", tmp_path, quantization={"uint8": "kernels"})
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]


def test_sizes_of_files(tmp_path: Path) -> None:
    report, model = converted("LSTM", tmp_path, shard_bytes=200)
    paths = model["weightsManifest"][0]["paths"]
    sizes = [(tmp_path / "web" / path).stat().st_size for path in paths]
    assert max(sizes) == 200
    assert len(sizes) > 2
    written = sum(path.stat().st_size for path in (tmp_path / "web").iterdir())
    assert report.output_bytes == written
    read = sum(path.stat().st_size for path in (tmp_path / "saved").rglob("*") if path.is_file())
    assert report.input_bytes == read
    again = convert_model(tmp_path / "web" / "model.json", tmp_path / "again")
    assert again.input_bytes == written


def test_metadata(tmp_path: Path) -> None:
    _, model = converted("LSTM", tmp_path, metadata={"labels": ["a", "b"]})
    assert model["userDefinedMetadata"] == {"labels": ["a", "b"]}
    convert_model(tmp_path / "web", tmp_path / "again", metadata={"more": 1})
    again = wt.load_graph_model(tmp_path / "again")
    assert again.metadata == {"labels": ["a", "b"], "more": 1}


def test_operations_that_tensorflow_js_lacks() -> None:
    folder = Path("node_modules/@tensorflow/tfjs-converter/dist/operations")
    lists = re.findall(r"from '\./(op_list/\w+)'", (folder / "operation_mapper.js").read_text())
    text = "".join((folder / f"{name}.js").read_text() for name in lists)
    listed = {*re.findall(r"'?tfOpName'?: '(\w+)'", text)}
    assert len(listed) > 200
    operations = {*OPERATIONS, *table_rows({})}
    # It lists BitwiseAnd, but fails to find the operands.
    assert {*tensorflow_js_lacks(operations)} == operations - listed | {"BitwiseAnd"}
