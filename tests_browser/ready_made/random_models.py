"""Models of random weights that both sides load, where there are no real ones."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

import webtensor as wt
from tests_py.text.models import sentence_model
from webtensor import keras

__all__ = ["FRAMES", "LETTERS", "MODELS", "WORDS", "write_models"]

#: The characters of sentences; others are unknown.
LETTERS = "abcdefgé日."
#: The words and the shape of spectrograms of the model for speech.
WORDS = ["_background_noise_", "_unknown_", "yes", "no", "seven"]
FRAMES, COLUMNS = 43, 232


def _write_sentences(folder: Path) -> None:
    """Write a model of sentences, and a vocabulary of characters and pieces.

    No character is twice in a piece: TensorFlow.js chooses another one than SentencePiece where
    several orders of the same pieces fit.
    """
    random = Random(1)
    pieces = [*f"{LETTERS}▁"]
    pieces += {"".join(random.sample(pieces, random.randint(2, 4))): None for _ in range(200)}
    scores = [-random.uniform(1, 3 + 10 / len(piece)) for piece in pieces]
    # TensorFlow.js takes the length of the first symbol as that of an unknown character.
    reserved = [("�", 0), *((f"<{number}>", 0) for number in range(5))]
    vocabulary = [*reserved, *zip(pieces, scores, strict=True)]
    table = np.random.default_rng(2).normal(size=(len(vocabulary), 64)).astype(np.float32)
    sentence_model(table).save(folder)
    (folder / "vocab.json").write_text(json.dumps(vocabulary), "utf-8")


def _write_mobilenet(folder: Path) -> None:
    """Write a MobileNet of TensorFlow.js's kind: a graph, with a background and with logits."""
    keras.utils.set_random_seed(3)
    model = keras.applications.MobileNet(
        (224, 224, 3), alpha=0.25, weights=None, classes=1001, classifier_activation=None
    )
    _calibrate(model)
    head = model.get_layer("conv_preds")
    kernel, bias = head.get_weights()
    head.set_weights([12 * kernel, bias])  # else all classes are about equal
    with TemporaryDirectory() as temporary:
        file = Path(temporary) / "model.keras"
        model.save(file)
        wt.convert_model(file, folder, output_format="tfjs_graph_model", overwrite=True)


def _calibrate(model: keras.Model) -> None:
    """Give batch normalization the statistics of images, so that signals do not fade."""
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.0
    images = np.random.default_rng(6).uniform(-1, 1, (4, 7, 7, 3)).repeat(32, 1).repeat(32, 2)
    model(images.astype(np.float32), training=True)


def _write_speech(folder: Path) -> None:
    """Write a layers-model for spectrograms, with its words."""
    keras.utils.set_random_seed(4)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((FRAMES, COLUMNS, 1)),
            layers.Conv2D(4, (2, 8), activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(32, activation="relu"),
            layers.Dense(len(WORDS), activation="softmax"),
        ]
    )
    keras.saving.save_layers_model(model, folder)
    (folder / "metadata.json").write_text(json.dumps({"wordLabels": WORDS}))


#: What writes each model into a folder, by the folder's name.
MODELS = {"sentences": _write_sentences, "mobilenet": _write_mobilenet, "speech": _write_speech}


def write_models(folder: Path) -> None:
    """Write all models into folders of their names."""
    for name, write in MODELS.items():
        write(folder / name)
