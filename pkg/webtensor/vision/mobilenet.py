"""MobileNet: classes of images, by small networks in three versions (Howard et al. 2017)."""

from __future__ import annotations

from webtensor.arguments import as_positive_integer, check_choice
from webtensor.engine import Tensor
from webtensor.keras.layers import GlobalAveragePooling2D, Layer
from webtensor.ops import add, expand_dims, multiply, softmax
from webtensor.ops.image import resize_bilinear
from webtensor.ready_made.class_names import ClassNames, as_class_names
from webtensor.ready_made.classifier import AnyModel, Classifier
from webtensor.vision.images import ImageLike, read_image, read_image_async
from webtensor.vision.results import Classification

__all__ = ["MobileNet"]

#: The values that 0 and 255 become, by the version, as in ``keras.applications``.
_VALUE_RANGES = {1: (-1.0, 1.0), 2: (-1.0, 1.0), 3: (0.0, 255.0)}


class MobileNet(Classifier):
    """MobileNet: which of the 1000 classes of ImageNet, or of others, an image shows.

    Args:
        model: the network, a graph model or a model of Keras, with an input (batch, height, width,
            3) and an output (batch, classes). ``MobileNet.load`` loads it from its files.
        version: the version of the network, 1, 2 or 3, on which depends how pixels are scaled.
        class_names: the names of the classes: a list, or the path, the address or the bytes of a
            JSON file, such as Keras's ``imagenet_class_index.json``. Only ``classify`` needs them.
            Networks with one class more have the background as the first, which is left out.
        features: the layer or the node whose activation ``embed`` returns. By default it is the
            last global pooling of a model of Keras, and of the graph models that TensorFlow.js's
            package loads.
        input_size: the height and width that images are scaled to where the model leaves them open.
        value_range: what 0 and 255 become; by default what networks of ``keras.applications`` take.
            The graph models that TensorFlow.js's package loads take 0 and 1.
        from_logits: whether the output is logits rather than probabilities, as it is in those.

    Raises:
        ModelFormatError, OSError: the file with the names is malformed, or cannot be read.
        TypeError: ``model`` is no model, or ``class_names`` are no names.
        ValueError: it is another model, or there is no such version, layer or node.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> network = keras.applications.MobileNetV2(
        ...     (32, 32, 3), alpha=0.35, weights=None, classes=2
        ... )
        >>> model = wt.vision.MobileNet(network, version=2, class_names=["cat", "dog"])
        >>> sorted(guess.label for guess in model.classify(wt.zeros((48, 64, 3))))
        ['cat', 'dog']
        >>> model.embed(wt.zeros((48, 64, 3))).shape
        (1280,)
    """

    _expected = "an input (batch, height, width, 3) and an output (batch, classes)"
    _names_argument = "class_names"
    _feature_nodes = (
        "module_apply_default/MobilenetV1/Logits/global_pool",
        "module_apply_default/MobilenetV2/Logits/AvgPool",
    )

    def __init__(
        self,
        model: AnyModel,
        *,
        version: int,
        class_names: ClassNames | None = None,
        features: str | None = None,
        input_size: tuple[int, int] = (224, 224),
        value_range: tuple[float, float] | None = None,
        from_logits: bool = False,
    ) -> None:
        super().__init__(model, features)
        check_choice("MobileNet", "version", version, _VALUE_RANGES)
        _, height, width, channels = self._input_shape
        if channels != 3:
            raise self._misfit()
        self._size = height or input_size[0], width or input_size[1]
        self._low, self._high = value_range or _VALUE_RANGES[version]
        self._from_logits = from_logits
        #: The names of the classes; empty if there are none.
        self.class_names: list[str] = []
        if class_names is not None:
            self.class_names = as_class_names("MobileNet", "class_names", class_names)
        count = len(self.class_names)
        self._check_class_count([count, count + 1] if count else [])

    def classify(self, image: ImageLike, top: int = 3) -> list[Classification]:
        """Return the most probable classes of an image.

        Args:
            image: as of ``wt.vision.read_image``.
            top: how many classes are returned.

        Returns:
            The classes, the most probable first.

        Raises:
            ImportError, OSError, TypeError: as of ``wt.vision.read_image``.
            ValueError: ``top`` is not positive, or there are no names of classes; as of
                ``wt.vision.read_image``.
        """
        self._check_classify("classify", top)
        pixels, _ = read_image(image)
        return self._ranked(self._scaled(self._probabilities(self._batch(pixels))).tolist(), top)

    async def classify_async(self, image: ImageLike, top: int = 3) -> list[Classification]:
        """Return what ``classify`` does, without blocking the page.

        Example:
            In a page::

                classes = await model.classify_async(document.querySelector("img"))
        """
        self._check_classify("classify_async", top)
        pixels, _ = await read_image_async(image)
        output = await self._probabilities_async(self._batch(pixels))
        return self._ranked(await self._scaled(output).array(), top)

    def embed(self, image: ImageLike) -> Tensor:
        """Return the features of an image, on the device.

        Args:
            image: as of ``wt.vision.read_image``.

        Returns:
            float32 (size,).

        Raises:
            ImportError, OSError, TypeError: as of ``wt.vision.read_image``.
            ValueError: ``features`` is not given and has no default; as of
                ``wt.vision.read_image``.
        """
        pixels, _ = read_image(image)
        return self._embedding("embed", self._batch(pixels))

    async def embed_async(self, image: ImageLike) -> Tensor:
        """Return what ``embed`` does, without blocking the page.

        Example:
            In a page::

                features = await model.embed_async(document.querySelector("video"))
        """
        pixels, _ = await read_image_async(image)
        return await self._embedding_async("embed_async", self._batch(pixels))

    @classmethod
    def _is_feature_layer(cls, layer: Layer) -> bool:
        return isinstance(layer, GlobalAveragePooling2D)

    def _batch(self, pixels: Tensor) -> Tensor:
        scaled = expand_dims(pixels, 0)
        if pixels.shape[:2] != self._size:
            scaled = resize_bilinear(scaled, self._size, half_pixel_centers=True)
        return add(multiply(scaled, (self._high - self._low) / 255), self._low)

    def _scaled(self, output: Tensor) -> Tensor:
        """Return the probabilities of the classes that have names."""
        named = output[output.shape[0] - len(self.class_names) :]
        return softmax(named) if self._from_logits else named

    def _check_classify(self, function: str, top: int) -> None:
        as_positive_integer(function, "top", top)
        if not self.class_names:
            raise ValueError(f"{function}: the model has no class_names; pass them to MobileNet")

    def _ranked(self, probabilities: list[float], top: int) -> list[Classification]:
        classes = [
            Classification(label, index, probability)
            for index, (label, probability) in enumerate(
                zip(self.class_names, probabilities, strict=True)
            )
        ]
        return sorted(classes, key=lambda classification: -classification.probability)[:top]
