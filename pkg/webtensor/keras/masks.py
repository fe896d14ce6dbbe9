"""Masks: which steps or examples count, as an attribute of tensors.

The mask of a symbolic tensor is symbolic: the output of an operation such as ``NotEqual``.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from webtensor import keras
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import SymbolicOrTensor
from webtensor.ops import logical_or, not_equal

__all__ = ["either", "mask_of", "unequal"]


def _symbolic_ops() -> ModuleType:
    """Return ``keras.ops``, a module that needs this one."""
    return keras.ops


def either(mask: SymbolicOrTensor, other: SymbolicOrTensor) -> SymbolicOrTensor:
    """Return where one of two masks is True."""
    if isinstance(mask, KerasTensor) or isinstance(other, KerasTensor):
        symbol: KerasTensor = _symbolic_ops().logical_or(mask, other)
        return symbol
    return logical_or(mask, other)


def unequal(x: SymbolicOrTensor, value: float) -> SymbolicOrTensor:
    """Return where a tensor is not ``value``."""
    if isinstance(x, KerasTensor):
        symbol: KerasTensor = _symbolic_ops().not_equal(x, value)
        return symbol
    return not_equal(x, value)


def mask_of(value: object) -> Any:
    """Return the mask that a layer attached to a tensor, or None."""
    return getattr(value, "_keras_mask", None)
