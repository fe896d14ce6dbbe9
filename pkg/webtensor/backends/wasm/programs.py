"""Programs of calls of exports: words in memory that are filled in and run in one crossing.

Everything that a replay does not change is written down once: numbers, the addresses of geometries,
and those of temporary values, which share one block of memory. A replay fills in the addresses of
sources and results, what is looked up when the call happens, and what follows from late attributes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, MutableSequence, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from webtensor.backends.api import DescribedKernel, Handle, Stored
from webtensor.backends.chains import with_chains
from webtensor.backends.joining import with_joined_calls
from webtensor.backends.programs import KernelCall, Program, ProgramOperand, last_uses
from webtensor.backends.wasm.aliases import find_aliases
from webtensor.backends.wasm.descriptions import (
    RESULT,
    Address,
    Call,
    Description,
    Geometry,
    Lookup,
    Packed,
    Record,
    is_lookup,
)
from webtensor.backends.wasm.links import is_end, is_link
from webtensor.backends.wasm.temporary_memory import Lifetime, aligned_size, arranged
from webtensor.errors import KernelNotFoundError

if TYPE_CHECKING:
    from webtensor.backends.wasm.backend import WasmBackend

__all__ = ["WasmProgram"]

#: The numbers of arguments with which exports are called quickly (``calls.js``). Calls are filled
#: with zeros: exports take them for missing arguments, and ignore what is too much.
_FORMS = (3, 4, 5, 12)

#: The numbers of a call, or of several that cross together.
_Words: TypeAlias = MutableSequence[float]
#: Positions among the words of a call, with what is looked up for them.
_Late: TypeAlias = list[tuple[int, Lookup]]


class _Gap(NamedTuple):
    """A word that replays fill in with the address of a source or of a result."""

    words: _Words
    position: int
    offset: int


class _Addresses:
    """Writes the addresses of sources, or of results, into the words of calls."""

    def __init__(self, count: int) -> None:
        #: The words for the address of each source or result.
        self.gaps: list[list[_Gap]] = [[] for _ in range(count)]
        #: The addresses of the last replay.
        self._written: list[int | None] = [None] * count

    def write(self, addresses: Sequence[int]) -> None:
        """Write the addresses that changed."""
        written = self._written
        for number, address in enumerate(addresses):
            if address != written[number]:
                for words, position, offset in self.gaps[number]:
                    words[position] = address + offset
                written[number] = address


class _PackedSource(NamedTuple):
    """A source that may be packed, and the words for the address of its panels.

    The words are 0 where it is not packed.
    """

    argument: Packed
    operand: ProgramOperand
    source: int
    uses: list[tuple[_Words, int]]


class _Attribute(float):
    """A float among the attributes of a call, which is recognized among its arguments."""

    __slots__ = ()


class _LateWord(NamedTuple):
    """A word that is a late attribute, as it is."""

    words: _Words
    position: int
    late: int
    attribute: int


class _LateWords(NamedTuple):
    """The words of a call that follow from its late attributes in another way."""

    words: _Words
    first: int
    call: KernelCall
    describe: Callable[..., Description]


class _SingleCall:
    """A call of its own: some arguments are looked up when it happens."""

    def __init__(
        self, backend: WasmBackend, run: Callable[..., object], words: list[float]
    ) -> None:
        self._backend = backend
        self._run = run
        self.words = words
        self.late: _Late = []

    def __call__(self) -> None:
        for position, argument in self.late:
            self.words[position] = argument.find(self._backend, ())
        self._run(*self.words)


def _is_late(argument: Any) -> bool:
    """Whether an argument must be looked up right before its call."""
    return is_lookup(argument) and not isinstance(argument, Packed)


def _distinguishable(call: KernelCall) -> tuple[Any, ...]:
    """Return the attributes of a call; late floats are objects of their own."""
    if call.late is None:
        return call.attributes
    return tuple(_Attribute(part) if type(part) is float else part for part in call.attributes)


def _with_separable_convolutions(program: Program) -> Program:
    """Return the program with depthwise convolutions joined with pointwise ones that read them."""
    if not any(call.kernel.endswith("depthwise_conv2d") for call in program.calls):
        return program
    from webtensor.backends.wasm.separable import with_separable_convolutions

    return with_separable_convolutions(program)


class WasmProgram:
    """A program that the backend replays.

    Raises:
        KernelNotFoundError: a kernel describes nothing.
        OutOfMemoryError: there is no room for the temporary values.
    """

    def __init__(self, backend: WasmBackend, program: Program) -> None:
        self._backend = backend
        self._geometry_block = 0
        joined = _with_separable_convolutions(with_joined_calls(program))
        self._program = with_chains(joined, partial(is_link, backend.chain_functions.rows), is_end)
        self._aliases = find_aliases(self._program)
        self._epoch: object = None
        self._generation = 0
        with backend.lock:
            self._compile()

    def __call__(self, sources: Sequence[Stored], late: Sequence[tuple[Any, ...]]) -> list[Handle]:
        """Return the addresses of the results for these sources and late attributes."""
        with self._backend.lock:  # all programs share the memory of temporary values
            return self._replayed(sources, late)

    def _replayed(self, sources: Sequence[Stored], late: Sequence[tuple[Any, ...]]) -> list[Handle]:
        backend = self._backend
        if (
            self._epoch is not backend.epoch
            or self._generation != backend.temporary_block.generation
        ):
            self._compile()
        results: list[int] = []
        try:
            for parked, count in self._result_memory:
                results.append(parked.pop() if parked else backend.allocate(count))
            self._source_addresses.write([source.handle for source in sources])
            self._result_addresses.write(results)
            for argument, operand, source, uses in self._packed.values():
                operand.storage = sources[source]
                address = argument.find_for(backend, operand, len(uses))
                operand.storage = None
                for words, position in uses:
                    words[position] = address
            for words, position, number, attribute in self._late_words:
                words[position] = late[number][attribute]
            for call in self._late_calls:
                self._fill_late(call, late)
            for run in self._runs:
                run()
        except BaseException:
            for address in results:
                backend.release(address)
            raise
        return results

    def close(self) -> None:
        """Free the memory of temporary values and of geometries."""
        with self._backend.lock:
            self._backend.temporary_block.release(id(self))
            if self._geometry_block:
                self._backend.release(self._geometry_block)
                self._geometry_block = 0

    def __del__(self) -> None:
        self.close()

    # -- compiling ----------------------------------------------------------------------------

    def _compile(self) -> None:
        self.close()
        backend, program = self._backend, self._program
        self._epoch = backend.epoch
        describes = [self._described(call) for call in program.calls]
        attributes = [_distinguishable(call) for call in program.calls]
        descriptions = self._numbered(
            [
                describe(call.signature, *own)
                for describe, call, own in zip(describes, program.calls, attributes, strict=True)
            ]
        )
        self._assign_addresses(descriptions)
        self._source_addresses = _Addresses(program.sources)
        self._result_addresses = _Addresses(len(program.results))
        self._packed: dict[tuple[int, ...], _PackedSource] = {}
        self._late_words: list[_LateWord] = []
        self._late_calls: list[_LateWords] = []
        self._runs: list[Callable[[], object]] = []
        self._results = {number: index for index, number in enumerate(program.results)}
        sizes = [descriptions[number - program.sources].bytes for number in program.results]
        #: The lists of freed blocks in which each result may find one, and its bytes.
        self._result_memory = [(backend.pool.parked(size), size) for size in sizes]
        self._queue: array[float] = array("d")
        for number, (call, description) in enumerate(zip(program.calls, descriptions, strict=True)):
            for index, step in enumerate(description.calls):
                if (number, index) in self._aliases.unneeded:
                    continue
                words, first, lookups = self._begin(step)
                for position, argument in enumerate(step.arguments, first):
                    if _is_late(argument):
                        lookups.append((position, argument))
                    else:
                        self._fill(words, position, argument, number)
                if call.late is not None:
                    late = _LateWords(words, first, call, describes[number])
                    self._note_late(late, attributes[number], step)
        self._end_queue()

    def _begin(self, call: Call) -> tuple[_Words, int, _Late]:
        """Return the words of a call, the position of its first argument, and its lookups."""
        backend, count = self._backend, len(call.arguments)
        run: Callable[..., object]
        is_shared = call.is_shared and call.work >= backend.threads.least_work
        is_written = backend.host.defers and not any(_is_late(part) for part in call.arguments)
        if is_shared and is_written and backend.threads.start():
            pieces = backend.threads.pieces(call.work)
            self._queue.extend((-pieces, count + 1, backend.numbers[call.export]))
            first = len(self._queue)
            self._queue.extend([0.0] * count)
            return self._queue, first, []
        if is_shared:
            run = partial(backend.threads.run, call.export, call.work)
        elif is_written:
            length = next((form for form in _FORMS if form >= count), count)
            self._queue.extend((backend.numbers[call.export], length))
            first = len(self._queue)
            self._queue.extend([0.0] * length)
            return self._queue, first, []
        else:
            run = backend.functions[call.export]
        self._end_queue()
        single = _SingleCall(backend, run, [0.0] * count)
        self._runs.append(single)
        return single.words, 0, single.late

    def _end_queue(self) -> None:
        if self._queue:
            self._runs.append(partial(self._backend.host.run_words, self._queue))
            self._queue = array("d")

    def _fill(self, words: _Words, position: int, argument: Any, number: int) -> None:
        """Write an argument of call ``number``, or note that replays do."""
        if isinstance(argument, Geometry):
            words[position] = self._geometries[argument.integers]
        elif isinstance(argument, Address):
            self._fill_address(words, position, argument, number)
        elif isinstance(argument, Packed):
            call = self._program.calls[number]
            source = call.inputs[argument.operand]
            words[position] = 0
            if source < self._program.sources:  # temporary values are used but once
                operand = ProgramOperand(call.signature.inputs[argument.operand])
                packed = _PackedSource(argument, operand, source, [])
                key = source, *argument[1:]
                self._packed.setdefault(key, packed).uses.append((words, position))
        else:
            words[position] = argument

    def _fill_address(self, words: _Words, position: int, address: Address, number: int) -> None:
        block, offset = address
        sources, calls = self._program.sources, self._program.calls
        if block < RESULT.block:
            words[position] = self._scratch[number][RESULT.block - 1 - block] + offset
            return
        value = sources + number if block == RESULT.block else calls[number].inputs[block]
        value, before = self._aliases.owner(value)
        offset += before
        if value < sources:
            self._source_addresses.gaps[value].append(_Gap(words, position, offset))
        elif value in self._results:
            gaps = self._result_addresses.gaps[self._results[value]]
            gaps.append(_Gap(words, position, offset))
        else:
            words[position] = self._addresses[value] + offset

    def _note_late(self, late: _LateWords, attributes: tuple[Any, ...], step: Call) -> None:
        """Note which words of a call replays fill in from its late attributes."""
        call = late.call
        assert call.late is not None
        late_words = [
            _LateWord(late.words, position, call.late, number)
            for number, attribute in enumerate(attributes)
            for position, argument in enumerate(step.arguments, late.first)
            if isinstance(attribute, _Attribute) and argument is attribute
        ]
        numbers = [part for part in attributes if isinstance(part, (int, float))]
        if len(late_words) == len(numbers):
            self._late_words += late_words
        else:
            self._late_calls.append(late)

    def _fill_late(self, words: _LateWords, late: Sequence[tuple[Any, ...]]) -> None:
        """Write the numbers of a call that follow from its late attributes."""
        call = words.call
        assert call.late is not None
        (step,) = words.describe(call.signature, *late[call.late]).calls
        for position, argument in enumerate(step.arguments, words.first):
            if isinstance(argument, (int, float)):
                words.words[position] = argument

    def _described(self, call: KernelCall) -> Callable[..., Description]:
        kernel = self._backend.kernel(call.kernel)
        if not isinstance(kernel, DescribedKernel):
            raise KernelNotFoundError(f"the kernel {call.kernel!r} does not say what it calls")
        return kernel.describe

    def _numbered(self, descriptions: Sequence[Description]) -> list[Description]:
        """Return descriptions with geometries instead of records; generate functions of chains."""
        functions = self._backend.chain_functions
        functions.add(
            word
            for description in descriptions
            for call in description.calls
            for argument in call.arguments
            if isinstance(argument, Record)
            for word in argument.words
            if not isinstance(word, int)
        )

        def numbered(argument: Any) -> Any:
            if not isinstance(argument, Record):
                return argument
            return Geometry(
                tuple(
                    word if isinstance(word, int) else functions.number(word)
                    for word in argument.words
                )
            )

        return [
            description._replace(
                calls=tuple(
                    call._replace(arguments=tuple(map(numbered, call.arguments)))
                    for call in description.calls
                )
            )
            for description in descriptions
        ]

    def _assign_addresses(self, descriptions: Sequence[Description]) -> None:
        """Assign addresses to temporary values, scratch memory and geometries."""
        program = self._program
        sources, results = program.sources, {*program.results}
        temporary: dict[int, Lifetime] = {}
        for index, unneeded in enumerate(last_uses(program)):
            for number in unneeded:
                owner, _ = self._aliases.owner(number)
                if owner < sources or owner in results:
                    continue
                begin, size = number - sources, aligned_size(descriptions[owner - sources].bytes)
                if owner in temporary:
                    begin = min(begin, temporary[owner].first)
                temporary[owner] = Lifetime(begin, index, size)
        lifetimes = [*temporary.values()]
        lifetimes += [
            Lifetime(index, index, aligned_size(count))
            for index, description in enumerate(descriptions)
            for count in description.scratch
        ]
        offsets, size = arranged(lifetimes)
        block = self._backend.temporary_block
        base = block.reserve(id(self), size) if size else 0
        self._generation = block.generation
        addresses = iter([base + offset for offset in offsets])
        self._addresses = dict(zip(temporary, addresses, strict=False))
        self._scratch = [[next(addresses) for _ in part.scratch] for part in descriptions]
        self._write_geometries(descriptions)

    def _write_geometries(self, descriptions: Sequence[Description]) -> None:
        """Write geometries into a block of their own."""
        backend = self._backend
        geometries = dict.fromkeys(
            argument.integers
            for description in descriptions
            for step in description.calls
            for argument in step.arguments
            if isinstance(argument, Geometry)
        )
        self._geometries: dict[tuple[int, ...], int] = {}
        if not geometries:
            return
        total = sum(aligned_size(4 * len(integers)) for integers in geometries)
        address = self._geometry_block = backend.allocate(total)
        for integers in geometries:
            backend.host.write(address, memoryview(array("i", integers)).cast("B"))
            self._geometries[integers] = address
            address += aligned_size(4 * len(integers))
