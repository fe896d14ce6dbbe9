"""The variables that an optimizer makes, with their names, and how they are saved."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any

from webtensor.dtypes import DType
from webtensor.engine import Variable
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.arguments import Configurable
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.names import auto_name
from webtensor.keras.optimizers.arguments import is_number
from webtensor.keras.optimizers.slots import HostNumber, Slot
from webtensor.keras.types import DTypeLike, InitializerLike
from webtensor.ops import full, zeros

__all__ = ["Memory"]


class Memory(Configurable):
    """What an optimizer remembers, in the order in which it is saved."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.built = False
        self._variables: list[Variable] = []

    @property
    def variables(self) -> list[Variable]:
        """What the optimizer remembers, to save and restore: numbers first, then tensors."""
        return list(self._variables)

    def add_variable(
        self,
        shape: Sequence[int],
        initializer: InitializerLike = "zeros",
        dtype: DTypeLike = None,
        aggregation: str = "none",
        layout: Any = None,
        name: str | None = None,
    ) -> Slot:
        """Remember one more tensor; ``aggregation`` and ``layout`` are for many devices."""
        name = name or auto_name("variable")
        kind = held_dtype(dtype)
        with outside_scopes():
            if isinstance(initializer, str) and initializer == "zeros":
                value = zeros(shape, kind)
            elif is_number(initializer):
                value = full(shape, initializer, kind)
            else:
                from webtensor.keras import initializers

                value = initializers.get(initializer)(tuple(shape), dtype=kind)
            slot = Slot(value, name, f"{self.name}/{name}")
        self._variables.append(slot)
        return slot

    def add_variable_from_reference(
        self,
        reference_variable: Variable,
        name: str | None = None,
        initializer: InitializerLike = "zeros",
    ) -> Slot:
        """Remember one more tensor of the shape of a variable, named after it."""
        path = getattr(reference_variable, "path", reference_variable.name)
        path = path.replace("/", "_").replace(":", "_")
        return self.add_variable(
            reference_variable.shape,
            initializer,
            reference_variable.dtype,
            name=f"{path}_{name or 'var'}",
        )

    def add_optimizer_variables(
        self,
        trainable_variables: Iterable[Variable],
        name: Any,
        initializer: InitializerLike = "zeros",
    ) -> Any:
        """Remember a tensor for each variable; for several names, a tuple of lists of them.

        ``initializer`` is one for all names, or one for each.
        """
        names = [name] if isinstance(name, str) else list(name)
        listed = isinstance(initializer, (list, tuple))
        initializers = list(initializer) if listed else [initializer] * len(names)
        if len(initializers) != len(names):
            raise ValueError(
                "add_optimizer_variables: initializer must be one for each name, but got "
                f"{initializer!r} for {name!r}"
            )
        rows = [
            [
                self.add_variable_from_reference(variable, *pair)
                for pair in zip(names, initializers, strict=True)
            ]
            for variable in trainable_variables
        ]
        columns = tuple([row[place] for row in rows] for place in range(len(names)))
        return columns[0] if isinstance(name, str) else columns

    def _add_number(self, name: str, value: float, dtype: DType) -> HostNumber:
        """Remember one more number."""
        number = HostNumber(value, dtype, name, f"{self.name}/{name}")
        self._variables.append(number)
        return number

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Give all that is remembered other values, in the order of ``variables``."""
        if not self.built:
            raise ValueError(
                "set_weights: the optimizer is not built; call build(trainable_variables) first"
            )
        for variable, weight in zip(self.variables, weights, strict=True):
            variable.assign(weight)

    def save_own_variables(self, store: MutableMapping[str, Any]) -> None:
        """Put all that is remembered into a mapping, by its number in ``variables``."""
        for number, variable in enumerate(self.variables):
            store[str(number)] = variable.value

    def load_own_variables(self, store: MutableMapping[str, Any]) -> None:
        """Take back what ``save_own_variables`` put into a mapping."""
        variables = self.variables
        if len(store.keys()) != len(variables):
            warnings.warn(
                f"load_own_variables: skipping optimizer {self.name!r}, which has "
                f"{len(variables)} variables, whereas {len(store.keys())} were saved"
                f"{'' if self.built else '; it is not built yet'}",
                stacklevel=2,
            )
            return
        for number, variable in enumerate(variables):
            variable.assign(store[str(number)])
