"""Rows of tables: text to fields, and fields to values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from csv import Error, field_size_limit, reader
from itertools import chain
from math import floor
from typing import Any, Final, TypedDict, overload

from webtensor.data.text_lines import as_lines

__all__ = ["NAME", "ColumnConfig", "RowReader", "Table", "check_config"]

NAME: Final = "csv"

_FIELDS = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
_DTYPES = ("float32", "int32", "bool", "string")
#: The first characters of numbers, of "nan" and "inf", and blanks.
_FIRST_OF_NUMBERS = frozenset("0123456789+-.nNiI \t\n\r\v\f\u00a0")
_BOOLEANS = {"1": True, "true": True, "0": False, "false": False}


class ColumnConfig(TypedDict, total=False):
    """The configuration of a column.

    Attributes:
        required: whether an empty field is an error.
        dtype: "float32", "int32" (rounded down), "bool" or "string"; by default a field is a float
            if it is a number, or else text.
        default: the value of empty fields; by default None.
        is_label: whether the column belongs to the labels.
    """

    required: bool
    dtype: str
    default: Any
    is_label: bool


def check_config(name: str, config: Mapping[str, Any]) -> None:
    """Check what is said of a column.

    Raises:
        ValueError: it has an unknown key or dtype.
    """
    keys = sorted(ColumnConfig.__annotations__)
    if not isinstance(config, Mapping) or not set(config) <= set(keys):
        raise ValueError(
            f"{NAME}: column_configs of {name!r} must be a dict with keys of {keys}, but is "
            f"{config!r}"
        )
    if config.get("dtype") not in (None, *_DTYPES):
        raise ValueError(
            f"{NAME}: the dtype of column {name!r} must be one of {_DTYPES}, but is "
            f"{config['dtype']!r}"
        )


class RowReader:
    """Divides lines into rows of fields, by RFC 4180.

    Args:
        delimiter: the character between fields; None is any number of blanks.
        label: what errors call the file.
    """

    def __init__(self, delimiter: str | None, label: str) -> None:
        self._delimiter, self._label = delimiter, label
        self._unfinished: list[str] = []

    def rows(self, text: str) -> Sequence[list[str]]:
        """Return the rows that end in a text of whole lines, without empty ones.

        Raises:
            ValueError: a field has more characters than ``csv.field_size_limit``.
        """
        if self._delimiter is None:
            return [_fields(line) for line in as_lines(text) if not line.isspace()]
        if '"' not in text and not self._unfinished:
            if "\r" in text:
                text = text.replace("\r\n", "\n").replace("\r", "\n")
            if _has_short_lines(text):
                return _split(text.removesuffix("\n"), self._delimiter)
        pending = self._unfinished + as_lines(text)
        try:
            rows, start = self._divided(pending)
        except Error as error:
            raise ValueError(
                f"{NAME}: {self._label}: a field is too long; is a quote not closed? ({error})"
            ) from None
        self._unfinished = []
        if rows and not self._is_finished(pending[start:]):
            rows.pop()
            self._unfinished = pending[start:]
        return [row for row in rows if row]

    def _divided(self, lines: list[str]) -> tuple[list[list[str]], int]:
        """Return rows, and the number of the line with which the last of them begins."""
        rows = [*reader(lines, delimiter=self._delimiter or "")]
        if len(rows) == len(lines):
            return rows, len(lines) - 1
        source = reader(lines, delimiter=self._delimiter or "")
        starts = [0, *(source.line_num for _ in source)]
        return rows, starts[-2]

    def _is_finished(self, lines: list[str]) -> bool:
        """Whether the row of these lines ends with them; a quote may still be open."""
        if not any('"' in line for line in lines):
            return True
        return len([*reader([*lines, "x"], delimiter=self._delimiter or "")]) > 1

    def end(self) -> None:
        """Check that the last row is finished.

        Raises:
            ValueError: a quote is not closed.
        """
        if self._unfinished:
            start = self._unfinished[0].strip()[:60]
            raise ValueError(
                f"{NAME}: {self._label}: a quote is not closed, in the row that begins with "
                f"{start!r}"
            )


class _EqualRows(Sequence[list[str]]):
    """Rows with the same number of fields, stored in one list.

    After the fields of each row, the list has one more element, which marks the end of the row.
    A column is a slice of the list, so that no list is made for each row.

    Args:
        fields: the list.
        width: the number of fields of a row.
        has_underscores: whether a field has one.
    """

    def __init__(self, fields: list[str], width: int, has_underscores: bool) -> None:
        self._fields, self._width = fields, width
        self.has_underscores = has_underscores

    def __len__(self) -> int:
        return len(self._fields) // (self._width + 1)

    @overload
    def __getitem__(self, index: int) -> list[str]: ...
    @overload
    def __getitem__(self, index: slice) -> _EqualRows: ...
    def __getitem__(self, index: int | slice) -> list[str] | _EqualRows:
        rows, step = range(len(self))[index], self._width + 1
        if isinstance(rows, range):
            fields = self._fields[rows.start * step : rows.stop * step]
            return _EqualRows(fields, self._width, self.has_underscores)
        return self._fields[rows * step : rows * step + self._width]

    def columns(self) -> list[list[str]]:
        """Return the fields of each column."""
        return [self._fields[index :: self._width + 1] for index in range(self._width)]


def _has_short_lines(text: str) -> bool:
    """Whether each part of half the maximum size has a line end, so that no field is too long."""
    half = max(field_size_limit() // 2, 1)
    starts = range(0, len(text) - half, half)
    return all(text.find("\n", start, start + half) >= 0 for start in starts)


def _split(text: str, delimiter: str) -> Sequence[list[str]]:
    """Return the rows of a text that has no quotes, without empty ones."""
    width = text.partition("\n")[0].count(delimiter) + 1
    if width > 1:
        fields = text.replace("\n", f"{delimiter}\n{delimiter}").split(delimiter)
        fields.append("\n")
        if fields[width :: width + 1] == ["\n"] * (text.count("\n") + 1):
            return _EqualRows(fields, width, "_" in text)
    return [line.split(delimiter) for line in text.split("\n") if line]


def _fields(line: str) -> list[str]:
    return [
        quoted.replace('""', '"') if quoted or not plain else plain
        for quoted, plain in _FIELDS.findall(line)
    ]


class Table:
    """Turns rows of fields into elements.

    Args:
        names: the names of all columns.
        configs: what is known of columns.
        configured_only: leave the other columns out.
        label: what errors call the file.
    """

    def __init__(
        self,
        names: Sequence[str],
        configs: Mapping[str, ColumnConfig],
        configured_only: bool,
        label: str,
    ) -> None:
        self._names, self._label = names, label
        self._columns = [
            (index, name, configs.get(name, ColumnConfig()))
            for index, name in enumerate(names)
            if name in configs or not configured_only
        ]
        self._features: dict[str, Any] = {
            name: None for _, name, config in self._columns if not _is_label(config)
        }
        self._labels: dict[str, Any] = {
            name: None for _, name, config in self._columns if _is_label(config)
        }
        self._count = 0

    def blocks(self, rows: Sequence[list[str]]) -> Iterator[Sequence[Any]]:
        """Give the elements of rows, many at a time.

        Raises:
            ValueError: a row has more or fewer fields than there are columns, or a field does not
                fit its column; raised after the elements before it.
        """
        error = None
        try:
            elements = self._elements(rows)
        except ValueError:
            fitting, error = self._fitting(rows)
            elements = self._elements(rows[:fitting]) if fitting else ()
        self._count += len(elements)
        yield elements
        if error is not None:
            raise error

    def _elements(self, rows: Sequence[list[str]]) -> Sequence[Any]:
        """Return the elements of rows that all fit.

        Raises:
            ValueError: a row does not fit.
        """
        width = len(self._names)
        fields: Sequence[Sequence[str]] = (
            rows.columns() if isinstance(rows, _EqualRows) else list(zip(*rows, strict=True))
        ) or [()] * width
        if len(fields) != width:
            raise ValueError(f"rows have {len(fields)} fields instead of {width}")
        has_underscores = (
            rows.has_underscores
            if isinstance(rows, _EqualRows)
            else "_" in "".join(chain.from_iterable(rows))
        )
        columns = {
            name: _values(fields[index], config, has_underscores)
            for index, name, config in self._columns
        }
        features = _dicts(self._features, columns, len(rows))
        if not self._labels:
            return features
        return list(zip(features, _dicts(self._labels, columns, len(rows)), strict=True))

    def _fitting(self, rows: Sequence[list[str]]) -> tuple[int, ValueError]:
        """Return the number of rows before the first that does not fit, and its error."""
        for number, row in enumerate(rows):
            try:
                self._check(
                    row, f"{NAME}: {self._label}: element {self._count + number} (from 0 on)"
                )
            except ValueError as error:
                return number, error
        raise AssertionError("all rows fit")

    def _check(self, row: list[str], name_of_row: str) -> None:
        """Raise a ValueError if a row does not fit."""
        if len(row) != len(self._names):
            raise ValueError(
                f"{name_of_row} has {len(row)} fields, but there are {len(self._names)} columns; "
                f"the fields are {row[:20]}"
            )
        for index, name, config in self._columns:
            try:
                _value(row[index], config)
            except ValueError as error:
                raise ValueError(f"{name_of_row}, column {name!r}: {error}") from None


def _is_label(config: ColumnConfig) -> bool:
    return bool(config.get("is_label"))


def _dicts(
    names: dict[str, Any], columns: Mapping[str, Sequence[Any]], count: int
) -> list[dict[str, Any]]:
    """Return a dict for each row, of the columns of these names.

    In Python it is fastest to copy a dict of the names, and to fill the copies from two columns at
    a time.
    """
    dicts: list[dict[str, Any]] = [names.copy() for _ in range(count)]
    ordered = [*names]
    for first, second in zip(ordered[::2], ordered[1::2], strict=False):
        for row, value, other in zip(dicts, columns[first], columns[second], strict=True):
            row[first] = value
            row[second] = other
    if len(ordered) % 2:
        last = ordered[-1]
        for row, value in zip(dicts, columns[last], strict=True):
            row[last] = value
    return dicts


def _values(texts: Sequence[str], config: ColumnConfig, has_underscores: bool) -> list[Any]:
    """Return the values of a column."""
    if config.get("dtype") in (None, "float32") and not has_underscores:
        try:
            return list(map(float, texts))
        except ValueError:
            pass  # there are empty fields, or text
    if not config and "" not in texts:
        return list(map(_number_or_text, texts))
    return [_value(text, config) for text in texts]


def _value(text: str, config: ColumnConfig) -> Any:
    """Return the value of a field.

    Raises:
        ValueError: it does not fit.
    """
    if not text:
        if "default" in config:
            return config["default"]
        if config.get("required") or config.get("is_label"):
            raise ValueError("the field is empty, but it is required")
        return None
    dtype = config.get("dtype")
    return text if dtype == "string" else _CONVERSIONS[dtype](text)


def _number(text: str) -> float:
    if "_" in text:  # Python takes 1_000 for a number
        raise ValueError(f"{text!r} is no number")
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None


def _number_or_text(text: str) -> float | str:
    # Errors are slow.
    if text[0] not in _FIRST_OF_NUMBERS or "_" in text:
        return text
    try:
        return float(text)
    except ValueError:
        return text


def _integer(text: str) -> int:
    try:
        return floor(_number(text))
    except OverflowError:
        raise ValueError(f"{text!r} is no integer") from None


def _boolean(text: str) -> bool:
    try:
        return _BOOLEANS[text.strip().lower()]
    except KeyError:
        raise ValueError(f"{text!r} is none of {', '.join(_BOOLEANS)}") from None


_CONVERSIONS: dict[str | None, Callable[[str], Any]] = {
    None: _number_or_text,
    "float32": _number,
    "int32": _integer,
    "bool": _boolean,
}
