"""Window functions, by the names of those of SciPy that need no argument.

A formula takes an index and the size of a symmetric window; a periodic window is a symmetric one
that is larger by 1, without its last element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import acosh, cos, exp, floor, pi, prod, sin

from webtensor.keras.names import nearest

__all__ = ["require_window", "window_values"]

Formula = Callable[[int, int], float]


def _cosines(*weights: float) -> Formula:
    """Return a sum of cosines of 0, 1, 2, … periods, with alternating signs."""

    def formula(index: int, size: int) -> float:
        angle = 2 * pi * index / (size - 1)
        signed = (-weight if k % 2 else weight for k, weight in enumerate(weights))
        return sum(weight * cos(k * angle) for k, weight in enumerate(signed))

    return formula


def _from_middle(index: int, size: int) -> float:
    """Return the distance of an index from the middle: 0 there, 1 at both ends."""
    return abs(2 * index / (size - 1) - 1)


def _barthann(index: int, size: int) -> float:
    away = _from_middle(index, size) / 2
    return 0.62 - 0.48 * away + 0.38 * cos(2 * pi * away)


def _bohman(index: int, size: int) -> float:
    away = _from_middle(index, size)
    return 0.0 if away == 1 else (1 - away) * cos(pi * away) + sin(pi * away) / pi


def _lanczos(index: int, size: int) -> float:
    angle = pi * _from_middle(index, size)
    return sin(angle) / angle if angle else 1.0


def _parzen(index: int, size: int) -> float:
    away = abs(index - (size - 1) / 2)
    part = away / (size / 2)
    return 1 - 6 * part**2 * (1 - part) if away <= (size - 1) / 4 else 2 * (1 - part) ** 3


def _triangle(index: int, size: int) -> float:
    return 1 - abs(index - (size - 1) / 2) / ((size + size % 2) / 2)


def _tukey(index: int, size: int) -> float:
    """Return a rectangle with cosine slopes, which are half of its length."""
    index = min(index, size - 1 - index)
    if index > floor((size - 1) / 4):
        return 1.0
    return (1 + cos(pi * (4 * index / (size - 1) - 1))) / 2


@cache
def _taylor_weights() -> tuple[float, ...]:
    """Return weights of cosines with which four side lobes are 30 dB below the main one."""
    lobes = range(1, 4)
    height = (acosh(10 ** (30 / 20)) / pi) ** 2
    width = 16 / (height + 3.5**2)
    return tuple(
        (-1) ** (lobe + 1)
        * prod(1 - lobe**2 / width / (height + (other - 0.5) ** 2) for other in lobes)
        / (2 * prod(1 - lobe**2 / other**2 for other in lobes if other != lobe))
        for lobe in lobes
    )


def _taylor(index: int, size: int) -> float:
    def height(at: float) -> float:
        angle = 2 * pi * (at - size / 2 + 0.5) / size
        return 1 + 2 * sum(
            weight * cos(k * angle) for k, weight in enumerate(_taylor_weights(), start=1)
        )

    return height(index) / height((size - 1) / 2)


_FORMULAS: dict[str, Formula] = {
    "bartlett": lambda index, size: 1 - _from_middle(index, size),
    "barthann": _barthann,
    "blackman": _cosines(0.42, 0.5, 0.08),
    "blackmanharris": _cosines(0.35875, 0.48829, 0.14128, 0.01168),
    "bohman": _bohman,
    "boxcar": lambda index, size: 1.0,
    "cosine": lambda index, size: sin(pi * (index + 0.5) / size),
    "exponential": lambda index, size: exp(-abs(index - (size - 1) / 2)),
    "flattop": _cosines(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
    "hamming": _cosines(0.54, 0.46),
    "hann": _cosines(0.5, 0.5),
    "lanczos": _lanczos,
    "nuttall": _cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "parzen": _parzen,
    "taylor": _taylor,
    "triang": _triangle,
    "tukey": _tukey,
}


def require_window(owner: str, window: str | Sequence[float] | None) -> None:
    """Check that a window is the name of one, values or None; errors begin with ``owner``.

    Raises:
        ValueError: the name is unknown.
    """
    if isinstance(window, str) and window not in _FORMULAS:
        raise ValueError(
            f"{owner}: window must be one of {', '.join(_FORMULAS)}, values or None, but got "
            f"{window!r}{nearest(window, _FORMULAS)}"
        )


def window_values(name: str, length: int, periodic: bool) -> list[float]:
    """Return the values of a window.

    Example:
        >>> from webtensor.keras.window_functions import window_values
        >>> window_values("bartlett", 4, periodic=True)
        [0.0, 0.5, 1.0, 0.5]
    """
    if length <= 1:
        return [1.0] * length
    size = length + 1 if periodic else length
    return [_FORMULAS[name](index, size) for index in range(length)]
