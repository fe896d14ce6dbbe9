"""Draws curves on the front page, for the program that visitors edit there."""

from collections.abc import Sequence

from charts import Series, axes, chart
from page import element

import webtensor as wt

#: How the curves are drawn, in turns.
STYLES = ("faint", "second", "line")


async def plot(x: wt.Tensor | Sequence[float], *curves: wt.Tensor | Sequence[float]) -> None:
    """Draw each curve over `x`, and let the page show it."""
    inputs = await _numbers(x)
    series = []
    for index, curve in enumerate(curves):
        outputs = await _numbers(curve)
        if len(outputs) != len(inputs):
            raise ValueError(
                f"plot: curve {index + 1} has {len(outputs)} values, but x has {len(inputs)}"
            )
        style = STYLES[index % len(STYLES)]
        series.append(Series(list(zip(inputs, outputs, strict=True)), style))
    label = f"{len(curves)} curves over {len(inputs)} points"
    element("plot").innerHTML = chart(label, series, *axes(series))
    await wt.next_frame()


async def _numbers(values: wt.Tensor | Sequence[float]) -> list[float]:
    if isinstance(values, wt.Tensor):
        return list(await values.data())
    return [float(value) for value in values]
