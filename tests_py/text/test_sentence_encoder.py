"""Vectors of sentences, by a graph model of known weights."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests_py.text.models import SIZE, TABLE, sentence_model, tokenizer, toxicity_model
from tests_py.vision.models import constant_model
from webtensor.text import SentencePieceTokenizer, UniversalSentenceEncoder

SENTENCES = ["a", "bc bxd", "cc"]


def vectors_of(indices: list[list[int]]) -> np.ndarray:
    return np.stack([(np.arange(1, len(row) + 1) @ TABLE[row]) for row in indices])


def test_sentences_become_vectors(backend: str, no_leak: None) -> None:
    encoder = UniversalSentenceEncoder(sentence_model(), tokenizer())
    vectors = encoder.embed(SENTENCES)
    assert vectors.shape == (3, SIZE)
    expected = vectors_of([[1], [2, 3, 2, 0, 5], [4, 3, 3]])
    np.testing.assert_allclose(vectors.numpy(), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(encoder.embed("cc").numpy(), vectors.numpy()[2:])
    again = asyncio.run(encoder.embed_async(SENTENCES))
    np.testing.assert_array_equal(again.numpy(), vectors.numpy())
    encoder.dispose()


def test_a_model_is_loaded_with_its_tokenizer(tmp_path: Path) -> None:
    sentence_model().save(tmp_path)
    expected = UniversalSentenceEncoder(sentence_model(), tokenizer()).embed("bc").numpy()
    loaded = UniversalSentenceEncoder.load(tmp_path, tokenizer=tokenizer())
    np.testing.assert_array_equal(loaded.embed("bc").numpy(), expected)
    loaded = asyncio.run(UniversalSentenceEncoder.load_async(tmp_path, tokenizer=tokenizer()))
    np.testing.assert_array_equal(loaded.embed("bc").numpy(), expected)


@pytest.mark.parametrize("method", ["embed", "embed_async"])
def test_sentences_are_checked(method: str) -> None:
    encoder = UniversalSentenceEncoder(sentence_model(), tokenizer())

    def call(sentences: Any) -> None:
        if method == "embed":
            encoder.embed(sentences)
        else:
            asyncio.run(encoder.embed_async(sentences))

    with pytest.raises(ValueError, match=f"^{method}: there are no sentences"):
        call([])
    with pytest.raises(ValueError, match=f"^{method}: sentence 1 is empty"):
        call(["a", ""])
    with pytest.raises(TypeError, match="text must be a str, but got int"):
        call(["a", 1])


def test_other_models_are_refused() -> None:
    unfit: Any = None
    with pytest.raises(TypeError, match="model must be a GraphModel, but got NoneType; "):
        UniversalSentenceEncoder(unfit, tokenizer())
    with pytest.raises(TypeError, match="tokenizer must be a SentencePieceTokenizer, but got None"):
        UniversalSentenceEncoder(sentence_model(), unfit)
    with pytest.raises(ValueError, match=r"expected a graph model with inputs \(count,\) and"):
        UniversalSentenceEncoder(constant_model((1, 3), {"y": [0.0]}), tokenizer())
    matrix = np.zeros((SIZE, 2))
    with pytest.raises(ValueError, match=r"and one output .* but this one has inputs Pl"):
        UniversalSentenceEncoder(toxicity_model({"one": matrix, "two": matrix}), tokenizer())
    with pytest.raises(TypeError, match="missing a required argument: 'tokenizer'"):
        UniversalSentenceEncoder.load("no such folder")


def test_the_tokenizer_is_an_attribute() -> None:
    encoder = UniversalSentenceEncoder(sentence_model(), tokenizer())
    assert isinstance(encoder.tokenizer, SentencePieceTokenizer)
    assert encoder.tokenizer.encode("bc") == [2, 3]
