"""Names: unique ones for layers and models, and the path of scopes in which variables are made."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from webtensor.engine.tasks import TaskStack

__all__ = [
    "auto_name",
    "current_path",
    "forget_names",
    "get_uid",
    "name_scope",
    "nearest",
    "to_snake_case",
]

_counts: Counter[str] = Counter()
#: Names of what is being built or called, who they belong to, and what stands for those around.
_scopes: TaskStack[tuple[str, Any, str | None]] = TaskStack("name_scopes")


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


def get_uid(prefix: str = "") -> int:
    """Return a number for a prefix, from 1 on, that nothing of this name has had.

    Example:
        >>> from webtensor import keras
        >>> keras.backend.get_uid("shelf"), keras.backend.get_uid("shelf")
        (1, 2)
    """
    number = max(_counts[prefix], 1)
    _counts[prefix] = number + 1
    return number


def forget_names() -> None:
    """Begin to count anew."""
    _counts.clear()


def name_scope(
    name: str, caller: Any = None, deduplicate: bool = True, override_parent: str | None = None
) -> AbstractContextManager[None]:
    """Put a name before those of the variables that are made inside.

    With ``deduplicate``, a caller that is the innermost already gives its name once. Where
    ``override_parent`` is given, it stands for the names around.

    Raises:
        ValueError: the name is no string, or has a slash.

    Example:
        >>> from webtensor import keras
        >>> with keras.name_scope("left"):
        ...     keras.Variable(1.0, name="scale").path
        'left/scale'
    """
    if not isinstance(name, str) or "/" in name:
        raise ValueError(f"name_scope: name must be a string without '/', but got {name!r}")
    return _scope(name, caller, deduplicate, override_parent)


@contextmanager
def _scope(name: str, caller: Any, deduplicate: bool, parent: str | None) -> Iterator[None]:
    around = _scopes.get()
    if deduplicate and caller is not None and around and around[-1][1] is caller:
        yield
        return
    scope = (name, caller, parent)
    _scopes.push(scope)
    try:
        yield
    finally:
        _scopes.remove(scope)


def current_path() -> str:
    """The names of the scopes around, joined by slashes."""
    found: list[str] = []
    for name, _, parent in reversed(_scopes):
        found.append(name)
        if parent is not None:
            found.append(parent.strip("/"))
            break
    return "/".join(one for one in reversed(found) if one)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return what to add to an error: the known name that is most like an unknown one."""
    from difflib import get_close_matches  # here, since it takes long to import

    found = get_close_matches(str(name), list(known), 1, 0.5)
    return f"; did you mean {found[0]!r}?" if found else ""
