"""The sizes that unknown axes of inputs get in the runs of a model.

Several runs are traced, and others check the graph that the traces show. Small sizes cost little,
but most of what strides leave of them is 1; so they are tried first, and larger ones where the
graph fails in a check.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from webtensor.convert.recording import Dimension, TracedInput, Unknown

__all__ = ["Grouping", "Sizes", "groupings"]

#: The size of each unknown axis in one run.
Sizes = Mapping[Dimension, int]

#: For the first group of axes, the second, and so on: its size in three traces and in a check.
_Table = Sequence[tuple[int, int, int, int]]

#: Sizes of first axes, mostly the batch.
_BATCHES: _Table = ((2, 3, 5, 1), (4, 8, 8, 2), (6, 13, 11, 3))
#: Sizes of other axes, none of which follow from the batch by a factor and a sum.
_SMALL: _Table = ((8, 13, 9, 14), (13, 21, 14, 18), (18, 29, 17, 22))
#: For networks that halve sizes up to three times, and attend to all pixels at once.
_EVEN: _Table = ((16, 40, 24, 32), (24, 56, 48, 40), (32, 24, 56, 48))
#: Odd and even ones, of which three halvings leave odd and even ones.
_MIXED: _Table = ((118, 89, 72, 79), (91, 74, 117, 94), (101, 122, 66, 110))
#: For networks that halve sizes five times and join the results with what they halved.
_DIVISIBLE: _Table = ((64, 160, 96, 128), (96, 256, 160, 160), (128, 352, 224, 192))
_LARGE: _Table = ((224, 352, 256, 288), (256, 416, 352, 320), (288, 480, 448, 352))
#: For signals: windows of a 40th of a second are 400 samples.
_LONG: _Table = ((3520, 2961, 2004, 2500),)

#: The batch and the sizes of the first groups in further checks: odd ones, which need padding that
#: divisible ones do not, and divisible ones.
_CHECKS = ((1, (105, 133, 75)), (2, (64, 128, 192)))
_VOLUME_CHECKS = ((1, (33, 47, 38)), (2, (32, 64, 48)))
_SEQUENCE_CHECKS = ((1, (463,)), (2, (480,)))
_SIGNAL_CHECKS = ((1, (2819,)),)
#: The maximum number of channels of a signal.
_MAX_CHANNELS = 8
#: By how much sizes grow where there are more groups than a table has.
_MORE = 7


@dataclass(frozen=True)
class Grouping:
    """Which unknown axes have one size, and which sizes to try for them.

    Attributes:
        batches: the axes of each group that is a batch.
        others: those of other groups.
        is_signal: whether the only one of the other groups may be thousands of samples long.
        sums: the terms of axes whose name is a sum, such as "past + 1".
    """

    batches: Sequence[Sequence[Dimension]]
    others: Sequence[Sequence[Dimension]]
    is_signal: bool
    sums: Mapping[Dimension, Sequence[str]]

    def runs(self) -> Iterator[Sequence[Sizes]]:
        """Yield sizes of runs, the last of which is a check, in the order to try them.

        Without unknown sizes there are two traces, which show what depends on elements.
        """
        if not self.batches and not self.others:
            yield [self._sizes((), ())] * 3
            return
        tables = [_SMALL, _EVEN, _MIXED, _DIVISIBLE, _LARGE] if self.others else [_SMALL]
        for table in [*tables, _LONG] if self.is_signal else tables:
            yield self._runs(table)

    def runs_around(self, bounds: Collection[int]) -> Sequence[Sizes]:
        """Return sizes of runs, as `runs` does, some below all bounds and others above."""
        low, high = min(bounds), max(bounds)
        return self._runs(
            [
                (max(low // 2 - step, 1), 2 * high + 3 * step, max(low - 2 - step, 1), high + 3)
                for step in (1, 2, 3)
            ]
        )

    def _runs(self, table: _Table) -> Sequence[Sizes]:
        return [
            self._sizes([row[run] for row in _BATCHES], [row[run] for row in table])
            for run in range(4)
        ]

    def checks(self, has_loops: bool, takes_steps: bool) -> Iterator[Sizes]:
        """Yield sizes of runs that check graphs, which are large enough for most strides.

        Those of loops are smaller, as each step takes long. With ``takes_steps``, a loop has a
        step for each of the elements of an axis, which is then no signal.
        """
        if not self.others:
            return
        checks: Sequence[tuple[int, Sequence[int]]] = _CHECKS
        if len(self.others) > 2:
            checks = _VOLUME_CHECKS
        if len(self.others) == 1:
            checks = (
                *(_CHECKS if has_loops else _SEQUENCE_CHECKS),
                *(_SIGNAL_CHECKS if self.is_signal and not takes_steps else ()),
            )
        for batch, sizes in checks:
            yield self._sizes([batch] * len(self.batches), sizes)

    def checks_around(self, bounds: Collection[int]) -> Iterator[Sizes]:
        """Yield sizes of runs that check graphs: half of each bound, and twice as much."""
        for size in sorted({*(bound // 2 for bound in bounds), *(2 * bound for bound in bounds)}):
            if self.others:
                yield self._sizes([1] * len(self.batches), (size,))

    def _sizes(self, batches: Sequence[int], others: Sequence[int]) -> Sizes:
        """Return the size of each axis, for sizes of the first groups of both kinds."""
        result = {
            axis: _of_group(sizes, number)
            for groups, sizes in ((self.batches, batches), (self.others, others))
            for number, group in enumerate(groups)
            for axis in group
        }
        for axis, terms in self.sums.items():
            result[axis] = sum(int(term) if term.isdecimal() else result[term] for term in terms)
        return result


def _of_group(sizes: Sequence[int], number: int) -> int:
    """Return the size of a group; where there are more groups than sizes, these come again."""
    again, index = divmod(number, len(sizes))
    return sizes[index] + _MORE * again


def groupings(inputs: Sequence[TracedInput]) -> Iterator[Grouping]:
    """Yield ways to say which unknown axes have the same size, from few to many.

    At first only axes of one name do; then all first axes, the same axes of all inputs unless they
    have names, and at last the same axes whatever their names are. Axes whose name is a sum have
    the sum of the sizes always.
    """
    axes: dict[Dimension, int] = {}
    in_batches: set[Dimension] = set()
    for value in inputs:
        for axis, size in enumerate(value.shape):
            if not isinstance(size, int):
                axes[size] = min(axis, axes.get(size, axis))
                if axis == 0 and len(value.shape) > 1:
                    in_batches.add(size)
    sums = _sums(axes)
    axes = {size: axis for size, axis in axes.items() if size not in sums}
    keys: list[dict[Dimension, Hashable]] = [
        {size: size for size in axes},
        {size: size if axis else axis for size, axis in axes.items()},
        {size: axis if isinstance(size, Unknown) else size for size, axis in axes.items()},
        {**axes},
    ]
    seen: list[list[list[Dimension]]] = []
    for key_of in keys:
        groups: dict[Hashable, list[Dimension]] = {}
        for size, key in key_of.items():
            groups.setdefault(key, []).append(size)
        partition = [*groups.values()]
        if partition in seen:
            continue
        seen.append(partition)
        batches = [group for group in partition if not in_batches.isdisjoint(group)]
        others = [group for group in partition if in_batches.isdisjoint(group)]
        is_signal = len(others) == 1 and all(
            _may_be_signal(value) for value in inputs if not {*others[0]}.isdisjoint(value.shape)
        )
        yield Grouping(batches, others, is_signal, sums)


def _sums(axes: Collection[Dimension]) -> dict[Dimension, list[str]]:
    """Return the terms of the axes that are named as sums of others and of numbers."""
    sums: dict[Dimension, list[str]] = {}
    for name in axes:
        terms = [term.strip() for term in name.split("+")] if isinstance(name, str) else []
        if len(terms) > 1 and all(term in axes or term.isdecimal() for term in terms):
            sums[name] = terms
    return sums


def _may_be_signal(value: TracedInput) -> bool:
    channels = prod(size for size in value.shape if isinstance(size, int))
    return value.dtype == "float32" and channels <= _MAX_CHANNELS
