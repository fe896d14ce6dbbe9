"""The nodes of a loop: ``StatelessWhile``, its functions, and lists of what iterations put out."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.convert.node_building import NodeBuilder, Value
from webtensor.convert.sizes import Shape, Varying
from webtensor.formats.graph_def import ElementType

__all__ = ["added_loop", "loop_stack"]

_INT32 = ElementType("int32")


def added_loop(
    nodes: NodeBuilder,
    body: NodeBuilder,
    arguments: Sequence[Value | None],
    operands: Sequence[Value],
    results: Sequence[Value],
    states: int,
    is_conditional: bool,
) -> list[Value]:
    """Add the nodes of a loop, and return its last states, and lists of its outputs.

    Args:
        nodes: the graph.
        body: the nodes of an iteration.
        arguments: the inputs of the body: the index, the states, and the captured tensors; None for
            those that are constants in the body.
        operands: the maximum number of iterations, the first states, and the captured tensors.
        results: the next states, then what an iteration puts out.
        states: the number of states.
        is_conditional: whether the first state is a bool that ends the loop where it is false.
    """
    limit = body.placeholder("limit", (), "int32")
    index, *others = arguments
    assert index is not None
    following = body.add("AddV2", [index, body.scalar(1, "int32")], ())
    variables = [(index, nodes.scalar(0, "int32"), following), (limit, operands[0], limit)]
    for number, (argument, operand) in enumerate(zip(others, operands[1:], strict=True)):
        if argument is not None:
            following = results[number] if number < states else argument
            variables.append((argument, operand, following))
    for output in results[states:]:
        items = body.placeholder("outputs", (), "variant")
        kind = ElementType(output.dtype)
        no_maximum = nodes.scalar(-1, "int32")
        inputs = [_element_shape(nodes, output.shape), no_maximum]
        kinds = {"element_dtype": kind, "shape_type": _INT32}
        empty = nodes.add("EmptyTensorList", inputs, (), "variant", **kinds)
        longer = body.add("TensorListPushBack", [items, output], (), element_dtype=kind)
        variables.append((items, empty, longer))
    parameters, first, last = zip(*variables, strict=True)
    condition = nodes.function()
    goes_on = condition.add("Less", [index, limit], (), "bool")
    if is_conditional:
        goes_on = condition.add("LogicalAnd", [goes_on, parameters[2]], ())
    loop = nodes.add(
        "StatelessWhile",
        first,
        (),
        cond=condition.defined("condition", parameters, [goes_on]),
        body=body.defined("body", parameters, last),
        T=[ElementType(value.dtype) for value in first],
    )
    lists = range(len(variables) - len(results) + states, len(variables))
    return [
        Value(f"{loop.name}:{output}", (), first[output].dtype)
        for output in (*range(2, 2 + states), *lists)
    ]


def loop_stack(nodes: NodeBuilder, items: Value, shape: Shape, dtype: str) -> Value:
    """Stack the elements of a list along a new first axis."""
    inputs = [items, _element_shape(nodes, shape[1:])]
    kind = ElementType(dtype)
    return nodes.add("TensorListStack", inputs, shape, dtype, element_dtype=kind, num_elements=-1)


def _element_shape(nodes: NodeBuilder, shape: Shape) -> Value:
    return nodes.integers([-1 if isinstance(size, Varying) else size for size in shape])
