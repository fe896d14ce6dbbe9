"""The front page: the program that visitors edit and run, and what this browser offers."""

import platform
from html import escape
from typing import Any

from capabilities import capabilities
from highlight import highlight
from page import element, on, write
from program import Program

import webtensor as wt

DEVICES = {"webgl": "the graphics processor", "wasm": "the processor's vector units"}


class Example:
    """The editor of the front page's program."""

    def __init__(self) -> None:
        """Colour the source, and run it where a visitor asked for that already."""
        self.source = element("source")
        self.show_colours()
        on(self.source, "input", self.show_colours)
        program = Program(lambda: str(self.source.value))
        if element("run").hasAttribute("data-wanted"):
            program.run_or_stop()

    def show_colours(self, event: Any = None) -> None:
        """Colour the source as it is now."""
        element("colours").innerHTML = highlight(self.source.value)


def row(name: str, works: bool, answer: str, detail: str) -> str:
    """Return a row of a table of facts."""
    kind = "yes" if works else "no"
    return (
        f'<tr><th scope="row">{escape(name)}</th><td class="{kind}">{answer}</td>'
        f"<td>{escape(detail)}</td></tr>"
    )


def backend_rows() -> str:
    """List the backends that compute in pages, and say which is chosen or why one can't be."""
    chosen = wt.get_backend() if wt.available_backends() else None
    rows = []
    for name, device in DEVICES.items():
        reason = wt.unavailable_reason(name)
        answer = "no" if reason else "chosen" if name == chosen else "yes"
        detail = reason or wt.priority_reason(name) or device
        rows.append(row(name, reason is None, answer, detail))
    return "".join(rows)


Example()
element("capabilities").innerHTML = "".join(
    row(fact.name, fact.is_available, "yes" if fact.is_available else "no", fact.detail)
    for fact in capabilities()
)
element("backends").innerHTML = backend_rows()
versions = f"webtensor {wt.__version__}, Python {platform.python_version()}"
write("versions", versions)
