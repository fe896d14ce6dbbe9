"""Ready-made models of text: a tokenizer, vectors for sentences, and a classifier of toxic ones.

``tokenizer`` parts text into pieces of a vocabulary, which ``vocabularies`` reads from files and
``normalization`` prepares text for. ``sentence_encoder`` and ``toxicity`` have a model each;
``sentences`` has what they share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

__all__ = [
    "LabelPrediction",
    "SentencePieceTokenizer",
    "SentencePrediction",
    "ToxicityClassifier",
    "UniversalSentenceEncoder",
]

if TYPE_CHECKING:
    from webtensor.text.sentence_encoder import UniversalSentenceEncoder
    from webtensor.text.tokenizer import SentencePieceTokenizer
    from webtensor.text.toxicity import (
        LabelPrediction,
        SentencePrediction,
        ToxicityClassifier,
    )
else:
    __getattr__, __dir__ = lazy_contents(
        __name__,
        contents(
            """
            sentence_encoder: UniversalSentenceEncoder
            tokenizer: SentencePieceTokenizer
            toxicity: LabelPrediction SentencePrediction ToxicityClassifier
            """
        ),
    )
