"""The front page: the tables of this browser's capabilities and of webtensor's backends."""

import platform
from html import escape

from capabilities import capabilities
from page import element

import webtensor as wt

DEVICES = {"webgl": "the graphics processor", "wasm": "the processor's vector units"}


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


element("capabilities").innerHTML = "".join(
    row(fact.name, fact.there, "yes" if fact.there else "no", fact.detail)
    for fact in capabilities()
)
element("backends").innerHTML = backend_rows()
versions = f"webtensor {wt.__version__}, Python {platform.python_version()}"
element("versions").textContent = versions
