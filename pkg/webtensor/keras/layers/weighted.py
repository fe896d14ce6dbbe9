"""Layers that are configured with an initializer, a regularizer and a constraint per weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.keras import constraints, initializers, regularizers
from webtensor.keras.layers.layer import Layer
from webtensor.keras.types import InitializerLike

__all__ = ["Weighted"]

_HOMES: dict[str, Any] = {
    "initializer": initializers,
    "regularizer": regularizers,
    "constraint": constraints,
}


class Weighted(Layer):
    """A layer whose weights are ``kernel``, ``bias`` and the like, with three arguments each."""

    _weight_names: tuple[str, ...] = ()

    def _take_weights(self, **arguments: tuple[Any, Any, Any]) -> None:
        """Keep each weight's initializer, regularizer and constraint as attributes."""
        for weight, given in arguments.items():
            for (kind, home), value in zip(_HOMES.items(), given, strict=True):
                setattr(self, f"{weight}_{kind}", home.get(value))
        self._weight_names = tuple(arguments)

    def _make_weight(
        self,
        weight: str,
        shape: Sequence[int],
        name: str | None = None,
        initializer: InitializerLike = None,
    ) -> Any:
        """Make a weight as its arguments say."""
        return self.add_weight(
            name=name or weight,
            shape=shape,
            initializer=initializer or getattr(self, f"{weight}_initializer"),
            regularizer=getattr(self, f"{weight}_regularizer"),
            constraint=getattr(self, f"{weight}_constraint"),
        )
