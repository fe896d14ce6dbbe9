"""Chains: one call that computes several elementwise calls, without storing intermediate values.

A call joins a chain if only calls of that chain use its result, and if it computes as many elements
as they do. Each element depends on the elements at the same index, or on scalars. The chain runs
where its last call ran; all operands have been computed by then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from webtensor.backends.api import Elementwise
from webtensor.backends.programs import KernelCall, Program, with_calls
from webtensor.backends.signatures import Signature, Spec
from webtensor.dtypes import DType

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
    """Whether each element depends on those at the same index, and no attribute is late."""
    size = call.signature.size
    return (
        call.kernel in _KERNELS
        and call.late is None
        and all(operand.size in (1, size) for operand in call.signature.inputs)
    )


def _row(call: KernelCall) -> Elementwise | None:
    return None if call.kernel == "cast" else call.attributes[0]


def _fits(program: Program, chain: list[int]) -> bool:
    sizes = {program.calls[index].signature.size for index in chain}
    operands = _operands(program, chain)
    return len(sizes) == 1 and len(chain) <= MOST_LINKS and len(operands) <= MOST_OPERANDS


def _operands(program: Program, chain: list[int]) -> dict[int, Spec]:
    """Return the operands of a chain by the numbers of their values."""
    own = {program.sources + index for index in chain}
    return {
        number: spec
        for index in chain
        for number, spec in zip(
            program.calls[index].inputs, program.calls[index].signature.inputs, strict=True
        )
        if number not in own
    }


def _chain_call(program: Program, chain: list[int]) -> KernelCall:
    operands = _operands(program, chain)
    indices = {number: index for index, number in enumerate(operands)}
    links: list[Link] = []
    parameters: list[Any] = []
    for position in chain:
        call = program.calls[position]
        signature = call.signature
        links.append(
            Link(
                _row(call),
                tuple(indices[number] for number in call.inputs),
                tuple(spec.dtype for spec in signature.inputs),
                signature.dtype,
            )
        )
        parameters += call.attributes[1:]
        indices[program.sources + position] = len(indices)
    last = program.calls[chain[-1]].signature
    signature = Signature(tuple(operands.values()), last.shape, last.dtype)
    return KernelCall(CHAIN, tuple(operands), signature, (tuple(links), *parameters))
