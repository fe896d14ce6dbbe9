"""Chains: one call that computes several elementwise calls, without storing intermediate values.

A call joins a chain if only calls of that chain use its result, and if it computes as many elements
as they do. Operands may be broadcast, all of them to one shape, which is then that of the chain. It
runs where its last call ran; all operands have been computed by then.
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

__all__ = ["CHAIN", "MOST_LINKS", "MOST_OPERANDS", "Link", "with_chains"]

#: The kernel that computes a chain. Its attributes are the links, and then the parameters of all
#: rows, link by link.
CHAIN = "chain"
MOST_LINKS = 24
MOST_OPERANDS = 6

_KERNELS = {"binary", "cast", "ternary", "unary"}


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


def with_chains(
    program: Program, accepts: Callable[[Elementwise | None, Signature], bool]
) -> Program:
    """Return the program with chains in place of elementwise calls.

    Args:
        program: the program.
        accepts: whether the backend can compute a row (or a cast) as a link.
    """
    chains = _chains(program, accepts)
    members = {index for chain in chains.values() for index in chain}
    calls = [None if index in members else call for index, call in enumerate(program.calls)]
    for last, chain in chains.items():
        calls[last] = _chain_call(program, chain)
    return with_calls(program, calls)


def _chains(
    program: Program, accepts: Callable[[Elementwise | None, Signature], bool]
) -> dict[int, list[int]]:
    """Return the calls of each chain in order, by the last one."""
    users: defaultdict[int, set[int]] = defaultdict(set)
    for index, call in enumerate(program.calls):
        for number in call.inputs:
            users[number].add(index)
    chain_of: dict[int, int] = {}
    chains: dict[int, list[int]] = {}
    for index in reversed(range(len(program.calls))):
        call = program.calls[index]
        if not _is_elementwise(call) or not accepts(_row(call), call.signature):
            continue
        value = program.sources + index
        lasts = {chain_of.get(user, -1) for user in users[value]}
        last = lasts.pop() if len(lasts) == 1 and value not in program.results else -1
        if last >= 0 and _fits(program, [index, *chains[last]]):
            chain_of[index] = last
            chains[last].insert(0, index)
        else:
            chain_of[index] = index
            chains[index] = [index]
    return {last: chain for last, chain in chains.items() if len(chain) > 1}


def _is_elementwise(call: KernelCall) -> bool:
    """Whether each element depends on one of each operand, and no attribute is late."""
    return call.kernel in _KERNELS and call.late is None


def _row(call: KernelCall) -> Elementwise | None:
    return None if call.kernel == "cast" else call.attributes[0]


def _fits(program: Program, chain: list[int]) -> bool:
    sizes = {program.calls[index].signature.size for index in chain}
    return (
        len(sizes) == 1
        and len(chain) <= MOST_LINKS
        and len(_shapes(program, chain)) <= 1
        and len(_operands(program, chain)) <= MOST_OPERANDS
    )


def _shapes(program: Program, chain: list[int]) -> set[Shape]:
    """Return the shapes to which calls of a chain broadcast operands of several elements."""
    return {
        signature.shape
        for signature in (program.calls[index].signature for index in chain)
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


def _operands(program: Program, chain: list[int]) -> dict[_Operand, Spec]:
    """Return the operands of a chain."""
    own = {program.sources + index for index in chain}
    return {
        operand: spec
        for index in chain
        for operand, spec in _reads(program, index)
        if operand[0] not in own
    }


def _chain_call(program: Program, chain: list[int]) -> KernelCall:
    operands = _operands(program, chain)
    indices = {operand: index for index, operand in enumerate(operands)}
    links: list[Link] = []
    parameters: list[Any] = []
    for position in chain:
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
    last = program.calls[chain[-1]].signature
    shape = next(iter(_shapes(program, chain)), last.shape)
    signature = Signature(tuple(operands.values()), shape, last.dtype)
    numbers = tuple(number for number, _ in operands)
    return KernelCall(CHAIN, numbers, signature, (tuple(links), *parameters))
