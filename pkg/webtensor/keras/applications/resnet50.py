"""ResNet50 alone, under the name that Keras 2 had for its module."""

from webtensor.keras.applications.resnet import ResNet50, decode_predictions, preprocess_input

__all__ = ["ResNet50", "decode_predictions", "preprocess_input"]
