"""The elementwise table: activations of neural networks.

The gradients of ``relu`` and ``relu6`` select instead of multiplying by 0 or 1: where the function
is flat, the gradient is 0 even if ``dy`` is infinite or NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.ops.elementwise import Kind, binary, unary

if TYPE_CHECKING:
    from webtensor.engine import Tensor, TensorLike

__all__ = [
    "elu",
    "leaky_relu",
    "log_sigmoid",
    "prelu",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "softplus",
    "step",
]

_SELU_SCALE = 1.0507009873554805
_SELU_ALPHA = 1.6732632423543772


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: np.maximum(x, 0),
    glsl="relu_(x)",
    glsl_int="max(x, 0)",
    c="vsel(x < 0, vset(0.f), x)",
    c_int="vmax(x, vseti(0))",
    grad=lambda dy, y, x: dy.where(x > 0, 0.0),
)
def relu(x: TensorLike) -> Tensor:
    """Rectified linear unit, ``max(x, 0)``.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.relu([-1.0, 2.0]).tolist()
        [0.0, 2.0]
    """


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: np.clip(x, 0, 6),
    glsl="mix(clamp(x, 0.0, 6.0), x, is_nan(x))",
    glsl_int="clamp(x, 0, 6)",
    c="vsel(x < 0, vset(0.f), vsel(x > 6, vset(6.f), x))",
    c_int="vmin(vmax(x, vseti(0)), vseti(6))",
    grad=lambda dy, y, x: dy.where((x > 0) & (x < 6), 0.0),
)
def relu6(x: TensorLike) -> Tensor:
    """Rectified linear unit capped at 6, ``min(max(x, 0), 6)``.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.relu6([-1.0, 2.0, 8.0]).tolist()
        [0.0, 2.0, 6.0]
    """


@unary(
    numpy=lambda np, x, alpha: np.where(x < 0, x * alpha, x),
    glsl="mix(x, x * alpha, x < 0.0)",
    c="vsel(x < 0, x * alpha, x)",
    grad=lambda dy, y, x, alpha: dy * x.step(alpha),
)
def leaky_relu(x: TensorLike, alpha: float = 0.2) -> Tensor:
    """``x`` where it is positive, else ``alpha * x`` (Maas et al., 2013).

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.leaky_relu([-10.0, 1.0], alpha=0.5).tolist()
        [-5.0, 1.0]
    """


@unary(
    numpy=lambda np, x, alpha: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x),
    glsl="mix(x, alpha * expm1_(x), x < 0.0)",
    c="vsel(x < 0, alpha * vexpm1(x), x)",
    grad=lambda dy, y, x, alpha: dy * (y + alpha).where(~(x >= 0), 1.0),
)
def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)`` (Clevert et al., 2015).

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.elu([0.0, 1.0]).tolist()
        [0.0, 1.0]
    """


@unary(
    numpy=lambda np, x: _SELU_SCALE * np.where(x < 0, _SELU_ALPHA * np.expm1(np.minimum(x, 0)), x),
    glsl=f"{_SELU_SCALE} * mix(x, {_SELU_ALPHA} * expm1_(x), x < 0.0)",
    c=f"{_SELU_SCALE}f * vsel(x < 0, {_SELU_ALPHA}f * vexpm1(x), x)",
    grad=lambda dy, y, x: dy * (y + _SELU_SCALE * _SELU_ALPHA).where(~(x > 0), _SELU_SCALE),
)
def selu(x: TensorLike) -> Tensor:
    """Scaled exponential linear unit (Klambauer et al., 2017).

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.selu([0.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: 1 / (1 + np.exp(-x)),
    glsl="sigmoid_(x)",
    c="1.f / (1.f + vexp(-x))",
    grad=lambda dy, y, x: dy * y * (1 - y),
)
def sigmoid(x: TensorLike) -> Tensor:
    """Logistic function, ``1 / (1 + exp(-x))``.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.sigmoid([0.0]).tolist()
        [0.5]
    """


@unary(
    numpy=lambda np, x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
    glsl="mix(min(x, 0.0), x, is_nan(x)) - log1p_(exp_(-abs(x)))",
    c="vsel(x > 0, vset(0.f), x) - vlog1p(vexp(-vabs(x)))",
    grad=lambda dy, y, x: dy * (-x).sigmoid(),
)
def log_sigmoid(x: TensorLike) -> Tensor:
    """Logarithm of the logistic function, without overflow.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.log_sigmoid([-1000.0]).tolist()
        [-1000.0]
    """


@unary(
    numpy=lambda np, x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    glsl="relu_(x) + log1p_(exp_(-abs(x)))",
    c="vsel(x < 0, vset(0.f), x) + vlog1p(vexp(-vabs(x)))",
    grad=lambda dy, y, x: dy * x.sigmoid(),
)
def softplus(x: TensorLike) -> Tensor:
    """``log(1 + exp(x))``, without overflow.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.softplus([1000.0]).tolist()
        [1000.0]
    """


@unary(
    numpy=lambda np, x, alpha: np.where(np.isnan(x), x, np.where(x > 0, 1, alpha)),
    glsl="mix(mix(alpha, 1.0, x > 0.0), x, is_nan(x))",
    c="vsel(x > 0, vset(1.f), vsel(x == x, vset(alpha), x))",
)
def step(x: TensorLike, alpha: float = 0.0) -> Tensor:
    """1 where ``x`` is positive, else ``alpha``.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.step([-2.0, 0.0, 3.0]).tolist()
        [0.0, 0.0, 1.0]
    """


@binary(
    kind=Kind.FLOAT,
    numpy=lambda np, x, y: np.where(x < 0, x * y, x),
    glsl="mix(x, x * y, x < 0.0)",
    c="vsel(x < 0, x * y, x)",
    grad_x=lambda dy, out, x, y: dy.where(x > 0, dy * y),
    grad_y=lambda dy, out, x, y: (dy * x).where(x < 0, 0.0),
)
def prelu(x: TensorLike, y: TensorLike) -> Tensor:
    """``x`` where it is positive, else ``y * x``, with the slopes ``y`` a tensor (He et al., 2015).

    The shapes broadcast together. The result is float32.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.prelu([-4.0, 4.0], [0.5, 0.5]).tolist()
        [-2.0, 4.0]
    """
