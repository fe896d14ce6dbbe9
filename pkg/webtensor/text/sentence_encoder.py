"""The Universal Sentence Encoder: sentences as vectors (Cer et al. 2018)."""

from __future__ import annotations

from webtensor.engine import Tensor
from webtensor.graph import GraphModel
from webtensor.ready_made.model import listed
from webtensor.text.sentences import SentenceModel, Sentences
from webtensor.text.tokenizer import SentencePieceTokenizer

__all__ = ["UniversalSentenceEncoder"]


class UniversalSentenceEncoder(SentenceModel):
    """The Universal Sentence Encoder: sentences of similar meaning get similar vectors.

    Args:
        model: the graph model; ``UniversalSentenceEncoder.load`` loads it from its files.
        tokenizer: parts sentences into pieces of the vocabulary that the model was trained with.

    Raises:
        TypeError: ``model`` is no graph model, or ``tokenizer`` no tokenizer.
        ValueError: it is another graph model.

    Example:
        With the files of the model in a folder::

            from webtensor.text import SentencePieceTokenizer, UniversalSentenceEncoder

            tokenizer = SentencePieceTokenizer.load("use/vocab.json")
            encoder = UniversalSentenceEncoder.load("use/model.json", tokenizer=tokenizer)
            vectors = encoder.embed(["How old are you?", "What is your age?"])
            print(wt.matmul(vectors, vectors, transpose_b=True))
    """

    _expected = "inputs (count,) and (count, 2), and one output (sentences, size)"

    def __init__(self, model: GraphModel, tokenizer: SentencePieceTokenizer) -> None:
        super().__init__(model, tokenizer)
        if len(model.outputs) != 1:
            raise self._misfit()

    def embed(self, sentences: Sentences) -> Tensor:
        """Return a vector for each sentence, on the device.

        Args:
            sentences: a sentence, or several.

        Returns:
            float32 (sentences, size); the size is 512.

        Raises:
            TypeError: a sentence is no text.
            ValueError: there are no sentences, or one is empty.
        """
        return self._vectors(self.model.execute(self._inputs("embed", sentences)))

    async def embed_async(self, sentences: Sentences) -> Tensor:
        """Return what ``embed`` does, without blocking the page.

        Example:
            In a page::

                vectors = await encoder.embed_async("How old are you?")
        """
        inputs = self._inputs("embed_async", sentences)
        return self._vectors(await self.model.execute_async(inputs))

    def _vectors(self, outputs: Tensor | list[Tensor]) -> Tensor:
        (vectors,) = listed(outputs)
        if len(vectors.shape) != 2:
            raise self._misfit([vectors])
        return vectors
