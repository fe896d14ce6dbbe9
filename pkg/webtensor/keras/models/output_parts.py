"""The targets and weights of each output of a model, and names of losses and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from webtensor.engine import Tensor
from webtensor.keras.names import nearest, to_snake_case
from webtensor.keras.types import Tensors
from webtensor.nest import flatten, is_nested, keys

__all__ = ["CROSSENTROPIES", "check_names", "class_encoding", "name_of", "parts_of_outputs"]

#: Names of the crossentropy that the encoding of the classes needs.
CROSSENTROPIES = ("crossentropy", "ce")


def check_names(argument: str, names: Iterable[str], output_names: Iterable[str]) -> None:
    """Check that the keys of an argument are names of outputs.

    Raises:
        ValueError: a key is not.
    """
    choices = list(output_names)
    for name in names:
        if name not in choices:
            raise ValueError(
                f"{argument} names {name!r}, which is no output{nearest(name, choices)}; the "
                f"outputs are {choices}"
            )


def parts_of_outputs(
    argument: str,
    values: Tensors,
    outputs: Tensors,
    names: Sequence[str] | None,
    used: Sequence[int],
) -> list[Any]:
    """Return the targets or weights of each output.

    ``used`` are the indices of the outputs that have a loss or a metric.

    Raises:
        ValueError: the structure of ``values`` is not that of the outputs, or a target is missing.
    """
    if not is_nested(outputs) and not is_nested(values):
        return [values]
    count = len(flatten(outputs))
    if values is None or (argument == "sample_weight" and not is_nested(values)):
        return [values] * count
    leaves = flatten(values)
    if isinstance(values, Mapping) and isinstance(outputs, Mapping):
        parts = _values_by_key(argument, values, outputs)
    elif isinstance(values, Mapping) and is_nested(outputs):
        output_names = list(names or ())[:count]
        check_names(argument, values, output_names)
        parts = [values.get(name) for name in output_names]
    elif len(leaves) == count:
        parts = leaves
    elif len(leaves) == len(used):
        by_index = dict(zip(used, leaves, strict=True))
        parts = [by_index.get(index) for index in range(count)]
    else:
        raise ValueError(f"{argument} has {len(leaves)} parts, but there are {count} outputs")
    missing = [index for index in used if parts[index] is None]
    if missing and argument == "y":
        output = names[missing[0]] if names else missing[0]
        raise ValueError(f"y has nothing for output {output!r}, which has a loss or a metric")
    return parts


def _values_by_key(argument: str, values: Tensors, outputs: Tensors) -> list[Any]:
    """Return the value of each output in a structure, or None for an output without a value."""
    if values is None:
        return [None] * len(flatten(outputs))
    if isinstance(outputs, Mapping) and isinstance(values, Mapping):
        check_names(argument, values, outputs)
        return [
            value
            for key in keys(outputs)
            for value in _values_by_key(argument, values.get(key), outputs[key])
        ]
    leaves, count = flatten(values), len(flatten(outputs))
    if len(leaves) != count:
        raise ValueError(f"{argument} has {len(leaves)} parts where there are {count} outputs")
    return leaves


def name_of(identifier: Any) -> str:
    """Return the name of a loss, a metric or a function."""
    if isinstance(identifier, str):
        return identifier
    if getattr(identifier, "name", None):
        return str(identifier.name)
    return to_snake_case(getattr(identifier, "__name__", type(identifier).__name__))


def class_encoding(y_true: Tensor, y_pred: Tensor) -> str:
    """Return how targets encode classes: "Binary", "SparseCategorical" or "Categorical".

    Two classes are one number, other classes are integers or one-hot.
    """
    if y_pred.shape[-1:] == (1,):
        return "Binary"
    is_sparse = len(y_true.shape) < len(y_pred.shape) or y_true.shape[-1:] == (1,)
    return "SparseCategorical" if is_sparse else "Categorical"
