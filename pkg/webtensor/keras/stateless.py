"""Functions of state that leave no trace: variables are lent other values, and get theirs back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from webtensor.engine import Tensor, Variable
from webtensor.ops import asarray

__all__ = ["lent", "values_of"]


@contextmanager
def lent(name: str, variables: Sequence[Variable], values: Sequence[Any]) -> Iterator[None]:
    """Within the ``with``, variables hold other values, and may be changed; then theirs again.

    ``name`` is the argument that errors will name.

    Raises:
        ValueError: there are not as many values as variables.
    """
    if len(values) != len(variables):
        raise ValueError(
            f"{name} must be one value for each of {len(variables)} variables, but got "
            f"{len(values)}"
        )
    before = values_of(variables)
    try:
        for variable, value in zip(variables, values, strict=True):
            variable.assign(asarray(value, dtype=variable.dtype))
        yield
    finally:
        for variable, value in zip(variables, before, strict=True):
            variable.assign(value)


def values_of(variables: Sequence[Variable]) -> list[Tensor]:
    """Return what variables hold now."""
    return [variable.value for variable in variables]
