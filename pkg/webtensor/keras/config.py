"""Settings: the dtype of floats, the small number that divisions need, where channels are."""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import DType, as_dtype, float32
from webtensor.engine import get_backend
from webtensor.keras import dtype_policies
from webtensor.keras.layouts import image_data_format, set_image_data_format

__all__ = [
    "backend",
    "dtype_policy",
    "epsilon",
    "floatx",
    "image_data_format",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
]

_settings = {"epsilon": 1e-7}


def backend() -> str:
    """Return the name of what computes: "numpy", "wasm" or "webgl"."""
    return get_backend()


def epsilon() -> float:
    """Return the small number that keeps divisions and logarithms finite.

    Example:
        >>> from webtensor import keras
        >>> keras.config.epsilon()
        1e-07
    """
    return _settings["epsilon"]


def set_epsilon(value: float) -> None:
    """Set the small number that functions of ``keras.ops`` use."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"set_epsilon: value must be a positive number, but got {value!r}")
    _settings["epsilon"] = float(value)


def floatx() -> DType:
    """Return the dtype of floats, which is float32."""
    return float32


def set_floatx(value: Any) -> None:
    """Set the dtype of floats, which can be float32 alone.

    Raises:
        ValueError: it is another.
    """
    if str(value) != "float32":
        raise ValueError(f"set_floatx: floats are float32 always, but got {value!r}")


def dtype_policy() -> Any:
    """Return the dtypes that layers have by default."""
    return dtype_policies.get(as_dtype("float32"))
