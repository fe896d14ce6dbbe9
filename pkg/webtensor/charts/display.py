"""What all charts share: their size and title, and how notebooks and pages show them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar, TypedDict

from webtensor.arguments import as_integer
from webtensor.charts.elements import FONT_SIZE, element

__all__ = ["Chart", "ChartOptions", "Charts", "Display"]

_FONT = "ui-sans-serif,system-ui,sans-serif"
_NARROWEST, _WIDEST = 120, 4000


class ChartOptions(TypedDict, total=False):
    """The options of every chart: its title, and its size in pixels."""

    title: str
    width: int
    height: int


class Display(ABC):
    """Something that notebooks and pages show as HTML, without scripts and styles."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What there is to see, in words."""

    @abstractmethod
    def html(self, width: int | None = None) -> str:
        """Return the HTML; ``width`` is the available width in pixels, None if it is unknown."""

    def _repr_html_(self) -> str:
        return self.html()

    def _mime_(self) -> tuple[str, str]:
        return "text/html", self.html()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.description}>"


class Chart(Display):
    """The base class of charts, which are SVG.

    Args:
        title: a string, the text above the chart.
        width: an integer, the width in pixels.
        height: an integer, the height in pixels.

    Raises:
        TypeError: the title is not a string, or a size is not an integer.
        ValueError: a size is too small or too large.
    """

    #: The public function that makes such a chart, for error messages.
    _function: ClassVar[str]

    def __init__(self, title: str = "", width: int = 480, height: int = 260) -> None:
        function = self._function
        if not isinstance(title, str):
            raise TypeError(f"{function}: title must be a string, but got {title!r}")
        for name, size in (("width", width), ("height", height)):
            if not _NARROWEST <= as_integer(function, name, size) <= _WIDEST:
                raise ValueError(
                    f"{function}: {name} must be from {_NARROWEST} to {_WIDEST} pixels, "
                    f"but got {size}"
                )
        self.title, self.width, self.height = title, width, height

    @property
    def svg(self) -> str:
        """The chart as the text of an SVG file."""
        return self._svg(self.width)

    def html(self, width: int | None = None) -> str:
        """Return the chart as SVG, which is narrower where ``width`` is less than its own."""
        return self._svg(max(min(width or self.width, self.width), _NARROWEST))

    @abstractmethod
    def _elements(self, width: int) -> str:
        """Return what is drawn in a picture of a width."""

    def _svg(self, width: int) -> str:
        label = f"{self.title}: {self.description}" if self.title else self.description
        return element(
            "svg",
            self._elements(width),
            xmlns="http://www.w3.org/2000/svg",
            role="img",
            aria_label=label,
            viewBox=f"0 0 {width} {self.height}",
            width=width,
            height=self.height,
            font_family=_FONT,
            font_size=FONT_SIZE,
            fill="currentColor",
        )


class Charts(Display):
    """Several charts, which are shown beside and below each other."""

    def __init__(self, charts: Iterable[Display]) -> None:
        self._charts = tuple(charts)

    def __getitem__(self, index: int) -> Display:
        return self._charts[index]

    def __len__(self) -> int:
        return len(self._charts)

    def __iter__(self) -> Iterator[Display]:
        return iter(self._charts)

    @property
    def description(self) -> str:
        """What there is to see, in words."""
        return ", ".join(map(repr, self)) or "no charts"

    def html(self, width: int | None = None) -> str:
        """Return the HTML of all charts."""
        return "".join(chart.html(width) for chart in self) or "<p>No charts</p>"
