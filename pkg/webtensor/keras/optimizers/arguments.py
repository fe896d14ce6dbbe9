"""The arguments that all optimizers have: their types, their checks, their place in signatures."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any, TypedDict

from webtensor.keras.optimizers.schedules import LearningRateSchedule

__all__ = ["Options", "Rate", "SpelledOut", "is_number", "not_negative", "number_or_none"]

#: What a learning rate may be: a number, a schedule, or a function that returns a number.
Rate = float | LearningRateSchedule | Callable[[], Any]


class Options(TypedDict, total=False):
    """The arguments that all optimizers have after their own."""

    weight_decay: float | None
    clipnorm: float | None
    clipvalue: float | None
    global_clipnorm: float | None
    use_ema: bool
    ema_momentum: float
    ema_overwrite_frequency: int | None
    loss_scale_factor: float | None
    gradient_accumulation_steps: int | None
    name: str | None


class SpelledOut:
    """The signature of a class whose ``__init__`` hands ``*base`` on, with what that may be.

    ``base`` is the ``__init__`` that it ends up with.
    """

    def __init__(self, base: Callable[..., None]) -> None:
        self._base = base

    def __get__(self, instance: object, owner: type) -> Signature:
        _, *own = signature(owner.__init__).parameters.values()  # type: ignore[misc]
        names = {one.name for one in own}
        if "base" not in names:
            return Signature(own)
        shared = signature(self._base).parameters.values()
        inherited = [
            one
            for one in shared
            if one.name not in {*names, "self"} and one.kind is Parameter.POSITIONAL_OR_KEYWORD
        ]
        spelled = []
        for one in own:
            spelled += inherited if one.kind is Parameter.VAR_POSITIONAL else [one]
        return Signature(spelled)


def is_number(value: Any) -> bool:
    """Whether a value is a number of Python's, and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def not_negative(kind: str, argument: str, value: float) -> float:
    """Return a number among the arguments of a kind of optimizer."""
    if not is_number(value) or not value >= 0:
        raise ValueError(f"{kind}: {argument} must be a non-negative number, but got {value!r}")
    return value


def number_or_none(kind: str, argument: str, value: float | None) -> float | None:
    """Return an argument that may be left out."""
    if value is not None and not is_number(value):
        raise ValueError(f"{kind}: {argument} must be a number or None, but got {value!r}")
    return value
