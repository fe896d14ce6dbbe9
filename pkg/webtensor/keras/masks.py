"""Masks: which steps or samples count, as an attribute of tensors."""

from __future__ import annotations

from typing import Any

__all__ = ["mask_of"]


def mask_of(value: Any) -> Any:
    """Return the mask that a layer has given a tensor, or None."""
    return getattr(value, "_keras_mask", None)
