"""Values that a model keeps between predictions: variables, and the states of recurrent operators.

Operations on variables take what the operation before them returned as their last input, although
they do not compute with it: this is their order.
"""

from __future__ import annotations

from collections.abc import Sequence

from webtensor import ops
from webtensor.engine import Tensor, keep
from webtensor.graph.operations import Row
from webtensor.graph.operations.arguments import text

__all__ = ["States", "state_rows"]


class States:
    """Tensors by their names."""

    def __init__(self) -> None:
        self._values: dict[str, Tensor] = {}

    def value(self, name: str, shape: Sequence[int]) -> Tensor:
        """Return a state of this shape: zeros, if there is none yet."""
        value = self._values.get(name)
        if value is None or value.shape != tuple(shape):
            return ops.zeros(shape)
        return value

    def assigned(self, name: str) -> Tensor:
        """Return the value of a variable, which may be disposed.

        Raises:
            ValueError: nothing was assigned to it yet.
        """
        if name not in self._values:
            raise ValueError(f"nothing was assigned to the variable {name!r:.200}")
        return ops.clone(self._values[name])

    def keep(self, name: str, value: Tensor) -> None:
        """Set a state or a variable; the tensor itself may be disposed."""
        self._values[name] = keep(ops.clone(value))

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()

    def dispose(self) -> None:
        """Give back the memory of everything."""
        for value in self._values.values():
            value.dispose()
        self._values.clear()


def state_rows(states: States) -> dict[str, Row]:
    """Return the rows of operations on the variables of a model."""

    def assign(name: str, value: Tensor) -> Tensor:
        states.keep(name, value)
        return value

    rows = {
        "AssignVariable": Row(assign, 0, 1),
        "Ordered": Row(lambda value: value, 0),
        "ReadVariable": Row(states.assigned, 0),
        "VariableName": Row(_named, text("name")),
    }
    return {op: row.impure().dynamic() for op, row in rows.items()}


def _named(name: str) -> str:
    return name
