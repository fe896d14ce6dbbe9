"""What a conversion did: how many nodes and bytes are left, and what to know of the result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from webtensor.graph.operations import ONLY_HERE

__all__ = ["ConversionReport", "Counts", "tensorflow_js_lacks"]


def tensorflow_js_lacks(operations: Iterable[str]) -> tuple[str, ...]:
    """Return those of some operations that TensorFlow.js does not have.

    Example:
        >>> tensorflow_js_lacks({"MatMul", "Xlogy"})
        ('Xlogy',)
    """
    return tuple(sorted(ONLY_HERE.keys() & {*operations}))


class Counts(NamedTuple):
    """What happened to the nodes of a graph; all 0 for a model of layers.

    Attributes:
        read: the number of nodes in the file, with those of functions.
        needed: the number of nodes that the outputs need.
        folded: how many of these were constant.
        fused: how many became a part of others.
        written: the number of nodes that are left.
        lacking: the operations that TensorFlow.js does not have.
    """

    read: int = 0
    needed: int = 0
    folded: int = 0
    fused: int = 0
    written: int = 0
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConversionReport:
    """What a conversion did; ``str`` makes a few lines of it.

    Attributes:
        source: the path of the model.
        target: the path of what it became.
        input_format: the name of its format.
        output_format: the name of the format that it became.
        input_bytes: the number of bytes of its files.
        output_bytes: the number of bytes of the files that were written.
        counts: what happened to the nodes of its graph.
    """

    source: str
    target: str
    input_format: str
    output_format: str
    input_bytes: int
    output_bytes: int
    counts: Counts = field(default_factory=Counts)

    def __str__(self) -> str:
        lines = [
            f"{self.source} ({self.input_format}) -> {self.target} ({self.output_format})",
            f"bytes  {self.input_bytes:,} -> {self.output_bytes:,}{self._ratio()}",
        ]
        counts = self.counts
        if counts.read:
            pruned = counts.read - counts.needed
            change = "more for loops and calls" if pruned < 0 else "are not needed"
            lines += [
                f"nodes  {counts.read:,} -> {counts.written:,}: {abs(pruned):,} {change}, "
                f"{counts.folded:,} constant, {counts.fused:,} fused with others",
            ]
        if counts.lacking:
            lines.append(f"TensorFlow.js does not have: {', '.join(counts.lacking)}")
        return "\n".join(lines)

    def _ratio(self) -> str:
        if not self.input_bytes:
            return ""
        return f" ({self.output_bytes / self.input_bytes:.0%})"
