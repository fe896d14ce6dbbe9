"""Layers without weights: an activation, the identity, any function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, ClassVar

from webtensor.arguments import check_callable
from webtensor.engine import Tensor
from webtensor.keras import activations
from webtensor.keras.layers.elementwise import Elementwise
from webtensor.keras.layers.layer import Layer
from webtensor.keras.registry import custom_object_scope, deserialize_keras_object
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import (
    ActivationLike,
    Config,
    CustomObjects,
    Nested,
    Shape,
    SymbolicOrTensor,
)
from webtensor.nest import flatten, map_structure

__all__ = ["Activation", "Identity", "Lambda"]


class Activation(Elementwise):
    """An activation: a function of keras.activations by its name, or any function of one tensor.

    Input shape: any. Output shape: the same.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Activation("relu")([[-1.0, 2.0]]).tolist()
        [[0.0, 2.0]]
    """

    def __init__(self, activation: ActivationLike, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activations.get(activation)
        self._build_at_init()

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the activation."""
        outputs: Tensor = self.activation(inputs)
        return outputs


class Identity(Elementwise):
    """Returns its inputs: a tensor, or a structure of tensors.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Identity()([[1.0, 2.0]]).tolist()
        [[1.0, 2.0]]
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._build_at_init()

    def call(self, inputs: Nested[Tensor]) -> Nested[Tensor]:
        """Return the inputs."""
        return inputs

    def compute_output_spec(self, inputs: Nested[KerasTensor]) -> Nested[KerasTensor]:
        """Return symbolic tensors like the inputs."""
        outputs: Nested[KerasTensor] = map_structure(
            lambda symbol: KerasTensor(symbol.shape, symbol.dtype), inputs
        )
        return outputs


class Lambda(Layer):
    """Any function of tensors as a layer.

    A model with such a layer can be saved and loaded where the function is registered under a name
    (``keras.saving.register_keras_serializable``): code is never loaded.

    Args:
        function: a function of the inputs, and of ``mask`` and ``training`` where it has arguments
            of these names.
        output_shape: a shape without the batch, or a function of the inputs' shape; None infers it
            by calling ``function`` on symbolic tensors.
        mask: the mask of the outputs, or a function of the inputs and their mask; None for no mask.
        arguments: a dictionary of keyword arguments for ``function``.

    Raises:
        TypeError: ``function`` is not callable.
        ValueError: ``get_config`` meets a function without a name, such as a lambda.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Lambda(lambda x: x * 2)([[1.0, 2.0]]).tolist()
        [[2.0, 4.0]]
    """

    _config_omits: ClassVar = {"output_shape": None, "mask": None}
    _runs_code_of_others: ClassVar[bool] = True

    def __init__(
        self,
        function: Callable[..., Nested[Tensor]],
        output_shape: Sequence[int | None] | Callable[..., Nested[Shape]] | None = None,
        mask: SymbolicOrTensor | Callable[..., SymbolicOrTensor | None] | None = None,
        arguments: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_callable("Lambda", "function", function)
        self.function = function
        self.arguments = dict(arguments or {})
        self.mask = mask
        self.supports_masking = mask is not None
        self.output_shape = output_shape
        parameters = signature(function).parameters
        self._context_names = tuple(name for name in ("mask", "training") if name in parameters)

    def call(
        self,
        inputs: Nested[Tensor],
        mask: Nested[Tensor | None] = None,
        training: bool | None = None,
    ) -> Nested[Tensor]:
        """Call the function."""
        context = {"mask": mask, "training": training}
        return self.function(
            inputs, **self.arguments, **{name: context[name] for name in self._context_names}
        )

    def compute_mask(
        self, inputs: Nested[SymbolicOrTensor], mask: Nested[SymbolicOrTensor | None] = None
    ) -> SymbolicOrTensor | None:
        """Return the argument ``mask``, or what it returns."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Nested[Shape]) -> Nested[Shape]:
        """Return the batch and ``output_shape``, what it returns, or the inferred shape."""
        if self.output_shape is None:
            inferred: Nested[Shape] = super().compute_output_shape(input_shape)
            return inferred
        if callable(self.output_shape):
            return self.output_shape(input_shape)
        return (flatten(input_shape)[0], *self.output_shape)

    @classmethod
    def from_config(cls, config: Config, custom_objects: CustomObjects | None = None) -> Any:
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
