"""The signatures of ``call`` and ``build``: which arguments are inputs, masks or shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter, signature
from typing import Any, NamedTuple

from webtensor.keras.nest import flatten, map_structure
from webtensor.keras.types import Nested, Shape

__all__ = ["CallSignature", "call_signature", "shape_parameters"]


class CallSignature(NamedTuple):
    """The parameters of a ``call``."""

    #: The names of all but ``training``.
    names: tuple[str, ...]
    takes_training: bool
    default_training: bool | None
    #: The names of those that are masks.
    mask_names: frozenset[str]

    def named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return all arguments of a call by their names."""
        return {**dict(zip(self.names, args, strict=False)), **kwargs}

    def input_shapes(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> dict[str, Nested[Shape]]:
        """Return the shapes of inputs, by the names of arguments with ``_shape`` added."""
        shapes: dict[str, Nested[Shape]] = {}
        for name, value in self.named(args, kwargs).items():
            leaves = flatten(value)
            if name != "mask" and leaves and all(hasattr(leaf, "shape") for leaf in leaves):
                shapes[f"{name}_shape"] = map_structure(lambda leaf: tuple(leaf.shape), value)
        return shapes


@cache
def call_signature(call: Callable[..., Any]) -> CallSignature:
    """Return what a method ``call`` takes."""
    parameters = signature(call).parameters
    named = {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        and name != "self"
    }
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    training = named.get("training")
    default = None if training is None or training.default is Parameter.empty else training.default
    return CallSignature(
        tuple(name for name in named if name != "training"),
        training is not None or takes_any,
        default,
        frozenset(name for name in named if name == "mask" or name.endswith("_mask")),
    )


@cache
def shape_parameters(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """Return the names of the shapes that a method takes; None where it takes any number."""
    parameters = [
        parameter for name, parameter in signature(function).parameters.items() if name != "self"
    ]
    if any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return tuple(
        parameter.name for parameter in parameters if parameter.kind is not Parameter.VAR_KEYWORD
    )
