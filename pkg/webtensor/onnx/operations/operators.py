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
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.nodes import MISSING, Node
from webtensor.graph.operations.rows import Bound, Row, resolved

__all__ = ["Operator", "integers", "number", "numbers", "truth"]

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
#: An attribute of the first version of operators, which says how memory may be reused.
_MEMORY_REUSE = "consumed_inputs"


class Operator(Row):
    """What computes the nodes of an operator.

    Args:
        function: it takes the inputs and attributes of nodes.
        converted: by the name of a parameter, what makes its argument of a tensor.
    """

    def __init__(
        self, function: Callable[..., Any] | str, **converted: Callable[[Tensor], Any]
    ) -> None:
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
        arguments: list[Any] = []
        inputs: list[int] = []
        late: list[tuple[int, Callable[[Tensor], Any] | None]] = []
        reads: list[int] = []
        for index, parameter in enumerate(parameters):
            if parameter.kind == Parameter.VAR_POSITIONAL:
                for more in range(index, len(node.inputs)):
                    late.append((len(arguments), None))
                    inputs.append(more)
                    arguments.append(None)
            if parameter.kind not in _POSITIONAL:
                break
            convert = self._converted.get(parameter.name)
            if index < len(node.inputs) and node.inputs[index] != MISSING:
                if convert is not None and index in constants:
                    arguments.append(convert(constants[index]))
                    continue
                if convert is not None:
                    reads.append(index)
                late.append((len(arguments), convert))
                inputs.append(index)
                arguments.append(None)
            else:
                arguments.append(_argument(parameter, attributes, "input"))
        keywords = {
            parameter.name: _argument(parameter, attributes, "attribute")
            for parameter in parameters
            if parameter.kind == Parameter.KEYWORD_ONLY
        }
        _check(node, parameters, attributes)
        fixed = partial(function, **keywords) if keywords else function
        if len(late) == len(arguments) and not reads:
            return Bound(fixed, tuple(inputs))

        def call(*values: Any) -> Any:
            complete = arguments.copy()
            for (position, convert), value in zip(late, values, strict=True):
                complete[position] = value if convert is None else convert(value)
            return fixed(*complete)

        return Bound(call, tuple(inputs), tuple(reads))


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
