"""The arguments that all optimizers have in common: their types, checks and signature.

``Optimizer.__init__`` declares them. Other optimizers declare their own arguments and pass the
common ones on, as ``*base`` by position and as ``**options`` by keyword.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import TypeAlias, TypedDict

from webtensor.engine import Tensor
from webtensor.keras.arguments import is_number
from webtensor.keras.optimizers.learning_rate_schedule import LearningRateSchedule

__all__ = [
    "CommonArguments",
    "CompleteSignature",
    "LearningRateLike",
    "non_negative",
    "number_or_none",
]

#: A learning rate: a number, a schedule, or a function that returns a number.
LearningRateLike: TypeAlias = "float | LearningRateSchedule | Callable[[], float | Tensor]"


class CommonArguments(TypedDict, total=False):
    """The arguments that all optimizers accept after their own."""

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


class CompleteSignature:
    """The signature of an optimizer, in which the common arguments replace ``*base``.

    ``inspect.signature`` reads it as ``__signature__``. ``base`` is the ``__init__`` that declares
    the common arguments.
    """

    def __init__(self, base: Callable[..., None]) -> None:
        self._base = base

    def __get__(self, instance: object, owner: type) -> Signature:
        _, *own = signature(owner.__init__).parameters.values()  # type: ignore[misc]
        own_names = {parameter.name for parameter in own}
        common = [
            parameter
            for parameter in signature(self._base).parameters.values()
            if parameter.name not in {*own_names, "self"}
            and parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
        ]
        parameters = []
        for parameter in own:
            parameters += common if parameter.kind is Parameter.VAR_POSITIONAL else [parameter]
        return Signature(parameters)


def non_negative(owner: str, argument: str, value: float) -> float:
    """Return an argument of ``owner`` that must be a non-negative number."""
    if not is_number(value) or not value >= 0:
        raise ValueError(f"{owner}: {argument} must be a non-negative number, but got {value!r}")
    return value if isinstance(value, int) else float(value)


def number_or_none(owner: str, argument: str, value: float | None) -> float | None:
    """Return an argument of ``owner`` that must be a number or None."""
    if value is not None and not is_number(value):
        raise ValueError(f"{owner}: {argument} must be a number or None, but got {value!r}")
    return value
