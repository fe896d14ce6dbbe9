"""What Keras keeps of Keras 2: ``saving``."""

from webtensor.keras.utils import legacy as saving

__all__ = ["saving"]
