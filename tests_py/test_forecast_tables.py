"""Tables for the page of forecasts: the sample, types of columns, gaps, and what errors say."""

import asyncio
import csv
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

PAGE = Path(__file__).resolve().parent.parent / "web" / "timeseries"


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The page's module, which is forgotten after the test."""
    monkeypatch.syspath_prepend(PAGE)
    import tables

    yield tables
    del sys.modules["tables"]


def read(tables: ModuleType, *rows: str) -> dict[str, list[float]]:
    content = "\n".join(rows).encode()
    columns: dict[str, list[float]] = asyncio.run(tables.read_columns(content, "a.csv"))
    return columns


def numbered(row: str, count: int = 100) -> list[str]:
    return [row.format(number) for number in range(count)]


def test_the_sample_has_waves_of_a_week_and_a_year(tables: ModuleType):
    content = tables.sample_table()
    rows = [*csv.DictReader(content.decode().splitlines())]
    columns = asyncio.run(tables.read_columns(content, "a.csv"))
    assert [*columns] == ["temperature", "hires"]
    assert columns["hires"] == [float(row["hires"]) for row in rows]
    hires = np.array(columns["hires"])
    spectrum = np.abs(np.fft.rfft(hires[:728] - hires[:728].mean()))
    assert sorted(np.argsort(spectrum)[-2:]) == [2, 104]  # of two years, of 104 weeks
    sundays = [float(row["hires"]) for row in rows if row["weekday"] == "Sunday"]
    assert np.mean(sundays) < hires.mean() - 40
    assert min(hires) > 0


def test_columns_of_text_are_left_out(tables: ModuleType):
    columns = read(tables, "day,n,x", *numbered("monday,{0},{0}.5"))
    assert columns == {"n": [*map(float, range(100))], "x": [n + 0.5 for n in range(100)]}


@pytest.mark.parametrize(
    "line, delimiter", [("day,x", ","), ("x;y;z, in m", ";"), ("a\tb\tc, d", "\t"), ("x", ",")]
)
def test_the_first_line_tells_the_delimiter(tables: ModuleType, line: str, delimiter: str):
    assert tables.likely_delimiter(line) == delimiter
    content = "\n".join([line, *numbered(delimiter.join("2" * (line.count(delimiter) + 1)))])
    columns = asyncio.run(tables.read_columns(content.encode(), "a.csv", delimiter))
    assert [*columns] == line.split(delimiter)


def test_commas_before_fractions_between_semicolons(tables: ModuleType):
    content = "\n".join(["day;x;y", *numbered("mo,1;-{0},5;{0}")]).encode()
    columns = asyncio.run(tables.read_columns(content, "a.csv", ";"))
    assert columns == {"x": [-n - 0.5 for n in range(100)], "y": [*map(float, range(100))]}


def test_a_gap_has_the_number_before_it(tables: ModuleType):
    fields = ["", "2", "", "nan", "inf", "5", *numbered("{}")]
    (column,) = read(tables, "x,y", *(f"{field},." for field in fields)).values()
    assert column[:7] == [2, 2, 2, 2, 2, 5, 0]


def test_columns_of_gaps_are_left_out(tables: ModuleType):
    assert [*read(tables, "x,y", *numbered("{},"))] == ["x"]


def test_the_end_of_a_long_table_is_taken(tables: ModuleType):
    (column,) = read(tables, "x", *numbered("{}", 6000)).values()
    assert column == [*map(float, range(1000, 6000))]
    assert all(map(math.isfinite, column))


@pytest.mark.parametrize(
    "rows, message",
    [
        (["", ""], r"a\.csv cannot be read as a table: [^:]* is empty, so that no row names its"),
        (["x,y", "1,2", "3", "4,5"], r"Row 3 of a\.csv has 1 fields, but there are 2 columns"),
        (["x", *numbered("{}", 99)], r"needs 100 rows, but a\.csv has only 99 below"),
        (["x,y", *numbered("a{},b")], r"No column of a\.csv has numbers, .* columns are x, y\."),
        (["x,x", "1,2"], r"a\.csv cannot be read as a table: [^:]* several columns of the"),
        (["x", '"1'], r"a\.csv cannot be read as a table: .* a quote is not closed"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tables: ModuleType, rows: list[str], message: str):
    with pytest.raises(ValueError, match=message):
        read(tables, *rows)


def test_a_picture_is_no_table(tables: ModuleType):
    with pytest.raises(ValueError, match=r"a\.csv is not in UTF-8; spreadsheets can save it so\."):
        asyncio.run(tables.read_columns(b"\x89PNG\r\n\x1a\n" * 100, "a.csv"))
