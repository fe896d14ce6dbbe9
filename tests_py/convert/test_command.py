"""The command ``webtensor convert``, its formats, and what it leaves on the disk."""

from __future__ import annotations

import io as text_io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.convert.samples import SAMPLES
from tests_py.formats.test_safetensors import packed
from webtensor import keras
from webtensor.convert import convert_model
from webtensor.convert.command import main
from webtensor.convert.input_formats import INPUT_FORMATS
from webtensor.convert.output_formats import OUTPUT_FORMATS
from webtensor.convert.progress import ProgressLine
from webtensor.formats.graph_def import ElementType, Graph, NodeDef, TensorValue
from webtensor.formats.graph_writing import graph_bytes


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A folder with a SavedModel."""
    return SAMPLES["LSTM"].write(tmp_path / "saved")


@pytest.fixture
def model() -> keras.Model:
    """A model of layers."""
    layers = [keras.layers.Dense(3, "relu", name="first"), keras.layers.Dense(2, name="second")]
    return keras.Sequential([keras.Input((4,)), *layers])


X = np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)


def test_options_of_the_command(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metadata = tmp_path / "metadata.json"
    metadata.write_text('{"author": "A"}')
    arguments = ["convert", str(saved), str(tmp_path / "web"), "--quantize", "uint8"]
    more = ["--shard-bytes", "10K", "--metadata", str(metadata), "--signature", "serving_default"]
    assert main([*arguments, *more, "--tags", "serve"]) == 0
    output = capsys.readouterr()
    assert "(tf_saved_model) ->" in output.out
    assert "nodes " in output.out
    assert "TensorFlow.js does not have" not in output.out
    assert output.err == ""
    fields = json.loads((tmp_path / "web" / "model.json").read_text())
    assert fields["userDefinedMetadata"] == {"author": "A"}
    assert any("quantization" in spec for spec in fields["weightsManifest"][0]["weights"])


def test_weights_that_match_no_pattern_are_quantized_in_another_way(
    model: keras.Model, tmp_path: Path
) -> None:
    model.save(tmp_path / "model.keras")
    options = ["--quantize", "float16=*/kernel", "--quantize", "uint8", "--quiet"]
    assert main(["convert", str(tmp_path / "model.keras"), str(tmp_path / "web"), *options]) == 0
    fields = json.loads((tmp_path / "web" / "model.json").read_text())
    for spec in fields["weightsManifest"][0]["weights"]:
        dtype = "float16" if spec["name"].endswith("/kernel") else "uint8"
        assert spec["quantization"]["dtype"] == dtype


@pytest.mark.parametrize(
    "more, message",
    [
        (
            ["--signature", "other"],
            "has no signature 'other'; there are 'serve', ",
        ),
        (["--tags", "train"], "no graph has the tags ['train']"),
        (["--output-format", "keras"], "a graph cannot become a keras: it has no layers"),
        (["--quantize", "int4"], "the dtypes are 'float16', 'uint8', 'uint16', but got 'int4'"),
        (["--input-format", "keras_h5"], "saved"),
        (["--metadata", "no/such.json"], "no/such.json"),
    ],
)
def test_mistakes_are_explained(
    more: list[str], message: str, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(saved), str(tmp_path / "web"), *more]) == 1
    error = capsys.readouterr().err
    assert error.startswith("webtensor convert: ")
    assert message in error
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]


def test_help_has_examples_and_all_formats(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["convert", "--help"])
    text = capsys.readouterr().out
    assert "webtensor convert saved_model/ web/ --quantize uint8" in text
    for name in [*(row.name for row in INPUT_FORMATS), *(row.name for row in OUTPUT_FORMATS)]:
        assert f"  {name} " in text
    assert main([]) == 2


def test_progress_is_shown_in_terminals_only() -> None:
    class Terminal(text_io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, expected in ((Terminal(), "fusing"), (text_io.StringIO(), "")):
        with ProgressLine(stream) as progress:
            progress.step("fusing")
        assert expected in stream.getvalue()
        assert bool(stream.getvalue()) == bool(expected)


# -- formats -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
def test_keras_files_become_layers_models_and_back(
    name: str, model: keras.Model, tmp_path: Path
) -> None:
    model.save(tmp_path / name)
    options: dict[str, Any] = {"quantization": {"float16": "first/*"}, "metadata": {"author": "A"}}
    report = convert_model(tmp_path / name, tmp_path / "web", **options)
    assert report.output_format == "tfjs_layers_model"
    fields = json.loads((tmp_path / "web" / "model.json").read_text())
    assert fields["userDefinedMetadata"] == {"author": "A"}
    stored = {
        spec["name"]: spec.get("quantization") for spec in fields["weightsManifest"][0]["weights"]
    }
    assert stored["first/kernel"] == {"dtype": "float16"}
    assert stored["second/kernel"] is None
    assert convert_model(tmp_path / "web", tmp_path / f"back-{name}").input_format == (
        "tfjs_layers_model"
    )
    assert (tmp_path / f"back-{name}").is_file()
    back = keras.models.load_model(tmp_path / f"back-{name}")
    np.testing.assert_allclose(back.predict(X), model.predict(X), atol=2e-3)


@pytest.mark.parametrize(
    "option, value, message",
    [
        ("quantization", {"uint8": True}, "no quantized weights"),
        ("metadata", {"author": "A"}, "no place for metadata"),
    ],
)
def test_keras_files_cannot_have_everything(
    option: str, value: object, message: str, model: keras.Model, tmp_path: Path
) -> None:
    model.save(tmp_path / "model.keras")
    options: dict[str, Any] = {option: value}
    with pytest.raises(ValueError, match=message):
        convert_model(tmp_path / "model.keras", tmp_path / "other.keras", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["model.keras"]


def safetensors(model: keras.Model, folder: Path) -> Path:
    """Write a model's configuration, and its variables as safetensors."""
    folder.mkdir()
    (folder / "config.json").write_text(model.to_json())
    data, header = b"", {}
    for variable in model.variables:
        array = np.asarray(variable.value.numpy())
        offsets = [len(data), len(data) + array.nbytes]
        header[variable.path] = {"dtype": "F32", "shape": array.shape, "data_offsets": offsets}
        data += array.tobytes()
    (folder / "model.safetensors").write_bytes(packed(header, data))
    return folder


def test_safetensors_with_a_configuration(model: keras.Model, tmp_path: Path) -> None:
    folder = safetensors(model, tmp_path / "model")
    for number, source in enumerate((folder, folder / "model.safetensors")):
        target = tmp_path / f"{number}.keras"
        assert convert_model(source, target).input_format == "keras_safetensors"
        back = keras.models.load_model(target)
        np.testing.assert_array_equal(back.predict(X), model.predict(X))


def test_safetensors_of_models_with_layers_of_the_same_name(tmp_path: Path) -> None:
    """A model with the names of its layers in the paths, which it gets again without them."""
    inner = [
        keras.Sequential([keras.Input((4,)), keras.layers.Dense(4, name="dense")], name=name)
        for name in ("first", "second")
    ]
    x = keras.Input((4,))
    y = inner[1](inner[0](keras.layers.Dense(4, name="dense")(x)))
    model = keras.Model(x, y)
    assert {variable.path for variable in model.variables} >= {"dense/kernel", "first/dense/kernel"}
    convert_model(safetensors(model, tmp_path / "model"), tmp_path / "model.keras")
    back = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(back.predict(X, verbose=0), model.predict(X, verbose=0))


def test_safetensors_of_recurrent_layers(tmp_path: Path) -> None:
    """The paths of seeds are numbered, and a wrapper is in those of its layers at times."""
    layers = [keras.layers.Bidirectional(keras.layers.LSTM(2)), keras.layers.Dropout(0.5)]
    model = keras.Sequential([keras.Input((2, 2)), *layers])
    assert any("seed_generator" in variable.path for variable in model.variables)
    assert any("bidirectional/" in variable.path for variable in model.variables)
    convert_model(safetensors(model, tmp_path / "model"), tmp_path / "web")
    x, back = X.reshape(2, 2, 2), keras.saving.load_layers_model(tmp_path / "web")
    np.testing.assert_array_equal(back.predict(x, verbose=0), model.predict(x, verbose=0))


def test_safetensors_that_do_not_fit(model: keras.Model, tmp_path: Path) -> None:
    other = keras.Sequential([keras.Input((4,)), keras.layers.Dense(9, name="first")])
    folder = safetensors(model, tmp_path / "model")
    for layer, message in (("first", r"has shape \(4, 3\)"), ("third", "has no tensor")):
        config = json.loads(other.to_json().replace("first", layer))
        config["config"]["name"] = model.name
        (folder / "config.json").write_text(json.dumps(config))
        with pytest.raises(wt.ModelFormatError, match=message):
            convert_model(folder, tmp_path / "model.keras")
    (folder / "config.json").write_text("[]")
    with pytest.raises(wt.ModelFormatError, match=r"config\.json"):
        convert_model(folder, tmp_path / "model.keras")


def test_layers_become_a_graph_on_request(model: keras.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "model.keras")
    report = convert_model(tmp_path / "model.keras", tmp_path / "layers")
    assert report.output_format == "tfjs_layers_model"
    arguments = ["convert", str(tmp_path / "model.keras"), str(tmp_path / "web")]
    assert main([*arguments, "--output-format", "tfjs_graph_model", "--quiet"]) == 0
    graph = wt.load_graph_model(tmp_path / "web")
    assert graph.output_nodes == ["second"]
    result = graph.predict(X)
    assert isinstance(result, wt.Tensor)
    np.testing.assert_allclose(result.numpy(), model.predict(X, verbose=0), atol=1e-6)


def test_outputs_of_a_layer_have_names_that_no_other_layer_has(tmp_path: Path) -> None:
    x = keras.Input((3,))
    first, second = keras.layers.Dense(2, name="dense"), keras.layers.Dense(2, name="dense_1")
    keras.Model(x, [second(x), first(x), first(-x)]).save(tmp_path / "m.keras")
    convert_model(tmp_path / "m.keras", tmp_path / "web", output_format="tfjs_graph_model")
    outputs = [output.name for output in wt.load_graph_model(tmp_path / "web").outputs]
    assert outputs == ["dense_1", "dense", "dense_2"]


def test_models_that_were_never_called_have_no_inputs(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="not built"):
        keras.Sequential([keras.layers.Dense(2)]).save(tmp_path / "model.keras")
    with pytest.raises(wt.ModelFormatError, match="does not say what its inputs are"):
        convert_model(tmp_path / "model.keras", tmp_path / "web", output_format="tfjs_graph_model")


def test_inputs_and_outputs_of_a_frozen_graph(tmp_path: Path) -> None:
    kind = {"T": ElementType("float32")}
    nodes = (
        NodeDef("x", "Placeholder", (), {"dtype": ElementType("float32"), "shape": (None, 2)}, ""),
        NodeDef("root", "Sqrt", ("x",), {}, ""),
        NodeDef("minus", "Neg", ("root",), kind, ""),
        NodeDef("best", "TopKV2", ("minus", "count"), kind, ""),
        NodeDef("count", "Const", (), {"value": TensorValue((), "int32", b"\1\0\0\0")}, ""),
    )
    (tmp_path / "frozen.pb").write_bytes(graph_bytes(Graph(nodes, {}, {})))
    convert_model(tmp_path / "frozen.pb", tmp_path / "a", inputs=["root"], outputs=["minus"])
    inner = wt.load_graph_model(tmp_path / "a")
    assert inner.input_nodes == ["root"]
    result = inner.predict([[2.0, 3.0]])
    assert isinstance(result, wt.Tensor)
    assert result.tolist() == [[-2.0, -3.0]]
    convert_model(tmp_path / "frozen.pb", tmp_path / "b", outputs=["best:1", "root"])
    results = wt.load_graph_model(tmp_path / "b").execute({"x": wt.tensor([[4.0, 1.0]])})
    assert [value.tolist() for value in results] == [[[1]], [[2.0, 1.0]]]
    for option in ("inputs", "outputs"):
        options: dict[str, Any] = {option: ["y"]}
        with pytest.raises(wt.ModelFormatError, match="there is no tensor 'y'"):
            convert_model(tmp_path / "frozen.pb", tmp_path / "c", **options)
        with pytest.raises(ValueError, match=f"{option} are for tf_frozen_model.*, but .* is tfjs"):
            convert_model(tmp_path / "a", tmp_path / "c", **options)
    for missing in ("minus:1", "x:1", "count:1"):
        with pytest.raises(wt.ModelFormatError, match=f"there is no tensor '{missing}'"):
            convert_model(tmp_path / "frozen.pb", tmp_path / "c", outputs=[missing])


def test_operations_that_tensorflow_js_lacks_are_reported(tmp_path: Path) -> None:
    kind = {"T": ElementType("int32")}
    nodes = (
        NodeDef("x", "Placeholder", (), {"dtype": ElementType("int32")}, ""),
        NodeDef("y", "BitwiseAnd", ("x", "x"), kind, ""),
        NodeDef("z", "BitwiseOr", ("x", "y"), kind, ""),
    )
    (tmp_path / "frozen.pb").write_bytes(graph_bytes(Graph(nodes, {}, {})))
    report = convert_model(tmp_path / "frozen.pb", tmp_path / "web")
    assert str(report).endswith("\nTensorFlow.js does not have: BitwiseAnd, BitwiseOr")


def test_paths_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        convert_model(tmp_path / "none", tmp_path / "web")
    for name in ("notes.txt", "model.safetensors", "config.json"):
        (tmp_path / name).write_text("[]")
        message = f"{name} looks like no model; name its format, one of tf_saved"
        with pytest.raises(wt.ModelFormatError, match=message):
            convert_model(tmp_path / name, tmp_path / "web")
    with pytest.raises(wt.ModelFormatError, match=r"notes\.txt looks like no model"):
        convert_model(tmp_path / "notes.txt", tmp_path / "web")


def test_formats_that_do_not_exist_are_refused_before_the_model_is_read(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_text("hello")
    for argument, name in (("input_format", "onxx"), ("output_format", "tflite")):
        options: dict[str, Any] = {argument: name}
        message = f"convert_model: {argument} must be one of tf.*, but got '{name}'"
        with pytest.raises(ValueError, match=message) as caught:
            convert_model(tmp_path / "model.onnx", tmp_path / "web", **options)
        assert not isinstance(caught.value, wt.ModelFormatError)


# -- files -------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_models_are_replaced_only_on_request(saved: Path, tmp_path: Path) -> None:
    convert_model(saved, tmp_path / "web", shard_bytes=100)
    before = contents(tmp_path / "web")
    with pytest.raises(FileExistsError, match=r"overwrite=True \(--overwrite\) replaces it"):
        convert_model(saved, tmp_path / "web")
    assert contents(tmp_path / "web") == before
    convert_model(saved, tmp_path / "web", overwrite=True)
    assert sorted(contents(tmp_path / "web")) == ["group1-shard1of1.bin", "model.json"]


def test_other_files_stay(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "thesis.txt").write_text("years of work")
    with pytest.raises(
        FileExistsError, match=r"belong to no model, such as 'thesis.txt'; it stays"
    ):
        convert_model(saved, tmp_path / "web", overwrite=True)
    assert contents(tmp_path / "web") == {"thesis.txt": b"years of work"}


def test_nothing_is_left_where_writing_fails(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    convert_model(saved, tmp_path / "web")
    before = contents(tmp_path / "web")
    written: list[str] = []

    def full_disk(path: Path, *arguments: object) -> None:
        written.append(path.name)
        if len(written) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("webtensor.convert.output_formats.write_file", full_disk)
    with pytest.raises(OSError, match="No space left"):
        convert_model(saved, tmp_path / "web", overwrite=True, shard_bytes=100)
    assert contents(tmp_path / "web") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["saved", "web"]


def test_a_model_has_no_more_files_than_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keras.Sequential([keras.Input((30,)), keras.layers.Dense(99)]).save(tmp_path / "model.keras")
    arguments = ["convert", str(tmp_path / "model.keras"), str(tmp_path / "web")]
    assert main([*arguments, "--shard-bytes", "1"]) == 1
    assert "shard_bytes must be at least 2 here, but is 1" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["model.keras"]
    assert main([*arguments, "--shard-bytes", "2", "--quiet"]) == 0
    assert keras.saving.load_layers_model(tmp_path / "web").count_params() == 31 * 99


def test_operations_of_your_own(tmp_path: Path) -> None:
    topology = {
        "node": [
            {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}},
            {"name": "y", "op": "Twice", "input": ["x"]},
        ]
    }
    (tmp_path / "m").mkdir()
    fields = {"format": "graph-model", "modelTopology": topology, "weightsManifest": []}
    (tmp_path / "m" / "model.json").write_text(json.dumps(fields))
    with pytest.raises(wt.ModelFormatError, match="operations that are unknown: Twice"):
        convert_model(tmp_path / "m", tmp_path / "web")
    convert_model(tmp_path / "m", tmp_path / "web", skip_operation_check=True)
    wt.register_graph_op("Twice", lambda node: [wt.multiply(node.inputs[0], 2.0)])
    try:
        result = wt.load_graph_model(tmp_path / "web").predict({"x": [1.0]})
    finally:
        wt.deregister_graph_op("Twice")
    assert isinstance(result, wt.Tensor)
    assert result.tolist() == [2.0]


def test_the_signature_of_an_older_model_is_not_in_the_metadata_any_more(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    nodes = [
        {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}},
        {"name": "up", "op": "Sqrt", "input": ["x"]},
        {"name": "down", "op": "Neg", "input": ["x"]},
        {"name": "last", "op": "Identity", "input": ["down"]},
    ]
    signature = {"outputs": {"a": {"name": "last:0"}, "b": {"name": "up:0"}}}
    fields = {
        "modelTopology": {"node": nodes},
        "weightsManifest": [],
        "userDefinedMetadata": {"signature": signature, "author": "me"},
    }
    (tmp_path / "m" / "model.json").write_text(json.dumps(fields))
    convert_model(tmp_path / "m", tmp_path / "web")
    model = wt.load_graph_model(tmp_path / "web")
    assert model.metadata == {"author": "me"}
    assert [value.tolist() for value in model.execute(4.0)] == [-4.0, 2.0]
