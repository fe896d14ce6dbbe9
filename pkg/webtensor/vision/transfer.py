"""Classifiers of one's own on top of a network that was trained on many images.

``FeatureExtractor`` computes an inner node of a graph model, and ``TransferClassifier`` trains a
small head of Keras's layers on it: a few images of each class and a few seconds are enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from webtensor.engine import Tensor, keep
from webtensor.graph import GraphModel
from webtensor.keras.callbacks import History
from webtensor.keras.layers import Dense, Flatten
from webtensor.keras.models import Model, Sequential
from webtensor.keras.optimizers import Adam
from webtensor.ops import add, expand_dims, mean, multiply, squeeze, stack, tensor
from webtensor.ops.image import resize_bilinear
from webtensor.vision.images import ImageLike, read_image, read_image_async
from webtensor.vision.model import VisionModel

__all__ = ["FeatureExtractor", "TransferClassifier"]


class FeatureExtractor(VisionModel):
    """What an inner node of a graph model says of images.

    Args:
        model: the graph model, with an input (batch, height, width, 3).
        node: the name of the node, one of ``model.node_names``. Late nodes know objects, early
            ones edges and textures.
        input_size: the height and width that images are scaled to where the graph model leaves them
            open.
        value_range: what 0 and 255 become: -1 and 1 for most MobileNets, 0 and 1 for many others.
        pooling: ``"avg"`` for the mean over height and width of maps (1, height, width, channels);
            None for all elements.

    Raises:
        TypeError: ``model`` is no graph model.
        ValueError: it takes no images, or has no such node; ``pooling`` is something else.

    Example:
        With the files of a model in a folder::

            from webtensor.vision import FeatureExtractor

            extractor = FeatureExtractor.load("mobilenet/model.json", node="conv_preds/Relu6")
            features = extractor.extract("photo.jpg")
    """

    _expected = "an input (batch, height, width, 3)"

    def __init__(
        self,
        model: GraphModel,
        node: str,
        *,
        input_size: tuple[int, int] = (224, 224),
        value_range: tuple[float, float] = (-1.0, 1.0),
        pooling: str | None = "avg",
    ) -> None:
        super().__init__(model)
        _, height, width, channels = self._input_shape
        if channels != 3:
            raise self._misfit()
        if node.partition(":")[0] not in model.node_names:
            close = get_close_matches(node, model.node_names, 1)
            raise ValueError(
                f"FeatureExtractor: there is no node {node!r}; "
                + (f"did you mean {close[0]!r}? " if close else "")
                + "model.node_names lists the nodes"
            )
        if pooling not in ("avg", None):
            raise ValueError(f"FeatureExtractor: pooling must be 'avg' or None, got {pooling!r}")
        self._node = node
        self._size = height or input_size[0], width or input_size[1]
        self._low, self._high = value_range
        self._pools = pooling == "avg"

    def extract(self, image: ImageLike) -> Tensor:
        """Return the activation of the node for an image, on the device.

        Args:
            image: as of ``wt.vision.read_image``.

        Returns:
            The activation without the axis of the batch; (channels,) if it was pooled.

        Raises:
            ImportError, OSError, TypeError, ValueError: as of ``wt.vision.read_image``.
        """
        pixels, _ = read_image(image)
        return self._features(self.model.execute(self._inputs(pixels), self._node))

    async def extract_async(self, image: ImageLike) -> Tensor:
        """Return what ``extract`` does, without blocking the page.

        Example:
            In a page::

                features = await extractor.extract_async(document.querySelector("video"))
        """
        pixels, _ = await read_image_async(image)
        return self._features(await self.model.execute_async(self._inputs(pixels), self._node))

    def _inputs(self, pixels: Tensor) -> Tensor:
        scaled = resize_bilinear(expand_dims(pixels, 0), self._size)
        return add(multiply(scaled, (self._high - self._low) / 255), self._low)

    def _features(self, activation: Tensor | list[Tensor]) -> Tensor:
        features = activation if isinstance(activation, Tensor) else activation[0]
        if self._pools and len(features.shape) == 4:
            features = mean(features, (1, 2))
        return squeeze(features, 0)


class TransferClassifier:
    """A classifier that learns classes of images from a few examples of each.

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
        extractor: FeatureExtractor,
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

    def add_example(self, image: ImageLike, class_name: str) -> None:
        """Add an image of a class, of which only the features are kept.

        Args:
            image: as of ``wt.vision.read_image``.
            class_name: one of the classes.

        Raises:
            ImportError, OSError, TypeError: as of ``wt.vision.read_image``.
            ValueError: the class is unknown; as of ``wt.vision.read_image``.
        """
        label = self._label("add_example", class_name)
        self._add(self.extractor.extract(image), label)

    async def add_example_async(self, image: ImageLike, class_name: str) -> None:
        """Add an image as ``add_example`` does, without blocking the page.

        Example:
            In a page::

                await classifier.add_example_async(document.querySelector("video"), "thumbs up")
        """
        label = self._label("add_example_async", class_name)
        self._add(await self.extractor.extract_async(image), label)

    def fit(self, epochs: int = 20, **options: Any) -> History:
        """Train the head on all examples.

        Args:
            epochs: how often each example is seen.
            **options: those of Keras's ``Model.fit``, such as ``batch_size`` and ``callbacks``.

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

    def predict(self, image: ImageLike) -> dict[str, float]:
        """Return the probability of each class, the likeliest first.

        Args:
            image: as of ``wt.vision.read_image``.

        Raises:
            ImportError, OSError, TypeError, ValueError: as of ``wt.vision.read_image``.
        """
        features = expand_dims(self.extractor.extract(image), 0)
        return self._ranked(self.head(features).tolist())

    async def predict_async(self, image: ImageLike) -> dict[str, float]:
        """Return what ``predict`` does, without blocking the page.

        Example:
            In a page::

                probabilities = await classifier.predict_async(document.querySelector("video"))
        """
        features = expand_dims(await self.extractor.extract_async(image), 0)
        return self._ranked(await self.head(features).array())

    def get_class_example_count(self) -> dict[str, int]:
        """Return how many examples each class has."""
        return {name: self._labels.count(label) for label, name in enumerate(self.class_names)}

    def clear_examples(self) -> None:
        """Forget the examples; what the head has learned stays."""
        self._features, self._labels = [], []

    def _label(self, function: str, class_name: str) -> int:
        if class_name not in self.class_names:
            raise ValueError(
                f"{function}: class_name must be one of {self.class_names}, but got {class_name!r}"
            )
        return self.class_names.index(class_name)

    def _add(self, features: Tensor, label: int) -> None:
        self._features.append(keep(features))
        self._labels.append(label)

    def _examples(self) -> tuple[Tensor, Tensor]:
        missing = [name for name, count in self.get_class_example_count().items() if not count]
        if missing:
            raise ValueError(f"fit: there are no examples of {', '.join(missing)}")
        return stack(self._features, 0), tensor(self._labels)

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
