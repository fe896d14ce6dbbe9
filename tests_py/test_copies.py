"""Copies and pickles of tensors, variables, layers, models and optimizers."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor import keras

Copy = Callable[[Any], Any]


def pickled(value: Any) -> Any:
    """What comes back of a pickle."""
    return pickle.loads(pickle.dumps(value))


WAYS: dict[str, Copy] = {"deepcopy": copy.deepcopy, "pickle": pickled}
way = pytest.mark.parametrize("duplicate", WAYS.values(), ids=WAYS)

# -- tensors ------------------------------------------------------------------------------------

TENSORS: dict[str, Callable[[], wt.Tensor]] = {
    "float32": lambda: wt.tensor([[1.5, -2.0], [float("inf"), 0.0]]) * 2,
    "int32": lambda: wt.tensor([1, -2, 2**30]) + 1,
    "bool": lambda: wt.tensor([True, False]) & wt.tensor([True, True]),
    "complex64": lambda: wt.tensor([1 + 2j, -3j]) * 2,
    "string": lambda: wt.tensor([["a", "bé"], ["", "日本"]]),
    "rank 0": lambda: wt.tensor(3.5),
    "nothing": lambda: wt.zeros((0, 3)),
    "no numbers of two parts": lambda: wt.zeros((2, 0), "complex64"),
    "no text": lambda: wt.tensor([], dtype="string"),
    "on the host": lambda: wt.tensor([1.0, 2.0]),
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("duplicate", [copy.copy, *WAYS.values()], ids=["copy", *WAYS])
def test_tensors(name: str, duplicate: Copy, backend: str, no_leak: None) -> None:
    x = TENSORS[name]()
    y = duplicate(x)
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    assert y.dtype is x.dtype
    expected = x.tolist()
    x.dispose()
    assert y.tolist() == expected
    assert wt.concat([y, y]).shape == (2 * y.shape[0], *y.shape[1:]) if y.shape else True


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol(protocol: int) -> None:
    x = wt.tensor([[1.0, 2.0]])
    assert pickle.loads(pickle.dumps(x, protocol)).tolist() == [[1.0, 2.0]]


def test_a_pickle_goes_from_one_backend_to_another() -> None:
    x = wt.ones((2, 2)) * 3
    wt.set_backend("wasm")
    assert (pickled(x) + 1).tolist() == [[4.0, 4.0], [4.0, 4.0]]


@pytest.mark.parametrize("duplicate", [copy.copy, *WAYS.values()])
def test_a_disposed_tensor_cannot_be_copied(duplicate: Copy) -> None:
    x = wt.ones((2,))
    x.dispose()
    with pytest.raises(ValueError, match="disposed"):
        duplicate(x)


@way
def test_what_was_one_tensor_stays_one_within_a_pickle(duplicate: Copy) -> None:
    x = wt.ones((2,))
    first, second = duplicate([x, x])
    assert first is second


@way
def test_dtypes_stay_themselves(duplicate: Copy) -> None:
    assert duplicate([wt.float32, wt.bool_])[0] is wt.float32


# -- variables ----------------------------------------------------------------------------------


@way
@pytest.mark.parametrize("make", [wt.Variable, keras.Variable])
def test_variables(make: Callable[..., Any], duplicate: Copy, backend: str, no_leak: None) -> None:
    variable = make([1.0, 2.0], name="w", trainable=False)
    with wt.tidy():  # variables outlive scopes
        other = duplicate(variable)
    variable.assign([5.0, 6.0])
    assert other.tolist() == [1.0, 2.0]
    assert (other.name, other.trainable, type(other)) == ("w", False, type(variable))
    other.assign(other * 2)
    assert variable.tolist() == [5.0, 6.0]


@way
def test_a_variable_that_is_in_two_places_stays_one(duplicate: Copy) -> None:
    variable = keras.Variable([1.0], name="w")
    result = duplicate({"a": variable, "b": [variable]})
    assert result["a"] is result["b"][0]
    assert result["a"].path == "w"


# -- layers and models --------------------------------------------------------------------------

X = np.random.default_rng(3).normal(size=(16, 6)).astype("float32")
Y = (X @ np.random.default_rng(4).normal(size=(6, 1))).astype("float32")
WORDS = np.random.default_rng(5).integers(0, 9, (16, 6)).astype("int32")


class Tower(keras.Model):
    """A model of a user's, with layers in lists and dictionaries."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = [keras.layers.Dense(4, "relu") for _ in range(2)]
        self.heads = {"out": keras.layers.Dense(1)}

    def call(self, x: wt.Tensor) -> wt.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.heads["out"](x)


def stacked() -> keras.Model:
    layers = [
        keras.layers.Dense(5, "relu", kernel_regularizer="l2"),
        keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.3, seed=1),
        keras.layers.Dense(1),
    ]
    return keras.Sequential([keras.Input((6,)), *layers])


def shared() -> keras.Model:
    inputs = keras.Input((6,))
    twice = keras.layers.Dense(6, "tanh")
    inner = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2), keras.layers.ReLU()])
    outputs = keras.layers.Add()([twice(twice(inputs)), inputs])
    return keras.Model(inputs, keras.layers.Dense(1)(inner(outputs)))


def recurrent() -> keras.Model:
    layers = [
        keras.layers.Embedding(9, 4, mask_zero=True),
        keras.layers.Bidirectional(keras.layers.LSTM(3, return_sequences=True)),
        keras.layers.GRU(2),
        keras.layers.Dense(1),
    ]
    return keras.Sequential([keras.Input((6,), dtype="int32"), *layers])


MODELS: dict[str, tuple[Callable[[], keras.Model], np.ndarray]] = {
    "stacked": (stacked, X),
    "shared": (shared, X),
    "recurrent": (recurrent, WORDS),
    "of a user's": (Tower, X),
}


@way
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_models_go_on_as_they_were(
    name: str, optimizer: str, duplicate: Copy, no_leak: None
) -> None:
    keras.utils.set_random_seed(7)
    make, x = MODELS[name]
    model = make()
    model.compile(optimizer, "mse", metrics=["mae"])
    model.fit(x, Y, epochs=2, batch_size=8, shuffle=False, verbose=0)
    before = model.predict(x, verbose=0)
    other = duplicate(model)
    assert type(other) is type(model)
    assert [w.path for w in other.weights] == [w.path for w in model.weights]
    np.testing.assert_array_equal(other.predict(x, verbose=0), before)
    losses = [
        each.fit(x, Y, epochs=2, batch_size=8, shuffle=False, verbose=0).history
        for each in (model, other)
    ]
    assert losses[0] == losses[1]
    model.set_weights([np.zeros_like(weight) for weight in model.get_weights()])
    assert np.abs(other.predict(x, verbose=0)).max() > 0


@way
def test_layers_that_were_not_built(duplicate: Copy) -> None:
    layer = duplicate(keras.layers.Dense(3, kernel_initializer="ones"))
    assert layer(wt.ones((1, 2))).tolist() == [[2.0, 2.0, 2.0]]


@way
def test_a_copied_model_knows_layers_that_are_added_later(duplicate: Copy) -> None:
    model = duplicate(Tower())
    model.blocks.append(keras.layers.Dense(4))
    model(wt.ones((1, 6)))
    assert len(model.trainable_weights) == 8


@way
def test_layers_with_vocabularies(duplicate: Copy) -> None:
    layer = keras.layers.StringLookup(vocabulary=["a", "b"])
    assert duplicate(layer)(wt.tensor(["b", "z"])).tolist() == [2, 0]
    text = keras.layers.TextVectorization(output_sequence_length=3)
    text.adapt(["the cat", "the dog"])
    assert duplicate(text)(["dog the"]).tolist() == text(["dog the"]).tolist()


@way
def test_optimizers_go_on_as_they_were(duplicate: Copy) -> None:
    w = keras.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.AdamW(0.1, use_ema=True)
    optimizer.exclude_from_weight_decay([w])
    optimizer.apply([wt.tensor([0.5, -0.5])], [w])
    other, v = duplicate((optimizer, w))
    for own, variable in ((optimizer, w), (other, v)):
        own.apply([wt.tensor([0.25, 1.0])], [variable])
    assert v.tolist() == w.tolist()
    assert [s.tolist() for s in other.variables] == [s.tolist() for s in optimizer.variables]
    assert float(other.learning_rate) == float(optimizer.learning_rate)
    assert int(other.iterations) == 2


@way
def test_losses_metrics_and_their_kin(duplicate: Copy) -> None:
    metric = keras.metrics.MeanSquaredError()
    metric.update_state([1.0, 2.0], [1.0, 4.0])
    other = duplicate(metric)
    metric.reset_state()
    assert float(other.result()) == 2.0
    assert float(duplicate(keras.losses.MeanAbsoluteError())([1.0], [3.0])) == 2.0
    assert duplicate(keras.regularizers.L2(0.5)).get_config() == {"l2": 0.5}
    schedule = duplicate(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5))
    assert float(schedule(10)) == pytest.approx(0.05)
