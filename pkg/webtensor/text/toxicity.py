"""A classifier of toxic sentences, on top of the Universal Sentence Encoder.

The graph model has an output (sentences, 2) for each label, whose name begins with the label: the
probabilities that it does not apply, and that it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webtensor.arguments import as_fraction
from webtensor.engine import Tensor
from webtensor.graph import GraphModel
from webtensor.ops import stack
from webtensor.ready_made.model import listed
from webtensor.text.sentences import SentenceModel, Sentences
from webtensor.text.tokenizer import SentencePieceTokenizer

__all__ = ["LabelPrediction", "SentencePrediction", "ToxicityClassifier"]


@dataclass(frozen=True, slots=True)
class SentencePrediction:
    """Whether a label applies to a sentence.

    Attributes:
        probabilities: that it does not apply, and that it does.
        match: whether it applies; None if neither probability is above the threshold.
    """

    probabilities: tuple[float, float]
    match: bool | None


@dataclass(frozen=True, slots=True)
class LabelPrediction:
    """To which sentences a label applies.

    Attributes:
        label: the label, such as ``"insult"``.
        results: the prediction for each sentence.
    """

    label: str
    results: tuple[SentencePrediction, ...]


class ToxicityClassifier(SentenceModel):
    """Finds toxic sentences: insults, threats, obscenities, and more.

    Args:
        model: the graph model; ``ToxicityClassifier.load`` loads it from its files.
        tokenizer: parts sentences into pieces of the vocabulary of the Universal Sentence Encoder.
        threshold: the probability above which a prediction counts.
        labels: the labels that are predicted; by default all that the model has.

    Attributes:
        labels: the labels that are predicted, in the order of the model's outputs.

    Raises:
        TypeError: ``model`` is no graph model, or ``tokenizer`` no tokenizer.
        ValueError: it is another graph model; the threshold is not from 0 to 1; a label is unknown.

    Example:
        With the files of the models in folders::

            from webtensor.text import SentencePieceTokenizer, ToxicityClassifier

            tokenizer = SentencePieceTokenizer.load("use/vocab.json")
            classifier = ToxicityClassifier.load(
                "toxicity/model.json", tokenizer=tokenizer, threshold=0.9, labels=["insult"]
            )
            (insult,) = classifier.classify(["we are dudes on computers, moron"])
            print(insult.results[0].match)
    """

    _expected = "inputs (count,) and (count, 2), and an output (sentences, 2) for each label"

    def __init__(
        self,
        model: GraphModel,
        tokenizer: SentencePieceTokenizer,
        *,
        threshold: float = 0.85,
        labels: Sequence[str] | None = None,
    ) -> None:
        super().__init__(model, tokenizer)
        self._threshold = as_fraction("ToxicityClassifier", "threshold", threshold)
        names = {name.partition("/")[0].partition(":")[0]: name for name in model.output_nodes}
        unknown = [label for label in labels or () if label not in names]
        if unknown:
            raise ValueError(
                f"ToxicityClassifier: there is no label {unknown[0]!r}; there are {[*names]}"
            )
        self._outputs = {
            label: name for label, name in names.items() if not labels or label in labels
        }
        self.labels = list(self._outputs)

    def classify(self, sentences: Sentences) -> list[LabelPrediction]:
        """Predict which labels apply to sentences.

        Args:
            sentences: a sentence, or several.

        Returns:
            A prediction for each label.

        Raises:
            TypeError: a sentence is no text.
            ValueError: there are no sentences, or one is empty.
        """
        inputs = self._inputs("classify", sentences)
        outputs = self.model.execute(inputs, list(self._outputs.values()))
        return self._predictions(self._probabilities(outputs).tolist())

    async def classify_async(self, sentences: Sentences) -> list[LabelPrediction]:
        """Predict what ``classify`` does, without blocking the page.

        Example:
            In a page::

                predictions = await classifier.classify_async(["you are great"])
        """
        inputs = self._inputs("classify_async", sentences)
        outputs = await self.model.execute_async(inputs, list(self._outputs.values()))
        return self._predictions(await self._probabilities(outputs).array())

    def _probabilities(self, outputs: Tensor | list[Tensor]) -> Tensor:
        """Return the probabilities as one tensor (labels, sentences, 2)."""
        tensors = listed(outputs)
        if any(len(value.shape) != 2 or value.shape[1] != 2 for value in tensors):
            raise self._misfit()
        return stack(tensors, 0)

    def _predictions(self, probabilities: list[list[list[float]]]) -> list[LabelPrediction]:
        return [
            LabelPrediction(label, tuple(self._prediction(*pair) for pair in pairs))
            for label, pairs in zip(self.labels, probabilities, strict=True)
        ]

    def _prediction(self, no: float, yes: float) -> SentencePrediction:
        match = yes > no if max(no, yes) > self._threshold else None
        return SentencePrediction((no, yes), match)
