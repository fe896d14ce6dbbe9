"""Shape inference: the shapes and dtypes that a function returns, from trial calls with zeros.

The layers of this library compute the shapes of their outputs; the ``call`` of a user's layer has
to be tried out. Zeros stand for its symbolic tensors. Where a dimension has an unknown size, there
are two trials with different sizes: a dimension of the result that differs between them is unknown,
too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor.engine import Tensor, tidy
from webtensor.keras.allocations import check_tensor
from webtensor.keras.stateless_scopes import StatelessScope, stateless_scopes
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Shape
from webtensor.nest import flatten, map_structure, pack
from webtensor.ops import zeros

__all__ = ["in_trial", "outcome_of_trial"]

#: The sizes that stand for unknown ones, one in each trial.
_TRIAL_SIZES = (2, 3)


class Trial(StatelessScope):
    """The scope of a trial call, which undoes what the call changes."""


def in_trial() -> bool:
    """Whether the values are those of a trial call, which need not be valid inputs."""
    return any(isinstance(scope, Trial) for scope in stateless_scopes)


def outcome_of_trial(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    sizes: tuple[int, int] = _TRIAL_SIZES,
) -> Any:
    """Return the results of a call, with symbolic tensors in place of tensors.

    Args:
        function: computes with tensors.
        args: its positional arguments, which may be symbolic tensors or contain some.
        kwargs: its keyword arguments, likewise.
        sizes: those that stand for unknown sizes, one in each trial.
    """
    symbols = [leaf for leaf in flatten([*args, kwargs]) if isinstance(leaf, KerasTensor)]
    has_unknown_size = any(None in symbol.shape for symbol in symbols)
    results = []
    for size in sizes if has_unknown_size else sizes[:1]:

        def zeros_like(leaf: Any, size: int = size) -> Any:
            if not isinstance(leaf, KerasTensor):
                return leaf
            shape = [size if n is None else n for n in leaf.shape]
            check_tensor(shape, "an input")
            return zeros(shape, leaf.dtype)

        with Trial(), tidy():
            result = function(
                *(map_structure(zeros_like, arg) for arg in args),
                **{name: map_structure(zeros_like, value) for name, value in kwargs.items()},
            )
        results.append(result)
    rows = zip(*map(flatten, results), strict=True)
    return pack(results[0], [_symbol_like(*row) for row in rows])


def _symbol_like(result: Any, other: Any = None) -> Any:
    """Return a symbolic tensor like the results of both trials: unknown where sizes differ."""
    if not isinstance(result, Tensor):
        return result
    shape: Shape = result.shape
    if other is not None:
        pairs = zip(shape, other.shape, strict=True)
        # A trial with less than a window may return no elements.
        shape = tuple([size or None if size == other_size else None for size, other_size in pairs])
    return KerasTensor(shape, result.dtype)
