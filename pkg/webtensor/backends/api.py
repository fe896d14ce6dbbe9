"""The interface of backends: between the engine and the devices.

A tensor's elements are on a backend behind a **handle** that only the backend understands (an
array, an address, a texture). The elements are always dense and row-major, so tensors of any
shape with the same number of elements can share one handle. A **kernel** is called as
``kernel(inputs, shape, dtype, *attributes)`` with operands that are already on the backend, and
returns the handle of its freshly allocated result. Operands and results are never empty: the
engine and the ops answer zero-size cases without a kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from math import copysign, inf
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from webtensor.backends.families import FAMILIES
from webtensor.backends.signatures import Signature, Typed
from webtensor.dtypes import DType
from webtensor.errors import KernelNotFoundError
from webtensor.shapes import Shape

if TYPE_CHECKING:
    from webtensor.backends.programs import Program

__all__ = [
    "Backend",
    "CompiledProgram",
    "DescribedKernel",
    "Elementwise",
    "Handle",
    "Kernel",
    "KernelTable",
    "Operand",
    "PreparedKernel",
    "Priority",
    "Stopwatch",
    "Stored",
]

Handle = Any
Kernel = Callable[..., Handle]
Registered = TypeVar("Registered", bound=Kernel)
#: The maximum number of calls that a kernel keeps; then a new one replaces the oldest. Those of
#: optimizers, whose numbers change at every step, fill any cache.
_MAX_CALLS = 512
#: A kernel's call for operands of fixed shapes and dtypes; it takes the operands.
PreparedKernel = Callable[[Sequence["Operand"]], Handle]


class Stored(Protocol):
    """The memory of an operand's elements."""

    @property
    def handle(self) -> Handle: ...


class Operand(Typed, Protocol):
    """A kernel's view of an input tensor."""

    @property
    def storage(self) -> Stored: ...


class CompiledProgram(Protocol):
    """A program, compiled by a backend (see ``programs``)."""

    def __call__(self, sources: Sequence[Stored], late: Sequence[tuple[Any, ...]]) -> list[Handle]:
        """Return the handles of the results for these sources and late attributes."""

    def close(self) -> None:
        """Free what is kept for replays."""


class Elementwise(Protocol):
    """A row of the elementwise table, as backends see it (see ``ops/elementwise.py``).

    ``numpy(np, x, …, *parameters)`` computes arrays. ``glsl`` and ``c`` are expressions in
    ``x``, ``y``, ``z`` and the names of the parameters; ``glsl_int`` and ``c_int`` replace them
    for int32 operands where the float expression would not do.
    """

    @property
    def name(self) -> str: ...
    @property
    def arity(self) -> int: ...
    @property
    def parameters(self) -> tuple[str, ...]: ...
    @property
    def numpy(self) -> Callable[..., Any]: ...
    @property
    def glsl(self) -> str: ...
    @property
    def glsl_int(self) -> str | None: ...
    @property
    def c(self) -> str: ...
    @property
    def c_int(self) -> str | None: ...


class Stopwatch(Protocol):
    """Measures the device time of the operations from its start until ``stop``."""

    def stop(self) -> None: ...
    async def milliseconds(self) -> float | None:
        """Wait for the measurement; None if the device was interrupted."""


class Priority(NamedTuple):
    """A backend's priority, and the reason if it is lower than usual."""

    value: int
    reason: str | None = None


class KernelTable:
    """Kernels of one backend by name; its modules fill it through the decorator ``table(name)``."""

    def __init__(self, package: str, without: Collection[str] = ()) -> None:
        """Make the table of the modules in ``package``, which may be ``without`` some kernels."""
        self._package = package
        self._functions: dict[str, Kernel] = {}
        #: The modules of the kernels.
        self.families = {
            name: family
            for family, names in FAMILIES.items()
            for name in names
            if name not in without
        }

    def __call__(self, *names: str) -> Callable[[Registered], Registered]:
        """Register the decorated ``function(backend, inputs, shape, dtype, …)`` under ``names``."""

        def register(function: Registered) -> Registered:
            self._functions.update(dict.fromkeys(names, function))
            return function

        return register

    def function(self, name: str) -> Kernel:
        """Return the function of a kernel, whose module is imported where it was not yet."""
        if name not in self._functions:
            import_module(f"{self._package}.{self.families[name]}")
        return self._functions[name]


class DescribedKernel:
    """A kernel that says what it would call; the backend dispatches that for each signature once.

    Args:
        backend: its backend.
        describe: returns the description of a call, which depends on its arguments alone: the
            signature, and the primitive's attributes.
    """

    __slots__ = ("_backend", "_calls", "_describe", "_epoch")

    def __init__(self, backend: Backend, describe: Callable[..., Any]) -> None:
        self._backend = backend
        self._describe = describe
        self._calls: dict[Any, PreparedKernel] = {}
        self._epoch = backend.epoch

    def __call__(
        self, inputs: Sequence[Operand], shape: Shape, dtype: DType, *attributes: Any
    ) -> Handle:
        """Compute a result."""
        return self.prepared(inputs, shape, dtype, attributes)(inputs)

    def describe(self, of: Signature, *attributes: Any) -> Any:
        """Return the description of a call."""
        return self._describe(of, *attributes)

    def prepared(
        self, inputs: Sequence[Operand], shape: Shape, dtype: DType, attributes: tuple[Any, ...]
    ) -> PreparedKernel:
        """Return a function that computes results from operands of these shapes and dtypes."""
        calls, backend = self._calls, self._backend
        if self._epoch is not backend.epoch:
            calls.clear()
            self._epoch = backend.epoch
        # 0.0 and -0.0 are equal as keys.
        signs = [copysign(1.0, value) for value in attributes if type(value) is float]
        key = (shape, dtype, attributes, *signs, *[(x.shape, x.dtype) for x in inputs])
        call = calls.get(key)
        if call is None:
            of = Signature.of(inputs, shape, dtype)
            call = backend.dispatched(of, self._describe(of, *attributes))
            if len(calls) >= _MAX_CALLS:
                with suppress(KeyError, RuntimeError):  # another thread has replaced it
                    del calls[next(iter(calls))]
            # Describing may begin an epoch, as a geometry that it overwrites does.
            if self._epoch is backend.epoch:
                calls[key] = call
        return call


class Backend(ABC):
    """A device that holds elements and runs kernels."""

    name: str
    #: Whether reading costs a transfer; then the engine keeps the host copy that a read made.
    reads_are_copies: bool = True
    #: Kernels run on the same processor as Python, so that reading is no more than a copy.
    computes_on_host: bool = False
    #: Format, as in the module ``struct``, in which the elements of float32 tensors are stored.
    float_format: str = "f"
    #: Whether int32 tensors have all 32 bits.
    integers_are_whole: bool = True
    #: A tensor of more elements has no room here, however much memory is free. The engine calls no
    #: kernel for such a result; kernels that would make one for themselves raise
    #: ``KernelNotFoundError``.
    most_elements: float = inf
    #: Whether other backends may have room for more; False if the host is out of addresses.
    others_may_have_room: bool = True

    #: Called once when the device is lost, with all tensors on it. After that, the backend
    #: raises ``KernelNotFoundError`` to compute and ``ContextLostError`` to read.
    on_lost: Callable[[], None] | None = None
    #: Whether the device measures its own time; otherwise the host's clock is used.
    has_timer: bool = False
    #: Milliseconds spent on copying to the device, and on waiting for it and copying back.
    upload_ms: float = 0.0
    download_ms: float = 0.0

    def __init__(self, table: KernelTable) -> None:
        """Take the kernels of ``table``; a module is imported when its first kernel is called."""
        #: Prepared calls are valid while this is the same object.
        self.epoch = object()
        self._table = table
        self.kernels: dict[str, Callable[..., Handle]] = {
            name: partial(self._first_call, name) for name in table.families
        }

    def kernel(self, name: str) -> Callable[..., Handle]:
        """Return a kernel, whose module is imported where it was not yet.

        Raises:
            KeyError: the backend has no such kernel.
        """
        kernel = self.kernels[name]
        if isinstance(kernel, partial):
            kernel = self.kernels[name] = self.load_kernel(name)
        return kernel

    def load_kernel(self, name: str) -> Callable[..., Handle]:
        """Return one of the backend's own kernels, whose module is imported."""
        return self._bound(self._table.function(name))

    def _first_call(self, name: str, *arguments: Any) -> Handle:
        kernel = self.load_kernel(name)
        if isinstance(self.kernels.get(name), partial):
            self.kernels[name] = kernel
        return kernel(*arguments)

    def _bound(self, function: Kernel) -> Callable[..., Handle]:
        """Return a kernel of this backend's as what is called."""
        return MethodType(function, self)

    def prepared_call(
        self,
        kernel: str,
        inputs: Sequence[Operand],
        shape: Shape,
        dtype: DType,
        attributes: tuple[Any, ...],
    ) -> PreparedKernel:
        """Return the call of a kernel that has run, for operands of these shapes and dtypes."""
        kernels = self.kernels
        own = kernels.get(kernel)
        if isinstance(own, DescribedKernel):
            return own.prepared(inputs, shape, dtype, attributes)
        return lambda inputs: kernels[kernel](inputs, shape, dtype, *attributes)

    def dispatched(self, of: Signature, description: Any) -> PreparedKernel:
        """Return a function that computes a description for operands of its signature."""
        raise NotImplementedError

    def compiled(self, program: Program) -> CompiledProgram:
        """Return a function that computes a program's results from its sources and late attributes.

        Raises:
            KernelNotFoundError: the backend lacks a kernel.
            OutOfMemoryError: there is no room for temporary values.
        """
        from webtensor.backends.programs import Replay  # most pages need no program at first

        for call in program.calls:
            if call.kernel not in self.kernels:
                raise KernelNotFoundError(f"backend {self.name!r} has no kernel {call.kernel!r}")
        return Replay(self, program)

    def add_kernel(self, name: str, kernel: Kernel) -> None:
        """Add a kernel from outside, or replace one."""
        self.kernels[name] = MethodType(kernel, self)
        self.epoch = object()

    def remove_kernel(self, name: str) -> bool:
        """Remove a kernel; return whether there was one."""
        self.epoch = object()
        return self.kernels.pop(name, None) is not None

    @abstractmethod
    def upload(self, host: memoryview[Any], dtype: DType) -> Handle:
        """Copy a flat, non-empty host buffer to the device."""

    @abstractmethod
    def read(self, handle: Handle, dtype: DType, size: int) -> memoryview[Any]:
        """Return the elements as a flat view of the dtype's format, waiting for the device."""

    async def read_async(self, handle: Handle, dtype: DType, size: int) -> memoryview[Any]:
        """Return the elements without blocking the event loop."""
        return self.read(handle, dtype, size)

    def take_pixels(self, source: Any, shape: Shape, dtype: DType) -> Handle | None:
        """Return a tensor's elements (height, width, channels) of pixels, or None if unsupported.

        ``source`` is a canvas of this size, or a JavaScript array of four bytes a pixel. int32
        elements are from 0 to 255, float32 ones from 0 to 1.
        """
        return None

    def expand_pixels(self, rgba: memoryview[int], shape: Shape, dtype: DType) -> Handle | None:
        """Return the first channels of pixels as elements of a tensor, or None if unsupported.

        ``rgba`` holds four bytes for each pixel, ``shape`` is (height, width, channels), and
        elements are from 0 to 255 in either dtype.
        """
        return None

    def show_pixels(self, image: Operand, opacity: float) -> Any:
        """Return a canvas that shows an image until the running task ends, or None if it cannot.

        The image has 1, 3 or 4 channels, and its values have been checked to be colours.
        """
        return None

    def hand_out(
        self, x: Operand, shape: tuple[int, int] | None
    ) -> tuple[Any, tuple[int, int], Handle] | None:
        """Copy elements to a texture that the page draws with, or return None if unsupported.

        Returns the texture, its height and width in texels, and the handle that releases it.

        Raises:
            ValueError: the device has no textures of this height and width.
        """
        return None

    def flush(self) -> None:  # noqa: B027
        """Submit queued work to the device."""

    async def finish(self) -> None:  # noqa: B027
        """Wait until the device has executed everything, without blocking the event loop."""

    def stopwatch(self) -> Stopwatch | None:
        """Start to measure time on the device: None where it has no timer, or is timed already."""
        return None

    @abstractmethod
    def release(self, handle: Handle) -> None:
        """Free the memory behind a handle; the handle is not used again."""

    @abstractmethod
    def memory(self) -> dict[str, int]:
        """Memory statistics of the backend: at least ``bytes`` in use."""

    def epsilon(self) -> float:
        """Smallest number that is safe to divide by in losses on this device."""
        return 1e-7

    def close(self) -> None:  # noqa: B027
        """Free the device; the backend is not used again."""
