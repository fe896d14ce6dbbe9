"""Model: a layer that can be trained, saved and summarized."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from webtensor import keras
from webtensor.keras import models
from webtensor.keras.layers import Layer
from webtensor.keras.layers.layer import call_context
from webtensor.keras.models.training import Trainer
from webtensor.keras.registry import custom_object_scope, serialize_keras_object
from webtensor.keras.symbols import KerasTensor, map_shapes
from webtensor.keras.types import Config, CustomObjects, PathLike, Shapes
from webtensor.nest import flatten

if TYPE_CHECKING:
    from webtensor.keras.models.state_tree import StateTree

__all__ = ["Model"]


class Model(Trainer, Layer):
    """A model: the layers between symbolic inputs and outputs, or a subclass with a ``call``.

    ``Model(inputs, outputs)`` makes a ``Functional`` model. A subclass is made with the arguments
    of a layer, such as ``name``.

    Args:
        inputs, outputs: symbolic tensors, or structures of symbolic tensors, for a functional
            model.
        name: a string; None makes one of the class's name and a number.

    Example:
        >>> from webtensor import keras
        >>> class Twice(keras.Model):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.dense = keras.layers.Dense(3)
        ...     def call(self, inputs):
        ...         return self.dense(inputs) * 2
        >>> Twice()([[1.0, 2.0]]).shape
        (1, 3)
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Model and _is_functional(args, kwargs):
            return models.Functional.__new__(models.Functional, *args, **kwargs)
        return Layer.__new__(cls, *args, **kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if _is_functional(args, kwargs):
            if not isinstance(self, models.Functional):
                # A user's class that calls super().__init__(inputs, outputs).
                self.__class__ = _functional(type(self))  # type: ignore[arg-type]
            models.Functional.__init__(self, *args, **kwargs)  # type: ignore[arg-type]
        else:
            if type(self) is Model and (len(args) == 2 or {"inputs", "outputs"} <= kwargs.keys()):
                for index, name in enumerate(("inputs", "outputs")):
                    models.function.symbols_in(name, args[index] if args else kwargs[name])
            Layer.__init__(self, *args, **kwargs)

    @property
    def layers(self) -> list[Layer]:
        """The layers of this model, without the layers inside them."""
        return list(self._flatten_layers(include_self=False, recursive=False))

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Return a layer by its name or its index.

        Raises:
            ValueError: there is no such layer.
        """
        if (name is None) == (index is None):
            raise ValueError("get_layer: give either name or index")
        layers = self.layers
        if index is not None:
            if not -len(layers) <= index < len(layers):
                raise ValueError(
                    f"get_layer: there is no layer {index}, as the model has {len(layers)} layers"
                )
            return layers[index]
        for layer in layers:
            if layer.name == name:
                return layer
        raise ValueError(
            f"get_layer: there is no layer {name!r}; there are {[layer.name for layer in layers]}"
        )

    def build_from_config(self, config: Mapping[str, Any]) -> None:
        """Build the model for the shapes in a configuration."""
        if self.built:
            return
        if "shapes_dict" in config and type(self).build is Model.build:
            self.build(**config["shapes_dict"])
        else:
            super().build_from_config(config)

    def _build(self, shapes: dict[str, Shapes]) -> None:
        if type(self).build is Model.build:
            self._build_shapes = shapes  # the call that follows makes the variables
        else:
            super()._build(shapes)

    def build(self, input_shape: Shapes | None = None, **shapes: Shapes) -> None:
        """Make all variables, by calling the model with symbolic tensors of the shapes.

        The shapes of several inputs of ``call`` are passed by their names with ``_shape`` added.
        """
        # If a subclass's build calls this one in a call, that call makes the variables.
        is_called = type(self).build is not Model.build and call_context.get()[0] is not None
        if not (self.built or is_called) and (shapes or input_shape is not None):
            args = () if shapes else (map_shapes(KerasTensor, input_shape),)
            self.compute_output_spec(
                *args,
                **{
                    name.removesuffix("_shape"): map_shapes(KerasTensor, shape)
                    for name, shape in shapes.items()
                },
            )
            self._clear_losses()
        self.built = True

    # -- state --------------------------------------------------------------------------------

    def get_state_tree(self, value_format: str = "backend_tensor") -> StateTree:
        """Return the values of all variables, including those of the optimizer and of metrics.

        They are in nested dictionaries, by the parts of the variables' paths. ``value_format`` is
        "backend_tensor" for tensors or "numpy_array" for arrays.
        """
        return models.state_tree.state_tree_of(self, value_format)

    def set_state_tree(self, state_tree: StateTree) -> None:
        """Assign the values in a tree of ``get_state_tree``, or in a part of one."""
        models.state_tree.set_state_tree(self, state_tree)

    # -- files --------------------------------------------------------------------------------

    def save(
        self, filepath: PathLike, overwrite: bool = True, zipped: bool | None = None, **kwargs: Any
    ) -> None:
        """Save the model as an archive of Keras 3 (.keras) or an older HDF5 file (.h5)."""
        keras.saving.save_model(self, filepath, overwrite, zipped, **kwargs)

    def save_weights(
        self, filepath: PathLike, overwrite: bool = True, max_shard_size: float | None = None
    ) -> None:
        """Save the values of all variables, as .weights.h5 or .weights.npz."""
        keras.saving.save_weights(self, filepath, overwrite, max_shard_size)

    def load_weights(self, filepath: PathLike, skip_mismatch: bool = False, **kwargs: Any) -> None:
        """Load the values of all variables from a file of weights or of a model."""
        keras.saving.load_weights(self, filepath, skip_mismatch, **kwargs)

    @classmethod
    def from_config(cls, config: Config, custom_objects: CustomObjects | None = None) -> Any:
        """Make a model from a configuration, also from that of a functional model."""
        is_functional = {"layers", "input_layers", "output_layers"} <= set(config)
        with custom_object_scope(custom_objects):
            if is_functional and _accepts_inputs_and_outputs(cls.__init__):
                return models.functional.functional_from_config(cls, config)
            return super().from_config(config)

    def to_json(self, **options: Any) -> str:
        """Return the configuration as JSON, which ``models.model_from_json`` reads.

        ``options`` are keyword arguments of ``json.dumps``.
        """
        return json.dumps(serialize_keras_object(self), **options)

    def summary(
        self,
        line_length: int | None = None,
        positions: Sequence[float] | None = None,
        print_fn: Callable[[str], object] | None = None,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: Sequence[str] | None = None,
    ) -> None:
        """Print a table of the layers, with the shapes of their outputs and their parameters."""
        text = "\n".join(
            models.summary.summary_lines(
                self, line_length, positions, expand_nested, show_trainable, layer_range
            )
        )
        if print_fn is None:
            sys.stdout.write(text + "\n")
        else:
            print_fn(text)

    def _repr_html_(self) -> str:
        return models.summary.summary_html(self)


def _is_functional(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether the arguments are inputs and outputs of a functional model."""
    structures = [*args[:2], *(kwargs[name] for name in ("inputs", "outputs") if name in kwargs)]
    return len(structures) == 2 and all(
        isinstance(leaf, KerasTensor) for structure in structures for leaf in flatten(structure)
    )


def _accepts_inputs_and_outputs(init: Callable[..., None]) -> bool:
    """Whether an ``__init__`` accepts the inputs and outputs of a functional model."""
    parameters = signature(init).parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    accepts_all = {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD} <= kinds
    return accepts_all or {"inputs", "outputs"} <= set(parameters)


@cache
def _functional(cls: type) -> type:
    """Return a subclass that is a functional model, too."""
    # Configurations name the user's class, not this one.
    attributes = {"__module__": cls.__module__, "written_as": cls}
    return type(cls.__name__, (cls, models.Functional), attributes)
