"""Settings: dtypes of floats and of layers, the small number that divisions need, and so on."""

from __future__ import annotations

from os import environ
from typing import Any, Never

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


def _number_of(variable: str) -> int | None:
    """A positive integer of the environment."""
    text = environ.get(variable, "")
    return int(text) if text.isdecimal() else None


_settings: dict[str, Any] = {
    "epsilon": 1e-7,
    "flash_attention": None,
    "max_epochs": _number_of("KERAS_MAX_EPOCHS"),
    "max_steps_per_epoch": _number_of("KERAS_MAX_STEPS_PER_EPOCH"),
    "traceback_filtering": True,
}


# -- what computes -----------------------------------------------------------------------------


def backend() -> str:
    """Return the name of what computes: "numpy", "wasm" or "webgl"."""
    return get_backend()


def set_backend(backend: str) -> None:
    """Compute with "numpy", "wasm" or "webgl" from now on; tensors move by themselves.

    Raises:
        ValueError: there is no backend of this name.
    """
    start_backend(backend)


def is_nnx_enabled() -> bool:
    """Return whether layers are modules of NNX, a library for JAX: never."""
    return False


def enable_flash_attention() -> None:
    """Say that attention may be computed in blocks; it is computed in one way here."""
    _settings["flash_attention"] = True


def disable_flash_attention() -> None:
    """Say that attention may not be computed in blocks; it never is here."""
    _settings["flash_attention"] = False


def is_flash_attention_enabled() -> bool | None:
    """Return what was said of attention last; None at first."""
    return _settings["flash_attention"]  # type: ignore[no-any-return]


# -- numbers -----------------------------------------------------------------------------------


def epsilon() -> float:
    """Return the small number that keeps divisions and logarithms finite.

    Example:
        >>> from webtensor import keras
        >>> keras.config.epsilon()
        1e-07
    """
    return _settings["epsilon"]  # type: ignore[no-any-return]


def set_epsilon(value: float) -> None:
    """Set the small number that functions of ``keras.ops``, losses, metrics and the like use."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"set_epsilon: value must be a positive number, but got {value!r}")
    _settings["epsilon"] = float(value)


# -- trying a script out -----------------------------------------------------------------------


def max_epochs() -> int | None:
    """Return how many epochs ``fit`` trains for at most; None is no limit.

    At first it is what the environment variable ``KERAS_MAX_EPOCHS`` says.
    """
    return _settings["max_epochs"]  # type: ignore[no-any-return]


def set_max_epochs(max_epochs: int | None) -> None:
    """Limit how many epochs ``fit`` trains for, to try a script out; None is no limit."""
    _settings["max_epochs"] = _checked_limit("max_epochs", max_epochs)


def max_steps_per_epoch() -> int | None:
    """Return how many batches an epoch, ``evaluate`` or ``predict`` takes at most.

    At first it is what the environment variable ``KERAS_MAX_STEPS_PER_EPOCH`` says.
    """
    return _settings["max_steps_per_epoch"]  # type: ignore[no-any-return]


def set_max_steps_per_epoch(max_steps_per_epoch: int | None) -> None:
    """Limit how many batches an epoch takes, to try a script out; None is no limit."""
    limit = _checked_limit("max_steps_per_epoch", max_steps_per_epoch)
    _settings["max_steps_per_epoch"] = limit


def _checked_limit(name: str, value: Any) -> int | None:
    if value is not None and (not isinstance(value, int) or value < 1):
        raise ValueError(f"{name} must be a positive integer or None, but got {value!r}")
    return value


# -- errors, and what files may do -------------------------------------------------------------


def enable_traceback_filtering() -> None:
    """Ask for short tracebacks; they are short anyway, and nothing is left out of them."""
    _settings["traceback_filtering"] = True


def disable_traceback_filtering() -> None:
    """Ask for whole tracebacks, as they always are."""
    _settings["traceback_filtering"] = False


def is_traceback_filtering_enabled() -> bool:
    """Return what was asked for last; True at first."""
    return _settings["traceback_filtering"]  # type: ignore[no-any-return]


def enable_unsafe_deserialization() -> Never:
    """Refuse: code in files is never executed.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(
        "enable_unsafe_deserialization: code in files is never executed here; register the "
        "functions that a model needs with keras.saving.register_keras_serializable"
    )
