"""What classifiers of one's own learn from: a network that was trained on many images.

``FeatureExtractor`` computes an inner node of a graph model, and ``TransferClassifier`` trains a
small head of Keras's layers on it: a few images of each class and a few seconds are enough.
"""

from __future__ import annotations

from difflib import get_close_matches

from webtensor.arguments import check_choice
from webtensor.engine import Tensor
from webtensor.graph import GraphModel
from webtensor.ops import add, expand_dims, mean, multiply, squeeze
from webtensor.ops.image import resize_bilinear
from webtensor.ready_made.transfer import TransferClassifier
from webtensor.vision.images import ImageLike, read_image, read_image_async
from webtensor.vision.model import VisionModel

__all__ = ["FeatureExtractor", "TransferClassifier"]


class FeatureExtractor(VisionModel):
    """The activations of an inner node of a graph model, as features of images.

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
        check_choice("FeatureExtractor", "pooling", pooling, ("avg", None))
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
