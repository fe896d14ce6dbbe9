"""Inspecting the engine: what is alive, and where a NaN first appeared."""

from __future__ import annotations

from math import isfinite
from typing import Any

from webtensor.dtypes import float32
from webtensor.engine import backend_registry
from webtensor.engine.operands import cached_constants
from webtensor.engine.primitive import Primitive
from webtensor.engine.state import attach, detach, state
from webtensor.engine.tensor import Tensor
from webtensor.environment import BOOLEAN, env

__all__ = ["disable_debug_mode", "enable_debug_mode", "memory"]


def memory() -> dict[str, Any]:
    """Count what is alive: ``num_tensors``, ``num_storages``, ``num_bytes``, and ``backends``.

    ``num_bytes_in_gpu`` counts the bytes of textures in use, in whole texels, and
    ``num_bytes_in_gpu_free`` those of textures kept for reuse; ``num_bytes_in_gpu_allocated`` is
    their sum. ``backends`` has each started backend's own counts of bytes and objects: for WebGL
    also ``textures``, ``free_textures``, ``programs`` and ``pending_reads``, and ``paged_textures``
    and ``paged_bytes``, which were moved to the host because the GPU was full. The first three do
    not count constants that the library caches.

    Example:
        >>> import webtensor as wt
        >>> x = wt.zeros((10, 10))
        >>> wt.memory()["num_bytes"] >= 400
        True
    """
    constants, constant_bytes = cached_constants()
    started = backend_registry.started_backends()
    usage = {backend.name: backend.memory() for backend in started}
    on_gpus = [usage[backend.name] for backend in started if not backend.computes_on_host]
    gpu_bytes = sum(counts["bytes"] for counts in on_gpus)
    free = sum(counts.get("free_bytes", 0) for counts in on_gpus)
    return {
        "num_tensors": state.tensors - constants,
        "num_storages": state.storages - constants,
        "num_bytes": state.bytes - constant_bytes,
        "num_bytes_in_gpu": gpu_bytes,
        "num_bytes_in_gpu_allocated": gpu_bytes + free,
        "num_bytes_in_gpu_free": free,
        "backends": usage,
    }


class _NanCheck:
    """Observer that raises at the first operation whose result contains a NaN."""

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
            origin = "from finite inputs" if finite else "its inputs hold NaN or infinity"
            raise FloatingPointError(f"{primitive.name}: the result holds NaN ({origin})")


_nan_check = _NanCheck()


def _set_debug(on: Any) -> None:
    detach("observers", _nan_check)
    if on:
        attach("observers", _nan_check)


def enable_debug_mode() -> None:
    """Print every operation, check its result for NaN, and raise at the first that has one.

    Example:
        >>> import webtensor as wt
        >>> wt.enable_debug_mode()
        >>> wt.env().get_bool("DEBUG")
        True
        >>> wt.disable_debug_mode()
    """
    env().set("DEBUG", True)


def disable_debug_mode() -> None:
    """Stop what ``enable_debug_mode`` started.

    Example:
        >>> import webtensor as wt
        >>> wt.disable_debug_mode()
        >>> wt.env().get_bool("DEBUG")
        False
    """
    env().set("DEBUG", False)


env().register_flag("DEBUG", lambda: False, _set_debug, BOOLEAN)
