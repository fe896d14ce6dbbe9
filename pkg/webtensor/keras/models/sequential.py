"""Sequential models: one layer after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, cast

from webtensor.keras.arguments import ALWAYS
from webtensor.keras.layers import InputLayer, Layer
from webtensor.keras.models.functional import Functional
from webtensor.keras.models.model import Model
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.symbols import KerasTensor, is_shape, standardize_shape
from webtensor.keras.types import Config, CustomObjects, DTypeLike, Shape, Shapes, Tensors

__all__ = ["Sequential"]


class Sequential(Model):
    """A list of layers, each of which takes the output of the previous layer.

    Args:
        layers: a list of layers, or None. The first may be an ``Input``.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(2)])
        >>> model.output_shape
        (None, 2)
    """

    _config_omits: ClassVar = {"layers": ALWAYS}  # they are configured below

    def __init__(
        self,
        layers: Iterable[Layer | KerasTensor] | None = None,
        trainable: bool = True,
        name: str | None = None,
    ) -> None:
        Layer.__init__(self, trainable=trainable, name=name)
        self._functional: Functional | None = None
        for layer in layers or ():
            self.add(layer, rebuild=False)
        self._rebuild()

    def add(self, layer: Layer | KerasTensor, rebuild: bool = True) -> None:
        """Append a layer.

        Raises:
            ValueError: ``layer`` is not a layer, or another layer has its name.
        """
        if isinstance(layer, KerasTensor) and layer._keras_history is not None:
            layer = cast("Layer", layer._keras_history.operation)
        if not isinstance(layer, Layer):
            raise ValueError(f"Sequential: a layer is wanted, but got {layer!r}")
        if any(other.name == layer.name for other in self._layers):
            raise ValueError(
                f"Sequential: each layer needs a name of its own, but there are two layers "
                f"{layer.name!r}"
            )
        if isinstance(layer, InputLayer) and self._layers:
            raise ValueError("Sequential: the model has begun already, so it takes no InputLayer")
        if (
            not self._layers
            and layer._batch_input_shape is not None
            and not isinstance(layer, Model)
        ):
            self._layers.append(
                InputLayer(batch_shape=layer._batch_input_shape, dtype=_input_dtype(layer))
            )
        self._layers.append(layer)
        if rebuild:
            self._rebuild()
        else:
            self.built, self._functional = False, None

    def pop(self, rebuild: bool = True) -> Layer:
        """Remove the last layer, and return it."""
        layer = self._layers.pop()
        self.built, self._functional = False, None
        if rebuild:
            self._rebuild()
        return layer

    @property
    def layers(self) -> list[Layer]:
        """The layers, without the input layer."""
        return [layer for layer in self._layers if not isinstance(layer, InputLayer)]

    def _rebuild(self) -> None:
        """Connect the layers, if the shape of the input is known."""
        self.built, self._functional = False, None
        first = self._layers[0] if self._layers else None
        if isinstance(first, InputLayer) and len(self._layers) > 1:
            self.build(first.batch_shape)
        elif isinstance(first, Functional) or (isinstance(first, Sequential) and first.built):
            self.build(first.input_shape)

    def build(self, input_shape: Shapes | None = None, **_: object) -> None:
        """Connect the layers for a shape of the input.

        Raises:
            ValueError: there are no layers, there is no shape, or the model is built for another.
        """
        if self._functional is not None:
            built_shape = self._batch_shape
            if is_shape(input_shape) and tuple(input_shape)[1:] != built_shape[1:]:
                raise ValueError(
                    f"Sequential model {self.name!r} is built for {built_shape} already, but is to "
                    f"be built for {tuple(input_shape)}"
                )
            return
        if not self.layers:
            raise ValueError(f"Sequential model {self.name!r} has no layers")
        if not (input_shape is None or is_shape(input_shape)):
            self.built = True  # its layers are built as they are called
            return
        first = self._layers[0]
        if not isinstance(first, InputLayer):
            if input_shape is None:
                raise ValueError(f"build: model {self.name!r} needs the shape of its input")
            first = InputLayer(
                batch_shape=standardize_shape(input_shape), dtype=_input_dtype(first)
            )
            self._layers.insert(0, first)
        x = first.output
        for layer in self._layers[1:]:
            try:
                x = layer(x)
            except NotImplementedError:
                return
        functional = Functional(first.output, x)
        functional.sizes_may_vary = True
        object.__setattr__(self, "_functional", functional)
        self.built = True

    def _build(self, shapes: dict[str, Any]) -> None:
        # The batch size of the first call may differ from that of later calls.
        shape = shapes.get("inputs_shape", next(iter(shapes.values()), None))
        self.build((None, *shape[1:]) if shape and is_shape(shape) else shape)

    def call(self, inputs: Tensors, training: bool | None = None, mask: Tensors = None) -> Any:
        """Run the layers."""
        if self._functional is not None:
            return self._functional.call(inputs, training=training, mask=mask)
        x = inputs
        for layer in self.layers:
            x = layer(x)
        return x

    def _infer(self, x: Tensors) -> Any:
        if self._functional is None or type(self).call is not Sequential.call:
            return super()._infer(x)
        return self._functional._infer_by_steps(x, self._capture_mode)

    def __getattr__(self, name: str) -> Any:
        if name in _FUNCTIONAL_ATTRIBUTES:
            functional = self.__dict__.get("_functional")
            if functional is None:
                raise AttributeError(
                    f"Sequential model {self.__dict__.get('name')!r} has no {name} yet, as it is "
                    "not built"
                )
            return getattr(functional, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def input(self) -> Any:
        """The symbolic input of the first call, or of the model itself before there is one."""
        return super().input if self._inbound_nodes else self.__getattr__("input")

    @property
    def output(self) -> Any:
        """The symbolic output of the first call, or of the model itself before there is one."""
        return super().output if self._inbound_nodes else self.__getattr__("output")

    def compute_output_shape(self, input_shape: Shapes) -> Any:
        """Return the shape of the output for a shape of the input."""
        if self._functional is not None:
            return self._functional.compute_output_shape(input_shape)
        for layer in self.layers:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def compute_output_spec(
        self, inputs: Tensors, training: bool | None = None, mask: Tensors = None
    ) -> Any:
        """Return a symbolic output for another symbolic input."""
        if self._functional is not None:
            return self._functional.compute_output_spec(inputs)
        for layer in self.layers:
            inputs = layer.compute_output_spec(inputs)
        return inputs

    # -- configurations -----------------------------------------------------------------------

    def get_config(self) -> Config:
        """Return the configurations of the layers, and the shape that the model is built for."""
        config = super().get_config()
        config["dtype"] = self._config_value("dtype")
        config["layers"] = [serialize_keras_object(layer) for layer in self._layers]
        if self._functional is not None:
            config["build_input_shape"] = self._batch_shape
        return config

    @property
    def _batch_shape(self) -> Shape:
        """The shape of the input that a built model begins with."""
        first = self._layers[0]
        assert isinstance(first, InputLayer)
        return first.batch_shape

    @classmethod
    def from_config(cls, config: Config, custom_objects: CustomObjects | None = None) -> Any:
        """Make a model from a configuration that ``get_config`` returned."""
        layer_configs = config.get("layers")
        if not isinstance(layer_configs, (list, tuple)) or not all(
            isinstance(layer_config, Mapping) for layer_config in layer_configs
        ):
            raise ValueError("the configuration of a Sequential model has no list of layers")
        model = cls(name=config.get("name"), trainable=bool(config.get("trainable", True)))
        for layer_config in layer_configs:
            model.add(deserialize_keras_object(layer_config, custom_objects), rebuild=False)
        model._rebuild()
        shape = config.get("build_input_shape")
        if not model.built and shape and model._layers:
            model.build(tuple(shape))
        return model

    def get_build_config(self) -> Config | None:
        """Return the shape that the model is built for."""
        if self._functional is None:
            return None
        return {"input_shape": self._batch_shape}


_FUNCTIONAL_ATTRIBUTES = frozenset(
    {
        "_graph",
        "input",
        "input_names",
        "input_shape",
        "inputs",
        "operations",
        "output",
        "output_names",
        "output_shape",
        "outputs",
    }
)


def _input_dtype(layer: Layer) -> DTypeLike:
    """Return the dtype of a first layer's input, which is an integer one for embeddings."""
    return getattr(layer, "input_dtype", None)
