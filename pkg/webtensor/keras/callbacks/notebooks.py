"""Where a progress bar can be shown as HTML: the notebooks of IPython and of marimo."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["Show", "notebook_output"]

#: Shows HTML, or text where there is none, in place of what it showed before.
Show: TypeAlias = Callable[[str, str], None]


def notebook_output() -> Show | None:
    """Return a function that shows HTML below the running cell; None outside notebooks."""
    return _ipython_output() or _marimo_output()


def _ipython_output() -> Show | None:
    """Return the output of an IPython kernel, as in Jupyter; a terminal's IPython has none."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return None
    from IPython.core.displaypub import DisplayPublisher
    from IPython.display import display

    if type(shell.display_pub) is DisplayPublisher:  # the base class prints the text alone
        return None
    handle: Any = None

    def show(html: str, text: str) -> None:
        nonlocal handle
        data = {"text/html": html, "text/plain": text}
        if handle is None:
            handle = display(data, raw=True, display_id=True)
        else:
            handle.update(data, raw=True)

    return show


def _marimo_output() -> Show | None:
    marimo = sys.modules.get("marimo")
    if marimo is None or not marimo.running_in_notebook():
        return None
    return lambda html, text: marimo.output.replace(marimo.Html(html))
