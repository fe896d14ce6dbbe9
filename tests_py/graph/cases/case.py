"""A graph of one operation, and what it should give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tests_py.graph.graphs import Array, Dtype, JsonNode, constant, node, placeholder, topology

__all__ = ["Case", "case"]


class Case(NamedTuple):
    """A graph of one operation.

    Attributes:
        op: the name of the operation.
        label: what sets this case apart from others of the operation.
        inputs: the inputs.
        attributes: the attributes of the node.
        outputs: how many outputs the node has.
        expected: computes the outputs by NumPy; None where that is no simple expression, so that
            backends and TensorFlow.js are compared only.
        tolerance: the error that is allowed, as a share of the largest number.
    """

    op: str
    label: str
    inputs: tuple[Array, ...]
    attributes: dict[str, Any]
    outputs: int
    expected: Callable[..., Any] | None
    tolerance: float

    @property
    def name(self) -> str:
        """What reports call the case."""
        return f"{self.op} {self.label}".strip()

    @property
    def feeds(self) -> dict[str, Array]:
        """The inputs by the names of their nodes."""
        return {f"input{index}": value for index, value in enumerate(self.inputs)}

    @property
    def fetches(self) -> list[str]:
        """The names of the outputs."""
        return ["y", *(f"y:{index}" for index in range(1, self.outputs))]

    def topology(self, constants: Sequence[int] = ()) -> dict[str, Any]:
        """The graph, in which the inputs of these indices are constants."""
        sources: Iterable[JsonNode] = [
            constant(name, value) if index in constants else placeholder(name, _dtype(value))
            for index, (name, value) in enumerate(self.feeds.items())
        ]
        types = {"T": Dtype(_dtype(self.inputs[0]))} if self.inputs else {}
        return topology([*sources, node("y", self.op, self.feeds, **{**types, **self.attributes})])

    def expectation(self) -> list[Array] | None:
        """The outputs that NumPy computes, with the dtypes that tensors have."""
        if self.expected is None:
            return None
        with np.errstate(all="ignore"):
            results = self.expected(*self.inputs)
        several = results if isinstance(results, (tuple, list)) else [results]
        return [_narrow(np.asarray(result)) for result in several]


def case(
    op: str,
    *inputs: Any,
    expected: Callable[..., Any] | None = None,
    label: str = "",
    outputs: int = 1,
    tolerance: float = 1e-5,
    **attributes: Any,
) -> Case:
    """A case; inputs are arrays, or numbers and lists, whose whole numbers become int32."""
    arrays = tuple(_narrow(np.asarray(value)) for value in inputs)
    return Case(op, label, arrays, attributes, outputs, expected, tolerance)


def _narrow(array: Array) -> Array:
    narrower = {"float64": np.float32, "int64": np.int32, "complex128": np.complex64}
    return array.astype(narrower.get(str(array.dtype), array.dtype))


def _dtype(array: Array) -> str:
    return "string" if array.dtype == object else str(array.dtype)
