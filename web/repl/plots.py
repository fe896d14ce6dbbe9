"""`plot` draws numbers as lines or dots, by the charts of `wt.visor`."""

from typing import Any

import webtensor as wt

WIDTH, HEIGHT = 460, 240


def plot(*values: Any, title: str = "", dots: bool = False, **options: Any) -> Any:
    """Draw numbers as a line, or as dots: `plot(y)`, `plot(x, y)` or `plot(x, {"loss": y})`.

    `options` are those of the chart, such as `x_label`.
    """
    if not 1 <= len(values) <= 2:
        raise TypeError(f"plot: takes y, or x and y, or a dict of series; got {len(values)} values")
    data = values[0]
    if len(values) == 2:
        x, y = values
        is_named = isinstance(y, dict)
        data = {name: points(x, ys) for name, ys in y.items()} if is_named else points(x, y)
    draw = wt.visor.render.scatter_plot if dots else wt.visor.render.line_chart
    return draw(data, title=title, **{"width": WIDTH, "height": HEIGHT, **options})


def points(*coordinates: Any) -> list[tuple[Any, Any]]:
    """Return the points with these coordinates, `x` and `y`."""
    x, y = (list(value.tolist() if hasattr(value, "tolist") else value) for value in coordinates)
    if len(x) != len(y):
        raise ValueError(f"plot: x has {len(x)} numbers, but y has {len(y)}")
    return list(zip(x, y, strict=True))
