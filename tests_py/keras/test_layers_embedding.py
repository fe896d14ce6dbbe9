"""Embedding and Masking beside Keras's, and the masks that they make."""

from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

WORDS = np.array([[1, 2, 0], [4, 0, 0], [3, 3, 3]], "int32")
STEPS = np.array([[[1, 2], [0, 0], [3, 0]], [[0, 0], [0, 0], [7, 7]]], "float32")

CASES = [
    Case("Embedding", {"input_dim": 5, "output_dim": 3}, WORDS),
    Case("Embedding", {"input_dim": 5, "output_dim": 3, "mask_zero": True, "name": "words"}, WORDS),
    Case(
        "Embedding",
        {
            "input_dim": 9,
            "output_dim": 2,
            "embeddings_initializer": "he_normal",
            "embeddings_regularizer": "l1",
            "embeddings_constraint": "unit_norm",
        },
        WORDS[0],
    ),
    Case("Masking", {}, STEPS),
    Case("Masking", {"mask_value": 7.0}, STEPS),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case)


def test_embedding_masks_zeros(backend: str) -> None:
    result = ours.layers.Embedding(5, 2, mask_zero=True)(WORDS)
    np.testing.assert_array_equal(result._keras_mask, WORDS != 0)
    assert getattr(ours.layers.Embedding(5, 2)(WORDS), "_keras_mask", None) is None


def test_embedding_takes_floats_and_weights(backend: str) -> None:
    matrix = np.arange(6, dtype="float32").reshape(3, 2)
    layer = ours.layers.Embedding(3, 2, weights=matrix)
    np.testing.assert_array_equal(layer(np.array([2, 0], "float32")), matrix[[2, 0]])
    np.testing.assert_array_equal(layer.embeddings, matrix)


def test_masking_marks_steps(backend: str) -> None:
    result = ours.layers.Masking()(STEPS)
    np.testing.assert_array_equal(result._keras_mask, STEPS.any(-1))


def test_masks_reach_what_follows(backend: str) -> None:
    """What a mask leaves out does not matter, whatever it holds."""
    layer = ours.layers.LSTM(3)
    model = ours.Sequential([ours.layers.Embedding(5, 2, mask_zero=True), layer])
    first = model(WORDS)
    embedded = model.layers[0](WORDS)
    changed = wt.where(wt.expand_dims(WORDS != 0, -1), embedded, 100.0)
    assert_close(layer(changed, mask=WORDS != 0), first, rtol=1e-6)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ours.layers.Embedding(0, 2), "input_dim must be a positive integer, but got 0"),
        (lambda: ours.layers.Embedding(2, 1.5), "output_dim must be a positive integer"),  # type: ignore[arg-type]
        (lambda: ours.layers.Embedding(2, 2, quantization_config=1), "no quant"),  # type: ignore[arg-type]
        (lambda: ours.layers.Embedding(2, 2, weights=np.zeros((3, 2))), r"\(2, 2\), but got \(3"),
    ],
)
def test_errors_name_what_was_wrong(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_index_out_of_range() -> None:
    with pytest.raises(IndexError, match="range from 0 to 9"):
        ours.layers.Embedding(5, 2)(np.array([0, 9], "int32"))
