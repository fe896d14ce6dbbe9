"""The variables of an optimizer: how they are made, named, saved and loaded."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, MutableMapping, Sequence

from webtensor import keras
from webtensor.dtypes import DType
from webtensor.engine import Tensor, TensorLike, Variable
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.arguments import Configurable, is_number
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.names import auto_name
from webtensor.keras.optimizers.slots import HostNumber, Slot
from webtensor.keras.types import DTypeLike, InitializerLike
from webtensor.ops import full, zeros

__all__ = ["OptimizerVariables"]


class OptimizerVariables(Configurable):
    """An object with ``variables``, in the order in which they are saved."""

    #: Whether a step reads the gradients, so that it cannot be captured.
    _reads_gradients = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.built = False
        self._variables: list[Variable] = []
        #: Within ``LossScaleOptimizer``, Keras does not save what ``_add_auxiliary`` adds.
        self._saves_auxiliaries = True

    @property
    def variables(self) -> list[Variable]:
        """The variables to save and load: first numbers, then slots."""
        return list(self._variables)

    def add_variable(
        self,
        shape: Sequence[int],
        initializer: InitializerLike | float = "zeros",
        dtype: DTypeLike = None,
        aggregation: str = "none",
        layout: object = None,
        name: str | None = None,
    ) -> Slot:
        """Add a variable. ``aggregation`` and ``layout`` are Keras's arguments without effect."""
        name = name or auto_name("variable")
        stored_dtype = storage_dtype(dtype)
        with outside_scopes():
            if isinstance(initializer, str) and initializer == "zeros":
                value = zeros(shape, stored_dtype)
            elif is_number(initializer):
                value = full(shape, initializer, stored_dtype)
            else:
                value = keras.initializers.get(initializer)(tuple(shape), dtype=stored_dtype)
            slot = Slot(value, name, f"{self.name}/{name}")
        self._variables.append(slot)
        return slot

    def add_variable_from_reference(
        self,
        reference_variable: Variable,
        name: str | None = None,
        initializer: InitializerLike | float = "zeros",
    ) -> Slot:
        """Add a variable of the shape and dtype of another, named after it."""
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
        name: str | Sequence[str],
        initializer: InitializerLike | Sequence[InitializerLike] = "zeros",
    ) -> list[Slot] | tuple[list[Slot], ...]:
        """Add a variable for each of several variables, and return them as a list.

        For a sequence of names, the result is a tuple of such lists. ``initializer`` is common to
        all names, or a sequence with an initializer for each.

        Raises:
            ValueError: the number of initializers is not that of names.
        """
        names = [name] if isinstance(name, str) else list(name)
        initializers: list[InitializerLike]
        if isinstance(initializer, Sequence) and not isinstance(initializer, str):
            initializers = list(initializer)
        else:
            initializers = [initializer] * len(names)
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
        columns = tuple([row[index] for row in rows] for index in range(len(names)))
        return columns[0] if isinstance(name, str) else columns

    def _add_number(self, name: str, value: float, dtype: DType) -> HostNumber:
        """Add a scalar variable whose value is a Python number."""
        number = HostNumber(value, dtype, name, f"{self.name}/{name}")
        self._variables.append(number)
        return number

    def _add_auxiliary(self, number: HostNumber) -> None:
        """Add a scalar that Keras makes without ``add_variable``."""
        if self._saves_auxiliaries:
            self._variables.append(number)

    def set_weights(self, weights: Sequence[TensorLike]) -> None:
        """Assign values to ``variables``, in their order."""
        if not self.built:
            raise ValueError(
                "set_weights: the optimizer is not built; call build(trainable_variables) first"
            )
        for variable, weight in zip(self.variables, weights, strict=True):
            variable.assign(weight)

    def save_own_variables(self, store: MutableMapping[str, Tensor]) -> None:
        """Put the values of ``variables`` into a mapping, by their indices as strings."""
        for index, variable in enumerate(self.variables):
            store[str(index)] = variable.value

    def load_own_variables(self, store: MutableMapping[str, Tensor]) -> None:
        """Assign the values that ``save_own_variables`` put into a mapping."""
        variables = self.variables
        if len(store.keys()) != len(variables):
            warnings.warn(
                f"load_own_variables: skipping optimizer {self.name!r}, which has "
                f"{len(variables)} variables, whereas {len(store.keys())} were saved"
                f"{'' if self.built else '; it is not built yet'}",
                stacklevel=2,
            )
            return
        for index, variable in enumerate(variables):
            variable.assign(store[str(index)])
