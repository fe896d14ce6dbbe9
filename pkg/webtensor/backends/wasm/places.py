"""Values of a program that lie in the memory of others, so that nothing copies them.

What is joined to a whole, one part after the other, is computed where the whole will be. What is
cut out of another value as it lies there is read there.
"""

from __future__ import annotations

from typing import NamedTuple

from webtensor.backends.programs import KernelCall, Program
from webtensor.shapes import contiguous_strides

__all__ = ["Places", "placed_together"]

#: Values begin at a multiple of so many bytes, and kernels may write up to the next one.
_ALIGNMENT = 16


class Places(NamedTuple):
    """Where values lie.

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


def placed_together(program: Program) -> Places:
    """Return which values of a program need no memory of their own."""
    places = Places({}, set())
    results = {*program.results}
    for index, call in enumerate(program.calls):
        value = program.sources + index
        if call.late is not None:
            continue
        if call.kernel == "concat":
            _place_parts(places, program, index, call, results)
        elif call.kernel == "strided" and value not in results:
            offset = _offset_of_part(call)
            if offset is not None:
                places.inside[value] = call.inputs[0], offset
                places.unneeded.add((index, 0))
    return places


def _place_parts(
    places: Places, program: Program, index: int, call: KernelCall, results: set[int]
) -> None:
    """Place what a call joins in the memory of its result."""
    outer, sizes = call.attributes
    if outer != 1:
        return
    offset = 0
    for part, (number, size) in enumerate(zip(call.inputs, sizes, strict=True)):
        count = size * call.signature.dtype.itemsize
        is_own = number >= program.sources and number not in results
        if (
            is_own
            and number not in places.inside
            and offset % _ALIGNMENT == count % _ALIGNMENT == 0
        ):
            places.inside[number] = program.sources + index, offset
            places.unneeded.add((index, part))
        offset += count


def _offset_of_part(call: KernelCall) -> int | None:
    """Return where a strided view begins that is a part as it lies in memory, in bytes, or None."""
    strides, offset, *_ = call.attributes
    offset *= call.signature.dtype.itemsize
    is_part = tuple(strides) == contiguous_strides(call.signature.shape)
    return offset if is_part and offset % _ALIGNMENT == 0 else None
