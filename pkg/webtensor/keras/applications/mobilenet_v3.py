"""MobileNet V3, small networks that were searched for (Howard et al., 2019).

They scale pixels from 0 to 255 themselves, so ``preprocess_input`` returns images as they are.
"""

from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_unchanged as preprocess_input,
)
from webtensor.keras.applications.mobilenet import MobileNetV3Large, MobileNetV3Small

__all__ = ["MobileNetV3Large", "MobileNetV3Small", "decode_predictions", "preprocess_input"]
