"""Data sets: a table that is read from text, and functions of Python or JavaScript on elements."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import webtensor as wt
from tests_browser.bench.workload import ONLY_WASM, Input, Workload

__all__ = ["DATA"]

ROWS, COLUMNS = 5000, 8
ELEMENTS = 5000

Step = Callable[[], Awaitable[wt.Tensor]]


def read_table(numbers: memoryview) -> Step:
    """Return a step that reads a table of numbers; `data.js` beside the page has the peer's."""
    header = ",".join(f"c{index}" for index in range(COLUMNS))
    values = [f"{number:.4f}" for number in numbers]
    rows = (",".join(values[start : start + COLUMNS]) for start in range(0, len(values), COLUMNS))
    text = "\n".join([header, *rows]).encode()
    last = f"c{COLUMNS - 1}"

    async def step() -> wt.Tensor:
        total = 0.0
        async for row in wt.data.csv(text):
            total += row["c0"] + row[last]
        return wt.tensor(total)

    return step


def pipeline(numbers: memoryview) -> Step:
    """Return a step that doubles numbers, leaves out some of them, and adds up the rest."""
    elements = (
        wt.data.array(numbers.tolist())
        .map(lambda number: 2 * number)
        .filter(lambda number: number > 0)
    )

    async def step() -> wt.Tensor:
        total = 0.0
        async for number in elements:
            total += number
        return wt.tensor(total)

    return step


def row(name: str, ours: Callable[[memoryview], Step], theirs: str, inputs: Input) -> Workload:
    """Time what reads a whole data set."""
    return Workload(
        f"data.{name}",
        ours,
        theirs,
        {"numbers": inputs},
        peers=ONLY_WASM,  # nothing computes on the GPU
        from_host=True,
        makes_step=True,
        awaited=True,
    )


DATA = [
    row("csv", read_table, f"data.readTable(tf, numbers, {COLUMNS})", Input((ROWS, COLUMNS))),
    row("pipeline", pipeline, "data.pipeline(tf, numbers)", Input((ELEMENTS,))),
]
