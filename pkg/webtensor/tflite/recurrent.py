"""Recurrent operators: cells with states that a model keeps between predictions.

The weights have the units last, and those of an LSTM's gates side by side; where the input gate is
missing, it is what the forget gate leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.nodes import Node
from webtensor.graph.operations import Row
from webtensor.graph.operations.rows import Attribute, Tensors
from webtensor.tflite.quantization import Grid, rounded
from webtensor.tflite.states import States

__all__ = ["ACTIVATIONS", "recurrent_rows"]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "NONE": lambda x: x,
    "RELU": ops.relu,
    "RELU6": ops.relu6,
    "RELU_N1_TO_1": lambda x: ops.clip(x, -1.0, 1.0),
    "SIGN_BIT": lambda x: ops.astype(ops.less(x, 0.0), x.dtype),
    "TANH": ops.tanh,
}


class _Settings:
    """The attributes of a node.

    ``inputs`` has the names of the inputs, ``states`` those of the states, ``gates`` those of an
    LSTM's gates, and ``output_grid`` and ``cell_grid`` scale and bounds where they are quantized.
    """

    def __init__(self, node: Node) -> None:
        attributes: Any = node.attributes
        self.names: list[str] = attributes["inputs"]
        self.states: list[str] = attributes["states"]
        self.activation = ACTIVATIONS[attributes["activation"]]
        self.is_time_major: bool = attributes.get("time_major", False)
        self.is_backwards: bool = attributes.get("is_backwards", False)
        self.is_sequence: bool = attributes["is_sequence"]
        self.cell_clip: float = attributes.get("cell_clip", 0.0)
        self.projection_clip: float = attributes.get("proj_clip", 0.0)
        self.gates: list[str] = attributes.get("gates", [])
        self.grids = {name: _grid(attributes, name) for name in ("output", "cell")}

    def named(self, values: Sequence[Tensor]) -> dict[str, Tensor]:
        return dict(zip(self.names, values, strict=True))

    def steps(self, x: Tensor) -> Tensor:
        """Return inputs as (time, batch, numbers), in the order in which the cell takes them."""
        if not self.is_sequence:
            return ops.expand_dims(x, 0)
        steps = x if self.is_time_major else ops.permute_dims(x, (1, 0, 2))
        return ops.flip(steps, 0) if self.is_backwards else steps

    def joined(self, outputs: list[Tensor]) -> Tensor:
        """Return the outputs of all steps in the order of the inputs."""
        if not self.is_sequence:
            return outputs[0]
        if self.is_backwards:
            outputs = outputs[::-1]
        return ops.stack(outputs, 0 if self.is_time_major else 1)


def _grid(attributes: dict[str, Any], name: str) -> Grid | None:
    numbers = attributes.get(f"{name}_grid")
    return None if numbers is None else Grid(*numbers)


_SETTINGS = Attribute(_Settings)


def recurrent_rows(states: States) -> dict[str, Row]:
    """Return the rows of operators that keep their states in ``states``."""

    def network(values: Sequence[Tensor], settings: _Settings) -> Tensor:
        return _network(settings.named(values), settings, states)

    def memory(values: Sequence[Tensor], settings: _Settings) -> tuple[Tensor, Tensor]:
        return _memory(settings.named(values), settings, states)

    def filters(values: Sequence[Tensor], settings: _Settings, rank: int) -> Tensor:
        return _filters(settings.named(values), settings, states, rank)

    rank = Attribute(lambda node: node.attributes["rank"])
    rows = {
        "LSTM": Row(memory, Tensors(), settings=_SETTINGS),
        "RNN": Row(network, Tensors(), settings=_SETTINGS),
        "SVDF": Row(filters, Tensors(), settings=_SETTINGS, rank=rank),
    }
    return {op: row.impure() for op, row in rows.items()}


def _weighted(x: Tensor, weights: Tensor, bias: Tensor | None) -> Tensor:
    """Return products of (time, batch, numbers) with weights, plus a bias."""
    time, batch, size = x.shape
    flat = ops.fused.mat_mul(ops.reshape(x, (time * batch, size)), weights, bias=bias)
    return ops.reshape(flat, (time, batch, weights.shape[-1]))


def _on_grid(x: Tensor, grid: Grid | None) -> Tensor:
    return x if grid is None else rounded(x, grid)


def _clipped(x: Tensor, limit: float) -> Tensor:
    return ops.clip(x, -limit, limit) if limit > 0 else x


def _network(named: dict[str, Tensor], settings: _Settings, states: States) -> Tensor:
    """Return activations of weighted inputs and outputs of the step before."""
    recurrent = named["recurrent"]
    steps = _weighted(settings.steps(named["x"]), named["kernel"], named.get("bias"))
    (name,) = settings.states
    output = states.value(name, (steps.shape[1], recurrent.shape[0]))
    outputs = []
    for step in ops.unstack(steps, 0):
        total = ops.add(step, ops.matmul(output, recurrent))
        output = settings.activation(total)
        outputs.append(output)
    states.keep(name, output)
    return settings.joined(outputs)


#: What is added in the square root of layer normalization.
_EPSILON = 1e-8


class _Gates:
    """The gates of a long short-term memory in one step, by their names, before activation."""

    def __init__(self, total: Tensor, names: Sequence[str], weights: dict[str, Tensor]) -> None:
        parts = ops.split(total, len(names), 1)
        self._totals = dict(zip(names, parts, strict=True))
        self._weights = weights

    def total(self, gate: str, cell: Tensor | None = None) -> Tensor:
        """Return a gate that sees the cell, normalized if it has weights for that."""
        total = self._totals[gate]
        peephole = self._weights.get(f"{gate}_peephole")
        if cell is not None and peephole is not None:
            total = ops.add(total, ops.multiply(cell, peephole))
        norm = self._weights.get(f"{gate}_norm")
        if norm is None:
            return total
        mean, variance = ops.moments(total, -1, True)
        scaled = ops.divide(ops.subtract(total, mean), ops.sqrt(ops.add(variance, _EPSILON)))
        return ops.add(ops.multiply(scaled, norm), self._weights[f"{gate}_bias"])


def _memory(named: dict[str, Tensor], settings: _Settings, states: States) -> tuple[Tensor, Tensor]:
    """Return the outputs of a long short-term memory, and its cell after the last step.

    What the step before returned is among the inputs, or kept in states.
    """
    recurrent = named["recurrent"]
    steps = _weighted(settings.steps(named["x"]), named["kernel"], named.get("bias"))
    batch, units = steps.shape[1], recurrent.shape[1] // len(settings.gates)
    if settings.states:
        output = states.value(settings.states[0], (batch, recurrent.shape[0]))
        cell = states.value(settings.states[1], (batch, units))
    else:
        output, cell = named["output_state"], named["cell_state"]
    outputs = []
    for step in ops.unstack(steps, 0):
        gates = _Gates(ops.add(step, ops.matmul(output, recurrent)), settings.gates, named)
        forget = ops.sigmoid(gates.total("forget", cell))
        if "input" in settings.gates:
            enter = ops.sigmoid(gates.total("input", cell))
        else:
            enter = ops.subtract(1.0, forget)
        candidate = settings.activation(gates.total("cell"))
        cell = ops.add(ops.multiply(forget, cell), ops.multiply(enter, candidate))
        cell = _on_grid(_clipped(cell, settings.cell_clip), settings.grids["cell"])
        leave = ops.sigmoid(gates.total("output", cell))
        output = ops.multiply(leave, settings.activation(cell))
        output = _projected(output, named, settings)
        outputs.append(output)
    if settings.states:
        states.keep(settings.states[0], output)
        states.keep(settings.states[1], cell)
    return settings.joined(outputs), cell


def _projected(output: Tensor, named: dict[str, Tensor], settings: _Settings) -> Tensor:
    if "projection" in named:
        bias = named.get("projection_bias")
        output = ops.fused.mat_mul(output, named["projection"], bias=bias)
        output = _clipped(output, settings.projection_clip)
    return _on_grid(output, settings.grids["output"])


def _filters(named: dict[str, Tensor], settings: _Settings, states: States, rank: int) -> Tensor:
    """Return the outputs of filters over features and time (Nakkiran et al., 2015).

    The state has for each filter what its feature part returned for the last inputs.
    """
    features = ops.matmul(named["x"], named["features"])
    time = named["time"]
    (batch, filters), (_, memory) = features.shape, time.shape
    if rank < 1 or filters % rank:
        raise ValueError(f"{filters} filters cannot have rank {rank}")
    (name,) = settings.states
    previous = ops.slice(states.value(name, (batch, filters, memory)), (0, 0, 1), (-1, -1, -1))
    state = ops.concat([previous, ops.expand_dims(features, -1)], -1)
    states.keep(name, _on_grid(state, settings.grids["output"]))
    weighted = ops.sum(ops.multiply(state, time), -1)
    total = ops.sum(ops.reshape(weighted, (batch, filters // rank, rank)), -1)
    if "bias" in named:
        total = ops.add(total, named["bias"])
    return settings.activation(total)
