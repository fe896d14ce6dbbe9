"""The kernels of chains: elementwise calls in one function, whose result may be reduced at once."""

from __future__ import annotations

from struct import pack, unpack

from webtensor.backends.chains import MAX_OPERANDS, Chain
from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.chain_functions import ChainFunction, LinkCode
from webtensor.backends.wasm.descriptions import (
    RESULT,
    Address,
    Call,
    Description,
    Record,
    operands,
    scratch,
)
from webtensor.backends.wasm.elementwise import instructions
from webtensor.backends.wasm.geometries import strided_geometry
from webtensor.backends.wasm.links import chain_rows, link_name
from webtensor.matmul_sizes import MatmulSizes

__all__: list[str] = []

#: A reduction of fewer elements is one piece of work for threads.
_PIECE = 16384


@kernel("chain")
def chain(of: Signature, computed: Chain) -> Description:
    """Compute all links for each element."""
    arguments = (_record(computed), RESULT, of.size, *_addresses(of))
    return Description(of.bytes, (Call(("chain",), arguments, _work(computed), True),))


@kernel("chain_reduce")
def chain_reduce(
    of: Signature, computed: Chain, kind: str, outer: int, reduced: int, inner: int
) -> Description:
    """Reduce elements as they are computed; a long axis is halved until threads can share it."""
    halvings = (reduced // _PIECE).bit_length()
    pieces = outer << halvings
    to = scratch(0) if halvings else RESULT
    arguments = (_record(computed, reduced, halvings), to, pieces, *_addresses(of))
    call = Call(("chain", "reduce", kind, of.dtype), arguments, _work(computed), True)
    if not halvings:
        return Description(of.bytes, (call,))
    last = Call(("reduce", "vectors", kind, of.dtype), (to, RESULT, outer, halvings), 4 * pieces)
    return Description(of.bytes, (call, last), (16 * pieces,))


@kernel("chain_multiply")
def chain_multiply(of: Signature, computed: Chain, sizes: MatmulSizes) -> Description:
    """Multiply blocks as they are computed by the columns of the last operand."""
    right = len(of.inputs) - 1
    calls: tuple[Call, ...] = ()
    addresses = _addresses(of)
    scratch_bytes: tuple[int, ...] = ()
    if sizes.n > 1 and not sizes.transpose_b:
        geometry = strided_geometry((sizes.n, sizes.k), (1, sizes.n), 0)
        copy = (Address(right), scratch(0), geometry)
        calls = (Call(("strided", "words"), copy, sizes.n * sizes.k),)
        addresses = (*addresses[:right], scratch(0), *addresses[right + 1 :])
        scratch_bytes = (4 * sizes.n * sizes.k,)
    arguments = (_record(computed, sizes.n, sizes.k), RESULT, sizes.m, *addresses)
    calls += (Call(("chain", "multiply"), arguments, _work(computed), True),)
    return Description(of.bytes, calls, scratch_bytes)


def _work(computed: Chain) -> float:
    """Return about how many instructions a chain takes; in registers, a sum takes a fourth."""
    beyond_sums = sum(instructions(link.row.c) - 1 for link in computed.links if link.row)
    return computed.signature.size * (1 + len(computed.links) / 4 + beyond_sums)


def _addresses(of: Signature) -> tuple[Address | int, ...]:
    """Return the addresses of all operands, and zeros for those that could be."""
    return (*operands(of), *[0] * (MAX_OPERANDS - len(of.inputs)))


def _record(computed: Chain, *form: int) -> Record:
    """Return what the exports need to know of a chain, after the numbers of its end."""
    links, parameters, of = computed
    (*sizes, columns), views = chain_rows(of)
    function = ChainFunction(
        tuple(
            LinkCode(
                link_name(link.row, link.dtypes, link.dtype), link.inputs, len(link.parameters)
            )
            for link in links
        ),
        tuple(operand.dtype for operand in of.inputs),
        tuple(view[-1] for view in views),
        of.dtype,
    )
    words: list[int | ChainFunction] = [function, len(of.inputs), of.dtype.itemsize, columns]
    words += [len(sizes), *sizes]
    for operand, (*strides, step) in zip(of.inputs, views, strict=True):
        words += [operand.dtype.itemsize, step, *strides]
    floats = len(parameters)
    words += unpack(f"{floats}i", pack(f"{floats}f", *parameters))
    return Record((*form, *words))
