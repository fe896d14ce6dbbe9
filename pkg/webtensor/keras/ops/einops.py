"""``rearrange``: axes ordered, split and merged as a pattern says."""

from __future__ import annotations

import re
from collections import Counter
from math import prod
from typing import Any

from webtensor import ops as wt
from webtensor.keras.ops.operations import Table, op

__all__ = ["TABLE"]

_AXES = re.compile(r"\([^()]*\)|\w+|\S")


def _groups(pattern: str, side: str) -> list[list[str]]:
    """The axes of one side, each as the names of what it is made of."""
    groups = [one.strip("()").split() for one in _AXES.findall(side)]
    names = [name for group in groups for name in group]
    wrong = [one for one in names if not one.isidentifier()]
    twice = [one for one, count in Counter(names).items() if count > 1]
    if wrong or twice:
        raise ValueError(
            f"rearrange: pattern {pattern!r} must consist of different names and parentheses, but "
            f"has {(wrong or twice)[0]!r}"
        )
    return groups


def _rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Any:
    """Order, split and merge axes as a pattern says: "b (h w) -> h b w".

    ``axes_lengths`` are the sizes of axes that are split; one per pair of parentheses may be
    missing.

    Raises:
        ValueError: the pattern is malformed, or does not fit the shape.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.rearrange([[1, 2, 3, 4]], "b (h w) -> h b w", h=2).tolist()
        [[[1, 2]], [[3, 4]]]
    """
    x = wt.asarray(tensor)
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError(f"rearrange: pattern must have one '->', but is {pattern!r}")
    before, after = (_groups(pattern, side) for side in sides)
    names = [name for group in before for name in group]
    wanted = [name for group in after for name in group]
    if set(names) != set(wanted):
        raise ValueError(f"rearrange: pattern {pattern!r} must have the same names on both sides")
    if len(before) != len(x.shape):
        raise ValueError(
            f"rearrange: pattern {pattern!r} has {len(before)} axes, but the tensor's shape is "
            f"{x.shape}"
        )
    lengths: dict[str, int] = {}
    for group, length in zip(before, x.shape, strict=True):
        lengths |= _lengths(pattern, group, length, axes_lengths)
    x = wt.reshape(x, [lengths[name] for name in names])
    x = wt.permute_dims(x, [names.index(name) for name in wanted])
    return wt.reshape(x, [prod(lengths[name] for name in group) for group in after])


def _lengths(pattern: str, group: list[str], length: int, given: dict[str, int]) -> dict[str, int]:
    """The lengths of the parts of an axis, of which one may be unknown."""
    found = {name: given[name] for name in group if name in given}
    rest = [name for name in group if name not in found]
    known = prod(found.values())
    fits = length == known if not rest else known > 0 and length % known == 0
    if len(rest) > 1 or not fits:
        raise ValueError(
            f"rearrange: an axis of length {length} cannot be {group} of pattern {pattern!r} with "
            f"the lengths {given}"
        )
    return found | dict.fromkeys(rest, length // known)


TABLE = Table("keras.src.ops.einops", {"rearrange": op(_rearrange)})


def __getattr__(name: str) -> Any:
    return TABLE.function(name)
