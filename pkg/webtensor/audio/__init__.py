"""Ready-made models of sound: words that are spoken, and spectrograms.

``spectrograms`` computes what models take from samples, and ``speech_commands`` has the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

__all__ = [
    "BACKGROUND_NOISE",
    "UNKNOWN_WORD",
    "RecognizedWord",
    "SpeechCommands",
    "normalize_spectrogram",
    "spectrogram",
]

if TYPE_CHECKING:
    from webtensor.audio.spectrograms import normalize_spectrogram, spectrogram
    from webtensor.audio.speech_commands import (
        BACKGROUND_NOISE,
        UNKNOWN_WORD,
        RecognizedWord,
        SpeechCommands,
    )
else:
    __getattr__, __dir__ = lazy_contents(
        __name__,
        contents(
            """
            spectrograms: normalize_spectrogram spectrogram
            speech_commands: BACKGROUND_NOISE UNKNOWN_WORD RecognizedWord SpeechCommands
            """
        ),
    )
