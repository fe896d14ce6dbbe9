"""Heads that are trained on the inner nodes of graph models."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests_py.graph.graphs import constant, node, placeholder, topology
from tests_py.vision.models import constant_model
from webtensor import keras
from webtensor.formats.graph_def import graph_of_json
from webtensor.graph import GraphModel
from webtensor.vision import FeatureExtractor, TransferClassifier

RANDOM = np.random.default_rng(0)
RED, GREEN = (200, 20, 20), (20, 200, 120)


def graph_model(shape: tuple[int, ...] = (1, 4, 6, 3)) -> GraphModel:
    """A graph whose inner node "convolved" has maps of red, and of green and blue."""
    filters = np.array([[1, 0], [0, 1], [0, 1]], np.float32).reshape(1, 1, 3, 2)
    convolved = {"strides": [1, 1, 1, 1], "padding": "SAME", "data_format": "NHWC"}
    nodes = [
        placeholder("x", shape=shape),
        constant("filters", filters),
        node("convolved", "Conv2D", "x filters", **convolved),
        node("y", "Relu", "convolved"),
    ]
    return GraphModel(graph_of_json(topology(nodes), "a model"), {}, "a model")


def image_of(color: tuple[int, ...]) -> np.ndarray:
    noise = RANDOM.integers(0, 20, (8, 12, 3))
    return (np.array(color) + noise).astype(np.uint8)


def test_features_are_pooled(backend: str, no_leak: None) -> None:
    image = np.broadcast_to(np.array([255, 0, 51], np.uint8), (8, 12, 3))
    features = FeatureExtractor(graph_model(), "convolved").extract(image)
    np.testing.assert_allclose(features.numpy(), [1, -1.6], rtol=1e-5)
    features = FeatureExtractor(graph_model(), "y").extract(image)
    np.testing.assert_allclose(features.numpy(), [1, 0], atol=1e-5)


def test_options_of_features() -> None:
    image = np.broadcast_to(np.array([255, 0, 51], np.uint8), (8, 12, 3))
    extractor = FeatureExtractor(
        graph_model((1, -1, -1, 3)),
        "convolved:0",
        input_size=(5, 7),
        value_range=(0.0, 1.0),
        pooling=None,
    )
    features = extractor.extract(image)
    assert features.shape == (5, 7, 2)
    np.testing.assert_allclose(features.numpy()[2, 3], [1, 0.2], rtol=1e-5)


def test_models_are_loaded_with_options(tmp_path: Path) -> None:
    graph_model().save(tmp_path)
    extractor = FeatureExtractor.load(
        tmp_path, node="y", load_options={"on_progress": lambda fraction: None}
    )
    again = asyncio.run(FeatureExtractor.load_async(tmp_path, node="y", pooling=None))
    image = image_of(RED)
    assert extractor.extract(image).shape == (2,)
    assert again.extract(image).shape == (4, 6, 2)


@pytest.mark.parametrize("head", [None, "own"])
def test_classes_are_learned_from_examples(backend: str, head: str | None) -> None:
    keras.utils.set_random_seed(0)
    own = None
    if head:
        own = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
        own.compile("adam", "sparse_categorical_crossentropy")
        own.optimizer.learning_rate = 0.1
    extractor = FeatureExtractor(graph_model(), "y")
    classifier = TransferClassifier(extractor, ["red", "green"], head=own, learning_rate=0.01)
    for _ in range(4):
        classifier.add_example(image_of(RED), "red")
        classifier.add_example(image_of(GREEN), "green")
    assert classifier.get_class_example_count() == {"red": 4, "green": 4}
    history = classifier.fit(epochs=30)
    assert history.history["loss"][-1] < 0.3
    for name, color in (("red", RED), ("green", GREEN)):
        prediction = classifier.predict(image_of(color))
        assert next(iter(prediction)) == name
        assert prediction[name] > 0.7
        assert sum(prediction.values()) == pytest.approx(1, rel=1e-5)


def test_the_asynchronous_forms_do_the_same() -> None:
    images = {"red": image_of(RED), "green": image_of(GREEN)}
    extractor = FeatureExtractor(graph_model(), "y")

    def synchronous() -> dict[str, float]:
        classifier = TransferClassifier(extractor, ["red", "green"])
        for name, image in images.items():
            classifier.add_example(image, name)
        classifier.fit(epochs=2, batch_size=1, shuffle=False)
        return classifier.predict(images["red"])

    async def asynchronous() -> dict[str, float]:
        classifier = TransferClassifier(extractor, ["red", "green"])
        for name, image in images.items():
            await classifier.add_example_async(image, name)
        await classifier.fit_async(epochs=2, batch_size=1, shuffle=False)
        return await classifier.predict_async(images["red"])

    keras.utils.set_random_seed(1)
    expected = synchronous()
    keras.utils.set_random_seed(1)
    assert asyncio.run(asynchronous()) == expected


def test_every_class_needs_examples() -> None:
    classifier = TransferClassifier(FeatureExtractor(graph_model(), "y"), ["red", "green", "blue"])
    classifier.add_example(image_of(RED), "red")
    with pytest.raises(ValueError, match="fit: there are no examples of green, blue"):
        classifier.fit()
    classifier.clear_examples()
    assert classifier.get_class_example_count() == {"red": 0, "green": 0, "blue": 0}


def test_a_validation_split_has_some_examples_of_each_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[list[int]] = []
    classifier = TransferClassifier(FeatureExtractor(graph_model(), "y"), ["red", "green"])
    monkeypatch.setattr(
        classifier.head, "fit", lambda x, y, **options: seen.append(y.tolist()), raising=True
    )
    for name, color, count in (("red", RED, 8), ("green", GREEN, 4)):
        for _ in range(count):
            classifier.add_example(image_of(color), name)
    classifier.fit(validation_split=0.25)
    (labels,) = seen
    assert labels[-3:].count(1) == 1
    assert labels[:9].count(1) == 3


def test_examples_move_to_another_classifier(no_leak: None) -> None:
    extractor, names = FeatureExtractor(graph_model(), "y"), ["red", "green", "blue"]
    classifier, other = (TransferClassifier(extractor, names) for _ in range(2))
    for name, color in (("green", GREEN), ("red", RED), ("green", GREEN)):
        classifier.add_example(image_of(color), name)
    dataset = classifier.get_classifier_dataset()
    assert {name: rows.shape for name, rows in dataset.items()} == {"red": (1, 2), "green": (2, 2)}
    other.add_example(image_of(RED), "blue")
    other.set_classifier_dataset({name: rows.tolist() for name, rows in dataset.items()})
    assert other.get_class_example_count() == {"red": 1, "green": 2, "blue": 0}
    again = other.get_classifier_dataset()
    assert {name: rows.tolist() for name, rows in again.items()} == {
        name: rows.tolist() for name, rows in dataset.items()
    }


@pytest.mark.parametrize(
    "dataset, message",
    [
        ({"blue": [[1.0]]}, "class_name must be 'red' or 'green', but got 'blue'"),
        ({"red": [[1.0]], "green": [[1.0, 2.0]]}, r"one shape, but got \[\(1, 1\), \(1, 2\)\]"),
        ({"red": 1.0}, r"must have features \(count, …\) of one shape, but got \[\(\)\]"),
    ],
)
def test_other_examples_are_refused(dataset: Any, message: str) -> None:
    classifier = TransferClassifier(FeatureExtractor(graph_model(), "y"), ["red", "green"])
    classifier.add_example(image_of(RED), "red")
    with pytest.raises(ValueError, match=f"set_classifier_dataset: .*{message}"):
        classifier.set_classifier_dataset(dataset)
    assert classifier.get_class_example_count() == {"red": 1, "green": 0}


@pytest.mark.parametrize("names", [["red"], [], ["red", "green", "red"]])
def test_classes_are_different(names: list[str]) -> None:
    extractor = FeatureExtractor(graph_model(), "y")
    with pytest.raises(ValueError, match="class_names must be two or more, all different; got"):
        TransferClassifier(extractor, names)


def test_an_example_is_of_a_known_class() -> None:
    classifier = TransferClassifier(FeatureExtractor(graph_model(), "y"), ["red", "green"])
    with pytest.raises(ValueError, match="class_name must be 'red' or 'green', but got 'b"):
        classifier.add_example(image_of(RED), "blue")


@pytest.mark.parametrize(
    "name, message",
    [
        (
            "convolve",
            "there is no node 'convolve'; did you mean 'convolved'. model.node_names lists",
        ),
        ("zzz", "there is no node 'zzz'; model.node_names lists the nodes"),
    ],
)
def test_unknown_nodes_are_named(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FeatureExtractor(graph_model(), name)


def test_other_models_and_options_are_refused() -> None:
    with pytest.raises(ValueError, match=r"FeatureExtractor: expected a graph model with an input"):
        FeatureExtractor(constant_model((1, 3, 4, 4), {"y": [0.0]}), "y")
    options: Any = {"pooling": "max"}
    with pytest.raises(ValueError, match="pooling must be 'avg' or None, but got 'max'"):
        FeatureExtractor(graph_model(), "y", **options)
    with pytest.raises(TypeError, match="FeatureExtractor: missing a required argument: 'node'"):
        FeatureExtractor.load("no such folder")
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'nodes'"):
        FeatureExtractor.load("no such folder", node="y", nodes="y")


def test_a_graph_model_names_its_nodes() -> None:
    assert graph_model().node_names == ["x", "filters", "convolved", "y"]
