"""Classifiers of one's own on top of a network that was trained on many examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from webtensor.arguments import check_choice
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike, as_operand, keep
from webtensor.keras.callbacks import History
from webtensor.keras.layers import Dense, Flatten
from webtensor.keras.models import Model, Sequential
from webtensor.keras.optimizers import Adam
from webtensor.ops import expand_dims, stack, tensor

__all__ = ["Extractor", "TransferClassifier"]


class Extractor(Protocol):
    """Computes the features of examples, such as ``wt.vision.FeatureExtractor``."""

    def extract(self, example: Any, /) -> Tensor:
        """Return the features of an example, on the device."""

    async def extract_async(self, example: Any, /) -> Tensor:
        """Return what ``extract`` does, without blocking the page."""


class TransferClassifier:
    """A classifier that learns classes from a few examples of each.

    Examples are what the extractor takes: images for ``wt.vision``, spectrograms for ``wt.audio``.

    Args:
        extractor: computes what the head sees.
        class_names: the classes, at least two.
        head: a compiled model of Keras that takes batches of features and returns a probability for
            each class; by default a dense layer of ``hidden_units`` and one of probabilities.
        hidden_units: the units of the default head's first layer.
        learning_rate: the learning rate of the default head, which Adam trains.

    Raises:
        ValueError: there are fewer than two classes, or one twice.

    Example:
        With an extractor, and photographs in folders::

            classifier = TransferClassifier(extractor, ["cat", "dog"])
            for name in classifier.class_names:
                for path in Path(name).glob("*.jpg"):
                    classifier.add_example(path, name)
            classifier.fit(epochs=20)
            print(classifier.predict("photo.jpg"))
    """

    def __init__(
        self,
        extractor: Extractor,
        class_names: Sequence[str],
        *,
        head: Model | None = None,
        hidden_units: int = 100,
        learning_rate: float = 0.001,
    ) -> None:
        names = list(class_names)
        if len(names) < 2 or len(set(names)) < len(names):
            raise ValueError(
                f"TransferClassifier: class_names must be two or more, all different; got {names}"
            )
        self.extractor = extractor
        self.class_names = names
        #: The model that is trained; it can be saved as any model of Keras.
        self.head: Model = head or _default_head(len(names), hidden_units, learning_rate)
        self._features: list[Tensor] = []
        self._labels: list[int] = []

    def add_example(self, example: Any, class_name: str) -> None:
        """Add an example of a class, of which only the features are kept.

        Args:
            example: what the extractor takes.
            class_name: one of the classes.

        Raises:
            ImportError, OSError, TypeError: as of the extractor.
            ValueError: the class is unknown; as of the extractor.
        """
        label = self._label("add_example", class_name)
        self._add(self.extractor.extract(example), label)

    async def add_example_async(self, example: Any, class_name: str) -> None:
        """Add an example as ``add_example`` does, without blocking the page.

        Example:
            In a page::

                await classifier.add_example_async(document.querySelector("video"), "thumbs up")
        """
        label = self._label("add_example_async", class_name)
        self._add(await self.extractor.extract_async(example), label)

    def fit(self, epochs: int = 20, **options: Any) -> History:
        """Train the head on all examples.

        Args:
            epochs: how often each example is seen.
            **options: those of Keras's ``Model.fit``, such as ``batch_size`` and ``callbacks``;
                ``validation_split`` leaves out the last examples of each class.

        Returns:
            The losses and metrics of each epoch, as of Keras's ``Model.fit``.

        Raises:
            ValueError: a class has no examples.
        """
        return self.head.fit(*self._examples(), epochs=epochs, **{"verbose": 0, **options})

    async def fit_async(self, epochs: int = 20, **options: Any) -> History:
        """Train the head as ``fit`` does, without blocking the page.

        Example:
            In a page::

                history = await classifier.fit_async(epochs=20)
        """
        examples = self._examples()
        return await self.head.fit_async(*examples, epochs=epochs, **{"verbose": 0, **options})

    def predict(self, example: Any) -> dict[str, float]:
        """Return the probability of each class, the likeliest first.

        Args:
            example: what the extractor takes.

        Raises:
            ImportError, OSError, TypeError, ValueError: as of the extractor.
        """
        features = expand_dims(self.extractor.extract(example), 0)
        return self._ranked(self.head(features).tolist())

    async def predict_async(self, example: Any) -> dict[str, float]:
        """Return what ``predict`` does, without blocking the page.

        Example:
            In a page::

                probabilities = await classifier.predict_async(document.querySelector("video"))
        """
        features = expand_dims(await self.extractor.extract_async(example), 0)
        return self._ranked(await self.head(features).array())

    def get_class_example_count(self) -> dict[str, int]:
        """Return how many examples each class has."""
        return {name: self._labels.count(label) for label, name in enumerate(self.class_names)}

    def clear_examples(self) -> None:
        """Forget the examples; what the head has learned stays."""
        self._features, self._labels = [], []

    def get_classifier_dataset(self) -> dict[str, Tensor]:
        """Return the features of the examples of each class that has some: (count, …).

        ``set_classifier_dataset`` takes them back, in this classifier or in another one with the
        same extractor.
        """
        return {
            name: stack(self._features_of(label), 0)
            for label, name in enumerate(self.class_names)
            if label in self._labels
        }

    def set_classifier_dataset(self, dataset: Mapping[str, TensorLike]) -> None:
        """Replace all examples.

        Args:
            dataset: the features of the examples of each class, (count, …), as of
                ``get_classifier_dataset``.

        Raises:
            ValueError: a class is unknown, or the shapes of its features are not those of others.
        """
        name = "set_classifier_dataset"
        rows = {
            self._label(name, class_name): as_operand(name, features, float32)
            for class_name, features in dataset.items()
        }
        shapes = {features.shape[1:] for features in rows.values()}
        if len(shapes) > 1 or any(not features.shape for features in rows.values()):
            raise ValueError(
                f"{name}: classes must have features (count, …) of one shape, but got "
                f"{[features.shape for features in rows.values()]}"
            )
        self.clear_examples()
        for label, features in rows.items():
            for index in range(features.shape[0]):
                self._add(features[index], label)

    def _features_of(self, label: int) -> list[Tensor]:
        pairs = zip(self._features, self._labels, strict=True)
        return [features for features, other in pairs if other == label]

    def _label(self, function: str, class_name: str) -> int:
        check_choice(function, "class_name", class_name, self.class_names)
        return self.class_names.index(class_name)

    def _add(self, features: Tensor, label: int) -> None:
        self._features.append(keep(features))
        self._labels.append(label)

    def _examples(self) -> tuple[Tensor, Tensor]:
        missing = [name for name, count in self.get_class_example_count().items() if not count]
        if missing:
            raise ValueError(f"fit: there are no examples of {', '.join(missing)}")
        # All classes are spread evenly, as a validation split takes the last examples.
        rows = sorted(
            ((index + 1) / len(features), label, features[index])
            for label, features in enumerate(map(self._features_of, range(len(self.class_names))))
            for index in range(len(features))
        )
        return stack([row[2] for row in rows], 0), tensor([row[1] for row in rows])

    def _ranked(self, rows: list[list[float]]) -> dict[str, float]:
        (probabilities,) = rows
        pairs = zip(self.class_names, probabilities, strict=True)
        return dict(sorted(pairs, key=lambda pair: -pair[1]))


def _default_head(classes: int, hidden_units: int, learning_rate: float) -> Model:
    layers = [
        Flatten(),
        Dense(hidden_units, activation="relu"),
        Dense(classes, activation="softmax"),
    ]
    head = Sequential(layers)
    head.compile(
        optimizer=Adam(learning_rate), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    return head
