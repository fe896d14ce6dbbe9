"""`plot` draws numbers as lines or dots, by the charts of `wt.visor`."""

from typing import Any

import webtensor as wt

WIDTH, HEIGHT = 460, 240


def plot(*values: Any, title: str = "", dots: bool = False) -> Any:
    """Draw numbers as a line, or as dots: `plot(y)`, `plot(x, y)` or `plot({"loss": y})`."""
    if not 1 <= len(values) <= 2:
        raise TypeError(f"plot: takes y, or x and y, or a dict of series; got {len(values)} values")
    data = values[0]
    if len(values) == 2:
        x, y = (value.tolist() if hasattr(value, "tolist") else list(value) for value in values)
        if len(x) != len(y):
            raise ValueError(f"plot: x has {len(x)} numbers, but y has {len(y)}")
        data = list(zip(x, y, strict=True))
    draw = wt.visor.render.scatter_plot if dots else wt.visor.render.line_chart
    return draw(data, title=title, width=WIDTH, height=HEIGHT)
