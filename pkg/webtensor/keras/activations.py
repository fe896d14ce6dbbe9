"""Activation functions, as Keras defines them.

Called with a symbolic tensor, an activation calls the function of ``keras.ops`` of the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from inspect import signature
from math import pi, sqrt
from typing import Any, TypeVar, cast
from warnings import warn

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.registry import Namespace
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import (
    ActivationLike,
    Config,
    CustomObjects,
    Operand,
    SymbolicOrTensor,
)
from webtensor.ops.casting import as_float
from webtensor.shapes import normalize_axes, normalize_axis

__all__ = [
    "celu",
    "deserialize",
    "elu",
    "exponential",
    "gelu",
    "get",
    "glu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "linear",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "relu",
    "relu6",
    "selu",
    "serialize",
    "sigmoid",
    "silu",
    "soft_shrink",
    "softmax",
    "softplus",
    "softsign",
    "sparse_plus",
    "sparse_sigmoid",
    "sparsemax",
    "squareplus",
    "swish",
    "tanh",
    "tanh_shrink",
    "threshold",
]

Value = TypeVar("Value")
Function = TypeVar("Function", bound=Callable[..., Tensor])


def _activation(function: Function) -> Function:
    """Let a function accept symbolic tensors, too."""
    name = {"exponential": "exp"}.get(function.__name__, function.__name__)
    declared = signature(function)

    @wraps(function)
    def call(x: Operand, *args: object, **kwargs: object) -> SymbolicOrTensor:
        if type(x) is not KerasTensor:
            return function(x, *args, **kwargs)
        bound = declared.bind(x, *args, **kwargs)
        bound.apply_defaults()
        result: KerasTensor = getattr(import_module("webtensor.keras.ops"), name)(*bound.args)
        return result

    return cast(Function, call)


# -- rectified ---------------------------------------------------------------------------------


def relu(
    x: Operand,
    negative_slope: float = 0.0,
    max_value: float | None = None,
    threshold: float = 0.0,
) -> SymbolicOrTensor:
    """``min(x, max_value)`` above ``threshold``, else ``negative_slope * (x - threshold)``.

    Example:
        >>> from webtensor import keras
        >>> keras.activations.relu([-10.0, 0.0, 10.0], negative_slope=0.5).tolist()
        [-5.0, 0.0, 10.0]
    """
    if type(x) is KerasTensor:
        return _symbolic_relu(x, negative_slope, max_value, threshold)
    if threshold == 0 and negative_slope == 0:
        if max_value is None:
            return wt.relu(x)
        return wt.relu6(x) if max_value == 6 else wt.minimum(wt.relu(x), max_value)
    if threshold == 0 and max_value is None:
        return wt.leaky_relu(x, negative_slope)
    values = wt.asarray(x)
    above = wt.relu(values) if threshold == 0 else wt.where(values > threshold, values, 0)
    if max_value is not None:
        above = wt.clip(above, 0, max_value)
    if negative_slope == 0:
        return above
    return above - wt.relu(threshold - values) * negative_slope


def _symbolic_relu(
    x: KerasTensor, negative_slope: float, max_value: float | None, threshold: float
) -> KerasTensor:
    operation = import_module("webtensor.keras.ops.nn").ACTIVATIONS.operation("relu")
    result: KerasTensor = operation(negative_slope, max_value, threshold)(x)
    return result


@_activation
def relu6(x: TensorLike) -> Tensor:
    """``min(max(x, 0), 6)``."""
    return wt.relu6(x)


@_activation
def leaky_relu(x: TensorLike, negative_slope: float = 0.2) -> Tensor:
    """``x`` if it is positive, else ``negative_slope * x``."""
    return wt.leaky_relu(x, negative_slope)


@_activation
def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """``x`` if it is positive, else ``alpha * (exp(x) - 1)``."""
    return wt.elu(x, alpha)


@_activation
def celu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """``x`` if it is positive, else ``alpha * (exp(x / alpha) - 1)`` (Barron, 2017)."""
    return wt.elu(wt.divide(x, alpha)) * alpha


@_activation
def selu(x: TensorLike) -> Tensor:
    """``elu(x, 1.6732632423543772) * 1.0507009873554805``."""
    return wt.selu(x)


# -- smooth ------------------------------------------------------------------------------------


@_activation
def sigmoid(x: TensorLike) -> Tensor:
    """``1 / (1 + exp(-x))``."""
    return wt.sigmoid(x)


@_activation
def log_sigmoid(x: TensorLike) -> Tensor:
    """``log(1 / (1 + exp(-x)))``."""
    return wt.log_sigmoid(x)


@_activation
def tanh(x: TensorLike) -> Tensor:
    """The hyperbolic tangent."""
    return wt.tanh(x)


@_activation
def exponential(x: TensorLike) -> Tensor:
    """``exp(x)``."""
    return wt.exp(x)


@_activation
def softplus(x: TensorLike) -> Tensor:
    """``log(exp(x) + 1)``."""
    return wt.softplus(x)


@_activation
def squareplus(x: TensorLike, b: float = 4) -> Tensor:
    """``(x + sqrt(x**2 + b)) / 2``."""
    values = as_float("squareplus", "x", x)
    return (values + wt.sqrt(wt.square(values) + b)) / 2


@_activation
def softsign(x: TensorLike) -> Tensor:
    """``x / (abs(x) + 1)``."""
    return wt.divide(x, wt.abs(x) + 1)


@_activation
def silu(x: TensorLike) -> Tensor:
    """``x * sigmoid(x)``, also called swish (Ramachandran et al., 2017)."""
    return wt.multiply(x, wt.sigmoid(x))


def mish(x: TensorLike) -> Tensor:
    """``x * tanh(softplus(x))`` (Misra, 2019)."""
    result: Tensor = tanh(softplus(x)) * x
    return result


@_activation
def gelu(x: TensorLike, approximate: bool = False) -> Tensor:
    """``x * (1 + erf(x / sqrt(2))) / 2`` (Hendrycks et al., 2016).

    ``approximate`` replaces the error function by the hyperbolic tangent of a polynomial.
    """
    values = as_float("gelu", "x", x)
    if approximate:
        error = wt.tanh((values + 0.044715 * values * wt.square(values)) * sqrt(2 / pi))
    else:
        error = wt.erf(values * sqrt(0.5))
    return values * (error + 1) * 0.5


@_activation
def tanh_shrink(x: TensorLike) -> Tensor:
    """``x - tanh(x)``."""
    return wt.subtract(x, wt.tanh(x))


# -- piecewise ---------------------------------------------------------------------------------


def linear(x: Value) -> Value:
    """``x`` itself."""
    return x


@_activation
def hard_sigmoid(x: TensorLike) -> Tensor:
    """``clip(x / 6 + 0.5, 0, 1)``."""
    return wt.relu6(wt.add(x, 3.0)) / 6


@_activation
def hard_silu(x: TensorLike) -> Tensor:
    """``x * hard_sigmoid(x)``, also called hard swish."""
    return wt.multiply(x, hard_sigmoid(x))


@_activation
def hard_tanh(x: TensorLike) -> Tensor:
    """``clip(x, -1, 1)``."""
    return wt.clip(x, -1, 1)


@_activation
def hard_shrink(x: TensorLike, threshold: float = 0.5) -> Tensor:
    """``x`` if ``abs(x) > threshold``, else 0."""
    return wt.where(wt.abs(x) > threshold, x, 0)


@_activation
def soft_shrink(x: TensorLike, threshold: float = 0.5) -> Tensor:
    """``x - clip(x, -threshold, threshold)``."""
    return wt.relu(wt.subtract(x, threshold)) - wt.relu(wt.subtract(-threshold, x))


@_activation
def sparse_sigmoid(x: TensorLike) -> Tensor:
    """``clip((x + 1) / 2, 0, 1)``."""
    return wt.clip(x, -1, 1) * 0.5 + 0.5


@_activation
def sparse_plus(x: TensorLike) -> Tensor:
    """0 below -1, ``x`` above 1, and ``(x + 1)**2 / 4`` in between."""
    return wt.square(wt.clip(x, -1, 1) + 1) * 0.25 + wt.relu(wt.subtract(x, 1.0))


@_activation
def threshold(x: TensorLike, threshold: float, default_value: float) -> Tensor:
    """``x`` if it is greater than ``threshold``, else ``default_value``."""
    return wt.where(wt.greater(x, threshold), x, default_value)


# -- along an axis -----------------------------------------------------------------------------


def _along(function: Callable[..., Tensor], x: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """Apply a function along one axis, or along several that are joined for it."""
    if isinstance(axis, int):
        return function(x, axis)
    values = wt.asarray(x)
    rank = len(values.shape)
    axes = normalize_axes(function.__name__, axis, rank)
    order = (*(other for other in range(rank) if other not in axes), *axes)
    axes_last = wt.permute_dims(values, order)
    rows = wt.reshape(axes_last, (*axes_last.shape[: rank - len(axes)], -1))
    result = wt.reshape(function(rows, -1), axes_last.shape)
    return wt.permute_dims(result, sorted(range(rank), key=order.__getitem__))


@_activation
def softmax(x: TensorLike, axis: int | Sequence[int] = -1) -> Tensor:
    """``exp(x) / sum(exp(x))`` along an axis, or along several together.

    Warns of an axis of size 1, along which the result is 1 whatever ``x`` is.
    """
    values = wt.asarray(x)
    shape, rank = values.shape, len(values.shape)
    if isinstance(axis, int) and -rank <= axis < rank and shape[axis] == 1:
        warn(
            f"softmax: axis {axis} of shape {shape} has size 1, so the result is 1 everywhere;"
            " for one probability use sigmoid",
            stacklevel=3,
        )
    return _along(wt.softmax, values, axis)


@_activation
def log_softmax(x: TensorLike, axis: int | Sequence[int] = -1) -> Tensor:
    """The logarithm of the softmax."""
    return _along(wt.log_softmax, x, axis)


@_activation
def glu(x: TensorLike, axis: int = -1) -> Tensor:
    """The first half along an axis times the sigmoid of the second (Dauphin et al., 2017).

    Raises:
        ValueError: the axis has an odd size.
    """
    inputs = wt.asarray(x)
    size = inputs.shape[normalize_axis("glu", axis, len(inputs.shape))]
    if size % 2:
        raise ValueError(f"glu: axis {axis} must have an even size, but x has shape {inputs.shape}")
    values, gates = wt.split(inputs, 2, axis)
    return values * wt.sigmoid(gates)


@_activation
def sparsemax(x: TensorLike, axis: int = -1) -> Tensor:
    """The probabilities closest to ``x``, many of them 0 (Martins and Astudillo, 2016).

    ``max(x - t, 0)``, where the number ``t`` of each row makes the results add up to 1.
    """
    values = as_float("sparsemax", "x", x)
    rank = len(values.shape)
    axis = normalize_axis("sparsemax", axis, rank)
    size = values.shape[axis]
    # Sums of large numbers would lose the digits that decide.
    values = values - wt.max(values, axis, keepdims=True)
    descending = wt.sort(values, axis, descending=True)
    counts = wt.arange(1, size + 1).reshape((size, *[1] * (rank - 1 - axis)))
    # The support is the longest prefix of the sorted row for which k * x[k] + 1 > sum(x[:k]).
    in_support = descending * counts + 1 > wt.cumsum(descending, axis)
    support_size = wt.sum(in_support, axis, keepdims=True)
    excess = wt.sum(wt.where(in_support, descending, 0), axis, keepdims=True) - 1
    return wt.relu(values - excess / support_size)


# -- names -------------------------------------------------------------------------------------

swish = silu
hard_swish = hard_silu

_FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    name: globals()[name] for name in __all__ if name not in ("deserialize", "get", "serialize")
}
#: Configurations may also name layers such as LeakyReLU, and functions of ``keras.ops``.
_NAMESPACE = Namespace("activation", _FUNCTIONS, ("activations", "layers", "ops"))


def get(identifier: ActivationLike) -> Callable[..., Any]:
    """Return the activation that a name, a configuration or a function stands for.

    None stands for ``linear``.

    Raises:
        ValueError: there is no such activation.

    Example:
        >>> from webtensor import keras
        >>> keras.activations.get("relu") is keras.activations.relu
        True
    """
    return linear if identifier is None else _NAMESPACE.get(identifier)


def serialize(activation: ActivationLike) -> str | Config | None:
    """Return the name of one of Keras's activations, or the configuration of another one."""
    return _NAMESPACE.serialize(activation)


def deserialize(config: str | Config, custom_objects: CustomObjects | None = None) -> Any:
    """Return the activation that a name or a configuration describes."""
    return _NAMESPACE.deserialize(config, custom_objects)
