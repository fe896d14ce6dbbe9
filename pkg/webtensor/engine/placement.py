"""Where an op computes: on the active backend, or on the host if its operands are there.

GPUs are slow at operations whose work depends on the data, such as sorting and counting, and the
host often waits for the number of their results. If all operands are on the host already, such ops
compute there, as in TensorFlow.js; ``wt.profile`` and ``fallbacks`` list them. Their results are
uploaded when a kernel on the GPU first needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, ParamSpec, TypeVar

from webtensor.backends.api import Backend
from webtensor.engine import backend_registry
from webtensor.engine.dispatch import fallbacks
from webtensor.engine.state import state
from webtensor.engine.tensor import Tensor
from webtensor.environment import BOOLEAN, env

__all__ = ["near_its_operands", "on_host", "where_integers_are_whole"]

P = ParamSpec("P")
R = TypeVar("R")

_FLAG = "WEBGL_CPU_FORWARD"
env().register_flag(_FLAG, lambda: True, type=BOOLEAN)


def _is_on_host(operand: Any) -> bool:
    """Whether the elements are on the host, or on a backend that computes there."""
    if not isinstance(operand, Tensor):
        return True
    storage = operand.storage
    if storage.host is not None or storage.size == 0:
        return True
    return storage.backend is not None and storage.backend.computes_on_host


def _host_backend(active: Backend) -> Backend | None:
    return next(
        (candidate for candidate in backend_registry.others(active) if candidate.computes_on_host),
        None,
    )


def _near(name: str, operands: tuple[Any, ...]) -> AbstractContextManager[None]:
    """Compute an op on the host if its operands are there."""
    is_on_gpu = not backend_registry.backend().computes_on_host
    return _on_host(name, is_on_gpu and env().get_bool(_FLAG) and all(map(_is_on_host, operands)))


def where_integers_are_whole(name: str) -> AbstractContextManager[None]:
    """Compute an op on the host where the active backend does not keep all bits of int32."""
    return _on_host(name, not backend_registry.backend().integers_are_whole)


def on_host(name: str) -> AbstractContextManager[None]:
    """Compute operations on the host, whatever backend is active."""
    return _on_host(name, not backend_registry.backend().computes_on_host)


def _on_host(name: str, is_needed: bool) -> AbstractContextManager[None]:
    """Compute operations on the host, if that is needed and a backend is there for it."""
    active = backend_registry.backend()
    host = _host_backend(active) if is_needed else None
    return nullcontext() if host is None else _switched(name, active, host)


@contextmanager
def _switched(name: str, active: Backend, host: Backend) -> Iterator[None]:
    """Compute operations on a backend of the host instead of the active one, and count that."""
    key = (name, active.name, host.name)
    fallbacks[key] = fallbacks.get(key, 0) + 1
    state.backend = host
    try:
        yield
    finally:
        state.backend = active


def near_its_operands(function: Callable[P, R]) -> Callable[P, R]:
    """Compute an op on the host if its operands are there, even if a GPU is active.

    The flag ``WEBGL_CPU_FORWARD`` turns this off. A coroutine function must not await anything but
    reads, which are immediate on the host.
    """
    name = function.__name__
    if iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*arguments: P.args, **options: P.kwargs) -> Any:
            with _near(name, (*arguments, *options.values())):
                return await function(*arguments, **options)

        return awaited  # type: ignore[return-value]

    @wraps(function)
    def called(*arguments: P.args, **options: P.kwargs) -> R:
        with _near(name, (*arguments, *options.values())):
            return function(*arguments, **options)

    return called
