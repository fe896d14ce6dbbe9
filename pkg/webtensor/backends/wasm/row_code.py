"""Reads the compiled code of the elementwise table's rows, as functions of vectors.

``wasm_build`` compiles these functions as a module, which never runs: ``chain_functions`` copies
their instructions. (WebAssembly Core Specification, 5: the binary format.)
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from webtensor.backends.wasm.binary import CODE, EXPORTS, FUNCTIONS, TYPES, Reader, sections

__all__ = ["CALL", "VECTORS", "Instruction", "RowCode", "RowFunction", "constant_vector"]

_RETURN, CALL = 0x0F, 0x10
_GET, _SET, _TEE = 0x20, 0x21, 0x22
_REWRITTEN: Final = (CALL, _GET, _SET, _TEE)
#: Instructions with a number: blocks, loops, branches and integers, besides those above.
_NUMBERED: Final = (0x02, 0x03, 0x04, 0x0C, 0x0D, 0x41, 0x42, *_REWRITTEN)
#: Instructions with a float, and its bytes.
_FLOATS: Final = {0x43: 4, 0x44: 8}
#: Instructions with an alignment and an offset.
_MEMORY: Final = range(0x28, 0x3F)
#: Prefixes of further instructions.
_CONVERSIONS, VECTORS = 0xFC, 0xFD
#: Among those of vectors: a constant, a choice of bytes, with an alignment and an offset, a lane.
_VECTOR_CONSTANT, _VECTOR_CHOICE = 12, 13
_VECTOR_MEMORY: Final = (*range(12), *range(84, 94))
_VECTOR_LANES: Final = (*range(21, 35), *range(84, 92))
#: Instructions with other operands, which the code of rows does not have.
_UNEXPECTED: Final = (0x0E, 0x11, 0x1C, 0x23, 0x24)

#: Instructions that stay as they are, or one that refers to a local, calls a function or makes a
#: vector that isn't zero: its first byte, and the number of that, or the one that its bytes make.
Instruction: TypeAlias = "bytes | tuple[int, int]"


class RowFunction(NamedTuple):
    """A function.

    Attributes:
        parameters: the types of its parameters, a byte each.
        results: those of its results.
        locals: those of its other locals.
        code: its instructions, without the last ``end``.
        returns: whether it returns before its end.
    """

    parameters: bytes
    results: bytes
    locals: bytes
    code: list[Instruction]
    returns: bool

    @property
    def written(self) -> set[int]:
        """The numbers of the locals that it writes, of which parameters are the first."""
        return {
            part[1] for part in self.code if isinstance(part, tuple) and part[0] in (_SET, _TEE)
        }


class RowCode:
    """The functions of the compiled rows.

    Args:
        module: the module.

    Attributes:
        numbers: their numbers, by name; the only function that is imported has number 0.
    """

    def __init__(self, module: bytes) -> None:
        contents = {identifier: content for identifier, content, _ in sections(module)}
        self._signatures = Reader(contents[TYPES]).vector(_signature)
        self._types = Reader(contents[FUNCTIONS]).vector(Reader.number)
        self._bodies = Reader(contents[CODE]).vector(Reader.sized)
        exports = Reader(contents[EXPORTS]).vector(_export)
        self.numbers = {name: number for name, kind, number in exports if kind == 0}
        self._functions: dict[int, RowFunction] = {}

    def function(self, number: int) -> RowFunction:
        """Return a function by its number, which is not 0."""
        function = self._functions.get(number)
        if function is None:
            function = self._functions[number] = self._read(number - 1)
        return function

    def _read(self, index: int) -> RowFunction:
        body = Reader(self._bodies[index])
        locals_ = b"".join(count * bytes([kind]) for count, kind in body.vector(_group))
        return RowFunction(*self._signatures[self._types[index]], locals_, *_instructions(body))


def constant_vector(number: int) -> bytes:
    """Return the instruction that makes a vector of the 16 bytes of a number."""
    return bytes([VECTORS, _VECTOR_CONSTANT]) + number.to_bytes(16, "little")


def _signature(reader: Reader) -> tuple[bytes, bytes]:
    reader.byte()
    return reader.sized(), reader.sized()


def _export(reader: Reader) -> tuple[str, int, int]:
    return reader.sized().decode(), reader.byte(), reader.number()


def _group(reader: Reader) -> tuple[int, int]:
    return reader.number(), reader.byte()


def _instructions(reader: Reader) -> tuple[list[Instruction], bool]:
    """Return the instructions of a function's body without the last, and whether one returns."""
    code: list[Instruction] = []
    returns = False
    end = len(reader.data) - 1
    start = reader.offset
    while reader.offset < end:
        begin = reader.offset
        opcode = reader.byte()
        number = _skip_operands(reader, opcode)
        returns = returns or opcode == _RETURN
        if opcode in _REWRITTEN or (opcode == VECTORS and number):
            code += [reader.data[start:begin], (opcode, number)]
            start = reader.offset
    return [*code, reader.data[start:end]], returns


def _skip_operands(reader: Reader, opcode: int) -> int:
    """Read what follows an instruction's first byte, and return its number, if it has one.

    The number of a constant vector is the one that its bytes make.
    """
    if opcode in _NUMBERED:
        return reader.number()
    if opcode in _UNEXPECTED:
        raise ValueError(f"the rows have an instruction that is not expected: {opcode:#x}")
    kind = reader.number() if opcode in (_CONVERSIONS, VECTORS) else -1
    is_vector = opcode == VECTORS
    if is_vector and kind == _VECTOR_CONSTANT:
        return int.from_bytes(reader.take(16), "little")
    if opcode in _MEMORY or (is_vector and kind in _VECTOR_MEMORY):
        reader.number()
        reader.number()
    if is_vector and kind == _VECTOR_CHOICE:
        reader.take(16)
    if is_vector and kind in _VECTOR_LANES:
        reader.byte()
    reader.take(_FLOATS.get(opcode, 0))
    return 0
