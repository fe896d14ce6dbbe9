"""Generates functions that compute chains in registers, from the compiled code of rows.

Each function is a loop that reads four elements of each operand, computes the links and writes the
result. Pages have no compiler, so the bytes of a module are written here: the instructions of rows
are copied, with other indices of locals. So a chain computes to the bit what its calls would. A row
whose code returns before its end is called instead. Constant vectors become locals that are written
before the loop, as V8 makes them in three instructions each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from webtensor.backends.chains import MAX_OPERANDS
from webtensor.backends.wasm.binary import (
    CODE,
    EXPORTS,
    FUNCTIONS,
    HEADER,
    IMPORTS,
    MEMORY_IMPORT,
    TYPES,
    encoded,
    section,
    sized,
    vector,
)
from webtensor.backends.wasm.host import INITIAL_PAGES, MAXIMUM_PAGES, Host, module_bytes
from webtensor.backends.wasm.row_code import (
    CALL,
    VECTORS,
    Instruction,
    RowCode,
    RowFunction,
    constant_vector,
)
from webtensor.dtypes import DType, bool_

__all__ = ["ChainFunction", "ChainFunctions", "LinkCode"]

_I32, _I64, _F32, _V128 = b"\x7f", b"\x7e", b"\x7d", b"\x7b"
_FUNCTION, _NO_RESULT = b"\x60", b"\x40"
#: Instructions, and prefixes of those with an operand.
_BLOCK, _LOOP, _IF, _END, _AGAIN = b"\x02", b"\x03\x40", b"\x04\x40", b"\x0b", b"\x0d\x00"
_GET, _SET, _I32_ADD, _AT_LEAST = b"\x20", b"\x21", b"\x6a", b"\x4e"
_LOAD_SPLAT = b"\xfd\x09\x00\x00"
#: An offset follows.
_LOAD, _STORE = b"\xfd\x00\x00", b"\xfd\x0b\x00"

#: The parameters of a chain's function (``wasm_build/source/chain.h``): the address of the result,
#: the size, and the addresses of the rows' parameters and of operands.
_OUT, _SIZE, _ROW_PARAMETERS, _FIRST_OPERAND = 0, 1, 2, 3
_PARAMETERS: Final = _I32 * (_FIRST_OPERAND + MAX_OPERANDS)
#: How many vectors a turn of the loop computes, until fewer are left.
_UNROLLED: Final = 2
_VECTOR_BYTES: Final = 16


class LinkCode(NamedTuple):
    """A link: its row's name, the values that it reads, and how many parameters the row has."""

    name: str
    inputs: tuple[int, ...]
    parameters: int


class ChainFunction(NamedTuple):
    """The key of a chain's function: all that its code depends on.

    Attributes:
        links: the links, whose values are numbered as those of a ``Link``.
        dtypes: the dtypes of the operands.
        steps: 1 for an operand that has an element for each of the result's, and 0 for one element.
        dtype: that of the result.
    """

    links: tuple[LinkCode, ...]
    dtypes: tuple[DType, ...]
    steps: tuple[int, ...]
    dtype: DType


class ChainFunctions:
    """The functions of chains that the kernels of a host can call."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._rows = RowCode(module_bytes("rows", host.variant))
        self._numbers: dict[ChainFunction, int] = {}

    @property
    def rows(self) -> Collection[str]:
        """The names of the functions of rows."""
        return self._rows.numbers.keys()

    def add(self, functions: Iterable[ChainFunction]) -> None:
        """Generate the functions that are missing, in one module."""
        missing = [*dict.fromkeys(part for part in functions if part not in self._numbers)]
        if missing:
            first = self._host.add_functions(_module(self._rows, missing))
            self._numbers.update((part, index) for index, part in enumerate(missing, first))

    def number(self, function: ChainFunction) -> int:
        """Return the index of a function in the function table of the kernels."""
        return self._numbers[function]


def _module(rows: RowCode, functions: Sequence[ChainFunction]) -> bytes:
    """Return a module that exports these functions as "0", "1" and so on."""
    called: dict[int, int] = {0: 0}

    def number_of(row: int) -> int:
        """Return the number that a function of rows has in the new module."""
        return called.setdefault(row, len(functions) + len(called))

    bodies = [_Body(rows, number_of).of(function) for function in functions]
    signatures = [(_F32, _I64), (_PARAMETERS, b"")]
    types = [1] * len(functions)
    copied = 1
    while copied < len(called):  # what is copied may call more
        row = rows.function([*called][copied])
        own = range(len(row.parameters) + len(row.locals))
        code = _rewritten(row.code, own, number_of, constant_vector)
        bodies.append(_declared(row.locals) + code + _END)
        types.append(len(signatures))
        signatures.append((row.parameters, row.results))
        copied += 1
    imports = [
        MEMORY_IMPORT + encoded(INITIAL_PAGES) + encoded(MAXIMUM_PAGES),
        sized(b"env") + sized(b"huge_angle") + b"\x00" + encoded(0),
    ]
    exports = [
        sized(str(index).encode()) + b"\x00" + encoded(1 + index) for index in range(len(functions))
    ]
    return HEADER + b"".join(
        (
            section(TYPES, vector(_FUNCTION + sized(a) + sized(b) for a, b in signatures)),
            section(IMPORTS, vector(imports)),
            section(FUNCTIONS, vector(map(encoded, types))),
            section(EXPORTS, vector(exports)),
            section(CODE, vector(map(sized, bodies))),
        )
    )


def _declared(kinds: bytes) -> bytes:
    """Return the declaration of locals of these types."""
    return vector(encoded(1) + bytes([kind]) for kind in kinds)


def _rewritten(
    code: Iterable[Instruction],
    locals_: Sequence[int],
    number_of: Callable[[int], int],
    constant: Callable[[int], bytes],
) -> bytes:
    """Return code with these locals in place of its own, and with other numbers of functions.

    ``constant`` returns the code for a constant vector, from the number that its bytes make.
    """
    parts: list[bytes] = []
    for part in code:
        if isinstance(part, bytes):
            parts.append(part)
            continue
        opcode, number = part
        if opcode == VECTORS:
            parts.append(constant(number))
        else:
            new = number_of(number) if opcode == CALL else locals_[number]
            parts.append(bytes([opcode]) + encoded(new))
    return b"".join(parts)


class _Body:
    """The body of a chain's function, while it is written."""

    def __init__(self, rows: RowCode, number_of: Callable[[int], int]) -> None:
        self._rows = rows
        self._number_of = number_of
        self._locals = bytearray()
        #: Locals that serve one row after another, by type, and how many of them the row has.
        self._scratch: dict[int, list[int]] = {}
        self._taken: Counter[int] = Counter()
        #: The locals of constant vectors.
        self._constants: dict[int, int] = {}
        self._address = self._new(_I32[0])

    def of(self, function: ChainFunction) -> bytes:
        """Return the body of this function."""
        links, dtypes, steps, _ = function
        values = [self._new(_V128[0]) for _ in range(len(dtypes) + len(links))]
        parameters = [self._new(_F32[0]) for link in links for _ in range(link.parameters)]
        before = [_parameter(index, number) for index, number in enumerate(parameters)]
        before += [
            self._load(index, values[index], dtypes[index], 0)
            for index, step in enumerate(steps)
            if not step
        ]
        loops = [self._loop(function, values, parameters, vectors) for vectors in (_UNROLLED, 1)]
        before += [
            constant_vector(number) + _SET + encoded(local)
            for number, local in self._constants.items()
        ]
        return b"".join((_declared(bytes(self._locals)), *before, *loops, _END))

    def _loop(
        self,
        function: ChainFunction,
        values: Sequence[int],
        parameters: Sequence[int],
        vectors: int,
    ) -> bytes:
        """Return a loop that computes some vectors in each turn; the last of one may be partial."""
        links, dtypes, steps, dtype = function
        rows = [index for index, step in enumerate(steps) if step]
        code: list[bytes] = []
        for part in range(vectors):
            code += [self._load(index, values[index], dtypes[index], 1, part) for index in rows]
            remaining = iter(parameters)
            for link, value in zip(links, values[len(dtypes) :], strict=True):
                arguments = [values[index] for index in link.inputs]
                arguments += islice(remaining, link.parameters)
                code += [self._call(link.name, arguments), _SET, encoded(value)]
            code.append(self._store(values[-1], dtype, part))
        code += [_advanced(_FIRST_OPERAND + index, dtypes[index], vectors) for index in rows]
        code += [_advanced(_OUT, dtype, vectors), _added(_SIZE, -4 * vectors)]
        step_size = _constant(4 * vectors if vectors > 1 else 1)
        is_left = _GET + encoded(_SIZE) + step_size + _AT_LEAST
        return b"".join((is_left, _IF, _LOOP, *code, is_left, _AGAIN, _END, _END))

    def _load(self, index: int, value: int, dtype: DType, step: int, part: int = 0) -> bytes:
        """Return code that reads an element of an operand, or four of them, into a local."""
        address = _FIRST_OPERAND + index
        if dtype is bool_:
            code, address = self._address_of_bools(address, part)
            code += self._call("load_bools" if step else "load_bool", [address])
        else:
            code = _GET + encoded(address)
            code += _LOAD + encoded(_VECTOR_BYTES * part) if step else _LOAD_SPLAT
        return code + _SET + encoded(value)

    def _store(self, value: int, dtype: DType, part: int) -> bytes:
        """Return code that writes four elements."""
        if dtype is bool_:
            code, address = self._address_of_bools(_OUT, part)
            return code + self._call("store_bools", [address, value])
        code = _GET + encoded(_OUT) + _GET + encoded(value)
        return code + _STORE + encoded(_VECTOR_BYTES * part)

    def _address_of_bools(self, address: int, part: int) -> tuple[bytes, int]:
        """Return code that finds the address of a vector of bools, and the local that has it."""
        if not part:
            return b"", address
        sum_ = _GET + encoded(address) + _constant(4 * part) + _I32_ADD
        return sum_ + _SET + encoded(self._address), self._address

    def _call(self, name: str, arguments: Sequence[int]) -> bytes:
        """Return code that does what a function of rows does with these locals."""
        number = self._rows.numbers[name]
        row = self._rows.function(number)
        if not row.returns:
            return self._inlined(row, arguments)
        reads = b"".join(_GET + encoded(argument) for argument in arguments)
        return reads + bytes([CALL]) + encoded(self._number_of(number))

    def _inlined(self, row: RowFunction, arguments: Sequence[int]) -> bytes:
        self._taken.clear()
        code: list[bytes] = []
        locals_ = [*arguments]
        for index in row.written & {*range(len(arguments))}:
            locals_[index] = self._temporary(row.parameters[index])
            code += [_GET, encoded(arguments[index]), _SET, encoded(locals_[index])]
        locals_ += [self._temporary(kind) for kind in row.locals]
        code += [_BLOCK, row.results or _NO_RESULT]
        code.append(_rewritten(row.code, locals_, self._number_of, self._read_constant))
        return b"".join((*code, _END))

    def _read_constant(self, number: int) -> bytes:
        """Return code that reads a constant vector from its local."""
        if number not in self._constants:
            self._constants[number] = self._new(_V128[0])
        return _GET + encoded(self._constants[number])

    def _temporary(self, kind: int) -> int:
        """Return a local of a type that the present row has not taken."""
        numbers = self._scratch.setdefault(kind, [])
        if self._taken[kind] == len(numbers):
            numbers.append(self._new(kind))
        self._taken[kind] += 1
        return numbers[self._taken[kind] - 1]

    def _new(self, kind: int) -> int:
        self._locals.append(kind)
        return len(_PARAMETERS) + len(self._locals) - 1


def _parameter(index: int, number: int) -> bytes:
    """Return code that reads a row's parameter into a local."""
    load = b"\x2a\x02" + encoded(4 * index)
    return _GET + encoded(_ROW_PARAMETERS) + load + _SET + encoded(number)


def _advanced(address: int, dtype: DType, vectors: int) -> bytes:
    """Return code that advances an address by some vectors."""
    return _added(address, 4 * dtype.itemsize * vectors)


def _added(local: int, number: int) -> bytes:
    """Return code that adds a number to a local."""
    return _GET + encoded(local) + _constant(number) + _I32_ADD + _SET + encoded(local)


def _constant(number: int) -> bytes:
    """Return code for a number of which the absolute value is less than 64."""
    return b"\x41" + bytes([number & 0x7F])
