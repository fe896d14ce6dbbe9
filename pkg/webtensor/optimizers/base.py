"""What all optimizers share: computing gradients, and state per variable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from webtensor.autodiff import variable_gradients
from webtensor.engine import Tensor, Variable
from webtensor.engine.scopes import outside_scopes
from webtensor.ops import zeros_like

__all__ = ["Optimizer"]


class Optimizer(ABC):
    """Changes variables so that a loss falls."""

    #: How many tensors of the variable's shape the optimizer remembers for each variable.
    slots = 0

    def __init__(self, learning_rate: float) -> None:
        self.learning_rate = self._not_negative("learning_rate", learning_rate)
        self.iterations = 0
        self._state: dict[int, tuple[Variable, list[Variable]]] = {}

    def _not_negative(self, argument: str, value: float) -> float:
        """Return a number among the optimizer's arguments."""
        if not isinstance(value, (int, float)) or not value >= 0:
            name = type(self).__name__
            raise ValueError(f"{name}: {argument} must be a non-negative number, but got {value!r}")
        return float(value)

    @property
    def variables(self) -> list[Variable]:
        """What the optimizer remembers of variables that it has changed, to save and restore."""
        return [slot for _, slots in self._state.values() for slot in slots]

    def minimize(
        self, function: Callable[[], Tensor], variables: Iterable[Variable] | None = None
    ) -> Tensor:
        """Take one step that lowers the scalar that ``function`` returns; returns that scalar.

        ``variables`` are those to change: by default every trainable one that ``function`` reads.

        Raises:
            ValueError: the result is not a float scalar, or depends on no trainable variable.
        """
        loss, gradients = variable_gradients("minimize", function, variables)
        self.apply_gradients((gradient, variable) for variable, gradient in gradients)
        return loss

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Tensor, Variable]]) -> None:
        """Take one step along gradients that were computed already.

        Raises:
            ValueError: a gradient's shape differs from its variable's.
        """
        self.iterations += 1
        for gradient, variable in grads_and_vars:
            if gradient.shape != variable.shape:
                raise ValueError(
                    f"apply_gradients: variable {variable.name!r} has shape {variable.shape}, but "
                    f"its gradient has shape {gradient.shape}"
                )
            self.update(variable, gradient, self._slots_of(variable))

    @abstractmethod
    def update(self, variable: Variable, gradient: Tensor, slots: list[Variable]) -> None:
        """Change one variable and its slots."""

    def initial_slot(self, value: Tensor) -> Tensor:
        """Return what a slot of a variable that holds ``value`` starts with."""
        return zeros_like(value)

    def _slots_of(self, variable: Variable) -> list[Variable]:
        held = self._state.get(id(variable))
        if held is None:
            with outside_scopes():
                made = [
                    Variable(self.initial_slot(variable.value), trainable=False)
                    for _ in range(self.slots)
                ]
            held = self._state[id(variable)] = variable, made
        return held[1]
