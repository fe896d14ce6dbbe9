"""Metrics: values, state, weights, masks and configurations are those of Keras."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.keras.test_losses import arrays, assert_near, inputs_of
from webtensor import keras as ours

Options = dict[str, Any]

#: What Keras warns of: JAX's integers, weights of int32 state, and adjusted scores that are none.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Explicitly requested dtype"),
    pytest.mark.filterwarnings("ignore:You are passing weight as"),
    pytest.mark.filterwarnings("ignore:.*so casting truncates the weight"),
    pytest.mark.filterwarnings("ignore:More independent predictors"),
]

#: Class, what targets and predictions are, options.
CASES: list[tuple[str, str, Options]] = [
    ("Accuracy", "labels", {}),
    ("AUC", "flags", {}),
    ("AUC", "flags", {"num_thresholds": 6}),
    ("AUC", "flags", {"curve": "PR"}),
    ("AUC", "flags", {"curve": "PRGAIN"}),
    ("AUC", "flags", {"curve": "PR", "summation_method": "majoring"}),
    ("AUC", "flags", {"summation_method": "minoring"}),
    ("AUC", "flags", {"thresholds": [0.5, 0.1, 0.3]}),
    ("AUC", "flags", {"label_weights": [0.1, 0.2, 0.3, 0.4, 0.5]}),
    ("AUC", "flags", {"multi_label": True}),
    ("AUC", "flags", {"multi_label": True, "num_labels": 5, "curve": "PR"}),
    ("AUC", "flags", {"multi_label": True, "label_weights": [0.1, 0.2, 0.3, 0.4, 0.5]}),
    ("AUC", "flags, logits", {"from_logits": True}),
    ("BinaryAccuracy", "flags", {}),
    ("BinaryAccuracy", "flags", {"threshold": 0.2}),
    ("BinaryCrossentropy", "flags", {}),
    ("BinaryCrossentropy", "flags, logits", {"from_logits": True, "label_smoothing": 0.1}),
    ("BinaryIoU", "pixels", {}),
    ("BinaryIoU", "pixels", {"threshold": 0.3, "target_class_ids": [1], "dtype": "float32"}),
    ("CategoricalAccuracy", "hot", {}),
    ("CategoricalCrossentropy", "hot", {}),
    ("CategoricalCrossentropy", "hot, logits", {"from_logits": True, "label_smoothing": 0.1}),
    ("CategoricalHinge", "hot, numbers", {}),
    ("ConcordanceCorrelation", "numbers", {}),
    ("CosineSimilarity", "numbers", {}),
    ("F1Score", "flags", {}),
    ("F1Score", "flags", {"threshold": 0.3, "average": "micro"}),
    ("FBetaScore", "flags", {"beta": 2.0, "average": "macro"}),
    ("FBetaScore", "flags", {"beta": 0.5, "threshold": 0.2, "average": "weighted"}),
    ("FalseNegatives", "flags", {}),
    ("FalsePositives", "flags", {"thresholds": [0.1, 0.3]}),
    ("Hinge", "signs, numbers", {}),
    ("IoU", "classes", {"num_classes": 5, "target_class_ids": [0, 3]}),
    ("IoU", "classes", {"num_classes": 5, "target_class_ids": [0, 3], "ignore_class": 3}),
    (
        "IoU",
        "hot",
        {
            "num_classes": 5,
            "target_class_ids": [1],
            **dict.fromkeys(("sparse_y_true", "sparse_y_pred"), False),
        },
    ),
    ("KLDivergence", "chances", {}),
    ("LogCoshError", "numbers", {}),
    ("MeanAbsoluteError", "numbers", {}),
    ("MeanAbsolutePercentageError", "numbers", {}),
    ("MeanIoU", "classes", {"num_classes": 5}),
    ("MeanIoU", "classes", {"num_classes": 7, "dtype": "float32"}),
    ("MeanSquaredError", "numbers", {}),
    ("MeanSquaredLogarithmicError", "chances", {}),
    ("OneHotIoU", "hot", {"num_classes": 5, "target_class_ids": [0, 2]}),
    ("OneHotMeanIoU", "hot", {"num_classes": 5}),
    ("PearsonCorrelation", "numbers", {}),
    ("Poisson", "chances", {}),
    ("Precision", "flags", {}),
    ("Precision", "flags", {"thresholds": 0.3}),
    ("Precision", "flags", {"thresholds": [0.4, 0.1]}),
    ("Precision", "flags", {"top_k": 2}),
    ("Precision", "flags", {"class_id": 1, "thresholds": 0.1}),
    ("Precision", "flags", {"top_k": 3, "class_id": 2}),
    ("Precision", "flags", {"thresholds": [0.9, *(k / 20 for k in range(15))]}),
    ("PrecisionAtRecall", "flags", {"recall": 0.3}),
    ("R2Score", "numbers", {}),
    ("R2Score", "numbers", {"class_aggregation": None}),
    ("R2Score", "numbers", {"class_aggregation": "variance_weighted_average"}),
    ("R2Score", "numbers", {"num_regressors": 4}),
    ("Recall", "flags", {"thresholds": 0.2}),
    ("Recall", "flags", {"top_k": 2}),
    ("RecallAtPrecision", "flags", {"precision": 0.5}),
    ("RootMeanSquaredError", "numbers", {}),
    ("SensitivityAtSpecificity", "flags", {"specificity": 0.5}),
    ("SensitivityAtSpecificity", "flags", {"specificity": 0.2, "num_thresholds": 5}),
    ("SparseCategoricalAccuracy", "labels", {}),
    ("SparseCategoricalCrossentropy", "labels", {}),
    ("SparseCategoricalCrossentropy", "labels, logits", {"from_logits": True, "ignore_class": 1}),
    ("SparseTopKCategoricalAccuracy", "labels", {"k": 2}),
    ("SpecificityAtSensitivity", "flags", {"sensitivity": 0.4}),
    ("SquaredHinge", "flags, numbers", {}),
    ("TopKCategoricalAccuracy", "hot", {"k": 2}),
    ("TrueNegatives", "flags", {"thresholds": 0.2}),
    ("TruePositives", "flags", {"thresholds": [0.2, 0.4]}),
]
#: Keras's functions of two tensors, and what they are given.
FUNCTIONS: list[tuple[str, str, Options]] = [
    ("binary_accuracy", "flags", {"threshold": 0.2}),
    ("categorical_accuracy", "hot", {}),
    ("concordance_correlation", "numbers", {"axis": 1}),
    ("pearson_correlation", "numbers", {"axis": 1}),
    ("sparse_categorical_accuracy", "labels", {}),
    ("sparse_top_k_categorical_accuracy", "labels", {"k": 3}),
    ("top_k_categorical_accuracy", "hot", {"k": 3}),
]


def batch(kinds: str, seed: int) -> tuple[Any, Any]:
    """Targets and predictions of eight samples."""
    rng = np.random.default_rng(seed)
    if kinds == "classes":
        return rng.integers(0, 5, (8, 3)), rng.integers(0, 5, (8, 3))
    if kinds == "pixels":
        return rng.integers(0, 2, (8, 3)), rng.uniform(size=(8, 3)).astype("float32")
    target, guess = inputs_of(kinds, seed, (8, 5))
    return target, guess


def batch_of(name: str, kinds: str, seed: int) -> tuple[Any, Any]:
    """A batch for a metric; those that count what is equal get some that is."""
    target, guess = batch(kinds, seed)
    return target, np.where(guess[:, 0] > 0.2, target, 0) if name == "Accuracy" else guess


def pair(name: str, options: Options) -> tuple[Any, Any]:
    return getattr(keras.metrics, name)(**options), getattr(ours.metrics, name)(**options)


class State(NamedTuple):
    """A metric's result, and its variables' paths, dtypes and values."""

    result: Any
    names: list[tuple[str, str]]
    values: list[Any]


def state_of(metric: Any, result: Any) -> State:
    names = [(variable.path, str(variable.dtype)) for variable in metric.variables]
    return State(result, names, [np.asarray(variable) for variable in metric.variables])


def assert_state(mine: Any, expected: State, backend: str = "") -> None:
    """Results and variables agree."""
    assert_near(mine.result(), expected.result, backend=backend)
    assert state_of(mine, None).names == expected.names
    for own, value in zip(mine.variables, expected.values, strict=True):
        assert_near(own, value, 1e-4, backend)


def assert_same(theirs: Any, mine: Any) -> None:
    assert_state(mine, state_of(theirs, theirs.result()))


def updated_and_reset(metric: Any, batches: list[tuple[Any, Any]]) -> tuple[State, State]:
    """The states of a metric of Keras after some batches, and after it is reset."""
    for both in batches:
        metric.update_state(*arrays(*both))
    updated = state_of(metric, metric.result())
    metric.reset_state()
    return updated, state_of(metric, metric.result())


@pytest.mark.parametrize("name, kinds, options", CASES)
def test_values(name: str, kinds: str, options: Options, backends: Iterator[str]) -> None:
    batches = [batch_of(name, kinds, seed) for seed in (1, 2)]
    theirs = getattr(keras.metrics, name)(**options, name="own")
    updated, reset = updated_and_reset(theirs, batches)
    for backend in backends:
        mine = getattr(ours.metrics, name)(**options, name="own")
        for target, guess in batches:
            assert mine.update_state(wt.tensor(target), wt.tensor(guess)) is None
        assert_state(mine, updated, backend)
        mine.reset_state()
        assert_state(mine, reset, backend)


@pytest.mark.parametrize("name, kinds, options", CASES)
def test_weights(name: str, kinds: str, options: Options) -> None:
    theirs, mine = pair(name, {**options, "name": "own"})
    for seed in (1, 2):
        target, guess = batch_of(name, kinds, seed)
        weight = np.random.default_rng(seed + 5).integers(0, 4, 8).astype("float32")
        if "IoU" in name and kinds != "hot":
            weight = np.repeat(weight[:, None], 3, 1)  # one for each pixel
        theirs.update_state(*arrays(target, guess), sample_weight=weight)
        mine.update_state(target, guess, sample_weight=weight)
    assert_same(theirs, mine)


@pytest.mark.parametrize(
    "weight", [2.0, np.arange(8.0)[:, None], np.arange(40.0).reshape(8, 5)], ids=str
)
@pytest.mark.parametrize("name", ["AUC", "Precision", "TrueNegatives"])
def test_weights_of_other_shapes(name: str, weight: Any) -> None:
    theirs, mine = pair(name, {"name": "own"})
    target, guess = batch("flags", 1)
    theirs.update_state(*arrays(target, guess), sample_weight=weight)
    mine.update_state(target, guess, sample_weight=weight)
    assert_same(theirs, mine)


@pytest.mark.parametrize("name", ["AUC", "Precision", "Recall", "TrueNegatives"])
def test_targets_that_are_not_zero_are_positive(name: str) -> None:
    y_true, y_pred = np.array([[0.0, 0.3, 2.0, 0.9]]), np.array([[0.7, 0.6, 0.4, 0.8]])
    theirs, mine = pair(name, {"name": "own"})
    theirs.update_state(y_true, y_pred)
    mine.update_state(y_true, y_pred)
    assert_same(theirs, mine)


@pytest.mark.parametrize("name, kinds, options", FUNCTIONS)
def test_functions(name: str, kinds: str, options: Options, backend: str) -> None:
    target, guess = batch(kinds, 3)
    expected = getattr(keras.metrics, name)(*arrays(target, guess), **options)
    assert_near(getattr(ours.metrics, name)(target, guess, **options), expected)


# -- means -------------------------------------------------------------------------------------

WEIGHTS: list[Any] = [
    None,
    2.0,
    np.array([1.0, 2.0, 0.0]),
    np.array([[1.0], [2.0], [0.0]]),
    np.arange(12.0).reshape(3, 4),
]


@pytest.mark.parametrize("name", ["Mean", "Sum"])
@pytest.mark.parametrize("index", range(len(WEIGHTS)))
@pytest.mark.parametrize("masked", [False, True])
def test_means_and_sums(name: str, index: int, masked: bool) -> None:
    theirs, mine = pair(name, {"name": "own"})
    values = np.random.default_rng(1).normal(size=(3, 4)).astype("float32")
    array, own = arrays(values)[0], wt.tensor(values)
    if masked:
        mask = (
            np.array([[1, 0, 1, 1]] * 3, "bool") if index in (0, 4) else np.array([1, 0, 1], "bool")
        )
        array._keras_mask, own._keras_mask = arrays(mask)[0], wt.tensor(mask)
    weight = WEIGHTS[index]
    for _ in range(2):
        theirs.update_state(array, sample_weight=weight)
        mine.update_state(own, sample_weight=weight)
    assert_same(theirs, mine)


def test_numbers_and_empty_means() -> None:
    theirs, mine = pair("Mean", {"name": "own"})
    assert_near(mine.result(), theirs.result())
    for value in (3.0, [1.0, 2.0, 4.0]):
        assert_near(mine(value), theirs(value))


@pytest.mark.parametrize("weight", [None, np.arange(12.0).reshape(3, 4)])
@pytest.mark.parametrize("name", ["MeanSquaredError", "RootMeanSquaredError"])
def test_masks(name: str, weight: Any) -> None:
    theirs, mine = pair(name, {"name": "own"})
    target, guess = inputs_of("numbers")
    array, own = arrays(guess)[0], wt.tensor(guess)
    mask = np.array([[1, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]], "bool")
    array._keras_mask, own._keras_mask = arrays(mask)[0], wt.tensor(mask)
    theirs.update_state(target, array, sample_weight=weight)
    mine.update_state(target, own, sample_weight=weight)
    assert_same(theirs, mine)


def test_steps_of_sequences() -> None:
    target, guess = inputs_of("labels")
    for name in ("SparseCategoricalAccuracy", "SparseCategoricalCrossentropy"):
        for weight in (None, np.array([1.0, 2.0, 0.0]), np.arange(12.0).reshape(3, 4)):
            theirs, mine = pair(name, {"name": "own"})
            theirs.update_state(*arrays(target, guess), sample_weight=weight)
            mine.update_state(target, guess, sample_weight=weight)
            assert_same(theirs, mine)


def test_ties_and_few_classes_among_the_greatest() -> None:
    guess = np.array([[0.3, 0.3, 0.3], [0.1, 0.2, 0.7]], "float32")
    for k in (1, 2, 5):
        expected = keras.metrics.sparse_top_k_categorical_accuracy(*arrays([1, 0], guess), k=k)
        assert_near(ours.metrics.sparse_top_k_categorical_accuracy([1, 0], guess, k=k), expected)
    ids = np.array([[3, 1, 2], [0, 2, 1]])
    for k in (1, 2):
        expected = keras.metrics.sparse_top_k_categorical_accuracy(
            *arrays([1, 1], ids), k=k, from_sorted_ids=True
        )
        result = ours.metrics.sparse_top_k_categorical_accuracy(
            [1, 1], ids, k, from_sorted_ids=True
        )
        assert_near(result, expected)


def test_correlation_with_what_is_constant() -> None:
    target, guess = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 2.0]])
    expected = keras.metrics.pearson_correlation(*arrays(target, guess))
    assert_near(ours.metrics.pearson_correlation(target, guess), expected)


def test_pixels_that_are_no_class() -> None:
    for label in (5, -1):
        theirs, mine = pair("IoU", {"num_classes": 3, "target_class_ids": [0, 1]})
        assert_near(mine([0, 1, label], [0, 1, 1]), theirs([0, 1, label], [0, 1, 1]))


# -- metrics of one's own ----------------------------------------------------------------------


class Own(ours.metrics.Metric):
    """A metric with state of several kinds."""

    def __init__(self) -> None:
        super().__init__(name="own")
        self.seen = self.add_variable((2,), "zeros", name="seen")
        self.one = self.add_weight((), initializer="ones", name="one")
        self.mean = ours.metrics.Mean()

    def update_state(self, x: Any) -> None:
        self.seen.assign(self.seen + x)
        self.mean.update_state(x)

    def result(self) -> dict[str, Any]:
        return {"seen": self.seen.value, "mean": self.mean.result()}


def test_metrics_of_ones_own() -> None:
    own = Own()
    paths = [variable.path for variable in own.variables]
    assert paths[:2] == ["own/seen", "own/one"]
    assert [path.split("/")[1] for path in paths[2:]] == ["total", "count"]
    assert not any(variable.trainable for variable in own.variables)
    assert own(wt.tensor(3.0))["seen"].tolist() == [3.0, 3.0]
    own.reset_state()
    assert [float(wt.sum(variable)) for variable in own.variables] == [0, 0, 0, 0]


def test_state_in_structures_is_found() -> None:
    own: Any = Own()
    own.more = {"a": [ours.Variable(1.0)], "b": (ours.metrics.Sum(), {ours.metrics.Mean()})}
    assert len(own.variables) == 4 + 1 + 1 + 2
    own.first = own.more["a"][0]
    assert len(own.variables) == 8


def test_without_a_trace() -> None:
    theirs, mine = pair("Mean", {"name": "own"})
    state = [[2.0, 4.0], [1.0, 3.0]]
    for home, metric in ((keras, theirs), (ours, mine)):
        metric.update_state([1.0, 5.0])
        variables = [home.ops.convert_to_tensor(initial) for initial in state[0]]
        state += [
            [float(number) for number in metric.stateless_update_state(variables, [1.0, 2.0])],
            [float(metric.stateless_result(variables))],
            [float(number) for number in metric.stateless_reset_state()],
            [float(variable) for variable in metric.variables],
        ]
    assert state[2:6] == state[6:] == [[5.0, 6.0], [0.5], [0.0, 0.0], [6.0, 2.0]]
    with pytest.raises(ValueError, match="metric_variables must be one value for each of 2"):
        mine.stateless_result([wt.tensor(1.0)])


def test_a_metric_must_call_its_base() -> None:
    class Forgetful(ours.metrics.Metric):
        def __init__(self) -> None:
            self.name = "forgetful"

    for call in (lambda: Forgetful()(1.0), lambda: Forgetful().add_weight()):
        with pytest.raises(RuntimeError, match=r"must call super\(\).__init__\(\)"):
            call()


def test_weights_of_one_row_are_for_all() -> None:
    target, guess = batch("flags", 1)
    for name in ("BinaryAccuracy", "Mean", "Sum"):
        theirs, mine = pair(name, {"name": "own"})
        arguments = [target, guess] if name == "BinaryAccuracy" else [guess]
        for weight in (np.arange(5.0)[None], np.arange(8.0)[:, None]):
            theirs.update_state(*arrays(*arguments), sample_weight=weight)
            mine.update_state(*arguments, sample_weight=weight)
            assert_same(theirs, mine)


def test_weights_that_are_truncated() -> None:
    with pytest.warns(UserWarning, match="casting truncates the weight"):
        ours.metrics.MeanIoU(2)([0, 1], [1, 1], sample_weight=np.array([0.5, 1.5]))


def test_arguments_are_attributes_and_dtypes_keep_their_names() -> None:
    metric = ours.metrics.SparseTopKCategoricalAccuracy(k=3, dtype="float64")
    assert (metric.k, metric.from_sorted_ids, metric.dtype) == (3, False, "float32")
    assert metric.get_config()["dtype"] == "float64"
    assert metric.variables[0].dtype == "float32"


def test_nothing_is_left_over(no_leak: None) -> None:
    target, guess = batch("flags", 1)
    for metric in (ours.metrics.AUC(), ours.metrics.BinaryAccuracy(), ours.metrics.F1Score()):
        metric.update_state(target, guess)
        with wt.tidy():
            metric.update_state(target, guess)
        assert metric.result().shape in ((), (5,))
    del metric


# -- names and configurations ------------------------------------------------------------------

DEFAULTS: list[tuple[str, Options]] = [(name, options) for name, _, options in CASES]
DEFAULTS += [
    ("Mean", {}),
    ("Sum", {"name": "own"}),
    ("SparseTopKCategoricalAccuracy", {"from_sorted_ids": True}),
]


@pytest.mark.parametrize("name, options", DEFAULTS)
def test_configurations(name: str, options: Options) -> None:
    theirs, mine = pair(name, {"name": "own", **options})
    config: Any = ours.metrics.serialize(mine)
    expected = keras.metrics.serialize(theirs)
    if name == "AUC":  # NumPy's numbers and tuples are no JSON
        if "thresholds" in options:
            assert expected["config"].pop("num_thresholds") == config["config"]["num_thresholds"]
            expected["config"]["num_thresholds"] = config["config"]["num_thresholds"]
            expected["config"]["thresholds"] = [float(x) for x in expected["config"]["thresholds"]]
        if "label_weights" in options:
            weights = np.asarray(theirs.label_weights).tolist()
            expected["config"]["label_weights"] = weights
    assert config == expected
    again = ours.metrics.deserialize(config)
    assert type(again) is type(mine)
    assert again.get_config() == mine.get_config()


def test_names_are_counted() -> None:
    first, second = ours.metrics.AUC().name, ours.metrics.AUC().name
    assert first != second
    assert first.startswith("auc")


@pytest.mark.parametrize(
    "name",
    [
        *("accuracy", "auc", "bce", "BCE", "mae", "MAE", "mape", "mse", "MSE", "msle"),
        *("binary_accuracy", "categorical_crossentropy", "cosine_similarity", "f1_score"),
        *("f_beta_score", "hinge", "kl_divergence", "log_cosh_error", "mean", "precision"),
        *("r2_score", "recall", "root_mean_squared_error", "sparse_categorical_accuracy"),
        *("sparse_top_k_categorical_accuracy", "AUC", "MeanSquaredError", "Recall"),
    ],
)
def test_names(name: str) -> None:
    expected, metric = keras.metrics.get(name), ours.metrics.get(name)
    assert type(metric).__name__ == type(expected).__name__


def test_functions_and_none() -> None:
    function = ours.losses.mean_squared_error
    assert ours.metrics.get(function) is function
    assert ours.metrics.get(None) is None
    wrapped = ours.metrics.MeanMetricWrapper(function, name="own")
    again = ours.metrics.deserialize(ours.metrics.serialize(wrapped))
    assert float(again([[0.0]], [[2.0]])) == 4.0


def test_every_name_of_keras_is_there() -> None:
    theirs = {name for name in dir(keras.metrics) if not name.startswith("_")}
    assert theirs == set(ours.metrics.__all__)  # type: ignore[attr-defined]


def test_wrong_arguments() -> None:
    metrics = ours.metrics
    two, three = np.ones((3, 2)), np.ones((3, 3))
    for call, message in (
        (lambda: metrics.get("acuracy"), "metric 'acuracy' is not known; did you mean 'accuracy'"),
        (lambda: metrics.AUC(curve="x"), "curve must be one of ROC, PR, PRGAIN, but got 'x'"),
        (lambda: metrics.AUC(summation_method="x"), "summation_method must be one of"),
        (lambda: metrics.AUC(num_thresholds=1), "num_thresholds must be greater than 1"),
        (lambda: metrics.AUC(thresholds=[2.0]), r"thresholds must lie in \[0, 1\]"),
        (lambda: metrics.AUC(num_labels=2), "num_labels is for multi_label"),
        (lambda: metrics.AUC(multi_label=True)(np.ones(3), np.ones(3)), r"must be \(batch, labels"),
        (
            lambda: metrics.AUC(multi_label=True, num_labels=3, label_weights=[1.0]),
            "one for each of 3 labels",
        ),
        (lambda: metrics.Precision([0.1, 2]), "Precision: thresholds must lie in"),
        (lambda: metrics.Precision()(two, three), "Precision: y_true and y_pred must have the sa"),
        (lambda: metrics.Recall(class_id=0)(np.ones(3), np.ones(3)), "with class_id, y_pred must"),
        (lambda: metrics.PrecisionAtRecall(1.5), "recall must lie in"),
        (lambda: metrics.PrecisionAtRecall(0.5, 0), "num_thresholds must be a positive integer"),
        (lambda: metrics.SensitivityAtSpecificity(-1), "specificity must lie in"),
        (lambda: metrics.F1Score(average="x"), "F1Score: average must be"),
        (lambda: metrics.F1Score(threshold=2), "threshold must be a float"),
        (lambda: metrics.FBetaScore(beta=-1), "beta must be a positive float"),
        (lambda: metrics.F1Score()(np.ones(3), np.ones(3)), r"must be \(batch, classes\)"),
        (lambda: metrics.R2Score("x"), "class_aggregation must be"),
        (lambda: metrics.R2Score(num_regressors=-1), "num_regressors must not be negative"),
        (lambda: metrics.R2Score()(two, three), r"must be \(batch, outputs\)"),
        (lambda: metrics.IoU(2, [2]), r"target_class_ids must lie in \[0, 2\), but got 2"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    for method in ("update_state", "result"):
        with pytest.raises(NotImplementedError, match=method):
            getattr(metrics.Metric(), method)()
