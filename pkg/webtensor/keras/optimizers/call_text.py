"""Optimizers and schedules as text: the call that makes them."""

from __future__ import annotations

from collections.abc import Container

from webtensor.keras.arguments import Configurable, accepted_arguments
from webtensor.keras.optimizers.slots import HostNumber

__all__ = ["call_text"]


def call_text(instance: Configurable, hidden: Container[str] = ("name",)) -> str:
    """Return a class's name and its arguments, without hidden ones, and those None or False."""
    arguments = []
    for name in accepted_arguments(type(instance), library_only=True):
        value = getattr(instance, f"_{name}", None) or getattr(instance, name, None)
        if name not in hidden and value is not None and value is not False:
            text = f"{value.number:.6g}" if isinstance(value, HostNumber) else repr(value)
            arguments.append(f"{name}={text}")
    return f"{type(instance).__name__}({', '.join(arguments)})"
