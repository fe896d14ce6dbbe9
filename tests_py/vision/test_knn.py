"""The classifier of nearest neighbours."""

import asyncio
from collections import Counter
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor.vision import KNNClassifier, KNNPrediction

RANDOM = np.random.default_rng(0)


def trained() -> KNNClassifier:
    classifier = KNNClassifier()
    for example in ([1, 0, 0], [5, 1, 0]):
        classifier.add_example(example, "a")
    for example in ([0, 1, 0], [0, 3, 1], [0, 9, 1]):
        classifier.add_example(example, 7)
    return classifier


def test_the_nearest_examples_vote(backend: str, no_leak: None) -> None:
    vectors = RANDOM.normal(size=(40, 2, 3)).astype(np.float32)
    labels = [f"class {index % 5}" for index in range(40)]
    classifier = KNNClassifier()
    for vector, label in zip(vectors, labels, strict=True):
        classifier.add_example(wt.tensor(vector), label)
    rows = vectors.reshape(40, 6)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for x in RANDOM.normal(size=(10, 2, 3)).astype(np.float32):
        nearest = np.argsort(-rows @ x.ravel())[:7]
        votes = Counter(labels[index] for index in nearest)
        prediction = classifier.predict_class(x, k=7)
        expected = {f"class {index}": votes[f"class {index}"] / 7 for index in range(5)}
        assert prediction.confidences == pytest.approx(expected)
        assert votes[str(prediction.label)] == max(votes.values())
        assert prediction.label == f"class {prediction.class_index}"


def test_of_equal_votes_the_class_that_was_added_first_wins() -> None:
    prediction = trained().predict_class([1, 1, 0], k=4)
    assert prediction == KNNPrediction("a", 0, {"a": 0.5, 7: 0.5})


def test_lengths_do_not_count() -> None:
    classifier = KNNClassifier()
    classifier.add_example([100.0, 1.0], "long")
    classifier.add_example([0.1, 0.1], "short")
    assert classifier.predict_class([5.0, 5.0], k=1).label == "short"


def test_zeros_are_near_to_nothing() -> None:
    classifier = trained()
    classifier.add_example([0, 0, 0], "zero")
    assert classifier.predict_class([0, 0.1, 0], k=3).confidences == {"a": 0, 7: 1, "zero": 0}


def test_fewer_examples_than_neighbors() -> None:
    assert trained().predict_class([0, 1, 0], k=99).confidences == {"a": 0.4, 7: 0.6}


def test_classes_are_counted_and_cleared() -> None:
    classifier = trained()
    assert classifier.get_num_classes() == 2
    assert classifier.get_class_example_count() == {"a": 2, 7: 3}
    assert classifier.predict_class([1, 0, 0], k=1).label == "a"
    classifier.clear_class("a")
    assert classifier.get_class_example_count() == {7: 3}
    assert classifier.predict_class([1, 0, 0], k=1) == KNNPrediction(7, 1, {7: 1.0})
    classifier.clear_class(7)
    classifier.add_example([1.0, 2.0], "of another shape")
    classifier.clear_all_classes()
    assert classifier.get_num_classes() == 0
    classifier.add_example([1.0, 2.0, 3.0, 4.0], "of another shape")


def test_examples_move_to_another_classifier() -> None:
    dataset = trained().get_classifier_dataset()
    assert {label: matrix.shape for label, matrix in dataset.items()} == {"a": (2, 3), 7: (3, 3)}
    np.testing.assert_allclose(np.linalg.norm(dataset["a"].numpy(), axis=1), 1, rtol=1e-6)
    other = KNNClassifier()
    other.set_classifier_dataset(dataset)
    x = [0.2, 0.3, 0.4]
    assert other.predict_class(x) == trained().predict_class(x)
    other.dispose()
    assert dataset["a"].numpy().shape == (2, 3)


def test_examples_of_another_classifier_have_a_size_but_no_shape() -> None:
    classifier = KNNClassifier()
    classifier.set_classifier_dataset({"a": wt.ones((1, 6))})
    assert classifier.predict_class(wt.ones((2, 3))).label == "a"
    with pytest.raises(ValueError, match=r"x has shape \(5,\), but the examples have \(6,\)"):
        classifier.predict_class(wt.ones((5,)))
    classifier.add_example(wt.ones((3, 2)), "b")
    with pytest.raises(ValueError, match=r"x has shape \(2, 3\), but the examples have \(3, 2\)"):
        classifier.predict_class(wt.ones((2, 3)))


def test_examples_outlive_a_tidy_scope(no_leak: None) -> None:
    classifier = KNNClassifier()
    with wt.tidy():
        classifier.add_example(wt.ones((3,)), "a")
        assert classifier.predict_class([1, 1, 1]).label == "a"
    classifier.add_example([0, 0, 1], "b")
    assert classifier.predict_class([1, 1, 1], k=1).label == "a"
    classifier.dispose()


def test_the_asynchronous_form_predicts_the_same() -> None:
    classifier, x = trained(), [0.2, 0.3, 0.4]
    assert asyncio.run(classifier.predict_class_async(x)) == classifier.predict_class(x)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda knn: knn.add_example([1.0], "a"),
            r"add_example: example has shape \(1,\), but .*\(3,",
        ),
        (lambda knn: knn.predict_class([[1.0] * 3]), r"predict_class: x has shape \(1, 3\), but"),
        (
            lambda knn: knn.predict_class([1.0] * 3, k=0),
            "predict_class: k must be positive, but got 0",
        ),
        (
            lambda knn: knn.clear_class("b"),
            r"clear_class: there is no class 'b'; there are \['a', 7\]",
        ),
        (lambda knn: knn.set_classifier_dataset({"a": [1.0]}), r"but got \{'a': \(1,\)\}"),
        (
            lambda knn: knn.set_classifier_dataset({"a": wt.ones((2, 3)), "b": wt.ones((2, 4))}),
            r"classes must have shapes \(count, size\) of one size, but got",
        ),
        (lambda knn: knn.set_classifier_dataset({"a": wt.ones((0, 3))}), r"'a': \(0, 3\)"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(trained())


def test_the_number_of_nearest_examples_must_be_an_integer() -> None:
    k: Any = 1.5
    with pytest.raises(TypeError, match=r"predict_class: k must be an integer, but got 1\.5"):
        trained().predict_class([1.0] * 3, k=k)
    k = np.int64(1)
    assert trained().predict_class([1, 1, 0], k=k) == trained().predict_class([1, 1, 0], k=1)


def test_predictions_need_examples() -> None:
    with pytest.raises(ValueError, match="predict_class: there are no examples yet"):
        KNNClassifier().predict_class([1.0])
