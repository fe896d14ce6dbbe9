"""Callbacks that watch, save, average and tell."""

import asyncio
import json
import struct
import sys
import types
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from tests_py.closeness import assert_close
from webtensor import keras as ours

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(12, 3)).astype("float32")
Y = RANDOM.normal(size=(12, 2)).astype("float32")


def network(optimizer: Any = "sgd", **options: Any) -> Any:
    model = ours.Sequential([ours.Input((3,)), ours.layers.Dense(2, kernel_initializer="ones")])
    model.compile(optimizer, "mse", **options)
    return model


# -- a list of callbacks, in a loop of one's own -----------------------------------------------


def test_a_list_takes_models_parameters_and_keywords() -> None:
    def calls(k: Any) -> Any:
        made: list[Any] = []
        moments = {
            name: lambda *arguments, name=name, **logs: made.append((name, arguments, logs))
            for name in (
                "on_epoch_begin",
                "on_epoch_end",
                "on_train_begin",
                "on_train_batch_begin",
                "on_train_batch_end",
            )
        }
        history = k.callbacks.History()
        callbacks = k.callbacks.CallbackList([k.callbacks.LambdaCallback(**moments), history])
        model = k.Sequential([k.Input((3,)), k.layers.Dense(2)])
        callbacks.set_model(model)
        callbacks.set_params({"epochs": 3, "steps": 2})
        callbacks.on_train_begin(logs={"a": 1})
        callbacks.on_epoch_begin(epoch=1)
        callbacks.on_train_batch_begin(batch=0, logs={})
        callbacks.on_train_batch_end(batch=0, logs={"loss": 2.0})
        callbacks.on_epoch_end(1, logs={"loss": 2.0})
        assert history.model is model
        return made, history.params, history.epoch, history.history, model.history is history

    assert calls(ours) == calls(keras)


# -- what is watched ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "monitor, numbers, best",
    [
        ("loss", [2.0, 1.0, 3.0], 1.0),
        ("val_loss", [2.0, 1.0, 3.0], 1.0),
        ("mae", [2.0, 1.0, 3.0], 1.0),
        ("val_acc", [2.0, 1.0, 3.0], 3.0),
        ("auc", [0.1, 0.5, 0.3], 0.5),
        ("r2_score", [0.1, 0.5, 0.3], 0.5),
        ("hinge", [2.0, 1.0, 3.0], 1.0),
    ],
)
def test_metrics_say_whether_they_should_rise(
    monitor: str, numbers: list[float], best: float
) -> None:
    model = network(metrics=["mae", "acc", "hinge", ours.metrics.AUC(name="auc"), "r2_score"])
    model.fit(X, Y > 0, verbose=0)
    for kind in (ours.callbacks.EarlyStopping, ours.callbacks.ReduceLROnPlateau):
        callback = kind(monitor, patience=9)
        callback.set_model(model)
        callback.on_train_begin()
        assert callback.best is None
        for epoch, number in enumerate(numbers):
            callback.on_epoch_end(epoch, {monitor: number})
        assert callback.best == best


def test_the_monitored_value_may_be_computed() -> None:
    class Sum(ours.callbacks.EarlyStopping):
        def get_monitor_value(self, logs: Any) -> float:
            return float(logs["a"] + logs["b"])

    callback = Sum("a", mode="min", patience=9)
    callback.set_model(network())
    callback.on_train_begin()
    callback.on_epoch_end(0, {"a": 2.0, "b": 1.0})
    assert callback.best == 3.0


def test_epochs_after_a_reduction_are_its_cooldown() -> None:
    callback = ours.callbacks.ReduceLROnPlateau("loss", patience=1, cooldown=2)
    callback.set_model(network())
    callback.on_train_begin()
    states = []
    for epoch in range(5):
        callback.on_epoch_end(epoch, {"loss": 1.0})
        states.append(callback.in_cooldown())
    assert states == [False, True, True, True, True]


@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize("patience", [0, 1, 2, 9])
def test_training_stops_in_the_same_epoch(mode: str, patience: int) -> None:
    results = []
    for k in (ours, keras):
        callback = k.callbacks.EarlyStopping("number", mode=mode, patience=patience)
        model = k.Sequential([k.Input((3,)), k.layers.Dense(2)])
        model.stop_training = False
        callback.set_model(model)
        callback.on_train_begin()
        for epoch, number in enumerate([3.0, 2.0, 4.0, 2.5, 3.5, 3.0]):
            if not model.stop_training:
                callback.on_epoch_end(epoch, {"number": number})
        results.append((callback.best, callback.wait, callback.stopped_epoch, model.stop_training))
    assert results[0] == results[1]


@pytest.mark.parametrize("k", [ours, keras])
def test_monitor_op_follows_the_direction_of_the_metric(k: Any) -> None:
    class Gain(k.metrics.MeanMetricWrapper):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(lambda y_true, y_pred: y_pred - y_true, "gain")
            self._direction = "up"

    gain, loss = (k.callbacks.EarlyStopping(name, min_delta=0.5) for name in ("gain", "loss"))
    model = k.Sequential([k.Input((3,)), k.layers.Dense(2)])
    model.compile("sgd", "mse", metrics=[Gain()], run_eagerly=True)
    assert {gain.monitor_op, loss.monitor_op} == {None}
    model.fit(X, Y, verbose=0, callbacks=[gain, loss])
    assert [c.monitor_op(2.0, 1.0) for c in (gain, loss)] == [True, False]
    assert (gain.min_delta, loss.min_delta) == (0.5, -0.5)


@pytest.mark.parametrize("k", [ours, keras])
def test_what_nobody_knows_needs_a_mode(k: Any, tmp_path: Path) -> None:
    model = k.Sequential([k.Input((3,)), k.layers.Dense(2)])
    model.compile("sgd", "mse", metrics=[lambda p, q: q - p], run_eagerly=True)
    for callback in (
        k.callbacks.EarlyStopping("lambda"),
        k.callbacks.ReduceLROnPlateau("lost"),
        k.callbacks.ModelCheckpoint(str(tmp_path / "a.keras"), "lost", save_best_only=True),
    ):
        with pytest.raises(ValueError, match=r"(?s)lambda|lost"):
            model.fit(X, Y, verbose=0, callbacks=[callback])
    with pytest.warns(UserWarning, match="mode"):
        k.callbacks.EarlyStopping("loss", mode="least")


def test_what_is_not_there_is_saved_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    save = ours.callbacks.ModelCheckpoint(path, "lost", save_best_only=True, mode="min")
    with pytest.warns(UserWarning, match="'lost'"):
        network().fit(X, Y, verbose=0, callbacks=[save])
    assert path.exists()


def test_a_callback_is_made_before_its_training_begins() -> None:
    """A subclass may use the model in ``on_train_begin``."""

    class Reduce(ours.callbacks.ReduceLROnPlateau):
        def on_train_begin(self, logs: Any = None) -> None:
            assert self.model is not None
            super().on_train_begin(logs)

    assert Reduce("loss").wait == 0


@pytest.mark.parametrize("best_only", [False, True])
def test_messages(best_only: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """They are Keras's, which also says when a file is written, and leaves lines empty."""
    rates = [0.1, 0.05, 4.0, 4.0, 4.0]
    told = []
    for k in (ours, keras):
        model = k.Sequential([k.Input((X.shape[1],)), k.layers.Dense(1, kernel_initializer="ones")])
        model.compile(k.optimizers.SGD(), "mse")
        save = tmp_path / "{epoch}.keras"
        callbacks = [
            k.callbacks.LearningRateScheduler(lambda epoch, rate: rates[epoch], verbose=1),
            k.callbacks.EarlyStopping("loss", patience=2, verbose=1, restore_best_weights=True),
            k.callbacks.ReduceLROnPlateau("loss", patience=1, verbose=1),
            k.callbacks.ModelCheckpoint(save, "loss", verbose=1, save_best_only=best_only),
        ]
        model.fit(X, X[:, :1], epochs=5, shuffle=False, verbose=0, callbacks=callbacks)
        lines = capsys.readouterr().out.splitlines()
        told.append([line for line in lines if line and "finished saving" not in line])
    assert told[0] == told[1]
    words = ("setting", "early stopping", "Restoring", "reducing", "saving")
    for word in (*words, *("improved from None to", "did not improve") * best_only):
        assert any(word in line for line in told[0])


def test_what_is_not_a_number_may_be_an_error() -> None:
    with pytest.raises(RuntimeError, match="loss is nan at batch 0"):
        network().fit(X, Y * np.nan, verbose=0, callbacks=[ours.callbacks.TerminateOnNaN(True)])


# -- the list ----------------------------------------------------------------------------------


def test_functions_get_logs_at_every_moment() -> None:
    seen: list[Any] = []
    callback: Any = ours.callbacks.LambdaCallback(
        on_train_begin=lambda logs: seen.append(sorted(logs)),
        on_train_batch_end=lambda batch, logs: seen.append(sorted(logs)),
        on_test_begin=lambda logs: seen.append(sorted(logs)),
        on_train_end=lambda logs: seen.append(sorted(logs)),
        other=len,
    )
    rate = ours.callbacks.LearningRateScheduler(lambda epoch, rate: rate)  # adds to an epoch's logs
    network().fit(X, Y, verbose=0, callbacks=[callback, rate], validation_data=(X, Y))
    assert seen == [[], ["loss"], [], ["loss", "val_loss"]]
    assert callback.other is len


@pytest.mark.parametrize("loop, kind", [("fit", "train"), ("evaluate", "test"), ("predict",) * 2])
def test_asynchronous_callbacks_are_awaited(loop: str, kind: str) -> None:
    called: list[str] = []

    def recorder(name: str) -> Any:
        async def record(*_: Any, **__: Any) -> None:
            await asyncio.sleep(0)
            called.append(name)

        return record

    names = [f"on_{kind}_{moment}" for moment in ("begin", "batch_begin", "batch_end", "end")]
    callback = ours.callbacks.LambdaCallback(**{name: recorder(name) for name in names})
    data = (X,) if loop == "predict" else (X, Y)
    run = getattr(network(), f"{loop}_async")
    asyncio.run(run(*data, batch_size=6, verbose=0, callbacks=[callback]))
    assert called == [names[0], *names[1:3] * 2, names[3]]


def test_a_bar_does_not_fill_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    network(steps_per_execution=5).fit(X, Y, epochs=2, batch_size=1, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("Epoch")] == ["Epoch 1/2", "Epoch 2/2"]
    assert len([line for line in lines if line.startswith("12/12")]) == 2
    assert len(lines) == 4


# -- files -------------------------------------------------------------------------------------


class Interrupt(ours.callbacks.Callback):
    """An accident."""

    def __init__(self, moment: str, number: int) -> None:
        super().__init__()
        setattr(self, f"on_{moment}_end", lambda value, logs: 1 / 0 if value == number else None)


@pytest.mark.parametrize("broken", [False, True])
def test_training_goes_on_after_an_accident(broken: bool, tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    options: dict[str, Any] = {"epochs": 5, "shuffle": False, "verbose": 0}
    backup = ours.callbacks.BackupAndRestore(folder, double_checkpoint=True)
    model = network("adam")
    with pytest.raises(ZeroDivisionError):
        model.fit(X, Y, callbacks=[backup, Interrupt("epoch", 2)], **options)
    if broken:
        (folder / "latest.weights.h5").write_bytes(b"0")
    again = network("adam")
    history = again.fit(X, Y, callbacks=[backup], **options)
    assert history.epoch == ([2, 3, 4] if broken else [3, 4])
    straight = network("adam")
    straight.fit(X, Y, **options)
    for got, expected in zip(again.get_weights(), straight.get_weights(), strict=True):
        assert_close(got, expected, rtol=1e-5)
    assert not folder.exists()


def test_an_epoch_that_was_interrupted_begins_anew(tmp_path: Path) -> None:
    backup = ours.callbacks.BackupAndRestore(tmp_path / "backup", save_freq=2)
    with pytest.raises(ZeroDivisionError):
        network().fit(
            X, Y, batch_size=4, epochs=3, verbose=0, callbacks=[backup, Interrupt("train_batch", 2)]
        )
    assert (tmp_path / "backup" / "latest.weights.h5").exists()
    history = network().fit(X, Y, epochs=3, verbose=0, callbacks=[backup])
    assert history.epoch == [0, 1, 2]
    with pytest.raises(ValueError, match=r"save_freq.*'batch'"):
        ours.callbacks.BackupAndRestore(tmp_path, save_freq="batch")


class Files(ours.callbacks.Callback):
    """Lists the files of a folder after each batch."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.lists: list[list[tuple[str, str]]] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        paths = sorted(self.folder.glob("*"))
        self.lists.append([(path.name, _metadata(path)) for path in paths])


def _metadata(path: Path) -> str:
    return path.read_text() if path.suffix in (".json", ".bkp") and "json" in path.name else ""


def _listed(k: Any, callback: Any, folder: Path, steps_per_execution: int) -> Any:
    model = k.Sequential([k.Input((3,)), k.layers.Dense(2)])
    model.compile("sgd", "mse", steps_per_execution=steps_per_execution)
    files = Files(folder)
    model.fit(X, Y, batch_size=3, epochs=3, verbose=0, callbacks=[callback, files])
    return files.lists


@pytest.mark.parametrize("double_checkpoint", [False, True])
@pytest.mark.parametrize("save_freq", ["epoch", 3])
def test_backups_have_the_files_of_keras(
    save_freq: Any, double_checkpoint: bool, tmp_path: Path
) -> None:
    lists = []
    for k in (ours, keras):
        folder = tmp_path / k.__name__
        callback = k.callbacks.BackupAndRestore(
            folder, save_freq=save_freq, double_checkpoint=double_checkpoint
        )
        lists.append(_listed(k, callback, folder, 1))
    assert lists[0] == lists[1]


@pytest.mark.parametrize("save_freq", [1, 3, 5])
def test_checkpoints_count_the_batches_of_executions(save_freq: int, tmp_path: Path) -> None:
    lists = []
    for k in (ours, keras):
        folder = tmp_path / k.__name__
        path = folder / "{epoch}-{batch}.weights.h5"
        callback = k.callbacks.ModelCheckpoint(path, save_weights_only=True, save_freq=save_freq)
        lists.append(_listed(k, callback, folder, 2))
    assert lists[0] == lists[1]


def test_columns_of_a_log(tmp_path: Path) -> None:
    rows = []
    for k in (ours, keras):
        path = tmp_path / "log.csv"
        model = k.Sequential([k.Input((3,)), k.layers.Dense(2, kernel_initializer="ones")])
        model.compile("sgd", "mse", run_eagerly=True)
        log = k.callbacks.CSVLogger(str(path))
        model.fit(X, Y, validation_split=0.5, validation_freq=2, epochs=2, verbose=0,
                  shuffle=False, callbacks=[log])  # fmt: skip
        rows.append([line.split(",") for line in path.read_text().splitlines()])
    assert rows[0][0] == rows[1][0]
    assert rows[0][1][2] == rows[1][1][2] == "NA"
    np.testing.assert_allclose(
        [float(row) for row in rows[0][2]], [float(row) for row in rows[1][2]], rtol=1e-5
    )


def checksum(data: bytes) -> bytes:
    """The CRC-32C of data bit by bit, masked as in TensorFlow's records."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def events(path: Path) -> list[tuple[int, dict[str, float]]]:
    """The steps and numbers in a file for TensorBoard, read by what is known of its bytes."""
    data, records = path.read_bytes(), []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        record = data[12 : 12 + length]
        assert data[8:12] == checksum(data[:8])
        assert data[12 + length : 16 + length] == checksum(record)
        data = data[16 + length :]
        assert record[0] == 9
        assert record[9] == 16
        if record[11] == 0x2A:
            numbers, rest = {}, record[13:]
            while rest:
                value, rest = rest[2 : 2 + rest[1]], rest[2 + rest[1] :]
                tag = value[2 : 2 + value[1]].decode()
                (numbers[tag],) = struct.unpack("<f", value[3 + value[1] : 7 + value[1]])
            records.append((record[10], numbers))
    return records


def test_numbers_for_tensorboard(tmp_path: Path) -> None:
    board = ours.callbacks.TensorBoard(tmp_path, update_freq=2)
    model = network()
    history = model.fit(
        X, Y, batch_size=4, epochs=2, verbose=0, validation_data=(X, Y), callbacks=[board]
    ).history
    (train,), (checked,) = ([*(tmp_path / kind).glob("events.out.tfevents.*")]
                            for kind in ("train", "validation"))  # fmt: skip
    steps, rows = zip(*events(train), strict=True)
    assert steps == (2, 0, 4, 6, 1)
    assert [sorted(row) for row in rows[:2]] == [
        ["batch_loss"],
        ["epoch_learning_rate", "epoch_loss"],
    ]
    assert rows[1]["epoch_loss"] == pytest.approx(history["loss"][0])
    steps, rows = zip(*events(checked), strict=True)
    assert steps == (3, 0, 6, 1)
    assert rows[2]["evaluation_loss_vs_iterations"] == pytest.approx(history["val_loss"][1])
    assert rows[3]["epoch_loss"] == pytest.approx(history["val_loss"][1])
    with pytest.warns(UserWarning, match="histogram_freq=1"):
        ours.callbacks.TensorBoard(tmp_path, histogram_freq=1)
    with pytest.raises(ValueError, match=r"update_freq.*'day'"):
        ours.callbacks.TensorBoard(tmp_path, update_freq="day")


# -- averages, other machines ------------------------------------------------------------------


def test_averages_are_evaluated_and_saved(tmp_path: Path) -> None:
    def averaging() -> Any:
        return network(ours.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.9))

    options: dict[str, Any] = {"epochs": 2, "verbose": 0, "shuffle": False, "batch_size": 4}
    plain, swapped = averaging(), averaging()
    plain.fit(X, Y, **options)
    callbacks = [
        ours.callbacks.SwapEMAWeights(swap_on_epoch=True),
        ours.callbacks.ModelCheckpoint(tmp_path / "{epoch}.weights.h5", save_weights_only=True),
    ]
    history = swapped.fit(X, Y, **options, validation_data=(X, Y), callbacks=callbacks).history
    for got, expected in zip(swapped.get_weights(), plain.get_weights(), strict=True):
        assert_close(got, expected, rtol=1e-5)
    assert swapped.evaluate(X, Y, verbose=0) == pytest.approx(history["val_loss"][-1])
    saved = ours.Sequential([ours.Input((3,)), ours.layers.Dense(2)])
    saved.load_weights(tmp_path / "2.weights.h5")
    assert_close(saved.get_weights()[0], plain.get_weights()[0], rtol=1e-5)
    with pytest.raises(ValueError, match=r"use_ema=True.*SGD"):
        network().fit(X, Y, verbose=0, validation_data=(X, Y), callbacks=callbacks[:1])


def test_other_machines_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class FailedError(OSError):
        """No answer."""

    told: list[Any] = []
    fake = types.SimpleNamespace(
        post=lambda url, **rest: told.append((url, rest)),
        exceptions=types.SimpleNamespace(RequestException=FailedError),
    )
    monkeypatch.setitem(sys.modules, "requests", fake)
    kind: Any = ours.callbacks.RemoteMonitor
    kind(send_as_json=True).on_epoch_end(1, {"loss": np.float32(0.5), "all": np.array([2])})
    kind("http://a", "/b", "c", {"d": "e"}).on_epoch_end(2, {"loss": 0.5})
    assert told[0] == (
        "http://localhost:9000/publish/epoch/end/",
        {"headers": None, "json": {"loss": 0.5, "all": 2, "epoch": 1}},
    )
    assert told[1][0] == "http://a/b"
    assert json.loads(told[1][1]["data"]["c"]) == {"loss": 0.5, "epoch": 2}

    def fail(*_: Any, **__: Any) -> None:
        raise FailedError

    monkeypatch.setattr(fake, "post", fail)
    with pytest.warns(UserWarning, match="localhost:9000.*cannot be reached"):
        kind().on_epoch_end(0, {})
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(ImportError, match="package requests"):
        kind().on_epoch_end(0, {})
