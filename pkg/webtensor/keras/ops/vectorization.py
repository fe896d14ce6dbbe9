"""``vectorize``: functions of numbers or vectors, applied to whole tensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

from webtensor import ops as wt
from webtensor.arguments import check_callable
from webtensor.engine import Tensor, TensorLike
from webtensor.shapes import broadcast_shapes, prod

__all__ = ["vectorize"]

#: What functions return: a tensor or a tuple of them.
Results: TypeAlias = "Tensor | tuple[Tensor, ...]"

_SIGNATURE = re.compile(r"\([\w,]*\)(,\([\w,]*\))*->\([\w,]*\)(,\([\w,]*\))*")


def vectorize(
    pyfunc: Callable[..., Results],
    *,
    excluded: Collection[int | str] | None = None,
    signature: str | None = None,
) -> Callable[..., Results]:
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
    check_callable("vectorize", "pyfunc", pyfunc)
    excluded_arguments = set(excluded or ())
    core_axes = None if signature is None else _core_axes(signature)

    def vectorized(*args: TensorLike, **kwargs: TensorLike) -> Results:
        arguments: dict[int | str, TensorLike] = dict([*enumerate(args), *kwargs.items()])
        operands = {
            key: wt.asarray(argument)
            for key, argument in arguments.items()
            if key not in excluded_arguments
        }
        positional_count = sum(isinstance(key, int) for key in operands)
        if core_axes is not None and len(core_axes) != positional_count:
            raise TypeError(
                f"vectorize: signature {signature!r} has {len(core_axes)} arguments, but the call "
                f"{positional_count}"
            )
        ranks = [len(axes) for axes in core_axes or []]
        ranks += [0] * (len(operands) - len(ranks))
        shape = _loop_shape(operands.values(), ranks)
        slices = {
            key: _slices(operand, rank, shape)
            for (key, operand), rank in zip(operands.items(), ranks, strict=True)
        }
        results = []
        for number in range(prod(shape)):
            call = arguments | {key: rows[number] for key, rows in slices.items()}
            positional = [call[index] for index in range(len(args))]
            results.append(pyfunc(*positional, **{name: call[name] for name in kwargs}))
        if results and isinstance(results[0], tuple):
            return tuple(_stacked(list(column), shape) for column in zip(*results, strict=True))
        return _stacked(results, shape)

    return vectorized


def _core_axes(signature: str) -> list[list[str]]:
    """Return the names of the axes that each argument has in one call."""
    text = signature.replace(" ", "")
    if not _SIGNATURE.fullmatch(text):
        raise ValueError(f"vectorize: {signature!r} is no signature such as '(m,n),(n)->(m)'")
    inputs = text.split("->")[0]
    return [
        [name for name in axes.split(",") if name] for axes in re.findall(r"\(([\w,]*)\)", inputs)
    ]


def _loop_shape(operands: Iterable[Tensor], ranks: Sequence[int]) -> tuple[int, ...]:
    """Return the shape that the axes broadcast to that do not go to one call."""
    shape: tuple[int, ...] = ()
    for operand, rank in zip(operands, ranks, strict=True):
        if len(operand.shape) < rank:
            raise ValueError(
                f"vectorize: an argument of shape {operand.shape} must have {rank} axes or more"
            )
        shape = broadcast_shapes("vectorize", shape, operand.shape[: len(operand.shape) - rank])
    return shape


def _slices(x: Tensor, rank: int, shape: tuple[int, ...]) -> tuple[Tensor, ...]:
    """Return the slices of an argument, one for each call."""
    core_shape = x.shape[len(x.shape) - rank :]
    broadcast = wt.broadcast_to(x, (*shape, *core_shape))
    return wt.unstack(wt.reshape(broadcast, (prod(shape), *core_shape)), 0)


def _stacked(results: list[TensorLike], shape: tuple[int, ...]) -> Tensor:
    stacked = wt.stack([wt.asarray(result) for result in results])
    return wt.reshape(stacked, (*shape, *stacked.shape[1:]))
