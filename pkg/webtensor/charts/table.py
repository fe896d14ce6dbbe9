"""Tables, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, SupportsFloat

from webtensor.charts.display import Display
from webtensor.charts.elements import element, escaped, number_text

__all__ = ["Table"]

_MAX_ROWS = 1000


class Table(Display):
    """Rows of values below headers; numbers have few digits, and are aligned.

    Args:
        data: a list of rows, each a list or a dictionary by header; a dictionary or a DataFrame of
            columns; a tensor or an array of rank 2.
        headers: strings, the headers of the columns; None takes them from ``data``, or numbers
            the columns.
        title: a string, the text above the table.

    Raises:
        TypeError: ``data`` is something else.
        ValueError: rows and headers differ in length.

    Example:
        >>> Table([["dense", 12], ["output", 3]], headers=["layer", "parameters"])
        <Table 2 rows of layer, parameters>
    """

    def __init__(
        self, data: Any, *, headers: Iterable[object] | None = None, title: str = ""
    ) -> None:
        if not isinstance(title, str):
            raise TypeError(f"table: title must be a string, but got {title!r}")
        self.title = title
        names, self.rows = _read_table(data)
        if headers is not None:
            names = list(headers)
        count = max(map(len, self.rows), default=0)
        self.headers = [str(name) for name in (range(count) if names is None else names)]
        for index, row in enumerate(self.rows):
            if len(row) != len(self.headers):
                raise ValueError(
                    f"table: data[{index}] has {len(row)} values, but there are "
                    f"{len(self.headers)} headers"
                )

    @property
    def description(self) -> str:
        """What there is to see, in words."""
        return f"{len(self.rows)} rows of {', '.join(self.headers)}"

    def html(self, width: int | None = None) -> str:
        """Return the table as HTML, whose width is that of its text."""
        caption = [element("caption", escaped(self.title))] if self.title else []
        head = "".join(
            element("th", escaped(name), scope="col", align=self._alignment(column))
            for column, name in enumerate(self.headers)
        )
        body = "".join(
            element("tr", *(_cell(value) for value in row)) for row in self.rows[:_MAX_ROWS]
        )
        parts = [*caption, element("thead", element("tr", head)), f"<tbody>{body}</tbody>"]
        return element("table", *parts) + self._rest()

    def _alignment(self, column: int) -> str | None:
        """Return how a header is aligned: to the right above numbers."""
        return "right" if self.rows and all(_is_number(row[column]) for row in self.rows) else None

    def _rest(self) -> str:
        count = len(self.rows) - _MAX_ROWS
        return element("p", f"and {count} more rows") if count > 0 else ""


def _cell(value: object) -> str:
    if isinstance(value, SupportsFloat) and _is_number(value):
        return element("td", escaped(number_text(float(value))), align="right")
    return f"<td>{escaped(value)}</td>"


def _is_number(value: object) -> bool:
    return isinstance(value, SupportsFloat) and not isinstance(value, bool)


def _read_table(data: Any) -> tuple[list[object] | None, list[list[object]]]:
    """Return the headers, if the data have some, and the rows."""
    if hasattr(data, "columns"):  # a DataFrame
        return list(data.columns), [list(row) for row in data.to_numpy().tolist()]
    if isinstance(data, Mapping):
        columns = [list(_listed(f"data[{name!r}]", values)) for name, values in data.items()]
        for name, column in zip(data, columns, strict=True):
            if len(column) != len(columns[0]):
                raise ValueError(
                    f"table: data[{name!r}] has {len(column)} values, but "
                    f"data[{next(iter(data))!r}] has {len(columns[0])}"
                )
        return list(data), [list(row) for row in zip(*columns, strict=True)]
    rows = list(_listed("data", data))
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return names, [[row.get(name, "") for name in names] for row in rows]
    return None, [list(_listed(f"data[{index}]", row)) for index, row in enumerate(rows)]


def _listed(argument: str, values: Any) -> Iterable[Any]:
    items = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise TypeError(f"table: {argument} must be a list of values, but got {values!r}")
    return items
