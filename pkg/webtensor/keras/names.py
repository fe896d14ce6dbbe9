"""Names: unique ones for layers and models, and the path of scopes in which variables are made."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["auto_name", "current_path", "forget_names", "name_scope", "nearest", "to_snake_case"]

_counts: Counter[str] = Counter()
#: Names of what is being built or called, and who they belong to.
_scopes: list[tuple[str, Any]] = []


def to_snake_case(name: str) -> str:
    """``MaxPooling2D`` becomes ``max_pooling2d``, as in Keras."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def auto_name(prefix: str) -> str:
    """Return ``prefix`` the first time, then with a number after it."""
    number = _counts[prefix]
    _counts[prefix] += 1
    return f"{prefix}_{number}" if number else prefix


def forget_names() -> None:
    """Begin to count anew."""
    _counts.clear()


@contextmanager
def name_scope(name: str, owner: Any = None) -> Iterator[None]:
    """Put a name before those of the variables that are made inside.

    An owner that is the innermost already gives its name once.
    """
    if owner is not None and _scopes and _scopes[-1][1] is owner:
        yield
        return
    _scopes.append((name, owner))
    try:
        yield
    finally:
        _scopes.pop()


def current_path() -> str:
    """The names of the scopes around, joined by slashes."""
    return "/".join(name for name, _ in _scopes)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return what to add to an error: the known name that is most like an unknown one."""
    from difflib import get_close_matches  # here, since it takes long to import

    found = get_close_matches(str(name), list(known), 1, 0.5)
    return f"; did you mean {found[0]!r}?" if found else ""
