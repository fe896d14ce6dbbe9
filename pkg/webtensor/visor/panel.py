"""The visor: a panel at the side of a page, with tabs of surfaces that charts are drawn on.

The panel is built by calls of the DOM in a shadow root, which the page's style sheets do not reach.
Its own style is a constructed style sheet, which every Content-Security-Policy allows.
"""

from __future__ import annotations

from pkgutil import get_data
from typing import Any, ClassVar, NamedTuple

from webtensor.arguments import check_choice
from webtensor.environment import IN_BROWSER

__all__ = ["Surface", "Visor", "visor"]

_DEFAULT_TAB = "Visor"
#: By how many tabs a key moves, or to which end.
_STEPS = {"ArrowLeft": -1, "ArrowRight": 1}
_ENDS = {"Home": 0, "End": -1}
#: The padding of the panel on both sides, as in the style sheet.
_PADDING = 32


class Surface:
    """An area of the visor with a name, which charts are drawn on.

    ``element`` is the element that they are drawn in.
    """

    def __init__(self, name: str, tab: str, element: Any, panel: Any) -> None:
        self.name, self.tab, self.element = name, tab, element
        self._panel = panel

    def width(self) -> int | None:
        """Return the width of the area in pixels, also while another tab is shown."""
        return int(self._panel.clientWidth) - _PADDING or None

    def __repr__(self) -> str:
        return f"<Surface {self.name!r} in tab {self.tab!r}>"


class _Tab(NamedTuple):
    """A tab: its button, the area that it shows, and the surfaces there."""

    button: Any
    area: Any
    surfaces: dict[str, Surface]


class Visor:
    """The panel of a page; ``wt.visor.visor()`` returns it.

    Escape closes it, a button opens it again. The arrow keys, Home and End move between tabs.
    """

    #: The visor of the page, if there is one.
    _current: ClassVar[Visor | None] = None

    #: Elements of the page; None after ``dispose``.
    _host: Any
    _root: Any
    _panel: Any
    _opener: Any
    _tab_list: Any

    def __init__(self) -> None:
        import js
        from pyodide.ffi import create_proxy

        self._document = js.document
        self._tabs: dict[str, _Tab] = {}
        self._active_tab: str | None = None
        self._host = self._document.createElement("div")
        self._host.id = "webtensor-visor"
        self._root = self._host.attachShadow(mode="open")
        sheet = js.CSSStyleSheet.new()
        sheet.replaceSync((get_data(__package__, "panel.css") or b"").decode())
        self._root.adoptedStyleSheets = js.Array.of(sheet)
        self._build()
        self._listeners = [
            (target, kind, create_proxy(handler))
            for target, kind, handler in (
                (self._root, "click", self._on_click),
                (self._root, "keydown", self._on_key),
                (self._document, "keydown", self._on_page_key),
            )
        ]
        for target, kind, proxy in self._listeners:
            target.addEventListener(kind, proxy)
        self._document.body.append(self._host)
        self.open()

    # -- the panel -----------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether the panel is shown."""
        return bool(self._is_built() and self._panel.hasAttribute("data-open"))

    def open(self) -> None:
        """Show the panel.

        Example:
            In a page::

                wt.visor.visor().open()
        """
        self._check_built("open")
        self._panel.setAttribute("data-open", "")
        self._opener.hidden = True

    def close(self) -> None:
        """Hide the panel; a button at the edge of the page opens it again."""
        self._check_built("close")
        has_focus = bool(self._root.activeElement)
        self._panel.removeAttribute("data-open")
        self._opener.hidden = False
        if has_focus:
            self._opener.focus()

    def toggle(self) -> None:
        """Show the panel if it is hidden, else hide it."""
        if self.is_open:
            self.close()
        else:
            self.open()

    def dispose(self) -> None:
        """Remove the panel, its listeners and all that is drawn in it.

        ``wt.visor.visor()`` makes a new one after that.
        """
        for target, kind, proxy in self._listeners:
            target.removeEventListener(kind, proxy)
            proxy.destroy()
        if self._is_built():
            self._host.remove()
        self._listeners = []
        self._tabs = {}
        self._host = self._root = self._panel = self._opener = self._tab_list = None
        if Visor._current is self:
            Visor._current = None

    # -- tabs and surfaces ---------------------------------------------------------------------

    def surface(self, name: str, tab: str | None = None) -> Surface:
        """Return the surface of a name in a tab, which is added if it is not there.

        Args:
            name: a string, the heading of the surface.
            tab: a string, the name of the tab; None is the tab "Visor".

        Raises:
            TypeError: a name is not a string.
        """
        self._check_built("surface")
        tab = _DEFAULT_TAB if tab is None else tab
        for argument, value in (("name", name), ("tab", tab)):
            if not isinstance(value, str):
                raise TypeError(f"surface: {argument} must be a string, but got {value!r}")
        _, area, surfaces = self._tabs.get(tab) or self._add_tab(tab)
        if name not in surfaces:
            section = self._append(area, "section", aria_label=name)
            self._append(section, "h3", name)
            surfaces[name] = Surface(name, tab, self._append(section, "div"), self._panel)
        return surfaces[name]

    def set_active_tab(self, name: str) -> None:
        """Show the surfaces of a tab.

        Raises:
            ValueError: there is no tab of that name.
        """
        self._check_built("set_active_tab")
        check_choice("set_active_tab", "name", name, self._tabs)
        self._active_tab = name
        for tab_name, tab in self._tabs.items():
            is_active = tab_name == name
            tab.button.setAttribute("aria-selected", str(is_active).lower())
            tab.button.tabIndex = 0 if is_active else -1
            tab.area.hidden = not is_active

    # -- building ------------------------------------------------------------------------------

    def _is_built(self) -> bool:
        return self._host is not None

    def _check_built(self, method: str) -> None:
        if not self._is_built():
            raise RuntimeError(f"{method}: the visor is disposed; visor() makes a new one")

    def _build(self) -> None:
        self._opener = self._append(self._root, "button", "Visor", type="button", data_opens="")
        self._panel = self._append(self._root, "aside", aria_label="Visor")
        head = self._append(self._panel, "div")
        head.className = "head"
        self._tab_list = self._append(head, "div", role="tablist", aria_label="Tabs of the visor")
        self._append(head, "button", "×", type="button", data_closes="", aria_label="Close visor")

    def _add_tab(self, name: str) -> _Tab:
        number = len(self._tabs) + 1
        button = self._append(
            self._tab_list,
            "button",
            name,
            type="button",
            role="tab",
            id=f"tab-{number}",
            aria_controls=f"area-{number}",
            data_tab=name,
        )
        area = self._append(
            self._panel,
            "div",
            role="tabpanel",
            id=f"area-{number}",
            aria_labelledby=f"tab-{number}",
            tabindex="0",
        )
        tab = self._tabs[name] = _Tab(button, area, {})
        self._active_tab = self._active_tab or name
        self.set_active_tab(self._active_tab)
        return tab

    def _append(self, parent: Any, tag: str, text: str = "", **attributes: str) -> Any:
        element = self._document.createElement(tag)
        element.textContent = text
        for name, value in attributes.items():
            element.setAttribute(name.replace("_", "-"), value)
        parent.append(element)
        return element

    # -- events --------------------------------------------------------------------------------

    def _on_click(self, event: Any) -> None:
        button = event.target.closest("button")
        if not button:
            return
        if button.hasAttribute("data-opens"):
            self.open()
            self._root.querySelector("[data-closes]").focus()
        elif button.hasAttribute("data-closes"):
            self.close()
        else:
            self.set_active_tab(button.getAttribute("data-tab"))

    def _on_key(self, event: Any) -> None:
        button = event.target.closest('[role="tab"]')
        if not button or (event.key not in _STEPS and event.key not in _ENDS):
            return
        names = list(self._tabs)
        if event.key in _ENDS:
            name = names[_ENDS[event.key]]
        else:
            index = names.index(button.getAttribute("data-tab")) + _STEPS[event.key]
            name = names[index % len(names)]
        event.preventDefault()
        self.set_active_tab(name)
        self._tabs[name].button.focus()

    def _on_page_key(self, event: Any) -> None:
        if event.key == "Escape" and not event.defaultPrevented and self.is_open:
            self.close()


def visor() -> Visor:
    """Return the visor of the page, which is built and opened if there is none.

    Raises:
        RuntimeError: Python does not run in a page.

    Example:
        In a page::

            surface = wt.visor.visor().surface("Loss", tab="Training")
            wt.visor.render.line_chart([3, 2, 1.5], surface)
    """
    if not IN_BROWSER:
        raise RuntimeError("visor: there is a visor only in a page")
    import js

    if not hasattr(js, "document"):
        raise RuntimeError("visor: there is a visor only in a page, not in a worker")
    if Visor._current is None:
        Visor._current = Visor()
    return Visor._current
