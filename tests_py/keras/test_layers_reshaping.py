"""Layers that change shapes beside Keras's, and what is refused."""

from typing import Any

import numpy as np
import pytest

from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

FIRST = {"data_format": "channels_first"}
SEQUENCE, IMAGE, VOLUME = (2, 5, 3), (2, 4, 5, 3), (2, 3, 4, 5, 2)
INTEGERS = np.arange(24, dtype="int32").reshape(2, 3, 4)

CASES = [
    Case("Flatten", {}, (2, 3, 4)),
    Case("Flatten", {}, (3,)),
    Case("Flatten", {}, INTEGERS),
    Case("Flatten", FIRST, (2, 3)),
    Case("Flatten", FIRST, IMAGE),
    Case("Reshape", {"target_shape": (4, 3)}, (2, 3, 4)),
    Case("Reshape", {"target_shape": [-1, 2]}, (2, 3, 4)),
    Case("Reshape", {"target_shape": (-1,)}, INTEGERS),
    Case("Reshape", {"target_shape": ()}, (3, 1)),
    Case("Permute", {"dims": (2, 1)}, INTEGERS),
    Case("Permute", {"dims": [3, 1, 2]}, IMAGE),
    Case("RepeatVector", {"n": 3}, (2, 4)),
    Case("Cropping1D", {}, SEQUENCE),
    Case("Cropping1D", {"cropping": 2}, SEQUENCE),
    Case("Cropping1D", {"cropping": (0, 3)}, SEQUENCE),
    Case("Cropping2D", {}, IMAGE),
    Case("Cropping2D", {"cropping": 1}, IMAGE),
    Case("Cropping2D", {"cropping": (1, 2)}, IMAGE),
    Case("Cropping2D", {"cropping": ((1, 0), (0, 2)), **FIRST}, (2, 3, 4, 5)),
    Case("Cropping3D", {}, VOLUME),
    Case("Cropping3D", {"cropping": ((1, 0), 1, (0, 2)), **FIRST}, (2, 2, 3, 4, 5)),
    Case("ZeroPadding1D", {}, SEQUENCE),
    Case("ZeroPadding1D", {"padding": (0, 2), **FIRST}, SEQUENCE),
    Case("ZeroPadding2D", {}, IMAGE),
    Case("ZeroPadding2D", {"padding": 2, **FIRST}, IMAGE),
    Case("ZeroPadding2D", {"padding": ((1, 0), (0, 3))}, IMAGE),
    Case("ZeroPadding3D", {}, VOLUME),
    Case("ZeroPadding3D", {"padding": (0, (1, 2), 1), **FIRST}, VOLUME),
    Case("UpSampling1D", {}, SEQUENCE),
    Case("UpSampling1D", {"size": 3}, SEQUENCE),
    Case("UpSampling2D", {}, IMAGE),
    Case("UpSampling2D", {"size": (1, 3), **FIRST}, IMAGE),
    *(
        Case("UpSampling2D", {"size": (2, 3), "interpolation": name}, (1, 4, 3, 2))
        for name in ("bilinear", "bicubic", "lanczos3", "lanczos5")
    ),
    Case("UpSampling2D", {"interpolation": "BICUBIC", **FIRST}, (1, 2, 4, 3)),
    Case("UpSampling3D", {}, VOLUME),
    Case("UpSampling3D", {"size": (2, 1, 3), **FIRST}, VOLUME),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case)


def test_unknown_lengths() -> None:
    layers, x = ours.layers, ours.Input((None, 4))
    assert layers.Flatten()(x).shape == (None, None)
    assert layers.Reshape((-1, 2))(x).shape == (None, None, 2)
    assert layers.Permute((2, 1))(x).shape == (None, 4, None)
    assert layers.Cropping1D(1)(x).shape == (None, None, 4)
    assert layers.ZeroPadding1D(1)(x).shape == (None, None, 4)
    assert layers.UpSampling1D(2)(x).shape == (None, None, 4)


REFUSED: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("Reshape", {"target_shape": (-1, -1)}, ValueError, "-1 at most once"),
    ("Reshape", {"target_shape": (2, -3)}, ValueError, "target_shape must consist of"),
    ("Permute", {"dims": (0, 1)}, ValueError, "dims must be the numbers from 1"),
    ("RepeatVector", {"n": 1.5}, TypeError, "n must be an integer, but got 1.5"),
    ("RepeatVector", {"n": 0}, ValueError, "n must be positive, but got 0"),
    ("Cropping1D", {"cropping": (1, 2, 3)}, ValueError, r"or 2 of them, but got \(1, 2, 3\)"),
    ("Cropping2D", {"cropping": -1}, ValueError, "cropping must be a non-negative integer"),
    ("ZeroPadding2D", {"padding": (1, 2, 3)}, ValueError, "2 pairs of them, but got"),
    ("ZeroPadding3D", {"padding": "same"}, ValueError, "padding must be an integer, 3 integers"),
    ("UpSampling1D", {"size": (2,)}, TypeError, "size must be an integer"),
    ("UpSampling2D", {"size": 0}, ValueError, "size must be a positive integer"),
    ("UpSampling2D", {"interpolation": "area"}, ValueError, "interpolation must be one of"),
    ("Flatten", {"data_format": "NHWC"}, ValueError, "data_format must be 'channels_last' or"),
]


@pytest.mark.parametrize("name, config, error, message", REFUSED)
def test_refused(name: str, config: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        getattr(ours.layers, name)(**config)


def test_refused_inputs() -> None:
    with pytest.raises(ValueError, match=r"target_shape \(5,\) does not fit inputs of shape"):
        ours.layers.Reshape((5,))(ours.Input((2, 3)))
    with pytest.raises(ValueError, match=r"target_shape \(4, -1\) does not fit"):
        ours.layers.Reshape((4, -1))(ours.Input((2, 3)))
    with pytest.raises(ValueError, match="must leave something along each axis"):
        ours.layers.Cropping2D(2)(ours.Input((4, 9, 1)))
