"""MobileNet V2, a small network of inverted residual blocks (Sandler et al., 2018)."""

from webtensor.keras.applications.mobilenet import (
    MobileNetV2,
    decode_predictions,
    preprocess_input,
)

__all__ = ["MobileNetV2", "decode_predictions", "preprocess_input"]
