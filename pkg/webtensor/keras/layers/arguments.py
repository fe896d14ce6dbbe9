"""What several layers ask of their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["as_integers", "as_padding", "as_pairs", "check_positive", "given"]

_NOT_ARGUMENTS = frozenset({"self", "kwargs", "__class__"})


def _is_integer(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def as_integers(
    name: str, argument: str, value: Any, count: int, *, least: int = 1
) -> tuple[int, ...]:
    """Return so many integers, given as many, or one for all.

    Raises:
        ValueError: there are more or fewer, or one is less than ``least``.
    """
    each = (value,) * count if _is_integer(value) else value
    is_one_each = isinstance(each, (list, tuple)) and len(each) == count
    if not is_one_each or not all(_is_integer(one) and one >= least for one in each):
        kind = "positive integer" if least else "non-negative integer"
        many = f" or {count} of them" if count > 1 else ""
        raise ValueError(f"{name}: {argument} must be a {kind}{many}, but got {value!r}")
    return tuple([int(one) for one in each])


def as_pairs(name: str, argument: str, value: Any, count: int) -> tuple[tuple[int, ...], ...]:
    """Return so many pairs of lengths, before and after: of one number, one per axis, or pairs.

    Raises:
        ValueError: there are more or fewer, or a length is negative.
    """
    each = (value,) * count if _is_integer(value) else value
    if not isinstance(each, (list, tuple)) or len(each) != count:
        raise ValueError(
            f"{name}: {argument} must be an integer, {count} integers or {count} pairs of them, "
            f"but got {value!r}"
        )
    return tuple([as_integers(name, argument, one, 2, least=0) for one in each])


def as_padding(name: str, value: Any, *others: str) -> str:
    """Validate "valid", "same" or another word.

    Raises:
        ValueError: it is none of them.
    """
    known = ("valid", "same", *others)
    found = value.lower() if isinstance(value, str) else value
    if found not in known:
        raise ValueError(f"{name}: padding must be one of {', '.join(known)}, but got {value!r}")
    return str(found)


def check_positive(name: str, **values: Any) -> None:
    """Check that arguments are positive integers.

    Raises:
        ValueError: one is not.
    """
    for argument, value in values.items():
        if not _is_integer(value) or value <= 0:
            raise ValueError(f"{name}: {argument} must be a positive integer, but got {value!r}")


def given(scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return an ``__init__``'s arguments by their names, from its ``locals()``."""
    named = {name: value for name, value in scope.items() if name not in _NOT_ARGUMENTS}
    return {**named, **scope.get("kwargs", {})}
