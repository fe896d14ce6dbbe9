"""Preprocessing layers: numbers, categories, texts, audio and images.

``numerical`` scales numbers and sorts them into bins. ``categorical`` encodes and hashes
categories, ``lookup`` returns the indices of words and integers in vocabularies, and
``text_vectorization`` those of the words of texts; ``encoding`` and ``hashes`` have what these
share. ``audio`` computes spectrograms, and ``pipeline`` calls layers one after the other.
``images`` resizes and varies images; it is imported when one of its layers is used.
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
