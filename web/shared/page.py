"""What the pages' Python has in common: elements, events, the address's query, tasks."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs

from js import document, location
from pyodide.ffi.wrappers import add_event_listener, remove_event_listener

import webtensor as wt

_tasks: set[asyncio.Task[Any]] = set()


def element(identifier: str) -> Any:
    """Return the page's element with this id."""
    target = find(identifier)
    if target is None:
        raise LookupError(f"the page has no element with id {identifier!r}")
    return target


def find(identifier: str) -> Any:
    """Return the page's element with this id, or None."""
    return document.getElementById(identifier) or None


def write(identifier: str, text: str) -> None:
    """Set the text of the page's element with this id."""
    element(identifier).textContent = text


@contextmanager
def problem_shown() -> Iterator[None]:
    """Show the message of a ValueError, which goes on, in the page's alert `#problem`."""
    element("problem").hidden = True
    try:
        yield
    except ValueError as error:
        write("problem", str(error))
        element("problem").hidden = False
        raise


def query(name: str) -> str | None:
    """Return a parameter of the page's address, such as "wasm" for `?backend=wasm`."""
    search: str = location.search
    return parse_qs(search.lstrip("?")).get(name, [None])[-1]


def use_requested_backend() -> None:
    """Compute on the backend that the page's address names, if it can compute here."""
    requested = query("backend")
    if requested is not None and requested in wt.available_backends():
        wt.set_backend(requested)


def on(target: Any, event: str, handler: Callable[[Any], Any]) -> Callable[[], None]:
    """Call a function, or run a coroutine function, whenever an event reaches an element.

    What is returned ends that.
    """

    def handle(received: Any) -> None:
        result = handler(received)
        if asyncio.iscoroutine(result):
            run_in_background(result)

    add_event_listener(target, event, handle)
    return lambda: remove_event_listener(target, event, handle)


def run_in_background(coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start a coroutine and keep it alive until it ends; the page shows its exceptions."""
    task = asyncio.ensure_future(coroutine)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return task
