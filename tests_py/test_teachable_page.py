"""The page that is taught by examples, as far as it needs no browser: its files."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from PIL import Image

from tests_py.graph.graphs import constant, node, placeholder, topology
from tests_py.keras.saved_models import keras as real_keras
from web.pretrained.export_data import backbone
from web.teachable import export_data, head_files
from webtensor import GraphModel, Tensor, keras, load_graph_model

SIZE = 6
NAMES = ["cup", "Tür", "nothing"]


def a_head(classes: int = len(NAMES), size: int = SIZE) -> Any:
    """A head that was trained for one step."""
    keras.utils.set_random_seed(0)
    head = keras.Sequential(
        [keras.Input((size,)), keras.layers.Dense(classes, activation="softmax")]
    )
    head.compile("adam", "sparse_categorical_crossentropy")
    head.fit(np.ones((4, size), "float32"), np.zeros(4, "int32"), verbose=0)
    return head


def test_a_head_is_read_with_the_names_of_its_classes():
    features = np.random.default_rng(0).normal(size=(5, SIZE)).astype("float32")
    head = a_head()
    again, names = head_files.read_head(head_files.write_head(head, NAMES), "a.keras", SIZE)
    assert names == NAMES
    np.testing.assert_array_equal(again(features).numpy(), head(features).numpy())


def test_keras_reads_a_head(tmp_path: Path):
    features = np.random.default_rng(1).normal(size=(5, SIZE)).astype("float32")
    head = a_head()
    (tmp_path / "head.keras").write_bytes(head_files.write_head(head, NAMES))
    theirs = real_keras.saving.load_model(tmp_path / "head.keras")
    np.testing.assert_allclose(theirs.predict(features, verbose=0), head(features).numpy(), 1e-5)


def test_heads_of_keras_have_numbered_classes(tmp_path: Path):
    head = real_keras.Sequential([real_keras.Input((SIZE,)), real_keras.layers.Dense(2)])
    head.save(tmp_path / "head.keras")
    _, names = head_files.read_head((tmp_path / "head.keras").read_bytes(), "head.keras", SIZE)
    assert names == ["Class 1", "Class 2"]


def with_names(content: bytes, names: str) -> bytes:
    """The file of a head with a second member of names, which counts."""
    file = BytesIO(content)
    with ZipFile(file, "a") as archive:
        archive.writestr(head_files.CLASS_NAMES, names)
    return file.getvalue()


def plain_file() -> bytes:
    """The file of a head without names."""
    file = BytesIO()
    a_head().save(file)
    return file.getvalue()


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "a.keras is no .keras file, or is damaged."),
        (b"no archive", "a.keras is no .keras file, or is damaged."),
        (plain_file()[:-200], "a.keras is no .keras file, or is damaged."),
        (with_names(plain_file(), "["), "a.keras is no .keras file, or is damaged."),
        (with_names(plain_file(), "7"), "a.keras is no .keras file, or is damaged."),
        (with_names(plain_file(), '["a"]'), "a.keras names 1 classes, but its model has 3."),
        (
            head_files.write_head(a_head(size=7), NAMES),
            "a.keras is a model for something else than the 6 features of a picture.",
        ),
    ],
)
def test_other_files_are_refused_by_their_names(content: bytes, message: str):
    with pytest.raises(head_files.UnfitHeadError) as caught:
        head_files.read_head(content, "a.keras", SIZE)
    assert str(caught.value) == message


def test_example_pictures_are_small_squares_of_each_class(tmp_path: Path):
    export_data.export(tmp_path)
    paths = sorted(tmp_path.iterdir())
    assert [path.name for path in paths] == [
        f"{name}-{number}.jpg" for name in ("astronaut", "flower", "temple") for number in range(10)
    ]
    assert sum(path.stat().st_size for path in paths) < 300_000
    for path in paths:
        with Image.open(path) as picture:
            assert picture.size == (160, 160)


def computed(model: GraphModel, pixels: np.ndarray) -> np.ndarray:
    """The values of the node "y"."""
    y = model.execute(pixels, "y")
    assert isinstance(y, Tensor)
    return y.numpy()


def test_a_backbone_computes_what_the_model_computed():
    filters = np.random.default_rng(2).normal(size=(3, 3, 3, 4)).astype("float32")
    convolved = {"strides": [1, 1, 1, 1], "padding": "SAME", "data_format": "NHWC"}
    nodes = [
        placeholder("x", shape=(1, 8, 8, 3)),
        constant("filters", filters),
        node("convolved", "Conv2D", "x filters", **convolved),
        node("y", "Relu", "convolved:0"),
        constant("sizes", np.array([1, 256], np.int32)),
        node("z", "Reshape", "y sizes"),
    ]
    whole: dict[str, Any] = {
        "format": "graph-model",
        "modelTopology": topology(nodes),
        "weightsManifest": [],
    }
    part = load_graph_model({"model.json": json.dumps(backbone(whole, "y")).encode()})
    assert part.node_names == ["x", "filters", "convolved", "y"]
    assert part.inputs[0].shape == (1, None, None, 3)
    assert [entry["name"] for entry in whole["modelTopology"]["node"]][-1] == "z"
    pixels = np.random.default_rng(3).normal(size=(1, 8, 8, 3)).astype("float32")
    model = load_graph_model({"model.json": json.dumps(whole).encode()})
    np.testing.assert_array_equal(computed(part, pixels), computed(model, pixels))
    assert computed(part, pixels[:, :5]).shape == (1, 5, 8, 4)
