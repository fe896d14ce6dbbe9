"""``vectorize``: functions of vectors and numbers, called for each of many."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

from webtensor import ops as wt
from webtensor.shapes import broadcast_shapes, prod

__all__ = ["vectorize"]

_SIGNATURE = re.compile(r"\([\w,]*\)(,\([\w,]*\))*->\([\w,]*\)(,\([\w,]*\))*")


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Collection[int | str] | None = None,
    signature: str | None = None,
) -> Callable[..., Any]:
    """Return a function that calls ``pyfunc`` for each element of its broadcast arguments.

    ``signature``, such as "(m,n),(n)->(m)", says which last axes of each argument go to one call.
    Arguments whose positions or names are in ``excluded`` are passed as they are.

    Raises:
        TypeError: ``pyfunc`` is not callable, or a call does not fit the signature.
        ValueError: the signature is malformed, or an argument has too few axes.

    Example:
        >>> from webtensor import keras
        >>> add = keras.ops.vectorize(lambda x, y: x + y)
        >>> add([1, 2], 10).tolist()
        [11, 12]
    """
    if not callable(pyfunc):
        raise TypeError(f"vectorize: pyfunc must be callable, but got {pyfunc!r}")
    without = set(excluded or ())
    cores = None if signature is None else _cores(signature)

    def vectorized(*args: Any, **kwargs: Any) -> Any:
        places = [i for i in range(len(args)) if i not in without]
        if cores is not None and len(cores) != len(places):
            raise TypeError(
                f"vectorize: signature {signature!r} has {len(cores)} arguments, but the call "
                f"{len(places)}"
            )
        names = [name for name in kwargs if name not in without]
        held = [wt.asarray(args[i]) for i in places] + [wt.asarray(kwargs[n]) for n in names]
        ranks = [len(core) for core in cores or []]
        ranks += [0] * (len(held) - len(ranks))
        shape: tuple[int, ...] = ()
        for one, rank in zip(held, ranks, strict=True):
            if len(one.shape) < rank:
                raise ValueError(
                    f"vectorize: an argument of shape {one.shape} must have {rank} axes or more"
                )
            shape = broadcast_shapes("vectorize", shape, one.shape[: len(one.shape) - rank])
        rows = [_rows(one, rank, shape) for one, rank in zip(held, ranks, strict=True)]
        results = []
        for number in range(prod(shape)):
            given, named = list(args), dict(kwargs)
            for place, row in zip([*places, *names], rows, strict=True):
                (given if isinstance(place, int) else named)[place] = row[number]  # type: ignore[call-overload, index]
            results.append(pyfunc(*given, **named))
        if results and isinstance(results[0], tuple):
            return tuple(_stacked(list(one), shape) for one in zip(*results, strict=True))
        return _stacked(results, shape)

    return vectorized


def _cores(signature: str) -> list[list[str]]:
    """Names of the axes that each argument of one call has."""
    text = signature.replace(" ", "")
    if not _SIGNATURE.fullmatch(text):
        raise ValueError(f"vectorize: {signature!r} is no signature such as '(m,n),(n)->(m)'")
    given = text.split("->")[0]
    return [[one for one in core.split(",") if one] for core in re.findall(r"\(([\w,]*)\)", given)]


def _rows(x: Any, rank: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """What each call gets of an argument."""
    core = x.shape[len(x.shape) - rank :]
    wide = wt.broadcast_to(x, (*shape, *core))
    return wt.unstack(wt.reshape(wide, (prod(shape), *core)), 0)


def _stacked(results: list[Any], shape: tuple[int, ...]) -> Any:
    made = wt.stack([wt.asarray(one) for one in results])
    return wt.reshape(made, (*shape, *made.shape[1:]))
