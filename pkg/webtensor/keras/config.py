"""``keras.config``: settings such as default dtypes, epsilon and limits of training."""

from __future__ import annotations

from dataclasses import dataclass
from os import environ
from typing import Never

from webtensor.engine import get_backend, set_backend as start_backend
from webtensor.keras.data_formats import image_data_format, set_image_data_format
from webtensor.keras.dtype_policies import dtype_policy, set_dtype_policy
from webtensor.keras.dtypes import floatx, set_floatx
from webtensor.keras.utils.logging import (
    disable_interactive_logging,
    enable_interactive_logging,
    is_interactive_logging_enabled,
)

__all__ = [
    "backend",
    "disable_flash_attention",
    "disable_interactive_logging",
    "disable_traceback_filtering",
    "dtype_policy",
    "enable_flash_attention",
    "enable_interactive_logging",
    "enable_traceback_filtering",
    "enable_unsafe_deserialization",
    "epsilon",
    "floatx",
    "image_data_format",
    "is_flash_attention_enabled",
    "is_interactive_logging_enabled",
    "is_nnx_enabled",
    "is_traceback_filtering_enabled",
    "max_epochs",
    "max_steps_per_epoch",
    "set_backend",
    "set_dtype_policy",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
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
    flash_attention: bool | None = None
    max_epochs: int | None = _limit_from_environment("KERAS_MAX_EPOCHS")
    max_steps_per_epoch: int | None = _limit_from_environment("KERAS_MAX_STEPS_PER_EPOCH")
    traceback_filtering: bool = True


_settings = _Settings()


# -- backends ----------------------------------------------------------------------------------


def backend() -> str:
    """Return the name of the active backend: "numpy", "wasm" or "webgl".

    Example:
        >>> from webtensor import keras
        >>> keras.config.backend() in ("numpy", "wasm", "webgl")
        True
    """
    return get_backend()


def set_backend(backend: str) -> None:
    """Make a backend the active one: "numpy", "wasm" or "webgl". Tensors move when they are used.

    Raises:
        ValueError: there is no backend of this name.
    """
    start_backend(backend)


def is_nnx_enabled() -> bool:
    """Return False: layers are never modules of NNX, a library for JAX."""
    return False


def enable_flash_attention() -> None:
    """Allow flash attention. This changes nothing, as there is one implementation of attention."""
    _settings.flash_attention = True


def disable_flash_attention() -> None:
    """Disallow flash attention, which is not used anyway."""
    _settings.flash_attention = False


def is_flash_attention_enabled() -> bool | None:
    """Return whether flash attention was enabled or disabled; None if neither."""
    return _settings.flash_attention


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
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value <= 0:
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
    if value is not None and (not isinstance(value, int) or value < 1):
        raise ValueError(f"{name} must be a positive integer or None, but got {value!r}")
    return value


# -- tracebacks and files ----------------------------------------------------------------------


def enable_traceback_filtering() -> None:
    """Ask for short tracebacks. This changes nothing, as tracebacks are never filtered."""
    _settings.traceback_filtering = True


def disable_traceback_filtering() -> None:
    """Ask for complete tracebacks, which they always are."""
    _settings.traceback_filtering = False


def is_traceback_filtering_enabled() -> bool:
    """Return whether short tracebacks were last asked for; True initially."""
    return _settings.traceback_filtering


def enable_unsafe_deserialization() -> Never:
    """Refuse: code in files is never executed.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(
        "enable_unsafe_deserialization: code in files is never executed here; register the "
        "functions that a model needs with keras.saving.register_keras_serializable"
    )
