"""Recurrent layers beside Keras's: values, gradients, masks, states, cells of users."""

from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

RANDOM = np.random.default_rng(7)
#: Steps that count: all but some, all but the first, none of a row, all.
MASK = np.array([[1, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], bool)
SHAPE = (4, 4, 3)


def array(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype("float32")


ANY: list[dict[str, Any]] = [
    {"return_sequences": True, "recurrent_initializer": "he_normal", "name": "mine"},
    {"return_sequences": True, "return_state": True, "go_backwards": True, "use_bias": False},
    {
        "activation": "relu",
        "unroll": True,
        "kernel_regularizer": "l2",
        "recurrent_constraint": "max_norm",
        "bias_initializer": "ones",
    },
]
LAYERS: dict[str, list[dict[str, Any]]] = {
    "SimpleRNN": [],
    "LSTM": [
        {"recurrent_activation": "hard_sigmoid", "activation": "elu", "unit_forget_bias": False},
        {"implementation": 1, "use_cudnn": False, "return_state": True},
    ],
    "GRU": [
        {"reset_after": False, "return_sequences": True, "go_backwards": True},
        {"reset_after": False, "recurrent_activation": "hard_sigmoid"},
        {"recurrent_activation": "hard_sigmoid", "return_sequences": True},
    ],
}
STATES = {"SimpleRNN": 1, "LSTM": 2, "GRU": 1}


def begin(name: str) -> list[Any]:
    return [array(4, 5) for _ in range(STATES[name])]


PLAIN = [
    Case(name, {"units": 5, "seed": 2, **config}, SHAPE)
    for name, own in LAYERS.items()
    for config in [*ANY, *own]
]


def calls(name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Configurations of a layer, and the arguments of its calls."""
    return [
        ({"return_sequences": True, "zero_output_for_mask": True}, {"mask": MASK}),
        ({"zero_output_for_mask": True, "go_backwards": True}, {"mask": MASK}),
        (
            {"return_sequences": True, "return_state": True, "go_backwards": True},
            {"initial_state": begin(name), "mask": MASK},
        ),
        ({}, {"initial_state": begin(name), "training": True}),
    ]


CALLED = [
    Case(name, {"units": 5, "seed": 2, **config}, SHAPE, call)
    for name in LAYERS
    for config, call in calls(name)
]


@pytest.mark.parametrize("case", [*PLAIN, *CALLED], ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case)


CONV: list[tuple[str, dict[str, Any], tuple[int, ...]]] = [
    ("ConvLSTM1D", {"kernel_size": 2, "padding": "same", "return_sequences": True}, (2, 3, 5, 2)),
    (
        "ConvLSTM1D",
        {"kernel_size": 2, "data_format": "channels_first", "return_state": True},
        (2, 3, 2, 5),
    ),
    (
        "ConvLSTM2D",
        {"kernel_size": (2, 3), "strides": 2, "return_sequences": True, "return_state": True},
        (2, 3, 6, 7, 2),
    ),
    (
        "ConvLSTM2D",
        {"kernel_size": 2, "dilation_rate": 2, "go_backwards": True, "use_bias": False},
        (1, 2, 5, 5, 3),
    ),
    (
        "ConvLSTM2D",
        {
            "kernel_size": 3,
            "padding": "same",
            "recurrent_activation": "hard_sigmoid",
            "unit_forget_bias": False,
        },
        (1, 2, 4, 4, 1),
    ),
    (
        "ConvLSTM2D",
        {"kernel_size": 2, "recurrent_activation": "hard_sigmoid", "data_format": "channels_first"},
        (2, 3, 2, 4, 5),
    ),
    ("ConvLSTM3D", {"kernel_size": 2, "return_sequences": True}, (1, 2, 3, 3, 4, 1)),
]


@pytest.mark.parametrize("name, config, shape", CONV, ids=repr)
def test_conv_lstm_as_in_keras(name: str, config: dict[str, Any], shape: tuple[int, ...]) -> None:
    check(Case(name, {"filters": 3, "seed": 2, **config}, shape))


def test_conv_lstm_with_mask() -> None:
    config: dict[str, Any] = {"filters": 2, "kernel_size": 2, "return_sequences": True}
    config.update(seed=2, unroll=True)  # a loop of JAX does not take such masks
    check(Case("ConvLSTM2D", config, (4, 4, 3, 3, 1), {"mask": MASK}))


# -- cells ------------------------------------------------------------------------------------


def of_cell(module: Any, cell: str = "LSTMCell", own: Any = None, **config: Any) -> Any:
    return module.layers.RNN(getattr(module.layers, cell)(4, seed=2, **(own or {})), **config)


def of_stack(module: Any, *, gated: bool = True, **config: Any) -> Any:
    names = ("LSTMCell", "GRUCell", "SimpleRNNCell")
    cells = [getattr(module.layers, name)(4, seed=2) for name in names]
    return module.layers.RNN(cells[: 3 if gated else 2], **config)


CELLS = [
    *(Case(of_cell, {"cell": cell}, SHAPE) for cell in ("LSTMCell", "GRUCell", "SimpleRNNCell")),
    Case(of_cell, {"cell": "GRUCell", "own": {"reset_after": False}, "unroll": True}, SHAPE),
    Case(of_cell, {"return_sequences": True, "zero_output_for_mask": True}, SHAPE, {"mask": MASK}),
    Case(of_stack, {}, SHAPE),
    Case(of_stack, {"gated": False, "return_sequences": True, "go_backwards": True}, SHAPE),
    Case(of_stack, {"return_sequences": True, "go_backwards": True}, SHAPE, {"mask": MASK}),
]


@pytest.mark.parametrize("case", CELLS, ids=repr)
def test_rnn_of_cells_as_in_keras(case: Case) -> None:
    check(case)


class Growing(ours.Layer):
    """A cell of a user: its state counts steps, and its output is not its state."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units, self.state_size, self.output_size = units, [units, 1], units

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), name="kernel")

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        total = states[0] + wt.matmul(inputs, self.kernel.value) * (2.0 if training else 1.0)
        return total * states[1], [total, states[1] + 1]


def test_cell_of_a_user(backend: str) -> None:
    cell = Growing(2)
    layer = ours.layers.RNN(cell, return_sequences=True, return_state=True)
    x = array(3, 4, 5)
    outputs, total, count = layer(x)
    sums = np.cumsum(x @ cell.kernel.numpy(), 1)
    np.testing.assert_allclose(outputs, sums * np.arange(4)[:, None], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(total, sums[:, -1], rtol=1e-4, atol=1e-5)
    assert count.tolist() == [[4.0]] * 3
    doubled = layer(x, training=True)[1]
    np.testing.assert_allclose(doubled, 2 * sums[:, -1], rtol=1e-4, atol=1e-5)


def test_stack_with_a_cell_of_a_user_walks_step_by_step(backend: str) -> None:
    layer: Any = ours.layers.RNN([ours.layers.LSTMCell(4), Growing(2)], return_state=True)
    x = array(3, 4, 5)
    output, first, second = layer(x)
    below = ours.layers.RNN(layer.cell.cells[0], return_sequences=True)
    above = ours.layers.RNN(layer.cell.cells[1], return_state=True)
    expected = above(below(x))
    assert_close(output, expected[0], rtol=1e-5)
    assert_close(second[0], expected[1], rtol=1e-5)
    assert [state.shape for state in first] == [(3, 4), (3, 4)]


@pytest.mark.parametrize("name", ["SimpleRNNCell", "GRUCell", "LSTMCell"])
def test_cells_by_themselves(name: str, backend: str) -> None:
    mine, theirs = getattr(ours.layers, name)(4), getattr(keras.layers, name)(4)
    x = array(2, 3)
    states = [array(2, 4) for _ in range(2 if name == "LSTMCell" else 1)]
    theirs(x, states)
    mine.build((None, 3))
    weights = [array(*weight.shape) for weight in theirs.weights]
    theirs.set_weights(weights)
    mine.set_weights(weights)
    output, new = mine(x, [wt.tensor(state) for state in states])
    expected, expected_new = theirs(x, states)
    np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-5)
    for new_state, other in zip(new, expected_new, strict=True):
        np.testing.assert_allclose(new_state, other, rtol=1e-4, atol=1e-5)
    assert [state.shape for state in mine.get_initial_state(5)] == [
        state.shape for state in theirs.get_initial_state(5)
    ]


@pytest.mark.parametrize("name", list(LAYERS))
def test_empty_batch(name: str, backend: str) -> None:
    layer = getattr(ours.layers, name)(3, return_sequences=True)
    assert layer(np.zeros((0, 4, 2), "float32")).shape == (0, 4, 3)


# -- masks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(LAYERS))
def test_mask_without_gaps_changes_nothing(name: str, backend: str) -> None:
    layer = getattr(ours.layers, name)(3, return_sequences=True, return_state=True)
    x = array(2, 4, 3)
    plain = layer(x)
    masked = layer(x, mask=np.ones((2, 4), bool))
    for output, other in zip(plain, masked, strict=True):
        np.testing.assert_array_equal(output, other)


def test_masks_travel_along_sequences() -> None:
    x = ours.layers.Masking()(np.where(MASK[..., None], array(*SHAPE), 0))
    through = ours.layers.LSTM(2, return_sequences=True)(x)
    np.testing.assert_array_equal(through._keras_mask, MASK)
    last = ours.layers.LSTM(2)(through)
    assert getattr(last, "_keras_mask", None) is None


# -- states that last -------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*LAYERS, "ConvLSTM1D"])
def test_stateful(name: str, backend: str) -> None:
    config: dict[str, Any] = {"units": 3} if name in LAYERS else {"filters": 3, "kernel_size": 2}
    shape = (2, 4, 3) if name in LAYERS else (2, 4, 5, 3)
    mine = getattr(ours.layers, name)(**config, stateful=True)
    theirs = getattr(keras.layers, name)(**config, stateful=True)
    x = array(*shape)
    theirs.build(shape)
    mine.build(shape)
    assert len(mine.weights) == len(theirs.weights) == 3
    mine.set_weights(theirs.get_weights())
    for _ in range(2):
        np.testing.assert_allclose(mine(x), theirs(x), rtol=1e-4, atol=1e-5)
    for state, other in zip(mine.states, theirs.states, strict=True):
        np.testing.assert_allclose(state.value, other.value, rtol=1e-4, atol=1e-5)
    mine.reset_state()
    theirs.reset_state()
    np.testing.assert_allclose(mine(x), theirs(x), rtol=1e-4, atol=1e-5)


def test_stateful_stack() -> None:
    layer = ours.layers.RNN([ours.layers.LSTMCell(3), ours.layers.GRUCell(2)], stateful=True)
    x = array(2, 4, 3)
    first, second = layer(x), layer(x)
    assert not np.allclose(first, second)
    layer.reset_states()
    np.testing.assert_array_equal(layer(x), first)


def test_stateful_needs_its_batch() -> None:
    with pytest.raises(ValueError, match="batch size must be known"):
        ours.layers.LSTM(2, stateful=True)(ours.Input((4, 3)))
    layer = ours.layers.LSTM(2, stateful=True)
    layer(array(2, 4, 3))
    with pytest.raises(ValueError, match="batch of 2, but got one of 3"):
        layer(array(3, 4, 3))


# -- dropout ----------------------------------------------------------------------------------

DROPOUT: list[dict[str, Any]] = [
    {"dropout": 0.5},
    {"recurrent_dropout": 0.5},
    {"dropout": 0.3, "recurrent_dropout": 0.3},
    {"dropout": 0.5, "implementation": 1},
]


@pytest.mark.parametrize("config", DROPOUT, ids=repr)
@pytest.mark.parametrize(
    "name", ["SimpleRNN", "LSTM", "GRU", "GRU before", "LSTM of cells", "ConvLSTM2D"]
)
def test_dropout_is_of_training_alone(name: str, config: dict[str, Any], backend: str) -> None:
    if "implementation" in config and name in ("SimpleRNN", "ConvLSTM2D"):
        config = {"dropout": 0.5}
    arguments: dict[str, Any] = {"units": 8, "seed": 1, **config}
    shape: tuple[int, ...] = (2, 3, 4)
    if name == "ConvLSTM2D":
        arguments, shape = {**arguments, "filters": 8, "kernel_size": 2}, (2, 3, 4, 4, 2)
        del arguments["units"]
    if name == "GRU before":
        arguments["reset_after"] = False
    if name == "LSTM of cells":
        layer = ours.layers.RNN(ours.layers.LSTMCell(**arguments))
    else:
        layer = getattr(ours.layers, name.split()[0])(**arguments)
    x = array(*shape)
    plain = layer(x)
    np.testing.assert_array_equal(layer(x, training=False), plain)
    first, second = layer(x, training=True), layer(x, training=True)
    assert not np.allclose(first, plain)
    assert not np.allclose(first, second)
    _, gradients = wt.variable_grads(lambda: wt.sum(layer(x, training=True)))
    assert {weight.path for weight in layer.weights} == set(gradients)


def test_dropout_of_inputs_is_the_same_at_each_step() -> None:
    """With one input at each step, what a mask drops is dropped at all of them."""
    layer = ours.layers.SimpleRNN(
        1, dropout=0.5, activation=None, use_bias=False, kernel_initializer="ones",
        recurrent_initializer="zeros", return_sequences=True, seed=4,
    )  # fmt: skip
    outputs = layer(np.ones((64, 5, 1), "float32"), training=True).numpy()[..., 0]
    assert set(outputs.ravel()) == {0.0, 2.0}
    assert (outputs == outputs[:, :1]).all()


# -- cost -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, forward, both", [("LSTM", 4, 11), ("GRU", 3, 11), ("SimpleRNN", 3, 9)]
)
def test_operations_per_step(name: str, forward: int, both: int) -> None:
    layer = getattr(ours.layers, name)(4)

    def count(function: Any) -> int:
        return len(wt.profile(function).kernels)

    def per_step(run: Any) -> int:
        short, long = (wt.random_normal((2, steps, 3)) for steps in (10, 20))
        layer(short)
        return (count(lambda: run(long)) - count(lambda: run(short))) // 10

    assert per_step(layer) <= forward
    assert per_step(lambda x: wt.variable_grads(lambda: wt.sum(layer(x)))) <= both


@pytest.mark.parametrize("config", [{}, {"dropout": 0.5, "recurrent_dropout": 0.5}], ids=repr)
@pytest.mark.parametrize("name", list(LAYERS))
def test_training_leaves_nothing(name: str, config: dict[str, Any], backend: str) -> None:
    layer = getattr(ours.layers, name)(4, **config)
    x = wt.random_normal((2, 6, 3))

    def step() -> None:
        wt.variable_grads(
            lambda: wt.sum(layer(x, mask=MASK[:2, [0, 1, 2, 3, 0, 1]], training=True))
        )

    step()
    before = wt.memory()
    step()
    after = wt.memory()
    assert all(after[key] == before[key] for key in ("num_tensors", "num_storages", "num_bytes"))


# -- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ours.layers.LSTM(0), "LSTM: units must be a positive integer, but got 0"),
        (lambda: ours.layers.GRU("4"), "GRU: units must be a positive integer"),  # type: ignore[arg-type]
        (lambda: ours.layers.LSTM(2, use_cudnn="always"), "use_cudnn must be"),
        (lambda: ours.layers.RNN(3), "a cell must have 'call'"),  # type: ignore[arg-type]
        (lambda: ours.layers.RNN(ours.layers.Dense(2)), "a cell must have 'state_size'"),  # type: ignore[arg-type]
        (lambda: ours.layers.StackedRNNCells([ours.layers.Dense(2)]), "must have 'state_size'"),  # type: ignore[list-item]
        (lambda: ours.layers.LSTM(2)(array(2, 3)), "must have 3 axes"),
        (lambda: ours.layers.LSTM(2)(array(2, 0, 3)), "at least one step"),
        (lambda: ours.layers.RNN(Growing(2))(array(2, 3)), "at least 3 axes"),
        (
            lambda: ours.layers.GRU(2)(array(2, 1, 3), initial_state=[array(2, 2), array(2, 2)]),
            "initial_state must have 1 tensors, but has 2",
        ),
        (
            lambda: ours.layers.LSTM(2)(array(2, 1, 3), initial_state=[array(2, 2)]),
            "initial_state must have 2 tensors, but has 1",
        ),
        (
            lambda: ours.layers.Bidirectional(ours.layers.SimpleRNN(2))(
                array(2, 1, 3), initial_state=[array(2, 2)] * 3
            ),
            "initial_state must have 1 tensors, but has 2",
        ),
        (lambda: ours.layers.ConvLSTM2D(2, 3, strides=2, dilation_rate=2), "both be greater"),
        (lambda: ours.layers.ConvLSTM2D(2, (1, 2, 3)), "kernel_size must be"),
        (lambda: ours.layers.ConvLSTM2D(2, 3, padding="causal"), "padding must be"),
        (lambda: ours.layers.ConvLSTM1D(2, 3)(ours.Input((4, None, 3))), "must be known"),
    ],
)
def test_errors_name_what_was_wrong(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_layers_hand_the_arguments_of_their_signature_to_their_cell() -> None:
    class Short(ours.layers.GRU):
        def __init__(self, units: int, **kwargs: Any) -> None:
            super().__init__(units, reset_after=False, **kwargs)

    layer = Short(3, dropout=0.5, implementation=1)
    cell: Any = layer.cell
    assert (cell.units, cell.reset_after, cell.dropout, cell.implementation) == (3, False, 0.5, 1)
    assert (layer.units, layer.reset_after) == (3, False)
    with pytest.raises(
        TypeError, match=r"^missing a required argument: 'units'; its signature is GRU"
    ):
        ours.layers.GRU()  # type: ignore[call-arg]
