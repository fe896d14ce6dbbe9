"""The number formats of devices, and their consequences for the table.

A case is judged as a device can hold it. Its float operands are rounded first, so that only what is
computed of them is judged. Results may then have as many units of the device's own format wrong as
their tolerance says of float32's, and what needs no rounding in float32 may need one here. Cases
that leave the device's range are left out, by `Precision.fits`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["HALF", "HALF_FOR_ALL", "SINGLE", "SINGLE_FOR_ALL", "Precision"]

Array = np.ndarray[Any, Any]


def _parts(array: Array) -> Array:
    """The real numbers that complex ones are made of."""
    converted = np.asarray(array)
    return np.stack([converted.real, converted.imag]) if converted.dtype.kind == "c" else converted


@dataclass(frozen=True)
class Precision:
    """A device's floats: their format, and whether larger numbers become the maximum."""

    floats: Any
    saturates: bool = False
    #: The largest integers that are exact.
    integers: int = 2**31

    @property
    def is_single(self) -> bool:
        """Whether floats are those of float32."""
        return self.floats is np.float32

    @property
    def ulp(self) -> float:
        """Spacing of the numbers in [1, 2)."""
        return float(np.finfo(self.floats).eps)

    @property
    def smallest_normal(self) -> float:
        """Numbers below this may be flushed to zero, as GPUs and some SIMD units do."""
        return float(np.finfo(self.floats).smallest_normal)

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return float(np.finfo(self.floats).max)

    def representable(self, argument: Any) -> Any:
        """Return an argument in the device's format."""
        if isinstance(argument, np.ndarray):
            if self.is_single or argument.dtype.kind not in "fc":
                return argument
            if argument.dtype.kind == "c":
                rounded = np.empty_like(argument)
                rounded.real, rounded.imag = (
                    self.representable(argument.real),
                    self.representable(argument.imag),
                )
                return rounded
            return self.limited(argument).astype(self.floats).astype(np.float32)
        if isinstance(argument, (list, tuple)):
            return type(argument)(map(self.representable, argument))
        return argument

    def fits_operands(self, operands: Sequence[Array]) -> bool:
        """Whether the device can represent operands exactly."""
        return not any(map(self._is_beyond, operands))

    def fits(self, operands: Sequence[Array], results: Sequence[Array]) -> bool:
        """Whether the device can hold results, and operands as what the results are made of."""
        if any(map(self._is_beyond, results)):
            return False
        makes_floats = any(result.dtype.kind in "fc" for result in results)
        integers = [operand.astype(np.float64) for operand in operands if operand.dtype.kind == "i"]
        return not (makes_floats and any(map(self._is_beyond, integers)))

    def _is_beyond(self, numbers: Array) -> bool:
        if numbers.size > self.integers:  # as indices of elements may be
            return True
        if numbers.dtype.kind not in "fci" or (numbers.dtype.kind != "i" and not self.saturates):
            return False
        largest = self.integers if numbers.dtype.kind == "i" else self.largest
        parts = _parts(numbers).astype(np.float64)
        return bool((np.isfinite(parts) & (np.abs(parts) > largest)).any())

    def limited(self, result: Array) -> Array:
        """Return a result whose numbers are clipped to the maximum."""
        if not self.saturates or result.dtype.kind not in "fc":
            return result
        if result.dtype.kind == "c":
            limited = np.empty_like(result)
            limited.real, limited.imag = self.limited(result.real), self.limited(result.imag)
            return limited
        return np.where(np.isnan(result), result, np.clip(result, -self.largest, self.largest))

    def is_exact(self, result: Array) -> Array:
        """Where a result needs no rounding."""
        parts = _parts(result)
        with np.errstate(over="ignore", invalid="ignore"):
            same = (parts.astype(self.floats) == parts) | ~np.isfinite(parts)
        return same.all(0) if result.dtype.kind == "c" else same


SINGLE = Precision(np.float32)
HALF = Precision(np.float16, saturates=True)
#: Where integers are stored as floats.
SINGLE_FOR_ALL = Precision(np.float32, integers=2**24)
HALF_FOR_ALL = Precision(np.float16, saturates=True, integers=2**11)
