"""Intersection over union of classes, such as those of pixels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.config import epsilon
from webtensor.keras.losses.base import as_floats
from webtensor.keras.metrics.base import Metric, add_to
from webtensor.keras.types import Config, DTypeLike

__all__ = ["BinaryIoU", "IoU", "MeanIoU", "OneHotIoU", "OneHotMeanIoU"]


class IoU(Metric):
    """The mean over some classes of right ones, divided by all that are one or are predicted.

    Labels, and predictions where ``sparse_y_pred``, are integers; else the greatest number along
    ``axis`` tells the class. Pixels of ``ignore_class`` do not count. As in Keras, the state is
    int32, into which weights are truncated, unless ``dtype`` is "float32".

    Raises:
        ValueError: a target class is none.

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
        for one in self.target_class_ids:
            if not 0 <= one < num_classes:
                raise ValueError(
                    f"{type(self).__name__}: target_class_ids must lie in [0, {num_classes}), but "
                    f"got {one}"
                )
        self.total_cm = self.add_variable(
            (num_classes, num_classes), "zeros", name="total_confusion_matrix"
        )

    def _classes(self, values: TensorLike, is_sparse: bool) -> Tensor:
        held = wt.asarray(values)
        if not is_sparse:
            held = wt.argmax(held, self.axis)
        return wt.flatten(wt.astype(held, int32, copy=False))

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account."""
        target = self._classes(y_true, self.sparse_y_true)
        guess = self._classes(y_pred, self.sparse_y_pred)
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
            counts = wt.not_equal(target, self.ignore_class)
            rows = rows * wt.expand_dims(wt.astype(counts, float32), 1)
        columns = wt.one_hot(guess, self.num_classes, dtype=float32)
        matrix = wt.matmul(rows, columns, transpose_a=True)
        add_to(self.total_cm, wt.astype(matrix, self.dtype, copy=False))

    def result(self) -> Tensor:
        """Return the mean over target classes that there are."""
        matrix = wt.astype(self.total_cm.value, float32, copy=False)
        right = wt.linalg.diagonal(matrix)
        union = wt.sum(matrix, 0) + wt.sum(matrix, 1) - right
        if self.target_class_ids != list(range(self.num_classes)):
            right, union = (wt.gather(one, self.target_class_ids) for one in (right, union))
        number = wt.sum(wt.astype(wt.not_equal(union, 0.0), float32))
        return wt.divide_no_nan(wt.sum(right / (union + epsilon())), number)


class BinaryIoU(IoU):
    """Intersection over union of two classes; predictions of 1 are at least ``threshold``."""

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
        guess = wt.astype(wt.greater_equal(as_floats(y_pred), self.threshold), int32)
        super().update_state(y_true, guess, sample_weight)

    def get_config(self) -> Config:
        """Return the arguments that it was made with."""
        config = super().get_config()
        kept = {name: config[name] for name in ("name", "dtype", "target_class_ids")}
        return {**kept, "threshold": self.threshold}


class MeanIoU(IoU):
    """The mean intersection over union of all classes. See ``IoU``."""

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
    """Intersection over union of one-hot labels. See ``IoU``."""

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
    """The mean intersection over union of one-hot labels. See ``IoU``."""

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
