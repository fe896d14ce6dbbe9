"""VGG19, a network of 19 layers with weights (Simonyan and Zisserman, 2014)."""

from __future__ import annotations

from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_caffe as preprocess_input,
)
from webtensor.keras.applications.networks import constructor
from webtensor.keras.applications.vgg import VGG

__all__ = ["VGG19", "decode_predictions", "preprocess_input"]

VGG19 = constructor(
    VGG,
    "VGG19",
    "vgg19",
    (2, 2, 4, 4, 4),
    ("cbe5617147190e668d6c5d5026f83318", "253f8cb515780f3b799900260a226db6"),
)
