"""The kernel of chains: elementwise calls on blocks that stay in the first-level cache."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from struct import pack, unpack

from webtensor.backends.chains import MOST_OPERANDS, Link
from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import RESULT, Call, Description, Record, operands
from webtensor.backends.wasm.links import MOST_PARAMETERS, chain_rows, link_name

__all__: list[str] = []

#: Forms of functions, as in ``wasm_build/source/chain.c``.
_CAST, _OF_TWO, _OF_THREE = range(MOST_PARAMETERS + 1, MOST_PARAMETERS + 4)


@kernel("chain")
def chain(of: Signature, links: Sequence[Link], *parameters: float) -> Description:
    """Compute all links for one block of elements, then for the next block."""
    (*sizes, columns), views = chain_rows(of)
    words: list[int | str] = [len(of.inputs), of.dtype.itemsize, columns, len(sizes), *sizes]
    for operand, (*strides, step) in zip(of.inputs, views, strict=True):
        words += [operand.dtype.itemsize, step, *strides]
    words.append(len(links))
    remaining = iter(parameters)
    blocks = _Blocks(links, len(of.inputs))
    numbers = [*range(len(of.inputs))]
    for index, link in enumerate(links):
        own = list(islice(remaining, len(link.parameters)))
        numbers.append(len(of.inputs) + blocks.result(index))
        operand_numbers = [numbers[value] for value in link.inputs]
        words += [link_name(link.row, link.dtypes, link.dtype), _form(link)]
        words += [*operand_numbers, *[0] * (3 - len(operand_numbers)), numbers[-1]]
        words += unpack("3i", pack("3f", *own, *[0.0] * (MOST_PARAMETERS - len(own))))
    missing = (0,) * (MOST_OPERANDS - len(of.inputs))
    arguments = (Record(tuple(words)), RESULT, of.size, *operands(of), *missing)
    return Description(of.bytes, (Call(("chain",), arguments, of.size * len(links), True),))


def _form(link: Link) -> int:
    if link.row is None:
        return _CAST
    return (len(link.parameters), _OF_TWO, _OF_THREE)[len(link.inputs) - 1]


class _Blocks:
    """Assigns the results of links to blocks on the stack, to as few as possible.

    Fewer blocks fit the cache.
    """

    def __init__(self, links: Sequence[Link], operands: int) -> None:
        self._last_use = {
            index - operands: number
            for number, link in enumerate(links)
            for index in link.inputs
            if index >= operands
        }
        self._taken: dict[int, int] = {}

    def result(self, number: int) -> int:
        """Return the block for a link's result, which holds none of its operands."""
        self._taken = {
            link: block for link, block in self._taken.items() if self._last_use[link] >= number
        }
        block = next(free for free in range(number + 1) if free not in self._taken.values())
        self._taken[number] = block
        return block
