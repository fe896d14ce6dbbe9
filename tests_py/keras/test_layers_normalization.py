"""Layers that normalize, beside Keras's."""

from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from tests_py.keras.layer_cases import BACKENDS, Case, check
from webtensor import keras as ours

BATCH: list[dict[str, Any]] = [
    {},
    {"axis": 1, "momentum": 0.5},
    {"axis": -2, "epsilon": 0.1, "center": False},
    {"scale": False, "gamma_regularizer": "l2"},
    {"center": False, "scale": False, "name": "plain"},
    {
        "momentum": 0.8,
        "beta_initializer": "random_normal",
        "gamma_constraint": "non_neg",
        "moving_variance_initializer": "random_uniform",
    },
]
RENORM: list[dict[str, Any]] = [
    {"renorm": True},
    {"renorm": True, "axis": 1, "scale": False, "renorm_clipping": {"rmax": 1.2, "rmin": 0.8}},
    {
        "renorm": True,
        "center": False,
        "renorm_momentum": 0.7,
        "renorm_clipping": {"dmax": 0.3, "rmax": 2.0},
    },
]
LAYER: list[tuple[dict[str, Any], tuple[int, ...]]] = [
    ({}, (2, 5)),
    ({}, (2, 3, 4)),
    ({"axis": [1, 2], "epsilon": 0.1}, (2, 3, 4)),
    ({"axis": (-1, -2), "center": False}, (2, 3, 4)),
    ({"axis": 1}, (2, 3, 4)),
    ({"axis": [1, 3], "scale": False}, (2, 3, 4, 2)),
    ({"axis": [2, 1, 3], "name": "all"}, (2, 3, 2, 2)),
    ({"scale": False, "beta_regularizer": "l2"}, (4, 3)),
    ({"center": False, "scale": False}, (4, 3)),
]
RMS: list[tuple[dict[str, Any], tuple[int, ...]]] = [
    ({}, (2, 5)),
    ({"epsilon": 0.1}, (2, 3, 4)),
    ({"axis": [1, 2]}, (2, 3, 4)),
    ({"axis": -1, "name": "root"}, (2, 3, 2, 4)),
]
GROUP: list[tuple[dict[str, Any], tuple[int, ...]]] = [
    ({"groups": 2}, (3, 4)),
    ({"groups": 2}, (2, 3, 3, 4)),
    ({"groups": 1, "scale": False}, (2, 3, 4)),
    ({"groups": 3, "axis": 1, "center": False}, (2, 6, 4)),
    ({"groups": -1, "epsilon": 0.1}, (2, 3, 4)),
    ({"groups": 2, "axis": -2, "center": False, "scale": False}, (2, 4, 3)),
]
UNIT: list[tuple[dict[str, Any], tuple[int, ...]]] = [
    ({}, (2, 5)),
    ({"axis": 1}, (2, 3, 4)),
    ({"axis": [1, 2]}, (2, 3, 4)),
]
MASK = np.array([[True, True, False], [True, False, False]])

CASES = [
    *(
        Case("BatchNormalization", config, shape, {"training": training})
        for config in BATCH
        for shape, training in [((5, 3), True), ((2, 3, 4), False), ((2, 3, 3, 2), True)]
        if shape != (5, 3) or config.get("axis", -1) == -1
    ),
    *(Case("BatchNormalization", config, (2, 3, 4), {"training": True}) for config in RENORM),
    Case("BatchNormalization", RENORM[0], (6, 3), {"training": False}),
    *(
        Case("BatchNormalization", config, (2, 3, 4), {"training": True, "mask": MASK})
        for config in (BATCH[0], BATCH[3], RENORM[0])
    ),
    Case("BatchNormalization", {"trainable": False}, (5, 3), {"training": True}),
    *(Case("LayerNormalization", config, shape) for config, shape in LAYER),
    *(Case("RMSNormalization", config, shape) for config, shape in RMS),
    *(Case("GroupNormalization", config, shape) for config, shape in GROUP),
    *(Case("UnitNormalization", config, shape) for config, shape in UNIT),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case)


def test_moving_statistics_move_in_training_only(backend: str) -> None:
    layer = ours.layers.BatchNormalization(momentum=0.75)
    x = wt.tensor([[1.0, 10.0], [3.0, 30.0]])
    layer(x)
    layer(x, training=False)
    assert layer.moving_mean.tolist() == [0.0, 0.0]
    layer(x, training=True)
    assert layer.moving_mean.tolist() == [0.5, 5.0]
    assert layer.moving_variance.tolist() == [1.0, 25.75]
    layer.trainable = False
    y = layer(x, training=True)
    assert layer.moving_mean.tolist() == [0.5, 5.0]
    assert_close(np.asarray(y)[0], [0.5 / 1.001**0.5, 5 / 25.751**0.5], rtol=1e-5)


def test_statistics_do_not_carry_gradients(backend: str) -> None:
    layer = ours.layers.BatchNormalization()
    x = wt.Variable(np.random.default_rng(0).normal(0, 1, (4, 3)).astype("float32"))

    def loss() -> Any:
        layer(x, training=True)
        return wt.sum(layer.moving_mean.value)

    with pytest.raises(ValueError, match="depend"):
        wt.variable_grads(loss, [x])


def test_steps_in_training_leave_memory_flat(backend: str, no_leak: None) -> None:
    layer = ours.layers.BatchNormalization(renorm=True)
    x = wt.ones((4, 3))
    for _ in range(3):
        layer(x, training=True)
        del layer._losses[:]
    for weight in layer.weights:
        weight.dispose()


def test_batch_normalization_takes_the_mask_that_its_inputs_carry(backend: str) -> None:
    x = np.random.default_rng(0).normal(0, 1, (2, 3, 4)).astype("float32")
    layer, other = ours.layers.BatchNormalization(), ours.layers.BatchNormalization()
    tensor = wt.tensor(x)
    tensor._keras_mask = wt.tensor(MASK)
    y = layer(tensor, training=True)
    assert y._keras_mask is tensor._keras_mask
    expected = other(x, training=True, mask=wt.tensor(MASK))
    np.testing.assert_array_equal(np.asarray(y), np.asarray(expected))
    np.testing.assert_allclose(
        layer.moving_mean.numpy(), x[MASK].mean(0) * 0.01, rtol=1e-4, atol=1e-7
    )


def second_gradient(function: Any, x: wt.Tensor) -> wt.Tensor:
    """The gradient of the sum of squares of a function's gradient."""
    return wt.grad(lambda z: wt.sum(wt.square(wt.grad(function)(z))))(x)


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (1, 2), (0, 2), None])
def test_second_derivatives_of_moments(axis: Any, backend: str) -> None:
    """The gradient of moments is differentiated again as what it stands for."""
    rng = np.random.default_rng(3)
    x = wt.tensor(rng.normal(0, 1, (2, 3, 2)).astype("float32"))

    def scaled(z: Any) -> Any:
        mean, variance = wt.moments(z, axis)
        return wt.sum(wt.square(mean) * variance)

    def plain(z: Any) -> Any:
        mean = wt.mean(z, axis, keepdims=True)
        variance = wt.mean(wt.square(z - mean), axis)
        return wt.sum(wt.square(wt.reshape(mean, variance.shape)) * variance)

    result, expected = (second_gradient(function, x) for function in (scaled, plain))
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize(
    "name, config, axes",
    [
        ("BatchNormalization", {}, (0, 1)),
        ("BatchNormalization", {"scale": False}, (0, 1)),
        ("LayerNormalization", {"center": False}, (2,)),
        ("LayerNormalization", {"axis": 1, "scale": False}, (1,)),
        ("GroupNormalization", {"groups": 1}, (1, 2)),
    ],
)
def test_second_derivatives(name: str, config: dict[str, Any], axes: Any, backend: str) -> None:
    rng = np.random.default_rng(5)
    x = wt.tensor(rng.normal(0, 1, (3, 4, 2)).astype("float32"))
    layer = getattr(ours.layers, name)(**config)
    layer(x)
    epsilon = layer.epsilon

    def scaled(z: Any) -> Any:
        return wt.sum(wt.sin(layer(z, training=True) if axes == (0, 1) else layer(z)) * x)

    def plain(z: Any) -> Any:
        apart = z - wt.mean(z, axes, keepdims=True)
        variance = wt.mean(wt.square(apart), axes, keepdims=True)
        return wt.sum(wt.sin(apart / wt.sqrt(variance + epsilon)) * x)

    result, expected = (second_gradient(function, x) for function in (scaled, plain))
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=2e-3, atol=2e-4)


def test_gradients_survive_tidy(backend: str) -> None:
    x = wt.tensor([[1.0, 2.0], [5.0, 3.0], [0.0, 7.0]])
    for layer in (ours.layers.BatchNormalization(), ours.layers.LayerNormalization()):

        def loss(z: Any, layer: Any = layer) -> Any:
            return wt.sum(layer(z * 2, training=True) * x)

        def tidy_loss(z: Any, loss: Any = loss) -> Any:
            return wt.tidy(lambda: loss(z))

        plain = wt.grad(loss)(x)
        tidied = wt.grad(tidy_loss)(x)
        np.testing.assert_array_equal(np.asarray(tidied), np.asarray(plain))


# -- spectral normalization ----------------------------------------------------------------------


SPECTRAL: list[dict[str, Any]] = [{}, {"power_iterations": 3, "name": "unit"}]


def spectral(module: Any, **config: Any) -> Any:
    """Make a layer around another one."""
    return module.layers.SpectralNormalization(module.layers.Dense(3), **config)


def test_training_goes_on_when_relu_leaves_a_vector_of_zeros_to_normalize(backend: str) -> None:
    x = np.array([[1.0, 2.0], [-1.0, -1.0]], "float32")
    kernel, bias = np.array([[1.0, 2.0, 0.5], [0.5, 1.0, 3.0]], "float32"), np.zeros(3, "float32")
    trained = []
    for module in (keras, ours):
        layers = module.layers
        model = module.Sequential(
            [module.Input((2,)), layers.Dense(3, "relu"), layers.UnitNormalization()]
        )
        model.set_weights([kernel, bias])
        model.compile(module.optimizers.SGD(0.1), "mse")
        model.train_on_batch(x, np.eye(2, 3, dtype="float32"))
        assert not np.any(model.predict(x, verbose=0)[1])
        trained.append(model.get_weights())
    for expected, weight in zip(*trained, strict=True):
        np.testing.assert_allclose(weight, expected, rtol=1e-5)


@pytest.mark.parametrize("config", SPECTRAL, ids=str)
def test_spectral_normalization_as_in_keras(config: dict[str, Any]) -> None:
    check(Case(spectral, config, (2, 4)))


@pytest.mark.parametrize("config", SPECTRAL, ids=str)
def test_spectral_normalization_in_training_as_in_keras(
    config: dict[str, Any], backend: str
) -> None:
    x = np.random.default_rng(0).normal(0, 1, (2, 4)).astype("float32")
    theirs, layer = (spectral(module, **config) for module in (keras, ours))
    theirs(x)
    layer(x)
    layer.set_weights([np.asarray(weight.value) for weight in theirs.weights])
    for _ in range(2):
        expected = np.asarray(theirs(x, training=True))
        assert_close(np.asarray(layer(x, training=True)), expected, rtol=1e-4)
        for weight, their_weight in zip(layer.weights, theirs.weights, strict=True):
            assert_close(weight.numpy(), np.asarray(their_weight.value), rtol=1e-4)


def test_spectral_normalization_makes_the_greatest_singular_value_one(backend: str) -> None:
    ours.utils.set_random_seed(0)
    dense = ours.layers.Dense(5)
    layer = ours.layers.SpectralNormalization(dense, power_iterations=30)
    layer(np.ones((1, 4), "float32"), training=True)
    values = np.linalg.svd(dense.kernel.numpy(), compute_uv=False)
    assert_close(values[0], 1, rtol=1e-3)


def test_spectral_normalization_leaves_a_kernel_of_zeros(backend: str) -> None:
    inner = ours.layers.Dense(2, kernel_initializer="zeros")
    layer = ours.layers.SpectralNormalization(inner)
    layer(np.ones((1, 4), "float32"), training=True)
    assert not inner.kernel.numpy().any()
    assert np.isfinite(layer.vector_u.numpy()).all()


# -- wrong arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, error, match",
    [
        (lambda k: k.BatchNormalization(synchronized=True), ValueError, "synchronized"),
        (
            lambda k: k.BatchNormalization(renorm=True, renorm_clipping={"max": 1}),
            ValueError,
            "renorm_clipping",
        ),
        (
            lambda k: k.BatchNormalization(renorm=True, renorm_clipping={"rmax": 1, "rmin": 2}),
            ValueError,
            "rmax",
        ),
        (
            lambda k: k.BatchNormalization(renorm=True, renorm_clipping={"dmax": -1}),
            ValueError,
            "dmax",
        ),
        (lambda k: k.LayerNormalization(axis="last"), TypeError, "axis"),
        (lambda k: k.UnitNormalization(axis=1.5), TypeError, "axis"),
        (lambda k: k.GroupNormalization(groups=0), ValueError, "groups"),
        (lambda k: k.GroupNormalization(groups=3)(np.ones((2, 4))), ValueError, "4"),
        (lambda k: k.GroupNormalization(groups=8)(np.ones((2, 4))), ValueError, "8"),
        (lambda k: k.SpectralNormalization("dense"), ValueError, "(?i)layer"),
        (
            lambda k: k.SpectralNormalization(k.Dense(2), power_iterations=0),
            ValueError,
            "power_iterations",
        ),
        (
            lambda k: k.SpectralNormalization(k.UnitNormalization())(np.ones((2, 3))),
            ValueError,
            "kernel",
        ),
        (
            lambda k: k.BatchNormalization()(np.ones((2, 3)), training=True, mask=np.ones((2, 3))),
            ValueError,
            "mask",
        ),
        (
            lambda k: k.UnitNormalization(axis=3).compute_output_shape((2, 3)),
            ValueError,
            "(?i)axis",
        ),
    ],
)
def test_errors_as_in_keras(make: Any, error: type[Exception], match: str) -> None:
    for module in (keras, ours):
        with pytest.raises(error, match=match):
            make(module.layers)


def test_rms_scaling_warns_and_computes_as_in_keras() -> None:
    x = np.random.default_rng(0).normal(0, 1, (2, 3, 4)).astype("float32")
    for axis in (-1, [1, 2]):
        results = []
        for module in (keras, ours):
            with pytest.warns(UserWarning, match="rms_scaling"):
                results.append(module.layers.LayerNormalization(axis, rms_scaling=True))
        theirs, layer = results
        with pytest.warns(UserWarning, match="rms_scaling"):
            expected = np.asarray(theirs(x))
        for backend in BACKENDS:
            wt.set_backend(backend)
            assert_close(np.asarray(layer(x)), expected, rtol=1e-5)
        assert [weight.name for weight in layer.weights] == [
            weight.name for weight in theirs.weights
        ]
        assert layer.get_config()["rms_scaling"] is True
