"""Layers without weights of their own: an activation, nothing, or any function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, ClassVar

from webtensor.keras import activations
from webtensor.keras.layers.layer import Layer
from webtensor.keras.nest import flatten, map_structure
from webtensor.keras.registry import (
    custom_object_scope,
    deserialize_keras_object,
)
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import ActivationLike, Config

__all__ = ["Activation", "Identity", "Lambda"]


class Activation(Layer):
    """An activation by its name, or any function of one tensor.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Activation("relu")([[-1.0, 2.0]]).tolist()
        [[0.0, 2.0]]
    """

    def __init__(self, activation: ActivationLike, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)
        self._build_at_init()

    def call(self, inputs: Any) -> Any:
        """Apply the activation."""
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape


class Identity(Layer):
    """Returns what it is given.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Identity()([[1.0, 2.0]]).tolist()
        [[1.0, 2.0]]
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs: Any) -> Any:
        """Return the inputs."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape

    def compute_output_spec(self, inputs: Any) -> Any:
        """Return symbolic tensors like the inputs."""
        return map_structure(lambda one: KerasTensor(one.shape, one.dtype), inputs)


class Lambda(Layer):
    """Any function of tensors, made a layer.

    ``output_shape`` is a shape without batch, or a function of the inputs' shape; by default the
    function is tried out. ``mask`` is what ``compute_mask`` returns, or such a function.
    ``arguments`` are keyword arguments of the function; where it takes ``mask`` or ``training``,
    it is given them.

    A model with such a layer can be saved, and loaded again, when the function has a name by which
    it is registered (``keras.saving.register_keras_serializable``): code is never loaded.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Lambda(lambda x: x * 2)([[1.0, 2.0]]).tolist()
        [[2.0, 4.0]]
    """

    _config_omits: ClassVar = {"output_shape": None, "mask": None}

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not callable(function):
            raise TypeError(f"Lambda: function must be callable, but got {function!r}")
        self.function = function
        self.arguments = dict(arguments or {})
        self.mask = mask
        self.supports_masking = mask is not None
        self.output_shape = output_shape
        taken = signature(function).parameters
        self._takes = tuple(name for name in ("mask", "training") if name in taken)

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        """Call the function."""
        known = {"mask": mask, "training": training}
        return self.function(
            inputs, **self.arguments, **{name: known[name] for name in self._takes}
        )

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return ``mask``, or what it returns."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return ``output_shape`` after the batch, what it returns, or what a trial finds."""
        if self.output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self.output_shape):
            return self.output_shape(input_shape)
        return (flatten(input_shape)[0], *self.output_shape)

    @classmethod
    def from_config(cls, config: Config, custom_objects: Any = None) -> Any:
        """Make a layer of what ``get_config`` returned.

        Raises:
            ValueError: a function is not registered, or is code.
        """
        config = dict(config)
        with custom_object_scope(custom_objects or {}):
            for name in ("function", "output_shape", "mask", "arguments"):
                if name in config:
                    config[name] = deserialize_keras_object(config[name])
        return cls(**config)
