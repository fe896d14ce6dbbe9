"""The table that the visitor chose, and the charts of its forecast."""

from collections.abc import Sequence
from html import escape

from page import element, problem_shown, write
from tables import likely_delimiter, read_columns, sample_table

import webtensor as wt

SAMPLE = "Bicycles hired in a made-up town. Choose your own table, or drop it here."
LARGEST_FILE, LONGEST_HEADER = 10_000_000, 10_000  # bytes
#: The rows before the held-out ones in the chart, as a share of these.
ROWS_BEFORE = 0.5


async def read_column() -> list[float]:
    """Return the chosen column of the chosen file, or of the sample.

    Raises:
        ValueError: the file is no table with numbers; the page says so, too.
    """
    for part in ("forecast", "losses", "verdict"):
        element(part).replaceChildren()
    with problem_shown():
        columns = await _read_table()
    choice = element("column")
    column = choice.value if choice.value in columns else [*columns][-1]
    choice.innerHTML = "".join(
        f"<option{' selected' if name == column else ''}>{escape(name)}</option>"
        for name in columns
    )
    return columns[column]


async def _read_table() -> dict[str, list[float]]:
    """Return the columns of the chosen file, or of the sample."""
    columns: dict[str, list[float]]
    files = element("file").files
    element("sample").hidden = files.length == 0
    if files.length == 0:
        write("source", SAMPLE)
        columns = await read_columns(sample_table(), "The sample")
        return columns
    file = files.item(0)
    write("source", f"From {file.name}.")
    if file.size == 0:
        raise ValueError(f"{file.name} is empty.")
    if file.size > LARGEST_FILE:
        raise ValueError(
            f"{file.name} has {file.size / 1e6:.0f} MB, but this page reads tables of at most "
            f"{LARGEST_FILE / 1e6:.0f} MB."
        )
    beginning = str(await file.slice(0, LONGEST_HEADER).text())
    delimiter = likely_delimiter(beginning.partition("\n")[0])
    columns = await read_columns(file, file.name, delimiter)
    return columns


def chosen_network() -> str:
    """Return the name of the network that the visitor chose."""
    return str(element("network").value)


class Stage:
    """The charts, and the sentence below them."""

    def __init__(self, values: Sequence[float], held_out: int) -> None:
        """Show forecasts of the last `held_out` values, and of those that will follow."""
        self._values, self._held_out = values, held_out
        self._losses: list[tuple[int, float]] = []

    async def show(self, epoch: int, loss: float, fit: wt.Tensor, future: wt.Tensor) -> None:
        """Show what is known after an epoch: the loss, the fit of the held-out values, the future.

        Epochs are counted from 1. The fit and the future are of shape (rows,).
        """
        self._losses.append((epoch, loss))
        fitted = list(await fit.data())
        self._draw(fitted, list(await future.data()))
        wt.visor.render.line_chart(
            {"error in training": self._losses}, "losses", height=140, width=900, x_label="epoch"
        )
        write("verdict", f"Epoch {epoch}: {self._verdict(fitted)}")

    def _draw(self, fitted: list[float], following: list[float]) -> None:
        end = len(self._values)
        border = end - self._held_out
        begin = max(0, border - int(ROWS_BEFORE * self._held_out))
        lines = {
            "table": _points(self._values[begin:], begin),
            "one row ahead": _points(fitted, border),
            "forecast": _points([self._values[-1], *following], end - 1),
        }
        wt.visor.render.line_chart(lines, "forecast", height=200, width=900, x_label="row")

    def _verdict(self, fitted: list[float]) -> str:
        """Say how good the forecasts are beside guessing that each value repeats."""
        actual = self._values[-self._held_out :]
        before = self._values[-self._held_out - 1 : -1]
        error, naive = _mean_error(fitted, actual), _mean_error(before, actual)
        text = (
            f"on the last {self._held_out} rows, which it did not learn from, the network is off "
            f"by {_short(error)} on average. Guessing the row before is off by {_short(naive)}"
        )
        if naive == 0:
            return f"{text}."
        change = 1 - error / naive
        direction = "less" if change > 0 else "more"
        return f"{text}: the network's error is {abs(change):.0%} {direction}."


def _short(number: float) -> str:
    return f"{number:,.0f}" if 1e3 <= number < 1e9 else f"{number:.3g}"


def _points(values: Sequence[float], first: int) -> list[tuple[float, float]]:
    return [(first + index, value) for index, value in enumerate(values)]


def _mean_error(guesses: Sequence[float], actual: Sequence[float]) -> float:
    differences = (abs(a - b) for a, b in zip(guesses, actual, strict=True))
    return sum(differences) / len(actual)
