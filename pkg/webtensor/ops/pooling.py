"""Pooling over sliding windows.

Average pooling is linear, so it and its transpose are each other's gradients. Max pooling picks one
element per window, the first greatest: its gradient scatters to those elements, and the gradient of
that picks them.
"""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import float32
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, run
from webtensor.geometry import Padding, Window, make_window, pair
from webtensor.ops.casting import cast_to
from webtensor.ops.movement import reshape

__all__ = ["avg_pool", "max_pool"]


def _output_shape(window: Window) -> tuple[int, int, int, int]:
    return window.batch, window.out_height, window.out_width, window.out_channels


def _input_shape(window: Window) -> tuple[int, int, int, int]:
    return window.batch, window.in_height, window.in_width, window.in_channels


_MAX_POOL: Primitive = Primitive(
    "max_pool",
    gradients=(
        lambda dy, y, x, window: run(
            _MAX_POOL_SCATTER, (dy, x), _input_shape(window), float32, window
        ),
    ),
)
#: Adds each element of ``dy`` where the greatest element of its window of ``x`` is.
_MAX_POOL_SCATTER: Primitive = Primitive(
    "max_pool_scatter",
    gradients=(
        lambda ddx, dx, dy, x, window: run(
            _MAX_POOL_PICK, (ddx, x), _output_shape(window), float32, window
        ),
        None,
    ),
)
#: Picks from the first operand what lies where the greatest element of each window of ``x`` is.
_MAX_POOL_PICK: Primitive = Primitive(
    "max_pool_pick",
    gradients=(
        lambda dy, y, v, x, window: run(
            _MAX_POOL_SCATTER, (dy, x), _input_shape(window), float32, window
        ),
        None,
    ),
)
_AVG_POOL: Primitive = Primitive(
    "avg_pool",
    gradients=(
        lambda dy, y, x, window: run(
            _AVG_POOL_GRADIENT, (dy,), _input_shape(window), float32, window
        ),
    ),
)
_AVG_POOL_GRADIENT: Primitive = Primitive(
    "avg_pool_gradient",
    gradients=(
        lambda ddx, dx, dy, window: run(_AVG_POOL, (ddx,), _output_shape(window), float32, window),
    ),
)


def _pool(
    primitive: Primitive,
    x: TensorLike,
    filter_size: Any,
    strides: Any,
    pad: Padding,
    dim_rounding_mode: str | None,
) -> Tensor:
    name = primitive.name
    x = cast_to(as_operand(name, x), float32)
    single = len(x.shape) == 3
    if single:
        x = reshape(x, (1, *x.shape))
    if len(x.shape) != 4:
        raise ValueError(f"{name}: x must have rank 3 or 4, but its shape is {x.shape}")
    size = pair(name, "filter_size", filter_size)
    strides = size if strides is None else strides
    window = make_window(name, x.shape, x.shape[3], size, strides, pad, 1, dim_rounding_mode)
    y = run(primitive, (x,), _output_shape(window), float32, window)
    return reshape(y, y.shape[1:]) if single else y


def max_pool(
    x: TensorLike,
    filter_size: Any,
    strides: Any = None,
    pad: Padding = "valid",
    dim_rounding_mode: str | None = None,
) -> Tensor:
    """Greatest element of each window of (batch, height, width, channels).

    ``filter_size`` and ``strides`` (the size by default) are a number or (height, width); ``pad``
    and
    ``dim_rounding_mode`` are as in ``conv2d``, and padding is never picked.

    Example:
        >>> import webtensor as wt
        >>> wt.max_pool(wt.tensor([1.0, 2.0, 3.0, 4.0], shape=(1, 2, 2, 1)), 2).tolist()
        [[[[4.0]]]]
    """
    return _pool(_MAX_POOL, x, filter_size, strides, pad, dim_rounding_mode)


def avg_pool(
    x: TensorLike,
    filter_size: Any,
    strides: Any = None,
    pad: Padding = "valid",
    dim_rounding_mode: str | None = None,
) -> Tensor:
    """Mean of the elements of each window, padding not counted. See ``max_pool``.

    Example:
        >>> import webtensor as wt
        >>> wt.avg_pool(wt.tensor([1.0, 2.0, 3.0, 4.0], shape=(1, 2, 2, 1)), 2).tolist()
        [[[[2.5]]]]
    """
    return _pool(_AVG_POOL, x, filter_size, strides, pad, dim_rounding_mode)
