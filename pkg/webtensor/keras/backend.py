"""``keras.backend``: settings and helpers under the names that older scripts use."""

from webtensor.keras.config import (
    backend,
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)
from webtensor.keras.utils.session import clear_session, is_keras_tensor, standardize_dtype

__all__ = [
    "backend",
    "clear_session",
    "epsilon",
    "floatx",
    "image_data_format",
    "is_keras_tensor",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "standardize_dtype",
]
