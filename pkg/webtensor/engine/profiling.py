"""How long a function takes, and which operations it runs.

Operations are timed by the device if it has a timer (a GPU whose browser has
``EXT_disjoint_timer_query_webgl2``). Its results are available only after a turn of the event loop,
so the functions without ``async`` have them only if Python can wait for JavaScript's promises
(JSPI).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from inspect import isawaitable
from time import perf_counter
from typing import Any, Literal

from webtensor.backends.api import Stopwatch
from webtensor.engine import backend_registry, dispatch
from webtensor.engine.jspi import can_suspend, suspended
from webtensor.engine.operands import cached_constants
from webtensor.engine.primitive import Primitive
from webtensor.engine.scopes import tensors_in
from webtensor.engine.state import observing, state
from webtensor.engine.task_stack import TaskStack
from webtensor.engine.tensor import Tensor
from webtensor.shapes import Shape

__all__ = [
    "KernelRecord",
    "Profile",
    "TimingResult",
    "profile",
    "profile_async",
    "time",
    "time_async",
]


def _can_ask_timer() -> bool:
    """Whether the active backend has a timer whose answer can be waited for here."""
    return backend_registry.backend().has_timer and can_suspend()


async def _result_of(function: Callable[[], Any]) -> Any:
    result = function()
    return await result if isawaitable(result) else result


# -- operation by operation -----------------------------------------------------------------------


@dataclass(frozen=True)
class KernelRecord:
    """One operation that ran under ``profile``."""

    name: str
    input_shapes: tuple[Shape, ...]
    output_shape: Shape
    bytes_added: int
    total_bytes: int
    #: Host time since the operation before it, in milliseconds; on a GPU the cost of enqueuing.
    time_ms: float
    #: Time on the GPU, in milliseconds; None if it has no timer, or was interrupted.
    gpu_ms: float | None = None


@dataclass
class Profile:
    """The measurements of ``profile``."""

    kernels: list[KernelRecord] = field(default_factory=list)
    result: Any = None
    new_tensors: int = 0
    new_bytes: int = 0
    peak_bytes: int = 0
    #: ``(kernel, active backend, backend that ran it)`` → times it ran elsewhere.
    fallbacks: dict[tuple[str, str, str], int] = field(default_factory=dict)

    @property
    def kernel_names(self) -> list[str]:
        """Distinct names of the operations that ran, sorted."""
        return sorted({kernel.name for kernel in self.kernels})


class _Profiler:
    """Observer that fills a Profile; with ``timed``, it measures each operation on the device."""

    def __init__(self, profile: Profile, timed: bool) -> None:
        self.profile = profile
        self._timed = timed
        self._measured: list[Stopwatch | None] = []
        self._running: Stopwatch | None = None
        self.start()

    def start(self) -> None:
        """Start measuring the next operation."""
        self._running = backend_registry.backend().stopwatch() if self._timed else None
        self._start = perf_counter()

    def stop(self) -> None:
        """Stop measuring."""
        self._measured.append(self._running)
        if self._running is not None:
            self._running.stop()
            self._running = None

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        if self not in _profilers:
            return
        time_ms = (perf_counter() - self._start) * 1000
        self.stop()
        bytes_in_use = _memory_in_use()[1]
        self.profile.peak_bytes = max(self.profile.peak_bytes, bytes_in_use)
        self.profile.kernels.append(
            KernelRecord(
                name=primitive.name,
                input_shapes=tuple(operand.shape for operand in inputs),
                output_shape=output.shape,
                bytes_added=output.size * output.dtype.itemsize,
                total_bytes=bytes_in_use,
                time_ms=time_ms,
            )
        )
        self.start()

    async def add_times(self) -> None:
        """Wait for the device's times; the last stopwatch was started after the last operation."""
        times = [None if timer is None else await timer.milliseconds() for timer in self._measured]
        self.profile.kernels = [
            replace(kernel, gpu_ms=time)
            for kernel, time in zip(self.profile.kernels, times, strict=False)
        ]


#: The profilers of this task: they ignore what other tasks run.
_profilers: TaskStack[_Profiler] = TaskStack("profilers")


def _memory_in_use() -> tuple[int, int]:
    """Return the numbers of tensors and bytes in use, without cached constants."""
    constants, constant_bytes = cached_constants()
    return state.tensors - constants, state.bytes - constant_bytes


@contextmanager
def _profiling(timed: bool) -> Iterator[_Profiler]:
    tensors, bytes_in_use = _memory_in_use()
    fallbacks = dict(dispatch.fallbacks)
    measured = Profile(peak_bytes=bytes_in_use)
    observer = _Profiler(measured, timed)
    try:
        with observing(observer), _profilers.holding(observer):
            yield observer
    finally:
        observer.stop()
    tensors_after, bytes_after = _memory_in_use()
    measured.new_tensors = tensors_after - tensors
    measured.new_bytes = bytes_after - bytes_in_use
    measured.fallbacks = {
        key: count - fallbacks.get(key, 0)
        for key, count in dispatch.fallbacks.items()
        if count != fallbacks.get(key, 0)
    }


def profile(function: Callable[[], Any]) -> Profile:
    """Call ``function`` and report every operation it ran, with shapes, bytes and time.

    Example:
        >>> import webtensor as wt
        >>> wt.profile(lambda: wt.exp(wt.tensor([1.0])) + 1).kernel_names
        ['add', 'exp']
    """
    if _can_ask_timer():
        return suspended(profile_async(function))
    with _profiling(timed=False) as observer:
        observer.profile.result = function()
    return observer.profile


async def profile_async(function: Callable[[], Any]) -> Profile:
    """Do what ``profile`` does, without blocking the page while it waits for the GPU's times.

    ``function`` may be a coroutine function. The operations of other tasks in the meantime are not
    listed, but their tensors count in the bytes.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> asyncio.run(wt.profile_async(lambda: wt.exp(wt.tensor([1.0])))).kernel_names
        ['exp']
    """
    with _profiling(timed=True) as observer:
        observer.profile.result = await _result_of(function)
    await observer.add_times()
    return observer.profile


# -- all in all -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TimingResult:
    """The measurements of ``time``, in milliseconds."""

    #: From the call until the last of its results was read.
    wall_ms: float
    #: The time of the kernels, by the clock that ``clock`` names.
    kernel_ms: float
    #: ``"gpu"`` if the GPU measured ``kernel_ms`` itself; ``"wall"`` if that is ``wall_ms``.
    clock: Literal["gpu", "wall"]
    #: The time for copying to the device, and for waiting for it and copying back.
    upload_wait_ms: float
    download_wait_ms: float


class _Watch:
    """A running measurement."""

    def __init__(self) -> None:
        self.backend = backend_registry.backend()
        self._upload_ms, self._download_ms = self.backend.upload_ms, self.backend.download_ms
        self._start = perf_counter()

    def read(self) -> TimingResult:
        """Return the wall time so far."""
        wall_ms = (perf_counter() - self._start) * 1000
        return TimingResult(
            wall_ms=wall_ms,
            kernel_ms=wall_ms,
            clock="wall",
            upload_wait_ms=self.backend.upload_ms - self._upload_ms,
            download_wait_ms=self.backend.download_ms - self._download_ms,
        )


def time(function: Callable[[], Any]) -> TimingResult:
    """Call ``function``, wait for every tensor it returns, and report the time.

    Example:
        >>> import webtensor as wt
        >>> timing = wt.time(lambda: wt.exp(1.0))
        >>> timing.clock, timing.kernel_ms == timing.wall_ms
        ('wall', True)
    """
    if _can_ask_timer():
        return suspended(time_async(function))
    watch = _Watch()
    for tensor in tensors_in(function()):
        tensor.data_sync()
    return watch.read()


async def time_async(function: Callable[[], Any]) -> TimingResult:
    """Do what ``time`` does, without blocking the page.

    ``function`` may be a coroutine function.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> asyncio.run(wt.time_async(lambda: wt.exp(wt.tensor([1.0])))).wall_ms > 0
        True
    """
    watch = _Watch()
    on_gpu = watch.backend.stopwatch()
    try:
        result = await _result_of(function)
    finally:
        if on_gpu is not None:
            on_gpu.stop()
    for tensor in tensors_in(result):
        await tensor.data()
    timing = watch.read()
    gpu_ms = None if on_gpu is None else await on_gpu.milliseconds()
    return timing if gpu_ms is None else replace(timing, kernel_ms=gpu_ms, clock="gpu")
