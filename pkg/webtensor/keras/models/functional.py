"""Functional models: the layers between symbolic inputs and outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any
from warnings import warn

from webtensor.engine import Tensor
from webtensor.keras import models
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.layers import Input, InputLayer, Layer
from webtensor.keras.models.capturing import CapturedComputation, CaptureMode
from webtensor.keras.models.function import Graph, OperationCall, call_symbolically, symbols_in
from webtensor.keras.models.model import Model
from webtensor.keras.nodes import Operation
from webtensor.keras.registry import custom_object_scope
from webtensor.keras.symbols import KerasTensor, map_shapes
from webtensor.keras.types import Config, CustomObjects, Shapes, Tensors
from webtensor.nest import flatten, is_nested, map_structure, pack
from webtensor.ops import expand_dims, squeeze

__all__ = ["Functional"]


class Functional(Model):
    """A model of the layers between symbolic inputs and outputs: ``Model(inputs, outputs)``.

    Args:
        inputs: a symbolic tensor, or a list, tuple or dictionary of symbolic tensors.
        outputs: a symbolic tensor, or a structure, computed from ``inputs``.

    Raises:
        ValueError: ``inputs`` or ``outputs`` contain something else than symbolic tensors, the
            outputs depend on other inputs, or two layers have the same name.

    Example:
        >>> from webtensor import keras
        >>> x = keras.Input((4,))
        >>> keras.Model(x, keras.layers.Dense(2)(x)).output_shape
        (None, 2)
    """

    _graph: Graph
    #: Whether inputs may have other sizes than the symbolic inputs; the layers then check them.
    sizes_may_vary = False
    _converts_inputs = False

    def __init__(
        self,
        inputs: Tensors,
        outputs: Tensors,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        trainable = kwargs.pop("trainable", None)
        Layer.__init__(self, name=name)  # as in Keras, other keywords do nothing
        inputs, outputs = _from_input_layers(inputs, outputs)
        self._inputs_struct, self._outputs_struct = inputs, outputs
        graph = Graph(symbols_in("inputs", inputs), symbols_in("outputs", outputs))
        names = Counter(operation.name for operation in graph.operations)
        for name, count in names.items():
            if count > 1:
                raise ValueError(
                    f"model {self.name!r}: each layer needs a name of its own, but {count} are "
                    f"named {name!r}"
                )
        object.__setattr__(self, "_graph", graph)
        if trainable is not None:
            self._trainable = bool(trainable)  # without changing the layers
        self._layers = [layer for layer in graph.operations if isinstance(layer, Layer)]
        self.built = True

    # -- layers, inputs and outputs -----------------------------------------------------------

    @property
    def operations(self) -> list[Operation]:
        """The layers and functions, in the order in which ``summary`` lists them."""
        return list(self._graph.operations)

    @property
    def layers(self) -> list[Layer]:
        """The layers, in order."""
        return [layer for layer in self._graph.operations if isinstance(layer, Layer)]

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
        """The symbolic inputs, in the structure that was passed to the model."""
        return self._inputs_struct

    @property
    def output(self) -> Any:
        """The symbolic outputs, in the structure that was passed to the model."""
        return self._outputs_struct

    @property
    def input_shape(self) -> Shapes:
        """The shape of the input, or a list of the inputs' shapes."""
        return _shapes(self.inputs)

    @property
    def output_shape(self) -> Shapes:
        """The shape of the output, or a list of the outputs' shapes."""
        return _shapes(self.outputs)

    @property
    def input_names(self) -> list[str]:
        """The names of the input layers."""
        return [operation_of(symbol).name for symbol in self.inputs]

    @property
    def output_names(self) -> list[str]:
        """The names of the layers whose outputs are the model's."""
        return [operation_of(symbol).name for symbol in self.outputs]

    # -- computing ----------------------------------------------------------------------------

    def call(self, inputs: Tensors, training: bool | None = None, mask: Tensors = None) -> Any:
        """Run the layers."""
        values = self._standardized(inputs)
        if mask is not None:
            for value, value_mask in zip(values, self._in_order(mask), strict=True):
                if value_mask is not None:
                    value._keras_mask = value_mask
        return pack(self._outputs_struct, self._graph.run(values, _call_in_mode(training)))

    def _infer(self, x: Tensors) -> Any:
        if type(self).call is not Functional.call:
            return super()._infer(x)
        return self._infer_by_steps(x, self._capture_mode)

    def _infer_by_steps(self, x: Tensors, mode: CaptureMode) -> Any:
        """Return the outputs in inference, computed by ``inference`` if it can."""
        inference, computation = self.__dict__.get("_inference", (None, None))
        if inference is None or not inference.is_current or computation.mode is not mode:
            if not models.inference.Inference.supports(self._graph):
                return super()._infer(x)
            inference = models.inference.Inference(self._graph)
            computation = CapturedComputation(inference.run, mode, self._flatten_layers)
            self.__dict__["_inference"] = inference, computation
        return pack(self._outputs_struct, computation(self._standardized(x)))

    def compute_output_spec(
        self, inputs: Tensors, training: bool | None = None, mask: Tensors = None
    ) -> Any:
        """Return symbolic outputs for other symbolic inputs."""
        values = self._standardized(inputs)
        if all(
            value is not None and value.shape == symbol.shape
            for value, symbol in zip(values, self.inputs, strict=True)
        ):
            return map_structure(
                lambda symbol: KerasTensor(symbol.shape, symbol.dtype), self._outputs_struct
            )
        return pack(self._outputs_struct, self._graph.run(values, call_symbolically))

    def compute_output_shape(self, input_shape: Shapes) -> Any:
        """Return the shapes of the outputs for other shapes of the inputs."""
        symbols = map_shapes(KerasTensor, input_shape)
        return map_structure(lambda symbol: symbol.shape, self.compute_output_spec(symbols))

    def _in_order(self, inputs: Tensors) -> list[Any]:
        """Return inputs, or masks, as a list in the order of the model's inputs."""
        struct = self._inputs_struct
        if isinstance(inputs, dict) and not isinstance(struct, dict):
            names = self.input_names
            missing = [name for name in names if name not in inputs]
            if missing:
                is_pair = inputs.keys() == {"xs", "ys"}
                raise ValueError(
                    f"model {self.name!r} needs inputs {names}, but got {sorted(inputs)}"
                    + ("; a data set for fit has pairs (xs, ys)" if is_pair else "")
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

    def _standardized(self, inputs: Tensors) -> list[Any]:
        """Return inputs as a list in the model's order, each with the rank of the symbolic one."""
        values = self._in_order(inputs)
        if len(values) != len(self.inputs):
            raise ValueError(
                f"model {self.name!r} has {len(self.inputs)} inputs, but got {len(values)}"
            )
        if len(values) > 1 or (isinstance(inputs, dict) and len(inputs) > 1):
            self._check_structure(inputs)
        return [
            _adjusted(value, symbol, self.name, self.sizes_may_vary)
            for value, symbol in zip(values, self.inputs, strict=True)
        ]

    def _check_structure(self, inputs: Tensors) -> None:
        """Warn if the structure of inputs differs from the model's.

        Raises:
            ValueError: it is ambiguous which input is which.
        """
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
        expected, received = (
            map_structure(lambda _: "…", structure) if is_nested(structure) else "one tensor"
            for structure in (struct, inputs)
        )
        warn(
            f"model {self.name!r} was made with inputs like {expected}, but got inputs like "
            f"{received}",
            stacklevel=2,
        )

    # -- configurations -----------------------------------------------------------------------

    def get_config(self) -> Config:
        """Return the configurations of the layers, and their connections."""
        graph = models.graph_configs.graph_config(
            self._graph, self._inputs_struct, self._outputs_struct
        )
        return {"name": self.name, "trainable": self.trainable, **graph}

    @classmethod
    def from_config(cls, config: Config, custom_objects: CustomObjects | None = None) -> Any:
        """Make a model from a configuration that ``get_config`` returned."""
        with custom_object_scope(custom_objects):
            return functional_from_config(cls, config)

    def get_build_config(self) -> Config | None:
        """Return no shape, since the layers are built by their calls."""
        return {"input_shape": None}


_GRAPH_KEYS = ("layers", "input_layers", "output_layers")


def functional_from_config(cls: Callable[..., Any], config: Config) -> Any:
    """Make a model of a functional class from a configuration."""
    inputs, outputs = models.graph_configs.connected(config)
    others = {key: value for key, value in config.items() if key not in _GRAPH_KEYS}
    return cls(inputs, outputs, **others)


def _call_in_mode(training: bool | None) -> OperationCall:
    """Return a call of layers for training or not; None leaves that as it was in the graph."""

    def call(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if training is not None and getattr(operation, "_call_has_training_arg", False):
            kwargs["training"] = training
        return operation(*args, **kwargs)

    return call


def _is_like(inputs: Tensors, struct: Tensors) -> bool:
    """Whether inputs have the structure ``struct``, where lists and tuples are the same."""
    if isinstance(struct, dict):
        return (
            isinstance(inputs, dict)
            and inputs.keys() == struct.keys()
            and all(_is_like(inputs[key], struct[key]) for key in struct)
        )
    if not isinstance(struct, (list, tuple)) or not isinstance(inputs, (list, tuple)):
        return not is_nested(struct) and not is_nested(inputs)
    return len(inputs) == len(struct) and all(
        _is_like(*pair) for pair in zip(inputs, struct, strict=True)
    )


def _shapes(symbols: list[KerasTensor]) -> Shapes:
    shapes: list[Shapes] = [symbol.shape for symbol in symbols]
    return shapes[0] if len(shapes) == 1 else shapes


def operation_of(symbol: KerasTensor) -> Operation:
    """Return the operation that a symbolic tensor is an output of."""
    assert symbol._keras_history is not None
    return symbol._keras_history.operation


def _adjusted(
    value: Tensor | KerasTensor | None, symbol: KerasTensor, model: str, sizes_may_vary: bool
) -> Tensor | KerasTensor | None:
    """Return the value of an input in its dtype, with a last axis of size 1 added or removed.

    Raises:
        ValueError: its shape is not that of the symbolic input, or it is None.
    """
    if value is None:
        if getattr(operation_of(symbol), "optional", False):
            return None
        raise ValueError(
            f"model {model!r}: input {operation_of(symbol).name!r} is not optional, but got None"
        )
    expected, shape = symbol.shape, value.shape
    if isinstance(value, Tensor):
        if len(shape) == len(expected) + 1 and shape[-1] == 1:
            value = squeeze(value, -1)
        elif len(shape) == len(expected) - 1 and expected[-1] == 1:
            value = expand_dims(value, -1)
        dtype = storage_dtype(symbol.dtype)
        if value.dtype is not dtype and "string" not in (value.dtype, dtype):
            value = value.astype(dtype)
    # A batch may have any size, even if the Input has a batch size.
    is_compatible = len(value.shape) == len(expected) and all(
        sizes_may_vary or size is None or expected_size is None or size == expected_size
        for size, expected_size in zip(value.shape[1:], expected[1:], strict=True)
    )
    if not is_compatible:
        raise ValueError(
            f"model {model!r}: input {operation_of(symbol).name!r} has shape {expected}, but got "
            f"{shape}"
        )
    return value


def _from_input_layers(inputs: Tensors, outputs: Tensors) -> tuple[Tensors, Tensors]:
    """Return inputs that are all outputs of input layers, and outputs computed from them.

    An input that another layer computes is replaced by a new Input, and the calls are repeated.
    """
    if all(
        not isinstance(symbol, KerasTensor)
        or (symbol._keras_history is not None and isinstance(operation_of(symbol), InputLayer))
        for symbol in flatten(inputs)
    ):
        return inputs, outputs
    graph = Graph(symbols_in("inputs", inputs), symbols_in("outputs", outputs))
    new_inputs = [
        symbol
        if isinstance(operation_of(symbol), InputLayer)
        else Input(
            batch_shape=symbol.shape,
            dtype=symbol.dtype,
            name=f"{operation_of(symbol).name}_input",
        )
        for symbol in graph.inputs
    ]
    return pack(inputs, new_inputs), pack(outputs, graph.run(new_inputs))
