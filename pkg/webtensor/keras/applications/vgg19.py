"""VGG19 (Simonyan and Zisserman, 2014)."""

from webtensor.keras.applications.vgg16 import VGG19, decode_predictions, preprocess_input

__all__ = ["VGG19", "decode_predictions", "preprocess_input"]
