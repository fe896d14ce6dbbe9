"""Preprocessing: layers that make numbers of what data come as, and vary images.

``numerical`` scales numbers and sorts them into bins; ``categorical`` encodes and hashes
categories, with ``encoding`` and ``hashes`` below it; ``lookup`` numbers words and integers by
vocabularies, ``text_vectorization`` whole texts. ``images`` brings images to a size, with
``resampling`` below it, ``augmentation`` varies them, and ``pipeline`` puts layers together.
"""

from webtensor.keras.layers.preprocessing.augmentation import (
    RandomBrightness as RandomBrightness,
    RandomContrast as RandomContrast,
    RandomCrop as RandomCrop,
    RandomFlip as RandomFlip,
    RandomHeight as RandomHeight,
    RandomRotation as RandomRotation,
    RandomTranslation as RandomTranslation,
    RandomWidth as RandomWidth,
    RandomZoom as RandomZoom,
)
from webtensor.keras.layers.preprocessing.categorical import (
    CategoryEncoding as CategoryEncoding,
    HashedCrossing as HashedCrossing,
    Hashing as Hashing,
)
from webtensor.keras.layers.preprocessing.images import (
    CenterCrop as CenterCrop,
    Resizing as Resizing,
)
from webtensor.keras.layers.preprocessing.lookup import (
    IntegerLookup as IntegerLookup,
    StringLookup as StringLookup,
)
from webtensor.keras.layers.preprocessing.numerical import (
    Discretization as Discretization,
    Normalization as Normalization,
    Rescaling as Rescaling,
)
from webtensor.keras.layers.preprocessing.pipeline import Pipeline as Pipeline
from webtensor.keras.layers.preprocessing.text_vectorization import (
    TextVectorization as TextVectorization,
)
