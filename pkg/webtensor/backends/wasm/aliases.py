"""Values of a program that lie in the memory of others, so that nothing copies them.

What is joined to a whole, one part after the other, is computed where the whole will be. What is
cut out of another value as it lies there is read there.
"""

from __future__ import annotations

from typing import NamedTuple

from webtensor.backends.programs import KernelCall, Program
from webtensor.shapes import contiguous_strides

__all__ = ["Aliases", "find_aliases"]

#: Values begin at a multiple of so many bytes, and kernels may write up to the next one.
_ALIGNMENT = 16


class Aliases(NamedTuple):
    """Which values lie in the memory of others.

    Attributes:
        inside: for a value, the one that has it, and from which byte on.
        unneeded: the calls of exports that would copy it, each by the number of the program's call
            and its own among that call's.
    """

    inside: dict[int, tuple[int, int]]
    unneeded: set[tuple[int, int]]

    def whole(self, value: int) -> tuple[int, int]:
        """Return the value in whose memory a value lies, itself if in none, and at which byte."""
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
            _add_parts(aliases, program, index, call, results)
        elif call.kernel == "strided" and value not in results:
            offset = _offset_of_part(call)
            if offset is not None:
                aliases.inside[value] = call.inputs[0], offset
                aliases.unneeded.add((index, 0))
    return aliases


def _add_parts(
    aliases: Aliases, program: Program, index: int, call: KernelCall, results: set[int]
) -> None:
    """Note which of what a call joins is computed in the memory of its result."""
    outer, sizes = call.attributes
    if outer != 1:
        return
    offset = 0
    for part, (number, size) in enumerate(zip(call.inputs, sizes, strict=True)):
        count = size * call.signature.dtype.itemsize
        is_own = number >= program.sources and number not in results
        if (
            is_own
            and number not in aliases.inside
            and offset % _ALIGNMENT == count % _ALIGNMENT == 0
        ):
            aliases.inside[number] = program.sources + index, offset
            aliases.unneeded.add((index, part))
        offset += count


def _offset_of_part(call: KernelCall) -> int | None:
    """Return where a strided view begins that is a part as it lies in memory, in bytes, or None."""
    strides, offset, *_ = call.attributes
    offset *= call.signature.dtype.itemsize
    is_part = tuple(strides) == contiguous_strides(call.signature.shape)
    return offset if is_part and offset % _ALIGNMENT == 0 else None
