"""Numbers in equal steps: one row of them, or rows of different sizes one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import ceil, isfinite
from typing import Any

from webtensor.arguments import as_non_negative_integer, as_number
from webtensor.dtypes import as_dtype, float32, int32
from webtensor.engine import Primitive, Tensor, from_host, run
from webtensor.ops.casting import cast_to
from webtensor.ops.creation import MAX_ON_HOST, on_device
from webtensor.shapes import check_size, single_integer

__all__ = ["arange", "linspace"]

_SEQUENCE = Primitive("sequence")
_RAGGED_SEQUENCE = Primitive("ragged_sequence")


def _sequence(name: str, count: int, start: float, step: float, last: float, dtype: Any) -> Tensor:
    """``start + i * step`` for each ``i`` less than ``count``, of which the last is ``last``."""
    if count <= MAX_ON_HOST:
        values = [start + index * step for index in range(count)]
        values[-1:] = [last] * min(count, 1)
        return from_host(name, values, dtype)
    is_whole = float(start).is_integer() and float(step).is_integer()
    fits = all(-(2**31) <= number < 2**31 for number in (start, last))
    if dtype is int32 and not fits:
        raise ValueError(f"{name}: numbers from {start} to {last} do not fit dtype int32")
    computed = int32 if is_whole and fits else float32
    number = int if computed is int32 else float
    steps = number(start), number(step), number(last)
    return cast_to(run(_SEQUENCE, (), (count,), computed, *steps), dtype)


def ragged_sequence(
    name: str, starts: Sequence[float], deltas: Sequence[float], ends: Sequence[int], dtype: Any
) -> Tensor:
    """Rows of numbers in equal steps, one after the other; row ``r`` ends before ``ends[r]``.

    The dtype is int32 or float32.
    """
    size = ends[-1] if ends else 0
    operands = (
        from_host(name, starts, dtype),
        from_host(name, deltas, dtype),
        from_host(name, [0, *ends], int32),
    )
    return run(_RAGGED_SEQUENCE, operands, (size,), dtype)


def row_numbers(name: str, counts: Sequence[int]) -> Tensor:
    """The number of each row as many times as its count says, as int32."""
    rows = len(counts)
    return ragged_sequence(name, range(rows), [0] * rows, list(accumulate(counts)), int32)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: Any = None,
    device: str | None = None,
) -> Tensor:
    """Evenly spaced numbers from ``start`` (0 if only one is given) up to, not including, ``stop``.

    int32 where all arguments are integers, else float32.

    Raises:
        ValueError: ``step`` is 0, a number is not finite, or there are too many.

    Example:
        >>> import webtensor as wt
        >>> wt.arange(3).tolist(), wt.arange(1, 2, 0.5).tolist()
        ([0, 1, 2], [1.0, 1.5])
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = (
        _finite("arange", argument, number)
        for argument, number in (("start", start), ("stop", stop), ("step", step))
    )
    if step == 0:
        raise ValueError("arange: step must not be 0")
    is_whole = all(isinstance(number, int) for number in (start, stop, step))
    natural = int32 if is_whole else float32
    result_dtype = natural if dtype is None else as_dtype(dtype)
    steps = -((start - stop) // step) if is_whole else (stop - start) / step
    check_size("arange", "stop", stop, steps)
    count = ceil(max(0, steps))
    numbers = _sequence("arange", count, start, step, start + (count - 1) * step, result_dtype)
    return on_device(numbers, device)


def _finite(name: str, argument: str, value: Any) -> float:
    """Return an integer as it is, or another finite number as a float."""
    integer = value if isinstance(value, bool) else single_integer(value)
    if integer is not None:
        return integer
    number = as_number(name, argument, value)
    if not isfinite(number):
        raise ValueError(f"{name}: {argument} must be finite, but got {value!r}")
    return number


def linspace(
    start: float,
    stop: float,
    num: int = 50,
    dtype: Any = None,
    endpoint: bool = True,
    device: str | None = None,
) -> Tensor:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, as float32.

    The result has shape (num,); without ``endpoint`` it ends a step before ``stop``.

    Raises:
        ValueError: ``num`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.linspace(0, 1, 3).tolist()
        [0.0, 0.5, 1.0]
    """
    count = as_non_negative_integer("linspace", "num", num)
    check_size("linspace", "num", num, count)
    first, end = as_number("linspace", "start", start), as_number("linspace", "stop", stop)
    intervals = count - 1 if endpoint else count
    step = (end - first) / intervals if intervals > 0 else 0.0
    last = end if endpoint and count > 1 else first + (count - 1) * step
    result_dtype = float32 if dtype is None else as_dtype(dtype)
    return on_device(_sequence("linspace", count, first, step, last, result_dtype), device)
