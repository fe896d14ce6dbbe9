"""Elements of SVG as text: escaping, numbers, and the colours of series."""

from __future__ import annotations

import re
from html import escape
from math import isinf, isnan

__all__ = ["FONT_SIZE", "colour", "element", "escaped", "number_text", "shortened", "text_width"]

FONT_SIZE = 11
#: The mean width of a character, as a part of the font's size.
_CHARACTER = 0.6
#: Each has a contrast of at least 3.5 both to white and to #1e1e1e.
_COLOURS = (
    *("#2f7bd6", "#cf6414", "#2a8f5a", "#a55bd6"),
    *("#d14d5b", "#0f8f9c", "#8a7a1f", "#7b8494"),
)
#: Characters that XML does not allow, even escaped.
_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def escaped(text: object) -> str:
    """Return text for an element or an attribute.

    Example:
        >>> escaped("<script>")
        '&lt;script&gt;'
    """
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(text)))


def element(tag: str, *children: str, **attributes: str | float | None) -> str:
    """Return an element; ``children`` are markup, and attributes that are None are left out.

    Example:
        >>> element("text", "a", x=1.25, text_anchor="end")
        '<text x="1.2" text-anchor="end">a</text>'
    """
    written = "".join(
        f' {name.replace("_", "-")}="{_attribute(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    content = "".join(children)
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def _attribute(value: str | float) -> str:
    if isinstance(value, str):
        return escaped(value)
    return f"{value:.1f}".removesuffix(".0")


def colour(index: int) -> str:
    """Return the colour of a series, which a page may replace by a custom property."""
    number = index % len(_COLOURS)
    return f"var(--wt-chart-{number + 1}, {_COLOURS[number]})"


def number_text(value: float, digits: int = 4) -> str:
    """Return a number with few digits.

    Example:
        >>> [number_text(value) for value in (120.0, 0.123456, 2.5e-7, 3e9, float("nan"))]
        ['120', '0.1235', '2.5e-7', '3e9', 'NaN']
    """
    if isnan(value):
        return "NaN"
    if isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == int(value) and abs(value) < 1e7:
        return str(int(value))
    return re.sub(r"e([-+])0*", lambda match: "e" + match[1].strip("+"), f"{value:.{digits}g}")


def text_width(text: str, font_size: float = FONT_SIZE) -> float:
    """Return about how many pixels wide a text is."""
    return len(text) * font_size * _CHARACTER


def shortened(text: str, width: float) -> str:
    """Return a text that is cut, ending with "…", where it is wider than ``width`` pixels.

    Example:
        >>> shortened("a very long label", 60)
        'a very l…'
    """
    count = max(int(width / (FONT_SIZE * _CHARACTER)), 2)
    return text if len(text) <= count else f"{text[: count - 1]}…"
