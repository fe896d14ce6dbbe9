"""Labels of sentences, by a graph model of known weights."""

import asyncio
from typing import Any

import numpy as np
import pytest

from tests_py.text.models import SIZE, TABLE, sentence_model, tokenizer, toxicity_model
from webtensor.text import ToxicityClassifier

RANDOM = np.random.default_rng(1)
LOGITS = {
    label: RANDOM.normal(size=(SIZE, 2)).astype(np.float32)
    for label in ("identity_attack", "insult", "threat")
}
SENTENCES = ["a", "b", "cc d"]
VECTORS = np.stack([TABLE[1], TABLE[2], np.array([1, 2, 3, 4, 5]) @ TABLE[[4, 3, 3, 4, 5]]])


def probabilities_of(label: str) -> np.ndarray:
    powers = np.exp(VECTORS @ LOGITS[label])
    return powers / powers.sum(axis=1, keepdims=True)


def classifier(**options: Any) -> ToxicityClassifier:
    return ToxicityClassifier(toxicity_model(LOGITS), tokenizer(), **options)


def test_each_label_has_probabilities_for_each_sentence(backend: str, no_leak: None) -> None:
    predictions = classifier().classify(SENTENCES)
    assert [prediction.label for prediction in predictions] == list(LOGITS)
    for label, results in predictions_by_label(predictions).items():
        values = [result.probabilities for result in results]
        np.testing.assert_allclose(values, probabilities_of(label), rtol=1e-5, atol=1e-6)


def predictions_by_label(predictions: Any) -> dict[str, Any]:
    return {prediction.label: prediction.results for prediction in predictions}


@pytest.mark.parametrize("threshold", [0.0, 0.7, 0.85, 1.0])
def test_only_what_is_above_the_threshold_matches(threshold: float) -> None:
    predictions = predictions_by_label(classifier(threshold=threshold).classify(SENTENCES))
    matches = [result.match for label in LOGITS for result in predictions[label]]
    expected = [
        bool(yes > no) if max(no, yes) > threshold else None
        for label in LOGITS
        for no, yes in probabilities_of(label)
    ]
    assert matches == expected
    assert (None in matches) == (threshold > 0)
    if threshold == 0.7:
        assert {*matches} == {True, False, None}


def test_labels_are_chosen() -> None:
    chosen = classifier(labels=["threat", "identity_attack"])
    assert chosen.labels == ["identity_attack", "threat"]
    everything = predictions_by_label(classifier().classify("cc d"))
    predictions = predictions_by_label(chosen.classify("cc d"))
    assert predictions == {label: everything[label] for label in chosen.labels}


def test_the_asynchronous_form_does_the_same() -> None:
    model = classifier()
    assert asyncio.run(model.classify_async(SENTENCES)) == model.classify(SENTENCES)


def test_arguments_are_checked() -> None:
    with pytest.raises(
        ValueError, match=r"there is no label 'rude'; there are \['identity_attack'"
    ):
        classifier(labels=["rude"])
    with pytest.raises(ValueError, match=r"threshold must lie in \[0, 1\], but got 2"):
        classifier(threshold=2)
    with pytest.raises(TypeError, match="threshold must be a number, but got 'high'"):
        classifier(threshold="high")
    with pytest.raises(ValueError, match="classify: there are no sentences"):
        classifier().classify([])
    with pytest.raises(ValueError, match="classify: sentence 0 is empty"):
        classifier().classify("")
    with pytest.raises(
        ValueError, match=r"ToxicityClassifier: expected .* an output \(sentences, 2"
    ):
        ToxicityClassifier(sentence_model(), tokenizer()).classify("a")
