"""Chains: one call that computes several elementwise calls, without storing intermediate values.

A call joins a chain if only calls of that chain use its result, and if it computes as many elements
as they do. Operands may be broadcast, all of them to one shape, which is then that of the chain. It
runs where its last call ran; all operands have been computed by then.

A reduction, or a product with a matrix of few columns, may end a chain: what it reads is not
stored either. And what follows from operands that are much smaller, as the distances of all pairs
of points do, is computed by each chain that uses it: to store it and read it again takes longer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from webtensor.backends.api import Elementwise
from webtensor.backends.programs import KernelCall, Program, with_calls
from webtensor.backends.signatures import Signature, Spec
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__ = ["CHAIN", "ENDS", "MAX_LINKS", "MAX_OPERANDS", "Chain", "Link", "with_chains"]

#: The kernel that computes a chain, which is its only attribute.
CHAIN = "chain"
#: The kernels that compute a chain and then one more call, its end, by the kernel of the end. The
#: chain's result is the first operand of the end. Its other operands follow those of the chain, and
#: its attributes follow the chain.
ENDS = {"reduce": "chain_reduce", "matmul": "chain_multiply"}
MAX_LINKS = 24
MAX_OPERANDS = 8

_KERNELS = {"binary", "cast", "ternary", "unary"}
#: Several chains may compute a result that is this many times larger than each of its operands.
_EXPANSION = 16


class Link(NamedTuple):
    """An elementwise call in a chain.

    Attributes:
        row: what is computed; None for a cast.
        inputs: indices of values: the operands of the chain, then the results of earlier links.
        dtypes: the dtypes of the inputs.
        dtype: the dtype of the result.
    """

    row: Elementwise | None
    inputs: tuple[int, ...]
    dtypes: tuple[DType, ...]
    dtype: DType

    @property
    def name(self) -> str:
        """The name of the row, or "cast"."""
        return "cast" if self.row is None else self.row.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the row's parameters."""
        return () if self.row is None else self.row.parameters


class Chain(NamedTuple):
    """A chain of elementwise calls.

    Attributes:
        links: its calls, in order.
        parameters: the parameters of all rows, link by link.
        signature: the operands, and the result of the last link.
    """

    links: tuple[Link, ...]
    parameters: tuple[Any, ...]
    signature: Signature


def with_chains(
    program: Program,
    accepts: Callable[[Elementwise | None, Signature], bool],
    is_end: Callable[[KernelCall], bool],
) -> Program:
    """Return the program with chains in place of elementwise calls.

    Args:
        program: the program.
        accepts: whether the backend can compute a row (or a cast) as a link.
        is_end: whether a call of one of ``ENDS`` may end a chain.
    """
    chains = _chains(program, accepts, is_end)
    members = {index for chain in chains.values() for index in chain}
    calls = [None if index in members else call for index, call in enumerate(program.calls)]
    for last, chain in chains.items():
        calls[last] = _chain_call(program, chain)
    return with_calls(program, calls)


def _chains(
    program: Program,
    accepts: Callable[[Elementwise | None, Signature], bool],
    is_end: Callable[[KernelCall], bool],
) -> dict[int, list[int]]:
    """Return the calls of each chain in order, by the last one."""
    users: defaultdict[int, set[int]] = defaultdict(set)
    for index, call in enumerate(program.calls):
        for number in call.inputs:
            users[number].add(index)
    repeatable = _repeatable(program)
    chains_of: dict[int, set[int]] = {}
    chains: dict[int, list[int]] = {}
    for index in reversed(range(len(program.calls))):
        call = program.calls[index]
        if call.kernel in ENDS and call.late is None and is_end(call):
            chains_of[index], chains[index] = {index}, [index]
        if not _is_elementwise(call) or not accepts(_row(call), call.signature):
            continue
        value = program.sources + index
        readers = users[value]
        lasts: set[int] = set()
        if value not in program.results and all(
            reader in chains_of and _can_compute(program.calls[reader], value) for reader in readers
        ):
            lasts = {last for reader in readers for last in chains_of[reader]}
        if (len(lasts) == 1 or (lasts and index in repeatable)) and all(
            _fits(program, [index, *chains[last]]) for last in lasts
        ):
            chains_of[index] = lasts
            for last in lasts:
                chains[last].insert(0, index)
        else:
            chains_of[index], chains[index] = {index}, [index]
    return {last: chain for last, chain in chains.items() if len(chain) > 1}


def _can_compute(reader: KernelCall, value: int) -> bool:
    """Whether the chain of a reader can compute a value; an end reads all but its first operand."""
    return reader.kernel in _KERNELS or value not in reader.inputs[1:]


def _repeatable(program: Program) -> set[int]:
    """Return the elementwise calls whose results follow from much smaller operands."""
    repeatable: set[int] = set()
    for index, call in enumerate(program.calls):
        if _is_elementwise(call) and all(
            spec.size * _EXPANSION <= call.signature.size or number - program.sources in repeatable
            for number, spec in zip(call.inputs, call.signature.inputs, strict=True)
        ):
            repeatable.add(index)
    return repeatable


def _is_elementwise(call: KernelCall) -> bool:
    """Whether each element depends on one of each operand, and no attribute is late."""
    return call.kernel in _KERNELS and call.late is None


def _row(call: KernelCall) -> Elementwise | None:
    return None if call.kernel == "cast" else call.attributes[0]


def _without_end(program: Program, chain: list[int]) -> tuple[list[int], KernelCall | None]:
    """Return the elementwise calls of a chain, and its end."""
    last = program.calls[chain[-1]]
    return (chain[:-1], last) if last.kernel in ENDS else (chain, None)


def _fits(program: Program, chain: list[int]) -> bool:
    links, end = _without_end(program, chain)
    sizes = {program.calls[index].signature.size for index in links}
    operands = len(_operands(program, links))
    if end is not None:
        sizes.add(end.signature.inputs[0].size)
        operands += len(end.inputs) - 1
    return (
        len(sizes) == 1
        and len(links) <= MAX_LINKS
        and len(_shapes(program, links)) <= 1
        and operands <= MAX_OPERANDS
    )


def _shapes(program: Program, links: list[int]) -> set[Shape]:
    """Return the shapes to which calls of a chain broadcast operands of several elements."""
    return {
        signature.shape
        for signature in (program.calls[index].signature for index in links)
        if any(_is_broadcast(operand, signature) for operand in signature.inputs)
    }


def _is_broadcast(operand: Spec, signature: Signature) -> bool:
    return 1 < operand.size < signature.size


#: An operand of a chain: the number of its value, and its shape if it is broadcast.
_Operand: TypeAlias = tuple[int, Shape | None]


def _reads(program: Program, index: int) -> list[tuple[_Operand, Spec]]:
    """Return what the call at an index reads."""
    call = program.calls[index]
    return [
        ((number, spec.shape if _is_broadcast(spec, call.signature) else None), spec)
        for number, spec in zip(call.inputs, call.signature.inputs, strict=True)
    ]


def _operands(program: Program, links: list[int]) -> dict[_Operand, Spec]:
    """Return the operands of a chain."""
    own = {program.sources + index for index in links}
    return {
        operand: spec
        for index in links
        for operand, spec in _reads(program, index)
        if operand[0] not in own
    }


def _chain_call(program: Program, members: list[int]) -> KernelCall:
    positions, end = _without_end(program, members)
    operands = _operands(program, positions)
    indices = {operand: index for index, operand in enumerate(operands)}
    links: list[Link] = []
    parameters: list[Any] = []
    for position in positions:
        call = program.calls[position]
        signature = call.signature
        links.append(
            Link(
                _row(call),
                tuple(indices[operand] for operand, _ in _reads(program, position)),
                tuple(spec.dtype for spec in signature.inputs),
                signature.dtype,
            )
        )
        parameters += call.attributes[1:]
        indices[program.sources + position, None] = len(indices)
    last = program.calls[positions[-1]].signature
    shape = next(iter(_shapes(program, positions)), last.shape)
    signature = Signature(tuple(operands.values()), shape, last.dtype)
    chain = Chain(tuple(links), tuple(parameters), signature)
    numbers = tuple(number for number, _ in operands)
    if end is None:
        return KernelCall(CHAIN, numbers, signature, (chain,))
    inputs = signature.inputs + end.signature.inputs[1:]
    return KernelCall(
        ENDS[end.kernel],
        numbers + end.inputs[1:],
        end.signature._replace(inputs=inputs),
        (chain, *end.attributes),
    )
