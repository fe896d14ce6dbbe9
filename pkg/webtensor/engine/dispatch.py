"""Running a primitive: inputs to the backend, kernel, result, observers.

This is the hot path of every eager operation, so it does only that. Shapes and dtypes were
inferred, and errors raised, by the op that calls ``run``.
"""

from __future__ import annotations

from math import prod
from typing import Any

from webtensor.backends.api import Backend, Handle
from webtensor.dtypes import DType
from webtensor.engine import backend_registry
from webtensor.engine.late_numbers import at_capture
from webtensor.engine.primitive import Primitive
from webtensor.engine.state import state
from webtensor.engine.storage import Storage, empty_host
from webtensor.engine.tensor import Tensor
from webtensor.errors import (
    BackendError,
    KernelNotFoundError,
    OutOfMemoryError,
    TensorSizeError,
)
from webtensor.shapes import SIZE_LIMIT, Shape

__all__ = ["alias", "fallbacks", "no_room", "run"]

#: How often each kernel ran on another backend because the active one lacks it, by
#: ``(kernel, active backend, backend that ran it)``.
fallbacks: dict[tuple[str, str, str], int] = {}


def run(
    primitive: Primitive,
    inputs: tuple[Tensor, ...],
    shape: Shape,
    dtype: DType,
    *attributes: Any,
) -> Tensor:
    """Compute a primitive on the active backend and return its result."""
    backend = state.backend
    if backend is None:
        backend = backend_registry.activate_default()
    size = prod(shape)
    if size >= SIZE_LIMIT:
        _check_growth(primitive.name, inputs, shape, dtype, size)
    if size == 0:
        for operand in inputs:
            operand.storage.size  # noqa: B018  (raises where the tensor is disposed)
        storage = Storage(dtype, 0, empty_host(dtype))
    else:
        numbers = tuple(map(at_capture, attributes)) if state.captures else attributes
        try:
            try:
                if size > backend.most_elements:
                    raise _too_large(backend, size)
                for operand in inputs:
                    source = operand.storage
                    if source.backend is not backend:
                        source.move_to(backend, primitive.name)
                handle = backend.kernels[primitive.kernel](inputs, shape, dtype, *numbers)
            except (KeyError, KernelNotFoundError) as missing:
                if isinstance(missing, KeyError) and primitive.kernel in backend.kernels:
                    raise
                backend, handle = _run_elsewhere(missing, primitive, inputs, shape, dtype, numbers)
        except MemoryError as error:
            raise no_room(error, primitive.name, shape, dtype) from None
        storage = Storage(dtype, size, None, backend, handle)
    output = Tensor(storage, shape, dtype)
    if state.observers:
        for observer in state.observers:
            observer.record(primitive, inputs, output, attributes)
    return output


def no_room(error: MemoryError, name: str, shape: Shape, dtype: DType) -> OutOfMemoryError:
    """Return the error of an op whose result, or whose kernel's scratch, has no room."""
    if isinstance(error, OutOfMemoryError) and str(error).startswith(f"{name}: "):
        return error  # an operand's, which names the op already
    reason = str(error) or "the host's memory is full"
    return OutOfMemoryError(f"{name}: no room for a {dtype} tensor of shape {shape}: {reason}")


def _check_growth(
    name: str, inputs: tuple[Tensor, ...], shape: Shape, dtype: DType, size: int
) -> None:
    """Raise for a large result whose size follows from arguments, not from the operands' shapes.

    Broadcasting and matrix products make at most as many elements as the product of the operands'
    sizes.

    Raises:
        TensorSizeError: the result would have more.
    """
    if size > prod(operand.size for operand in inputs):
        raise TensorSizeError(
            f"{name}: no room for a {dtype} tensor of shape {shape}: arguments may ask for fewer "
            f"than {SIZE_LIMIT:,} elements, not for {size:,}"
        )


def _too_large(backend: Backend, size: int) -> BackendError:
    kind = KernelNotFoundError if backend.others_may_have_room else OutOfMemoryError
    return kind(
        f"a tensor of {size:,} elements does not fit backend {backend.name!r}, which has room for "
        f"{backend.most_elements:,}"
    )


def alias(
    primitive: Primitive,
    source: Tensor,
    shape: Shape,
    *attributes: Any,
    dtype: DType | None = None,
) -> Tensor:
    """Return a tensor over the elements of ``source``, in another shape or seen as a dtype."""
    storage = source.storage
    storage.size  # noqa: B018  (raises where the tensor is disposed)
    output = Tensor(storage, shape, dtype or source.dtype)
    if state.observers:
        for observer in state.observers:
            observer.record(primitive, (source,), output, attributes)
    return output


def _run_elsewhere(
    missing: KeyError | KernelNotFoundError,
    primitive: Primitive,
    inputs: tuple[Tensor, ...],
    shape: Shape,
    dtype: DType,
    attributes: tuple[Any, ...],
) -> tuple[Backend, Handle]:
    """Run a kernel that the active backend lacks, or has for less, on the next that has it."""
    active = state.backend
    assert active is not None
    size = prod(shape)
    for backend in backend_registry.others(active):
        if primitive.kernel not in backend.kernels:
            continue
        try:
            if size > backend.most_elements:
                raise _too_large(backend, size)
            for operand in inputs:
                if operand.storage.backend is not backend:
                    operand.storage.move_to(backend, primitive.name)
            handle = backend.kernels[primitive.kernel](inputs, shape, dtype, *attributes)
        except KernelNotFoundError as error:
            missing = error
            continue
        key = (primitive.kernel, active.name, backend.name)
        fallbacks[key] = fallbacks.get(key, 0) + 1
        return backend, handle
    why = f" ({missing})" if isinstance(missing, KernelNotFoundError) else ""
    raise KernelNotFoundError(
        f"{primitive.name}: neither backend {active.name!r} nor any other available one has a "
        f"kernel {primitive.kernel!r}{why}"
    ) from None
