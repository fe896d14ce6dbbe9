"""Fails when the visitor clicks."""

from helper import fail
from js import document
from pyodide.ffi.wrappers import add_event_listener

add_event_listener(document, "click", lambda event: fail())
document.title = "listening"
