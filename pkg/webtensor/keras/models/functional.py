"""Functional models: the layers between symbolic inputs and outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from warnings import warn

from webtensor.engine import Tensor
from webtensor.keras.layers import Input, InputLayer, Layer
from webtensor.keras.masks import is_carried_mask, leaves_carried_masks_out
from webtensor.keras.models.function import Caller, Graph, specified, symbols_in
from webtensor.keras.models.model import Model
from webtensor.keras.nest import flatten, is_nested, map_structure, pack
from webtensor.keras.nodes import Operation
from webtensor.keras.registry import custom_object_scope, serialize_keras_object
from webtensor.keras.symbols import KerasTensor, map_shapes
from webtensor.keras.types import Config
from webtensor.ops import expand_dims, squeeze

__all__ = ["Functional"]


class Functional(Model):
    """A model of symbolic inputs and outputs; ``Model(inputs, outputs)`` makes one.

    Example:
        >>> from webtensor import keras
        >>> x = keras.Input((4,))
        >>> keras.Model(x, keras.layers.Dense(2)(x)).output_shape
        (None, 2)
    """

    _graph: Graph
    #: Whether the layers, not the model, say which lengths inputs may have.
    lengths_may_vary = False
    _converts_inputs = False

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        trainable = kwargs.pop("trainable", None)
        Layer.__init__(self, name=name, **kwargs)
        inputs, outputs = _begun(inputs, outputs)
        self._inputs_struct, self._outputs_struct = inputs, outputs
        graph = Graph(symbols_in("inputs", inputs), symbols_in("outputs", outputs))
        names = Counter(one.name for one in graph.operations)
        for name, count in names.items():
            if count > 1:
                raise ValueError(
                    f"model {self.name!r}: each layer needs a name of its own, but {count} are "
                    f"named {name!r}"
                )
        object.__setattr__(self, "_graph", graph)
        if trainable is not None:
            self._trainable = bool(trainable)  # the layers keep their own
        self._layers = [one for one in graph.operations if isinstance(one, Layer)]
        self.built = True

    # -- what it is made of -------------------------------------------------------------------

    @property
    def operations(self) -> list[Operation]:
        """Layers and functions, in the order of their names in ``summary``."""
        return list(self._graph.operations)

    @property
    def layers(self) -> list[Layer]:
        """The layers, in order."""
        return [one for one in self._graph.operations if isinstance(one, Layer)]

    @property
    def inputs(self) -> list[KerasTensor]:
        """The symbolic inputs."""
        return self._graph.inputs

    @property
    def outputs(self) -> list[KerasTensor]:
        """The symbolic outputs."""
        return self._graph.outputs

    @property
    def input(self) -> Any:
        """The symbolic inputs, as the model was given them."""
        return self._inputs_struct

    @property
    def output(self) -> Any:
        """The symbolic outputs, as the model was given them."""
        return self._outputs_struct

    @property
    def input_shape(self) -> Any:
        """The shapes of the inputs."""
        return _shapes(self.inputs)

    @property
    def output_shape(self) -> Any:
        """The shapes of the outputs."""
        return _shapes(self.outputs)

    @property
    def input_names(self) -> list[str]:
        """Names of the input layers."""
        return [_layer_of(one).name for one in self.inputs]

    @property
    def output_names(self) -> list[str]:
        """Names of the layers whose outputs are the model's."""
        return [_layer_of(one).name for one in self.outputs]

    # -- computing ----------------------------------------------------------------------------

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        """Run the layers."""
        values = self._standardized(inputs)
        if mask is not None:
            for value, one in zip(values, self._in_order(mask), strict=True):
                if one is not None:
                    value._keras_mask = one
        return pack(self._outputs_struct, self._graph.run(values, _in_mode(training)))

    def _inferred(self, x: Any) -> Any:
        if type(self).call is not Functional.call:
            return super()._inferred(x)
        prepared = self.__dict__.get("_inference")
        if prepared is None or not prepared.is_current:
            from webtensor.keras.models.inference import Inference

            if not Inference.suits(self._graph):
                return super()._inferred(x)
            prepared = self.__dict__["_inference"] = Inference(self._graph)
        return pack(self._outputs_struct, prepared.run(self._standardized(x)))

    def compute_output_spec(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Return symbolic tensors like the outputs for other symbolic inputs."""
        shapes = [one.shape for one in flatten(inputs)]
        if all(one.shape == shape for one, shape in zip(self.inputs, shapes, strict=False)):
            return map_structure(
                lambda one: KerasTensor(one.shape, one.dtype), self._outputs_struct
            )
        values = self._standardized(inputs)
        found = self._graph.run(values, specified)
        return pack(self._outputs_struct, found)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the outputs' shapes for other shapes of the inputs."""
        symbols = map_shapes(KerasTensor, input_shape)
        return map_structure(lambda one: one.shape, self.compute_output_spec(symbols))

    def _in_order(self, inputs: Any) -> list[Any]:
        """What was given for each input, or each mask, in the order of the model's inputs."""
        struct = self._inputs_struct
        if isinstance(inputs, dict) and not isinstance(struct, dict):
            names = self.input_names
            missing = [name for name in names if name not in inputs]
            if missing:
                raise ValueError(
                    f"model {self.name!r} needs inputs {names}, but got {sorted(inputs)}"
                )
            return [inputs[name] for name in names]
        if isinstance(struct, dict) and isinstance(inputs, dict):
            missing = [name for name in struct if name not in inputs]
            if missing:
                raise ValueError(
                    f"model {self.name!r} needs inputs {sorted(struct)}, but got {sorted(inputs)}"
                )
            return flatten({name: inputs[name] for name in struct})
        return flatten(inputs)

    def _standardized(self, inputs: Any) -> list[Any]:
        """The inputs, in order, each with the number of axes that the model was made with."""
        given, struct = self._in_order(inputs), self._inputs_struct
        if len(given) != len(self.inputs):
            raise ValueError(
                f"model {self.name!r} has {len(self.inputs)} inputs, but got {len(given)}"
            )
        if is_nested(inputs) or is_nested(struct):
            self._compare(inputs)
        return [
            _adjusted(value, one, self.name, self.lengths_may_vary)
            for value, one in zip(given, self.inputs, strict=True)
        ]

    def _compare(self, inputs: Any) -> None:
        """Warn of inputs in another structure than the model's, and refuse what is ambiguous."""
        struct = self._inputs_struct
        if _is_like(inputs, struct) or (isinstance(inputs, dict) and isinstance(struct, list)):
            return
        if isinstance(struct, dict) and not isinstance(inputs, dict):
            names = list(struct)
            if len(flatten(inputs)) == len(names) != 1 and names != sorted(names):
                raise ValueError(
                    f"model {self.name!r} needs a dictionary of inputs {names}, but got "
                    f"{type(inputs).__name__}"
                )
        wanted, found = (
            map_structure(lambda _: "…", one) if is_nested(one) else "one tensor"
            for one in (struct, inputs)
        )
        warn(
            f"model {self.name!r} was made with inputs like {wanted}, but got some like {found}",
            stacklevel=2,
        )

    # -- configurations -----------------------------------------------------------------------

    def get_config(self) -> Config:
        """Return the layers, and how they are connected."""
        kept = {id(node): node.kwargs for node in self._graph.nodes}
        if leaves_carried_masks_out():
            kept = _without_carried_masks(self._graph)
        operations = [
            one
            for one in self._graph.operations
            if any(id(node) in kept for node in one._inbound_nodes)
        ]
        numbers = {
            id(node): number
            for operation in operations
            for number, node in enumerate(
                one for one in operation._inbound_nodes if id(one) in kept
            )
        }

        def place(one: KerasTensor) -> list[Any]:
            history = one._keras_history
            assert history is not None
            node = history.operation._inbound_nodes[history.node_index]
            return [history.operation.name, numbers[id(node)], history.tensor_index]

        def end(one: KerasTensor) -> list[Any]:
            name, number, index = place(one)
            return [name, number + isinstance(_layer_of(one), Functional), index]

        def written(value: Any) -> Any:
            if isinstance(value, KerasTensor):
                return {
                    "class_name": "__keras_tensor__",
                    "config": {
                        "shape": list(value.shape),
                        "dtype": str(value.dtype),
                        "keras_history": place(value),
                    },
                }
            if isinstance(value, (list, tuple)):
                return [written(one) for one in value]
            if isinstance(value, dict):
                return {key: written(one) for key, one in value.items()}
            return serialize_keras_object(value)

        layers = []
        for operation in operations:
            config = serialize_keras_object(operation)
            config["name"] = operation.name
            config["inbound_nodes"] = [
                {"args": written(node.args), "kwargs": written(kept[id(node)])}
                for node in operation._inbound_nodes
                if id(node) in kept and not isinstance(operation, InputLayer)
            ]
            layers.append(config)
        return {
            "name": self.name,
            "trainable": self.trainable,
            "layers": layers,
            "input_layers": map_structure_of_lists(end, self._inputs_struct),
            "output_layers": map_structure_of_lists(end, self._outputs_struct),
        }

    @classmethod
    def from_config(cls, config: Config, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """Make a model of what ``get_config`` returned."""
        with custom_object_scope(custom_objects):
            return functional_of(cls, config)

    def get_build_config(self) -> Config | None:
        """Return no shape: it is built by its layers."""
        return {"input_shape": None}


def _without_carried_masks(graph: Graph) -> dict[int, dict[str, Any]]:
    """The named arguments of calls, by identity, without masks that inputs carry.

    Calls that compute nothing but such masks are left out.
    """
    named = {
        id(node): {
            name: value for name, value in node.kwargs.items() if not is_carried_mask(node, name)
        }
        for node in graph.nodes
    }
    needed = {id(one) for one in (*graph.inputs, *graph.outputs)}
    kept = {}
    for node in reversed(graph.nodes):
        if any(id(one) in needed for one in node.outputs):
            kept[id(node)] = named[id(node)]
            needed |= {id(one) for one in (*flatten(node.args), *flatten(named[id(node)]))}
    return kept


_GRAPH = ("layers", "input_layers", "output_layers")


def functional_of(kind: Any, config: Config) -> Any:
    """Return a model of a class of functional models, of what ``get_config`` returned."""
    from webtensor.keras.models.subgraphs import connected

    inputs, outputs = connected(config)
    rest = {key: one for key, one in config.items() if key not in _GRAPH}
    return kind(inputs, outputs, **rest)


def map_structure_of_lists(function: Any, structure: Any) -> Any:
    """``map_structure`` with results that are lists."""
    if is_nested(structure):
        return pack(structure, [function(one) for one in flatten(structure)])
    return function(structure)


def _in_mode(training: bool | None) -> Caller:
    """Call layers for training or not, whatever they were called for when they were connected."""

    def call(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if training is not None and getattr(operation, "_call_has_training_arg", False):
            kwargs["training"] = training
        return operation(*args, **kwargs)

    return call


def _is_like(inputs: Any, struct: Any) -> bool:
    """Whether inputs are structured like the model's; a list may be a tuple."""
    if isinstance(struct, dict):
        return (
            isinstance(inputs, dict)
            and inputs.keys() == struct.keys()
            and all(_is_like(inputs[key], struct[key]) for key in struct)
        )
    if not is_nested(struct) or not is_nested(inputs):
        return is_nested(struct) == is_nested(inputs)
    return (
        not isinstance(inputs, dict)
        and len(inputs) == len(struct)
        and all(_is_like(one, other) for one, other in zip(inputs, struct, strict=True))
    )


def _shapes(symbols: list[KerasTensor]) -> Any:
    found = [one.shape for one in symbols]
    return found[0] if len(found) == 1 else found


def _layer_of(one: KerasTensor) -> Operation:
    assert one._keras_history is not None
    return one._keras_history.operation


def _adjusted(value: Any, symbol: KerasTensor, model: str, lengths_may_vary: bool) -> Any:
    """A value with a last axis of length 1 more or less, where that fits."""
    if value is None:
        if getattr(_layer_of(symbol), "optional", False):
            return None
        raise ValueError(
            f"model {model!r}: input {_layer_of(symbol).name!r} is not optional, but got None"
        )
    wanted, found = symbol.shape, value.shape
    if len(found) != len(wanted) and isinstance(value, Tensor):
        if len(found) == len(wanted) + 1 and found[-1] == 1:
            value = squeeze(value, -1)
        elif len(found) == len(wanted) - 1 and wanted[-1] == 1:
            value = expand_dims(value, -1)
    # A batch may have any size, also where the Input was given one.
    fits = len(value.shape) == len(wanted) and all(
        lengths_may_vary or p is None or q is None or p == q
        for p, q in zip(wanted[1:], value.shape[1:], strict=True)
    )
    if not fits:
        raise ValueError(
            f"model {model!r}: input {_layer_of(symbol).name!r} has shape {wanted}, but got {found}"
        )
    return value


def _begun(inputs: Any, outputs: Any) -> tuple[Any, Any]:
    """Inputs that no other layer computes: for others, the graph from there is made anew."""
    given = flatten(inputs)
    if all(
        not isinstance(one, KerasTensor)
        or (one._keras_history is not None and isinstance(_layer_of(one), InputLayer))
        for one in given
    ):
        return inputs, outputs
    graph = Graph(symbols_in("inputs", inputs), symbols_in("outputs", outputs))
    fresh = [
        one
        if isinstance(_layer_of(one), InputLayer)
        else Input(batch_shape=one.shape, dtype=one.dtype, name=_layer_of(one).name + "_input")
        for one in graph.inputs
    ]
    return pack(inputs, fresh), pack(outputs, graph.run(fresh))
