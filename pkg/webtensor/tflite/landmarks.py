"""The custom operators by which MediaPipe's face mesh with attention refines eyes and lips.

A crop is a small image of the surroundings of some landmarks. Its matrix, of shape (1, 4, 4), maps
x and y of a point in the crop to x and y in the image. One operator makes the matrix, one samples
the crop of the features, and one maps landmarks that a network predicts in the crop to the image.
These are the second versions of the operators (MediaPipe, ``mediapipe/util/tflite/operations``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.graph.operations.rows import Attribute

__all__ = ["ROWS"]


class _Size:
    """The size of the crop, as a node has it."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.height, self.width = int(options["output_height"]), int(options["output_width"])
        if self.height < 1 or self.width < 1:
            raise ValueError("output_height and output_width must be positive")


class _Crop(_Size):
    """The options of a node that makes the matrix of a crop.

    Attributes:
        landmarks: the indices of two landmarks on a line, then of those that the crop must show.
        rotation: that of the line from the first to the second in the crop, in radians.
        scales: the factors from the box of the landmarks to the crop, along x and y.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(options)
        ends = [options["left_rotation_idx"], options["right_rotation_idx"]]
        self.landmarks = [int(index) for index in (*ends, *options["subset_idxs"])]
        self.rotation = float(options["target_rotation_radians"])
        self.scales = float(options["scale_x"]), float(options["scale_y"])
        if len(self.landmarks) < 3 or min(self.landmarks) < 0 or min(self.scales) <= 0:
            raise ValueError("there must be landmarks, and scale_x and scale_y must be positive")


def crop_matrix(landmarks: Tensor, crop: _Crop) -> Tensor:
    """Return the matrix of the crop around some landmarks, which have shape (1, count, 3)."""
    count = landmarks.shape[1]
    if max(crop.landmarks) >= count:
        raise ValueError(f"no landmark {max(crop.landmarks)} in a tensor of {landmarks.shape}")
    x, y = ops.split(ops.slice(landmarks, (0, 0, 0), (1, count, 2)), 2, 2)
    x, y = (ops.gather(ops.flatten(column), crop.landmarks) for column in (x, y))
    rotation = crop.rotation - ops.atan2(y[1] - y[0], x[1] - x[0])
    sine, cosine = ops.sin(rotation), ops.cos(rotation)
    x, y = x[2:], y[2:]
    middle_x, width = _middle_and_size(x * cosine - y * sine)
    middle_y, height = _middle_and_size(x * sine + y * cosine)
    across = width * (crop.scales[0] / crop.width)
    down = height * (crop.scales[1] / crop.height)
    rows = [
        (cosine * across, sine * down, middle_x * cosine + middle_y * sine),
        (-sine * across, cosine * down, middle_y * cosine - middle_x * sine),
    ]
    zero, one = ops.zeros(()), ops.ones(())
    elements = []
    for of_x, of_y, middle in rows:
        shift = middle - of_x * (crop.width / 2) - of_y * (crop.height / 2)
        elements += [of_x, of_y, zero, shift]
    elements += [zero, zero, one, zero, zero, zero, zero, one]
    return ops.reshape(ops.stack(elements), (1, 4, 4))


def _middle_and_size(coordinates: Tensor) -> tuple[Tensor, Tensor]:
    """Return the middle and the size of the interval of coordinates along an axis."""
    minimum, maximum = ops.min(coordinates), ops.max(coordinates)
    return (minimum + maximum) * 0.5, maximum - minimum


def cropped(features: Tensor, matrix: Tensor, size: _Size) -> Tensor:
    """Return the crop of features that a matrix describes, with zeros outside of them."""
    if features.shape[0] != 1 or matrix.shape != (1, 4, 4):
        raise ValueError(
            "features must be one image and the matrix (1, 4, 4), but their shapes are "
            f"{features.shape} and {matrix.shape}"
        )
    rows = ops.reshape(matrix, (4, 4))
    # The matrix takes corners of pixels to corners; their centers are half a pixel further.
    of_x, of_y, shift = (ops.slice(rows, (0, column), (2, 1)) for column in (0, 1, 3))
    shift = shift + (of_x + of_y - 1.0) * 0.5
    centers = ops.reshape(ops.concat([of_x, of_y, shift], 1), (1, 6))
    transform = ops.concat([centers, ops.zeros((1, 2))], 1)
    image = ops.image.transform(
        features, transform, "bilinear", output_shape=(size.height, size.width)
    )
    xs = ops.reshape(ops.arange(size.width, dtype="float32"), (1, -1, 1))
    ys = ops.reshape(ops.arange(size.height, dtype="float32"), (-1, 1, 1))
    of_x, of_y, shift = (ops.flatten(column) for column in (of_x, of_y, shift))
    positions = xs * of_x + ys * of_y + shift
    last = ops.tensor([features.shape[2] - 1.0, features.shape[1] - 1.0])
    inside = ops.all(ops.logical_and(positions >= 0.0, positions <= last), 2, keepdims=True)
    return ops.where(ops.expand_dims(inside, 0), image, 0.0)


def mapped_landmarks(landmarks: Tensor, matrix: Tensor) -> Tensor:
    """Map landmarks of shape (1, count, 2 or 3) by a matrix; their depths stay."""
    batch, count, dimensions = landmarks.shape if len(landmarks.shape) == 3 else (0, 0, 0)
    if batch != 1 or dimensions not in (2, 3) or matrix.shape != (1, 4, 4):
        raise ValueError(
            "landmarks must be (1, count, 2 or 3) and the matrix (1, 4, 4), but their shapes are "
            f"{landmarks.shape} and {matrix.shape}"
        )
    rows = ops.reshape(matrix, (4, 4))
    turn, shift = ops.slice(rows, (0, 0), (2, 2)), ops.slice(rows, (0, 3), (2, 1))
    points = ops.reshape(landmarks, (count, dimensions))
    flat = ops.slice(points, (0, 0), (count, 2))
    moved = ops.matmul(flat, turn, transpose_b=True) + ops.reshape(shift, (2,))
    depths = ops.slice(points, (0, 2), (count, dimensions - 2))
    return ops.reshape(ops.concat([moved, depths], 1), landmarks.shape)


ROWS = {
    "Landmarks2TransformMatrix": Row(
        crop_matrix, 0, crop=Attribute(lambda node: _Crop(node.attributes))
    ),
    "TransformLandmarks": Row(mapped_landmarks, 0, 1),
    "TransformTensorBilinear": Row(
        cropped, 0, 1, size=Attribute(lambda node: _Size(node.attributes))
    ),
}
