"""Preprocessing of images: sizes. ``ImageLayer`` is what layers for images share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.preprocessing.resampling import (
    INTERPOLATIONS,
    cropped_to_ratio,
    padded_to_ratio,
    resized,
)
from webtensor.keras.layouts import as_data_format

__all__ = ["CenterCrop", "ImageLayer", "Resizing"]


class ImageLayer(Layer):
    """A layer for images, one or a batch, or for a dictionary with them.

    The dictionary has "images", and may have "labels", which stay, and "segmentation_masks", which
    are changed as the images are. What is random about a call is its transformation.
    """

    def __init__(
        self, data_format: str | None = None, bounding_box_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.data_format = as_data_format(type(self).__name__, data_format)
        self.bounding_box_format = bounding_box_format

    # -- what layers define --------------------------------------------------------------------

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw what a call will do to the images."""
        return None

    def transform_images(
        self, images: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Change a batch of images."""
        raise NotImplementedError

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Change masks as the images are changed."""
        return self.transform_images(segmentation_masks, transformation, training)

    def transform_labels(
        self, labels: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Return labels as they are."""
        return labels

    # -- calls ---------------------------------------------------------------------------------

    def call(self, data: Any, training: bool | None = True) -> Any:
        """Change the images."""
        transformation = self.get_random_transformation(data, training)
        if not isinstance(data, dict):
            return self._batched(self.transform_images, data, transformation, training)
        if "bounding_boxes" in data:
            raise ValueError(
                f"{type(self).__name__}: bounding boxes are not supported; leave out "
                "'bounding_boxes'"
            )
        made = dict(data)
        for key, transform in (
            ("images", self.transform_images),
            ("segmentation_masks", self.transform_segmentation_masks),
        ):
            if key in made:
                held = wt.asarray(made[key])
                made[key] = self._batched(transform, held, transformation, training)
        if "labels" in made:
            made["labels"] = self.transform_labels(made["labels"], transformation, training)
        return made

    def _batched(self, transform: Callable[..., Any], images: Tensor, *args: Any) -> Any:
        """Change one image as a batch of one."""
        if len(images.shape) == 4:
            return transform(images, *args)
        self._check_rank(images.shape)
        return wt.squeeze(transform(wt.expand_dims(images, 0), *args), 0)

    def _check_rank(self, shape: Any) -> None:
        if len(shape) not in (3, 4):
            raise ValueError(
                f"{type(self).__name__}: images must have rank 3 or 4, but their shape is "
                f"{tuple(shape)}"
            )

    # -- lengths -------------------------------------------------------------------------------

    def _axes(self) -> tuple[int, int]:
        """The axes of height and width."""
        return (-2, -1) if self.data_format == "channels_first" else (-3, -2)

    def _size(self, data: Any) -> tuple[int, int, int]:
        """Number, height and width of images."""
        shape = (data["images"] if isinstance(data, dict) else data).shape
        self._check_rank(shape)
        down, across = self._axes()
        return shape[0] if len(shape) == 4 else 1, shape[down], shape[across]

    def _with_size(self, input_shape: Any, size: tuple[Any, Any]) -> tuple[Any, ...]:
        """A shape with another height and width."""
        self._check_rank(input_shape)
        lengths = list(input_shape)
        for axis, length in zip(self._axes(), size, strict=True):
            lengths[axis] = length
        return tuple(lengths)

    def _in_order(self, compute: Callable[[Tensor], Tensor], images: Tensor) -> Tensor:
        """Call a function that has the channels last."""
        if self.data_format == "channels_last":
            return compute(images)
        return wt.permute_dims(compute(wt.permute_dims(images, (0, 2, 3, 1))), (0, 3, 1, 2))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        config = {**super().get_config(), "data_format": self.data_format}
        if self.bounding_box_format is not None:
            config["bounding_box_format"] = self.bounding_box_format
        return config


class Resizing(ImageLayer):
    """Scales images to a height and a width.

    ``interpolation`` is "bilinear", "nearest", "bicubic", "lanczos3" or "lanczos5".
    ``crop_to_aspect_ratio`` keeps the proportions of what is in the images, and leaves out what is
    at their edges; ``pad_to_aspect_ratio`` keeps all, and adds margins of ``fill_value``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.Resizing(1, 2)(wt.reshape(wt.arange(8.0), (1, 2, 4, 1))).flatten().tolist()
        [2.5, 4.5]
    """

    def __init__(
        self,
        height: int,
        width: int,
        interpolation: str = "bilinear",
        crop_to_aspect_ratio: bool = False,
        pad_to_aspect_ratio: bool = False,
        fill_mode: str = "constant",
        fill_value: float = 0.0,
        antialias: bool = False,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.height, self.width = _lengths("Resizing", height, width)
        if interpolation not in INTERPOLATIONS:
            raise ValueError(
                f"Resizing: interpolation must be one of {', '.join(INTERPOLATIONS)}, but got "
                f"{interpolation!r}"
            )
        if crop_to_aspect_ratio and pad_to_aspect_ratio:
            raise ValueError(
                "Resizing: crop_to_aspect_ratio and pad_to_aspect_ratio exclude each other"
            )
        if fill_mode != "constant":
            raise ValueError(f"Resizing: fill_mode must be 'constant', but got {fill_mode!r}")
        self.interpolation, self.antialias = interpolation, bool(antialias)
        self.crop_to_aspect_ratio = crop_to_aspect_ratio
        self.pad_to_aspect_ratio = pad_to_aspect_ratio
        self.fill_mode, self.fill_value = fill_mode, fill_value

    def transform_images(
        self, images: Any, transformation: Any = None, training: bool | None = True
    ) -> Any:
        """Scale a batch of images."""
        return self._in_order(lambda x: self._resized(x, self.interpolation), images)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any = None, training: bool | None = True
    ) -> Any:
        """Scale masks, taking the nearest pixel."""
        return self._in_order(lambda x: self._resized(x, "nearest"), segmentation_masks)

    def _resized(self, images: Tensor, interpolation: str) -> Tensor:
        size = (self.height, self.width)
        if self.crop_to_aspect_ratio:
            images = cropped_to_ratio(images, size)
        elif self.pad_to_aspect_ratio:
            images = padded_to_ratio(images, size, self.fill_value)
        return resized(images, size, interpolation, self.antialias)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with the other height and width."""
        return self._with_size(input_shape, (self.height, self.width))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {
            **super().get_config(),
            "height": self.height,
            "width": self.width,
            "interpolation": self.interpolation,
            "crop_to_aspect_ratio": self.crop_to_aspect_ratio,
            "pad_to_aspect_ratio": self.pad_to_aspect_ratio,
            "fill_mode": self.fill_mode,
            "fill_value": self.fill_value,
            "antialias": self.antialias,
        }


class CenterCrop(ImageLayer):
    """The middle of images; smaller ones are scaled up, keeping the proportions.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> x = wt.reshape(wt.arange(16.0), (1, 4, 4, 1))
        >>> keras.layers.CenterCrop(2, 2)(x).flatten().tolist()
        [5.0, 6.0, 9.0, 10.0]
    """

    def __init__(
        self, height: int, width: int, data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.height, self.width = _lengths("CenterCrop", height, width)

    def transform_images(
        self, images: Any, transformation: Any = None, training: bool | None = True
    ) -> Any:
        """Crop a batch of images."""
        return self._in_order(self._cropped, wt.astype(images, self.compute_dtype, copy=False))

    def _cropped(self, images: Tensor) -> Tensor:
        batch, height, width, channels = images.shape
        size = (self.height, self.width)
        if height >= self.height and width >= self.width:
            begin = (0, (height - self.height) // 2, (width - self.width) // 2, 0)
            return wt.slice(images, begin, (batch, *size, channels))
        return resized(cropped_to_ratio(images, size), size, "bilinear", False)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with the other height and width."""
        return self._with_size(input_shape, (self.height, self.width))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {**super().get_config(), "height": self.height, "width": self.width}


def _lengths(kind: str, height: Any, width: Any) -> tuple[int, int]:
    """Validate a height and a width."""
    for name, length in (("height", height), ("width", width)):
        if not isinstance(length, int) or length <= 0:
            raise ValueError(f"{kind}: {name} must be a positive integer, but got {length!r}")
    return height, width
