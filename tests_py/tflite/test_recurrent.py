"""Recurrent operators compute what their formulas say, step by step, and keep their states."""

from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.tflite.cases import normal, sigmoid
from tests_py.tflite.files import Array, Operator, Tensor, file, opened, subgraph

RECURRENT_OPERATORS = {
    "LSTM",
    "RNN",
    "SVDF",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN",
}
BATCH, TIME, NUMBERS, UNITS, RESULTS = 2, 4, 3, 5, 4
GATES = ("input", "forget", "cell", "output")


def file_of(operator: Operator, x: Array, weights: dict[str, Array], states: list[Any]) -> bytes:
    """The file of a model of one operator."""
    tensors = [
        Tensor("x", x.shape),
        *(Tensor.constant(name, array) for name, array in weights.items()),
        *(Tensor(name, shape, fields={"is_variable": True}) for name, shape in states),
        Tensor("y"),
    ]
    return file(subgraph(tensors, [operator], ["x"], ["y"]))


def model_of(operator: Operator, x: Array, weights: dict[str, Array], states: list[Any]) -> Any:
    """A model of one operator."""
    return opened(file_of(operator, x, weights, states))


def computed(model: Any, x: Array) -> Array:
    result: Array = model.execute(wt.tensor(x), "y").numpy()
    return result


# -- long short-term memories ------------------------------------------------------------------


def lstm_weights(variant: str) -> dict[str, Array]:
    """The weights of a kind of LSTM by their names."""
    outputs = RESULTS if "projection" in variant else UNITS
    weights = {}
    for number, gate in enumerate(GATES):
        if gate == "input" and "coupled" in variant:
            continue
        weights[f"{gate}_kernel"] = normal(UNITS, NUMBERS, seed=number)
        weights[f"{gate}_recurrent"] = normal(UNITS, outputs, seed=10 + number)
        weights[f"{gate}_bias"] = normal(UNITS, seed=20 + number)
        if "peephole" in variant and gate != "cell":
            weights[f"{gate}_peephole"] = normal(UNITS, seed=30 + number)
        if "normalized" in variant:
            weights[f"{gate}_norm"] = normal(UNITS, seed=40 + number)
    if "projection" in variant:
        weights["projection"] = normal(RESULTS, UNITS, seed=50)
        weights["projection_bias"] = normal(RESULTS, seed=51)
    return weights


LSTM_INPUTS = [
    "x",
    *(f"{gate}_kernel" for gate in GATES),
    *(f"{gate}_recurrent" for gate in GATES),
    *(f"{gate}_peephole" for gate in ("input", "forget", "output")),
    *(f"{gate}_bias" for gate in GATES),
    "projection",
    "projection_bias",
    "output_state",
    "cell_state",
    *(f"{gate}_norm" for gate in GATES),
]


def lstm(x: Array, weights: dict[str, Array], clip: float, projection_clip: float) -> Array:
    """The outputs of (batch, time, numbers), by the formulas of Hochreiter, Gers and Sak."""
    outputs = weights["output_recurrent"].shape[1]
    h, c = np.zeros((len(x), outputs)), np.zeros((len(x), UNITS))
    results = []

    def gate(name: str, step: Array, cell: Array | None) -> Array:
        total = step @ weights[f"{name}_kernel"].T + h @ weights[f"{name}_recurrent"].T
        if cell is not None and f"{name}_peephole" in weights:
            total = total + cell * weights[f"{name}_peephole"]
        if f"{name}_norm" in weights:
            spread = total.std(-1, keepdims=True)
            total = (total - total.mean(-1, keepdims=True)) / spread * weights[f"{name}_norm"]
        return total + weights[f"{name}_bias"]

    for step in x.swapaxes(0, 1):
        forget = sigmoid(gate("forget", step, c))
        enter = sigmoid(gate("input", step, c)) if "input_kernel" in weights else 1 - forget
        c = forget * c + enter * np.tanh(gate("cell", step, None))
        c = np.clip(c, -clip, clip)
        h = sigmoid(gate("output", step, c)) * np.tanh(c)
        if "projection" in weights:
            h = h @ weights["projection"].T + weights["projection_bias"]
            h = np.clip(h, -projection_clip, projection_clip)
        results.append(h)
    return np.stack(results, 1)


VARIANTS = ("plain", "coupled", "peephole", "projection", "normalized peephole projection")


def sequence_of_lstm(x: Array, variant: str) -> bytes:
    """The file of a model that computes sequences."""
    weights = lstm_weights(variant)
    there = {"x", "output_state", "cell_state", *weights}
    options = {"fused_activation_function": "TANH", "cell_clip": 0.9, "proj_clip": 0.8}
    operator = Operator(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [name if name in there else "" for name in LSTM_INPUTS],
        ["y"],
        ("UnidirectionalSequenceLSTMOptions", options),
    )
    outputs = weights["output_recurrent"].shape[1]
    states = [("output_state", (BATCH, outputs)), ("cell_state", (BATCH, UNITS))]
    return file_of(operator, x, weights, states)


@pytest.mark.parametrize("variant", VARIANTS)
def test_sequences_of_lstms(variant: str, backend: str):
    x = normal(BATCH, TIME, NUMBERS, seed=3)
    model = opened(sequence_of_lstm(x, variant))
    expected = lstm(np.concatenate([x, x], 1), lstm_weights(variant), 0.9, 0.8)
    np.testing.assert_allclose(computed(model, x), expected[:, :TIME], atol=1e-5)
    np.testing.assert_allclose(computed(model, x), expected[:, TIME:], atol=1e-5)
    model.reset_states()
    np.testing.assert_allclose(computed(model, x), expected[:, :TIME], atol=1e-5)


def test_steps_of_lstms(no_leak: None):
    x = normal(BATCH, NUMBERS, seed=3)
    weights = lstm_weights("plain")
    there = {"x", "output_state", "cell_state", *weights}
    options = {"fused_activation_function": "TANH", "kernel_type": "FULL"}
    inputs = [name if name in there else "" for name in LSTM_INPUTS]
    operator = Operator("LSTM", inputs, ["y"], ("LSTMOptions", options))
    states = [("output_state", (BATCH, UNITS)), ("cell_state", (BATCH, UNITS))]
    model = model_of(operator, x, weights, states)
    expected = lstm(np.stack([x, x], 1), weights, np.inf, np.inf)
    for step in range(2):
        np.testing.assert_allclose(computed(model, x), expected[:, step], atol=1e-5)
    model.dispose()


# -- others ------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_time_major", [False, True])
def test_sequences_of_simple_networks(is_time_major: bool, backend: str):
    x = normal(BATCH, TIME, NUMBERS, seed=4)
    weights = {
        "kernel": normal(UNITS, NUMBERS, seed=5),
        "recurrent": normal(UNITS, UNITS, seed=6) / 4,
        "bias": normal(UNITS, seed=7),
    }
    operator = Operator(
        "UNIDIRECTIONAL_SEQUENCE_RNN",
        ["x", *weights, "state"],
        ["y"],
        (
            "SequenceRNNOptions",
            {"fused_activation_function": "RELU", "time_major": is_time_major},
        ),
    )
    h, results = np.zeros((BATCH, UNITS)), []
    for step in x.swapaxes(0, 1):
        total = step @ weights["kernel"].T + h @ weights["recurrent"].T + weights["bias"]
        h = np.maximum(total, 0)
        results.append(h)
    fed = x.swapaxes(0, 1).copy() if is_time_major else x
    expected = np.stack(results, 0 if is_time_major else 1)
    model = model_of(operator, fed, weights, [("state", (BATCH, UNITS))])
    np.testing.assert_allclose(computed(model, fed), expected, rtol=1e-5, atol=1e-5)


def test_steps_of_simple_networks():
    x = normal(BATCH, NUMBERS, seed=4)
    weights = {
        "kernel": normal(UNITS, NUMBERS, seed=5),
        "recurrent": normal(UNITS, UNITS, seed=6),
        "bias": normal(UNITS, seed=7),
    }
    options = ("RNNOptions", {"fused_activation_function": "TANH"})
    operator = Operator("RNN", ["x", *weights, "state"], ["y"], options)
    model = model_of(operator, x, weights, [("state", (BATCH, UNITS))])
    h = np.zeros((BATCH, UNITS))
    for _ in range(3):
        h = np.tanh(x @ weights["kernel"].T + h @ weights["recurrent"].T + weights["bias"])
        np.testing.assert_allclose(computed(model, x), h, atol=1e-5)


MEMORY = 3


def filters(x: Array, rank: int) -> tuple[bytes, dict[str, Array]]:
    """The file of a model of filters, and its weights."""
    weights = {
        "features": normal(UNITS * rank, NUMBERS, seed=9),
        "time": normal(UNITS * rank, MEMORY, seed=10),
        "bias": normal(UNITS, seed=11),
    }
    options = ("SVDFOptions", {"rank": rank, "fused_activation_function": "RELU"})
    operator = Operator("SVDF", ["x", *weights, "state"], ["y"], options)
    return file_of(operator, x, weights, [("state", (BATCH, MEMORY * UNITS * rank))]), weights


@pytest.mark.parametrize("rank", [1, 2])
def test_filters(rank: int, backend: str):
    x = normal(5, BATCH, NUMBERS, seed=8)
    data, weights = filters(x[0], rank)
    model = opened(data)
    features = np.zeros((BATCH, UNITS * rank, MEMORY))
    for step in x:
        new = step @ weights["features"].T
        features = np.concatenate([features[..., 1:], new[..., None]], -1)
        sums = (features * weights["time"]).sum(-1).reshape(BATCH, UNITS, rank).sum(-1)
        expected = np.maximum(sums + weights["bias"], 0)
        np.testing.assert_allclose(computed(model, step), expected, atol=1e-5)
