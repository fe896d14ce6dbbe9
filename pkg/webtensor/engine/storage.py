"""Storage: the elements behind tensors, on the host, on a backend, or both.

A storage dies with its last reference and gives its device memory back at once. Host data is
uploaded when a kernel first needs it.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from webtensor.backends.api import Backend, Handle
from webtensor.dtypes import DType, string_, typed_view
from webtensor.engine.state import state
from webtensor.errors import KernelNotFoundError, OutOfMemoryError

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["DISPOSED", "Storage", "StringStorage", "empty_host", "host_storage"]


#: Held while a storage exchanges its handle for that on another backend.
_exchange = Lock()


def empty_host(dtype: DType) -> memoryview[Any]:
    """Return the flat host buffer of a tensor with no elements."""
    return typed_view(bytearray(dtype.itemsize), dtype)[:0]


class Storage:
    """``size`` elements of one dtype; ``host`` is a flat memoryview of the dtype's format."""

    __slots__ = ("__weakref__", "_bounds", "backend", "dtype", "handle", "host", "nbytes", "size")

    #: Whether the program may see the elements, as it must not while it is recorded.
    is_readable = True

    def __init__(
        self,
        dtype: DType,
        size: int,
        host: memoryview[Any] | None = None,
        backend: Backend | None = None,
        handle: Handle = None,
    ) -> None:
        self.dtype = dtype
        self.size = size
        self.host = host
        self.backend = backend
        self.handle = handle
        self._bounds: tuple[Any, Any] | None = None
        self.nbytes = nbytes = size * dtype.itemsize
        state.storages += 1
        state.bytes += nbytes

    def __del__(self) -> None:
        state.storages -= 1
        state.bytes -= self.nbytes
        backend = self.backend
        if backend is not None:
            backend.release(self.handle)

    def move_to(self, backend: Backend, operation: str) -> None:
        """Move the elements to ``backend``.

        ``operation`` is the operation that errors will name.

        Raises:
            KernelNotFoundError: no tensor of this size fits the backend's device.
            OutOfMemoryError: the backend has no room for it.
        """
        if self.size == 0:
            return
        if self.size > backend.most_elements:
            raise KernelNotFoundError(
                f"{operation}: an operand of {self.size:,} elements does not fit backend "
                f"{backend.name!r}, which has room for {backend.most_elements:,}"
            )
        host = self.read()
        try:
            handle = backend.upload(host, self.dtype)
        except MemoryError as error:
            elements = f"{self.size:,} {self.dtype} elements"
            raise OutOfMemoryError(
                f"{operation}: no room for an operand of {elements}: {error}"
            ) from None
        with _exchange:  # other threads may have moved the elements meanwhile
            before, unneeded = self.backend, self.handle
            if before is backend:
                unneeded = handle
            else:
                self.handle = handle
                self.backend = backend
        if before is not None:
            before.release(unneeded)
        if not backend.computes_on_host:
            self.host = host  # the device may be lost

    def bounds(self) -> tuple[Any, Any]:
        """Return the minimum and the maximum of elements that are on the host."""
        if self._bounds is None:
            assert self.host is not None
            self._bounds = min(self.host), max(self.host)
        return self._bounds

    def read(self) -> memoryview[Any]:
        """Return the elements on the host, waiting for the device where it must."""
        if self.host is not None:
            return self.host
        backend = self.backend
        assert backend is not None
        try:
            host = backend.read(self.handle, self.dtype, self.size)
        except (MemoryError, OverflowError):
            raise self._no_room_on_host() from None
        return self._keep(backend, host)

    async def read_async(self) -> memoryview[Any]:
        """Return the elements on the host without blocking the event loop."""
        if self.host is not None:
            return self.host
        backend = self.backend
        assert backend is not None
        try:
            host = await backend.read_async(self.handle, self.dtype, self.size)
        except (MemoryError, OverflowError):
            raise self._no_room_on_host() from None
        return self._keep(backend, host)

    def _no_room_on_host(self) -> OutOfMemoryError:
        return OutOfMemoryError(
            f"read: the host has no room for a copy of {self.size:,} {self.dtype} elements"
        )

    def _keep(self, backend: Backend, host: memoryview[Any]) -> memoryview[Any]:
        if self.host is not None:  # it was read, and perhaps moved away, in the meantime
            return self.host
        if backend.reads_are_copies:
            self.host = host
        return host


class StringStorage(Storage):
    """Text: a tuple of bytes, which stays on the host."""

    __slots__ = ()

    host: Any

    def __init__(self, elements: tuple[bytes, ...]) -> None:
        super().__init__(string_, len(elements), cast("Any", elements))
        # The length of the joined bytes is five times quicker to get than a sum of lengths.
        nbytes = len(b"".join(elements))
        state.bytes += nbytes - self.nbytes
        self.nbytes = nbytes

    def move_to(self, backend: Backend, operation: str) -> None:
        raise TypeError(f"{operation}: string operands are not supported")


def host_storage(dtype: DType, host: Any) -> Storage:
    """Return a storage of elements on the host: a buffer of the dtype, or a tuple of bytes."""
    return StringStorage(host) if dtype is string_ else Storage(dtype.stored, len(host), host)


class _DisposedStorage:
    """Replaces the storage of a disposed tensor; any use of it raises."""

    __slots__ = ()

    def _refuse(self) -> NoReturn:
        raise ValueError("the tensor is disposed: its elements were given back by dispose or tidy")

    backend = property(_refuse)
    handle = property(_refuse)
    host = property(_refuse)
    size = property(_refuse)

    def read(self) -> memoryview[Any]:
        self._refuse()

    async def read_async(self) -> memoryview[Any]:
        self._refuse()

    def move_to(self, backend: Backend, operation: str) -> None:
        self._refuse()


DISPOSED = cast("Storage", _DisposedStorage())
