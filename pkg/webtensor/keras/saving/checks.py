"""Checks of what is saved and of configurations that are read."""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["check_configuration", "refuse_arguments", "require_model"]


def require_model(function: str, model: object, arguments: str) -> None:
    """Check that an argument is a model; it may be a path where two arguments were swapped.

    Raises:
        TypeError: it has no attribute ``built``.
    """
    if not hasattr(model, "built"):
        raise TypeError(
            f"{function}: the first argument must be a model, but is {model!r:.200}; it is called "
            f"as {function}({arguments})"
        )


def refuse_arguments(function: str, arguments: Collection[str]) -> None:
    """Refuse the keywords that a function does not take.

    Raises:
        ValueError: there is one.
    """
    if arguments:
        raise ValueError(f"{function}: unknown argument(s) {', '.join(sorted(arguments))}")


def check_configuration(config: object) -> None:
    """Refuse a configuration that would make a layer read a file of this computer.

    Lookup layers accept the name of a file as their vocabulary. In an untrusted configuration it
    could be that of any file here.

    Raises:
        ValueError: a vocabulary is the name of a file.
    """
    waiting = [config]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            name = value.get("vocabulary")
            if isinstance(name, str):
                raise ValueError(
                    f"vocabulary is the name of a file, {name!r}, which is not read; save the "
                    "model with the tokens themselves"
                )
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
