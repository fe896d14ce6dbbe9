"""Recurrent operators compute what their formulas say, step by step, and keep their states."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.tflite.cases import normal, sigmoid
from tests_py.tflite.files import Array, Operator, Tensor, file, opened, subgraph

RECURRENT_OPERATORS = {
    "BIDIRECTIONAL_SEQUENCE_LSTM",
    "BIDIRECTIONAL_SEQUENCE_RNN",
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


def lstm_weights(variant: str, numbers: int = NUMBERS) -> dict[str, Array]:
    """The weights of a kind of LSTM by their names."""
    outputs = RESULTS if "projection" in variant else UNITS
    weights = {}
    for number, gate in enumerate(GATES):
        if gate == "input" and "coupled" in variant:
            continue
        weights[f"{gate}_kernel"] = normal(UNITS, numbers, seed=number)
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


def lstm(
    x: Array,
    weights: dict[str, Array],
    clip: float,
    projection_clip: float,
    on_grid: Callable[[Array], Array] = lambda state: state,
) -> Array:
    """The outputs of (batch, time, numbers), by the formulas of Hochreiter, Gers and Sak.

    ``on_grid`` rounds states.
    """
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
        c = on_grid(np.clip(c, -clip, clip))
        h = sigmoid(gate("output", step, c)) * np.tanh(c)
        if "projection" in weights:
            h = h @ weights["projection"].T + weights["projection_bias"]
            h = np.clip(h, -projection_clip, projection_clip)
        h = on_grid(h)
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


def test_states_are_rounded_to_their_grids(backend: str):
    def on_grid(state: Array) -> Array:
        return np.clip(np.round(state * 32), -8, 247) / 32

    x = normal(BATCH, TIME, NUMBERS, seed=3)
    weights = lstm_weights("plain")
    fields = {
        "is_variable": True,
        "quantization": {"scale": [1 / 32], "zero_point": [8]},
    }
    states = ("output_state", "cell_state")
    tensors = [
        Tensor("x", x.shape),
        *(Tensor.constant(name, array) for name, array in weights.items()),
        *(Tensor(name, (BATCH, UNITS), "uint8", None, fields) for name in states),
        Tensor("y"),
    ]
    operator = Operator(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [name if name in {"x", *states, *weights} else "" for name in LSTM_INPUTS],
        ["y"],
        ("UnidirectionalSequenceLSTMOptions", {"fused_activation_function": "TANH"}),
    )
    model = opened(file(subgraph(tensors, [operator], ["x"], ["y"])))
    expected = lstm(x, weights, np.inf, np.inf, on_grid)
    assert (expected == -8 / 32).any(), "a state is limited"
    np.testing.assert_allclose(computed(model, x), expected, atol=1e-6)


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


BASIC_GATES = ("input", "cell", "forget", "output")


def basic_lstm(x: Array, are_variables: bool) -> tuple[bytes, dict[str, Array]]:
    """The file of a step of the kernel BASIC, and its weights by the names of ``lstm``."""
    weights = lstm_weights("plain")
    parts = [
        np.concatenate([weights[f"{gate}_kernel"], weights[f"{gate}_recurrent"]], 1)
        for gate in BASIC_GATES
    ]
    biases = [weights[f"{gate}_bias"] for gate in BASIC_GATES]
    fields = {"is_variable": are_variables}
    tensors = [
        Tensor("x", x.shape),
        Tensor("output", (BATCH, UNITS), fields=fields),
        Tensor("cell", (BATCH, UNITS), fields=fields),
        Tensor.constant("weights", np.concatenate(parts)),
        Tensor.constant("biases", np.concatenate(biases)),
        Tensor("y", (BATCH, UNITS)),
        Tensor("new_cell", (BATCH, UNITS)),
        Tensor("scratch", (BATCH, NUMBERS + UNITS)),
        Tensor("scratch of gates", (BATCH, 4 * UNITS)),
    ]
    operator = Operator(
        "LSTM",
        ["x", "output", "weights", "biases", "cell"],
        ["y", "new_cell", "scratch", "scratch of gates"],
        ("LSTMOptions", {"fused_activation_function": "TANH", "kernel_type": "BASIC"}),
    )
    inputs = ["x"] if are_variables else ["x", "output", "cell"]
    return file(subgraph(tensors, [operator], inputs, ["y", "new_cell"])), weights


def test_steps_of_basic_lstms_that_keep_their_states(no_leak: None):
    x = normal(BATCH, NUMBERS, seed=3)
    data, weights = basic_lstm(x, True)
    model = opened(data)
    expected = lstm(np.stack([x, x], 1), weights, np.inf, np.inf)
    for step in range(2):
        np.testing.assert_allclose(computed(model, x), expected[:, step], atol=1e-5)
    model.dispose()


def test_steps_of_basic_lstms_whose_states_are_given(backend: str):
    x = normal(BATCH, NUMBERS, seed=3)
    data, weights = basic_lstm(x, False)
    model = opened(data)
    expected = lstm(np.stack([x, x], 1), weights, np.inf, np.inf)
    output, cell = wt.zeros((BATCH, UNITS)), wt.zeros((BATCH, UNITS))
    for step in range(2):
        feeds = {"x": wt.tensor(x), "output": output, "cell": cell}
        output, cell = model.execute(feeds, ["y", "new_cell"])
        np.testing.assert_allclose(output.numpy(), expected[:, step], atol=1e-5)


# -- both directions ---------------------------------------------------------------------------

#: How a second input is used: not at all, by the backward cell, or by both with weights.
OTHERS = ("none", "backwards", "weighted")
BIDIRECTIONAL_VARIANTS = ("plain", "coupled", "peephole projection")


def transposed(x: Array, is_time_major: bool) -> Array:
    return x.swapaxes(0, 1).copy() if is_time_major else x


def in_8_bits(name: str, weights: Array) -> Tensor:
    """Weights as the converter stores them beside inputs of floats."""
    scale = float(np.abs(weights).max()) / 127
    integers = np.round(weights / scale).astype(np.int8)
    return Tensor.constant(name, integers, quantization={"scale": [scale], "zero_point": [0]})


def bidirectional(
    operator: tuple[str, str],
    tensors: dict[str, Any],
    options: dict[str, Any],
    merges: bool,
    matrix: Any = Tensor.constant,
) -> bytes:
    """The file of a model of an operator of both directions.

    Args:
        operator: its name, and that of its options.
        tensors: its inputs by their names in order: the shape of one that is fed, an array, None
            for a missing one, or in a list the shape of a state.
        options: the options but for ``merge_outputs``.
        merges: whether there is one output.
        matrix: makes the tensor of a matrix of weights.
    """
    rows, fed = [], []
    for name, value in tensors.items():
        if isinstance(value, tuple):
            rows.append(Tensor(name, value))
            fed.append(name)
        elif isinstance(value, list):
            rows.append(Tensor(name, value[0], fields={"is_variable": True}))
        elif value is not None:
            rows.append((matrix if value.ndim == 2 else Tensor.constant)(name, value))
    outputs = ["y"] if merges else ["y", "backwards"]
    op, table = operator
    call = Operator(
        op,
        ["" if value is None else name for name, value in tensors.items()],
        outputs,
        (table, {**options, "merge_outputs": merges}),
    )
    return file(subgraph([*rows, *map(Tensor, outputs)], [call], fed, outputs))


def bidirectional_lstm(
    variant: str, others: str, is_time_major: bool, merges: bool, matrix: Any = Tensor.constant
) -> tuple[bytes, list[Array], list[Array]]:
    """The file of a bidirectional LSTM, its inputs, and what it computes."""
    x, other = normal(BATCH, TIME, NUMBERS, seed=3), normal(BATCH, TIME, NUMBERS, seed=60)
    size = 2 * NUMBERS if others == "weighted" else NUMBERS
    forward = lstm_weights(variant, size)
    backward = {name: array[::-1].copy() for name, array in forward.items()}
    tensors: dict[str, Any] = {"x": transposed(x, is_time_major).shape}
    weight_names = LSTM_INPUTS[1 : LSTM_INPUTS.index("output_state")]
    for way, weights in (("forward", forward), ("backward", backward)):
        for name in weight_names:
            array = weights.get(name)
            if array is not None and name.endswith("kernel"):
                array = array[:, :NUMBERS].copy()
            tensors[f"{way} {name}"] = array
    outputs = forward["output_recurrent"].shape[1]
    for way in ("forward", "backward"):
        tensors[f"{way} output_state"] = [(BATCH, outputs)]
        tensors[f"{way} cell_state"] = [(BATCH, UNITS)]
    tensors["other"] = None if others == "none" else transposed(other, is_time_major).shape
    for way, weights in (("forward", forward), ("backward", backward)):
        for gate in GATES:
            array = weights.get(f"{gate}_kernel") if others == "weighted" else None
            tensors[f"{way} {gate} of other"] = None if array is None else array[:, NUMBERS:].copy()
    options = {
        "fused_activation_function": "TANH",
        "cell_clip": 0.9,
        "proj_clip": 0.8,
        "time_major": is_time_major,
    }
    operator = ("BIDIRECTIONAL_SEQUENCE_LSTM", "BidirectionalSequenceLSTMOptions")
    data = bidirectional(operator, tensors, options, merges, matrix)
    both = np.concatenate([x, other], -1)
    reads = {"none": (x, x), "backwards": (x, other), "weighted": (both, both)}[others]
    results = [
        lstm(reads[0], forward, 0.9, 0.8),
        lstm(reads[1][:, ::-1], backward, 0.9, 0.8)[:, ::-1],
    ]
    return data, *_given_and_wanted(x, other, others, results, is_time_major, merges)


def bidirectional_network(
    others: str, is_time_major: bool, merges: bool, matrix: Any = Tensor.constant
) -> tuple[bytes, list[Array], list[Array]]:
    """The file of a bidirectional simple network, its inputs, and what it computes."""
    x, other = normal(BATCH, TIME, NUMBERS, seed=4), normal(BATCH, TIME, NUMBERS, seed=61)
    size = 2 * NUMBERS if others == "weighted" else NUMBERS
    tensors: dict[str, Any] = {"x": transposed(x, is_time_major).shape}
    cells = []
    for number, way in enumerate(("forward", "backward")):
        kernel = normal(UNITS, size, seed=70 + number)
        recurrent = normal(UNITS, UNITS, seed=80 + number) / 4
        bias = normal(UNITS, seed=90 + number)
        cells.append((kernel, recurrent, bias))
        tensors[f"{way} kernel"] = kernel[:, :NUMBERS].copy()
        tensors |= {f"{way} recurrent": recurrent, f"{way} bias": bias}
        tensors[f"{way} state"] = [(BATCH, UNITS)]
    tensors["other"] = None if others == "none" else transposed(other, is_time_major).shape
    for way, (kernel, _, _) in zip(("forward", "backward"), cells, strict=True):
        weighted = others == "weighted"
        tensors[f"{way} of other"] = kernel[:, NUMBERS:].copy() if weighted else None
    options = {"fused_activation_function": "TANH", "time_major": is_time_major}
    operator = ("BIDIRECTIONAL_SEQUENCE_RNN", "BidirectionalSequenceRNNOptions")
    data = bidirectional(operator, tensors, options, merges, matrix)
    both = np.concatenate([x, other], -1)
    reads = {"none": (x, x), "backwards": (x, other), "weighted": (both, both)}[others]

    def run(steps: Array, cell: tuple[Array, Array, Array]) -> Array:
        kernel, recurrent, bias = cell
        h, outputs = np.zeros((BATCH, UNITS)), []
        for step in steps.swapaxes(0, 1):
            h = np.tanh(step @ kernel.T + h @ recurrent.T + bias)
            outputs.append(h)
        return np.stack(outputs, 1)

    results = [run(reads[0], cells[0]), run(reads[1][:, ::-1], cells[1])[:, ::-1]]
    return data, *_given_and_wanted(x, other, others, results, is_time_major, merges)


def _given_and_wanted(
    x: Array, other: Array, others: str, results: list[Array], is_time_major: bool, merges: bool
) -> tuple[list[Array], list[Array]]:
    inputs = [x] if others == "none" else [x, other]
    expected = [np.concatenate(results, -1)] if merges else results
    return (
        [transposed(array, is_time_major) for array in inputs],
        [transposed(array, is_time_major) for array in expected],
    )


def check(data: bytes, inputs: list[Array], expected: list[Array]) -> None:
    model = opened(data)
    results = model.execute([*map(wt.tensor, inputs)], model.output_nodes)
    for result, array in zip(results, expected, strict=True):
        np.testing.assert_allclose(result.numpy(), array, atol=1e-5)
    again = model.execute([*map(wt.tensor, inputs)], model.output_nodes)
    assert not np.allclose(again[0].numpy(), expected[0], atol=1e-5)  # it keeps its states
    model.reset_states()
    first = model.execute([*map(wt.tensor, inputs)], model.output_nodes)
    np.testing.assert_allclose(first[0].numpy(), expected[0], atol=1e-5)


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("variant", BIDIRECTIONAL_VARIANTS)
@pytest.mark.parametrize("is_time_major, merges", [(False, True), (True, False)])
def test_bidirectional_lstms(variant: str, others: str, is_time_major: bool, merges: bool):
    check(*bidirectional_lstm(variant, others, is_time_major, merges))


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("is_time_major, merges", [(False, True), (True, False)])
def test_bidirectional_networks(others: str, is_time_major: bool, merges: bool):
    check(*bidirectional_network(others, is_time_major, merges))


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
