"""Layers that take an initializer, a regularizer and a constraint for each weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from webtensor.keras import activations, initializers
from webtensor.keras.arguments import accepted_arguments, object_of
from webtensor.keras.layers.layer import Layer
from webtensor.keras.types import InitializerLike
from webtensor.keras.variables import Variable

__all__ = ["Weighted", "own_arguments"]

#: Functions from an argument's value to an object, by the last word of the argument's name.
_READERS: dict[str, Callable[[Any], Any]] = {
    "activation": activations.get,
    "constraint": partial(object_of, "constraint"),
    "initializer": initializers.get,
    "regularizer": partial(object_of, "regularizer"),
}


def own_arguments(cls: type) -> tuple[str, ...]:
    """Return the names of the arguments that a class of layers has besides those of all layers."""
    of_layers = accepted_arguments(Layer)
    names = accepted_arguments(cls, library_only=True)
    return tuple(name for name in names if name not in of_layers)


class Weighted(Layer):
    """A layer with three arguments for each weight, such as ``kernel_initializer``.

    A subclass declares its arguments in its signature, decorated with ``forwards_arguments``. Each
    becomes an attribute here.
    """

    def __init__(self, **arguments: Any) -> None:
        own = [name for name in own_arguments(type(self)) if name in arguments]
        values = {name: arguments.pop(name) for name in own}
        super().__init__(**arguments)
        for name, value in values.items():
            read = _READERS.get(name.rpartition("_")[2])
            attribute = self._attribute_names.get(name, name)
            setattr(self, attribute, value if read is None else read(value))

    def _make_weight(
        self,
        weight: str,
        shape: Sequence[int | None],
        name: str | None = None,
        initializer: InitializerLike = None,
    ) -> Variable:
        """Make a weight with its arguments, or with another initializer."""
        return self.add_weight(
            name=name or weight,
            shape=shape,
            initializer=initializer or getattr(self, f"{weight}_initializer"),
            regularizer=getattr(self, f"{weight}_regularizer"),
            constraint=getattr(self, f"{weight}_constraint"),
        )
