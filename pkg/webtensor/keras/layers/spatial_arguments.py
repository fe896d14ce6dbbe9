"""Arguments of layers with spatial dimensions: integers or pairs for each of these, and padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from webtensor.keras.arguments import is_integer
from webtensor.keras.data_formats import as_data_format

__all__ = ["Pairs", "WindowArguments", "as_integers", "as_padding", "as_pairs"]

#: An integer for all axes, one per axis, or a pair per axis: before and after.
Pairs: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]]


def _repeated(value: object, count: int) -> Sequence[object]:
    """Return an integer ``count`` times, and a list, tuple or array as it is; else nothing."""
    if is_integer(value):
        return (value,) * count
    sizes = value.tolist() if hasattr(value, "tolist") else value
    return sizes if isinstance(sizes, (list, tuple)) else ()


def as_integers(
    name: str, argument: str, value: object, count: int, *, minimum: int = 1
) -> tuple[int, ...]:
    """Return ``count`` integers; the user may pass a single one for all.

    Raises:
        ValueError: there are more or fewer, or one is less than ``minimum``.
    """
    values = _repeated(value, count)
    integers = [int(item) for item in values if is_integer(item) and int(item) >= minimum]
    if not len(integers) == len(values) == count:
        kind = "positive integer" if minimum else "non-negative integer"
        several = f" or {count} of them" if count > 1 else ""
        raise ValueError(f"{name}: {argument} must be a {kind}{several}, but got {value!r}")
    return tuple(integers)


def as_pairs(name: str, argument: str, value: object, count: int) -> tuple[tuple[int, ...], ...]:
    """Return ``count`` pairs of sizes, before and after, of an integer, integers or pairs.

    Raises:
        ValueError: there are more or fewer, or a size is negative.
    """
    pairs = _repeated(value, count)
    if len(pairs) != count:
        raise ValueError(
            f"{name}: {argument} must be an integer, {count} integers or {count} pairs of them, "
            f"but got {value!r}"
        )
    return tuple([as_integers(name, argument, pair, 2, minimum=0) for pair in pairs])


def as_padding(name: str, value: object, *others: str) -> str:
    """Validate "valid", "same" or one of the words in ``others``, in any case.

    Raises:
        ValueError: it is none of them.
    """
    choices = ("valid", "same", *others)
    padding = value.lower() if isinstance(value, str) else value
    if padding not in choices:
        raise ValueError(f"{name}: padding must be one of {', '.join(choices)}, but got {value!r}")
    return str(padding)


class WindowArguments:
    """The arguments of layers whose kernel slides along ``rank`` dimensions."""

    #: The number of spatial dimensions.
    rank: int
    kernel_size: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str
    data_format: str
    dilation_rate: tuple[int, ...]

    def _check_window(self, name: str, *paddings: str) -> None:
        """Validate them; ``paddings`` are names besides "valid" and "same".

        Raises:
            ValueError: one is invalid.
        """
        for argument in ("kernel_size", "strides", "dilation_rate"):
            sizes = as_integers(name, argument, getattr(self, argument), self.rank)
            setattr(self, argument, sizes)
        self.padding = as_padding(name, self.padding, *paddings)
        self.data_format = as_data_format(name, self.data_format)
