"""Values of a program that lie in the memory of others, so that nothing copies them.

Tensors that are concatenated along the first axis are computed in the memory of the result.
Contiguous slices are read in the memory of the tensor that they are of.
"""

from __future__ import annotations

from typing import NamedTuple

from webtensor.backends.programs import KernelCall, Program
from webtensor.shapes import contiguous_strides

__all__ = ["Aliases", "find_aliases"]

#: The alignment of values, in bytes. Kernels may write up to the next multiple of it.
_ALIGNMENT = 16


class Aliases(NamedTuple):
    """Which values lie in the memory of others.

    Attributes:
        inside: for a value, the value in whose memory it lies, and its offset there in bytes.
        unneeded: the calls of exports that would only copy. Each is the index of a call of the
            program, and the index of an export's call among those that it makes.
    """

    inside: dict[int, tuple[int, int]]
    unneeded: set[tuple[int, int]]

    def owner(self, value: int) -> tuple[int, int]:
        """Return the value that owns the memory of a value, and the offset there in bytes."""
        offset = 0
        while value in self.inside:
            value, before = self.inside[value]
            offset += before
        return value, offset


def find_aliases(program: Program) -> Aliases:
    """Return which values of a program need no memory of their own."""
    aliases = Aliases({}, set())
    results = {*program.results}
    for index, call in enumerate(program.calls):
        value = program.sources + index
        if call.late is not None:
            continue
        if call.kernel == "concat":
            _add_operands(aliases, program, index, results)
        elif call.kernel == "strided" and value not in results:
            offset = _offset_of_slice(call)
            if offset is not None:
                aliases.inside[value] = call.inputs[0], offset
                aliases.unneeded.add((index, 0))
    return aliases


def _add_operands(aliases: Aliases, program: Program, call_index: int, results: set[int]) -> None:
    """Note the operands of a concatenation that are computed in the memory of its result."""
    call = program.calls[call_index]
    outer, sizes = call.attributes
    if outer != 1:
        return
    offset = 0
    for index, (number, size) in enumerate(zip(call.inputs, sizes, strict=True)):
        count = size * call.signature.dtype.itemsize
        is_own = number >= program.sources and number not in results
        if (
            is_own
            and number not in aliases.inside
            and offset % _ALIGNMENT == count % _ALIGNMENT == 0
        ):
            aliases.inside[number] = program.sources + call_index, offset
            aliases.unneeded.add((call_index, index))
        offset += count


def _offset_of_slice(call: KernelCall) -> int | None:
    """Return the offset of a contiguous slice in bytes; None for other strided views."""
    strides, offset, *_ = call.attributes
    offset *= call.signature.dtype.itemsize
    is_contiguous = tuple(strides) == contiguous_strides(call.signature.shape)
    return offset if is_contiguous and offset % _ALIGNMENT == 0 else None
