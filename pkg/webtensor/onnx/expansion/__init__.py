"""Operators that are functions of others: where a model has one, it gets the nodes of the function.

What a function is made of is moved to channels last and fused as other nodes are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webtensor.formats import onnx as format_
from webtensor.onnx.expansion import classical_models, features, runtime_operators, trees
from webtensor.onnx.expansion.bodies import Body, Write

__all__ = ["expanded"]

_CLASSICAL = {**classical_models.FUNCTIONS, **features.FUNCTIONS, **trees.FUNCTIONS}
_FUNCTIONS: dict[str, dict[str, Write]] = {
    "ai.onnx.ml": _CLASSICAL,
    runtime_operators.DOMAIN: runtime_operators.FUNCTIONS,
}


def expanded(
    definition: format_.Node,
    attributes: Mapping[str, format_.AttributeValue],
    dtypes: Sequence[str],
) -> format_.Function | None:
    """Return the function that an operator is here; None if it is none.

    Args:
        definition: the node.
        attributes: its attributes.
        dtypes: the dtypes of its inputs in the file; "" where they are unknown.

    Raises:
        LookupError: it lacks an input.
        ValueError: it lacks an attribute, or has one that is impossible.
    """
    write = _FUNCTIONS.get(definition.domain, {}).get(definition.op)
    if write is None:
        return None
    body = Body(definition, attributes, dtypes)
    return body.function(write(body))
