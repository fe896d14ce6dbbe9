"""Names: unique names of layers, and the name scopes that make the paths of variables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple

from webtensor.engine.task_stack import TaskStack

__all__ = [
    "auto_name",
    "check_keywords",
    "current_path",
    "forget_names",
    "get_uid",
    "name_scope",
    "nearest",
    "to_snake_case",
]

_counts: Counter[str] = Counter()


class _Scope(NamedTuple):
    """A name scope: what is being built or called, and a path to use for the scopes around."""

    name: str
    caller: object
    override_parent: str | None


#: The open name scopes, the innermost last.
_scopes: TaskStack[_Scope] = TaskStack("name_scopes")


def to_snake_case(name: str) -> str:
    """``MaxPooling2D`` becomes ``max_pooling2d``, as in Keras."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def auto_name(prefix: str) -> str:
    """Return ``prefix`` the first time, then ``prefix`` with a number."""
    number = _counts[prefix]
    _counts[prefix] += 1
    return f"{prefix}_{number}" if number else prefix


def get_uid(prefix: str = "") -> int:
    """Return the next unused number for a prefix, starting from 1.

    Example:
        >>> from webtensor import keras
        >>> keras.backend.get_uid("shelf"), keras.backend.get_uid("shelf")
        (1, 2)
    """
    number = max(_counts[prefix], 1)
    _counts[prefix] = number + 1
    return number


def forget_names() -> None:
    """Reset the numbers of all names."""
    _counts.clear()


def name_scope(
    name: str,
    caller: object = None,
    deduplicate: bool = True,
    override_parent: str | None = None,
) -> AbstractContextManager[None]:
    """Within the ``with``, the paths of new variables have another name at the end.

    Args:
        name: a string without slashes.
        caller: the object that opens the scope, for ``deduplicate``.
        deduplicate: a boolean, whether a scope inside another of the same caller has no effect.
        override_parent: a path to use for the scopes around; None uses their names.

    Raises:
        ValueError: ``name`` is not a string, or has a slash.

    Example:
        >>> from webtensor import keras
        >>> with keras.name_scope("left"):
        ...     keras.Variable(1.0, name="scale").path
        'left/scale'
    """
    if not isinstance(name, str) or "/" in name:
        raise ValueError(f"name_scope: name must be a string without '/', but got {name!r}")
    return _opened(_Scope(name, caller, override_parent), deduplicate)


@contextmanager
def _opened(scope: _Scope, deduplicate: bool) -> Iterator[None]:
    outer_scopes = _scopes.get()
    caller = scope.caller
    if deduplicate and caller is not None and outer_scopes and outer_scopes[-1].caller is caller:
        yield
        return
    _scopes.push(scope)
    try:
        yield
    finally:
        _scopes.remove(scope)


def current_path() -> str:
    """Return the names of the open scopes, joined by slashes."""
    names: list[str] = []
    for scope in reversed(_scopes):
        names.append(scope.name)
        if scope.override_parent is not None:
            names.append(scope.override_parent.strip("/"))
            break
    return "/".join(name for name in reversed(names) if name)


def check_keywords(function: str, keywords: Iterable[str], accepted: Collection[str]) -> None:
    """Refuse keywords that a function does not accept.

    Raises:
        TypeError: there is one; the message names the function and the accepted one most like it.
    """
    for keyword in keywords:
        if keyword not in accepted:
            raise TypeError(f"{function}: unknown argument {keyword!r}{nearest(keyword, accepted)}")


def nearest(name: str, choices: Iterable[str]) -> str:
    """Return the end of an error message: the choice that is most like an unknown name."""
    from difflib import get_close_matches  # here, since it takes long to import

    matches = get_close_matches(str(name), list(choices), 1, 0.5)
    return f"; did you mean {matches[0]!r}?" if matches else ""
