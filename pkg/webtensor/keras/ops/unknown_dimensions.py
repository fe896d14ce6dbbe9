"""Symbolic results of functions whose unknown dimensions have to fit other dimensions.

A trial substitutes the same size for all unknown dimensions. Where that fails, as for matrices of
which one's size determines an unknown dimension of the other, sizes are searched for with which the
function computes. Each size is then changed alone, and together with those equal to it: dimensions
of the result that change are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import TYPE_CHECKING

from webtensor.engine import Tensor
from webtensor.keras.shape_inference import outcome_of_trial
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config, Operand
from webtensor.nest import flatten, map_structure, pack

if TYPE_CHECKING:
    from webtensor.keras.ops.operations import Arguments, Computation

__all__ = ["fitting_outcome"]

#: The maximum number of combinations of sizes that are tried.
_MAXIMUM_TRIALS = 150
#: Sizes that are tried beside those of the other dimensions.
_SMALL_SIZES = (2, 3)


def fitting_outcome(compute: Computation, args: Arguments, kwargs: Config) -> object:
    """Return symbolic results of a function, with sizes for unknown dimensions that fit.

    Raises:
        ValueError: the function computes with none of the sizes that were tried.
    """
    shapes = [
        leaf.shape for leaf in flatten([*args, kwargs]) if isinstance(leaf, (KerasTensor, Tensor))
    ]
    unknown_count = sum(shape.count(None) for shape in shapes)
    fixed_sizes = [size for shape in shapes for size in shape if size is not None]
    candidates = list(dict.fromkeys([_SMALL_SIZES[0], *fixed_sizes, *_SMALL_SIZES, 1]))
    for sizes in islice(product(candidates, repeat=unknown_count), _MAXIMUM_TRIALS):
        outcome = _outcome(compute, args, kwargs, sizes)
        if outcome is not None:
            break
    else:
        raise ValueError("no sizes of the unknown dimensions fit the others")
    leaves = flatten(outcome)
    unknown_axes: list[set[int]] = [set() for _ in leaves]
    for changed_sizes in _changes(sizes):
        changed = _outcome(compute, args, kwargs, changed_sizes)
        rows = [] if changed is None else zip(leaves, flatten(changed), unknown_axes, strict=True)
        for leaf, other, axes in rows:
            if isinstance(leaf, KerasTensor) and len(leaf.shape) == len(other.shape):
                axes |= {i for i, size in enumerate(leaf.shape) if other.shape[i] != size}
    return pack(outcome, [_with_unknown(*row) for row in zip(leaves, unknown_axes, strict=True)])


def _changes(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Change one of the sizes, or all that are equal, in turn."""
    for position, size in enumerate(sizes):
        for changed in (size + 1, size * 2):
            yield [changed if i == position else other for i, other in enumerate(sizes)]
            yield [changed if other == size else other for other in sizes]


def _with_unknown(leaf: Operand, axes: set[int]) -> Operand:
    """Make dimensions of a symbolic tensor unknown."""
    if not isinstance(leaf, KerasTensor):
        return leaf
    shape = [None if axis in axes else size for axis, size in enumerate(leaf.shape)]
    return KerasTensor(shape, leaf.dtype)


def _outcome(
    compute: Computation, args: Arguments, kwargs: Config, sizes: Sequence[int]
) -> object | None:
    """Return the outcome of a trial with these sizes of unknown dimensions; None if it fails."""
    remaining = iter(sizes)

    def with_sizes(leaf: Operand) -> Operand:
        if not isinstance(leaf, KerasTensor):
            return leaf
        shape = [next(remaining) if size is None else size for size in leaf.shape]
        return KerasTensor(shape, leaf.dtype)

    concrete_args = tuple(map_structure(with_sizes, arg) for arg in args)
    concrete_kwargs = {name: map_structure(with_sizes, arg) for name, arg in kwargs.items()}
    try:
        outcome: object = outcome_of_trial(compute, concrete_args, concrete_kwargs)
    except (IndexError, TypeError, ValueError):
        return None
    return outcome
