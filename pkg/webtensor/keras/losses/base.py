"""What all losses share: weights, masks and reduction; and losses made of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Self, TypeVar

from webtensor import ops as wt
from webtensor.dtypes import DType, float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras import dtype_policies
from webtensor.keras.arguments import ALWAYS, Configurable, accepted_arguments
from webtensor.keras.dtypes import floatx, held_dtype
from webtensor.keras.masks import mask_of
from webtensor.keras.names import auto_name, nearest, to_snake_case
from webtensor.keras.nest import map_structure
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.types import Config, DTypeLike

__all__ = [
    "FunctionArguments",
    "Loss",
    "LossFunctionWrapper",
    "Reduction",
    "as_floats",
    "check_same_shape",
    "of_labels",
    "same_rank",
    "weighted",
]

Reduction = Literal["sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none"] | None
Function = TypeVar("Function", bound=Callable[..., Tensor])

_REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none")

#: Functions whose targets are whole numbers, which need not be converted.
_OF_LABELS: set[Callable[..., Any]] = set()


def of_labels(function: Function) -> Function:
    """Mark a function whose targets are whole numbers."""
    _OF_LABELS.add(function)
    return function


def as_floats(value: TensorLike) -> Tensor:
    """Return targets or predictions as float32."""
    return wt.asarray(value, dtype=float32)


def same_rank(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Fit tensors whose ranks differ by a last axis of length 1.

    The one without it gets it, where it has one axis; else the other one loses it.
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

    A mask, bool or numbers, makes a mean one of the values that count.
    """
    weight = None if sample_weight is None else as_floats(sample_weight)
    if mask is not None:
        counted = as_floats(mask)
        if reduction in ("mean", "sum_over_batch_size"):
            counted = counted * wt.divide_no_nan(float(counted.size), wt.sum(counted))
        if weight is None:
            weight = counted
        else:
            counted, weight = same_rank(counted, weight)
            weight = weight * counted
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
    """A number that says how far predictions are from what they should be.

    Subclasses implement ``call(y_true, y_pred)``, which returns a value for each sample, or for
    each step of each. ``reduction`` is "sum_over_batch_size" or "mean", which are one; "sum";
    "mean_with_sample_weight", which divides by the sum of the weights; or None or "none".

    Raises:
        ValueError: the reduction is another.

    Example:
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
        self._dtype = held_dtype(dtype_policies.get(dtype or floatx()).compute_dtype)
        if self._dtype is not float32:
            raise ValueError(f"{type(self).__name__}: dtype must be a float one, but got {dtype!r}")

    @property
    def dtype(self) -> DType:
        """What is computed in: float32, which holds floats of other widths, too."""
        return self._dtype

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Tensor:
        """Return the loss, weighted and reduced."""
        mask = mask_of(y_pred)
        with_targets = self._targets(y_true)
        losses = wt.asarray(self.call(with_targets, _converted(y_pred)))
        own = mask_of(losses)
        if mask is None or own is None:
            mask = mask if own is None else own
        else:
            mask, own = same_rank(as_floats(mask), as_floats(own))
            mask = mask * own
        return weighted(losses, sample_weight, mask, self.reduction)

    def _targets(self, y_true: Any) -> Any:
        return _converted(y_true)

    def call(self, y_true: Any, y_pred: Any) -> Tensor:
        """Return a value for each sample."""
        raise NotImplementedError(f"{type(self).__name__} does not implement call")


def _is_plain(value: Any) -> bool:
    """Whether something is a number, or nested lists of numbers."""
    if isinstance(value, (list, tuple)):
        return all(_is_plain(one) for one in value)
    return isinstance(value, (int, float))


def _converted(value: Any) -> Any:
    """Return targets or predictions as float32, one tensor or a structure of them."""
    if isinstance(value, (list, tuple, Mapping)) and not _is_plain(value):
        return map_structure(as_floats, value)
    return as_floats(value)


class FunctionArguments:
    """What a loss or a metric hands on to its function; arguments can be read as attributes."""

    _fn_kwargs: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        arguments = vars(self).get("_fn_kwargs", {})
        if name in arguments:
            return arguments[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _undeclared_arguments(self) -> dict[str, Any]:
        """The configuration of arguments that no class declares: those of users' functions."""
        declared = accepted_arguments(type(self), library_only=True)
        return {
            name: serialize_keras_object(value)
            for name, value in self._fn_kwargs.items()
            if name not in declared
        }


class LossFunctionWrapper(FunctionArguments, Loss):
    """A loss made of a function of ``y_true``, ``y_pred`` and further arguments.

    Example:
        >>> from webtensor.keras.losses import LossFunctionWrapper
        >>> loss = LossFunctionWrapper(lambda y_true, y_pred: wt.abs(y_true - y_pred))
        >>> loss([1.0, 2.0], [1.0, 4.0]).tolist()
        1.0
    """

    def __init__(
        self,
        fn: Callable[..., Any],
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
            held = wt.asarray(y_true)
            return held if held.dtype is int32 else as_floats(held)
        return super()._targets(y_true)

    def call(self, y_true: Any, y_pred: Any) -> Tensor:
        """Return a value for each sample."""
        if isinstance(y_true, Tensor) and isinstance(y_pred, Tensor):
            y_true, y_pred = same_rank(y_true, y_pred)
        made: Tensor = self.fn(y_true, y_pred, **self._fn_kwargs)
        return made

    def get_config(self) -> Config:
        """Return the arguments that it was made with."""
        config = {**super().get_config(), **self._undeclared_arguments()}
        if type(self) is not LossFunctionWrapper:
            config.pop("fn", None)
        return config

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Make one with the arguments in a configuration."""
        return cls(**deserialize_keras_object(config))

    def __repr__(self) -> str:
        return f"<LossFunctionWrapper({self.fn}, kwargs={self._fn_kwargs})>"


def check_same_shape(name: str, y_true: Tensor, y_pred: Tensor) -> None:
    """Raise unless targets and predictions have one shape."""
    if y_true.shape != y_pred.shape:
        raise ValueError(
            f"{name}: y_true and y_pred must have the same shape, but got {y_true.shape} and "
            f"{y_pred.shape}"
        )
