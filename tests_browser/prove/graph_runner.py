"""Computes graphs of operations, in CPython or in a page that gets this text."""

from typing import Any

import webtensor as wt


def compute(graph: dict[str, Any], inputs: list[Any]) -> list[Any]:
    """Return the value of each step."""
    values = list(inputs)
    for name, indices, arguments in graph["steps"]:
        operands = [values[index] for index in indices]
        function = getattr(wt, name)
        positional = [operands] if name == "concat" else operands
        values.append(function(*positional, **arguments))
    return values[len(inputs) :]


def total(graph: dict[str, Any], inputs: list[Any]) -> Any:
    """Return a number that depends on every input and every step."""
    values = [*map(wt.sin, inputs), *compute(graph, inputs)]
    return sum((wt.mean(value) for value in values), wt.tensor(0.0))


def results(graph: dict[str, Any]) -> list[Any]:
    """Return the values of all steps, and of a smooth graph the gradients for its inputs, too."""
    inputs = [
        wt.tensor([((seed + 7919 * n) % 1009) / 504.5 - 1.0 for n in range(size)], shape=shape)
        for shape, size, seed in graph["inputs"]
    ]
    values = compute(graph, inputs)
    if graph["is_smooth"]:
        values += wt.grads(lambda *operands: total(graph, list(operands)))(*inputs)
    return values


async def numbers(graph: dict[str, Any]) -> list[list[float]]:
    """Return the elements of the results."""
    return [(await value.flatten().data()).tolist() for value in results(graph)]
