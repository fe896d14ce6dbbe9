"""Model: a layer that can be trained, saved and summarized."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter, signature
from typing import Any

from webtensor.keras.layers import Layer
from webtensor.keras.models.training import Trainer
from webtensor.keras.nest import flatten
from webtensor.keras.registry import custom_object_scope, serialize_keras_object
from webtensor.keras.symbols import KerasTensor, map_shapes
from webtensor.keras.types import Config

__all__ = ["Model"]


class Model(Trainer, Layer):
    """A model: symbolic inputs and outputs, or a class with a ``call`` of its own.

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
            from webtensor.keras.models.functional import Functional

            return Functional.__new__(Functional, *args, **kwargs)
        return Layer.__new__(cls, *args, **kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        from webtensor.keras.models.function import symbols_in
        from webtensor.keras.models.functional import Functional

        if _is_functional(args, kwargs):
            if not isinstance(self, Functional):
                # A class of the user's that calls super().__init__(inputs, outputs).
                self.__class__ = _functional(type(self))  # type: ignore[arg-type]
            Functional.__init__(self, *args, **kwargs)  # type: ignore[arg-type]
        else:
            if type(self) is Model and (len(args) == 2 or {"inputs", "outputs"} <= kwargs.keys()):
                for place, name in enumerate(("inputs", "outputs")):
                    symbols_in(name, args[place] if args else kwargs[name])
            Layer.__init__(self, *args, **kwargs)

    @property
    def layers(self) -> list[Layer]:
        """The layers of this model, without those inside them."""
        return list(self._flatten_layers(include_self=False, recursive=False))

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Return a layer by its name or its place.

        Raises:
            ValueError: there is none.
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
            f"get_layer: there is no layer {name!r}; there are {[one.name for one in layers]}"
        )

    def build_from_config(self, config: Mapping[str, Any]) -> None:
        """Build with a shape, where a class of the user's can be."""
        if not self.built:
            super().build_from_config(config)

    def _build(self, shapes: dict[str, Any]) -> None:
        if type(self).build is not Layer.build:
            super()._build(shapes)

    def build(self, input_shape: Any = None, **shapes: Any) -> None:
        """Make all variables, by calling the model with symbolic tensors of a shape."""
        if input_shape is None or self.built:
            self.built = True
            return
        given = map_shapes(KerasTensor, input_shape)
        self.compute_output_spec(given)
        self._clear_losses()
        self.built = True

    # -- state --------------------------------------------------------------------------------

    def get_state_tree(self, value_format: str = "backend_tensor") -> dict[str, Any]:
        """Return the values of all variables, those of the optimizer and of metrics included.

        They are in dictionaries, by the parts of their paths; tensors, or with "numpy_array"
        arrays.
        """
        from webtensor.keras.models.state_tree import state_tree_of

        return state_tree_of(self, value_format)

    def set_state_tree(self, state_tree: Mapping[str, Any]) -> None:
        """Give variables the values in a tree like that of ``get_state_tree``, or in a part."""
        from webtensor.keras.models.state_tree import take_state_tree

        take_state_tree(self, state_tree)

    # -- files --------------------------------------------------------------------------------

    def save(
        self, filepath: Any, overwrite: bool = True, zipped: bool | None = None, **kwargs: Any
    ) -> None:
        """Save the model as an archive of Keras 3 (.keras) or an older HDF5 file (.h5)."""
        from webtensor.keras.saving import save_model

        save_model(self, filepath, overwrite, zipped, **kwargs)

    def save_weights(
        self, filepath: Any, overwrite: bool = True, max_shard_size: Any = None
    ) -> None:
        """Save the values of all variables, as .weights.h5 or .weights.npz."""
        from webtensor.keras.saving import save_weights

        save_weights(self, filepath, overwrite, max_shard_size)

    def load_weights(self, filepath: Any, skip_mismatch: bool = False, **kwargs: Any) -> None:
        """Load the values of all variables from a file of weights or of a model."""
        from webtensor.keras.saving import load_weights

        load_weights(self, filepath, skip_mismatch, **kwargs)

    @classmethod
    def from_config(cls, config: Config, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """Make a model of what ``get_config`` returned, also of a functional one's."""
        from webtensor.keras.models.functional import functional_of

        is_functional = {"layers", "input_layers", "output_layers"} <= set(config)
        with custom_object_scope(custom_objects):
            if is_functional and _takes_ends(cls.__init__):
                return functional_of(cls, config)
            return super().from_config(config)

    def to_json(self, **options: Any) -> str:
        """Return the configuration as JSON; ``models.model_from_json`` is its inverse."""
        import json

        return json.dumps(serialize_keras_object(self), **options)

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Callable[[str], Any] | None = None,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: Any = None,
    ) -> None:
        """Print a table of the layers, with their outputs' shapes and numbers of parameters."""
        from webtensor.keras.models.summary import summary_lines

        text = "\n".join(
            summary_lines(self, line_length, positions, expand_nested, show_trainable, layer_range)
        )
        if print_fn is None:
            import sys

            sys.stdout.write(text + "\n")
        else:
            print_fn(text)


def _is_functional(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether arguments are those of a functional model: inputs and outputs."""
    given = [*args[:2], *(kwargs[name] for name in ("inputs", "outputs") if name in kwargs)]
    return len(given) == 2 and all(
        isinstance(one, KerasTensor) for structure in given for one in flatten(structure)
    )


def _takes_ends(init: Any) -> bool:
    """Whether an ``__init__`` takes the inputs and outputs of a functional model."""
    parameters = signature(init).parameters
    kinds = {one.kind for one in parameters.values()}
    takes_all = {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD} <= kinds
    return takes_all or {"inputs", "outputs"} <= set(parameters)


@cache
def _functional(kind: type) -> type:
    from webtensor.keras.models.functional import Functional

    # Configurations name the class that was written, not this one.
    known = {"__module__": kind.__module__, "written_as": kind}
    return type(kind.__name__, (kind, Functional), known)
