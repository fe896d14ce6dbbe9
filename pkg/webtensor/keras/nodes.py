"""Operations, and the nodes that their calls with symbolic tensors make.

An operation is a layer or a function of ``keras.ops``. Called with symbolic tensors, it computes
nothing, but makes a node: the nodes of a functional model are its graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any, Self

from webtensor.keras.names import auto_name, to_snake_case
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.symbols import History, KerasTensor, any_symbolic, as_tensor
from webtensor.keras.types import Config
from webtensor.nest import flatten, map_structure

__all__ = ["Node", "Operation"]


class Node:
    """A call of an operation with symbolic tensors: its arguments and its outputs."""

    __slots__ = ("args", "inputs", "kwargs", "operation", "output", "outputs")

    def __init__(
        self, operation: Operation, args: tuple[Any, ...], kwargs: Config, output: Any
    ) -> None:
        self.operation = operation
        self.args = args
        self.kwargs = kwargs
        self.output = output
        self.inputs = [leaf for leaf in flatten([args, kwargs]) if isinstance(leaf, KerasTensor)]
        self.outputs: list[KerasTensor] = flatten(output)
        node_index = len(operation._inbound_nodes)
        operation._inbound_nodes.append(self)
        for tensor_index, tensor in enumerate(self.outputs):
            tensor._keras_history = History(operation, node_index, tensor_index)

    def arguments(self, values: Mapping[int, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with ``values`` in place of the symbolic tensors.

        The keys of ``values`` are the ``id`` of each symbolic tensor.
        """

        def value_of(leaf: Any) -> Any:
            return values[id(leaf)] if isinstance(leaf, KerasTensor) else leaf

        return map_structure(value_of, self.args), map_structure(value_of, self.kwargs)


class Operation:
    """A part of a functional model: a layer, or a function of ``keras.ops``.

    A subclass has a method ``call``. It may have a ``compute_output_spec`` that returns symbolic
    tensors like the outputs of ``call``; without it, ``call`` is tried out with zeros.

    Args:
        name: a string without slashes; None makes one of the class's name and a number.

    Raises:
        ValueError: ``name`` is malformed.

    Example:
        >>> from webtensor import keras
        >>> class Scale(keras.Operation):
        ...     def __init__(self, factor, name=None):
        ...         super().__init__(name)
        ...         self.factor = factor
        ...     def call(self, x):
        ...         return x * self.factor
        >>> scale = Scale(3.0, name="scale")
        >>> scale.get_config()
        {'factor': 3.0, 'name': 'scale'}
        >>> scale(keras.Input((2,))).shape
        (None, 2)
    """

    name: str

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        operation = super().__new__(cls)
        operation.__dict__["_arguments"] = (args, kwargs)
        return operation

    def __init__(self, name: str | None = None) -> None:
        if name is not None and (not isinstance(name, str) or "/" in name):
            raise ValueError(
                f"{type(self).__name__}: name must be a string without '/', but got {name!r}"
            )
        self.name = name or auto_name(to_snake_case(type(self).__name__))
        self._inbound_nodes: list[Node] = []

    # -- calls --------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = map_structure(as_tensor, args), map_structure(as_tensor, kwargs)
        if any_symbolic(args, kwargs):
            return self.symbolic_call(*args, **kwargs)
        return self.call(*args, **kwargs)

    def symbolic_call(self, *args: Any, **kwargs: Any) -> Any:
        """Make a node of a functional model, and return its symbolic outputs."""
        output = self.compute_output_spec(*args, **kwargs)
        Node(self, args, kwargs, output)
        return output

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; each subclass has its own."""
        raise NotImplementedError(f"{type(self).__name__} has no method call")

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return symbolic tensors of the shapes and dtypes of the outputs of ``call``."""
        from webtensor.keras.shape_inference import outcome_of_trial  # few layers need trials

        return outcome_of_trial(self.call, args, kwargs)

    # -- configurations -----------------------------------------------------------------------

    def get_config(self) -> Config:
        """Return the arguments that would make another such operation.

        Raises:
            NotImplementedError: ``__init__`` takes any number of arguments, or one that has no
                configuration; the class needs a ``get_config`` of its own.
        """
        try:
            config = self._init_arguments()
        except ValueError as error:
            raise NotImplementedError(
                f"{type(self).__name__} needs a method get_config: {error}"
            ) from error
        parameters = signature(type(self).__init__).parameters
        if "name" in parameters or any(
            parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()
        ):
            config["name"] = self.name
        return config

    def _init_arguments(self) -> Config:
        """Return the configurations of the arguments with which ``__init__`` was called."""
        args, kwargs = self.__dict__["_arguments"]
        init_signature = signature(type(self).__init__)
        bound = init_signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        arguments: Config = {}
        for name, value in list(bound.arguments.items())[1:]:
            kind = init_signature.parameters[name].kind
            if kind is Parameter.VAR_POSITIONAL and value:
                raise ValueError(f"__init__ takes any number of arguments, *{name}")
            if kind is not Parameter.VAR_POSITIONAL:
                arguments |= value if kind is Parameter.VAR_KEYWORD else {name: value}
        return {name: serialize_keras_object(value) for name, value in arguments.items()}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Make an operation of a configuration that ``get_config`` returned."""
        arguments = {
            name: deserialize_keras_object(value) if isinstance(value, dict) else value
            for name, value in config.items()
        }
        return cls(**arguments)

    # -- nodes --------------------------------------------------------------------------------

    @property
    def input(self) -> Any:
        """The symbolic tensors of the first call: one, or a list of them."""
        inputs = self._first_node("input").inputs
        return inputs[0] if len(inputs) == 1 else list(inputs)

    @property
    def output(self) -> Any:
        """The result of the first call: a symbolic tensor, or a list of them."""
        outputs = self._first_node("output").outputs
        return outputs[0] if len(outputs) == 1 else list(outputs)

    def _first_node(self, attribute: str) -> Node:
        if not self._inbound_nodes:
            raise AttributeError(
                f"{self.name} has no {attribute}: it was never called with symbolic tensors"
            )
        return self._inbound_nodes[0]
