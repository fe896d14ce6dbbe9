"""The signatures of ``call`` and ``build``: which arguments are inputs, masks or shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter, ismethod, signature
from typing import Any, NamedTuple

from webtensor.keras.types import Nested, Shape
from webtensor.nest import flatten, map_structure

__all__ = ["CallSignature", "call_signature", "shape_parameters", "signature_of_call"]

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


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


def call_signature(layer: Any) -> CallSignature:
    """Return what the method ``call`` of a layer takes."""
    call = type(layer).call
    return signature_of_call(call, layer.call is call)


@cache
def signature_of_call(call: Callable[..., Any], is_static: bool) -> CallSignature:
    """Return what a method ``call`` of a class takes."""
    parameters = _parameters(call, is_static)
    named = {
        parameter.name: parameter
        for parameter in parameters
        if parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    }
    training = named.get("training")
    default = None if training is None or training.default is Parameter.empty else training.default
    return CallSignature(
        tuple(name for name in named if name != "training"),
        training is not None,
        default,
        frozenset(name for name in named if name == "mask" or name.endswith("_mask")),
    )


@cache
def shape_parameters(function: Callable[..., Any], is_static: bool) -> tuple[str, ...] | None:
    """Return the names of the shapes that a method takes; None where it takes any number."""
    parameters = _parameters(function, is_static)
    if any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return tuple(
        parameter.name for parameter in parameters if parameter.kind is not Parameter.VAR_KEYWORD
    )


def _parameters(function: Callable[..., Any], is_static: bool) -> list[Parameter]:
    """Return the parameters of a function of a class, without the instance.

    Static methods take no instance, and the signatures of class methods leave the class out.
    """
    parameters = list(signature(function).parameters.values())
    takes_instance = not is_static and not ismethod(function)
    if takes_instance and parameters and parameters[0].kind in _POSITIONAL:
        del parameters[0]
    return parameters
