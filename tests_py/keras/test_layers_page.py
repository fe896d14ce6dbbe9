"""The page of layers leaves none of Keras's out, and tells the truth about those of ours."""

import re
from pathlib import Path

import keras

from webtensor.keras import layers

PAGE = (Path(__file__).parents[2] / "docs" / "layers.md").read_text("utf-8")
FOUND, MISSING = (
    set(re.findall(r"`(\w+)`", part.partition("\n\n## ")[0] + "\n"))
    for part in (PAGE.partition("| family")[2], PAGE.partition("| layers | why |")[2])
)


def test_every_layer_of_keras_is_listed_once() -> None:
    theirs = {name for name in dir(keras.layers) if not name.startswith("_")}
    listed = {*FOUND, *MISSING}
    assert theirs - listed == {"deserialize", "serialize"}
    assert not FOUND & MISSING


def test_what_is_listed_exists() -> None:
    assert [name for name in sorted(FOUND) if not hasattr(layers, name)] == []
    assert [name for name in sorted(MISSING) if hasattr(layers, name)] == []
