"""What draws a call of a function, and what the call must give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from tests_py.cases.families import FAMILIES
from tests_py.cases.randomized.draw import Draw
from tests_py.cases.table import Case, Oracle, Tolerance

__all__ = ["Generator", "call"]

#: Draws a call of one function.
Generator = Callable[[Draw], Case]


@cache
def _first_case(function: str) -> Case:
    """The first row of a function in the table, which has its oracle and its tolerance."""
    return next(
        case
        for cases in FAMILIES.values()
        for case in cases
        if case.function == function and not case.derivative
    )


def call(
    function: str,
    *args: Any,
    oracle: Oracle | None = None,
    tolerance: Tolerance | None = None,
    **kwargs: Any,
) -> Case:
    """Make a case; oracle and tolerance are those of the function's first row if not given."""
    if oracle is not None and tolerance is not None:
        return Case(function, args, oracle, tolerance, kwargs)
    first = _first_case(function)
    return replace(
        first,
        args=args,
        kwargs=kwargs,
        oracle=oracle or first.oracle,
        tolerance=tolerance or first.tolerance,
        note="",
        sample=False,
    )
