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
from webtensor.keras.dtypes import is_float_dtype, is_int_dtype, result_type, standardize_dtype
from webtensor.keras.names import get_uid
from webtensor.keras.utils.global_state import clear_session, is_keras_tensor

__all__ = [
    "backend",
    "clear_session",
    "epsilon",
    "floatx",
    "get_uid",
    "image_data_format",
    "is_float_dtype",
    "is_int_dtype",
    "is_keras_tensor",
    "result_type",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "standardize_dtype",
]
