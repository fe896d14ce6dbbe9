"""Both carts, and how long their poles have stood, as the program in the worker reports."""

from collections.abc import Callable
from typing import Any, NamedTuple

from carts import clearFilms, showFilm, stopFilms
from page import element, write
from program import at_end
from pyodide.ffi import to_js

import webtensor as wt

SECONDS_PER_STEP = 0.02
LONGEST_EPISODE = 4  # seconds
#: The two ways to learn, and what they are called.
WAYS = {"gradients": "policy gradients", "evolution": "evolution"}


class Report(NamedTuple):
    """What is known after a turn of one way to learn."""

    #: The number of episodes so far, and how many seconds the last ones took on average.
    episodes: int
    seconds: float


def begin() -> Callable[[Any], None]:
    """Begin with nothing learned, and return what hears of each turn."""
    stage = Stage()
    at_end(stopFilms)
    return stage.hear


class Stage:
    """The canvases, the chart and the sentence below it."""

    def __init__(self) -> None:
        """Show carts that stand, and an empty chart."""
        self._reports: dict[str, list[Report]] = {way: [] for way in WAYS}
        clearFilms(to_js([element(way) for way in WAYS]))
        for way in WAYS:
            write(f"{way}-state", "Nothing learned yet.")
        write("verdict", "The worker starts a Python of its own.")
        element("lengths").replaceChildren()

    def hear(self, facts: Any) -> None:
        """Show the first episode of a turn, and the mean length of all.

        `facts` has the `way`, the `states` of the first episode, (steps, 4), and the `lengths` of
        all, in steps.
        """
        way, lengths = str(facts.way), facts.lengths.to_py()
        reports = self._reports[way]
        before = reports[-1].episodes if reports else 0
        reports.append(
            Report(before + len(lengths), SECONDS_PER_STEP * sum(lengths) / len(lengths))
        )
        showFilm(element(way), facts.states.slice(0, int(lengths[0])))
        write(f"{way}-state", f"This pole stood for {SECONDS_PER_STEP * lengths[0]:.1f} s.")
        if all(self._reports.values()):
            self._draw()

    def _draw(self) -> None:
        wt.visor.render.line_chart(
            {name: [*self._reports[way]] for way, name in WAYS.items()},
            "lengths",
            width=900,
            height=190,
            x_label="episodes",
            y_label="mean seconds until it falls",
            y_domain=(0, LONGEST_EPISODE),
        )
        latest = {name: self._reports[way][-1] for way, name in WAYS.items()}
        means = " and ".join(
            f"{report.seconds:.1f} s by {name}, after {report.episodes} episodes"
            for name, report in latest.items()
        )
        longest = f"An episode ends after {LONGEST_EPISODE} s at most."
        write("verdict", f"Poles stand for {means}. {longest}")
