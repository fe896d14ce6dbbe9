"""Progress bars and messages: printed, or logged."""

from __future__ import annotations

import logging
import sys

__all__ = [
    "disable_interactive_logging",
    "enable_interactive_logging",
    "is_interactive_logging_enabled",
    "say",
]

_settings = {"interactive": True}


def enable_interactive_logging() -> None:
    """Print progress bars and messages, as is the default."""
    _settings["interactive"] = True


def disable_interactive_logging() -> None:
    """Log progress bars and messages to the logger "webtensor.keras" instead of printing them."""
    _settings["interactive"] = False


def is_interactive_logging_enabled() -> bool:
    """Return whether progress bars and messages are printed."""
    return _settings["interactive"]


def say(text: str, end: str = "\n") -> None:
    """Print a message, or log it; characters that the output cannot show become "?"."""
    if not is_interactive_logging_enabled():
        logging.getLogger("webtensor.keras").info(text.strip())
        return
    try:
        sys.stdout.write(text + end)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding or "ascii"
        sys.stdout.write((text + end).encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()
