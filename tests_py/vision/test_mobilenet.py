"""MobileNet's classes and features, beside Keras's networks with the same random weights."""

import asyncio
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.graph.graphs import constant, node, placeholder, topology
from tests_py.io.web_server import serving
from tests_py.keras.networks import numpy_initializers, randomize
from tests_py.vision.models import constant_model
from webtensor import ModelFormatError, keras as ours
from webtensor.formats.graph_def import graph_of_json
from webtensor.graph import GraphModel
from webtensor.vision import MobileNet

SHAPE = (32, 32, 3)
NAMES = ["tench", "goldfish", "hen", "tabby", "teapot"]
RANDOM = np.random.default_rng(0)
IMAGE = RANDOM.integers(0, 256, SHAPE, dtype=np.uint8)
VERSIONS = [1, 2, 3]
#: The number of a layer that computes maps.
MAPS = 20


class Networks(NamedTuple):
    """A network of Keras and ours with its weights."""

    theirs: Any
    ours: Any
    module: Any


@cache
def networks(version: int) -> Networks:
    name, options = {
        1: ("MobileNet", {"alpha": 0.25}),
        2: ("MobileNetV2", {"alpha": 0.35}),
        3: ("MobileNetV3Small", {"alpha": 0.75, "minimalistic": True}),
    }[version]
    arguments: dict[str, Any] = {"input_shape": SHAPE, "weights": None, "classes": len(NAMES)}
    arguments |= options
    with numpy_initializers():
        theirs = getattr(keras.applications, name)(**arguments)
    randomize(theirs)
    same = getattr(ours.applications, name)(**arguments)
    same.set_weights(theirs.get_weights())
    module = {1: "mobilenet", 2: "mobilenet_v2", 3: "mobilenet_v3"}[version]
    return Networks(theirs, same, getattr(keras.applications, module))


def mobilenet(version: int, **options: Any) -> MobileNet:
    options = {"class_names": NAMES, **options}
    return MobileNet(networks(version).ours, version=version, **options)


class Activations(NamedTuple):
    """What Keras's network computes of the image."""

    maps: np.ndarray
    means: np.ndarray
    probabilities: np.ndarray


@cache
def their_activations(version: int) -> Activations:
    theirs, _, module = networks(version)
    *_, pooling = (
        layer for layer in theirs.layers if isinstance(layer, keras.layers.GlobalAveragePooling2D)
    )
    layers = [theirs.layers[MAPS], pooling, theirs.layers[-1]]
    model = keras.Model(theirs.inputs[0], [layer.output for layer in layers])
    outputs = model(module.preprocess_input(IMAGE[None].astype(np.float32)))
    return Activations(*(np.asarray(output)[0] for output in outputs))


@pytest.mark.parametrize("version", VERSIONS)
def test_classes_are_those_of_keras(backend: str, version: int) -> None:
    probabilities = their_activations(version).probabilities
    predictions = mobilenet(version).classify(IMAGE, top=5)
    order = np.argsort(-probabilities)
    assert [item.class_index for item in predictions] == order.tolist()
    assert [item.label for item in predictions] == [NAMES[index] for index in order]
    np.testing.assert_allclose(
        [item.probability for item in predictions], probabilities[order], rtol=1e-3, atol=1e-5
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_features_are_those_of_keras(version: int) -> None:
    activations = their_activations(version)
    means = mobilenet(version).embed(IMAGE).numpy()
    np.testing.assert_allclose(means, activations.means.ravel(), rtol=1e-3, atol=1e-4)
    layer = networks(version).ours.layers[MAPS].name
    means_of_maps = mobilenet(version, features=layer).embed(IMAGE).numpy()
    expected = activations.maps.mean(axis=(0, 1))
    np.testing.assert_allclose(means_of_maps, expected, rtol=1e-3, atol=1e-4)


def test_images_are_scaled_to_the_size_of_the_input() -> None:
    large = np.repeat(np.repeat(IMAGE, 3, 0), 3, 1)
    # The middles of blocks of 3 x 3 equal pixels are the pixels of the image.
    assert mobilenet(1).classify(large) == mobilenet(1).classify(IMAGE)


def test_what_was_computed_goes_back() -> None:
    model = mobilenet(1)
    model.classify(IMAGE), model.embed(IMAGE)  # builds the parts of the model
    before = wt.memory()["num_tensors"]
    model.classify(IMAGE), model.embed(IMAGE)
    assert wt.memory()["num_tensors"] == before


def test_the_asynchronous_forms_do_the_same() -> None:
    model = mobilenet(1)
    assert asyncio.run(model.classify_async(IMAGE, 2)) == model.classify(IMAGE, 2)
    features = asyncio.run(model.embed_async(IMAGE))
    np.testing.assert_array_equal(features.numpy(), model.embed(IMAGE).numpy())


# -- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["layers-model", "keras", "h5", "graph-model"])
def test_models_are_loaded_from_files(tmp_path: Path, form: str) -> None:
    model = networks(1).ours
    path = tmp_path / {"keras": "model.keras", "h5": "model.h5"}.get(form, "model")
    if form == "layers-model":
        ours.saving.save_layers_model(model, path)
    elif form == "graph-model":
        model.save(tmp_path / "model.keras")
        wt.convert_model(tmp_path / "model.keras", path, output_format="tfjs_graph_model")
    else:
        model.save(path)
    index = {str(number): [f"n{number}", name] for number, name in enumerate(NAMES)}
    (tmp_path / "index.json").write_text(json.dumps(index))
    options: dict[str, Any] = {"version": 1, "class_names": str(tmp_path / "index.json")}
    expected = mobilenet(1).classify(IMAGE)
    for loaded in (
        MobileNet.load(path, **options),
        asyncio.run(MobileNet.load_async(str(path), **options)),
    ):
        predictions = loaded.classify(IMAGE)
        assert [item.label for item in predictions] == [item.label for item in expected]
        np.testing.assert_allclose(
            [item.probability for item in predictions],
            [item.probability for item in expected],
            rtol=1e-3,
            atol=1e-5,
        )
        loaded.dispose()


FEATURES = "module_apply_default/MobilenetV1/Logits/global_pool"


def hub_model() -> GraphModel:
    """A model of three classes and the background, with logits, as TensorFlow.js's package has."""
    kernel = np.array([[9, 1, 2, 3], [9, 0, 1, -1], [9, 1, -2, 0]], np.float32)
    nodes = [
        placeholder("images", shape=[-1, 4, 4, 3]),
        constant("axes", np.array([1, 2], np.int32)),
        node(FEATURES, "Mean", ["images", "axes"], keep_dims=True),
        node("features", "Squeeze", [FEATURES], squeeze_dims=[1, 2]),
        constant("kernel", kernel),
        node("logits", "MatMul", ["features", "kernel"]),
    ]
    graph = graph_of_json(topology(nodes), "a model")
    return GraphModel(graph, {}, "a model")


def test_models_of_tensorflow_js_have_a_background_and_logits(backend: str, no_leak: None) -> None:
    model = MobileNet(
        hub_model(),
        version=1,
        class_names=("cat", "dog", "hen"),
        value_range=(0, 1),
        from_logits=True,
    )
    image = np.broadcast_to(np.array([255, 51, 0], np.uint8), (4, 4, 3))
    logits = np.array([1, 2, 3]) + 0.2 * np.array([0, 1, -1])
    expected = np.exp(logits) / np.exp(logits).sum()
    predictions = model.classify(image)
    assert [item.label for item in predictions] == ["hen", "dog", "cat"]
    np.testing.assert_allclose(
        [item.probability for item in predictions], expected[::-1], rtol=1e-5
    )
    np.testing.assert_allclose(model.embed(image).numpy(), [1, 0.2, 0], atol=1e-6)


# -- classes of one's own ----------------------------------------------------------------------


def test_other_classes_are_learned_from_features(backend: str) -> None:
    ours.utils.set_random_seed(0)
    model = MobileNet(hub_model(), version=1, value_range=(0, 1))
    classifier = model.create_transfer(["dark", "bright"], learning_rate=0.02)
    for level in range(0, 80, 20):
        classifier.add_example(np.full((4, 4, 3), level, np.uint8), "dark")
        classifier.add_example(np.full((4, 4, 3), 255 - level, np.uint8), "bright")
    classifier.fit(epochs=40)
    assert classifier.predict(np.full((4, 4, 3), 30, np.uint8))["dark"] > 0.7
    prediction = asyncio.run(classifier.predict_async(np.full((4, 4, 3), 225, np.uint8)))
    assert prediction["bright"] > 0.7


# -- errors ------------------------------------------------------------------------------------


def test_options_are_checked() -> None:
    network = networks(1).ours
    with pytest.raises(ValueError, match="MobileNet: version must be one of 1, 2, 3, but got"):
        MobileNet(network, version=4)
    with pytest.raises(ValueError, match=r"MobileNet: expected .* \(None, 5\); class_names has 3"):
        MobileNet(network, version=1, class_names=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"there is no layer 'conv_1'; did you mean"):
        MobileNet(network, version=1, features="conv_1")
    with pytest.raises(TypeError, match="MobileNet: missing a required argument: 'version'"):
        MobileNet.load("no such folder")
    model = MobileNet(network, version=1)
    with pytest.raises(ValueError, match="classify: the model has no class_names; pass them"):
        model.classify(IMAGE)
    with pytest.raises(ValueError, match="classify_async: top must be positive, but got 0"):
        asyncio.run(mobilenet(1).classify_async(IMAGE, 0))
    assert model.embed(IMAGE).shape == (256,)


def test_other_models_are_refused() -> None:
    unfit: Any = "a path"
    with pytest.raises(TypeError, match="model must be a GraphModel or a Model of Keras, but got"):
        MobileNet(unfit, version=1)
    with pytest.raises(ValueError, match="MobileNet: expected a model with an input"):
        MobileNet(constant_model((1, 4, 4, 1), {"y": [[0.0]]}), version=1)
    with pytest.raises(ValueError, match="MobileNet: expected a model with an input"):
        MobileNet(ours.Sequential([ours.Input((3,)), ours.layers.Dense(2)]), version=1)
    model = MobileNet(constant_model((1, 4, 4, 3), {"y": [[0.0]]}), version=1)
    with pytest.raises(ValueError, match="embed: pass the name of the node or layer with the feat"):
        model.embed(IMAGE)
    with pytest.raises(ValueError, match="create_transfer: pass the name of the node or layer"):
        model.create_transfer(["a", "b"])


@pytest.mark.parametrize(
    "content",
    [b"[]", b"{}", b"3", b'{"0": "a", "2": "b"}', b'{"0": []}', b"[1]", b"{", b'{"a": 1}'],
)
def test_malformed_names_are_refused(content: bytes) -> None:
    with pytest.raises(ModelFormatError, match=r"^MobileNet: class_names: "):
        mobilenet(1, class_names=content)


def test_names_are_fetched_from_addresses(tmp_path: Path) -> None:
    networks(1).ours.save(tmp_path / "model.keras")
    with serving({"/names.json": json.dumps(NAMES).encode()}) as server:
        address = f"{server.url}/names.json"
        assert mobilenet(1, class_names=address).class_names == NAMES
        loading = MobileNet.load_async(tmp_path / "model.keras", version=1, class_names=address)
        assert asyncio.run(loading).class_names == NAMES
        with pytest.raises(OSError, match="404"):
            mobilenet(1, class_names=f"{server.url}/other.json")


@pytest.mark.parametrize("names", [[], [1, 2], None, 3, {"a"}])
def test_names_are_texts(names: Any) -> None:
    if names is None:
        assert mobilenet(1, class_names=None).class_names == []
        return
    with pytest.raises(TypeError, match="MobileNet: class_names must be "):
        mobilenet(1, class_names=names)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(NAMES),
        json.dumps({str(number): name for number, name in enumerate(NAMES)}),
        json.dumps({str(number): [f"n{number}", name] for number, name in enumerate(NAMES)}),
        json.dumps({"wordLabels": NAMES}),
        json.dumps({"words": NAMES, "frameSize": 232}),
    ],
)
def test_names_are_read_from_files(content: str) -> None:
    assert mobilenet(1, class_names=content.encode()).class_names == NAMES
