"""What arguments of layers for images stand for: factors, and the range of images' values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor.engine import Tensor

__all__ = ["between", "factor_range", "in_bytes", "options", "range_within", "value_range"]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _refused(kind: str, name: str, given: Any, bounds: str) -> ValueError:
    return ValueError(
        f"{kind}: {name} must be a number or two of them in {bounds}, but got {name}={given!r}"
    )


def factor_range(
    kind: str, name: str, given: Any, low: float = -1, high: float = 1
) -> tuple[float, float]:
    """Return the two bounds of what is drawn; of two that are given, one may be beyond.

    A single number stands for as much in both directions, as far as there are two.

    Raises:
        ValueError: it is something else, or out of range.
    """
    if isinstance(given, (list, tuple)):
        is_known = len(given) == 2 and all(map(_is_number, given))
        if not is_known or given[0] > high or given[1] < low:
            raise _refused(kind, name, given, f"[{low}, {high}]")
        return min(given), max(given)
    if not _is_number(given) or not low <= given <= high:
        raise _refused(kind, name, given, f"[{low}, {high}]")
    return max(-abs(given), low), abs(given)


def range_within(
    kind: str,
    name: str,
    given: Any,
    low: float = -1,
    high: float = 1,
    *,
    open_low: bool = False,
    is_mirrored: bool = True,
) -> tuple[float, float]:
    """Return the two bounds of what is drawn, both of them within the range.

    A single number stands for as much in both directions, or for those from 0 on.

    Raises:
        ValueError: it is something else, or out of range.
    """
    several = given if isinstance(given, (list, tuple)) else (given,)
    is_known = len(several) == (2 if several is given else 1) and all(
        _is_number(one) and low <= one <= high and not (open_low and one == low) for one in several
    )
    if not is_known:
        raise _refused(kind, name, given, f"{'(' if open_low else '['}{low}, {high}]")
    if len(several) == 2:
        return min(several), max(several)
    return (-abs(several[0]) if is_mirrored else 0, abs(several[0]))


def value_range(kind: str, given: Any) -> list[float]:
    """Return the least and the greatest value of images.

    Raises:
        ValueError: they are not two numbers.
    """
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise ValueError(f"{kind}: value_range must be two numbers, but got value_range={given!r}")
    return sorted(given)


def options(kind: str, **given: tuple[Any, Sequence[str]]) -> None:
    """See that options are among those that there are.

    Raises:
        NotImplementedError: one is not.
    """
    for name, (value, known) in given.items():
        if value not in known:
            raise NotImplementedError(
                f"{kind}: {name} must be one of {', '.join(known)}, but got {value!r}"
            )


# -- values ------------------------------------------------------------------------------------


def between(x: Tensor, source: Sequence[float], target: Sequence[float]) -> Tensor:
    """Return values of one range as those of another."""
    if tuple(source) == tuple(target):
        return x
    scale = (target[1] - target[0]) / (source[1] - source[0])
    offset = target[0] - source[0] * scale
    return x * scale + offset if offset else x * scale


def in_bytes(x: Tensor, bounds: Sequence[float], compute: Callable[[Tensor], Tensor]) -> Tensor:
    """Call a function of values from 0 to 255 with values of another range."""
    return between(compute(between(x, bounds, (0, 255))), (0, 255), bounds)
