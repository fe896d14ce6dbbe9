"""``wt.visor``: charts of data, models and trainings, in a page's panel and in notebooks.

- ``render`` draws a kind of chart, ``show`` what is known of a model or a training.
- ``metrics`` computes what they show of a classification.
- ``fit_callbacks`` draws live curves during ``fit``; its class is in ``live_curves``.
- ``visor`` is the panel at the side of a page, in ``panel``; ``containers`` puts charts there or
  elsewhere in a page.

Functions with a ``container`` draw there, and return the chart. In a notebook the container is left
out, and the chart is the result of a cell. Names are those of tfjs-vis.

Example:
    >>> import webtensor as wt
    >>> wt.visor.render.bar_chart({"cats": 3, "dogs": 5})
    <BarChart bar chart; 2 bars: cats 3, dogs 5>
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

if TYPE_CHECKING:
    from webtensor.visor import metrics as metrics, render as render, show as show
    from webtensor.visor.live_curves import FitCallbacks as FitCallbacks
    from webtensor.visor.panel import Surface as Surface, Visor as Visor, visor as visor
    from webtensor.visor.show import fit_callbacks as fit_callbacks
else:
    __all__ = [
        "FitCallbacks",
        "Surface",
        "Visor",
        "fit_callbacks",
        "metrics",
        "render",
        "show",
        "visor",
    ]

    __getattr__, __dir__ = lazy_contents(
        __name__,
        contents("""
            live_curves: FitCallbacks
            panel: Surface Visor visor
            show: fit_callbacks
        """),
        "metrics",
        "render",
        "show",
    )
