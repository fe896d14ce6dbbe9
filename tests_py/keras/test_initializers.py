"""Initializers: shapes, statistics and configurations are those of Keras."""

from collections.abc import Iterator
from math import sqrt
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from webtensor import keras as ours
from webtensor.keras.initializers import compute_fans

VARIANCES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ("GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform")),
    *((name, {}) for name in ("LecunNormal", "LecunUniform", "VarianceScaling")),
    *(
        ("VarianceScaling", {"scale": 2.0, "mode": mode, "distribution": distribution})
        for mode in ("fan_in", "fan_out", "fan_avg")
        for distribution in ("truncated_normal", "untruncated_normal", "uniform")
    ),
    ("HeNormal", {"input_axes": [0], "output_axes": [1]}),
    ("GlorotUniform", {"input_axes": (-1,), "output_axes": (0, 1)}),
    ("VarianceScaling", {"distribution": "normal"}),
]
RANDOM = [
    ("RandomNormal", {}),
    ("RandomNormal", {"mean": 2.0, "stddev": 3.0}),
    ("RandomUniform", {}),
    ("RandomUniform", {"minval": 1.0, "maxval": 3.0}),
    ("TruncatedNormal", {}),
    ("TruncatedNormal", {"mean": 2.0, "stddev": 3.0}),
    *VARIANCES,
]
EXACT = [
    ("Constant", {"value": 3.5}),
    ("Identity", {}),
    ("Identity", {"gain": 2.0}),
    ("Ones", {}),
    ("Zeros", {}),
]


def values(initializer: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
    return np.asarray(initializer(shape, dtype=dtype))


@pytest.mark.parametrize("name, options", RANDOM)
@pytest.mark.parametrize("shape", [(150, 200), (3, 40, 200), (30_000,)])
def test_statistics(
    name: str, options: dict[str, Any], shape: tuple[int, ...], backends: Iterator[str]
) -> None:
    if len(shape) == 1 and "input_axes" in options:
        shape = (150, 20, 10)
    theirs = values(getattr(keras.initializers, name)(seed=1, **options), shape)
    deviation = float(theirs.std())
    for backend in backends:
        mine = values(getattr(ours.initializers, name)(seed=1, **options), shape)
        assert mine.shape == theirs.shape, backend
        assert mine.dtype == theirs.dtype, backend
        assert float(mine.std()) == pytest.approx(deviation, rel=0.03), backend
        mean = pytest.approx(float(theirs.mean()), abs=0.04 * deviation)
        assert float(mine.mean()) == mean, backend
        if "ormal" not in name and options.get("distribution") not in ("untruncated_normal",):
            # Where numbers are bounded, so are theirs, and both come near.
            largest = pytest.approx(float(np.abs(theirs).max()), rel=0.02)
            assert float(np.abs(mine).max()) == largest, backend


@pytest.mark.parametrize("name, options", EXACT)
@pytest.mark.parametrize("shape", [(3, 3), (2, 4)])
def test_constants(name: str, options: dict[str, Any], shape: tuple[int, ...]) -> None:
    for dtype in (None, "float32") if name == "Identity" else (None, "float32", "int32"):
        expected = values(getattr(keras.initializers, name)(**options), shape, dtype)
        result = values(getattr(ours.initializers, name)(**options), shape, dtype)
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("shape", [(), (5,), (5, 7), (3, 5, 7), (2, 3, 5, 7)])
@pytest.mark.parametrize("axes", [(None, None), ([0], [1]), ([-2], [0]), ([0], None)])
def test_fans(shape: tuple[int, ...], axes: tuple[Any, Any]) -> None:
    if all(axes) and len(shape) < 2:
        with pytest.raises(ValueError, match="outside the weight's shape"):
            compute_fans(shape, *axes)
        return
    fans = []
    for mode in ("fan_in", "fan_out"):
        result = keras.initializers.VarianceScaling(1.0, mode, "untruncated_normal", 1, *axes)(
            shape
        )
        unit = keras.random.normal(shape, seed=1)
        fans.append(float((np.asarray(unit) / np.asarray(result)).flat[0]) ** 2)
    assert compute_fans(shape, *axes) == pytest.approx(fans, rel=1e-4)


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (3, 2, 4), (2, 2, 9)])
def test_orthogonal(shape: tuple[int, ...], backend: str) -> None:
    result = (
        values(ours.initializers.Orthogonal(gain=2.0, seed=3), shape).reshape(-1, shape[-1]) / 2
    )
    product = result @ result.T if result.shape[0] < result.shape[1] else result.T @ result
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"side": "imag"},
        {"window": None, "scaling": None},
        {"window": "hamming", "scaling": "spectrum"},
        {"window": "blackman", "scaling": None, "periodic": True},
        {"window": "blackmanharris"},
        {"window": "nuttall"},
        {"window": "flattop"},
        {"window": "flattop", "scaling": "spectrum"},
        {"window": "tukey", "periodic": True},
        {"window": "boxcar"},
        {"window": [1.0, 2.0, 3.0, 2.0, 1.0, 0.5]},
    ],
)
def test_stft(options: dict[str, Any]) -> None:
    theirs = dict(options)
    if isinstance(theirs.get("window"), list):
        theirs["window"] = np.array(theirs["window"], "float32")
    expected = values(keras.initializers.STFT(**theirs), (6, 1, 5))
    np.testing.assert_allclose(
        values(ours.initializers.STFT(**options), (6, 1, 5)), expected, atol=1e-5
    )


# -- seeds -------------------------------------------------------------------------------------


def test_a_seed_gives_the_same_values_at_each_call() -> None:
    for seed in (None, 7):
        initializer = ours.initializers.HeNormal(seed)
        np.testing.assert_array_equal(values(initializer, (3, 4)), values(initializer, (3, 4)))
    two = ours.initializers.HeNormal(7)
    np.testing.assert_array_equal(values(initializer, (3, 4)), values(two, (3, 4)))


def test_no_seed_is_drawn_anew() -> None:
    first, second = ours.initializers.HeNormal(), ours.initializers.HeNormal()
    assert (values(first, (3, 4)) != values(second, (3, 4))).all()
    assert (values(first, (3, 4)) != values(first.clone(), (3, 4))).all()


def test_set_random_seed_decides_those_without_one() -> None:
    wt.set_random_seed(5)
    first = values(ours.initializers.HeNormal(), (3, 4))
    wt.set_random_seed(5)
    np.testing.assert_array_equal(first, values(ours.initializers.HeNormal(), (3, 4)))


def test_a_seed_generator_gives_others_each_time() -> None:
    initializer = ours.initializers.RandomUniform(seed=ours.random.SeedGenerator(3))
    assert (values(initializer, (3, 4)) != values(initializer, (3, 4))).all()
    config: Any = ours.initializers.serialize(initializer)
    again = ours.initializers.deserialize(config)
    assert again.seed.get_config()["seed"] == 3


# -- names and configurations ------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, options",
    [*RANDOM, *EXACT, ("Orthogonal", {}), ("Orthogonal", {"gain": 2.0}), ("STFT", {})],
)
def test_configurations(name: str, options: dict[str, Any]) -> None:
    theirs = getattr(keras.initializers, name)(**options)
    mine = getattr(ours.initializers, name)(**options)
    config: Any = ours.initializers.serialize(mine)
    if name == "Identity" and options:  # Keras forgets it
        assert config["config"] == options
    else:
        assert config == keras.initializers.serialize(theirs)
    again = ours.initializers.deserialize(config)
    assert type(again) is type(mine)
    assert again.get_config() == mine.get_config()
    assert keras.initializers.deserialize(config).get_config() == theirs.get_config()


@pytest.mark.parametrize(
    "name",
    [
        *("glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity"),
        *("lecun_normal", "lecun_uniform", "normal", "one", "ones", "orthogonal", "random_normal"),
        *("random_uniform", "stft", "truncated_normal", "uniform", "variance_scaling", "zero"),
        *("zeros", "IdentityInitializer", "OrthogonalInitializer", "STFTInitializer", "HeNormal"),
    ],
)
def test_names(name: str) -> None:
    expected = keras.initializers.get(name)
    assert type(ours.initializers.get(name)).__name__ == type(expected).__name__


def test_every_name_of_keras_is_there() -> None:
    theirs = {name for name in dir(keras.initializers) if not name.startswith("_")}
    assert theirs == set(ours.initializers.__all__)


def test_values_and_functions_are_initializers() -> None:
    initializer = ours.initializers.get(np.ones((2, 2), "float32"))
    np.testing.assert_array_equal(values(initializer, (2, 2)), np.ones((2, 2)))
    with pytest.raises(ValueError, match="wanted shape"):
        initializer((3,))
    assert ours.initializers.get(wt.ones) is wt.ones
    assert ours.initializers.get(None) is None
    assert sqrt(2) == pytest.approx(float(ours.initializers.Constant(sqrt(2))(())))


@pytest.mark.parametrize(
    "name, stored", [("float16", "float32"), ("float64", "float32"), ("int64", "int32")]
)
def test_other_dtypes_are_held(name: str, stored: str) -> None:
    for make in (ours.initializers.Ones(), ours.initializers.get(np.ones(2, "float64"))):
        assert make((2,), name).dtype == stored
    assert ours.optimizers.SGD().add_variable((), dtype=name).dtype == stored


def test_wrong_arguments() -> None:
    ini: Any = ours.initializers
    for call, message in (
        (lambda: ini.get("he_norml"), "initializer 'he_norml' is not known; did you mean 'he_n"),
        (lambda: ini.VarianceScaling(scale=-1), "scale must be positive, but got -1"),
        (lambda: ini.VarianceScaling(mode="x"), "mode must be one of 'fan_in', 'fan_out', "),
        (lambda: ini.VarianceScaling(distribution="x"), "distribution must be one of"),
        (lambda: ini.HeNormal(seed="a"), "HeNormal: seed must be an integer"),
        (lambda: ini.Identity()((2, 3, 4)), "shape must be that of a matrix"),
        (lambda: ini.Orthogonal()((2,)), "two axes at least"),
        (lambda: ini.STFT(side="x"), "side must be"),
        (lambda: ini.STFT(window="han"), "did you mean 'hann'"),
        (lambda: ini.STFT(scaling="x"), "scaling must be"),
        (lambda: ini.STFT()((4, 5)), r"shape must be \(frame, 1, frequencies\)"),
        (lambda: ini.STFT(window=[1.0])((4, 1, 5)), "window has 1 values"),
        (lambda: ini.HeNormal()((2, 2), dtype="int32"), "dtype must be one of floats"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(NotImplementedError, match="__call__"):
        ini.Initializer()((2,))
