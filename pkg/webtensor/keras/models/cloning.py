"""Models made anew: from another model, with weights of their own, or from JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from webtensor.keras.budgets import parse_json, reading
from webtensor.keras.layers import Input, InputLayer
from webtensor.keras.models.functional import Functional, _layer_of
from webtensor.keras.models.sequential import Sequential
from webtensor.keras.nest import flatten, is_nested, map_structure, pack
from webtensor.keras.nodes import Operation
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.symbols import KerasTensor

__all__ = ["clone_model", "model_from_json"]


def clone_model(
    model: Any,
    input_tensors: Any = None,
    clone_function: Callable[[Any], Any] | None = None,
    call_function: Callable[..., Any] | None = None,
    recursive: bool = False,
) -> Any:
    """Return a model like another one, with layers and weights of its own.

    ``clone_function`` makes the layers, each of the layer that it stands for; ``call_function`` is
    called with each new layer of a functional model and the arguments of its calls.
    ``input_tensors`` are symbolic tensors that it begins with. With ``recursive``, both functions
    are used for the layers of models inside, too.

    Raises:
        ValueError: an argument is not for models of this kind.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        >>> keras.models.clone_model(model).count_params()
        10
    """
    kinds: tuple[type, ...] = (Sequential, Functional)
    if not isinstance(model, kinds):
        given = {"input_tensors": input_tensors, "clone_function": clone_function}
        _refuse({**given, "call_function": call_function}, model, "Sequential or functional")
        config = serialize_keras_object(model)
        return deserialize_keras_object(config, {type(model).__name__: type(model)})
    if isinstance(model, Sequential):
        _refuse({"call_function": call_function}, model, "functional")
    return _Cloning(clone_function, call_function, recursive).cloned(model, input_tensors)


def _refuse(arguments: Mapping[str, Any], model: Any, kind: str) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(
                f"clone_model: {name} is for {kind} models only, but model {model.name!r} is a "
                f"{type(model).__name__}"
            )


class _Cloning:
    """The clones made so far: what occurs several times is cloned once."""

    def __init__(
        self,
        clone_function: Callable[[Any], Any] | None,
        call_function: Callable[..., Any] | None,
        recursive: bool,
    ) -> None:
        self._make = clone_function or _like
        self._call_function = call_function or _called
        self._recursive = recursive
        # With the layers themselves, so that no other gets the place of one in memory.
        self._made: dict[int, tuple[Any, Any]] = {}

    def _clone(self, layer: Any) -> Any:
        if id(layer) not in self._made:
            is_model = isinstance(layer, (Sequential, Functional))
            made = self.cloned(layer) if self._recursive and is_model else self._make(layer)
            self._made[id(layer)] = (layer, made)
        return self._made[id(layer)][1]

    def cloned(self, model: Any, input_tensors: Any = None) -> Any:
        """Return a clone of a model."""
        make = self._sequential if isinstance(model, Sequential) else self._functional
        made = make(model, input_tensors)
        if model.compiled:
            made.compile_from_config(model.get_compile_config())
        return made

    def _sequential(self, model: Sequential, input_tensors: Any) -> Any:
        layers = [self._clone(layer) for layer in model.layers]
        first = model._layers[0] if model._layers else None
        if input_tensors is not None:
            given = flatten(input_tensors)
            if len(given) != 1 or not isinstance(given[0], KerasTensor):
                raise ValueError(
                    "clone_model: input_tensors must be one symbolic tensor, as the model is "
                    f"Sequential, but got {input_tensors!r}"
                )
            layers.insert(0, _input_like(given[0], getattr(first, "name", None)))
        elif isinstance(first, InputLayer):
            layers.insert(0, InputLayer.from_config(first.get_config()))
        return Sequential(layers, name=model.name, trainable=model.trainable)

    def _functional(self, model: Functional, input_tensors: Any) -> Any:
        if input_tensors is None:
            inputs = map_structure(lambda one: _input_like(one, _layer_of(one).name), model.input)
        else:
            inputs = input_tensors
            given = flatten(inputs)
            if len(given) != len(model.inputs) or not all(
                isinstance(one, KerasTensor) for one in given
            ):
                raise ValueError(
                    f"clone_model: input_tensors must be {len(model.inputs)} symbolic tensors, "
                    f"but got {input_tensors!r}"
                )
            form, wanted = (map_structure(lambda _: "…", one) for one in (inputs, model.input))
            if is_nested(inputs) and is_nested(model.input) and form != wanted:
                raise ValueError(
                    f"clone_model: input_tensors must have the form {wanted} of the model's "
                    f"inputs, but have {form}"
                )

        def call(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return self._call_function(self._clone(operation), *args, **kwargs)

        outputs = pack(model.output, model._graph.run(flatten(inputs), call))
        is_own = type(model).__init__ is not Functional.__init__
        made = Functional if is_own else type(model)
        return made(inputs, outputs, name=model.name)


def _like(layer: Any) -> Any:
    return type(layer).from_config(layer.get_config())


def _called(layer: Any, *args: Any, **kwargs: Any) -> Any:
    return layer(*args, **kwargs)


def _input_like(one: KerasTensor, name: str | None) -> Any:
    return Input(batch_shape=one.shape, dtype=one.dtype, name=name)


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the model, without weights, that ``to_json`` has written.

    Raises:
        ModelFormatError: it is no JSON, or has a part that is unknown.
        ValueError: it describes no model.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        >>> keras.models.model_from_json(model.to_json()).output_shape
        (None, 2)
    """
    from webtensor.keras.models.model import Model

    config = parse_json(json_string, "model_from_json: this is no JSON")
    with reading("model_from_json"):
        made = deserialize_keras_object(config, custom_objects)
    if not isinstance(made, Model):
        raise ValueError(f"model_from_json: the configuration describes no model, but {made!r}")
    return made
