"""Names of Keras 2 for what is in ``keras.utils``: data sets, ``image`` and ``sequence``."""

from webtensor.keras.preprocessing import image, sequence
from webtensor.keras.utils.file_datasets import (
    image_dataset_from_directory,
    text_dataset_from_directory,
)
from webtensor.keras.utils.sequences import timeseries_dataset_from_array

__all__ = [
    "image",
    "image_dataset_from_directory",
    "sequence",
    "text_dataset_from_directory",
    "timeseries_dataset_from_array",
]
