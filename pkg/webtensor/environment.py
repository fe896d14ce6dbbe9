"""Where the library runs, and the flags that configure it.

A flag is registered with its possible values. It is evaluated lazily, once, by its registered
evaluator, unless it was set: by ``env().set``, by the page's URL
(``?wtflags=NAME:value,NAME:value``; of several values the last counts) or, outside a browser, by
the environment variable ``WEBTENSOR_FLAGS`` in the same form. These two are read when the first
flag is used or the first backend starts, not on import. Unknown flags and invalid values in them
are ignored with a warning.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from math import inf, isfinite
from typing import Any, Final, NamedTuple

__all__ = [
    "ANYTHING",
    "BOOLEAN",
    "IN_BROWSER",
    "Environment",
    "FlagType",
    "FlagValue",
    "env",
    "integer",
    "number",
    "one_of",
]

IN_BROWSER: Final = sys.platform == "emscripten"

FlagValue = bool | float | str

_LONGEST_TEXT: Final = 10_000
_MAX_WARNINGS: Final = 10
_LONGEST_SHOWN: Final = 60


class FlagType(NamedTuple):
    """The values that a flag may have; ``description`` ends the sentence "it must be …"."""

    description: str
    types: tuple[type, ...]
    includes: Callable[[Any], bool]

    def check(self, name: str, value: object) -> None:
        """Check that a flag may have a value.

        Raises:
            TypeError: it is of another type.
            ValueError: it is beyond the range.
        """
        is_typed = isinstance(value, self.types)
        if isinstance(value, bool) and bool not in self.types:
            is_typed = False
        if is_typed and self.includes(value):
            return
        error = ValueError if is_typed else TypeError
        raise error(f"env: flag {name} must be {self.description}, but got {_shown(value)}")


ANYTHING: Final = FlagType("a bool, a number or text", (bool, int, float, str), lambda value: True)
BOOLEAN: Final = FlagType("true or false", (bool,), lambda value: True)


def number(minimum: float = -inf, maximum: float = inf) -> FlagType:
    """Return the type of numbers within limits."""
    return FlagType(
        f"a number{_limits(minimum, maximum)}",
        (int, float),
        lambda value: isfinite(value) and minimum <= value <= maximum,
    )


def integer(minimum: float = -inf, maximum: float = inf) -> FlagType:
    """Return the type of integers within limits."""
    return FlagType(
        f"an integer{_limits(minimum, maximum)}",
        (int,),
        lambda value: minimum <= value <= maximum,
    )


def one_of(*choices: FlagValue) -> FlagType:
    """Return the type of these values."""
    return FlagType(
        f"one of {', '.join(map(str, choices))}",
        tuple(map(type, choices)),
        lambda value: value in choices,
    )


def _limits(minimum: float, maximum: float) -> str:
    if maximum == inf:
        return "" if minimum == -inf else f" of at least {minimum}"
    return f" of at most {maximum}" if minimum == -inf else f" from {minimum} to {maximum}"


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        text = "an integer of thousands of digits"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _parse_value(text: str) -> FlagValue:
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def _parse_flags(text: str) -> dict[str, FlagValue]:
    """Parse ``NAME:value,NAME:value``; a name without a colon has the value ""."""
    pairs = (pair.partition(":") for pair in text.split(",") if pair.strip())
    return {name.strip(): _parse_value(value.strip()) for name, _, value in pairs}


def _given_text() -> str:
    """The text that sets flags from outside."""
    if not IN_BROWSER:
        return os.environ.get("WEBTENSOR_FLAGS", "")
    from urllib.parse import parse_qs

    import js

    location = getattr(js, "location", None)
    query = str(location.search) if location is not None else ""
    return ",".join(parse_qs(query.lstrip("?")).get("wtflags", []))


class Environment:
    """The table of flags. Reached as ``wt.env()``."""

    def __init__(self, read_text: Callable[[], str]) -> None:
        self._types: dict[str, FlagType] = {}
        self._evaluators: dict[str, Callable[[], FlagValue]] = {}
        self._setters: dict[str, Callable[[Any], None]] = {}
        self._values: dict[str, FlagValue] = {}
        self._read_text = read_text
        #: The values from outside; None until they are read.
        self._overrides: dict[str, FlagValue] | None = None
        self._warnings = 0

    def register_flag(
        self,
        name: str,
        evaluate: Callable[[], FlagValue],
        on_set: Callable[[Any], None] | None = None,
        type: FlagType = ANYTHING,
    ) -> None:
        """Register a flag with the function that evaluates its default, and its type."""
        self._evaluators[name] = evaluate
        self._types[name] = type
        if on_set is not None:
            self._setters[name] = on_set
        if self._overrides and name in self._overrides:
            self._apply_override(name)

    def on_set(self, name: str, hook: Callable[[Any], None]) -> None:
        """Register a function that is called with the values that a flag is set to."""
        self._require(name)
        self._setters[name] = hook

    def get(self, name: str) -> FlagValue:
        """Return a flag's value, evaluating it the first time.

        Raises:
            KeyError: no such flag.
        """
        value = self._values.get(name)
        if value is None:
            self._require(name)
            self.read_overrides()
            value = self._values.get(name)
        if value is None:
            value = self._values[name] = self._evaluators[name]()
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
        """Set a flag; it keeps this value until ``reset``.

        Raises:
            KeyError: no such flag.
            TypeError: the flag's values are of another type.
            ValueError: the value is beyond the flag's range.
        """
        self._require(name)
        self._types[name].check(name, value)
        self.read_overrides()
        self._set(name, value)

    def reset(self) -> None:
        """Forget every value that was set or evaluated, except those from outside."""
        overrides = self._overrides or {}
        self._values = {name: overrides[name] for name in overrides if name in self._evaluators}

    @property
    def flags(self) -> dict[str, Any]:
        """Every registered flag with its value, or None if it has not been evaluated yet."""
        self.read_overrides()
        return {name: self._values.get(name) for name in sorted(self._evaluators)}

    def read_overrides(self) -> None:
        """Read the values from outside, once, with warnings for invalid ones."""
        if self._overrides is not None:
            return
        text = self._read_text()
        if len(text) > _LONGEST_TEXT:
            self._warn(f"{len(text):,} characters are too many")
            text = ""
        self._overrides = _parse_flags(text)
        for name in list(self._overrides):
            if name in self._evaluators:
                self._apply_override(name)
            else:
                self._warn(f"there is no flag {_shown(name)}{self._suggestion(name)}")

    def _apply_override(self, name: str) -> None:
        assert self._overrides is not None
        try:
            self._types[name].check(name, self._overrides[name])
        except (TypeError, ValueError) as error:
            del self._overrides[name]
            self._warn(str(error))
        else:
            self._set(name, self._overrides[name])

    def _set(self, name: str, value: FlagValue) -> None:
        self._values[name] = value
        if name in self._setters:
            self._setters[name](value)

    def _warn(self, mistake: str) -> None:
        self._warnings += 1
        if self._warnings > _MAX_WARNINGS:
            return
        last = " (further mistakes are not shown)" if self._warnings == _MAX_WARNINGS else ""
        source = "the page's ?wtflags" if IN_BROWSER else "WEBTENSOR_FLAGS"
        warnings.warn(f"{source}, ignored: {mistake}{last}", RuntimeWarning, stacklevel=4)

    def _suggestion(self, name: str) -> str:
        from difflib import get_close_matches

        similar = get_close_matches(name, self._evaluators, n=1)
        return f". Did you mean {similar[0]!r}?" if similar else ""

    def _require(self, name: str) -> None:
        if name not in self._evaluators:
            registered = ", ".join(sorted(self._evaluators))
            raise KeyError(f"env: flag {name!r} is not registered; there are {registered}")


_environment = Environment(_given_text)


def env() -> Environment:
    """Return the library's flags.

    Example:
        >>> import webtensor as wt
        >>> wt.env().get_bool("DEBUG")
        False
    """
    return _environment


_environment.register_flag("IS_BROWSER", lambda: IN_BROWSER, type=BOOLEAN)
