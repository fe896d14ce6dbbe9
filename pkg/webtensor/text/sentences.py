"""What models of sentences share: they take the indices of pieces, as a sparse matrix."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.dtypes import int32
from webtensor.engine import Tensor
from webtensor.graph import GraphModel
from webtensor.ops import tensor
from webtensor.ready_made.model import ReadyMadeModel
from webtensor.text.tokenizer import SentencePieceTokenizer

__all__ = ["SentenceModel", "Sentences"]

#: One sentence, or several.
Sentences = str | Sequence[str]


class SentenceModel(ReadyMadeModel):
    """A graph model for sentences.

    It takes the pieces of all sentences: their indices in the vocabulary (count,), and where they
    are, the number of the sentence and of the place in it, (count, 2).

    Args:
        model: the graph model.
        tokenizer: parts sentences into pieces.

    Raises:
        TypeError: ``model`` is no graph model, or ``tokenizer`` no tokenizer.
        ValueError: the model has other inputs.
    """

    def __init__(self, model: GraphModel, tokenizer: SentencePieceTokenizer) -> None:
        super().__init__(model)
        if not isinstance(tokenizer, SentencePieceTokenizer):
            raise TypeError(
                f"{type(self).__name__}: tokenizer must be a SentencePieceTokenizer, but got "
                f"{type(tokenizer).__name__}"
            )
        self.tokenizer = tokenizer
        names = {len(value.shape or ()): value.name for value in model.inputs}
        if len(model.inputs) != 2 or {*names} != {1, 2}:
            raise self._misfit()
        self._values_name, self._indices_name = names[1], names[2]

    def _inputs(self, function: str, sentences: Sentences) -> dict[str, Tensor]:
        """Return the inputs of the graph model.

        Raises:
            TypeError: a sentence is no text.
            ValueError: there are no sentences, or one has no pieces.
        """
        texts = [sentences] if isinstance(sentences, str) else list(sentences)
        if not texts:
            raise ValueError(f"{function}: there are no sentences")
        rows = [self.tokenizer.encode(text) for text in texts]
        if [] in rows:
            raise ValueError(f"{function}: sentence {rows.index([])} is empty")
        indices = [[number, index] for number, row in enumerate(rows) for index in range(len(row))]
        values = [piece for row in rows for piece in row]
        return {
            self._indices_name: tensor(indices, dtype=int32),
            self._values_name: tensor(values, dtype=int32),
        }
