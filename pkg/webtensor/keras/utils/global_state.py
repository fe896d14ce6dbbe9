"""Seeds, names, and questions about tensors."""

from __future__ import annotations

import random
from sys import modules
from typing import Any

from webtensor.keras.names import forget_names
from webtensor.keras.symbols import KerasTensor
from webtensor.ops import set_random_seed as seed_tensors

__all__ = [
    "clear_session",
    "get_source_inputs",
    "is_keras_tensor",
    "set_random_seed",
]


def set_random_seed(seed: int) -> None:
    """Seed the random numbers of tensors, of Python, and of NumPy where that is used.

    Raises:
        ValueError: it is no integer.
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ValueError(f"set_random_seed: seed must be an integer, but got {seed!r}")
    random.seed(seed)
    if "numpy" in modules:
        modules["numpy"].random.seed(seed & 0xFFFFFFFF)
    seed_tensors(seed)


def clear_session(free_memory: bool = True) -> None:
    """Count the names of layers anew."""
    forget_names()


def is_keras_tensor(x: Any) -> bool:
    """Return whether something is a symbolic tensor."""
    return isinstance(x, KerasTensor)


def get_source_inputs(tensor: KerasTensor) -> list[KerasTensor]:
    """Return the symbolic tensors that one is computed from in the end."""
    found: dict[int, KerasTensor] = {}
    seen: set[int] = set()
    waiting = [tensor]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        history = one._keras_history
        if history is None:
            found[id(one)] = one
            continue
        node = history.operation._inbound_nodes[history.node_index]
        if not node.inputs:
            found[id(one)] = one
        waiting += reversed(node.inputs)
    return list(found.values())
