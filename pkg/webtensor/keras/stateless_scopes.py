"""Scopes: what holds within a ``with``, such as other values of variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from webtensor.engine import Tensor, Variable
from webtensor.engine.tasks import TaskStack
from webtensor.ops import tensor

__all__ = ["StatelessScope", "stateless_scopes"]

#: The scopes around, the innermost last.
stateless_scopes: TaskStack[StatelessScope] = TaskStack("stateless_scopes")


class StatelessScope:
    """Within the ``with``, nothing changes the variables of layers but for the scope itself.

    ``state_mapping`` has pairs of a variable and the value that it has in the scope; gradients with
    respect to these values pass. ``get_current_value`` returns what a variable was assigned to, in
    the scope and after it. With ``collect_losses`` the losses that layers add are in ``losses``.
    Variables that are made in the scope have their values at once, whatever
    ``initialize_variables`` says.

    Example:
        >>> from webtensor import keras
        >>> counter = keras.Variable(0)
        >>> with keras.StatelessScope([(counter, 5)]) as scope:
        ...     _ = counter.assign_add(1)
        >>> int(counter), int(scope.get_current_value(counter))
        (0, 6)
    """

    def __init__(
        self,
        state_mapping: Iterable[tuple[Variable, Any]] | None = None,
        collect_losses: bool = False,
        initialize_variables: bool = True,
    ) -> None:
        self.collect_losses = collect_losses
        self.initialize_variables = initialize_variables
        self.losses: list[Any] = []
        #: Variables and what they hold outside, by identity.
        self._before: dict[int, tuple[Variable, Tensor]] = {}
        self._after: dict[int, Tensor] | None = None
        self._given = [_checked(pair) for pair in state_mapping or ()]

    def __enter__(self) -> StatelessScope:
        stateless_scopes.push(self)
        for variable, value in self._given:
            self.hold(variable, value)
        return self

    def __exit__(self, *_: object) -> None:
        self._after = {key: one._value for key, (one, _) in self._before.items()}
        for variable, value in self._before.values():
            variable._value = value
        stateless_scopes.remove(self)

    def hold(self, variable: Variable, value: Tensor) -> None:
        """Give a variable another value until the scope ends."""
        self._before.setdefault(id(variable), (variable, variable._value))
        variable._value = value

    def add_loss(self, loss: Any) -> None:
        """Keep a loss of a layer."""
        self.losses.append(loss)

    def get_current_value(self, variable: Variable) -> Tensor | None:
        """Return a variable's value in the scope; None where the scope knows none of its own."""
        if self._after is not None:
            return self._after.get(id(variable))
        return variable._value if id(variable) in self._before else None


def _checked(pair: Any) -> tuple[Variable, Tensor]:
    """A variable and its value, as a tensor."""
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], Variable)):
        raise ValueError(
            "StatelessScope: state_mapping must consist of pairs of a variable and its value, but "
            f"there is {pair!r}"
        )
    variable, value = pair
    held = value if isinstance(value, Tensor) else tensor(value, dtype=variable.dtype)
    if held.shape != variable.shape:
        raise ValueError(
            f"StatelessScope: variable {variable.name!r} has shape {variable.shape}, but "
            f"state_mapping has a value of shape {held.shape}"
        )
    return variable, held
