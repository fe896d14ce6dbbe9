"""Random calls of Fourier transforms, windows and frames."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.table import Array, Case

__all__ = ["GENERATORS"]

NORMS = ("backward", "forward", "ortho")
#: Lengths with all kinds of prime factors.
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 16, 22, 34, 35)
#: Whether the argument is real: not, always, or as it happens.
REAL = {"rfft": "fi", "rfftn": "fi", "ihfft": "fi", "fft": "ccf", "fftn": "ccf"}


def _signal(function: str, draw: Draw, shape: Shape) -> Array:
    return draw.numbers(shape, REAL.get(function, "c"))


def _shape(draw: Draw, most_rank: int = 5) -> Shape:
    """Axes to transform along have elements."""
    return draw.shape(1, most_rank, LENGTHS, 300)


def _halved(function: str) -> bool:
    """Whether the argument stands for a signal of almost twice the length."""
    return function in ("irfft", "irfftn", "hfft")


def _along_one(function: str, draw: Draw) -> Case:
    shape = _shape(draw)
    axis = draw.axis(len(shape))
    options: dict[str, Any] = {"axis": axis} if axis != -1 or draw.chance() else {}
    if draw.chance() or (_halved(function) and shape[axis] == 1):
        options["n"] = draw.pick(LENGTHS)
    if draw.chance():
        options["norm"] = draw.pick(NORMS)
    return call(f"fft.{function}", _signal(function, draw, shape), **options)


def _along_several(function: str, draw: Draw) -> Case:
    shape = _shape(draw, 4)
    options: dict[str, Any] = {}
    axes = list(draw.axes(len(shape), 1))
    if draw.chance():
        options["axes"] = axes
    last = axes[-1] if options else -1
    if draw.chance() or (_halved(function) and shape[last] == 1):
        options["s"] = [draw.pick(LENGTHS[:10]) for _ in axes]
    if draw.chance():
        options["norm"] = draw.pick(NORMS)
    return call(f"fft.{function}", _signal(function, draw, shape), **options)


def _frequencies(function: str, draw: Draw) -> Case:
    d = draw.pick([1.0, 0.5, 0.1, 3.0])
    return call(f"fft.{function}", draw.integer(1, 20), d=d)


def _shift(function: str, draw: Draw) -> Case:
    shape = draw.shape(1)
    axes = draw.axes_or_none(len(shape))
    options: dict[str, Any] = {} if axes is None and draw.chance() else {"axes": axes}
    return call(f"fft.{function}", draw.numbers(shape, "fibcs"), **options)


def _spectral(function: str, draw: Draw) -> Case:
    x = _signal(function, draw, _shape(draw))
    args = (draw.pick(LENGTHS),) if "r" in function and draw.chance() else ()
    return call(f"spectral.{function}", x, *args)


def _window(function: str, draw: Draw) -> Case:
    factors = (draw.number(-1, 1), draw.number(-1, 1)) if "cosine" in function else ()
    return call(function, draw.integer(1, 40), *factors)


def _frame(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(1, 4, (0, 1, 5, 9, 17, 30)), "fis")
    args: tuple[Any, ...] = (draw.integer(1, 12), draw.integer(1, 12))
    if draw.chance():
        args = (*args, True, *((draw.integer(-2, 2),) if draw.chance() else ()))
    return call("signal.frame", x, *args)


def _stft(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(1, 3, (1, 2, 9, 17, 30), 200), "ffi")
    args: list[Any] = [draw.integer(1, 12), draw.integer(1, 12)]
    if draw.chance():
        args.append(draw.pick(LENGTHS))
    return call("signal.stft", x, *args)


GENERATORS: dict[str, Generator] = {
    **{
        f"fft.{function}": partial(_along_one, function)
        for function in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        f"fft.{function}": partial(_along_several, function)
        for function in ("fftn", "ifftn", "rfftn", "irfftn")
    },
    **{f"fft.{function}": partial(_frequencies, function) for function in ("fftfreq", "rfftfreq")},
    **{f"fft.{function}": partial(_shift, function) for function in ("fftshift", "ifftshift")},
    **{
        f"spectral.{function}": partial(_spectral, function)
        for function in ("fft", "ifft", "rfft", "irfft")
    },
    **{
        function: partial(_window, function)
        for function in (
            "cosine_window",
            "signal.cosine_window",
            "signal.hann_window",
            "signal.hamming_window",
        )
    },
    "signal.frame": _frame,
    "signal.stft": _stft,
}
