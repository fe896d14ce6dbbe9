"""Looking at the engine: what is alive, what ran, and where a NaN first appeared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from time import perf_counter
from typing import Any

from webtensor.dtypes import float32
from webtensor.engine import dispatch, registry
from webtensor.engine.operands import constants_held
from webtensor.engine.primitive import Primitive
from webtensor.engine.state import state
from webtensor.engine.tensor import Tensor
from webtensor.environment import env
from webtensor.shapes import Shape

__all__ = [
    "KernelRecord",
    "Profile",
    "TimingResult",
    "disable_debug_mode",
    "enable_debug_mode",
    "memory",
    "profile",
    "time",
]


def memory() -> dict[str, Any]:
    """Count what is alive: ``num_tensors``, ``num_storages``, ``num_bytes``, and ``backends``.

    ``backends`` holds what each started backend counts itself, in bytes and objects. Constants that
    the library keeps for reuse are not counted.

    Example:
        >>> import webtensor as wt
        >>> before = wt.memory()["num_bytes"]
        >>> x = wt.zeros((10, 10))
        >>> wt.memory()["num_bytes"] - before
        400
    """
    constants, constant_bytes = constants_held()
    return {
        "num_tensors": state.tensors - constants,
        "num_storages": state.storages - constants,
        "num_bytes": state.bytes - constant_bytes,
        "backends": {started.name: started.memory() for started in registry.started_backends()},
    }


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


@dataclass
class Profile:
    """What ``profile`` saw."""

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
    """Observer that fills a Profile."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.last = perf_counter()

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        now = perf_counter()
        self.profile.peak_bytes = max(self.profile.peak_bytes, state.bytes)
        self.profile.kernels.append(
            KernelRecord(
                name=primitive.name,
                input_shapes=tuple(operand.shape for operand in inputs),
                output_shape=output.shape,
                bytes_added=output.size * output.dtype.itemsize,
                total_bytes=state.bytes,
                time_ms=(now - self.last) * 1000,
            )
        )
        self.last = perf_counter()


def profile(function: Callable[[], Any]) -> Profile:
    """Call ``function`` and report every operation it ran, with shapes, bytes and time.

    Example:
        >>> import webtensor as wt
        >>> wt.profile(lambda: wt.exp(wt.tensor([1.0])) + 1).kernel_names
        ['add', 'exp']
    """
    seen = Profile(peak_bytes=state.bytes)
    tensors, held, ran_elsewhere = state.tensors, state.bytes, dict(dispatch.fallbacks)
    observer = _Profiler(seen)
    state.observers += (observer,)
    try:
        seen.result = function()
    finally:
        state.observers = tuple(one for one in state.observers if one is not observer)
    seen.new_tensors = state.tensors - tensors
    seen.new_bytes = state.bytes - held
    seen.fallbacks = {
        key: count - ran_elsewhere.get(key, 0)
        for key, count in dispatch.fallbacks.items()
        if count != ran_elsewhere.get(key, 0)
    }
    return seen


@dataclass(frozen=True)
class TimingResult:
    """What ``time`` measured, in milliseconds."""

    wall_ms: float


def time(function: Callable[[], Any]) -> TimingResult:
    """Call ``function``, wait for every tensor it returns, and report the wall time."""
    from webtensor.engine.scopes import tensors_in

    start = perf_counter()
    for tensor in tensors_in(function()):
        tensor.data_sync()
    return TimingResult(wall_ms=(perf_counter() - start) * 1000)


class _NanCheck:
    """Observer that raises at the first operation whose result holds a NaN."""

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        shapes = ", ".join(str(operand.shape) for operand in inputs)
        print(f"{primitive.name}({shapes}) -> {output.dtype} {output.shape}")  # noqa: T201
        if output.dtype is float32 and any(value != value for value in output.data_sync()):
            finite = all(
                isfinite(value)
                for operand in inputs
                if operand.dtype is float32
                for value in operand.data_sync()
            )
            came = "from finite inputs" if finite else "its inputs hold NaN or infinity"
            raise FloatingPointError(f"{primitive.name}: the result holds NaN ({came})")


_nan_check = _NanCheck()


def _set_debug(on: Any) -> None:
    without = tuple(one for one in state.observers if one is not _nan_check)
    state.observers = (*without, _nan_check) if on else without


def enable_debug_mode() -> None:
    """Print every operation, check its result for NaN, and raise at the first that made one."""
    env().set("DEBUG", True)


def disable_debug_mode() -> None:
    """Stop what ``enable_debug_mode`` started."""
    env().set("DEBUG", False)


env().register_flag("DEBUG", lambda: False, on_set=_set_debug)
if env().get_bool("DEBUG"):
    _set_debug(True)
