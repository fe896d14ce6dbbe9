"""fit, evaluate and predict come to the same numbers as Keras's."""

import asyncio
import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from webtensor import keras as ours
from webtensor.keras.names import forget_names
from webtensor.nest import map_structure

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(90, 6)).astype("float32")
REAL = (X @ RANDOM.normal(size=(6, 3)) + 0.1 * RANDOM.normal(size=(90, 3))).astype("float32")
CLASSES = REAL.argmax(-1).astype("int32")
ONE_HOT = np.eye(3, dtype="float32")[CLASSES]
BINARY = (REAL[:, :1] > 0).astype("float32")
WEIGHTS = RANDOM.uniform(0.5, 2.0, size=90).astype("float32")


def network(k: Any, units: int = 3, activation: str | None = None) -> Any:
    return k.Sequential(
        [
            k.Input((6,)),
            k.layers.Dense(8, activation="tanh", kernel_regularizer="l2"),
            k.layers.Dense(units, activation=activation),
        ]
    )


def two_headed(k: Any) -> Any:
    x = k.Input((6,), name="x")
    hidden = k.layers.Dense(8, activation="relu")(x)
    return k.Model(
        x,
        {
            "real": k.layers.Dense(3, name="real")(hidden),
            "kind": k.layers.Dense(3, activation="softmax", name="kind")(hidden),
        },
    )


def compiled(k: Any, make: Callable[[Any], Any], **options: Any) -> Any:
    """A library's model; layers are named as if it were the first."""
    if k is ours:
        forget_names()
    else:
        keras.utils.clear_session(free_memory=False)
        options = {"run_eagerly": True, **options}  # which saves the time of compiling
    model = make(k)
    arguments = {key: value(k) if callable(value) else value for key, value in options.items()}
    model.compile(**{"optimizer": k.optimizers.SGD(0.05, momentum=0.9), **arguments})
    return model


def both(make: Callable[[Any], Any], **options: Any) -> tuple[Any, Any]:
    """The model of each library, compiled alike, with the same weights."""
    mine, theirs = (compiled(k, make, **options) for k in (ours, keras))
    mine.set_weights(theirs.get_weights())
    return mine, theirs


def same(mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert list(mine) == list(theirs)
    for name, values in theirs.items():
        np.testing.assert_allclose(mine[name], values, rtol=2e-4, atol=2e-5, err_msg=name)


FIT = {"batch_size": 24, "epochs": 3, "shuffle": False, "verbose": 0}

CASES: dict[str, tuple[Callable[[Any], Any], dict[str, Any], tuple[Any, ...], dict[str, Any]]] = {
    "real": (network, {"loss": "mse", "metrics": ["mae", "mse"]}, (X, REAL), {}),
    "validation split": (network, {"loss": "mse"}, (X, REAL), {"validation_split": 0.3}),
    "validation data": (
        network,
        {"loss": "mae", "metrics": ["mse"]},
        (X, REAL),
        {"validation_data": (X[:40], REAL[:40]), "validation_freq": 2},
    ),
    "integers of NumPy": (
        network,
        {"loss": "mse"},
        (X, REAL),
        {"batch_size": np.int64(20), "epochs": np.int64(2), "steps_per_epoch": np.int64(2)},
    ),
    "some of the validation data": (
        network,
        {"loss": "mse"},
        (X, REAL),
        {"validation_data": (X[:40], REAL[:40]), "validation_steps": 1},
    ),
    "batches by steps": (
        network,
        {"loss": "mse"},
        (X, REAL),
        {
            "batch_size": None,
            "steps_per_epoch": 4,
            "validation_data": (X[:40], REAL[:40]),
            "validation_steps": 3,
        },
    ),
    "weighted validation": (
        network,
        {"loss": "mse", "weighted_metrics": ["mae"]},
        (X, REAL),
        {"sample_weight": WEIGHTS, "validation_data": (X[:40], REAL[:40], WEIGHTS[:40])},
    ),
    "sparse classes": (
        lambda k: network(k, 3, "softmax"),
        {"loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"]},
        (X, CLASSES),
        {"class_weight": {0: 1.0, 1: 2.0, 2: 0.5}},
    ),
    "classes": (
        lambda k: network(k, 3, "softmax"),
        {"loss": "categorical_crossentropy", "metrics": ["acc", "categorical_crossentropy"]},
        (X, ONE_HOT),
        {"class_weight": dict(zip(np.unique(CLASSES), (1.0, 2.0, 0.5), strict=True))},
    ),
    "binary": (
        lambda k: network(k, 1, "sigmoid"),
        {"loss": "binary_crossentropy", "metrics": ["accuracy"]},
        (X, BINARY),
        {"steps_per_epoch": 2},
    ),
    "loss object": (
        network,
        {
            "loss": lambda k: k.losses.SparseCategoricalCrossentropy(from_logits=True),
            "metrics": lambda k: [k.metrics.SparseTopKCategoricalAccuracy(2)],
        },
        (X, CLASSES),
        {},
    ),
    "two outputs": (
        two_headed,
        {
            "loss": {"real": "mse", "kind": "categorical_crossentropy"},
            "loss_weights": {"real": 0.5, "kind": 2.0},
            "metrics": {"real": "mae", "kind": ["accuracy"]},
        },
        (X, {"real": REAL, "kind": ONE_HOT}),
        {"validation_split": 0.2},
    ),
    "inputs alone": (
        lambda k: k.Sequential([network(k), k.layers.ActivityRegularization(0.1)]),
        {},
        (X,),
        {"validation_data": (X[:40],)},
    ),
    "initial epoch": (network, {"loss": "mse"}, (X, REAL), {"initial_epoch": 1}),
    "clipped": (
        network,
        {"loss": "mse", "optimizer": lambda k: k.optimizers.Adam(0.01, clipnorm=0.5)},
        (X, REAL),
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_fit(name: str, backends: Iterator[str]) -> None:
    make, options, data, more = CASES[name]
    weights = {"sample_weight": WEIGHTS} if "sample_weight" in more else {}
    theirs = compiled(keras, make, **options)
    first_weights = theirs.get_weights()
    expected = theirs.fit(*data, **{**FIT, **more})
    fitted_weights = theirs.get_weights()
    results = theirs.evaluate(*data, verbose=0, **weights)
    named_results = theirs.evaluate(*data, verbose=0, return_dict=True)
    for _ in backends:
        mine = compiled(ours, make, **options)
        mine.set_weights(first_weights)
        history = mine.fit(*data, **{**FIT, **more})
        same(history.history, expected.history)
        assert history.epoch == expected.epoch
        for got, fitted in zip(mine.get_weights(), fitted_weights, strict=True):
            np.testing.assert_allclose(got, fitted, rtol=2e-4, atol=2e-5)
        assert_close(mine.evaluate(*data, verbose=0, **weights), results, rtol=2e-4)
        same(mine.evaluate(*data, verbose=0, return_dict=True), named_results)


@pytest.mark.parametrize("name", CASES)
def test_on_batches(name: str) -> None:
    make, options, data, _ = CASES[name]
    mine, theirs = both(make, **options)
    for call in ("train_on_batch", "test_on_batch", "train_on_batch"):
        got = getattr(mine, call)(*data, return_dict=True)
        expected = getattr(theirs, call)(*data, return_dict=True)
        same(got, {key: float(value) for key, value in expected.items()})


def test_parts_of_one_batch_differ_in_size() -> None:
    nodes, targets = X[:5], REAL[:3]
    edges = np.array([[0, 1, 2, 3], [0, 1, 2, 2]], "int32")

    def make(k: Any) -> Any:
        x, ends = k.Input((6,)), k.Input((4,), dtype="int32")
        sums = k.ops.segment_sum(k.ops.take(x, ends[0], axis=0), ends[1], 3)
        return k.Model((x, ends), k.layers.Dense(1)(sums))

    mine, theirs = both(make, optimizer="sgd", loss="mse")
    for method, *data in (("train_on_batch", targets), ("test_on_batch", targets)):
        expected = getattr(theirs, method)((nodes, edges), *data)
        assert_close(getattr(mine, method)((nodes, edges), *data), expected, rtol=1e-5)
    assert_close(
        mine.predict_on_batch((nodes, edges)), theirs.predict_on_batch((nodes, edges)), rtol=1e-5
    )
    with pytest.raises(ValueError, match="as many samples"):
        mine.fit((nodes, edges), targets, verbose=0)


def batches(count: int = 5) -> Iterator[Any]:
    for start in range(0, 16 * count, 16):
        yield X[start : start + 16], REAL[start : start + 16]


class Sequence(ours.utils.PyDataset):
    """Batches by number."""

    def __len__(self) -> int:
        return 5

    def __getitem__(self, index: int) -> Any:
        return list(batches())[index]


def test_data_sets_begin_and_end_epochs() -> None:
    calls: list[str] = []

    class Recording(Sequence):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def __getitem__(self, index: int) -> Any:
            calls.append(f"{self.name} {index}")
            return super().__getitem__(index)

        def on_epoch_begin(self) -> None:
            calls.append(f"{self.name} begins")

        def on_epoch_end(self) -> None:
            calls.append(f"{self.name} ends")

    def epoch(name: str, steps: int) -> list[str]:
        return [f"{name} begins", *(f"{name} {step}" for step in range(steps)), f"{name} ends"]

    model = compiled(ours, network, loss="mse")
    options: dict[str, Any] = {"validation_data": Recording("v"), "validation_steps": 2}
    model.fit(Recording("t"), epochs=2, shuffle=False, verbose=0, **options)
    assert calls == 2 * [*epoch("t", 5), *epoch("v", 2)]
    calls.clear()
    model.evaluate(Recording("e"), verbose=0)
    model.predict(Recording("p"), steps=3, verbose=0)
    assert calls == [*epoch("e", 5), *epoch("p", 3)]


SOURCES: dict[str, Callable[[], dict[str, Any]]] = {
    "generator": lambda: {
        "x": (batch for _ in range(2) for batch in batches()),
        "steps_per_epoch": 5,
    },
    "list of batches": lambda: {"x": iter(list(batches()) * 2), "steps_per_epoch": 5},
    "data set": lambda: {"x": Sequence()},
    "tensors": lambda: {"x": wt.tensor(X[:80]), "y": wt.tensor(REAL[:80])},
    "lists": lambda: {"x": X[:80].tolist(), "y": REAL[:80].tolist()},
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources_of_batches(name: str, backends: Iterator[str]) -> None:
    theirs = compiled(keras, network, loss="mse")
    first_weights = theirs.get_weights()
    expected = theirs.fit(X[:80], REAL[:80], batch_size=16, epochs=2, shuffle=False, verbose=0)
    for _ in backends:
        mine = compiled(ours, network, loss="mse")
        mine.set_weights(first_weights)
        arguments = {"batch_size": 16} if "y" in SOURCES[name]() else {}
        history = mine.fit(**SOURCES[name](), **arguments, epochs=2, shuffle=False, verbose=0)
        same(history.history, expected.history)


def test_shuffling_sees_all_samples() -> None:
    seen: list[list[float]] = []

    class Watch(ours.layers.Layer):
        def call(self, inputs: Any, training: bool | None = None) -> Any:
            if training:
                seen.extend(inputs.tolist())
            return inputs

    model = ours.Sequential([ours.Input((1,)), Watch(), ours.layers.Dense(1)])
    model.compile(loss="mse")
    x = np.arange(50, dtype="float32")[:, None]
    model.fit(x, x, batch_size=8, epochs=2, verbose=0)
    first, second = [row[0] for row in seen[:50]], [row[0] for row in seen[50:]]
    assert sorted(first) == sorted(second) == x[:, 0].tolist()
    assert first != second != x[:, 0].tolist()


def test_asynchronous_forms() -> None:
    async def source() -> Any:
        for batch in batches():
            yield batch

    async def run() -> Any:
        mine, theirs = both(network, loss="mse")
        history = await mine.fit_async(source(), verbose=0)
        expected = theirs.fit(X[:80], REAL[:80], batch_size=16, shuffle=False, verbose=0)
        same(history.history, expected.history)
        result = await mine.evaluate_async(X, REAL, verbose=0)
        assert_close(result, theirs.evaluate(X, REAL, verbose=0), rtol=1e-4)
        output = await mine.predict_async(X, verbose=0)
        np.testing.assert_allclose(output, theirs.predict(X, verbose=0), rtol=1e-3, atol=1e-4)
        with pytest.raises(RuntimeError, match="fit_async"):
            mine.fit(source(), verbose=0)

    asyncio.run(run())


class OwnStep(ours.Model):
    """A model with a step of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = ours.layers.Dense(3)
        self.seen = ours.metrics.Mean(name="seen")

    @property
    def metrics(self) -> list[Any]:
        return [self.seen]

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)

    def train_step(self, data: Any) -> dict[str, Any]:
        x, y = data[:2]
        loss = self.optimizer.minimize(lambda: wt.mean((self(x) - y) ** 2), self.trainable_weights)
        self.seen.update_state(loss)
        return {"seen": self.seen.result()}


def test_a_step_of_ones_own() -> None:
    model = OwnStep()
    model.compile(ours.optimizers.Adam(0.05))
    history = model.fit(X, REAL, epochs=8, verbose=0).history
    assert list(history) == ["seen"]
    assert history["seen"][-1] < history["seen"][0] / 2


@pytest.mark.parametrize(
    "parts", [X, (X, REAL), (X, (REAL, CLASSES)), (X, REAL, X, REAL), {"a": X, "b": REAL}]
)
def test_a_step_of_ones_own_takes_what_a_data_set_yields(parts: Any) -> None:
    structures: list[Any] = []

    class Recording(OwnStep):
        def train_step(self, data: Any) -> dict[str, Any]:
            structures.append(map_structure(lambda leaf: leaf.shape, data))
            return {"seen": self.seen.result()}

    model = Recording()
    model.compile()
    model.fit(wt.data.Dataset.from_tensor_slices(parts).batch(len(X)), verbose=0)
    assert structures == [map_structure(np.shape, parts)]


def test_a_step_of_ones_own_takes_inputs_of_an_indexed_data_set_as_a_tuple() -> None:
    class Inputs(ours.utils.PyDataset):
        def __len__(self) -> int:
            return 1

        def __getitem__(self, index: int) -> Any:
            return X[:4]

    class Recording(OwnStep):
        def train_step(self, data: Any) -> dict[str, Any]:
            (x,) = data
            self.seen.update_state(x.shape[0])
            return {"seen": self.seen.result()}

    model = Recording()
    model.compile()
    assert model.fit(Inputs(), verbose=0).history == {"seen": [4.0]}


def losses_of_dropout(k: Any) -> list[float]:
    """Return the losses of models whose ``call`` lacks the argument ``training``, or has it."""

    class Plain(k.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.parts = [k.layers.Dense(3, kernel_initializer="ones"), k.layers.Dropout(0.5)]

        def call(self, inputs: Any) -> Any:
            return self.parts[1](self.parts[0](inputs))

    class Told(Plain):
        def call(self, inputs: Any, training: bool = False) -> Any:
            return self.parts[1](self.parts[0](inputs), training=training)

    losses = []
    for model in (Plain(), Told()):
        model.compile("sgd", "mse")
        losses.append(float(model.train_on_batch(X, REAL)))
    return losses


def test_a_call_without_training_is_not_told_about_it() -> None:
    plain, told = losses_of_dropout(ours)
    keras_plain, keras_told = losses_of_dropout(keras)
    assert plain == pytest.approx(keras_plain, rel=1e-5)
    assert plain not in (told, keras_told)


@pytest.mark.parametrize("is_built", [True, False])
def test_a_step_of_ones_own_on_batches_of_three(is_built: bool) -> None:
    class Triplets(OwnStep):
        def call(self, inputs: Any) -> Any:
            anchor, positive, negative = (self.dense(x) for x in inputs)
            return wt.sum(wt.square(anchor - positive) - wt.square(anchor - negative), -1)

        def train_step(self, data: Any) -> dict[str, Any]:
            with wt.GradientTape() as tape:
                loss = wt.mean(wt.relu(self(data) + 1.0))
            gradients = tape.gradient(loss, self.trainable_weights)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_weights, strict=True))
            self.seen.update_state(loss)
            return {"seen": self.seen.result()}

    model = Triplets()
    if is_built:
        model.dense.build((None, 6))
    model.compile(ours.optimizers.Adam(0.05))
    triplets = wt.data.Dataset.from_tensor_slices((X, X + 1.0, X * 0.5)).batch(16)
    history = model.fit(triplets, epochs=8, verbose=0).history["seen"]
    assert history[-1] < history[0] / 2
    assert len(model.trainable_weights) == 2


def test_a_call_that_fails_is_reported() -> None:
    class Broken(ours.Model):
        def call(self, inputs: Any) -> Any:
            raise ValueError("broken")

    model = Broken()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="broken"):
        model.fit(X, REAL, verbose=0)


def test_losses_that_layers_add() -> None:
    def make(k: Any) -> Any:
        class Penalty(k.layers.Layer):  # type: ignore[misc]
            def call(self, inputs: Any) -> Any:
                self.add_loss(0.1 * k.ops.mean(k.ops.square(inputs)))
                return inputs

        x = k.Input((6,))
        return k.Model(x, k.layers.Dense(3)(Penalty()(k.layers.Dense(4)(x))))

    mine, theirs = both(make, loss="mse")
    same(mine.fit(X, REAL, **FIT).history, theirs.fit(X, REAL, **FIT).history)


def test_losses_that_layers_add_are_tensors() -> None:
    for k in (ours, keras):
        with pytest.raises(ValueError, match="tensor"):
            k.layers.Layer().add_loss(0.5)


def test_nothing_is_left_behind() -> None:
    mine, _ = both(network, loss="mse", metrics=["mae"])

    def use() -> None:
        mine.fit(X, REAL, epochs=2, verbose=0)
        mine.predict(X, verbose=0)
        mine.evaluate(X, REAL, verbose=0)

    for _ in range(3):  # until steps are captured
        use()
    before = wt.memory()
    for _ in range(3):
        use()
    after = wt.memory()
    for count in ("num_tensors", "num_storages", "num_bytes"):
        assert after[count] == before[count]


# -- callbacks ---------------------------------------------------------------------------------


def test_early_stopping_and_rates() -> None:
    def callbacks(k: Any) -> list[Any]:
        return [
            k.callbacks.EarlyStopping("loss", min_delta=0.3, patience=2, restore_best_weights=True),
            k.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=0.5),
            k.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9),
        ]

    mine, theirs = both(network, loss="mse")
    options = {**FIT, "epochs": 20}
    history = mine.fit(X, REAL, **options, callbacks=callbacks(ours)).history
    expected = theirs.fit(X, REAL, **options, callbacks=callbacks(keras)).history
    same(history, expected)
    for got, expected_array in zip(mine.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(got, expected_array, rtol=1e-3, atol=1e-4)


def test_files_of_callbacks(tmp_path: Path) -> None:
    mine, _ = both(network, loss="mse")
    log, model = tmp_path / "log.csv", str(tmp_path / "{epoch:02d}.keras")
    mine.fit(
        X,
        REAL,
        epochs=3,
        verbose=0,
        callbacks=[ours.callbacks.CSVLogger(log), ours.callbacks.ModelCheckpoint(model, "loss")],
    )
    rows = log.read_text().splitlines()
    assert rows[0] == "epoch,loss,val_loss"  # a validation may come with a later epoch
    assert len(rows) == 4
    assert sorted(path.name for path in tmp_path.glob("*.keras")) == [
        "01.keras",
        "02.keras",
        "03.keras",
    ]


def test_what_is_not_a_number_ends_training() -> None:
    mine, _ = both(network, loss="mse")
    broken = REAL.copy()
    broken[30] = math.nan
    seen: list[int] = []
    watch = ours.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch))
    stop = ours.callbacks.TerminateOnNaN()
    mine.fit(X, broken, **FIT, callbacks=[stop, watch])
    assert seen == [0, 1]


def test_moments_come_in_keras_order() -> None:
    def recorder(k: Any) -> tuple[Any, list[str]]:
        seen: list[str] = []

        class Record(k.callbacks.Callback):  # type: ignore[misc]
            pass

        for moment in [name for name in dir(k.callbacks.Callback) if name.startswith("on_")]:
            if moment not in ("on_batch_begin", "on_batch_end"):
                note = partial(seen.append, moment)
                setattr(Record, moment, lambda self, *_, note=note, **__: note())
        return Record(), seen

    records = []
    for k, model in zip((ours, keras), both(network, loss="mse"), strict=True):
        record, seen = recorder(k)
        model.fit(X, REAL, **FIT, validation_split=0.5, callbacks=[record])
        model.predict(X, verbose=0, callbacks=[record])
        model.evaluate(X, REAL, verbose=0, callbacks=[record])
        records.append(seen)
    assert records[0] == records[1]


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    mine, _ = both(network, loss="mse")
    mine.fit(X, REAL, epochs=2, verbose=2)
    told = capsys.readouterr().out
    assert "Epoch 2/2" in told
    assert "3/3" in told
    assert "loss: " in told


# -- bad input ---------------------------------------------------------------------------------


def without_loss() -> Any:
    model = two_headed(ours)
    model.compile("sgd")
    return model


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda m: m.fit(X[:, :5], REAL, verbose=0), r"6.*5\)"),
        (lambda m: m.fit(X, REAL[:30], verbose=0), "x has 90.*y has 30"),
        (lambda m: m.fit(X, REAL[:, :2], verbose=0), "shape"),
        (lambda m: m.fit(X[:0], REAL[:0], verbose=0), "x must have at least one sample"),
        (lambda m: without_loss().fit(X, REAL, verbose=0), "no loss"),
        (lambda m: m.fit(verbose=0), "x is missing"),
        (lambda m: m.fit(X, REAL, batch_size=0, verbose=0), "batch_size.*0"),
        (lambda m: m.fit(X, REAL, batch_size=8.0, verbose=0), r"batch_size.*8\.0"),
        (lambda m: m.fit(batches(), steps_per_epoch=0, verbose=0), "steps.*positive.*0"),
        (lambda m: m.evaluate(batches(), steps=-2, verbose=0), "steps.*positive.*-2"),
        (lambda m: m.predict(X, steps=1.5, verbose=0), r"steps.*positive.*1\.5"),
        (lambda m: m.fit(X, REAL, validation_split=1.5, verbose=0), "validation_split.*1.5"),
        (lambda m: m.fit(batches(), REAL, verbose=0), "y must be left out"),
        (lambda m: m.fit(X, REAL, callbacks=[3], verbose=0), "callbacks.*3"),
        (lambda m: m.compile(loss="maen"), "'maen'.*'mae'"),
        (lambda m: m.compile(loss="mse", metrics=["acuracy"]), "'acuracy'.*accuracy"),
        (lambda m: m.compile(optimizer="adan"), "'adan'.*'Nadam'"),
        (lambda m: m.compile(steps_per_execution=-1), "steps_per_execution.*-1"),
        (lambda m: m.compile(steps_per_execution=1.5), r"steps_per_execution.*1\.5"),
        (lambda m: m.predict(iter(()), verbose=0), "no batches"),
        (lambda m: m.predict([], verbose=0), "x must have at least one sample, but has none"),
        (lambda m: m.predict_on_batch([]), "has 1 inputs, but got 0"),
        (lambda m: m.fit(X, REAL, class_weight=[1.0], verbose=0), r"class_weight .* is \[1\.0\]"),
        (lambda m: network(ours).fit(X, REAL), "compiled"),
        (
            lambda m: m.fit(X, REAL, class_weight={0: 1.0}, sample_weight=WEIGHTS, verbose=0),
            "class_weight and sample_weight",
        ),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[Any], Any], says: str) -> None:
    mine, _ = both(network, loss="mse")
    before = mine.get_weights()
    with pytest.raises((ValueError, TypeError), match=says):
        call(mine)
    for weight, other in zip(mine.get_weights(), before, strict=True):
        np.testing.assert_array_equal(weight, other)


# -- functions of several batches ------------------------------------------------------------------


def test_stateless_loss_as_in_keras(backend: str) -> None:
    mine, theirs = both(network, loss="mse")
    changed = [0.5 * weight for weight in theirs.get_weights()]
    (loss, state), (expected, expected_state) = (
        model.stateless_compute_loss(changed, [], [1.0, 2.0], X, REAL, 2 * REAL)
        for model in (mine, theirs)
    )
    assert_close(float(loss), float(expected), rtol=1e-5)
    assert [len(group) for group in state] == [len(group) for group in expected_state]
    assert [float(value) for value in state[2]] == [1.0, 2.0]
    np.testing.assert_array_equal(mine.get_weights()[0], theirs.get_weights()[0])


def test_stateless_loss_has_gradients(backend: str) -> None:
    model, _ = both(network, loss="mse")
    weights = [variable.value for variable in model.trainable_variables]

    def loss(kernel: Any) -> Any:
        return model.stateless_compute_loss([kernel, *weights[1:]], [], [0, 0], X, REAL, REAL)[0]

    expected = 2 * 0.01 * weights[0].numpy()  # of the kernel's regularizer
    np.testing.assert_allclose(wt.grad(loss)(weights[0]).numpy(), expected, rtol=1e-5, atol=1e-8)


def test_functions_take_as_many_batches_as_an_execution(backend: str) -> None:
    model, _ = both(network, loss="mse", steps_per_execution=2)
    batches = [(X[start : start + 16], REAL[start : start + 16]) for start in range(0, 48, 16)]
    train, test, predict = iter(batches), iter(batches), iter(batches)
    assert set(model.make_train_function()(train)) == {"loss"}
    assert set(model.make_test_function()(test)) == {"loss"}
    assert model.make_predict_function()(predict).shape == (32, 3)
    for function, iterator in [
        (model.train_function, train),
        (model.test_function, test),
        (model.predict_function, predict),
    ]:
        function(iterator)  # what is left
        with pytest.raises(StopIteration):
            function(iterator)


def test_a_model_may_make_its_own_train_function() -> None:
    class Twice(ours.Sequential):
        def make_train_function(self, force: bool = False) -> Any:
            if self.train_function is not None and not force:
                return self.train_function

            def train(batches: Iterator[Any]) -> Any:
                batch = next(batches)
                self.train_step(batch)
                return self.train_step(batch)

            self.train_function = train
            return train

    plain, _ = both(network, loss="mse", optimizer="sgd")
    twice = Twice([*plain.layers])
    twice.compile("sgd", "mse")
    weights = plain.get_weights()
    for _ in range(2):
        plain.train_on_batch(X, REAL)
    expected = plain.get_weights()
    twice.set_weights(weights)
    twice.fit(X, REAL, batch_size=len(X), shuffle=False, verbose=0)
    for weight, expected_array in zip(twice.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(weight, expected_array)


@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}, {"jit_compile": False}], ids=str)
def test_what_compile_was_told_is_an_attribute(options: dict[str, Any]) -> None:
    mine, theirs = ours.Sequential(), keras.Sequential()
    assert (mine.run_eagerly, mine.jit_compile) == (False, False)
    for model in (mine, theirs):
        model.compile(**options)
        model.run_eagerly = not model.run_eagerly
    assert mine.run_eagerly is theirs.run_eagerly
    assert mine.jit_compile is False
