"""``keras.config``: settings such as default dtypes, epsilon and limits of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Never

from webtensor.engine import get_backend, set_backend as start_backend
from webtensor.keras.data_formats import image_data_format, set_image_data_format
from webtensor.keras.dtype_policies import dtype_policy, set_dtype_policy
from webtensor.keras.dtypes import floatx, set_floatx
from webtensor.keras.logging import (
    disable_interactive_logging,
    enable_interactive_logging,
    is_interactive_logging_enabled,
)
from webtensor.keras.settings import (
    epsilon,
    max_epochs,
    max_steps_per_epoch,
    set_epsilon,
    set_max_epochs,
    set_max_steps_per_epoch,
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


@dataclass
class _Settings:
    flash_attention: bool | None = None
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
