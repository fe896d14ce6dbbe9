"""Results as Keras returns them: NumPy's arrays, where NumPy is installed.

Some functions return a tensor if they are called with one.
"""

from __future__ import annotations

from webtensor.engine import Tensor, TensorLike

__all__ = ["as_array", "like_input"]


def as_array(x: Tensor) -> TensorLike:
    """Convert a tensor to a NumPy array, where NumPy is installed."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return x
    return x.numpy()


def like_input(x: Tensor, inputs: TensorLike) -> TensorLike:
    """Return a result as a tensor if the inputs were one, otherwise as by ``as_array``."""
    return x if isinstance(inputs, Tensor) else as_array(x)
