"""Tensors as text: aligned numbers, a matrix over several lines, as NumPy prints arrays.

A float is written with as few digits as tell it from other float32 numbers, and with a point.
Large tensors show the beginning and the end of each axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, isfinite
from struct import pack, unpack
from typing import Any, TypeAlias

from webtensor.dtypes import DType, bool_, complex64, float32
from webtensor.shapes import Shape, prod

__all__ = ["array_text"]

#: Writes an element so that all have the same width.
_Writer: TypeAlias = Callable[[Any], str]

#: Tensors with more elements show this many at the ends of each axis.
_MAX_ELEMENTS = 100
_EDGE = 3
_LINE_WIDTH = 75
_PRECISION = 8
_DOTS = "..."


def array_text(values: Sequence[Any], shape: Shape, dtype: DType, indent: int = 0) -> str:
    """Return a tensor's elements, as Python numbers or texts in memory order, as text.

    Lines after the first begin with ``indent`` spaces.
    """
    if not prod(shape):
        return "[]"
    is_whole = len(values) <= _MAX_ELEMENTS
    axes = [range(size) if is_whole else _ends(size) for size in shape]
    shown = [values[index] for index in _offsets(axes, shape)]
    write = _writer(shown, shape, dtype)
    return _Lines(map(write, shown), axes, shape).text(0, " " * indent, _LINE_WIDTH)


def _ends(size: int) -> Sequence[int]:
    """Return the indices of an axis that are shown."""
    if size <= 2 * _EDGE:
        return range(size)
    return [*range(_EDGE), *range(size - _EDGE, size)]


def _offsets(axes: Sequence[Sequence[int]], shape: Shape) -> Iterable[int]:
    """Return the offsets of the elements at indices of each axis, in memory order."""
    offsets = [0]
    for indices, size in zip(axes, shape, strict=True):
        offsets = [offset * size + index for offset in offsets for index in indices]
    return offsets


# -- elements ----------------------------------------------------------------------------------


def _writer(values: Sequence[Any], shape: Shape, dtype: DType) -> _Writer:
    if dtype is complex64:
        real = _float_writer([value.real for value in values])
        imaginary = _float_writer([value.imag for value in values], sign="+")

        def write_complex(value: complex) -> str:
            digits = imaginary(value.imag)
            number = digits.rstrip()
            return real(value.real) + number + "j" + digits[len(number) :]

        return write_complex
    if dtype is float32:
        return _float_writer(values)
    if dtype is bool_:
        width = 5 if shape else 0
        return lambda value: str(value).rjust(width)
    if values and isinstance(values[0], str):
        return repr
    width = max(len(str(value)) for value in values)
    return lambda value: str(value).rjust(width)


def _float_writer(values: Iterable[float], sign: str = "-") -> _Writer:
    """Return a writer of floats, positional or all with an exponent, aligned at the point."""
    non_finite = [f"{value:{sign}}" for value in values if not isfinite(value)]
    finite = [value for value in values if isfinite(value)]
    magnitudes = [abs(value) for value in finite if value]
    largest, smallest = max(magnitudes, default=1.0), min(magnitudes, default=1.0)
    # NumPy compares as float32, too.
    has_exponent = (
        largest >= 1e6 or smallest < _as_float32(1e-4) or _as_float32(largest / smallest) > 1000
    )
    if has_exponent:
        digits = max(len(_shortest(value).partition("e")[0].lstrip("-")) - 2 for value in finite)
        digits = max(digits, 0)

        def text(value: float) -> str:
            mantissa, _, exponent = f"{value:{sign}.{digits}e}".partition("e")
            return f"{mantissa}{'' if digits else '.'}e{exponent}"
    else:

        def text(value: float) -> str:
            return _positional(value, sign)

    parts = [text(value).partition(".") for value in finite]
    before = max((len(integer) for integer, _, _ in parts), default=0)
    after = max((len(fraction) for _, _, fraction in parts), default=0)
    width = max(before + 1 + after, *map(len, non_finite), 0)
    before = width - after - 1

    def write(value: float) -> str:
        if not isfinite(value):
            return f"{value:{sign}}".rjust(width)
        integer, _, fraction = text(value).partition(".")
        return f"{integer.rjust(before)}.{fraction.ljust(after)}"

    return write


def _shortest(value: float) -> str:
    """Return a float32 number with an exponent and as few digits as tell it from the others."""
    rounded = _as_float32(value)
    for digits in range(9):
        text = f"{value:.{digits}e}"
        if _as_float32(float(text)) == rounded:
            break
    return text


def _as_float32(value: float) -> float:
    try:
        return float(unpack("f", pack("f", value))[0])
    except OverflowError:
        return inf


def _positional(value: float, sign: str) -> str:
    """Return a number without an exponent: ``1.``, ``0.1``, ``-2.25``."""
    shortest = _shortest(value)
    mantissa, _, exponent = shortest.partition("e")
    digits = max(len(mantissa.lstrip("-")) - 2, 0) - int(exponent)
    if digits > _PRECISION:
        text = f"{value:{sign}.{_PRECISION}f}".rstrip("0")
    else:
        text = f"{float(shortest):{sign}.{max(digits, 0)}f}"
    return text if "." in text else f"{text}."


# -- lines -------------------------------------------------------------------------------------


class _Lines:
    """Written elements, in brackets and lines by their axes."""

    def __init__(self, words: Iterable[str], axes: Sequence[Sequence[int]], shape: Shape) -> None:
        self._words = iter(words)
        self._axes = axes
        self._shape = shape

    def text(self, axis: int, indent: str, width: int) -> str:
        """Return the text of the next elements from an axis on; its lines begin with ``indent``."""
        if axis == len(self._shape):
            return next(self._words)
        indices = self._axes[axis]
        gap = len(indices) // 2 if len(indices) < self._shape[axis] else None
        indent += " "
        if axis == len(self._shape) - 1:
            return self._row(len(indices), gap, indent, width - 1)
        parts = [self.text(axis + 1, indent, width - 1) for _ in indices]
        if gap is not None:
            parts.insert(gap, _DOTS)
        separator = "," + "\n" * (len(self._shape) - axis - 1) + indent
        return "[" + separator.join(parts) + "]"

    def _row(self, count: int, gap: int | None, indent: str, width: int) -> str:
        """Return the next elements in brackets, broken into lines of at most ``width``."""
        words = [next(self._words) for _ in range(count)]
        if gap is not None:
            words.insert(gap, _DOTS)
        lines = [indent]
        for number, word in enumerate(words):
            if len(lines[-1]) + len(word) > width and len(lines[-1]) > len(indent):
                lines[-1] = lines[-1].rstrip()
                lines.append(indent)
            lines[-1] += word if number == len(words) - 1 else f"{word}, "
        return "[" + "\n".join(lines)[len(indent) :] + "]"
