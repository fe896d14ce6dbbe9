"""Tensor: an immutable array of one dtype whose elements are in a Storage.

The operators and the methods named after ops are attached by ``ops/methods.py``; they are declared
here for type checkers only, since the engine must not know the ops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from webtensor.dtypes import DType, complex64, string_, typed_view
from webtensor.engine import backend_registry
from webtensor.engine.convert import nested_list, python_numbers
from webtensor.engine.elements import read_only
from webtensor.engine.jspi import can_suspend, suspended
from webtensor.engine.state import state
from webtensor.engine.storage import DISPOSED, Storage, empty_host, host_storage
from webtensor.errors import ContextLostError
from webtensor.shapes import Shape

__all__ = ["Tensor"]


def _bytes(elements: Any) -> Any:
    return list(elements) if type(elements) is tuple else elements.tobytes()


def _unpickled(dtype: DType, shape: Shape, elements: Any) -> Tensor:
    """Return a tensor of elements on the host: bytes in memory order, or a list of texts."""
    if dtype is not string_:
        stored = dtype.stored
        elements = typed_view(elements, stored) if elements else empty_host(stored)
    return Tensor(host_storage(dtype, elements), shape, dtype)


if TYPE_CHECKING:

    class Operators:  # noqa: PLW1641 (Tensor and Variable have their own)
        """The operators of tensors and variables, which ``ops/methods.py`` attaches."""

        def __getitem__(self, key: Any, /) -> Tensor: ...
        def __contains__(self, value: Any, /) -> bool: ...
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __add__(self, other: Any, /) -> Tensor: ...
        def __radd__(self, other: Any, /) -> Tensor: ...
        def __sub__(self, other: Any, /) -> Tensor: ...
        def __rsub__(self, other: Any, /) -> Tensor: ...
        def __mul__(self, other: Any, /) -> Tensor: ...
        def __rmul__(self, other: Any, /) -> Tensor: ...
        def __truediv__(self, other: Any, /) -> Tensor: ...
        def __rtruediv__(self, other: Any, /) -> Tensor: ...
        def __floordiv__(self, other: Any, /) -> Tensor: ...
        def __rfloordiv__(self, other: Any, /) -> Tensor: ...
        def __mod__(self, other: Any, /) -> Tensor: ...
        def __rmod__(self, other: Any, /) -> Tensor: ...
        def __divmod__(self, other: Any, /) -> tuple[Tensor, Tensor]: ...
        def __rdivmod__(self, other: Any, /) -> tuple[Tensor, Tensor]: ...
        def __round__(self, decimals: int = 0, /) -> Tensor: ...
        def __pow__(self, other: Any, /) -> Tensor: ...
        def __rpow__(self, other: Any, /) -> Tensor: ...
        def __matmul__(self, other: Any, /) -> Tensor: ...
        def __rmatmul__(self, other: Any, /) -> Tensor: ...
        def __and__(self, other: Any, /) -> Tensor: ...
        def __or__(self, other: Any, /) -> Tensor: ...
        def __xor__(self, other: Any, /) -> Tensor: ...
        def __lshift__(self, other: Any, /) -> Tensor: ...
        def __rshift__(self, other: Any, /) -> Tensor: ...
        def __lt__(self, other: Any, /) -> Tensor: ...
        def __le__(self, other: Any, /) -> Tensor: ...
        def __gt__(self, other: Any, /) -> Tensor: ...
        def __ge__(self, other: Any, /) -> Tensor: ...
        def __eq__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: object, /) -> Tensor: ...  # type: ignore[override]

else:
    Operators = object


class Tensor(Operators):
    """An immutable, multi-dimensional array on a backend.

    Make one with ``wt.tensor``, ``wt.zeros`` and the like. ``shape`` is a tuple of sizes and
    ``dtype`` one of ``wt.float32``, ``wt.int32`` and ``wt.bool``. Its memory is freed when the
    last reference to it is dropped, or earlier by ``dispose``.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> (x @ x).tolist()
        [[7.0, 10.0], [15.0, 22.0]]
    """

    __slots__ = ("__weakref__", "_keras_mask", "dtype", "shape", "storage")

    storage: Storage
    shape: Shape
    dtype: DType
    #: The mask of steps that count, if a layer that masks steps has set one.
    _keras_mask: Tensor | None

    def __init__(self, storage: Storage, shape: Shape, dtype: DType) -> None:
        self.storage = storage
        self.shape = shape
        self.dtype = dtype
        state.tensors += 1
        if state.scopes is not None:
            state.scopes.add(self)

    def __del__(self) -> None:
        try:
            counts = self.storage is not DISPOSED
        except AttributeError:  # the arguments did not fit, so that ``__init__`` never ran
            return
        if counts:
            state.tensors -= 1

    # -- what it is ---------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.storage.size // self.dtype.words

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    rank = ndim

    @property
    def device(self) -> str:
        """Name of the backend that has the elements, or gets them when they are first used.

        It is ``"host"`` for text, which no backend gets.
        """
        if self.storage.backend is None and self.dtype is not string_:
            return backend_registry.get_backend()
        return self._location()

    def _location(self) -> str:
        """Return the name of the backend that has the elements, or ``"host"``."""
        backend = self.storage.backend
        return "host" if backend is None else backend.name

    def to_device(self, device: str, /, *, stream: Any = None) -> Tensor:
        """Move the elements to a backend, by its name, and return the tensor itself.

        An operation moves its operands to the active backend anyway; this only does it earlier.
        ``stream`` is for the array API standard and must be None.

        Raises:
            TypeError: the tensor holds text.
            ValueError: the backend is not available, or there is a stream.
        """
        if stream is not None:
            raise ValueError(f"to_device: stream must be None, but got {stream!r}")
        if device in ("host", self._location()):
            return self
        is_registered = device in backend_registry.registered_backends()
        target = backend_registry.find_backend(device) if is_registered else None
        if target is None:
            raise ValueError(
                f"to_device: device must be one of {backend_registry.available_backends()}, "
                f"but got {device!r}"
            )
        self.storage.move_to(target, "to_device")
        return self

    # -- its life -----------------------------------------------------------------------------

    def dispose(self) -> None:
        """Free the memory now; using the tensor afterwards raises ``ValueError``."""
        if not self.is_disposed:
            state.tensors -= 1
            self.storage = DISPOSED

    def throw_if_disposed(self) -> None:
        """Raise ``ValueError`` if ``dispose`` was called."""
        self.storage.size  # noqa: B018  (raises where the tensor is disposed)

    @property
    def is_disposed(self) -> bool:
        """Whether ``dispose`` was called."""
        return self.storage is DISPOSED

    def __copy__(self) -> Tensor:
        return self.clone()  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self.__copy__()  # elements never change; ``copy`` itself fills the memo

    def __reduce__(self) -> tuple[Any, ...]:
        elements = self._elements()
        return _unpickled, (
            self.dtype,
            self.shape,
            elements if self.dtype is string_ else bytes(elements),
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(
            "tensors are immutable, so their elements cannot be assigned to; write "
            "x = wt.where(mask, value, x) for x[mask] = value, and "
            "x = wt.tensor_scatter_update(x, indices, updates) for x[indices] = updates"
        )

    def __delitem__(self, key: Any) -> None:
        raise TypeError(
            "tensors are immutable, so their elements cannot be deleted; write x = x[mask] or "
            "x = wt.concat(…) with the elements that stay"
        )

    # -- reading it ---------------------------------------------------------------------------

    def data_sync(self) -> Any:
        """Return the elements, flat and read-only, waiting for the device.

        They are a buffer and a sequence, with the methods of a memoryview. Complex elements are
        pairs of float32 (real and imaginary part), and text is a tuple of UTF-8 bytes. The page
        does not block if the browser can suspend Python and nothing observes operations (a tape, a
        profile or the debug mode).
        """
        return read_only(self._elements(), self.dtype)

    async def data(self) -> Any:
        """Return what ``data_sync`` does, without blocking the page.

        Example:
            >>> import asyncio
            >>> import webtensor as wt
            >>> list(asyncio.run(wt.tensor([[1.0, 2.5]]).data()))
            [1.0, 2.5]
        """
        return read_only(await self.storage.read_async(), self.dtype)

    def _elements(self) -> Any:
        """Return the stored elements: a memoryview, or a tuple of bytes for text."""
        storage = self.storage
        if storage.host is None and not state.observers:
            backend = storage.backend
            if backend is not None and not backend.computes_on_host and can_suspend():
                return suspended(storage.read_async())
        return storage.read()

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers or str (itself for rank 0)."""
        return nested_list(self._elements(), self.shape, self.dtype)

    def bytes_sync(self) -> Any:
        """Return the elements' bytes in memory order, little-endian; for text, a list."""
        return _bytes(self._elements())

    async def bytes(self) -> Any:
        """Return what ``bytes_sync`` does, without blocking the page."""
        return _bytes(await self.storage.read_async())

    async def array(self) -> Any:
        """Return the elements as nested lists of Python numbers without blocking the page."""
        return nested_list(await self.storage.read_async(), self.shape, self.dtype)

    def item(self) -> Any:
        """Return the only element as a Python number.

        Raises:
            ValueError: the tensor does not have exactly one element.
        """
        if self.size != 1:
            raise ValueError(
                f"item: wanted a tensor with one element, but its shape is {self.shape}"
            )
        return python_numbers(self._elements(), self.dtype)[0]

    def numpy(self) -> Any:
        """Return the elements as a new NumPy array, which may be written to.

        Raises:
            ModuleNotFoundError: NumPy is missing, as in pages that have not loaded it.
        """
        try:
            return self.__array__(copy=True)
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "numpy: NumPy is not loaded; use x.tolist() or await x.array()", name="numpy"
            ) from None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the elements as NumPy sees them: read-only, and not copied where they need not be.

        With ``copy``, or as another ``dtype``, it is a new array, which may be written to.
        """
        import numpy

        is_copied = not self._is_on_host()
        if self.dtype is string_:
            texts = python_numbers(self._elements(), self.dtype)
            array = numpy.array(texts, dtype=object).reshape(self.shape)
        else:
            flat = numpy.asarray(self._elements(), dtype=self.dtype.stored.name)
            array = flat.view(self.dtype.name).reshape(self.shape)
        is_cast = dtype is not None and array.dtype != dtype
        if copy is False and (is_cast or is_copied):
            raise ValueError(
                f"__array__: NumPy cannot have a {self.dtype} tensor on {self.device} as "
                f"{dtype or self.dtype} without a copy, as copy=False demands"
            )
        if is_cast:
            return array.astype(dtype)
        if copy:
            return array.copy()
        array.flags.writeable = False
        return array

    def _is_on_host(self) -> bool:
        """Whether the elements are in memory that NumPy can read."""
        backend = self.storage.backend
        on_host = self.storage.host is not None or backend is None or not backend.reads_are_copies
        return on_host and self.dtype is not string_

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export the elements in host memory, through NumPy.

        The exported array is a snapshot: a tensor never changes, so ``copy`` makes no difference.

        Raises:
            BufferError: ``dl_device`` is not that of host memory, or the elements are text.
            ValueError: ``stream`` is not None: host memory has no streams.
        """
        if stream is not None:
            raise ValueError(f"__dlpack__: stream must be None, but got {stream!r}")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(
                f"__dlpack__: dl_device must be {self.__dlpack_device__()}, but got {dl_device}"
            )
        if self.dtype is string_:
            raise BufferError("__dlpack__: string tensors cannot be exported")
        return self.numpy().__dlpack__(max_version=max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the device that ``__dlpack__`` exports to: 1, host memory, and its number."""
        return 1, 0

    def __bool__(self) -> bool:
        return bool(
            self.item() if self.size == 1 else self._scalar("bool", "; use wt.any or wt.all")
        )

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if self.dtype != "int32":
            raise TypeError(f"only an int32 tensor can be an index, but its dtype is {self.dtype}")
        return int(self._scalar("index"))

    def __format__(self, spec: str) -> str:
        if not self.shape and not self.is_disposed:
            return format(self.item(), spec)
        if not spec:
            return str(self)
        raise TypeError(
            f"only a tensor of rank 0 can be formatted as {spec!r}, but its shape is {self.shape}"
        )

    def _scalar(self, name: str, advice: str = "") -> Any:
        if self.shape:
            advice = advice or "; use x.item()" * (self.size == 1)
            raise TypeError(
                f"{name}: wanted a tensor of rank 0, but its shape is {self.shape}{advice}"
            )
        return self.item()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor of rank 0 has no len()")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("a tensor of rank 0 cannot be iterated over")
        return (self[index] for index in range(self.shape[0]))

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self._text()

    def _text(self, prefix: str = "") -> str:
        """Return what ``repr`` does; its second line begins under the end of ``prefix``."""
        if self.is_disposed:
            return f"Tensor(disposed, shape={self.shape}, dtype={self.dtype})"
        start = "Tensor("
        values = self._values_text(len(prefix) + len(start))
        return f"{start}{values}, {self._facts()})"

    def _facts(self) -> str:
        """Return shape, dtype and where the elements are, as ``repr`` shows them."""
        return f"shape={self.shape}, dtype={self.dtype}, device={self._location()}"

    def _values_text(self, indent: int) -> str:
        """Return the elements as text, whose further lines are indented."""
        from webtensor.engine.array_text import array_text

        try:
            elements = self._elements()
            if self.dtype in (complex64, string_):
                elements = python_numbers(elements, self.dtype)
            return array_text(elements, self.shape, self.dtype, indent)
        except ContextLostError:
            return "lost"

    def _repr_html_(self) -> str:
        from webtensor.engine.tensor_html import tensor_html

        return tensor_html(self, repr(self))

    if TYPE_CHECKING:
        # Methods named after ops: see ``ops/methods.py``.
        def __getattr__(self, name: str, /) -> Any: ...
