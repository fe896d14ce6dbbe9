"""Unknown lengths that cannot be any: what a function returns where some have to fit others.

A trial takes all unknown lengths as equal. Where that fails, as of matrices whose known lengths
say what an unknown one is, lengths are looked for with which the function computes. Each is then
changed alone, and with those that are equal to it: what changes in the result is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from typing import Any

from webtensor.engine import Tensor
from webtensor.keras.nest import flatten, map_structure, pack
from webtensor.keras.shape_inference import outcome_of_trial
from webtensor.keras.symbols import KerasTensor

__all__ = ["fitting_outcome"]

#: How many sets of lengths are tried at most.
_MOST_TRIALS = 150
_ANY = (2, 3)


def fitting_outcome(
    compute: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return symbolic tensors like what a function returns of tensors whose lengths fit.

    Raises:
        ValueError: no lengths were found with which it computes.
    """
    shapes = [
        one.shape for one in flatten([*args, kwargs]) if isinstance(one, (KerasTensor, Tensor))
    ]
    count = sum(shape.count(None) for shape in shapes)
    known = [n for shape in shapes for n in shape if n is not None]
    values = list(dict.fromkeys([_ANY[0], *known, *_ANY, 1]))
    for lengths in islice(product(values, repeat=count), _MOST_TRIALS):
        outcome = _outcome(compute, args, kwargs, lengths)
        if outcome is not None:
            break
    else:
        raise ValueError("no unknown lengths fit those that are known")
    facts = flatten(outcome)
    unknown: list[set[int]] = [set() for _ in facts]
    for changed in _changes(lengths):
        other = _outcome(compute, args, kwargs, changed)
        pairs = [] if other is None else zip(facts, flatten(other), unknown, strict=True)
        for one, its, places in pairs:
            if isinstance(one, KerasTensor) and len(one.shape) == len(its.shape):
                places |= {i for i, n in enumerate(one.shape) if its.shape[i] != n}
    return pack(outcome, [_without(*row) for row in zip(facts, unknown, strict=True)])


def _changes(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Lengths of which one, or all that are equal, are others."""
    for place, length in enumerate(lengths):
        for value in (length + 1, length * 2):
            yield [value if i == place else n for i, n in enumerate(lengths)]
            yield [value if n == length else n for n in lengths]


def _without(one: Any, places: set[int]) -> Any:
    if not isinstance(one, KerasTensor):
        return one
    shape = [None if place in places else n for place, n in enumerate(one.shape)]
    return KerasTensor(shape, one.dtype)


def _outcome(compute: Callable[..., Any], args: Any, kwargs: Any, lengths: Sequence[int]) -> Any:
    """What a trial returns with certain lengths in place of those that are unknown, or None."""
    rest = iter(lengths)

    def known(one: Any) -> Any:
        if not isinstance(one, KerasTensor):
            return one
        return KerasTensor([next(rest) if n is None else n for n in one.shape], one.dtype)

    made = [map_structure(known, one) for one in args]
    named = {name: map_structure(known, one) for name, one in kwargs.items()}
    try:
        return outcome_of_trial(compute, tuple(made), named)
    except (IndexError, TypeError, ValueError):
        return None
