"""Buttons that work while a program runs, and the one that pauses what it does."""

from collections.abc import Callable
from typing import Any

from page import element
from program import at_end, on


def use_button(identifier: str, handler: Callable[[Any], Any]) -> Any:
    """Enable a button of the page during the run, call a function at each click, and return it."""
    button = element(identifier)
    button.disabled = False
    on(button, "click", handler)
    at_end(lambda: setattr(button, "disabled", True))
    return button


class Pause:
    """Whether the program pauses, as its button says."""

    def __init__(self) -> None:
        """Begin without a pause."""
        self._button = use_button("pause", self.toggle)
        self.set(False)

    def toggle(self, event: Any = None) -> None:
        """Begin a pause, or end it."""
        self.set(not self.is_on)

    def set(self, is_on: bool) -> None:
        """Pause, or don't."""
        self.is_on = is_on
        self._button.textContent = "Go on" if is_on else "Pause"
