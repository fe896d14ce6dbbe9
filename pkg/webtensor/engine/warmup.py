"""Getting a function ready before it is needed: programs compiled, weights on the device."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from math import prod
from typing import Any

from webtensor.arguments import check_callable
from webtensor.dtypes import DType, as_dtype, float32, string_, typed_view
from webtensor.engine import backend_registry
from webtensor.engine.storage import host_storage
from webtensor.engine.tensor import Tensor
from webtensor.engine.variable import Variable
from webtensor.shapes import Shape, as_shape

__all__ = ["warm_up"]


def _is_size(size: Any) -> bool:
    return size is None or (isinstance(size, int) and not isinstance(size, bool))


def _shape_and_dtype(spec: Any) -> tuple[Shape, DType]:
    """Read a spec; axes of unknown size, which are None, become one long."""
    match spec:
        case object(shape=shape, dtype=dtype):
            pass
        case [[*shape], dtype]:
            pass
        case [*shape] if all(map(_is_size, shape)):
            dtype = float32
        case _:
            raise TypeError(
                "warm_up: a spec must be a shape, a shape and a dtype, or have a shape and a "
                f"dtype, but got {spec!r}"
            )
    concrete_shape = [1 if size is None else size for size in shape]
    return as_shape("warm_up", concrete_shape), as_dtype(dtype)


def _input(spec: Any) -> Tensor | Variable:
    """Return the tensor that a spec is, or one of zeros that fits it."""
    if isinstance(spec, (Tensor, Variable)):
        return spec
    shape, dtype = _shape_and_dtype(spec)
    size = prod(shape)
    if dtype is string_:
        return Tensor(host_storage(dtype, (b"",) * size), shape, dtype)
    # A view of no bytes cannot be cast, so one element is made and then cut off.
    zeros = typed_view(bytearray(max(size, 1) * dtype.itemsize), dtype.stored)
    return Tensor(host_storage(dtype, zeros[: size * dtype.words]), shape, dtype)


async def warm_up(function: Callable[..., Any], *specs: Any) -> None:
    """Call a function once, so that its programs are compiled and its weights uploaded.

    Each spec describes an argument: a shape, ``(shape, dtype)`` or an object with both stands for a
    tensor of zeros (of size 1 along axes of size None); a tensor is passed itself. On WebGL, the
    programs are compiled in parallel if the browser can, without blocking the event loop. The
    function's result is dropped. It may be a coroutine function.

    Variables that the function changes, as a training step does, are changed: pass it copies.

    Raises:
        TypeError: the function cannot be called, or a spec is none of these.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> weights = wt.Variable(wt.ones((4, 2)))
        >>> def model(x):
        ...     return wt.softmax(wt.matmul(x, weights))
        >>> asyncio.run(wt.warm_up(model, (None, 4)))
    """
    check_callable("warm_up", "function", function)
    result = function(*map(_input, specs))
    if isawaitable(result):
        await result
    del result
    await backend_registry.backend().finish()
