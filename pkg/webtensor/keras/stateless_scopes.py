"""Stateless scopes: within a ``with``, variables have values of their own."""

from __future__ import annotations

from collections.abc import Iterable

from webtensor.engine import Tensor, TensorLike, Variable, state
from webtensor.engine.task_stack import TaskStack
from webtensor.ops import clone, tensor

__all__ = ["StatelessScope", "stateless_scopes"]

#: The open scopes, the innermost last.
stateless_scopes: TaskStack[StatelessScope] = TaskStack("stateless_scopes")


class StatelessScope:
    """Within the ``with``, assignments to variables stay inside the scope.

    Gradients pass through the values of ``state_mapping``. ``get_current_value`` returns the value
    that a variable has in the scope, also after it; ``losses`` are those that layers added.

    Args:
        state_mapping: pairs of a variable and its value in the scope.
        collect_losses: a boolean, which is kept as an attribute; losses are always collected.
        initialize_variables: a boolean, which is kept as an attribute: variables made in the scope
            are always initialized.

    Raises:
        ValueError: ``state_mapping`` does not consist of pairs, or a value has another shape than
            its variable.

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
        state_mapping: Iterable[tuple[Variable, TensorLike]] | None = None,
        collect_losses: bool = False,
        initialize_variables: bool = True,
    ) -> None:
        self.collect_losses = collect_losses
        self.initialize_variables = initialize_variables
        self.losses: list[Tensor] = []
        #: Variables and their values outside the scope, by identity.
        self._outer_values: dict[int, tuple[Variable, Tensor]] = {}
        #: Values in the scope, after it was closed.
        self._final_values: dict[int, Tensor] | None = None
        self._initial_values = [_checked(pair) for pair in state_mapping or ()]

    def __enter__(self) -> StatelessScope:
        stateless_scopes.push(self)
        for variable, value in self._initial_values:
            self.set_value(variable, value)
        return self

    def __exit__(self, *_: object) -> None:
        self._final_values = {
            key: variable._value for key, (variable, _) in self._outer_values.items()
        }
        for variable, value in self._outer_values.values():
            variable._value = value
        stateless_scopes.remove(self)

    def set_value(self, variable: Variable, value: Tensor) -> None:
        """Give a variable another value until the scope is closed."""
        self._outer_values.setdefault(id(variable), (variable, variable._value))
        # A recorder would take a constant tensor for the variable's own value.
        variable._value = clone(value) if state.captures else value

    def add_loss(self, loss: Tensor) -> None:
        """Add a loss of a layer."""
        self.losses.append(loss)

    def get_current_value(self, variable: Variable) -> Tensor | None:
        """Return a variable's value in the scope; None where it has no value of its own there."""
        if self._final_values is not None:
            return self._final_values.get(id(variable))
        return variable._value if id(variable) in self._outer_values else None


def _checked(pair: object) -> tuple[Variable, Tensor]:
    """Validate a pair of a variable and its value; return the value as a tensor."""
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], Variable)):
        raise ValueError(
            "StatelessScope: state_mapping must consist of pairs of a variable and its value, but "
            f"there is {pair!r}"
        )
    variable, value = pair
    initial_value = value if isinstance(value, Tensor) else tensor(value, dtype=variable.dtype)
    if initial_value.shape != variable.shape:
        raise ValueError(
            f"StatelessScope: variable {variable.name!r} has shape {variable.shape}, but "
            f"state_mapping has a value of shape {initial_value.shape}"
        )
    return variable, initial_value
