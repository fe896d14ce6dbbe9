"""What Keras keeps of Keras 2: ``saving``."""

from webtensor.keras.utils import keras2_serialization as saving

__all__ = ["saving"]
