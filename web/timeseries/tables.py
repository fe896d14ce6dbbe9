"""Tables for forecasts: the sample, and the columns of numbers in a CSV file."""

import math
import re
from datetime import date, timedelta
from itertools import dropwhile
from random import Random
from typing import Any

import webtensor as wt

#: What may be between fields, the likeliest first.
DELIMITERS = (",", ";", "\t")
FRACTION_AFTER_COMMA = re.compile(r"[+-]?\d*,\d+")
MIN_ROWS = 100
MAX_ROWS = 5_000
#: The minimum share of rows with a number in a column of numbers.
SMALLEST_SHARE_OF_NUMBERS = 0.5
#: Floats of 32 bits, in which networks compute, go a little further.
LARGEST_NUMBER = 1e37

#: The first day of the sample, and its number of days.
FIRST_DAY, SAMPLE_DAYS = date(2024, 1, 1), 731


def sample_table() -> bytes:
    """Make up a table: the temperature of days, and how many bicycles were hired on them.

    Both have a wave of a year; hires also follow the days of the week.
    """
    random = Random(1)
    weather = 0.0
    rows = ["date,weekday,temperature,hires"]
    for number in range(SAMPLE_DAYS):
        day = FIRST_DAY + timedelta(number)
        weather = 0.7 * weather + random.gauss(0, 2)
        temperature = 10 - 9 * math.cos(2 * math.pi * (number - 20) / 365) + weather
        commuters = 45 if day.weekday() < 5 else -40
        hires = 150 + 8 * temperature + commuters + 0.06 * number + random.gauss(0, 8)
        rows.append(f"{day},{day:%A},{temperature:.1f},{hires:.0f}")
    return "\n".join(rows).encode()


def likely_delimiter(line: str) -> str:
    """Return the delimiter that divides the first line of a table into the most fields."""
    return max(DELIMITERS, key=line.count)


async def read_columns(source: Any, name: str, delimiter: str = ",") -> dict[str, list[float]]:
    """Return the columns of numbers in a CSV file, which errors call `name`.

    Of a long table, the last `MAX_ROWS` rows are taken. A number that is missing or too large is
    the one before it. Between semicolons, numbers may have commas before their fractions.

    Raises:
        ValueError: the file is no table, or has too few rows or no numbers.
    """
    rows = await _read_rows(source, name, delimiter)
    if len(rows) < MIN_ROWS:
        raise ValueError(
            f"A forecast needs {MIN_ROWS} rows, but {name} has only {len(rows)} below its header."
        )
    columns = {
        column: _filled(values)
        for column in rows[0]
        if _are_numbers(values := [row[column] for row in rows[-MAX_ROWS:]])
    }
    if not columns:
        raise ValueError(
            f"No column of {name} has numbers, with points before fractions (or, between "
            f"semicolons, commas): the columns are {', '.join(rows[0])}."
        )
    return columns


async def _read_rows(source: Any, name: str, delimiter: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    try:
        async for row in wt.data.csv(source, delimiter=delimiter):
            if delimiter == ";":
                row = {column: _with_point(value) for column, value in row.items()}
            rows.append(row)
    except ValueError as error:
        if isinstance(error.__context__, UnicodeDecodeError):
            raise ValueError(f"{name} is not in UTF-8; spreadsheets can save it so.") from None
        _, is_about_row, reason = str(error).partition("(from 0 on) ")
        if is_about_row:
            raise ValueError(f"Row {len(rows) + 2} of {name} {reason}.") from None
        reason = str(error).removeprefix("csv: ")
        raise ValueError(f"{name} cannot be read as a table: {reason}.") from None
    return rows


def _with_point(value: Any) -> Any:
    """Return the number that a field with a comma before its fraction stands for."""
    if isinstance(value, str) and FRACTION_AFTER_COMMA.fullmatch(value.strip()):
        return float(value.replace(",", "."))
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and abs(value) <= LARGEST_NUMBER


def _are_numbers(values: list[Any]) -> bool:
    """Whether a column has numbers, gaps, and nothing else."""
    if any(isinstance(value, str) for value in values):
        return False
    return sum(map(_is_number, values)) >= SMALLEST_SHARE_OF_NUMBERS * len(values)


def _filled(values: list[Any]) -> list[float]:
    """Return a column without gaps: its first number is before it, too."""
    latest = next(dropwhile(lambda value: not _is_number(value), values))
    filled = []
    for value in values:
        latest = value if _is_number(value) else latest
        filled.append(float(latest))
    return filled
