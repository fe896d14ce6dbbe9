"""A list of classes with bars: how sure a classifier is of each."""

from collections.abc import Sequence
from typing import Any

from js import document
from page import element


class Confidences:
    """The bars of one classifier.

    Their elements are made anew only when there are other classes.
    """

    def __init__(self, identifier: str) -> None:
        """Write into the list with this id, and the likeliest class into the output for it."""
        self._list = element(identifier)
        self._likeliest = element(f"{identifier}-name")
        self._rows: list[tuple[Any, Any]] = []
        self._names: list[str] = []
        self.clear()

    def clear(self) -> None:
        """Show no classes."""
        self._list.replaceChildren()
        self._likeliest.textContent = ""
        self._rows, self._names = [], []

    def show(self, names: Sequence[str], values: Sequence[float]) -> None:
        """Show how likely classes are, from 0 to 1."""
        if list(names) != self._names:
            self.clear()
            self._names = list(names)
            self._rows = [self._row(name) for name in names]
        likeliest = max(range(len(values)), key=values.__getitem__)
        for index, ((bar, percent), value) in enumerate(zip(self._rows, values, strict=True)):
            bar.value = value
            percent.textContent = f"{100 * value:.0f} %"
            bar.parentElement.classList.toggle("likeliest", index == likeliest)
        if self._likeliest.textContent != names[likeliest]:
            self._likeliest.textContent = names[likeliest]

    def _row(self, name: str) -> tuple[Any, Any]:
        """Append a class, and return its bar and the place of its percentage."""
        row = document.createElement("li")
        label, bar, percent = map(document.createElement, ("span", "progress", "span"))
        label.textContent = name
        bar.max = 1
        bar.setAttribute("aria-label", name)
        row.append(label, bar, percent)
        self._list.append(row)
        return bar, percent
