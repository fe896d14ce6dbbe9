"""Programs as draws that are packed once: a replay fills in the numbers of textures.

Values in between take textures from the pools that all others use, as few as their lifetimes need,
and give them back when the draws are queued.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import pairwise
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from webtensor.backends.api import CompiledProgram, DescribedKernel, Stored
from webtensor.backends.programs import KernelCall, Program
from webtensor.backends.webgl.draws import Description, Step
from webtensor.backends.webgl.programs import LinkedProgram
from webtensor.backends.webgl.queue import COPY, COPY_RECORDS
from webtensor.backends.webgl.textures import Texture, TextureLayout
from webtensor.dtypes import float32

if TYPE_CHECKING:
    from webtensor.backends.webgl.backend import WebGLBackend

__all__ = ["PreparedDraws"]

_WORD = 4
#: The maximum number of words that are queued at once.
_MAX_WORDS = 1 << 14


class _Record(NamedTuple):
    """A draw or a copy, as the queue has it.

    Attributes:
        record: packs the words.
        words: those of the record, with zeros for textures.
        textures: the indices of these words, and the values that they stand for.
    """

    record: Struct
    words: tuple[float, ...]
    textures: tuple[tuple[int, int], ...]


class _LateDraw(NamedTuple):
    """A draw whose uniforms each replay works out: its program, and where they are packed."""

    key: Hashable
    uniforms: Struct
    offset: int


class PreparedDraws:
    """Replays a program whose kernels are all described.

    Where memory is short, so that textures may have been moved to the host, and where draws are
    traced, its kernels are called one by one.

    Args:
        backend: the backend.
        program: the program.
        one_by_one: calls its kernels one by one.
    """

    def __init__(
        self, backend: WebGLBackend, program: Program, one_by_one: CompiledProgram
    ) -> None:
        self._backend = backend
        self._program = program
        self._one_by_one = one_by_one
        self._epoch: object = None

    def __call__(self, sources: Sequence[Stored], late: Sequence[tuple[Any, ...]]) -> list[Texture]:
        """Return the textures of the results for these sources and late attributes."""
        backend, textures = self._backend, self._backend.textures
        if textures.may_be_short or backend.trace is not None:
            return self._one_by_one(sources, late)
        if self._epoch is not backend.epoch:
            self._prepare()
        if not self._fill_in_late(late):
            return self._one_by_one(sources, late)
        targets: list[Texture] = []
        try:
            for layout in self._layouts:
                targets.append(textures.take(layout))  # noqa: PERF401  (an error releases them)
            numbers = [source.handle.id for source in sources]
            numbers += [texture.id for texture in targets]
            self._fill_in(numbers)
            for part in self._parts:
                backend.push_words(part)
        except BaseException:
            for texture in targets:
                textures.release(texture)
            raise
        results = len(self._program.results)
        for texture in targets[results:]:
            textures.release(texture)
        return targets[:results]

    def close(self) -> None:
        """Free what is kept for replays: nothing."""

    def _prepare(self) -> None:
        """Pack the draws for the backend's epoch."""
        recorder = _Recorder(self._backend, self._program)
        slots, self._layouts = recorder.slots(self._program.results)
        size = sum(len(record.words) for record in recorder.records)
        self._words = words = array("i", bytes(_WORD * (size + 1)))
        count = self._program.sources + len(self._layouts)
        #: For each texture, the positions of its number among the words, and its last number.
        self._positions: list[list[int]] = [[] for _ in range(count)]
        self._numbers = [0] * count
        begins = [0]
        for record in recorder.records:
            begin = begins[-1]
            record.record.pack_into(words, _WORD * begin, *record.words, -1)
            for index, value in record.textures:
                self._positions[slots[value]].append(begin + index)
            begins.append(begin + len(record.words))
        self._parts = _parts(memoryview(words), begins)
        self._late = [
            (call, [_late_draw(step, program, begins[index]) for index, step, program in draws])
            for call, draws in recorder.late
        ]
        self._epoch = self._backend.epoch

    def _fill_in(self, numbers: list[int]) -> None:
        """Pack the numbers of textures; most are those of the last replay."""
        words = self._words
        for positions, number, last in zip(self._positions, numbers, self._numbers, strict=True):
            if number != last:
                for position in positions:
                    words[position] = number
        self._numbers = numbers

    def _fill_in_late(self, late: Sequence[tuple[Any, ...]]) -> bool:
        """Pack the uniforms that follow from late attributes; return whether that is all."""
        for call, draws in self._late:
            assert call.late is not None
            steps = _described(self._backend, call, late[call.late]).steps
            if [step.program.key for step in steps] != [draw.key for draw in draws]:
                return False
            for step, draw in zip(steps, draws, strict=True):
                draw.uniforms.pack_into(self._words, draw.offset, *step.uniforms)
        return True


class _Recorder:
    """The records of a program; sources have the first numbers of values.

    Attributes:
        records: the draws and copies, in order.
        late: the calls with late attributes, and of each draw its record, step and program.
    """

    def __init__(self, backend: WebGLBackend, program: Program) -> None:
        self._backend = backend
        self._sources = program.sources
        #: The layouts of values that are drawn, in order.
        self._layouts: list[TextureLayout] = []
        self.records: list[_Record] = []
        self.late: list[tuple[KernelCall, list[tuple[int, Step, LinkedProgram]]]] = []
        #: The number here of each value of the program.
        self._values = list(range(program.sources))
        for call in program.calls:
            self._call(call)

    def slots(self, results: Sequence[int]) -> tuple[dict[int, int], list[TextureLayout]]:
        """Return which texture each value has, and the layouts of those that are no sources.

        Textures are numbered: those of the sources, of the results, and others.
        """
        slots = {number: number for number in range(self._sources)}
        result_values = [self._values[number] for number in results]
        slots |= {value: self._sources + index for index, value in enumerate(result_values)}
        layouts = [self._layout(value) for value in result_values]
        last_use = {
            value: index
            for index, record in enumerate(self.records)
            for _, value in record.textures
        }
        reserved = set(slots)
        free: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
        for index, record in enumerate(self.records):
            values = {value for _, value in record.textures}
            for value in sorted(values - slots.keys()):
                layout = self._layout(value)
                unused = free[layout[1:]]
                if unused:
                    slots[value] = unused.pop()
                else:
                    slots[value] = self._sources + len(layouts)
                    layouts.append(layout)
            for value in values - reserved:
                if last_use[value] == index:
                    free[self._layout(value)[1:]].append(slots[value])
        return slots, layouts

    def _layout(self, value: int) -> TextureLayout:
        return self._layouts[value - self._sources]

    def _value(self, layout: TextureLayout) -> int:
        self._layouts.append(layout)
        return self._sources + len(self._layouts) - 1

    def _call(self, call: KernelCall) -> None:
        description = _described(self._backend, call, call.attributes)
        local = [self._values[number] for number in call.inputs]
        draws: list[tuple[int, Step, LinkedProgram]] = []
        for step in description.steps:
            program = self._backend.programs.get(*step.program)
            draws.append((len(self.records), step, program))
            inputs = [local[number] for number in step.inputs]
            local += (
                self._joined(step, program, inputs)
                if step.joined_size
                else self._drawn(step, program, inputs)
            )
        self._values.append(local[description.result])
        if call.late is not None:
            self.late.append((call, draws))

    def _drawn(self, step: Step, program: LinkedProgram, inputs: Sequence[int]) -> list[int]:
        layout = self._backend.textures.layout(step.size, step.dtype)
        outputs = [self._value(layout) for _ in range(step.targets)]
        self._draw(program, outputs, inputs, step.uniforms)
        return outputs

    def _joined(self, step: Step, program: LinkedProgram, inputs: Sequence[int]) -> list[int]:
        textures = self._backend.textures
        layout = textures.layout(step.joined_size, float32)
        output = self._value(layout)
        wide = textures.wide_layout(step.size, layout[1])
        parts = [self._value(wide) for _ in range(step.targets)]
        self._draw(program, parts, inputs, step.uniforms)
        words = (COPY, 0, len(parts), step.size >> 2, *[0] * len(parts))
        self.records.append(
            _Record(COPY_RECORDS[len(parts)], words, ((1, output), *enumerate(parts, 4)))
        )
        return [output]

    def _draw(
        self,
        program: LinkedProgram,
        outputs: Sequence[int],
        inputs: Sequence[int],
        uniforms: tuple[float, ...],
    ) -> None:
        textures = tuple(enumerate([*outputs, *inputs], 1))
        words = (program.id, *[0] * len(textures), *uniforms)
        self.records.append(_Record(program.record, words, textures))


def _described(backend: WebGLBackend, call: KernelCall, attributes: tuple[Any, ...]) -> Description:
    kernel = cast(DescribedKernel, backend.kernels[call.kernel])
    return cast(Description, kernel.describe(call.signature, *attributes))


def _late_draw(step: Step, program: LinkedProgram, begin: int) -> _LateDraw:
    count = len(step.uniforms)
    kinds = program.record.format[-1 - count : -1]
    end = begin + program.record.size // _WORD - 1
    return _LateDraw(step.program.key, Struct(f"={kinds}"), _WORD * (end - count))


def _parts(words: memoryview[int], begins: Sequence[int]) -> list[memoryview[int]]:
    """Return the words of records in parts.

    ``begins`` has where records begin, and where the last one ends.
    """
    parts: list[memoryview[int]] = []
    first = 0
    for begin, end in pairwise(begins):
        if end - first > _MAX_WORDS:
            parts.append(words[first:begin])
            first = begin
    if begins[-1] > first:
        parts.append(words[first : begins[-1]])
    return parts
