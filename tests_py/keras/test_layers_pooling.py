"""Pooling layers beside Keras's: random configurations, masks, and what is refused."""

import random
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

RANKS = (1, 2, 3)
FORMATS = (None, "channels_last", "channels_first")


def shape(choose: random.Random, rank: int, data_format: str | None) -> Any:
    """A shape of inputs."""
    sizes = [choose.randint(4, 9 - rank) for _ in range(rank)]
    channels = choose.randint(1, 3)
    return (2, channels, *sizes) if data_format == "channels_first" else (2, *sizes, channels)


def integers(choose: random.Random, rank: int, most: int) -> Any:
    """A number, or one for each axis."""
    each = tuple(choose.randint(1, most) for _ in range(rank))
    return choose.choice([each[0], each])


def windows(kind: str, rank: int, count: int) -> list[Case]:
    choose = random.Random(f"{kind}{rank}")
    results = []
    for _ in range(count):
        config = {
            "pool_size": integers(choose, rank, 3),
            "strides": choose.choice([None, integers(choose, rank, 3)]),
            "padding": choose.choice(["valid", "same"]),
            "data_format": choose.choice(FORMATS),
        }
        input_shape = shape(choose, rank, config["data_format"])
        results.append(Case(f"{kind}Pooling{rank}D", config, input_shape))
    return results


def whole(kind: str, rank: int) -> list[Case]:
    choose = random.Random(f"global {kind}{rank}")
    configs: list[dict[str, Any]] = [{}, {"keepdims": True, "data_format": "channels_first"}]
    return [
        Case(f"Global{kind}Pooling{rank}D", config, shape(choose, rank, config.get("data_format")))
        for config in configs
    ]


def parts(kind: str, rank: int) -> list[Case]:
    choose = random.Random(f"adaptive {kind}{rank}")
    results = []
    for data_format in FORMATS[1:] if rank < 3 else FORMATS[2:]:
        input_shape = shape(choose, rank, data_format)
        most = 4 if rank < 3 else 2  # JAX compiles something for each part
        config = {"output_size": integers(choose, rank, most), "data_format": data_format}
        results.append(Case(f"Adaptive{kind}Pooling{rank}D", config, input_shape))
    return results


CASES = [
    *(case for kind in ("Max", "Average") for rank in RANKS for case in windows(kind, rank, 3)),
    *(case for kind in ("Max", "Average") for rank in RANKS for case in whole(kind, rank)),
    *(case for kind in ("Max", "Average") for rank in RANKS for case in parts(kind, rank)),
    Case("AdaptiveAveragePooling2D", {"output_size": (2, 3)}, (2, 4, 6, 2)),
    Case("AdaptiveMaxPooling2D", {"output_size": (3, 4)}, (2, 7, 4, 2)),
    Case("MaxPooling2D", {}, (1, 4, 4, 1)),
    Case("AveragePooling3D", {"pool_size": (1, 2, 2), "padding": "same"}, (1, 3, 3, 3, 2)),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case)


MASK = np.array([[True, False, True, True], [False, False, True, False]])


@pytest.mark.parametrize("config", [{}, {"keepdims": True}, {"data_format": "channels_first"}])
def test_means_of_the_steps_that_a_mask_lets(config: dict[str, Any]) -> None:
    input_shape = (2, 3, 4) if "data_format" in config else (2, 4, 3)
    check(Case("GlobalAveragePooling1D", config, input_shape, {"mask": MASK}))


def test_masks_that_inputs_carry_end_there() -> None:
    x = wt.tensor(np.arange(8.0), shape=(2, 4, 1))
    x._keras_mask = wt.tensor(MASK)
    result = ours.layers.GlobalAveragePooling1D()(x)
    assert np.allclose(result.tolist(), [[5 / 3], [6.0]])
    assert getattr(result, "_keras_mask", None) is None


def test_other_names_are_the_same_classes() -> None:
    layers = ours.layers
    for rank in RANKS:
        for short, long in (("Avg", "Average"), ("Max", "Max")):
            for prefix in ("", "Global"):
                name = f"{prefix}{short}Pool{rank}D"
                assert getattr(layers, name) is getattr(layers, f"{prefix}{long}Pooling{rank}D")


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("MaxPooling2D", {"pool_size": 0}, "MaxPooling2D: pool_size must be a positive integer"),
    ("MaxPooling2D", {"pool_size": (2, 2, 2)}, r"pool_size must be .* but got \(2, 2, 2\)"),
    ("AveragePooling1D", {"pool_size": 2, "padding": "full"}, "padding must be one of valid, same"),
    ("MaxPooling1D", {"strides": -1}, "strides must be a positive integer, but got -1"),
    ("AdaptiveMaxPooling2D", {"output_size": (0, 2)}, "output_size must be a positive integer"),
    ("GlobalMaxPooling1D", {"data_format": "last"}, "data_format must be 'channels_last' or"),
]


@pytest.mark.parametrize("name, config, message", REFUSED)
def test_refused(name: str, config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(ours.layers, name)(**config)


@pytest.mark.parametrize("size", [None, 1.5, "2", (1, 2, 3), []])
def test_adaptive_sizes_of_another_kind_are_refused(size: Any) -> None:
    for keras_or_ours in (keras, ours):
        with pytest.raises(TypeError, match="output_size"):
            keras_or_ours.layers.AdaptiveMaxPooling2D(size)


@pytest.mark.parametrize("name", ["AdaptiveAveragePooling1D", "AdaptiveMaxPooling1D"])
def test_too_many_sections_are_refused(name: str) -> None:
    with pytest.raises(wt.TensorSizeError, match=r"output_size=\(1099511627776,\) asks for"):
        getattr(ours.layers, name)(2**40)(wt.ones((1, 3, 1)))


def test_the_greatest_of_integers_is_one_of_them() -> None:
    x = np.arange(12, dtype="int32").reshape(1, 4, 3)
    for name, size in (
        ("MaxPooling1D", 2),
        ("AdaptiveMaxPooling1D", 2),
        ("AdaptiveMaxPooling1D", 3),
    ):
        theirs, result = (getattr(k.layers, name)(size)(x) for k in (keras, ours))
        assert str(theirs.dtype) == str(result.dtype) == "int32"
        np.testing.assert_array_equal(np.asarray(result), np.asarray(theirs))


def test_refused_inputs() -> None:
    with pytest.raises(ValueError, match=r"window that reaches over \(5, 5\) does not fit"):
        ours.layers.MaxPooling2D(5)(ours.Input((4, 4, 3)))
    with pytest.raises(ValueError, match=r"\(None, 4, 4\)"):
        ours.layers.MaxPooling2D()(ours.Input((4, 4)))
