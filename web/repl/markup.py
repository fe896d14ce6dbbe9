"""Markup that objects return from `_repr_html_`, as a tree of plain data.

A node is text, or `[tag, attributes, children]`. The page builds elements from the tree, those
which `markup.js` lists and no others; so it parses no markup itself, and inline styles need no
permission of its Content-Security-Policy.
"""

from html.parser import HTMLParser
from typing import Any

Node = str | list[Any]
Attributes = list[tuple[str, str | None]]

VOID_ELEMENTS = frozenset(("br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"))

#: Names that SVG writes with capital letters, which the parser of HTML makes small.
SVG_NAMES = {
    name.lower(): name
    for name in (
        "clipPath",
        "clipPathUnits",
        "gradientTransform",
        "gradientUnits",
        "linearGradient",
        "markerHeight",
        "markerUnits",
        "markerWidth",
        "patternUnits",
        "preserveAspectRatio",
        "radialGradient",
        "refX",
        "refY",
        "textLength",
        "viewBox",
    )
}


def parse(markup: str) -> list[Node]:
    """Return the nodes of HTML or SVG."""
    parser = _TreeParser()
    parser.feed(markup)
    parser.close()
    return parser.nodes


class _TreeParser(HTMLParser):
    """Collects nodes; `open_elements` has those whose end is still to come."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.nodes: list[Node] = []
        self.open_elements: list[list[Any]] = []

    def _append(self, node: Node) -> None:
        siblings = self.open_elements[-1][2] if self.open_elements else self.nodes
        siblings.append(node)

    def _append_element(self, tag: str, attributes: Attributes) -> list[Any]:
        values = {SVG_NAMES.get(name, name): value or "" for name, value in attributes}
        element: list[Any] = [SVG_NAMES.get(tag, tag), values, []]
        self._append(element)
        return element

    def handle_startendtag(self, tag: str, attributes: Attributes) -> None:
        self._append_element(tag, attributes)

    def handle_starttag(self, tag: str, attributes: Attributes) -> None:
        element = self._append_element(tag, attributes)
        if tag not in VOID_ELEMENTS:
            self.open_elements.append(element)

    def handle_endtag(self, tag: str) -> None:
        name = SVG_NAMES.get(tag, tag)
        if any(element[0] == name for element in self.open_elements):
            while self.open_elements.pop()[0] != name:
                pass

    def handle_data(self, data: str) -> None:
        self._append(data)
