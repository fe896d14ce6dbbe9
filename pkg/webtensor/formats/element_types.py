"""What the readers of formats share with those of Keras's files: arrays of many dtypes."""

from webtensor.keras.element_types import ITEM_SIZES, Buffer, Elements

__all__ = ["ITEM_SIZES", "Buffer", "Elements"]
