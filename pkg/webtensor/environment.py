"""Where the library runs, and the flags that steer it.

A flag is evaluated lazily, once, by its registered evaluator, unless it was set: by
``env().set``, by the page's URL (``?wtflags=NAME:value,NAME:value``) or, outside a browser, by
the environment variable ``WEBTENSOR_FLAGS`` in the same form.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Final

__all__ = ["IN_BROWSER", "Environment", "FlagValue", "env"]

IN_BROWSER: Final = sys.platform == "emscripten"

FlagValue = bool | float | str


def _parse_value(text: str) -> FlagValue:
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def _parse_flags(text: str) -> dict[str, FlagValue]:
    """Parse ``NAME:value,NAME:value``; pairs without a colon are ignored."""
    pairs = (pair.partition(":") for pair in text.split(","))
    return {name.strip(): _parse_value(value.strip()) for name, colon, value in pairs if colon}


def _given_flags() -> dict[str, FlagValue]:
    if not IN_BROWSER:
        return _parse_flags(os.environ.get("WEBTENSOR_FLAGS", ""))
    from urllib.parse import parse_qs

    import js

    location = getattr(js, "location", None)
    query = str(location.search) if location is not None else ""
    return _parse_flags(",".join(parse_qs(query.lstrip("?")).get("wtflags", [])))


class Environment:
    """The table of flags. Reached as ``wt.env()``."""

    def __init__(self, given: dict[str, FlagValue]) -> None:
        self._evaluators: dict[str, Callable[[], FlagValue]] = {}
        self._setters: dict[str, Callable[[FlagValue], None]] = {}
        self._values: dict[str, FlagValue] = {}
        self._given = given

    def register_flag(
        self,
        name: str,
        evaluate: Callable[[], FlagValue],
        on_set: Callable[[FlagValue], None] | None = None,
    ) -> None:
        """Declare a flag with the function that finds its default value."""
        self._evaluators[name] = evaluate
        if on_set is not None:
            self._setters[name] = on_set
        if name in self._given:
            self._values[name] = self._given[name]

    def get(self, name: str) -> FlagValue:
        """Return a flag's value, evaluating it the first time.

        Raises:
            KeyError: no such flag.
        """
        value = self._values.get(name)
        if value is None:
            value = self._values[name] = self._evaluator(name)()
        return value

    def get_bool(self, name: str) -> bool:
        """Return a flag as a truth value."""
        return bool(self.get(name))

    def get_number(self, name: str) -> float:
        """Return a flag as a number.

        Raises:
            TypeError: the flag holds text.
        """
        value = self.get(name)
        if isinstance(value, str):
            raise TypeError(f"env: flag {name} must be a number, but is {value!r}")
        return value

    def set(self, name: str, value: FlagValue) -> None:
        """Set a flag; it keeps this value until ``reset``."""
        self._evaluator(name)
        self._values[name] = value
        if name in self._setters:
            self._setters[name](value)

    def reset(self) -> None:
        """Forget every value that was set or evaluated, save those given from outside."""
        self._values = {name: self._given[name] for name in self._evaluators if name in self._given}

    @property
    def flags(self) -> dict[str, Any]:
        """Every registered flag with its value, or None where it was not asked for yet."""
        return {name: self._values.get(name) for name in sorted(self._evaluators)}

    def _evaluator(self, name: str) -> Callable[[], FlagValue]:
        try:
            return self._evaluators[name]
        except KeyError:
            known = ", ".join(sorted(self._evaluators))
            raise KeyError(f"env: flag {name!r} is not registered; there are {known}") from None


_environment = Environment(_given_flags())


def env() -> Environment:
    """Return the library's flags.

    Example:
        >>> import webtensor as wt
        >>> wt.env().get_bool("DEBUG")
        False
    """
    return _environment


_environment.register_flag("IS_BROWSER", lambda: IN_BROWSER)
