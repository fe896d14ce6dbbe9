"""Intersection over union of classes, such as the classes of pixels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import as_floats
from webtensor.keras.metrics.base import Metric, add_to
from webtensor.keras.settings import epsilon
from webtensor.keras.types import DTypeLike

__all__ = ["BinaryIoU", "IoU", "MeanIoU", "OneHotIoU", "OneHotMeanIoU"]


class IoU(Metric):
    """The intersection over union of targets and predictions, averaged over some classes.

    ``true_positives / (true_positives + false_positives + false_negatives)`` of each class

    Args:
        num_classes: an integer, the number of classes.
        target_class_ids: a list of integers, the classes over which the mean is taken.
        dtype: a dtype's name or a policy, the dtype of the state. None is int32, as in Keras, so
            that weights are truncated to integers; ``"float32"`` keeps them.
        ignore_class: an integer, a class whose samples are left out; None leaves none out.
        sparse_y_true: a boolean, whether targets are integer labels instead of one-hot vectors.
        sparse_y_pred: a boolean, whether predictions are integer labels instead of scores.
        axis: an integer, the axis of the classes in one-hot vectors and scores.

    Raises:
        ValueError: ``target_class_ids`` has a number outside [0, num_classes).

    Example:
        >>> from webtensor import keras
        >>> metric = keras.metrics.IoU(num_classes=2, target_class_ids=[0])
        >>> round(float(metric([0, 0, 1, 1], [0, 1, 0, 1])), 4)
        0.3333
    """

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Sequence[int],
        name: str | None = None,
        dtype: DTypeLike = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        super().__init__(dtype or int32, name)
        self.num_classes = num_classes
        self.target_class_ids = list(target_class_ids)
        self.ignore_class = ignore_class
        self.sparse_y_true = sparse_y_true
        self.sparse_y_pred = sparse_y_pred
        self.axis = axis
        for class_id in self.target_class_ids:
            if not 0 <= class_id < num_classes:
                raise ValueError(
                    f"{type(self).__name__}: target_class_ids must lie in [0, {num_classes}), but "
                    f"got {class_id}"
                )
        self.total_cm = self.add_variable(
            (num_classes, num_classes), "zeros", name="total_confusion_matrix"
        )

    def _classes(self, values: TensorLike, is_sparse: bool) -> Tensor:
        """Return the classes of all samples as a vector of int32."""
        labels = wt.asarray(values)
        if not is_sparse:
            labels = wt.argmax(labels, self.axis)
        return wt.flatten(wt.astype(labels, int32, copy=False))

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account."""
        target = self._classes(y_true, self.sparse_y_true)
        prediction = self._classes(y_pred, self.sparse_y_pred)
        rows = wt.one_hot(target, self.num_classes, dtype=float32)
        if sample_weight is not None:
            if self.dtype is int32 and "float" in str(getattr(sample_weight, "dtype", "")):
                warnings.warn(
                    f"{type(self).__name__}: sample_weight is of a float dtype, but the state is "
                    "int32, so casting truncates the weight; set dtype to 'float32'",
                    stacklevel=3,
                )
            weight = wt.astype(wt.astype(as_floats(sample_weight), self.dtype), float32)
            if len(weight.shape) > 1:
                weight = wt.flatten(weight)
            rows = rows * wt.expand_dims(wt.broadcast_to(weight, target.shape), 1)
        if self.ignore_class is not None:
            mask = wt.not_equal(target, self.ignore_class)
            rows = rows * wt.expand_dims(wt.astype(mask, float32), 1)
        columns = wt.one_hot(prediction, self.num_classes, dtype=float32)
        matrix = wt.matmul(rows, columns, transpose_a=True)
        add_to(self.total_cm, wt.astype(matrix, self.dtype, copy=False))

    def result(self) -> Tensor:
        """Return the mean over the target classes that occur."""
        matrix = wt.astype(self.total_cm.value, float32, copy=False)
        intersection = wt.linalg.diagonal(matrix)
        union = wt.sum(matrix, 0) + wt.sum(matrix, 1) - intersection
        if self.target_class_ids != list(range(self.num_classes)):
            intersection = wt.gather(intersection, self.target_class_ids)
            union = wt.gather(union, self.target_class_ids)
        num_classes = wt.sum(wt.astype(wt.not_equal(union, 0.0), float32))
        return wt.divide_no_nan(wt.sum(intersection / (union + epsilon())), num_classes)


class BinaryIoU(IoU):
    """The intersection over union of two classes.

    Args:
        target_class_ids: a list of 0, 1 or both, the classes over which the mean is taken.
        threshold: a number; predictions of at least this are of class 1.
    """

    def __init__(
        self,
        target_class_ids: Sequence[int] = (0, 1),
        threshold: float = 0.5,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(2, target_class_ids, name, dtype)
        self.threshold = threshold

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account."""
        labels = wt.astype(wt.greater_equal(as_floats(y_pred), self.threshold), int32)
        super().update_state(y_true, labels, sample_weight)


class MeanIoU(IoU):
    """The intersection over union of targets and predictions, averaged over all classes."""

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: DTypeLike = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        super().__init__(
            num_classes,
            range(num_classes),
            name,
            dtype,
            ignore_class,
            sparse_y_true,
            sparse_y_pred,
            axis,
        )


class OneHotIoU(IoU):
    """The intersection over union of one-hot labels, averaged over some classes."""

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Sequence[int],
        name: str | None = None,
        dtype: DTypeLike = None,
        ignore_class: int | None = None,
        sparse_y_pred: bool = False,
        axis: int = -1,
    ) -> None:
        super().__init__(
            num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis
        )


class OneHotMeanIoU(MeanIoU):
    """The intersection over union of one-hot labels, averaged over all classes."""

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: DTypeLike = None,
        ignore_class: int | None = None,
        sparse_y_pred: bool = False,
        axis: int = -1,
    ) -> None:
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)
