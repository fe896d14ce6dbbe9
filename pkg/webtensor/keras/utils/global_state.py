"""Random seeds, the names of layers, and functions about symbolic tensors."""

from __future__ import annotations

import random
from sys import modules

from webtensor.keras.dtype_policies import reset_dtype_policy
from webtensor.keras.logging import enable_interactive_logging
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
    """Seed the random numbers of tensors, of Python, and of NumPy if it is imported.

    Raises:
        ValueError: ``seed`` is no integer.
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ValueError(f"set_random_seed: seed must be an integer, but got {seed!r}")
    random.seed(seed)
    if "numpy" in modules:
        modules["numpy"].random.seed(seed & 0xFFFFFFFF)
    seed_tensors(seed)


def clear_session(free_memory: bool = True) -> None:
    """Restart the numbers in the names of layers, and reset settings; ``free_memory`` does nothing.

    The settings are the default dtype policy and interactive logging, as in Keras.
    """
    forget_names()
    reset_dtype_policy()
    enable_interactive_logging()


def is_keras_tensor(x: object) -> bool:
    """Return whether ``x`` is a symbolic tensor."""
    return isinstance(x, KerasTensor)


def get_source_inputs(tensor: KerasTensor) -> list[KerasTensor]:
    """Return the symbolic tensors that begin a model which computes ``tensor``."""
    sources: dict[int, KerasTensor] = {}
    visited: set[int] = set()
    pending = [tensor]
    while pending:
        current = pending.pop()
        if id(current) in visited:
            continue
        visited.add(id(current))
        history = current._keras_history
        if history is None:
            sources[id(current)] = current
            continue
        node = history.operation._inbound_nodes[history.node_index]
        if not node.inputs:
            sources[id(current)] = current
        pending += reversed(node.inputs)
    return list(sources.values())
