"""Windows of signals, by the names that SciPy has for those that need no argument.

A formula is of a place and of the number of places of a symmetric window; a periodic one is a
symmetric one with a place more, without its last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import acosh, cos, exp, floor, pi, prod, sin

from webtensor.keras.names import nearest

__all__ = ["require_window", "window_values"]

Formula = Callable[[int, int], float]


def _cosines(*weights: float) -> Formula:
    """A sum of cosines of 0, 1, 2, … periods, with alternating signs."""

    def formula(place: int, count: int) -> float:
        angle = 2 * pi * place / (count - 1)
        signed = (-weight if k % 2 else weight for k, weight in enumerate(weights))
        return sum(weight * cos(k * angle) for k, weight in enumerate(signed))

    return formula


def _from_middle(place: int, count: int) -> float:
    """How far a place is from the middle: 0 there, and 1 at both ends."""
    return abs(2 * place / (count - 1) - 1)


def _barthann(place: int, count: int) -> float:
    away = _from_middle(place, count) / 2
    return 0.62 - 0.48 * away + 0.38 * cos(2 * pi * away)


def _bohman(place: int, count: int) -> float:
    away = _from_middle(place, count)
    return 0.0 if away == 1 else (1 - away) * cos(pi * away) + sin(pi * away) / pi


def _lanczos(place: int, count: int) -> float:
    angle = pi * _from_middle(place, count)
    return sin(angle) / angle if angle else 1.0


def _parzen(place: int, count: int) -> float:
    away = abs(place - (count - 1) / 2)
    part = away / (count / 2)
    return 1 - 6 * part**2 * (1 - part) if away <= (count - 1) / 4 else 2 * (1 - part) ** 3


def _triangle(place: int, count: int) -> float:
    return 1 - abs(place - (count - 1) / 2) / ((count + count % 2) / 2)


def _tukey(place: int, count: int) -> float:
    """A rectangle, half of whose length are slopes of cosines."""
    place = min(place, count - 1 - place)
    if place > floor((count - 1) / 4):
        return 1.0
    return (1 + cos(pi * (4 * place / (count - 1) - 1))) / 2


@cache
def _taylor_weights() -> tuple[float, ...]:
    """Weights of cosines that keep four side lobes 30 dB below the main one."""
    lobes = range(1, 4)
    height = (acosh(10 ** (30 / 20)) / pi) ** 2
    width = 16 / (height + 3.5**2)
    return tuple(
        (-1) ** (lobe + 1)
        * prod(1 - lobe**2 / width / (height + (one - 0.5) ** 2) for one in lobes)
        / (2 * prod(1 - lobe**2 / one**2 for one in lobes if one != lobe))
        for lobe in lobes
    )


def _taylor(place: int, count: int) -> float:
    def height(at: float) -> float:
        angle = 2 * pi * (at - count / 2 + 0.5) / count
        return 1 + 2 * sum(
            weight * cos(k * angle) for k, weight in enumerate(_taylor_weights(), start=1)
        )

    return height(place) / height((count - 1) / 2)


_FORMULAS: dict[str, Formula] = {
    "bartlett": lambda place, count: 1 - _from_middle(place, count),
    "barthann": _barthann,
    "blackman": _cosines(0.42, 0.5, 0.08),
    "blackmanharris": _cosines(0.35875, 0.48829, 0.14128, 0.01168),
    "bohman": _bohman,
    "boxcar": lambda place, count: 1.0,
    "cosine": lambda place, count: sin(pi * (place + 0.5) / count),
    "exponential": lambda place, count: exp(-abs(place - (count - 1) / 2)),
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
    """Raise unless a window is a known name, values or None; ``owner`` is who wants it.

    Raises:
        ValueError: there is no window of that name.
    """
    if isinstance(window, str) and window not in _FORMULAS:
        raise ValueError(
            f"{owner}: window must be one of {', '.join(_FORMULAS)}, values or None, but got "
            f"{window!r}{nearest(window, _FORMULAS)}"
        )


def window_values(name: str, length: int, periodic: bool) -> list[float]:
    """Return a window's values.

    Example:
        >>> from webtensor.keras.window_functions import window_values
        >>> window_values("bartlett", 4, periodic=True)
        [0.0, 0.5, 1.0, 0.5]
    """
    if length <= 1:
        return [1.0] * length
    count = length + 1 if periodic else length
    return [_FORMULAS[name](place, count) for place in range(length)]
