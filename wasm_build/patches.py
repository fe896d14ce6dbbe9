"""Patches: what makes one variant of a module out of another one, of which it repeats most.

A patch alternates between copies of parts of the module and bytes of its own; ``patched`` of
``webtensor.backends.wasm.host`` has the format, and undoes what is done here.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher
from struct import pack

from webtensor.backends.wasm.binary import CODE, Reader, sections, sized

__all__ = ["patch_of"]

#: How many bytes a copy has at least; the numbers of a shorter one take more than they save.
SMALLEST_COPY = 32


def patch_of(module: bytes, other: bytes) -> bytes:
    """Return the patch that makes the other module, which has as many functions."""
    copies = [(0, 0)]
    additions = [b""]
    offset = 0
    for part, wanted in zip(parts_of(module), parts_of(other), strict=True):
        position = 0
        for start, wanted_start, size in common_blocks(part, wanted):
            additions[-1] += wanted[position:wanted_start]
            position = wanted_start + size
            begin, end = copies[-1]
            if additions[-1] or end != offset + start:
                begin = offset + start
                copies.append((begin, begin))
                additions.append(b"")
            copies[-1] = (begin, offset + start + size)
        additions[-1] += wanted[position:]
        offset += len(part)
    steps = [pack("<3I", *copy, len(added)) for copy, added in zip(copies, additions, strict=True)]
    return pack("<I", len(steps)) + b"".join([*steps, *additions])


def parts_of(module: bytes) -> list[bytes]:
    """Split a module into its functions, and what is before and after them."""
    (code,) = (content for identifier, content, _ in sections(module) if identifier == CODE)
    functions = [*map(sized, Reader(code).vector(Reader.sized))]
    before, _, after = module.partition(b"".join(functions))
    return [before, *functions, after]


def common_blocks(part: bytes, wanted: bytes) -> Sequence[tuple[int, int, int]]:
    """Return where both have the same bytes, in order: the start in each, and the size."""
    if part == wanted:
        return [(0, 0, len(part))]
    blocks = SequenceMatcher(None, part, wanted, autojunk=False).get_matching_blocks()
    return [block for block in blocks if block.size >= SMALLEST_COPY]
