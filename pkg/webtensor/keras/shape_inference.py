"""Trials: which shapes a function returns, found out by calling it.

Layers of Keras say what they return; the ``call`` of others' layers says so only by computing. It
is called with zeros where there are symbolic tensors, twice where a length is unknown: a length
that differs between the two is unknown in the result, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor.engine import Tensor, tidy
from webtensor.keras.budgets import check_tensor
from webtensor.keras.nest import flatten, map_structure, pack
from webtensor.keras.stateless_scopes import StatelessScope
from webtensor.keras.symbols import KerasTensor
from webtensor.ops import zeros

__all__ = ["outcome_of_trial"]

#: What unknown lengths are in the two trials.
_LENGTHS = (2, 3)


def outcome_of_trial(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    lengths: tuple[int, int] = _LENGTHS,
) -> Any:
    """Return symbolic tensors like the tensors that a function would return.

    ``lengths`` are what unknown lengths are in the two trials.
    """
    given = [one for one in flatten([*args, kwargs]) if isinstance(one, KerasTensor)]
    is_unknown = any(None in one.shape for one in given)
    outcomes = []
    for length in lengths if is_unknown else lengths[:1]:

        def concrete(one: Any, length: int = length) -> Any:
            if not isinstance(one, KerasTensor):
                return one
            shape = [length if n is None else n for n in one.shape]
            check_tensor(shape, "an input")
            return zeros(shape, one.dtype)

        with StatelessScope(), tidy():  # nothing that the trial changes lasts
            result = function(
                *(map_structure(concrete, one) for one in args),
                **{key: map_structure(concrete, value) for key, value in kwargs.items()},
            )
            facts = [
                (one.shape, one.dtype) if isinstance(one, Tensor) else one
                for one in flatten(result)
            ]
            outcomes.append((map_structure(lambda _: None, result), facts))
    rows = zip(*(facts for _, facts in outcomes), strict=True)
    return pack(outcomes[0][0], [_symbol(*row) for row in rows])


def _symbol(first: Any, second: Any = None) -> Any:
    if not isinstance(first, tuple):
        return first
    shape, dtype = first
    if second is not None:
        pairs = zip(shape, second[0], strict=True)
        shape = tuple([p if p == q else None for p, q in pairs])
    return KerasTensor(shape, dtype)
