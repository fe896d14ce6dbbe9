"""Losses, metrics and results of models with several outputs, and the edges of fit's arguments."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from webtensor import keras as ours
from webtensor.keras.names import forget_names

X = np.ones((4, 3), "float32")
Y = np.zeros((4, 2), "float32")

STRUCTURES: dict[str, Callable[..., Any]] = {
    "one": lambda a, b, c: a,
    "list": lambda a, b, c: [a, b],
    "dict": lambda a, b, c: {"u": a, "q": b},
    "nested": lambda a, b, c: {"z": a, "k": [b, c]},
    "tuple": lambda a, b, c: (a, (b, c)),
}


def functional(k: Any, kind: str) -> Any:
    x = k.Input((3,))
    layers = [
        k.layers.Dense(2, kernel_initializer=k.initializers.Constant(i + 1), name=f"d{i}")
        for i in range(3)
    ]
    return k.Model(x, STRUCTURES[kind](*(layer(x) for layer in layers)))


def written(k: Any, kind: str) -> Any:
    class Written(k.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.heads = [k.layers.Dense(2, kernel_initializer="ones") for _ in range(3)]

        def call(self, inputs: Any) -> Any:
            return STRUCTURES[kind](*(head(inputs) * 2 for head in self.heads))

    return Written()


def results(k: Any, make: Any, kind: str, **options: Any) -> tuple[dict[str, Any], list[str]]:
    forget_names()
    keras.utils.clear_session(free_memory=False)
    model = make(k, kind)
    model.compile("sgd", **options, run_eagerly=True)
    logs = model.evaluate(X, STRUCTURES[kind](Y, Y, Y), verbose=0, return_dict=True)
    return logs, model.metrics_names


@pytest.mark.parametrize(
    "make, kind, options",
    [
        (functional, "list", {"loss": "mse"}),
        (functional, "list", {"loss": ["mse", None], "metrics": [None, "mae"]}),
        (functional, "list", {"loss": ["mse", ["mse", "mae"]], "loss_weights": [1, 2, 3]}),
        (functional, "dict", {"loss": {"u": "mse", "q": "mae"}, "loss_weights": {"u": 2, "q": 3}}),
        (functional, "nested", {"loss": {"z": "mse", "k": ["mse", "mae"]}}),
        (functional, "tuple", {"loss": ["mse", "mae", "mse"]}),
        (functional, "nested", {"loss": "mse", "metrics": {"z": "mae", "k": ["mse", "mae"]}}),
        (functional, "one", {"loss": ["mse"], "metrics": [["mae"]], "weighted_metrics": ["mae"]}),
        (functional, "one", {"loss": "mse", "metrics": ["mae", "mae", lambda p, q: q - p]}),
        (functional, "dict", {"loss": {"u": ["mse", "mae"]}, "metrics": {"u": "mae", "q": "mse"}}),
        (written, "list", {"loss": ["mse", "mae"], "metrics": [["mae"], ["mse", "mae"]]}),
        (written, "dict", {"loss": ["mse", "mse"], "metrics": ["mae", "mae"]}),
        (written, "tuple", {"loss": ("mse", ("mae", "mse")), "loss_weights": [0.5, 2, 3]}),
    ],
)
def test_results_and_their_names(make: Any, kind: str, options: dict[str, Any]) -> None:
    expected, expected_names = results(keras, make, kind, **options)
    got, names = results(ours, make, kind, **options)
    assert list(got) == list(expected)
    assert_close(list(got.values()), list(expected.values()), rtol=1e-5)
    assert names == expected_names


def test_outputs_of_one_model_have_a_loss_each() -> None:
    """As of a GAN; Keras calls both the same, and returns the last one twice."""
    x = ours.Input((3,))
    inner = ours.Model(x, [ours.layers.Dense(1)(x), ours.layers.Dense(2)(x)], name="inner")
    model = ours.Model(x, inner(x))
    model.compile("sgd", ["mse", "mae"], metrics=[["mae"], ["mse"]])
    y = [np.zeros((4, 1), "float32"), Y]
    logs: Any = model.evaluate(X, y, verbose=0, return_dict=True)
    first, second = model(X)
    assert logs["inner_loss"] == pytest.approx(np.mean(np.square(first.numpy())))
    assert logs["inner_1_loss"] == pytest.approx(np.mean(np.abs(second.numpy())))
    assert logs["loss"] == pytest.approx(logs["inner_loss"] + logs["inner_1_loss"])
    batch_logs: Any = model.train_on_batch(X, y)
    assert len(batch_logs) == 5
    callback = ours.callbacks.EarlyStopping("val_inner_1_loss", min_delta=0.1)
    model.fit(X, y, validation_data=(X, y), epochs=2, verbose=0, callbacks=[callback])


@pytest.mark.parametrize(
    "kind, options, error, says",
    [
        ("list", {"loss": {"d0": "mse"}}, ValueError, r"\['d0', 'd1'\].*\['d0'\]"),
        ("dict", {"loss": {"w": "mse"}}, KeyError, "'w'.*'q', 'u'"),
        ("list", {"loss": ["mse"] * 3}, KeyError, "'2'"),
        ("list", {"loss": "mse", "metrics": ["mae"]}, ValueError, "metrics.*2.*'mae'"),
        ("list", {"loss": "mse", "metrics": {"d7": "mae"}}, ValueError, "metrics names 'd7'"),
        ("one", {"loss": "mse", "metrics": "mae"}, ValueError, "metrics must be a list.*'mae'"),
        ("one", {"loss": "mse", "metrics": [None]}, ValueError, "None"),
        ("list", {"loss": "mse", "loss_weights": [1, 2]}, ValueError, "loss_weights.*1.*2"),
        ("one", {"loss": "mse", "loss_weights": 2}, ValueError, "loss_weights must be a float.*2"),
    ],
)
def test_what_does_not_fit_the_outputs(kind: str, options: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        results(ours, functional, kind, **options)
    with pytest.raises(error):
        results(keras, functional, kind, **options)


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_unknown_arguments_are_named(method: str) -> None:
    model = functional(ours, "one")
    model.compile("sgd", "mse")
    with pytest.raises(TypeError, match=r"^\w+: unknown argument 'batchSize'; .* 'batch_size'\?$"):
        getattr(model, method)(X, batchSize=2)


def test_elements_of_tensorflow_js_are_refused() -> None:
    model = functional(ours, "one")
    model.compile("sgd", "mse")
    rows = wt.data.array([{"xs": X[0], "ys": Y[0]}]).batch(1)
    with pytest.raises(ValueError, match=r"but got \['xs', 'ys'\]; .* has pairs \(xs, ys\)"):
        model.fit(rows, verbose=0)


def test_targets_go_to_outputs_with_a_loss() -> None:
    model = functional(ours, "list")
    model.compile("sgd", ["mse", None], metrics=["mae", None])
    alone = model.evaluate(X, Y, verbose=0, return_dict=True)
    assert alone == model.evaluate(X, {"d0": Y}, verbose=0, return_dict=True)
    model.compile("sgd", ["mse", "mse"])
    with pytest.raises(ValueError, match="y has nothing for output 'd1'"):
        model.evaluate(X, {"d0": Y}, verbose=0)
    with pytest.raises(ValueError, match=r"y has 1 parts.*2 outputs"):
        model.evaluate(X, Y, verbose=0)


def test_metrics_keep_their_names() -> None:
    metric = ours.metrics.MeanSquaredError()
    for _ in range(2):
        model = functional(ours, "list")
        model.compile("sgd", "mse", metrics=[metric, None])
        assert "d0_mean_squared_error" in model.fit(X, [Y, Y], verbose=0).history
    assert metric.name == "mean_squared_error"


# -- loops -------------------------------------------------------------------------------------


class Watch(ours.callbacks.Callback):
    """Notes the numbers of batches, and ends a loop."""

    def __init__(self, end: str = "", after: int = 0) -> None:
        super().__init__()
        self.seen: list[Any] = []
        self._end, self._after = end, after

    def _note(self, batch: int, logs: Any = None) -> None:
        self.seen.append((batch, sorted(logs)))
        if self._end and len(self.seen) == self._after:
            setattr(self.model, self._end, True)

    on_train_batch_begin = on_train_batch_end = on_test_batch_end = on_predict_batch_end = _note


def simple(**options: Any) -> Any:
    model = ours.Sequential([ours.layers.Dense(2, kernel_initializer="ones")])
    model.compile("sgd", "mse", **options)
    return model


def endless() -> Iterator[Any]:
    while True:
        yield X, Y


def test_batches_of_an_execution() -> None:
    watch, model = Watch(), simple(steps_per_execution=3)
    history = model.fit(X, Y, batch_size=1, shuffle=False, verbose=0, callbacks=[watch]).history
    assert watch.seen == [(0, []), (2, ["loss"]), (3, []), (5, ["loss"])]
    assert history == simple().fit(X, Y, batch_size=1, shuffle=False, verbose=0).history
    watch = Watch()
    outputs = model.predict(X, batch_size=1, verbose=0, callbacks=[watch])
    assert outputs.shape == (4, 2)
    assert watch.seen == [(2, ["outputs"]), (5, ["outputs"])]


def test_callbacks_end_loops() -> None:
    for loop, name in (("fit", "training"), ("evaluate", "evaluating"), ("predict", "predicting")):
        watch = Watch(f"stop_{name}", 4)
        getattr(simple(), loop)(endless(), verbose=0, callbacks=[watch])
        assert len(watch.seen) == 4


def test_data_that_end_early() -> None:
    with pytest.warns(UserWarning, match="made 2 batches, but 5"):
        history = simple().fit(X, Y, batch_size=2, steps_per_epoch=5, epochs=2, verbose=0)
    assert history.epoch == [0, 1]
    with pytest.warns(UserWarning, match="no batches for epoch 2"):
        history = simple().fit(iter([(X, Y)]), epochs=3, verbose=0)
    assert history.epoch == [0]
    assert simple().fit(X, Y, batch_size=2, steps_per_epoch=2, epochs=3, verbose=0).epoch[-1] == 2


def test_a_data_set_without_an_end() -> None:
    class Endless(ours.utils.PyDataset):
        num_batches = None

        def __getitem__(self, index: int) -> Any:
            return X, Y

    assert simple().fit(Endless(), steps_per_epoch=3, epochs=2, verbose=0).epoch == [0, 1]


def test_classes_without_a_weight_have_1() -> None:
    classes = np.array([0, 1, 2, 1])
    model = ours.Sequential([ours.Input((3,)), ours.layers.Dense(3, "softmax")])
    for loss, y in (
        ("sparse_categorical_crossentropy", classes),
        ("categorical_crossentropy", np.eye(3)[classes]),
    ):
        model.compile(ours.optimizers.SGD(0.0), loss)
        weighted = model.fit(X, y, class_weight={1: 2.0}, verbose=0).history["loss"][0]
        expected = model.evaluate(X, y, sample_weight=[1.0, 2.0, 1.0, 2.0], verbose=0)
        assert weighted == pytest.approx(expected)


def test_a_model_of_ones_own() -> None:
    class Own(ours.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = ours.layers.Dense(2, activity_regularizer="l2")
            self.fourfold = ours.metrics.Mean(name="fourfold")

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

        def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None,  # type: ignore[override]
                         sample_weight: Any = None) -> Any:  # fmt: skip
            loss = super().compute_loss(x, y, y_pred, sample_weight)
            self.fourfold.update_state(loss * 4)
            return loss

        def train_step(self, data: Any) -> Any:
            logs: Any = super().train_step(data)
            return {**logs, "double": logs["loss"] * 2}

    model = Own()
    model.compile("sgd", "mse")
    history = model.fit(X, Y + 1, verbose=0).history
    assert history["fourfold"][0] == pytest.approx(4 * history["loss"][0])
    assert history["double"][0] == pytest.approx(2 * history["loss"][0])


def test_batches_are_seen_once() -> None:
    class Count(ours.Model):
        def __init__(self) -> None:
            super().__init__()
            self.seen = self.add_variable((), "zeros", trainable=False)
            self.dense = ours.layers.Dense(2)

        def call(self, inputs: Any) -> Any:
            self.seen.assign_add(1)
            return self.dense(inputs)

    model = Count()
    model.compile("sgd", "mse")
    model.fit(X, Y, batch_size=2, verbose=0)
    assert float(model.seen) == 2


def test_nothing_to_train() -> None:
    model = simple()
    model.trainable = False
    model.compile("sgd", "mse")
    with pytest.warns(UserWarning, match="no trainable weights"):
        assert model.fit(X, Y, verbose=0).history["loss"] == [9.0]


def test_state_trees() -> None:
    def paths(tree: Any, start: str = "") -> list[str]:
        if not isinstance(tree, dict):
            return [start]
        return [path for key in sorted(tree) for path in paths(tree[key], f"{start}/{key}")]

    trees = []
    for k in (ours, keras):
        forget_names()
        keras.utils.clear_session(free_memory=False)
        model = functional(k, "list")
        model.compile("sgd", "mse", run_eagerly=True)
        model.evaluate(X, [Y, Y], verbose=0)
        trees.append(model.get_state_tree("numpy_array"))
    assert paths(trees[0]) == paths(trees[1])
    mine = functional(ours, "list")
    mine.set_state_tree({"trainable_variables": {"d0": {"bias": [3.0, 4.0]}}})
    assert mine.get_state_tree()["trainable_variables"]["d0"]["bias"].tolist() == [3.0, 4.0]
    with pytest.raises(ValueError, match=r"'d9/bias'.*trainable_variables"):
        mine.set_state_tree({"trainable_variables": {"d9": {"bias": 0}}})
    with pytest.raises(ValueError, match="'others' is none of"):
        mine.set_state_tree({"others": {}})


# -- inputs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names, structure, warns, fails",
    [
        ({"a": 0, "b": 1}, [X, X], True, False),
        ({"b": 1, "a": 0}, [X, X], False, True),
        ({"a": 0, "b": 1}, {"a": X, "b": X, "c": X}, True, False),
        ({"a": 0, "b": 1}, {"a": X}, False, True),
        ([0, 1], (X, X), False, False),
        ([0, 1], {"a": X, "b": X}, False, False),
        ([0, 1], [X], False, True),
        ([0, (1,)], [X, X], True, False),
        ([0, 1], [X, None], False, True),
    ],
)
def test_structures_of_inputs(names: Any, structure: Any, warns: bool, fails: bool) -> None:
    for k in (ours, keras):
        ends = [k.Input((3,), name=name) for name in "ab"]
        inputs = k.tree.map_structure(lambda index, ends=ends: ends[index], names)
        model = k.Model(inputs, ends[0] + ends[1])
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            if fails:
                with pytest.raises(ValueError):
                    model(structure)
            else:
                assert model(structure).shape == (4, 3)
                assert bool(told) == warns


def test_inputs_that_may_be_left_out() -> None:
    class Sum(ours.layers.Layer):
        def call(self, x: Any, y: Any = None) -> Any:
            return x if y is None else x + y

        def compute_output_shape(self, x_shape: Any) -> Any:
            return x_shape

    x, y = ours.Input((3,)), ours.Input((3,), optional=True)
    model = ours.Model([x, y], ours.layers.Dense(2)(Sum()(x, y)))
    model.compile("sgd", "mse")
    assert model([X, None]).shape == (4, 2)
    assert len(model.fit([X, None], Y, verbose=0, batch_size=2).epoch) == 1


def test_functions_of_symbols() -> None:
    x = ours.KerasTensor((None, 3))
    y = x * 2
    twice = ours.Function(x, y)
    assert y._keras_history is not None
    assert [operation.name for operation in twice.operations] == [y._keras_history.operation.name]
    assert twice.compute_output_shape((7, 3)) == (7, 3)
    z = ours.Input((3,))
    assert ours.Function(z, twice(z) + 1)(X).tolist() == (X * 2 + 1).tolist()
    with pytest.raises(ValueError, match=r"input 0 must have shape \(None, 3\).*\(4, 2\)"):
        twice(Y)
    with pytest.raises(ValueError, match="1 inputs, but got 2"):
        twice([X, X])


def test_sequences_of_layers_that_take_structures() -> None:
    class Sum(ours.layers.Layer):
        def call(self, inputs: Any) -> Any:
            return inputs["a"] + inputs["b"]

    model = ours.Sequential([Sum()])
    assert model({"a": X, "b": X}).tolist() == (X * 2).tolist()
    model = ours.Sequential([ours.Input((3,)), ours.layers.Dense(2)])
    with pytest.raises(ValueError, match=r"built for \(None, 3\) already"):
        model.build((None, 4))


def test_models_that_cannot_be() -> None:
    def twins(k: Any) -> Any:
        x = k.Input((3,))
        return k.Model(x, k.layers.Dense(1, name="q")(k.layers.Dense(1, name="q")(x)))

    for make, says in (
        (twins, "2 are named 'q'"),
        (lambda k: k.Model(k.Input((3,)), 3), "outputs must be symbolic tensors"),
        (lambda k: k.Sequential([k.Input((3,))])(X), "no layers"),
        (lambda k: k.Sequential().build((None, 3)), "no layers"),
    ):
        for k in (ours, keras):
            with pytest.raises(ValueError, match=says if k is ours else None):
                make(k)


def test_a_layer_keeps_its_first_ends() -> None:
    x, y, dense = ours.Input((3,)), ours.Input((3,)), ours.layers.Dense(1)
    first = dense(x)
    dense(y)
    assert dense.input is x
    assert dense.output is first


def test_trials_change_nothing() -> None:
    class Count(ours.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.calls = self.add_weight((), "zeros", trainable=False)

        def call(self, inputs: Any) -> Any:
            self.calls.assign_add(1)
            return inputs

    count = Count()
    model = ours.Sequential([ours.Input((3,)), count])
    assert float(count.calls) == 0
    model(X)
    assert float(count.calls) == 1


def test_configurations_of_ones_own_models() -> None:
    class Named(ours.Model):
        def __init__(self, *args: Any, param: int = 1, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.param = param

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "param": self.param}

    x = ours.Input((3,))
    config = Named(x, (ours.layers.Dense(1)(x), x), param=3).get_config()
    result = Named.from_config(config)
    assert result.param == 3
    assert isinstance(result.output, tuple)
