"""The linear page: shows the source of `linear.py`, and runs that same file beside it."""

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import Any

from highlight import highlight
from page import element, on, query

import webtensor as wt

SOURCE = Path("linear.py")


def run(event: Any = None) -> None:
    """Run the file and show what it prints."""
    printed = StringIO()
    began = perf_counter()
    with redirect_stdout(printed):
        exec(compile(SOURCE.read_text(), SOURCE.name, "exec"), {"__name__": "__main__"})
    milliseconds = (perf_counter() - began) * 1000
    element("output").textContent = printed.getvalue()
    element("made-on").textContent = f"Computed on {wt.get_backend()} in {milliseconds:.0f} ms."
    element("again").disabled = False


backend = query("backend")
if backend is not None:
    wt.set_backend(backend)
element("source").innerHTML = highlight(SOURCE.read_text())
on(element("again"), "click", run)
run()
