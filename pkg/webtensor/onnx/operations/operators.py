"""Operators: how the inputs and attributes of an ONNX node become the arguments of a function.

The signature of the function says it: inputs are its positional parameters in order, attributes its
keyword-only ones of the same name, and defaults are ONNX's. A parameter without its input takes the
attribute of its name, as ``axes`` and others were attributes before they became inputs. Parameters
that are converted are needed on the host.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from inspect import Parameter, signature
from itertools import compress
from typing import Any, TypeAlias

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.nodes import MISSING, Node
from webtensor.graph.operations.rows import Bound, Row, resolved

__all__ = ["Operator", "integers", "number", "numbers", "truth"]

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
#: An attribute of the first version of operators, which says how memory may be reused.
_MEMORY_REUSE = "consumed_inputs"

_Convert: TypeAlias = Callable[[Any], Any]


class Operator(Row):
    """A row that computes the nodes of an operator.

    Args:
        function: it takes the inputs and attributes of nodes.
        converted: by the name of a parameter, what makes its argument of a tensor, or of the
            attribute where it is keyword-only.
    """

    def __init__(self, function: Callable[..., Any] | str, **converted: _Convert) -> None:
        super().__init__(function)
        self._converted = converted
        self._ignored = frozenset({_MEMORY_REUSE})

    def ignoring(self, *attributes: str) -> Row:
        """Return the row of an operator some of whose attributes change nothing here.

        They choose between ways to compute the same, or repeat what the inputs say.
        """
        return self._changed(_ignored=self._ignored.union(attributes))

    @cached_property
    def _parameters(self) -> tuple[Parameter, ...]:
        return tuple(signature(resolved(self.function)).parameters.values())

    def _bind(self, node: Node, constants: Mapping[int, Tensor]) -> Bound:
        function, parameters = resolved(self.function), self._parameters
        attributes = {
            _parameter_name(name): value
            for name, value in node.attributes.items()
            if name not in self._ignored
        }
        arguments = _Arguments()
        for index, parameter in enumerate(parameters):
            if parameter.kind == Parameter.VAR_POSITIONAL:
                for input_index in range(index, len(node.inputs)):
                    arguments.add_input(input_index)
            if parameter.kind not in _POSITIONAL:
                break
            convert = self._converted.get(parameter.name)
            if index >= len(node.inputs) or node.inputs[index] == MISSING:
                arguments.add(_argument(parameter, attributes, "input"))
            elif convert is not None and index in constants:
                arguments.add(convert(constants[index]))
            else:
                arguments.add_input(index, convert)
        keywords = {}
        for parameter in parameters:
            if parameter.kind == Parameter.KEYWORD_ONLY:
                convert = self._converted.get(parameter.name)
                if convert is not None and parameter.name in attributes:
                    attributes[parameter.name] = convert(attributes[parameter.name])
                keywords[parameter.name] = _argument(parameter, attributes, "attribute")
        _check(node, parameters, attributes)
        return arguments.bound_to(partial(function, **keywords) if keywords else function)


class _Arguments:
    """The positional arguments of a function: values, and inputs that each call brings."""

    def __init__(self) -> None:
        #: The values; None for inputs.
        self._values: list[Any] = []
        self._inputs: list[int] = []
        #: The position of each input's argument, and what makes the argument of the tensor.
        self._positions: list[tuple[int, Callable[[Tensor], Any] | None]] = []

    def add(self, value: Any) -> None:
        """Add a value."""
        self._values.append(value)

    def add_input(self, index: int, convert: Callable[[Tensor], Any] | None = None) -> None:
        """Add an input of the node, which is converted on the host if ``convert`` is given."""
        self._positions.append((len(self._values), convert))
        self._inputs.append(index)
        self._values.append(None)

    def bound_to(self, function: Callable[..., Any]) -> Bound:
        """Return a function that calls the function with the arguments."""
        values, positions = self._values, self._positions
        converts = [convert is not None for _, convert in positions]
        if len(positions) == len(values) and not any(converts):
            return Bound(function, tuple(self._inputs))

        def call(*inputs: Any) -> Any:
            arguments = values.copy()
            for (position, convert), value in zip(positions, inputs, strict=True):
                arguments[position] = value if convert is None else convert(value)
            return function(*arguments)

        return Bound(call, tuple(self._inputs), tuple(compress(self._inputs, converts)))


def _argument(parameter: Parameter, attributes: dict[str, Any], kind: str) -> Any:
    if parameter.name in attributes:
        return attributes.pop(parameter.name)
    if parameter.default is Parameter.empty:
        raise ValueError(f"it needs the {kind} {parameter.name!r}")
    return parameter.default


def _check(node: Node, parameters: Sequence[Parameter], attributes: Mapping[str, Any]) -> None:
    """Refuse inputs and attributes that the function does not take."""
    kinds = {parameter.kind for parameter in parameters}
    count = sum(parameter.kind in _POSITIONAL for parameter in parameters)
    if len(node.inputs) > count and Parameter.VAR_POSITIONAL not in kinds:
        raise ValueError(f"it has {len(node.inputs)} inputs, but takes {count}")
    unknown = sorted(set(attributes) - {parameter.name for parameter in parameters})
    if unknown:
        raise ValueError(f"its attribute {unknown[0]!r:.200} is unknown")


def _parameter_name(attribute: str) -> str:
    """Return the name of the parameter for an attribute, such as trans_a for transA."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", attribute).lower()


# -- elements on the host ----------------------------------------------------------------------


def numbers(value: Tensor) -> list[Any]:
    """Return the elements in a list, whatever the shape."""
    elements: list[Any] = ops.reshape(value, (-1,)).tolist()
    return elements


def integers(value: Tensor) -> list[int]:
    """Return the elements as integers."""
    return [int(element) for element in numbers(value)]


def number(value: Tensor) -> Any:
    """Return the only element."""
    elements = numbers(value)
    if len(elements) != 1:
        raise ValueError(f"an input must have one element, but has shape {value.shape}")
    return elements[0]


def truth(value: Tensor) -> bool:
    """Return the only element as a bool."""
    return bool(number(value))
