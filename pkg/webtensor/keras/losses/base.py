"""What all losses share: weights, masks and reduction; and losses made of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar

from webtensor import ops as wt
from webtensor.dtypes import DType, float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras import dtype_policies
from webtensor.keras.arguments import (
    ALWAYS,
    Configurable,
    accepted_arguments,
    is_library_class,
)
from webtensor.keras.dtypes import floatx, storage_dtype
from webtensor.keras.masks import mask_of
from webtensor.keras.names import auto_name, nearest, to_snake_case
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.types import Config, DTypeLike
from webtensor.nest import map_structure
from webtensor.ops.casting import as_float

__all__ = [
    "FunctionLoss",
    "FunctionWrapper",
    "Loss",
    "LossFunctionWrapper",
    "Reduction",
    "TargetFunction",
    "as_floats",
    "check_same_shape",
    "of_labels",
    "same_rank",
    "weighted",
]

Reduction = Literal["sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none"] | None
#: A function of targets, predictions and further arguments.
TargetFunction: TypeAlias = Callable[..., Tensor]
Function = TypeVar("Function", bound=TargetFunction)

_REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none")

#: Functions whose targets are integers, which stay integers.
_OF_LABELS: set[TargetFunction] = set()


def of_labels(function: Function) -> Function:
    """Mark a function whose targets are integers."""
    _OF_LABELS.add(function)
    return function


def as_floats(value: TensorLike) -> Tensor:
    """Return targets or predictions as float32."""
    return as_float("loss", "an argument", value)


def same_rank(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Give two tensors the same rank if their ranks differ by a last axis of size 1.

    A tensor of rank 1 gets the additional axis; otherwise the other tensor loses it.
    """
    if len(first.shape) == len(second.shape) + 1:
        second, first = same_rank(second, first)
    elif len(second.shape) == len(first.shape) + 1 and second.shape[-1] == 1:
        if len(first.shape) == 1:
            first = wt.expand_dims(first, -1)
        else:
            second = wt.squeeze(second, -1)
    return first, second


def weighted(
    values: Tensor,
    sample_weight: TensorLike | None,
    mask: Tensor | None,
    reduction: Reduction,
) -> Tensor:
    """Weight values and reduce them.

    With a mask, of booleans or numbers, a mean is that of the values that the mask keeps.
    """
    weight = None if sample_weight is None else as_floats(sample_weight)
    if mask is not None:
        mask_weight = as_floats(mask)
        if reduction in ("mean", "sum_over_batch_size"):
            scale = wt.divide_no_nan(float(mask_weight.size), wt.sum(mask_weight))
            mask_weight = mask_weight * scale
        if weight is None:
            weight = mask_weight
        else:
            mask_weight, weight = same_rank(mask_weight, weight)
            weight = weight * mask_weight
    if weight is not None:
        values, weight = same_rank(values, weight)
        values = values * weight
    if reduction is None or reduction == "none" or values.shape in ((), (0,)):
        return values
    if reduction == "sum" or not values.size:
        return wt.sum(values)
    if reduction == "mean_with_sample_weight" and weight is not None:
        return wt.divide_no_nan(wt.sum(values), wt.sum(weight))
    return wt.mean(values)


class Loss(Configurable):
    """A number that measures how far predictions are from targets.

    A subclass implements ``call(y_true, y_pred)``, which returns a loss for each sample, or for
    each step of each sample. Calling the object multiplies these by ``sample_weight`` and by the
    mask of ``y_pred``, and reduces them.

    Args:
        reduction: how the losses of a batch become one. ``"sum_over_batch_size"`` and ``"mean"``
            are their mean, ``"sum"`` is their sum, ``"mean_with_sample_weight"`` their sum divided
            by the sum of the weights; with ``"none"`` or None they are returned as they are.
        dtype: a dtype's name or a policy; losses compute in float32 whatever float this is.

    Raises:
        ValueError: ``reduction`` is not one of these, or ``dtype`` is not a float dtype.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> class Difference(keras.losses.Loss):
        ...     def call(self, y_true, y_pred):
        ...         return wt.mean(y_pred - y_true, -1)
        >>> Difference()([[1.0, 2.0]], [[2.0, 4.0]]).tolist()
        1.5
    """

    _config_omits: ClassVar = {"dtype": ALWAYS}

    def __init__(
        self,
        name: str | None = None,
        reduction: Reduction = "sum_over_batch_size",
        dtype: DTypeLike = None,
    ) -> None:
        self.name = name or auto_name(to_snake_case(type(self).__name__))
        if reduction is not None and reduction not in _REDUCTIONS:
            raise ValueError(
                f"{type(self).__name__}: reduction must be one of {', '.join(_REDUCTIONS)} or "
                f"None, but got {reduction!r}{nearest(str(reduction), _REDUCTIONS)}"
            )
        self.reduction = reduction
        self._dtype = storage_dtype(dtype_policies.get(dtype or floatx()).compute_dtype)
        if self._dtype is not float32:
            raise ValueError(f"{type(self).__name__}: dtype must be a float one, but got {dtype!r}")

    @property
    def dtype(self) -> DType:
        """The dtype of the computation: float32, also for floats of other widths."""
        return self._dtype

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: TensorLike | None = None) -> Tensor:
        """Return the loss, weighted and reduced."""
        losses = wt.asarray(self.call(self._targets(y_true), _to_floats(y_pred)))
        mask, loss_mask = mask_of(y_pred), mask_of(losses)
        if mask is not None and loss_mask is not None:
            mask, loss_mask = same_rank(as_floats(mask), as_floats(loss_mask))
            mask = mask * loss_mask
        elif mask is None:
            mask = loss_mask
        return weighted(losses, sample_weight, mask, self.reduction)

    def _targets(self, y_true: Any) -> Any:
        """Return the targets as ``call`` expects them."""
        return _to_floats(y_true)

    def call(self, y_true: Any, y_pred: Any) -> Tensor:
        """Return a loss for each sample."""
        raise NotImplementedError(f"{type(self).__name__} does not implement call")


def _is_numeric(value: object) -> bool:
    """Whether a value is a number, or nested lists of numbers."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_numeric, value))
    return isinstance(value, (int, float))


def _to_floats(value: Any) -> Any:
    """Convert a tensor, or each tensor in a structure, to float32."""
    if isinstance(value, (list, tuple, Mapping)) and not _is_numeric(value):
        return map_structure(as_floats, value)
    return as_floats(value)


class FunctionWrapper(Configurable):
    """The base of losses and metrics of a function, which keeps it and its further arguments.

    These arguments can be read as attributes.
    """

    fn: TargetFunction
    _fn_kwargs: dict[str, Any]
    _passes_keywords_on = False  # they are arguments of the function
    _config_omits: ClassVar = {"fn": ALWAYS}  # ``get_config`` decides
    #: The library's function that the class is of: ``class Hinge(FunctionLoss, function=hinge)``.
    _function: ClassVar[staticmethod[..., Tensor]]

    def __init_subclass__(cls, function: TargetFunction | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if function is None:  # a subclass of ``Hinge``, say, has the function of ``Hinge``
            return
        cls._function = staticmethod(function)
        if "__init__" not in vars(cls):
            initialize = cls._constructor(function.__name__)
            initialize.__qualname__ = f"{cls.__qualname__}.__init__"
            type.__setattr__(cls, "__init__", initialize)

    @staticmethod
    def _constructor(default_name: str) -> Callable[..., None]:
        """Return an ``__init__`` whose signature has a function's name as its default."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        fn_kwargs = vars(self).get("_fn_kwargs", {})
        if name in fn_kwargs:
            return fn_kwargs[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def get_config(self) -> Config:
        """Return the arguments of the constructor and those of the function.

        The configuration of a user's subclass leaves the function out, as in Keras.
        """
        config = super().get_config()
        declared = accepted_arguments(type(self), library_only=True)
        if "fn" in declared and is_library_class(type(self)):
            config["fn"] = serialize_keras_object(self.fn)
        for name, value in self._fn_kwargs.items():
            if name not in declared:
                config[name] = serialize_keras_object(value)
        return config

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Make an object with the arguments in a configuration."""
        return cls(**deserialize_keras_object(config))


class LossFunctionWrapper(FunctionWrapper, Loss):
    """A loss of a function of ``y_true``, ``y_pred`` and further arguments.

    Args:
        fn: a function that returns a loss for each sample.
        **kwargs: the further arguments of ``fn``.

    Example:
        >>> import webtensor as wt
        >>> from webtensor.keras.losses import LossFunctionWrapper
        >>> loss = LossFunctionWrapper(lambda y_true, y_pred: wt.abs(y_true - y_pred))
        >>> loss([1.0, 2.0], [1.0, 4.0]).tolist()
        1.0
    """

    def __init__(
        self,
        fn: TargetFunction,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = None,
        dtype: DTypeLike = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self.fn = fn
        self._fn_kwargs = kwargs

    def _targets(self, y_true: Any) -> Any:
        if self.fn in _OF_LABELS:
            labels = wt.asarray(y_true)
            return labels if labels.dtype is int32 else as_floats(labels)
        return super()._targets(y_true)

    def call(self, y_true: Any, y_pred: Any) -> Tensor:
        """Return a loss for each sample."""
        if isinstance(y_true, Tensor) and isinstance(y_pred, Tensor):
            y_true, y_pred = same_rank(y_true, y_pred)
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def __repr__(self) -> str:
        return f"<LossFunctionWrapper({self.fn}, kwargs={self._fn_kwargs})>"


class FunctionLoss(LossFunctionWrapper):
    """A loss of one of the library's functions: ``class Hinge(FunctionLoss, function=hinge)``.

    A subclass declares the further arguments of the function in its ``__init__``, decorated with
    ``forwards_arguments``. Without an ``__init__``, it gets one whose signature has the name of the
    function as its default, as in Keras.
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = None,
        dtype: DTypeLike = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(self._function, reduction, name, dtype, **kwargs)

    @staticmethod
    def _constructor(default_name: str) -> Callable[..., None]:
        def initialize(
            self: FunctionLoss,
            reduction: Reduction = "sum_over_batch_size",
            name: str | None = default_name,
            dtype: DTypeLike = None,
        ) -> None:
            FunctionLoss.__init__(self, reduction, name, dtype)

        return initialize


def check_same_shape(name: str, y_true: Tensor, y_pred: Tensor) -> None:
    """Raise unless targets and predictions have the same shape."""
    if y_true.shape != y_pred.shape:
        raise ValueError(
            f"{name}: y_true and y_pred must have the same shape, but got {y_true.shape} and "
            f"{y_pred.shape}"
        )
