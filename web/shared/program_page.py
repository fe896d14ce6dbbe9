"""What a page with a program does when Python is there: it runs the program (`program_page.js`).

The address may choose what computes: `?backend=wasm`. A change of a control with `data-restarts`
runs the program anew. `<main>` may have `data-waits`, if the program waits for a visitor's click,
as all do for those who prefer reduced motion, and `data-worker="worker.js"`, if it runs in a worker
with this script; for each run, `stage.begin()` then returns what hears the program's reports.
"""

from html import escape
from importlib import import_module
from typing import Any

from js import document, matchMedia
from page import element, on, use_requested_backend
from program import Program, evaluate_here, show_facts, write_state
from worker_program import in_worker

import webtensor as wt


def backend_choices() -> str:
    """Return the backends that can compute here, as options of a choice."""
    chosen = wt.get_backend()
    return "".join(
        f"<option{' selected' if name == chosen else ''}>{escape(name)}</option>"
        for name in wt.available_backends()
    )


def waits() -> bool:
    """Tell whether the program is to run at a click only."""
    prefers_less_motion: bool = matchMedia("(prefers-reduced-motion: reduce)").matches
    return prefers_less_motion or main.hasAttribute("data-waits")


async def choose_backend(event: Any) -> None:
    """Run the program on the backend that a visitor chose."""
    wt.set_backend(str(event.target.value))
    await program.run_anew()


editor = await element("editor").ready
use_requested_backend()
main = document.querySelector("main")
script = main.getAttribute("data-worker")
program = Program(
    lambda: str(editor.text),
    editor.markError,
    in_worker(script, import_module("stage").begin) if script else evaluate_here,
)
backend = element("backend")
backend.innerHTML = backend_choices()
on(backend, "change", choose_backend)
for control in document.querySelectorAll("[data-restarts]"):
    on(control, "change", program.run_anew)
for button in ("run", "reset"):
    element(button).disabled = False
backend.disabled = False
show_facts()
if waits():
    write_state("Press Run")
else:
    program.run_or_stop()
