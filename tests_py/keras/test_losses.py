"""Losses: values, gradients, weights, masks, reductions and configurations are those of Keras."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import jax
import keras
import numpy as np
import pytest

import webtensor as wt
from webtensor import keras as ours
from webtensor.keras.losses import LossFunctionWrapper

Options = dict[str, Any]

#: Function, its class, what targets and predictions are, options of both.
CASES: list[tuple[str, str, str, Options]] = [
    ("binary_crossentropy", "BinaryCrossentropy", "flags", {}),
    ("binary_crossentropy", "BinaryCrossentropy", "flags", {"label_smoothing": 0.2}),
    ("binary_crossentropy", "BinaryCrossentropy", "flags", {"axis": 1}),
    ("binary_crossentropy", "BinaryCrossentropy", "flags, logits", {"from_logits": True}),
    ("binary_focal_crossentropy", "BinaryFocalCrossentropy", "flags", {}),
    (
        *("binary_focal_crossentropy", "BinaryFocalCrossentropy", "flags"),
        {"apply_class_balancing": True, "alpha": 0.3, "gamma": 1.5, "label_smoothing": 0.1},
    ),
    (
        *("binary_focal_crossentropy", "BinaryFocalCrossentropy", "flags, logits"),
        {"from_logits": True},
    ),
    ("categorical_crossentropy", "CategoricalCrossentropy", "hot", {}),
    ("categorical_crossentropy", "CategoricalCrossentropy", "hot", {"label_smoothing": 0.2}),
    ("categorical_crossentropy", "CategoricalCrossentropy", "hot", {"axis": 1}),
    ("categorical_crossentropy", "CategoricalCrossentropy", "hot, logits", {"from_logits": True}),
    ("categorical_focal_crossentropy", "CategoricalFocalCrossentropy", "hot", {}),
    (
        *("categorical_focal_crossentropy", "CategoricalFocalCrossentropy", "hot"),
        {"alpha": [0.1, 0.2, 0.3, 0.2, 0.2], "gamma": 1.5, "label_smoothing": 0.1},
    ),
    (
        *("categorical_focal_crossentropy", "CategoricalFocalCrossentropy", "hot, logits"),
        {"from_logits": True},
    ),
    ("categorical_hinge", "CategoricalHinge", "hot, numbers", {}),
    ("cosine_similarity", "CosineSimilarity", "numbers", {}),
    ("cosine_similarity", "CosineSimilarity", "numbers", {"axis": 1}),
    ("dice", "Dice", "flags", {}),
    ("dice", "Dice", "flags", {"axis": (1, 2)}),
    ("hinge", "Hinge", "flags, numbers", {}),
    ("hinge", "Hinge", "signs, numbers", {}),
    ("huber", "Huber", "numbers", {}),
    ("huber", "Huber", "numbers", {"delta": 0.4}),
    ("kl_divergence", "KLDivergence", "chances", {}),
    ("log_cosh", "LogCosh", "numbers", {}),
    ("mean_absolute_error", "MeanAbsoluteError", "numbers", {}),
    ("mean_absolute_percentage_error", "MeanAbsolutePercentageError", "numbers", {}),
    ("mean_squared_error", "MeanSquaredError", "numbers", {}),
    ("mean_squared_logarithmic_error", "MeanSquaredLogarithmicError", "chances", {}),
    ("poisson", "Poisson", "chances", {}),
    ("sparse_categorical_crossentropy", "SparseCategoricalCrossentropy", "labels", {}),
    (
        *("sparse_categorical_crossentropy", "SparseCategoricalCrossentropy", "labels, logits"),
        {"from_logits": True},
    ),
    (
        *("sparse_categorical_crossentropy", "SparseCategoricalCrossentropy", "labels"),
        {"ignore_class": 2},
    ),
    ("squared_hinge", "SquaredHinge", "flags, numbers", {}),
    ("squared_hinge", "SquaredHinge", "signs, numbers", {}),
    ("tversky", "Tversky", "flags", {}),
    ("tversky", "Tversky", "flags", {"alpha": 0.2, "beta": 0.7, "axis": (1, 2)}),
]
#: Losses whose data have other shapes.
OTHERS = ["CTC", "Circle", "CategoricalGeneralizedCrossEntropy"]
REDUCTIONS = ["sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", None, "none"]


def inputs_of(kinds: str, seed: int = 1, shape: tuple[int, ...] = (3, 4, 5)) -> tuple[Any, Any]:
    """Targets and predictions."""
    rng = np.random.default_rng(seed)
    chances = rng.uniform(0.02, 1, shape)
    chances /= chances.sum(-1, keepdims=True)
    targets = {
        "chances": rng.uniform(0, 1, shape),
        "flags": rng.integers(0, 2, shape),
        "hot": np.eye(shape[-1])[rng.integers(0, shape[-1], shape[:-1])],
        "labels": rng.integers(0, shape[-1], shape[:-1]),
        "numbers": rng.normal(size=shape),
        "signs": rng.integers(0, 2, shape) * 2 - 1,
    }
    target, _, prediction = kinds.partition(", ")
    guess = rng.normal(0, 4, shape) if prediction or target == "numbers" else chances
    return targets[target].astype("int32" if target == "labels" else "float32"), guess.astype(
        "float32"
    )


def arrays(*values: Any) -> list[Any]:
    """What Keras computes with."""
    return [None if value is None else keras.ops.convert_to_tensor(value) for value in values]


def assert_near(actual: Any, expected: Any, atol: float = 1e-5, backend: str = "") -> None:
    assert np.shape(actual) == np.shape(expected)
    np.testing.assert_allclose(
        np.asarray(actual), np.asarray(expected), rtol=2e-4, atol=atol, err_msg=backend
    )


# -- functions ---------------------------------------------------------------------------------


def compiled(function: Any, **options: Any) -> Any:
    """A function of Keras as one program: each of its operations would be one, too."""
    return jax.jit(partial(function, **options))


def gradient(function: Any, **options: Any) -> Any:
    """The gradient of a loss, summed up, with respect to the predictions."""
    return jax.jit(jax.grad(lambda *both: function(*both, **options).sum(), argnums=1))


@cache
def value_and_gradient(name: str) -> tuple[Any, Any]:
    """A loss and its gradient, compiled once for all data of the same shape."""
    function = getattr(keras.losses, name)
    return compiled(function), gradient(function)


@pytest.mark.parametrize("name, _, kinds, options", CASES)
def test_functions(
    name: str, _: str, kinds: str, options: Options, backends: Iterator[str]
) -> None:
    target, guess = inputs_of(kinds)
    expected = compiled(getattr(keras.losses, name), **options)(*arrays(target, guess))
    for backend in backends:
        result = getattr(ours.losses, name)(wt.tensor(target), wt.tensor(guess), **options)
        assert_near(result, expected, backend=backend)


@pytest.mark.parametrize("name, _, kinds, options", CASES)
def test_gradients(name: str, _: str, kinds: str, options: Options) -> None:
    target, guess = inputs_of(kinds, seed=2)
    expected = gradient(getattr(keras.losses, name), **options)(*arrays(target, guess))
    result = wt.grad(lambda x: wt.sum(getattr(ours.losses, name)(wt.tensor(target), x, **options)))(
        wt.tensor(guess)
    )
    assert_near(result, expected)


@pytest.mark.parametrize("probability", [-0.5, 0.0, 1e-8, 0.3, 1.0, 1.5])
@pytest.mark.parametrize(
    "name",
    [
        *("binary_crossentropy", "binary_focal_crossentropy", "categorical_crossentropy"),
        *("categorical_focal_crossentropy", "kl_divergence", "mean_squared_logarithmic_error"),
    ],
)
def test_at_the_edges(name: str, probability: float) -> None:
    guess = np.array([[1 - probability, probability]], "float32")
    for target in ([[0.0, 1.0]], [[1.0, 0.0]]):
        array = np.array(target, "float32")
        (theirs, slope), mine = value_and_gradient(name), getattr(ours.losses, name)
        assert_near(mine(wt.tensor(array), wt.tensor(guess)), theirs(array, guess))
        expected = slope(array, guess)
        result = wt.grad(lambda x: wt.sum(mine(array, x)))(wt.tensor(guess))  # noqa: B023
        if guess.max() == 1 and name == "kl_divergence":
            continue  # jax halves the gradient at the edge itself
        assert_near(result, expected)


@pytest.mark.parametrize("name", ["binary_crossentropy", "categorical_crossentropy"])
def test_great_logits(name: str, backends: Iterator[str]) -> None:
    guess = np.array([[-200.0, 0.0], [200.0, 0.0], [30.0, -30.0]], "float32")
    target = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], "float32")
    theirs, mine = getattr(keras.losses, name), getattr(ours.losses, name)
    expected = compiled(theirs, from_logits=True)(target, guess)
    slope = gradient(theirs, from_logits=True)(target, guess)
    for backend in backends:
        assert_near(mine(target, guess, from_logits=True), expected, backend=backend)
        result = wt.grad(lambda x: wt.sum(mine(target, x, from_logits=True)))(wt.tensor(guess))
        assert_near(result, slope, backend=backend)


def test_labels_that_are_no_class() -> None:
    target, guess = np.array([0, 7, -1], "int32"), inputs_of("numbers", shape=(3, 4))[1]
    expected = keras.losses.sparse_categorical_crossentropy(target, guess, from_logits=True)
    result = ours.losses.sparse_categorical_crossentropy(target, guess, from_logits=True)
    assert_near(result, expected)


def test_labels_with_an_axis_of_length_1_and_as_floats() -> None:
    target, guess = inputs_of("labels", shape=(6, 4))
    expected = keras.losses.SparseCategoricalCrossentropy()(target, guess)
    for labels_in_form in (target, target[:, None], target.astype("float32")):
        assert_near(ours.losses.SparseCategoricalCrossentropy()(labels_in_form, guess), expected)


def test_classes_along_another_axis() -> None:
    target, guess = inputs_of("labels")
    expected = keras.losses.sparse_categorical_crossentropy(target, guess)
    moved = np.moveaxis(guess, -1, 1)
    assert_near(ours.losses.sparse_categorical_crossentropy(target, moved, axis=1), expected)


def test_numbers_and_lists_are_taken() -> None:
    assert ours.losses.mean_squared_error([[0.0, 1.0]], [[1.0, 1.0]]).tolist() == [0.5]
    assert float(ours.losses.MeanSquaredError()([[0, 1]], [[1, 1]])) == 0.5


# -- weights, masks, reductions ----------------------------------------------------------------

WEIGHTS: list[Any] = [
    None,
    np.float32(2.0),
    np.array([[1.0], [2.0], [0.0]], "float32"),
    np.arange(12, dtype="float32").reshape(3, 4),
    np.arange(12, dtype="float32").reshape(3, 4, 1),
]
MASK = np.array([[1, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]], "bool")


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("index", range(len(WEIGHTS)))
@pytest.mark.parametrize("masked", [False, True])
def test_reductions(reduction: Any, index: int, masked: bool) -> None:
    target, guess = inputs_of("numbers")
    array, theirs = arrays(target, guess)
    mine = wt.tensor(guess)
    if masked:
        theirs._keras_mask = arrays(MASK)[0]
        mine._keras_mask = wt.tensor(MASK)
    weight = WEIGHTS[index]
    expected = keras.losses.MeanSquaredError(reduction)(array, theirs, sample_weight=weight)
    result = ours.losses.MeanSquaredError(reduction)(target, mine, sample_weight=weight)
    assert_near(result, expected)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_samples(reduction: Any) -> None:
    target, guess = inputs_of("numbers", shape=(4, 3))
    for weight in (None, np.arange(4.0), np.arange(4.0)[:, None]):
        for mask in (None, np.array([True, False, True, True])):
            theirs, mine = arrays(guess)[0], wt.tensor(guess)
            if mask is not None:
                theirs._keras_mask, mine._keras_mask = arrays(mask)[0], wt.tensor(mask)
            expected = keras.losses.MeanAbsoluteError(reduction)(target, theirs, weight)
            assert_near(ours.losses.MeanAbsoluteError(reduction)(target, mine, weight), expected)


def test_nothing_counts() -> None:
    guess = wt.ones((2, 3))
    guess._keras_mask = wt.tensor([False, False])
    assert float(ours.losses.MeanSquaredError()(wt.zeros((2, 3)), guess)) == 0


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("masked", [False, True])
def test_an_ignored_class_does_not_count(reduction: Any, masked: bool) -> None:
    target, guess = inputs_of("labels")
    theirs, mine = arrays(guess)[0], wt.tensor(guess)
    if masked:
        theirs._keras_mask, mine._keras_mask = arrays(MASK)[0], wt.tensor(MASK)
    options: Options = {"ignore_class": 2, "reduction": reduction}
    weight = WEIGHTS[3]
    expected = keras.losses.SparseCategoricalCrossentropy(**options)(target, theirs, weight)
    result = ours.losses.SparseCategoricalCrossentropy(**options)(target, mine, weight)
    assert_near(result, expected)


@pytest.mark.parametrize("shapes", [((3,), (3, 1)), ((3, 1), (3,)), ((3, 4), (3, 4, 1))])
def test_ranks_that_differ(shapes: tuple[Any, Any]) -> None:
    rng = np.random.default_rng(3)
    target, guess = (rng.normal(size=shape).astype("float32") for shape in shapes)
    assert_near(
        ours.losses.MeanSquaredError()(target, guess),
        keras.losses.MeanSquaredError()(*arrays(target, guess)),
    )


def test_losses_of_ones_own() -> None:
    class Own(ours.losses.Loss):
        def call(self, y_true: Any, y_pred: Any) -> wt.Tensor:
            return wt.mean(wt.abs(y_pred["a"] - y_true["a"]), -1)

    zeros, ones = {"a": np.zeros((2, 3))}, {"a": np.ones((2, 3))}
    assert float(Own()(zeros, ones, sample_weight=[1.0, 3.0])) == 2.0
    assert Own(reduction=None)(zeros, ones).tolist() == [1.0, 1.0]

    def difference(y_true: wt.Tensor, y_pred: wt.Tensor, scale: float = 1.0) -> wt.Tensor:
        return (y_pred - y_true) * scale

    wrapped = LossFunctionWrapper(difference, name="difference", scale=3.0)
    assert float(wrapped(np.zeros(4), np.ones(4))) == 3.0
    assert wrapped.get_config()["scale"] == 3.0


# -- other shapes ------------------------------------------------------------------------------


def labels_and_logits(classes: int) -> tuple[Any, Any]:
    """Labels of 4, 2, no and 1 steps, and logits of 9."""
    rng = np.random.default_rng(4)
    labels = rng.integers(1, classes, (4, 4))
    for row, length in zip(labels, (4, 2, 0, 1), strict=True):
        row[length:] = 0
    return labels, rng.normal(0, 2, (4, 9, classes)).astype("float32")


@pytest.mark.parametrize("classes", [6, 3])  # few of which stand side by side
def test_ctc(classes: int, backends: Iterator[str]) -> None:
    labels, logits = labels_and_logits(classes)
    expected = compiled(keras.losses.ctc)(*arrays(labels, logits))
    for backend in backends:
        assert_near(ours.losses.ctc(labels, logits), expected, backend=backend)


def test_ctc_of_zeros_among_labels() -> None:
    labels = np.array([[1, 0, 1, 2], [2, 0, 2, 0], [0, 1, 0, 0], [0, 0, 0, 3]])
    logits = labels_and_logits(6)[1]
    expected = compiled(keras.losses.ctc)(*arrays(labels, logits))
    assert_near(ours.losses.ctc(labels, logits), expected)


def test_gradient_of_ctc() -> None:
    labels, logits = labels_and_logits(3)
    expected = gradient(keras.losses.CTC())(labels, logits)
    result = wt.grad(lambda x: ours.losses.CTC()(labels, x))(wt.tensor(logits))
    assert_near(result, expected)


@pytest.mark.parametrize(
    "options", [{}, {"gamma": 10.0, "margin": 0.2}, {"gamma": 10.0, "remove_diagonal": False}]
)
def test_circle(options: Options) -> None:
    rng = np.random.default_rng(5)
    points = rng.normal(size=(8, 4)).astype("float32")
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    labels = np.array([0, 1, 2, 0, 1, 2, 0, 5])
    array = arrays(labels)[0]
    assert_near(
        ours.losses.circle(labels, points, **options),
        compiled(keras.losses.circle, **options)(array, points),
        atol=1e-4,
    )
    expected = gradient(keras.losses.Circle(**options))(array, points)
    result = wt.grad(lambda x: ours.losses.Circle(**options)(labels, x))(wt.tensor(points))
    assert_near(result, expected, atol=1e-3)


def test_circle_of_references() -> None:
    rng = np.random.default_rng(6)
    points, references = (rng.normal(size=(count, 4)).astype("float32") for count in (6, 9))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    references /= np.linalg.norm(references, axis=1, keepdims=True)
    labels, others = rng.integers(0, 3, 6), rng.integers(0, 3, 9)
    options: dict[str, Any] = {"remove_diagonal": False, "gamma": 2.0}
    expected = compiled(keras.losses.circle, **options)(*arrays(labels, points, others, references))
    result = ours.losses.circle(labels, points, others, references, **options)
    assert_near(result, expected, atol=1e-4)


@pytest.mark.parametrize("q", [0.2, 0.7])
def test_generalized_crossentropy(q: float, backends: Iterator[str]) -> None:
    target, guess = inputs_of("labels", shape=(6, 4))
    both = arrays(target, guess)
    expected = compiled(keras.losses.categorical_generalized_cross_entropy, q=q)(*both)
    expected_mean = compiled(keras.losses.CategoricalGeneralizedCrossEntropy(q))(*both)
    for backend in backends:
        for labels in (target, target[:, None]):
            result = ours.losses.categorical_generalized_cross_entropy(labels, guess, q)
            assert_near(result, expected, backend=backend)
        result = ours.losses.CategoricalGeneralizedCrossEntropy(q)(target, guess)
        assert_near(result, expected_mean, backend=backend)


# -- names and configurations ------------------------------------------------------------------


@pytest.mark.parametrize("_, name, kinds, options", CASES)
def test_classes(_: str, name: str, kinds: str, options: Options) -> None:
    target, guess = inputs_of(kinds, seed=3)
    arguments: Options = {**options, "reduction": "sum", "name": "own"}
    theirs, mine = getattr(keras.losses, name)(**arguments), getattr(ours.losses, name)(**arguments)
    assert_near(mine(target, guess), compiled(theirs)(*arrays(target, guess)), atol=1e-4)

    config, expected = ours.losses.serialize(mine), keras.losses.serialize(theirs)
    left_out = {key: value for key, value in options.items() if key not in expected["config"]}
    if name == "Dice" or name == "Tversky":
        expected["config"]["axis"] = mine.get_config()["axis"]  # a list: JSON has no tuples
    assert config == {**expected, "config": {**expected["config"], **left_out}}
    again = ours.losses.deserialize(config)
    assert type(again) is type(mine)
    assert_near(again(target, guess), mine(target, guess))
    back = compiled(keras.losses.deserialize(config))
    assert_near(back(*arrays(target, guess)), mine(target, guess), 1e-4)


@pytest.mark.parametrize("name", [*sorted({case[1] for case in CASES}), *OTHERS])
def test_defaults(name: str) -> None:
    theirs, mine = getattr(keras.losses, name)(), getattr(ours.losses, name)()
    assert ours.losses.serialize(mine) == keras.losses.serialize(theirs)


@pytest.mark.parametrize(
    "name",
    [
        *("bce", "BCE", "kld", "KLD", "mae", "MAE", "mape", "MAPE", "mse", "MSE", "msle", "MSLE"),
        *sorted({case[0] for case in CASES}),
        *("ctc", "circle", "MeanSquaredError", "CTC", "Huber"),
    ],
)
def test_names(name: str) -> None:
    expected, loss = keras.losses.get(name), ours.losses.get(name)
    if isinstance(expected, keras.Loss):
        assert type(loss).__name__ == type(expected).__name__
    else:
        assert loss.__name__ == expected.__name__
        assert loss is getattr(ours.losses, loss.__name__)
        assert ours.losses.deserialize(ours.losses.serialize(loss)) is loss


@pytest.mark.parametrize("classes, shape", [(1, (8, 1)), (4, (8,)), (4, (8, 1)), (4, (8, 4))])
def test_a_crossentropy_that_fits_the_targets(classes: int, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(8, 3)).astype("float32")
    y: Any = rng.integers(0, max(classes, 2), (8,))
    y = np.eye(4)[y] if shape == (8, 4) else y.reshape(shape)
    names = []
    for home in (ours, keras):
        kind = "sigmoid" if classes == 1 else "softmax"
        dense = home.layers.Dense(classes, kind, kernel_initializer="ones")
        model = home.Sequential([home.Input((3,)), dense])
        model.compile("sgd", loss="crossentropy")
        names.append(model.evaluate(x, y, verbose=0))
    assert_near(*names)


def test_every_name_of_keras_is_there() -> None:
    theirs = {name for name in dir(keras.losses) if not name.startswith("_")}
    assert theirs == set(ours.losses.__all__)  # type: ignore[attr-defined]


def test_arguments_are_attributes() -> None:
    loss = ours.losses.Tversky(alpha=0.3, axis=1)
    assert (loss.alpha, loss.beta, loss.axis) == (0.3, 0.5, 1)
    with pytest.raises(AttributeError, match="gamma"):
        loss.gamma  # noqa: B018


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
@pytest.mark.parametrize("reduction", ["sum", "mean", None])
def test_nothing_at_all(shape: tuple[int, ...], reduction: Any) -> None:
    theirs = keras.losses.MeanSquaredError(reduction=reduction)
    mine = ours.losses.MeanSquaredError(reduction=reduction)
    empty = np.ones((*shape, 2), "float32")
    assert_near(mine(empty, empty), theirs(*arrays(empty, empty)))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64", np.float32])
def test_other_floats_are_held_as_float32(name: Any) -> None:
    loss = ours.losses.MeanSquaredError(dtype=name)
    assert loss([1.0], [3.0]).dtype == loss.dtype == "float32"
    with pytest.raises(AttributeError):
        loss.dtype = "float32"  # type: ignore[assignment, misc]


def test_the_small_number_that_is_set() -> None:
    target, guess = np.array([[1.0, 0.0]], "float32"), np.array([[0.0, 1.0]], "float32")
    configs = []
    for home in (ours, keras):
        home.config.set_epsilon(1e-3)
        try:
            configs.append(np.asarray(home.losses.CategoricalCrossentropy()(target, guess)))
            configs.append(np.asarray(home.constraints.UnitNorm()(np.zeros((2, 1), "float32"))))
            configs.append(home.metrics.AUC(num_thresholds=3).thresholds)
        finally:
            home.config.set_epsilon(1e-7)
    for mine, expected in zip(configs[:3], configs[3:], strict=True):
        assert_near(mine, expected)


def test_wrong_arguments() -> None:
    losses = ours.losses
    with pytest.raises(ValueError, match="loss 'mean_sqared_error' is not known; did you mean 'me"):
        losses.get("mean_sqared_error")
    with pytest.raises(ValueError, match=r"reduction must be one of .* got 'summ'"):
        losses.MeanSquaredError(reduction="summ")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="dtype must be a float one"):
        losses.MeanSquaredError(dtype="int32")
    with pytest.raises(ValueError, match=r"q must lie in \(0, 1\), but got 1.5"):
        losses.CategoricalGeneralizedCrossEntropy(1.5)
    with pytest.raises(NotImplementedError, match="call"):
        losses.Loss()([1.0], [1.0])
    for name in ("binary_crossentropy", "categorical_crossentropy"):
        with pytest.raises(ValueError, match=r"same shape, but got \(2, 3\) and \(2, 4\)"):
            getattr(losses, name)(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(ValueError, match=r"without the axis of classes, \(2,\), but its shape is"):
        losses.sparse_categorical_crossentropy([1, 0, 1], np.ones((2, 4)))
    with pytest.raises(ValueError, match="ctc: y_true must be"):
        losses.ctc([1, 2], np.ones((2, 4)))
