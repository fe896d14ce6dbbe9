"""Temporary values of variables, for the stateless versions of methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from webtensor.engine import Tensor, TensorLike, Variable
from webtensor.ops import asarray

__all__ = ["lent", "values_of"]


@contextmanager
def lent(name: str, variables: Sequence[Variable], values: Sequence[TensorLike]) -> Iterator[None]:
    """Assign values to variables for the ``with``, and restore their own ones afterwards.

    Errors name the argument ``name``.

    Raises:
        ValueError: there are more or fewer values than variables.
    """
    if len(values) != len(variables):
        raise ValueError(
            f"{name} must be one value for each of {len(variables)} variables, but got "
            f"{len(values)}"
        )
    previous_values = values_of(variables)
    try:
        for variable, value in zip(variables, values, strict=True):
            variable.assign(asarray(value, dtype=variable.dtype))
        yield
    finally:
        for variable, previous_value in zip(variables, previous_values, strict=True):
            variable.assign(previous_value)


def values_of(variables: Sequence[Variable]) -> list[Tensor]:
    """Return the present values of variables."""
    return [variable.value for variable in variables]
