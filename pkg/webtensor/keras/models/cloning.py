"""Clones of models, with their own weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from webtensor.keras.layers import Input, InputLayer
from webtensor.keras.models.functional import Functional, operation_of
from webtensor.keras.models.model import Model
from webtensor.keras.models.sequential import Sequential
from webtensor.keras.nodes import Operation
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Tensors
from webtensor.nest import flatten, is_nested, map_structure, pack

__all__ = ["clone_model"]


def clone_model(
    model: Model,
    input_tensors: Tensors = None,
    clone_function: Callable[[Any], Any] | None = None,
    call_function: Callable[..., Any] | None = None,
    recursive: bool = False,
) -> Any:
    """Return a clone of a model, with its own layers and weights.

    Args:
        model: the model to clone.
        input_tensors: symbolic tensors, the inputs of the clone; None makes new ones.
        clone_function: a function of a layer that returns its clone; None copies configurations.
        call_function: a function of a new layer and the arguments of its call that returns the
            outputs; None calls the layer. Only for functional models.
        recursive: a boolean, whether both functions apply to the layers of nested models, too.

    Raises:
        ValueError: models of this kind do not support an argument.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        >>> keras.models.clone_model(model).count_params()
        10
    """
    if not isinstance(model, (Sequential, Functional)):
        arguments = {
            "input_tensors": input_tensors,
            "clone_function": clone_function,
            "call_function": call_function,
        }
        _refuse(arguments, model, "Sequential or functional")
        config = serialize_keras_object(model)
        return deserialize_keras_object(config, {type(model).__name__: type(model)})
    if isinstance(model, Sequential):
        _refuse({"call_function": call_function}, model, "functional")
    return _Cloner(clone_function, call_function, recursive).clone(model, input_tensors)


def _refuse(arguments: Mapping[str, object], model: Model, kind: str) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(
                f"clone_model: {name} is for {kind} models only, but model {model.name!r} is a "
                f"{type(model).__name__}"
            )


class _Cloner:
    """Clones layers; a layer that occurs several times is cloned once."""

    def __init__(
        self,
        clone_function: Callable[[Any], Any] | None,
        call_function: Callable[..., Any] | None,
        recursive: bool,
    ) -> None:
        self._clone_function = clone_function or _copy
        self._call_function = call_function or _call
        self._recursive = recursive
        #: By ``id``: the layer and its clone. The layer is stored so that its id stays unique.
        self._clones: dict[int, tuple[Operation, Any]] = {}

    def _clone_layer(self, layer: Operation) -> Any:
        if id(layer) not in self._clones:
            if self._recursive and isinstance(layer, (Sequential, Functional)):
                clone: object = self.clone(layer)
            else:
                clone = self._clone_function(layer)
            self._clones[id(layer)] = (layer, clone)
        return self._clones[id(layer)][1]

    def clone(self, model: Sequential | Functional, input_tensors: Tensors = None) -> Model:
        """Return a clone of a model."""
        if isinstance(model, Sequential):
            clone: Model = self._clone_sequential(model, input_tensors)
        else:
            clone = self._clone_functional(model, input_tensors)
        if model.compiled:
            clone.compile_from_config(model.get_compile_config())
        return clone

    def _clone_sequential(self, model: Sequential, input_tensors: Tensors) -> Sequential:
        layers = [self._clone_layer(layer) for layer in model.layers]
        first = model._layers[0] if model._layers else None
        if input_tensors is not None:
            symbols = flatten(input_tensors)
            if len(symbols) != 1 or not isinstance(symbols[0], KerasTensor):
                raise ValueError(
                    "clone_model: input_tensors must be one symbolic tensor, as the model is "
                    f"Sequential, but got {input_tensors!r}"
                )
            layers.insert(0, _input_like(symbols[0], getattr(first, "name", None)))
        elif isinstance(first, InputLayer):
            layers.insert(0, InputLayer.from_config(first.get_config()))
        return Sequential(layers, name=model.name, trainable=model.trainable)

    def _clone_functional(self, model: Functional, input_tensors: Tensors) -> Functional:
        if input_tensors is None:
            inputs = map_structure(
                lambda symbol: _input_like(symbol, operation_of(symbol).name), model.input
            )
        else:
            inputs = input_tensors
            symbols = flatten(inputs)
            if len(symbols) != len(model.inputs) or not all(
                isinstance(symbol, KerasTensor) for symbol in symbols
            ):
                raise ValueError(
                    f"clone_model: input_tensors must be {len(model.inputs)} symbolic tensors, "
                    f"but got {input_tensors!r}"
                )
            received, expected = (
                map_structure(lambda _: "…", structure) for structure in (inputs, model.input)
            )
            if is_nested(inputs) and is_nested(model.input) and received != expected:
                raise ValueError(
                    f"clone_model: input_tensors must have the structure {expected} of the "
                    f"model's inputs, but have {received}"
                )

        def call(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return self._call_function(self._clone_layer(operation), *args, **kwargs)

        outputs = pack(model.output, model._graph.run(flatten(inputs), call))
        has_own_init = type(model).__init__ is not Functional.__init__
        cls = Functional if has_own_init else type(model)
        return cls(inputs, outputs, name=model.name)


def _copy(layer: Operation) -> Any:
    return type(layer).from_config(layer.get_config())


def _call(layer: Operation, *args: Any, **kwargs: Any) -> Any:
    return layer(*args, **kwargs)


def _input_like(symbol: KerasTensor, name: str | None) -> Any:
    return Input(batch_shape=symbol.shape, dtype=symbol.dtype, name=name)
