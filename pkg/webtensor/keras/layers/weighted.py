"""Layers that take an initializer, a regularizer and a constraint for each weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from webtensor.keras import initializers
from webtensor.keras.arguments import object_of
from webtensor.keras.layers.layer import Layer
from webtensor.keras.types import ConstraintLike, InitializerLike, RegularizerLike
from webtensor.keras.variables import Variable

__all__ = ["Weighted"]

_WeightArguments: TypeAlias = tuple[InitializerLike, RegularizerLike, ConstraintLike]


class Weighted(Layer):
    """A layer with three arguments for each weight, such as ``kernel_initializer``."""

    def _take_weights(self, **arguments: _WeightArguments) -> None:
        """Keep the three arguments of each weight as attributes."""
        for weight, (initializer, regularizer, constraint) in arguments.items():
            setattr(self, f"{weight}_initializer", initializers.get(initializer))
            setattr(self, f"{weight}_regularizer", object_of("regularizer", regularizer))
            setattr(self, f"{weight}_constraint", object_of("constraint", constraint))

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
