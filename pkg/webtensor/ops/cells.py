"""The computations of recurrent cells from their gates: formulas on blocks.

These functions are for ``keras.layers``: operands are float32, and their shapes are not checked.
Each formula stands beside its derivatives, whose operands are those of the formula, as far as
needed, and the gradient of its result last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.engine import Tensor
from webtensor.ops.blocks import blocks
from webtensor.ops.movement import Pieces

__all__ = ["gru_mixed_state", "gru_reset_state", "gru_state", "lstm_state"]

# -- long short-term memory (Hochreiter & Schmidhuber, 1997) -------------------------------------
#
# Gates are (enter, forget, candidate, leave), a state is (shown, memory).


@blocks(4, 2, 2, 2, results=4)
def lstm_gates_gradient(
    m: Any,
    enter: Any,
    forget: Any,
    candidate: Any,
    leave: Any,
    _: Any,
    memory: Any,
    _new: Any,
    new_memory: Any,
    d_shown: Any,
    d_memory: Any,
) -> tuple[Any, ...]:
    """Derivatives for the gates."""
    i, f, g, o = m.sigmoid(enter), m.sigmoid(forget), m.tanh(candidate), m.sigmoid(leave)
    visible = m.tanh(new_memory)
    change = d_memory + d_shown * o * (1 - visible * visible)
    return (
        change * g * i * (1 - i),
        change * memory * f * (1 - f),
        change * i * (1 - g * g),
        d_shown * visible * o * (1 - o),
    )


@blocks(4, 2, 2)
def lstm_memory_gradient(
    m: Any,
    _enter: Any,
    forget: Any,
    _candidate: Any,
    leave: Any,
    _new: Any,
    new_memory: Any,
    d_shown: Any,
    d_memory: Any,
) -> tuple[Any, ...]:
    """Derivative for the previous memory."""
    visible = m.tanh(new_memory)
    change = d_memory + d_shown * m.sigmoid(leave) * (1 - visible * visible)
    return (change * m.sigmoid(forget),)


def _lstm_state_gradient(gates: Tensor, state: Tensor, y: Tensor, dy: Tensor) -> Pieces:
    """Derivative for the previous state: what it contributed through the gates."""
    *axes, last = state.shape
    return Pieces(state.shape, (*(0 for _ in axes), last // 2), lstm_memory_gradient(gates, y, dy))


@blocks(
    4,
    2,
    results=2,
    gradients=(
        lambda dy, y, gates, state, row: lstm_gates_gradient(gates, state, y, dy),
        lambda dy, y, gates, state, row: _lstm_state_gradient(gates, state, y, dy),
    ),
)
def lstm_state(
    m: Any, enter: Any, forget: Any, candidate: Any, leave: Any, _: Any, memory: Any
) -> tuple[Any, ...]:
    """The next state of a cell."""
    new_memory = m.sigmoid(forget) * memory + m.sigmoid(enter) * m.tanh(candidate)
    return m.sigmoid(leave) * m.tanh(new_memory), new_memory


# -- gated recurrent unit (Cho et al., 2014) -----------------------------------------------------
#
# Gates are (update, reset, candidate), of the inputs and of the state.


def _gru_changes(m: Any, gates: Sequence[Any], state: Any, dy: Any) -> tuple[Any, ...]:
    """Derivatives for the sums of the update and of the reset gate and for the candidate's, and the
    reset gate; ``gates`` are the inputs' three and the state's three.
    """
    update, reset, candidate, own_update, own_reset, own_candidate = gates
    z, r = m.sigmoid(update + own_update), m.sigmoid(reset + own_reset)
    n = m.tanh(candidate + r * own_candidate)
    change = dy * (1 - z) * (1 - n * n)
    return dy * (state - n) * z * (1 - z), change * own_candidate * r * (1 - r), change, r


@blocks(3, 3, 1, 1, results=3)
def gru_inputs_gradient(m: Any, *parts: Any) -> tuple[Any, ...]:
    """Derivatives for the inputs' share of the gates."""
    *gates, state, dy = parts
    return _gru_changes(m, gates, state, dy)[:3]


@blocks(3, 3, 1, 1, results=3)
def gru_own_gradient(m: Any, *parts: Any) -> tuple[Any, ...]:
    """Derivatives for the state's share of the gates."""
    *gates, state, dy = parts
    update, reset, change, r = _gru_changes(m, gates, state, dy)
    return update, reset, change * r


@blocks(3, 3, 1)
def gru_state_gradient(
    m: Any,
    update: Any,
    _reset: Any,
    _candidate: Any,
    own_update: Any,
    _own_reset: Any,
    _own_candidate: Any,
    dy: Any,
) -> tuple[Any, ...]:
    """Derivative for the previous state, as far as the update gate keeps it."""
    return (dy * m.sigmoid(update + own_update),)


@blocks(
    3,
    3,
    1,
    gradients=(
        lambda dy, y, gates, own, state, row: gru_inputs_gradient(gates, own, state, dy),
        lambda dy, y, gates, own, state, row: gru_own_gradient(gates, own, state, dy),
        lambda dy, y, gates, own, state, row: gru_state_gradient(gates, own, dy),
    ),
)
def gru_state(
    m: Any,
    update: Any,
    reset: Any,
    candidate: Any,
    own_update: Any,
    own_reset: Any,
    own_candidate: Any,
    state: Any,
) -> tuple[Any, ...]:
    """The next state of a cell that resets its state's share of the candidate."""
    z, r = m.sigmoid(update + own_update), m.sigmoid(reset + own_reset)
    return (z * state + (1 - z) * m.tanh(candidate + r * own_candidate),)


# A cell that resets the state before its product has both shares of the two gates added up.


@blocks(2, 1, 1, results=2)
def gru_reset_gates_gradient(
    m: Any, _update: Any, reset: Any, state: Any, dy: Any
) -> tuple[Any, ...]:
    """Derivatives for the gates."""
    r = m.sigmoid(reset)
    return 0, dy * state * r * (1 - r)


@blocks(2, 1)
def gru_reset_own_gradient(m: Any, _update: Any, reset: Any, dy: Any) -> tuple[Any, ...]:
    """Derivative for the state."""
    return (dy * m.sigmoid(reset),)


@blocks(
    2,
    1,
    gradients=(
        lambda dy, y, gates, state, row: gru_reset_gates_gradient(gates, state, dy),
        lambda dy, y, gates, state, row: gru_reset_own_gradient(gates, dy),
    ),
)
def gru_reset_state(m: Any, _update: Any, reset: Any, state: Any) -> tuple[Any, ...]:
    """The state as far as the reset gate lets it through."""
    return (m.sigmoid(reset) * state,)


@blocks(2, 1, 1, 1, results=2)
def gru_mixed_gates_gradient(
    m: Any, update: Any, _reset: Any, candidate: Any, state: Any, dy: Any
) -> tuple[Any, ...]:
    """Derivatives for the gates."""
    z = m.sigmoid(update)
    return dy * (state - m.tanh(candidate)) * z * (1 - z), 0


@blocks(2, 1, 1)
def gru_mixed_candidate_gradient(
    m: Any, update: Any, _reset: Any, candidate: Any, dy: Any
) -> tuple[Any, ...]:
    """Derivative for the candidate."""
    n = m.tanh(candidate)
    return (dy * (1 - m.sigmoid(update)) * (1 - n * n),)


@blocks(2, 1)
def gru_mixed_own_gradient(m: Any, update: Any, _reset: Any, dy: Any) -> tuple[Any, ...]:
    """Derivative for the state."""
    return (dy * m.sigmoid(update),)


@blocks(
    2,
    1,
    1,
    gradients=(
        lambda dy, y, gates, new, state, row: gru_mixed_gates_gradient(gates, new, state, dy),
        lambda dy, y, gates, new, state, row: gru_mixed_candidate_gradient(gates, new, dy),
        lambda dy, y, gates, new, state, row: gru_mixed_own_gradient(gates, dy),
    ),
)
def gru_mixed_state(
    m: Any, update: Any, _reset: Any, candidate: Any, state: Any
) -> tuple[Any, ...]:
    """The next state of a cell, from its candidate state."""
    z = m.sigmoid(update)
    return (z * state + (1 - z) * m.tanh(candidate),)
