"""Functions that stand for an operator, made of other operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from webtensor.formats import onnx as format_
from webtensor.onnx.operations.operators import numbers
from webtensor.onnx.stored_constants import constant_of

__all__ = ["Body", "Outputs", "Write"]

#: The versions of the operators that the nodes of functions have.
_OPSETS = {"": 24, "ai.onnx.ml": 5, "com.microsoft": 1}

Outputs: TypeAlias = "str | Sequence[str]"
#: Writes the nodes of a function, and returns the names of its outputs.
Write: TypeAlias = "Callable[[Body], Outputs]"


class Body:
    """The nodes of a function for the inputs and attributes that a node has."""

    def __init__(
        self,
        definition: format_.Node,
        attributes: Mapping[str, format_.AttributeValue],
        dtypes: Sequence[str],
    ) -> None:
        self._attributes = dict(attributes)
        self.dtypes = dtypes
        self._definition = definition
        self._nodes: list[format_.Node] = []
        self._inputs = tuple(
            f"input {index}" if name else "" for index, name in enumerate(definition.inputs)
        )

    def input(self, index: int) -> str:
        """Return an input, or "" if there is none."""
        return self._inputs[index] if index < len(self._inputs) else ""

    def float_input(self) -> str:
        """Return the first input as floats."""
        return self("Cast", self.input(0), to=1)

    def inputs(self, count: int, start: int = 0) -> list[str]:
        """Return some of the inputs."""
        return [self.input(index) for index in range(start, start + count)]

    def take(self, name: str, default: Any = ...) -> Any:
        """Return an attribute, which the nodes of the function do not get."""
        if default is ... and name not in self._attributes:
            raise ValueError(f"it needs the attribute {name!r}")
        return self._attributes.pop(name, default)

    def has(self, name: str) -> bool:
        """Whether there is an attribute that was not taken."""
        return name in self._attributes

    def rest(self) -> dict[str, Any]:
        """Return the attributes that were not taken, for a node of the function."""
        rest, self._attributes = self._attributes, {}
        return rest

    def nodes(
        self, op: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add a node, and return its outputs."""
        names = [f"{len(self._nodes)} {index}" for index in range(outputs)]
        self._nodes.append(format_.Node(op, domain, "", inputs, tuple(names), attributes, ""))
        return names

    def __call__(self, op: str, *inputs: str, **options: Any) -> str:
        """Add a node, and return its only output."""
        (output,) = self.nodes(op, *inputs, **options)
        return output

    def integers(self, *values: int) -> str:
        return self("Constant", value_ints=list(values))

    def floats(self, values: Sequence[float], *shape: int) -> str:
        """Add a constant, of one axis unless a shape is given."""
        constant = self("Constant", value_floats=[float(value) for value in values])
        return self("Reshape", constant, self.integers(*shape)) if shape else constant

    def number(self, value: float) -> str:
        return self("Constant", value_float=float(value))

    def squared_distances(self, rows: str, others: str) -> str:
        """Add the squared distances of the rows of a matrix to those of another one."""
        last = self.integers(-1)
        of_rows = self("ReduceSumSquare", rows, last, keepdims=1)
        of_others = self("ReduceSumSquare", others, last, keepdims=0)
        doubled = self("Gemm", rows, others, alpha=-2.0, transB=1)
        return self("Relu", self("Add", self("Add", of_rows, of_others), doubled))

    def take_numbers(self, name: str) -> list[Any]:
        """Return an attribute that is a list or, perhaps under a longer name, a tensor."""
        for ending in ("", "_as_tensor", "_tensor"):
            if self.has(name + ending):
                value = self.take(name + ending)
                if isinstance(value, format_.Tensor):
                    return numbers(constant_of(value, f"attribute {name + ending}"))
                return list(value)
        return []

    def function(self, outputs: str | Sequence[str]) -> format_.Function:
        if self._attributes:
            raise ValueError(f"its attribute {min(self._attributes)!r:.200} is unknown")
        outputs = (outputs,) if isinstance(outputs, str) else tuple(outputs)
        for index, output in enumerate(self._definition.outputs):
            if output and not "".join(outputs[index : index + 1]):
                raise ValueError(f"its output {index} is not supported")
        inputs = tuple(name or f"missing {index}" for index, name in enumerate(self._inputs))
        return format_.Function(
            name=self._definition.op,
            domain=self._definition.domain,
            overload="",
            inputs=inputs,
            outputs=outputs,
            attributes=(),
            defaults={},
            nodes=tuple(self._nodes),
            opsets=_OPSETS,
            values=(),
        )
