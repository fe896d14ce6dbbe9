"""A classifier that looks up the nearest of the examples that it was shown.

It learns in no time: examples are added, and nothing is trained. What it compares are usually not
images but what a network computes of them, as of ``FeatureExtractor``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, repeat

from webtensor.arguments import as_positive_integer
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike, as_operand, keep
from webtensor.ops import astype, concat, divide_no_nan, matmul, norm, reshape, topk
from webtensor.shapes import Shape

__all__ = ["KNNClassifier", "KNNPrediction", "Label"]

#: The name or the number of a class.
Label = str | int


@dataclass(frozen=True, slots=True)
class KNNPrediction:
    """A predicted class.

    Attributes:
        label: the class with most of the nearest examples; of several, the one added first.
        class_index: its number, in the order in which classes were first added.
        confidences: for each class, which part of the nearest examples is of it, from 0 to 1.
    """

    label: Label
    class_index: int
    confidences: dict[Label, float]


class KNNClassifier:
    """The k nearest neighbours (Cover and Hart 1967), by the cosine of the angle between vectors.

    The examples of each class are the rows of one matrix on the device, of length 1 each.

    Example:
        >>> import webtensor as wt
        >>> classifier = wt.vision.KNNClassifier()
        >>> for example in ([1.0, 0.0], [0.9, 0.1], [0.8, 0.0]):
        ...     classifier.add_example(example, "right")
        >>> classifier.add_example([0.0, 1.0], "up")
        >>> classifier.predict_class([0.7, 0.2])
        KNNPrediction(label='right', class_index=0, confidences={'right': 1.0, 'up': 0.0})
    """

    def __init__(self) -> None:
        self._matrices: dict[Label, Tensor] = {}
        self._class_indices: dict[Label, int] = {}
        #: The shape of the examples; None if only their size is fixed.
        self._example_shape: Shape | None = None
        #: The examples of all classes, which predictions need and changes make stale.
        self._all_examples: Tensor | None = None

    def add_example(self, example: TensorLike, label: Label) -> None:
        """Add an example of a class.

        Args:
            example: numbers of any shape, which is the same for all examples.
            label: the class.

        Raises:
            ValueError: the example has another shape than earlier ones.
        """
        operand = as_operand("add_example", example)
        row = self._row("add_example", "example", operand)
        self._example_shape = operand.shape
        rows = self._matrices.get(label)
        self._matrices[label] = keep(row if rows is None else concat([rows, row], 0))
        self._class_indices.setdefault(label, len(self._class_indices))
        self._all_examples = None

    def predict_class(self, x: TensorLike, k: int = 3) -> KNNPrediction:
        """Predict a class from the nearest examples.

        Args:
            x: numbers of the shape of the examples.
            k: how many of the nearest examples count.

        Raises:
            TypeError: ``k`` is no integer.
            ValueError: there are no examples, ``x`` has another shape than they, or ``k`` is not
                positive.
        """
        return self._prediction(self._nearest("predict_class", x, k).tolist())

    async def predict_class_async(self, x: TensorLike, k: int = 3) -> KNNPrediction:
        """Predict a class as ``predict_class`` does, without blocking the page.

        Example:
            In a page::

                prediction = await classifier.predict_class_async(features)
        """
        return self._prediction(await self._nearest("predict_class_async", x, k).array())

    def clear_class(self, label: Label) -> None:
        """Forget the examples of a class.

        Raises:
            ValueError: there is no such class.
        """
        if label not in self._matrices:
            raise ValueError(
                f"clear_class: there is no class {label!r}; there are {list(self._matrices)}"
            )
        del self._matrices[label]
        self._all_examples = None
        if not self._matrices:
            self._example_shape = None

    def clear_all_classes(self) -> None:
        """Forget all examples."""
        self.set_classifier_dataset({})

    def get_num_classes(self) -> int:
        """Return how many classes have examples."""
        return len(self._matrices)

    def get_class_example_count(self) -> dict[Label, int]:
        """Return how many examples each class has."""
        return {label: matrix.shape[0] for label, matrix in self._matrices.items()}

    def get_classifier_dataset(self) -> dict[Label, Tensor]:
        """Return the examples of each class: float32 (count, size), whose rows have length 1.

        ``set_classifier_dataset`` takes them back, in this classifier or in another.
        """
        return dict(self._matrices)

    def set_classifier_dataset(self, dataset: Mapping[Label, TensorLike]) -> None:
        """Replace all examples.

        Args:
            dataset: the examples of each class as rows of length 1, (count, size), as of
                ``get_classifier_dataset``.

        Raises:
            ValueError: a class has no examples, or the shapes of classes do not fit.

        Example:
            >>> import webtensor as wt
            >>> classifier = wt.vision.KNNClassifier()
            >>> classifier.set_classifier_dataset({"right": [[1.0, 0.0]], "up": [[0.0, 1.0]]})
            >>> classifier.predict_class([3.0, 1.0], k=1).label
            'right'
        """
        name = "set_classifier_dataset"
        matrices = {label: as_operand(name, rows, float32) for label, rows in dataset.items()}
        shapes = {label: matrix.shape for label, matrix in matrices.items()}
        if any(len(shape) != 2 or 0 in shape for shape in shapes.values()) or (
            len({shape[1] for shape in shapes.values()}) > 1
        ):
            raise ValueError(
                f"{name}: classes must have shapes (count, size) of one size, but got {shapes}"
            )
        self._matrices = {label: keep(matrix) for label, matrix in matrices.items()}
        self._class_indices = {label: index for index, label in enumerate(matrices)}
        self._example_shape = None
        self._all_examples = None

    def dispose(self) -> None:
        """Forget all examples; their memory goes back if nobody else has them."""
        self.clear_all_classes()

    def _row(self, function: str, argument: str, value: TensorLike) -> Tensor:
        """Return numbers as a row of length 1; zeros stay zeros."""
        operand = astype(as_operand(function, value), float32)
        row = reshape(operand, (1, -1))
        shape, example_shape = operand.shape, self._example_shape
        if example_shape is None and self._matrices:
            shape, example_shape = row.shape[1:], next(iter(self._matrices.values())).shape[1:]
        if example_shape is not None and shape != example_shape:
            raise ValueError(
                f"{function}: {argument} has shape {operand.shape}, but the examples have "
                f"{example_shape}"
            )
        return divide_no_nan(row, norm(row))

    def _nearest(self, function: str, x: TensorLike, k: int) -> Tensor:
        """Return the indices of the nearest examples among those of all classes."""
        k = as_positive_integer(function, "k", k)
        if not self._matrices:
            raise ValueError(f"{function}: there are no examples yet; add_example adds them")
        row = self._row(function, "x", x)
        if self._all_examples is None:
            self._all_examples = keep(concat(list(self._matrices.values()), 0))
        similarities = reshape(matmul(self._all_examples, row, transpose_b=True), (-1,))
        return topk(similarities, min(k, similarities.size)).indices

    def _prediction(self, nearest: list[int]) -> KNNPrediction:
        counts = self.get_class_example_count()
        labels = list(chain.from_iterable(repeat(label, count) for label, count in counts.items()))
        votes = Counter(labels[index] for index in nearest)
        confidences = {label: votes[label] / len(nearest) for label in counts}
        label = max(confidences, key=confidences.__getitem__)
        return KNNPrediction(label, self._class_indices[label], confidences)
