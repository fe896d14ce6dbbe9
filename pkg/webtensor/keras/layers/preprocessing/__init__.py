"""Preprocessing: layers that make numbers of what data come as, and vary images.

``numerical`` scales numbers and sorts them into bins; ``categorical`` encodes and hashes
categories, with ``encoding`` and ``hashes`` below it; ``lookup`` numbers words and integers by
vocabularies, ``text_vectorization`` whole texts. ``audio`` makes spectra of sound, and ``pipeline``
puts layers together. ``images`` brings images to a size and varies them; it is imported when one of
its layers is used.
"""

from webtensor.keras.layers.preprocessing.audio import (
    MelSpectrogram as MelSpectrogram,
    STFTSpectrogram as STFTSpectrogram,
)
from webtensor.keras.layers.preprocessing.categorical import (
    CategoryEncoding as CategoryEncoding,
    HashedCrossing as HashedCrossing,
    Hashing as Hashing,
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
