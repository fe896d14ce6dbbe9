"""``rearrange``: axes ordered, split and merged as a pattern says."""

from __future__ import annotations

import re
from collections import Counter
from math import prod
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.ops.operations import Table, op

__all__ = ["TABLE"]

_AXES = re.compile(r"\([^()]*\)|\w+|\S")


def _groups(pattern: str, side: str) -> list[list[str]]:
    """Return the axes of one side of a pattern, each as the names of the axes merged in it."""
    groups = [group.strip("()").split() for group in _AXES.findall(side)]
    names = [name for group in groups for name in group]
    invalid = [name for name in names if not name.isidentifier()]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if invalid or repeated:
        raise ValueError(
            f"rearrange: pattern {pattern!r} must consist of different names and parentheses, but "
            f"has {(invalid or repeated)[0]!r}"
        )
    return groups


def _rearrange(tensor: TensorLike, pattern: str, **axes_lengths: int) -> Tensor:
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
    target_names = [name for group in after for name in group]
    if set(names) != set(target_names):
        raise ValueError(f"rearrange: pattern {pattern!r} must have the same names on both sides")
    if len(before) != len(x.shape):
        raise ValueError(
            f"rearrange: pattern {pattern!r} has {len(before)} axes, but the tensor's shape is "
            f"{x.shape}"
        )
    sizes: dict[str, int] = {}
    for group, size in zip(before, x.shape, strict=True):
        sizes |= _split_sizes(pattern, group, size, axes_lengths)
    x = wt.reshape(x, [sizes[name] for name in names])
    x = wt.permute_dims(x, [names.index(name) for name in target_names])
    return wt.reshape(x, [prod(sizes[name] for name in group) for group in after])


def _split_sizes(
    pattern: str, group: list[str], axis_size: int, axes_lengths: dict[str, int]
) -> dict[str, int]:
    """Return the sizes of the axes that an axis is split into; one of them may be inferred."""
    sizes = {name: axes_lengths[name] for name in group if name in axes_lengths}
    inferred = [name for name in group if name not in sizes]
    product = prod(sizes.values())
    fits = product > 0 and axis_size % product == 0 if inferred else axis_size == product
    if len(inferred) > 1 or not fits:
        raise ValueError(
            f"rearrange: an axis of size {axis_size} cannot be {group} of pattern {pattern!r} with "
            f"the sizes {axes_lengths}"
        )
    return sizes | dict.fromkeys(inferred, axis_size // product)


TABLE = Table("keras.src.ops.einops", {"rearrange": op(_rearrange)})


def __getattr__(name: str) -> Any:
    return TABLE.function(name)
