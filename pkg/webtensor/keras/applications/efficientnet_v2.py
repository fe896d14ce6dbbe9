"""EfficientNet V2, networks that train faster than EfficientNet (Tan and Le, 2021).

They scale pixels from 0 to 255 themselves, so ``preprocess_input`` returns images as they are.
"""

from webtensor.keras.applications.efficientnet import (
    EfficientNetV2B0,
    EfficientNetV2B1,
    EfficientNetV2B2,
    EfficientNetV2B3,
    EfficientNetV2L,
    EfficientNetV2M,
    EfficientNetV2S,
    decode_predictions,
    preprocess_input,
)

__all__ = [
    "EfficientNetV2B0",
    "EfficientNetV2B1",
    "EfficientNetV2B2",
    "EfficientNetV2B3",
    "EfficientNetV2L",
    "EfficientNetV2M",
    "EfficientNetV2S",
    "decode_predictions",
    "preprocess_input",
]
