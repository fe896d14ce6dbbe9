"""Masks: which steps or samples count, as an attribute of tensors."""

from __future__ import annotations

from typing import Any

from webtensor.keras.symbols import KerasTensor
from webtensor.ops import logical_or, not_equal

__all__ = ["either", "mask_of", "symbolic_ops", "unequal"]


def symbolic_ops() -> Any:
    """Return ``keras.ops``, for masks of symbolic tensors; other masks do without its import."""
    from webtensor.keras import ops

    return ops


def either(mask: Any, other: Any) -> Any:
    """Return where one of two masks is True, which may be symbolic."""
    if isinstance(mask, KerasTensor) or isinstance(other, KerasTensor):
        return symbolic_ops().logical_or(mask, other)
    return logical_or(mask, other)


def unequal(x: Any, value: Any) -> Any:
    """Return where a tensor, which may be symbolic, is not ``value``."""
    if isinstance(x, KerasTensor):
        return symbolic_ops().not_equal(x, value)
    return not_equal(x, value)


def mask_of(value: Any) -> Any:
    """Return the mask that a layer has given a tensor, or None."""
    return getattr(value, "_keras_mask", None)
