"""Descriptions of kernels: which exports they call, with which addresses and numbers.

A kernel is a function of its operands' shapes and dtypes (a ``Signature``) and of the primitive's
attributes. It computes nothing and touches no memory: it returns a ``Description``, which
``dispatch`` turns into what is called with operands. The blocks of a call are numbered: operands
from 0 on, the result is ``RESULT``, and the one before it is the first block of scratch memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeGuard

from webtensor.backends.api import Operand
from webtensor.backends.signatures import Signature

if TYPE_CHECKING:
    from webtensor.backends.wasm.backend import WasmBackend
    from webtensor.backends.wasm.chain_functions import ChainFunction

__all__ = [
    "RESULT",
    "Address",
    "Call",
    "Describing",
    "Description",
    "Geometry",
    "Lookup",
    "Packed",
    "Record",
    "is_lookup",
    "one_call",
    "operands",
    "scratch",
]


class Address(NamedTuple):
    """The address of a block, or of a place in it."""

    block: int
    offset: int = 0


class Geometry(NamedTuple):
    """The address of integers, which are written there once."""

    integers: tuple[int, ...]


class Record(NamedTuple):
    """The address of integers; a function of a chain stands for its number.

    Records occur in programs only.
    """

    words: tuple[int | ChainFunction, ...]


class Lookup(Protocol):
    """A number that is looked up when the call happens, as it depends on the operands' storages."""

    def find(self, backend: WasmBackend, inputs: Sequence[Operand]) -> float:
        """Return the number."""


def is_lookup(argument: Any) -> TypeGuard[Lookup]:
    """Whether an argument is a ``Lookup``; ``isinstance`` is slow for protocols."""
    return hasattr(argument, "find")


class Packed(NamedTuple):
    """The address of an operand that is packed in a form, or 0; see ``packed_weights``."""

    operand: int
    columns: int
    form: int
    groups: int = 1

    def find(self, backend: WasmBackend, inputs: Sequence[Operand]) -> int:
        """Return the address."""
        return self.find_for(backend, inputs[self.operand])

    def find_for(self, backend: WasmBackend, weights: Operand, uses: int = 1) -> int:
        """Return the address of these weights for a number of products."""
        return backend.packed_weights(weights, self.columns, self.form, self.groups, uses)


class Call(NamedTuple):
    """A call of an export.

    Attributes:
        export: the parts of its name.
        arguments: numbers, and what stands for them: ``Address``, ``Geometry``, ``Record``,
            ``Lookup``.
        work: about how many instructions it takes; little work may be queued. 0 if that is unknown.
        is_shared: whether threads can share the work; then the export takes two more arguments, a
            part and the number of parts (see ``wasm_build/source/vector.h``).
    """

    export: tuple[str, ...]
    arguments: tuple[Any, ...]
    work: float = 0.0
    is_shared: bool = False


class Description(NamedTuple):
    """The calls of a kernel, and the memory that it needs.

    Attributes:
        bytes: the size of its result.
        calls: its calls, in order.
        scratch: the sizes of blocks that are needed meanwhile.
    """

    bytes: int
    calls: tuple[Call, ...]
    scratch: tuple[int, ...] = ()


#: A kernel: it takes the signature of a call, then the primitive's attributes.
Describing = Callable[..., Description]

#: The block of the result, and its address.
RESULT = Address(-1)


def operands(of: Signature) -> tuple[Address, ...]:
    """Return the addresses of all operands."""
    return tuple(map(Address, range(len(of.inputs))))


def scratch(index: int) -> Address:
    """Return the address of a block of scratch memory."""
    return Address(-2 - index)


def one_call(
    of: Signature,
    export: tuple[str, ...],
    *numbers: Any,
    work: float = 0.0,
    is_shared: bool = False,
    scratch_bytes: int = 0,
) -> Description:
    """Describe a call of one export: with the operands, the result, scratch memory, and numbers."""
    areas = (scratch(0),) if scratch_bytes else ()
    arguments = (*operands(of), RESULT, *areas, *numbers)
    sizes = (scratch_bytes,) if scratch_bytes else ()
    return Description(of.bytes, (Call(export, arguments, work, is_shared),), sizes)
