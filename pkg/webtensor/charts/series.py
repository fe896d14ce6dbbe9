"""Reading what users pass to charts: numbers, points, tensors, arrays, and pandas's tables.

Tables and arrays are recognized by their methods, so that neither pandas nor NumPy is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

from webtensor.charts.decimation import Point
from webtensor.charts.scales import is_drawable, is_interval

__all__ = [
    "Series",
    "frame_labels",
    "is_pandas_series",
    "read_domain",
    "read_items",
    "read_labels",
    "read_matrix",
    "read_numbers",
    "read_series",
]

_ITEM = 'a number, a point {"x": …, "y": …} or a pair (x, y)'


class Series(NamedTuple):
    """A name and points; a value that is missing is NaN."""

    name: str
    points: list[Point]

    @property
    def description(self) -> str:
        """What there is to see, in words."""
        values = [y for _, y in self.points if is_drawable(y)]
        start = f"{self.name}: " if self.name else ""
        if not values:
            return f"{start}no values"
        if len(self.points) == 1:
            return f"{start}1 point, {values[0]:.4g}"
        return (
            f"{start}{len(self.points)} points, first {values[0]:.4g}, last {values[-1]:.4g}, "
            f"minimum {min(values):.4g}, maximum {max(values):.4g}"
        )


def read_series(function: str, data: Any) -> list[Series]:
    """Return the series in ``data``.

    ``data`` is one series, several in a list or an array of rank 2, or a mapping or a table of
    them by name. A series is numbers, which are numbered from 0, or points.

    Raises:
        TypeError: ``data`` is something else.

    Example:
        >>> read_series("line_chart", {"loss": [3, 2.5]})
        [Series(name='loss', points=[(0.0, 3.0), (1.0, 2.5)])]
    """
    if hasattr(data, "columns"):  # a DataFrame
        data = {str(name): data[name] for name in data.columns}
    if isinstance(data, Mapping):
        return [
            Series(str(name), _points(function, f"data[{name!r}]", values))
            for name, values in data.items()
        ]
    items = read_items(function, "data", data)
    if items and all(_is_series(item) for item in items):
        return [
            Series(
                f"series {index + 1}" if len(items) > 1 else "",
                _points(function, f"data[{index}]", item),
            )
            for index, item in enumerate(items)
        ]
    if not is_pandas_series(data):
        return [Series("", _points(function, "data", items))]
    return [Series("" if data.name is None else str(data.name), _points(function, "data", data))]


def read_numbers(function: str, argument: str, values: Any) -> list[float]:
    """Return the numbers in a list, a tensor or an array, of any rank.

    Raises:
        TypeError: there is something else.

    Example:
        >>> read_numbers("histogram", "data", [[1, 2], [3, None]])
        [1.0, 2.0, 3.0, nan]
    """
    items = read_items(function, argument, values)
    if _are_plain(items):
        return [float(item) for item in items]
    numbers: list[float] = []
    for index, item in enumerate(items):
        label = f"{argument}[{index}]"
        if _is_series(item):
            numbers += read_numbers(function, label, item)
        else:
            numbers.append(_number(function, label, item, "a number"))
    return numbers


def read_matrix(function: str, values: Any) -> list[list[float]]:
    """Return the rows of a matrix.

    Raises:
        TypeError: ``values`` is not a list of lists, a tensor or an array of rank 2.
        ValueError: the rows differ in length.

    Example:
        >>> read_matrix("heatmap", [[1, 2], [3, 4]])
        [[1.0, 2.0], [3.0, 4.0]]
    """
    rows = []
    for index, row in enumerate(read_items(function, "data", values)):
        label = f"data[{index}]"
        if not _is_series(row):
            raise TypeError(f"{function}: data must be a matrix, but {label} is {_shown(row)}")
        items = read_items(function, label, row)
        rows.append(
            [
                _number(function, f"{label}[{column}]", item, "a number")
                for column, item in enumerate(items)
            ]
        )
    for index, numbers in enumerate(rows):
        if len(numbers) != len(rows[0]):
            raise ValueError(
                f"{function}: data must be a matrix, but data[0] has {len(rows[0])} values and "
                f"data[{index}] has {len(numbers)}"
            )
    return rows


def read_labels(
    function: str, argument: str, labels: Iterable[object] | None, count: int
) -> list[str]:
    """Return one label for each of ``count`` rows or columns; None numbers them from 0.

    Raises:
        ValueError: the number of labels differs.

    Example:
        >>> read_labels("heatmap", "x_tick_labels", None, 3)
        ['0', '1', '2']
    """
    if labels is None:
        return [str(index) for index in range(count)]
    texts = [str(label) for label in labels]
    if len(texts) != count:
        raise ValueError(f"{function}: {argument} must be {count} labels, but got {len(texts)}")
    return texts


def frame_labels(data: Any, axis: int) -> list[object] | None:
    """Return the labels of the rows (0) or columns (1) of a DataFrame; None for other data."""
    if not hasattr(data, "columns"):
        return None
    return list(data.index) if axis == 0 else list(data.columns)


def read_domain(
    function: str, argument: str, domain: Sequence[float] | None, is_log: bool = False
) -> tuple[float, float] | None:
    """Return the ends of an axis.

    Raises:
        TypeError: ``domain`` is not a pair of numbers.
        ValueError: its first number is not less than the second, or not positive on a logarithmic
            axis.

    Example:
        >>> read_domain("line_chart", "y_domain", (0, 1))
        (0.0, 1.0)
    """
    if domain is None:
        return None
    numbers = read_numbers(function, argument, domain)
    if len(numbers) != 2:
        raise TypeError(f"{function}: {argument} must be a pair of numbers, but got {domain!r}")
    low, high = numbers
    if not (is_drawable(low) and is_drawable(high) and is_interval(low, high)):
        raise ValueError(
            f"{function}: {argument} must be two finite numbers, the minimum first, "
            f"but got {domain!r}"
        )
    if is_log and low <= 0:
        raise ValueError(
            f"{function}: {argument} of a logarithmic axis must be positive, but got {domain!r}"
        )
    return low, high


def read_items(function: str, argument: str, values: Any) -> list[Any]:
    """Return the items of a list, a tensor, an array or another iterable.

    Raises:
        TypeError: ``values`` is something else.

    Example:
        >>> read_items("bar_chart", "data", range(3))
        [0, 1, 2]
    """
    items = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise TypeError(
            f"{function}: {argument} must be a list, a tensor or an array, but got {_shown(values)}"
        )
    return list(items)


# -- items -------------------------------------------------------------------------------------


def is_pandas_series(data: Any) -> bool:
    """Whether data have what a Series of pandas has."""
    return hasattr(data, "tolist") and hasattr(data, "items") and hasattr(data, "index")


def _is_series(item: Any) -> bool:
    """Whether an item of a list is a list itself; a tuple is a point."""
    if hasattr(item, "shape"):
        return len(item.shape) > 0
    return isinstance(item, Iterable) and not isinstance(item, str | bytes | Mapping | tuple)


def _points(function: str, argument: str, values: Any) -> list[Point]:
    items = read_items(function, argument, values)
    if is_pandas_series(values):
        positions = list(values.index)
        if all(_is_number(position) for position in positions):
            items = list(zip(positions, items, strict=True))
    if _are_plain(items):
        return [(float(index), float(item)) for index, item in enumerate(items)]
    return [
        _point(function, f"{argument}[{index}]", index, item) for index, item in enumerate(items)
    ]


def _are_plain(items: list[Any]) -> bool:
    """Whether all items are Python's numbers, which need no checks one by one."""
    return all(type(item) in (float, int) for item in items)


def _point(function: str, argument: str, index: int, item: Any) -> Point:
    if isinstance(item, Mapping) and item.keys() >= {"x", "y"}:
        item = (item["x"], item["y"])
    if isinstance(item, tuple) and len(item) == 2:
        x, y = (_number(function, argument, part, _ITEM) for part in item)
        return x, y
    return float(index), _number(function, argument, item, _ITEM)


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, str | bytes)


def _number(function: str, argument: str, item: Any, requirement: str) -> float:
    """Return a number; None, as tables have for missing values, is NaN."""
    if item is None:
        return nan
    try:
        if isinstance(item, str | bytes):
            raise TypeError
        return float(item)
    except (TypeError, ValueError):
        raise TypeError(
            f"{function}: {argument} must be {requirement}, but got {_shown(item)}"
        ) from None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
