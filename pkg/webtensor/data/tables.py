"""Rows of tables: text to fields, and fields to values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from csv import Error, reader
from math import floor
from typing import Any, Final, TypedDict

__all__ = ["NAME", "ColumnConfig", "RowReader", "Table", "check_config"]

NAME: Final = "csv"

_FIELDS = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
_DTYPES = ("float32", "int32", "bool", "string")
#: The first characters of numbers, of "nan" and "inf", and blanks.
_FIRST_OF_NUMBERS = frozenset("0123456789+-.nNiI \t\n\r\v\f\u00a0")
_BOOLEANS = {"1": True, "true": True, "0": False, "false": False}


class ColumnConfig(TypedDict, total=False):
    """What is known of a column.

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

    def rows(self, lines: list[str]) -> list[list[str]]:
        """Return the rows that end in some lines, without empty ones.

        Raises:
            ValueError: a field has more characters than ``csv.field_size_limit``.
        """
        if self._delimiter is None:
            return [_fields(line) for line in lines if not line.isspace()]
        pending = self._unfinished + lines
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
        self._chosen = [name for _, name, _ in self._columns]
        self._features = [name for _, name, config in self._columns if not config.get("is_label")]
        self._has_labels = len(self._features) < len(self._columns)
        self._count = 0

    def elements(self, rows: Sequence[list[str]]) -> Iterator[Any]:
        """Give the elements of rows.

        Raises:
            ValueError: a row has more or fewer fields than there are columns, or a field does not
                fit its column; raised at this element.
        """
        width = len(self._names)
        whole = next((n for n, row in enumerate(rows) if len(row) != width), len(rows))
        fields = list(zip(*rows[:whole], strict=True)) or [()] * width
        try:
            columns = [_values(fields[index], config) for index, _, config in self._columns]
            converted: Iterable[Sequence[Any]] = zip(*columns, strict=True)
        except ValueError:  # one of them is wrong, but those before it are right
            converted = (
                [self._value(row, *each) for each in self._columns] for row in rows[:whole]
            )
        names, has_labels = self._chosen, self._has_labels
        for values in converted:
            element = dict(zip(names, values, strict=True))
            yield self._divided(element) if has_labels else element
            self._count += 1
        if whole < len(rows):
            raise ValueError(
                f"{NAME}: {self._label}: element {self._count} (from 0 on) has {len(rows[whole])} "
                f"fields, but there are {width} columns; the fields are {rows[whole][:20]}"
            )

    def _value(self, row: list[str], index: int, name: str, config: ColumnConfig) -> Any:
        try:
            return _value(row[index], config)
        except ValueError as error:
            raise ValueError(
                f"{NAME}: {self._label}: element {self._count} (from 0 on), column {name!r}: "
                f"{error}"
            ) from None

    def _divided(self, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the values of features, and those of labels."""
        features = {name: values.pop(name) for name in self._features}
        return features, values


def _values(texts: Sequence[str], config: ColumnConfig) -> list[Any]:
    """Return the values of a column."""
    if config.get("dtype") in (None, "float32") and "_" not in "".join(texts):
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
