"""VGG16, a network of 16 layers with weights (Simonyan and Zisserman, 2014)."""

from __future__ import annotations

from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_caffe as preprocess_input,
)
from webtensor.keras.applications.networks import constructor
from webtensor.keras.applications.vgg import VGG

__all__ = ["VGG16", "decode_predictions", "preprocess_input"]

VGG16 = constructor(
    VGG,
    "VGG16",
    "vgg16",
    (2, 2, 3, 3, 3),
    ("64373286793e3c8b2b4e3219cbf3544b", "6d6bbae143d832006294945121d1f1fc"),
)
