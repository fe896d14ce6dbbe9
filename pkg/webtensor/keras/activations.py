"""Activation functions, as Keras defines them.

``get`` finds one by its name, its configuration or itself; None stands for ``linear``. Symbolic
tensors are given to the function of ``keras.ops`` that has the name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from inspect import signature
from math import pi, sqrt
from typing import Any, TypeVar, cast

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.registry import Namespace
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import ActivationLike
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

Function = TypeVar("Function", bound=Callable[..., Any])


def _activation(function: Function) -> Function:
    """Let a function take symbolic tensors, too."""
    name = {"exponential": "exp"}.get(function.__name__, function.__name__)
    form = signature(function)

    @wraps(function)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if type(x) is KerasTensor:
            bound = form.bind(x, *args, **kwargs)
            bound.apply_defaults()
            return getattr(import_module("webtensor.keras.ops"), name)(*bound.args)
        return function(x, *args, **kwargs)

    return cast(Function, call)


# -- rectified ---------------------------------------------------------------------------------


def relu(
    x: Any,
    negative_slope: float = 0.0,
    max_value: float | None = None,
    threshold: float = 0.0,
) -> Any:
    """``x`` above ``threshold``, but no more than ``max_value``; else ``negative_slope`` times the
    distance to the threshold.

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
    held = wt.asarray(x)
    above = wt.relu(held) if threshold == 0 else wt.where(held > threshold, held, 0)
    if max_value is not None:
        above = wt.clip(above, 0, max_value)
    if negative_slope == 0:
        return above
    return above - wt.relu(threshold - held) * negative_slope


def _symbolic_relu(
    x: KerasTensor, negative_slope: float, max_value: float | None, threshold: float
) -> Any:
    operation = import_module("webtensor.keras.ops.nn").ACTIVATIONS.operation("relu")
    return operation(negative_slope, max_value, threshold)(x)


@_activation
def relu6(x: TensorLike) -> Tensor:
    """``min(max(x, 0), 6)``."""
    return wt.relu6(x)


@_activation
def leaky_relu(x: TensorLike, negative_slope: float = 0.2) -> Tensor:
    """``x`` where it is positive, else ``negative_slope * x``."""
    return wt.leaky_relu(x, negative_slope)


@_activation
def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``."""
    return wt.elu(x, alpha)


@_activation
def celu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)`` (Barron, 2017)."""
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
    """Logarithm of the sigmoid."""
    return wt.log_sigmoid(x)


@_activation
def tanh(x: TensorLike) -> Tensor:
    """Hyperbolic tangent."""
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
    held = wt.asarray(x)
    return (held + wt.sqrt(wt.square(held) + b)) / 2


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
    made: Tensor = tanh(softplus(x)) * x
    return made


@_activation
def gelu(x: TensorLike, approximate: bool = False) -> Tensor:
    """``x`` times the probability that a normal number is less (Hendrycks et al., 2016).

    ``approximate`` takes the hyperbolic tangent of a polynomial for it.
    """
    held = wt.asarray(x)
    if approximate:
        inner = wt.tanh((held + 0.044715 * held * wt.square(held)) * sqrt(2 / pi))
    else:
        inner = wt.erf(held * sqrt(0.5))
    return held * (inner + 1) * 0.5


@_activation
def tanh_shrink(x: TensorLike) -> Tensor:
    """``x - tanh(x)``."""
    return wt.subtract(x, wt.tanh(x))


# -- piecewise ---------------------------------------------------------------------------------


def linear(x: Any) -> Any:
    """``x`` itself."""
    return x


@_activation
def hard_sigmoid(x: TensorLike) -> Tensor:
    """``x / 6 + 0.5`` between 0 and 1."""
    return wt.relu6(wt.add(x, 3)) / 6


@_activation
def hard_silu(x: TensorLike) -> Tensor:
    """``x * hard_sigmoid(x)``, also called hard swish."""
    return wt.multiply(x, hard_sigmoid(x))


@_activation
def hard_tanh(x: TensorLike) -> Tensor:
    """``x`` between -1 and 1."""
    return wt.clip(x, -1, 1)


@_activation
def hard_shrink(x: TensorLike, threshold: float = 0.5) -> Tensor:
    """``x`` where it is farther than ``threshold`` from 0, else 0."""
    return wt.where(wt.abs(x) > threshold, x, 0)


@_activation
def soft_shrink(x: TensorLike, threshold: float = 0.5) -> Tensor:
    """``x`` moved towards 0 by ``threshold``, but not beyond."""
    return wt.subtract(x, wt.clip(x, -threshold, threshold))


@_activation
def sparse_sigmoid(x: TensorLike) -> Tensor:
    """``(x + 1) / 2`` between 0 and 1."""
    return wt.clip(x, -1, 1) * 0.5 + 0.5


@_activation
def sparse_plus(x: TensorLike) -> Tensor:
    """0 below -1, ``x`` above 1, and ``(x + 1)**2 / 4`` between."""
    return wt.square(wt.clip(x, -1, 1) + 1) * 0.25 + wt.relu(wt.subtract(x, 1))


@_activation
def threshold(x: TensorLike, threshold: float, default_value: float) -> Tensor:
    """``x`` where it is greater than ``threshold``, else ``default_value``."""
    return wt.where(wt.greater(x, threshold), x, default_value)


# -- along an axis -----------------------------------------------------------------------------


def _along(function: Callable[..., Tensor], x: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """Normalize over one axis, or over several together."""
    if isinstance(axis, int):
        return function(x, axis)
    held = wt.asarray(x)
    rank = len(held.shape)
    axes = normalize_axes(function.__name__, axis, rank)
    order = (*(one for one in range(rank) if one not in axes), *axes)
    moved = wt.permute_dims(held, order)
    rows = wt.reshape(moved, (*moved.shape[: rank - len(axes)], -1))
    made = wt.reshape(function(rows, -1), moved.shape)
    return wt.permute_dims(made, sorted(range(rank), key=order.__getitem__))


@_activation
def softmax(x: TensorLike, axis: int | Sequence[int] = -1) -> Tensor:
    """Exponentials divided by their sum along an axis."""
    return _along(wt.softmax, x, axis)


@_activation
def log_softmax(x: TensorLike, axis: int | Sequence[int] = -1) -> Tensor:
    """Logarithm of the softmax."""
    return _along(wt.log_softmax, x, axis)


@_activation
def glu(x: TensorLike, axis: int = -1) -> Tensor:
    """The first half along an axis times the sigmoid of the second (Dauphin et al., 2017).

    Raises:
        ValueError: the axis has an odd length.
    """
    held = wt.asarray(x)
    length = held.shape[normalize_axis("glu", axis, len(held.shape))]
    if length % 2:
        raise ValueError(f"glu: axis {axis} must have an even length, but x has shape {held.shape}")
    values, gates = wt.split(held, 2, axis)
    return values * wt.sigmoid(gates)


@_activation
def sparsemax(x: TensorLike, axis: int = -1) -> Tensor:
    """The probabilities nearest to ``x``, many of them 0 (Martins and Astudillo, 2016).

    ``max(x - t, 0)``, with such a number ``t`` for each row that they add up to 1.
    """
    held = wt.asarray(x)
    rank = len(held.shape)
    axis = normalize_axis("sparsemax", axis, rank)
    length = held.shape[axis]
    ordered = wt.sort(held, axis, descending=True)
    counts = wt.arange(1, length + 1).reshape((length, *[1] * (rank - 1 - axis)))
    # The greatest elements are kept as long as each is worth more than they lack to be 1.
    kept = ordered * counts + 1 > wt.cumsum(ordered, axis)
    number = wt.sum(kept, axis, keepdims=True)
    excess = wt.sum(wt.where(kept, ordered, 0), axis, keepdims=True) - 1
    return wt.relu(held - excess / number)


# -- names -------------------------------------------------------------------------------------

swish = silu
hard_swish = hard_silu

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: globals()[name] for name in __all__ if name not in ("deserialize", "get", "serialize")
}
#: Layers such as LeakyReLU, and functions of tensors, are activations, too.
_NAMESPACE = Namespace("activation", _FUNCTIONS, ("activations", "layers", "ops"))


def get(identifier: Any) -> Callable[..., Any]:
    """Return the activation that a name, a configuration or a function stands for.

    Raises:
        ValueError: there is no such activation.

    Example:
        >>> from webtensor import keras
        >>> keras.activations.get("relu") is keras.activations.relu
        True
    """
    found: Callable[..., Any] = linear if identifier is None else _NAMESPACE.get(identifier)
    return found


def serialize(activation: ActivationLike) -> Any:
    """Return the name of an activation of Keras, or a configuration of another."""
    return _NAMESPACE.serialize(activation)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the activation that a name or a configuration describes."""
    return _NAMESPACE.deserialize(config, custom_objects)
