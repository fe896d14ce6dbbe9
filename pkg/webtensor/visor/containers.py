"""Putting charts into a page: into an element, or a surface of the visor.

Charts come into the page as nodes, which a parser makes of their HTML. All text in it is escaped,
and it has neither scripts nor styles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from webtensor.charts import Display
from webtensor.environment import IN_BROWSER
from webtensor.visor.panel import Surface, visor

__all__ = ["Container", "drawing_function", "shown"]

#: A surface, its name and tab as a mapping, an element of the page, its id, or None.
Container: TypeAlias = Any

D = TypeVar("D", bound=Display)


def shown(function: str, display: D, container: Container) -> D:
    """Return a chart, after drawing it in ``container`` unless that is None."""
    if container is not None:
        drawing_function(function, container)(display)
    return display


def drawing_function(function: str, container: Container) -> Callable[[Display], None]:
    """Return a function that draws a chart in a container, in place of what is there.

    Args:
        function: a string, the name of the public function, for error messages.
        container: a ``Surface``, a dictionary with the ``name`` and perhaps the ``tab`` of a
            surface, an element of the page, or the id of one.

    Raises:
        RuntimeError: Python does not run in a page.
        TypeError: ``container`` is something else.
        ValueError: the page has no such element, or the dictionary has no name.
    """
    if not IN_BROWSER:
        raise RuntimeError(f"{function}: container is only supported in a page")
    import js

    if not hasattr(js, "document"):
        raise RuntimeError(f"{function}: container is only supported in a page, not in a worker")
    element, width_of = _resolved(function, container)

    def draw(display: Display) -> None:
        parser = js.DOMParser.new()
        parsed = parser.parseFromString(display.html(width_of()), "text/html")
        element.replaceChildren(*parsed.body.childNodes)
        for child in element.children:
            if child.localName == "svg":
                child.style.maxWidth, child.style.height = "100%", "auto"

    return draw


def _resolved(function: str, container: Container) -> tuple[Any, Callable[[], int | None]]:
    """Return the element of a container, and a function that measures its width."""
    import js

    if isinstance(container, Mapping):
        unknown = container.keys() - {"name", "tab"}
        if "name" not in container or unknown:
            raise ValueError(
                f'{function}: container must have a "name" and may have a "tab", '
                f"but got {container!r}"
            )
        container = visor().surface(container["name"], container.get("tab"))
    if isinstance(container, Surface):
        return container.element, container.width
    element = container
    if isinstance(container, str):
        element = js.document.getElementById(container)
        if not element:
            raise ValueError(f"{function}: the page has no element with the id {container!r}")
    elif not hasattr(container, "replaceChildren"):
        raise TypeError(
            f"{function}: container must be a surface, an element or its id, but got {container!r}"
        )
    return element, lambda: int(element.clientWidth) or None
