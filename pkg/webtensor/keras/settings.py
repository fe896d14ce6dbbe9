"""Settings that computing and training depend on; ``keras.config`` has these and others."""

from __future__ import annotations

from dataclasses import dataclass
from os import environ

from webtensor.keras.arguments import check_positive, is_number

__all__ = [
    "epsilon",
    "max_epochs",
    "max_steps_per_epoch",
    "set_epsilon",
    "set_max_epochs",
    "set_max_steps_per_epoch",
]


def _limit_from_environment(variable: str) -> int | None:
    """Return the integer in an environment variable; None if there is none."""
    text = environ.get(variable, "")
    return int(text) if text.isdecimal() else None


@dataclass
class _Settings:
    epsilon: float = 1e-7
    max_epochs: int | None = _limit_from_environment("KERAS_MAX_EPOCHS")
    max_steps_per_epoch: int | None = _limit_from_environment("KERAS_MAX_STEPS_PER_EPOCH")


_settings = _Settings()


# -- numbers -----------------------------------------------------------------------------------


def epsilon() -> float:
    """Return the small number that keeps divisions and logarithms finite.

    Example:
        >>> from webtensor import keras
        >>> keras.config.epsilon()
        1e-07
    """
    return _settings.epsilon


def set_epsilon(value: float) -> None:
    """Set the small number that keeps divisions and logarithms finite.

    Raises:
        ValueError: ``value`` is not a positive number.
    """
    if not is_number(value) or not value > 0:
        raise ValueError(f"set_epsilon: value must be a positive number, but got {value!r}")
    _settings.epsilon = float(value)


# -- limits of training ------------------------------------------------------------------------


def max_epochs() -> int | None:
    """Return the maximum number of epochs of ``fit``; None is no limit.

    The initial value is that of the environment variable ``KERAS_MAX_EPOCHS``.
    """
    return _settings.max_epochs


def set_max_epochs(max_epochs: int | None) -> None:
    """Limit the number of epochs of ``fit``, to try out a script; None is no limit.

    Raises:
        ValueError: ``max_epochs`` is not a positive integer.
    """
    _settings.max_epochs = _checked_limit("max_epochs", max_epochs)


def max_steps_per_epoch() -> int | None:
    """Return the maximum number of batches of an epoch, ``evaluate`` or ``predict``.

    None is no limit. The initial value is that of the environment variable
    ``KERAS_MAX_STEPS_PER_EPOCH``.
    """
    return _settings.max_steps_per_epoch


def set_max_steps_per_epoch(max_steps_per_epoch: int | None) -> None:
    """Limit the number of batches of an epoch, to try out a script; None is no limit.

    Raises:
        ValueError: ``max_steps_per_epoch`` is not a positive integer.
    """
    limit = _checked_limit("max_steps_per_epoch", max_steps_per_epoch)
    _settings.max_steps_per_epoch = limit


def _checked_limit(name: str, value: int | None) -> int | None:
    if value is not None:
        check_positive(f"set_{name}", **{name: value})
    return value
