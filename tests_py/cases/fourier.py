"""Cases of Fourier transforms, windows and frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, complexes, floats, ints
from tests_py.cases.table import (
    EXACT,
    ROUNDED,
    Case,
    Tolerance,
    combined,
    gradient_of,
    second_derivative_of,
)

__all__ = ["FOURIER", "GRADIENTS", "SIGNAL"]


def _sizes(x: Any, *_: Any, norm: str = "backward", **__: Any) -> Any:
    """The size of the spectrum that belongs to elements of size 1."""
    return 1.5 * max(1.0, float(np.abs(x).max(initial=0))) * max(1.0, np.size(x)) ** 0.5


TRANSFORM = Tolerance(
    "each of log n stages adds an error of a few ULP of the root mean square of the spectrum, "
    "which is √n times that of the signal (or √n times less for the inverse); a convolution, for "
    "lengths with a large prime factor, has three times the stages",
    ulps=12,
    gpu_ulps=32,
    scale=_sizes,
)

#: Products of the radices that kernels know, and lengths with other prime factors.
LENGTHS = (*range(1, 20), 22, 25, 26, 27, 29, 32, 35, 49, 60, 64, 77, 97, 121, 128, 169, 211, 343)
LONG = (1000, 1024, 1031, 2048, 3125, 4099)


# -- oracles: the definition, as a product with a matrix ------------------------------------------


def _matrix(n: int, sign: int) -> Any:
    k = np.arange(n)
    roots = np.exp(sign * 2j * np.pi * k / n)
    return roots[np.outer(k, k) % n]


FACTORS: dict[tuple[str, int], Callable[[int], float]] = {
    ("backward", -1): lambda n: 1.0,
    ("backward", 1): lambda n: 1 / n,
    ("forward", -1): lambda n: 1 / n,
    ("forward", 1): lambda n: 1.0,
    ("ortho", -1): lambda n: n**-0.5,
    ("ortho", 1): lambda n: n**-0.5,
}


def _resized(x: Any, n: int | None, axis: int) -> Any:
    """``x`` with an axis at the end, cut or padded to ``n``."""
    rows = np.moveaxis(np.asarray(x), axis, -1)
    n = rows.shape[-1] if n is None else n
    padded = np.zeros((*rows.shape[:-1], max(n, rows.shape[-1])), rows.dtype)
    padded[..., : rows.shape[-1]] = rows
    return padded[..., :n]


def _transform(x: Any, sign: int, n: int | None, axis: int, norm: str) -> Any:
    rows = _resized(x, n, axis)
    n = rows.shape[-1]
    return np.moveaxis(rows @ _matrix(n, sign) * FACTORS[norm, sign](n), -1, axis)


def _fft(x: Any, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return _transform(x, -1, n, axis, norm)


def _ifft(x: Any, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return _transform(x, 1, n, axis, norm)


def _rfft(x: Any, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    whole = np.moveaxis(_fft(x, n, axis, norm), axis, -1)
    return np.moveaxis(whole[..., : whole.shape[-1] // 2 + 1], -1, axis)


def _irfft(x: Any, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    n = 2 * (np.shape(x)[axis] - 1) if n is None else n
    half = _resized(x, n // 2 + 1, axis)
    k = np.arange(n)
    # The elements between the first and the middle one count twice: for their mirror images.
    weights = np.where((np.arange(n // 2 + 1) == 0) | (np.arange(n // 2 + 1) * 2 == n), 1, 2)
    angles = 2 * np.pi * (np.outer(np.arange(n // 2 + 1), k) % n) / n
    signal = (half.real * weights) @ np.cos(angles) - (half.imag * weights) @ np.sin(angles)
    return np.moveaxis(signal * FACTORS[norm, 1](n), -1, axis)


def _axes(x: Any, s: Any, axes: Any) -> list[int]:
    rank = np.ndim(x)
    return list(range(0 if s is None else rank - len(s), rank)) if axes is None else list(axes)


def _several(x: Any, sign: int, s: Any, axes: Any, norm: str) -> Any:
    for index, axis in enumerate(_axes(x, s, axes)):
        x = _transform(x, sign, None if s is None else s[index], axis, norm)
    return x


def _fftn(x: Any, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    return _several(x, -1, s, axes, norm)


def _ifftn(x: Any, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    return _several(x, 1, s, axes, norm)


def _rfftn(x: Any, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    last = -1 if axes is None else axes[-1]
    whole = np.moveaxis(_fftn(x, s, axes, norm), last, -1)
    return np.moveaxis(whole[..., : whole.shape[-1] // 2 + 1], -1, last)


def _irfftn(x: Any, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    axes = _axes(x, s, axes)
    others = None if s is None else s[:-1]
    x = _several(x, 1, others, axes[:-1], norm)
    return _irfft(x, None if s is None else s[-1], axes[-1], norm)


SWAPPED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _hfft(x: Any, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return _irfft(np.conj(x), n, axis, SWAPPED[norm])


def _ihfft(x: Any, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return np.conj(_rfft(x, n, axis, SWAPPED[norm]))


def _spectral_irfft(x: Any, n: int | None = None) -> Any:
    return _irfft(x, max(1, 2 * (np.shape(x)[-1] - 1)) if n is None else n)


def _frequencies(n: int, d: float = 1.0) -> Any:
    return np.fft.fftfreq(n, d)


# -- cases ----------------------------------------------------------------------------------------


def _fourier_cases() -> list[Case]:
    cases = [
        Case("spectral.fft", (complexes((3, n), -1, 1),), _fft, TRANSFORM, sample=n in (12, 17, 64))
        for n in LENGTHS
    ]
    cases += [
        Case("spectral.ifft", (complexes((2, n), -1, 1),), _ifft, TRANSFORM) for n in LENGTHS[::2]
    ]
    cases += [Case("spectral.fft", (complexes((1, n), -1, 1),), _fft, TRANSFORM) for n in LONG]
    cases += [Case("spectral.ifft", (complexes((n,), -1, 1),), _ifft, TRANSFORM) for n in LONG[::2]]
    for n in (1, 2, 3, 8, 9, 31, 100):
        half = n // 2 + 1
        cases += [
            Case("spectral.rfft", (floats((2, n), -1, 1),), _rfft, TRANSFORM, sample=n == 9),
            Case("spectral.irfft", (complexes((2, half), -1, 1),), _spectral_irfft, TRANSFORM),
            Case("spectral.irfft", (complexes((2, half), -1, 1), n), _spectral_irfft, TRANSFORM),
            Case("spectral.rfft", (floats((2, 5)), n), _rfft, TRANSFORM),
        ]
    shape = (3, 4, 5)
    for axis in (-1, 0, 1):
        for norm in FACTORS:
            options: dict[str, Any] = {"axis": axis, "norm": norm[0]}
            cases += [
                Case("fft.fft", (complexes(shape),), _fft, TRANSFORM, options),
                Case("fft.ifft", (complexes(shape),), _ifft, TRANSFORM, options),
                Case("fft.rfft", (floats(shape),), _rfft, TRANSFORM, options),
                Case("fft.irfft", (complexes(shape),), _irfft, TRANSFORM, options),
                Case("fft.hfft", (complexes(shape),), _hfft, TRANSFORM, options),
                Case("fft.ihfft", (floats(shape),), _ihfft, TRANSFORM, options),
            ]  # fmt: skip
    for n in (1, 2, 6, 7, 11):
        length: dict[str, Any] = {"n": n, "axis": 1}
        cases += [
            Case("fft.fft", (complexes(shape),), _fft, TRANSFORM, length, sample=n == 6),
            Case("fft.irfft", (complexes(shape),), _irfft, TRANSFORM, length, sample=n == 7),
            Case("fft.rfft", (floats(shape),), _rfft, TRANSFORM, length),
            Case("fft.hfft", (complexes(shape),), _hfft, TRANSFORM, length),
            Case("fft.ihfft", (ints(shape),), _ihfft, TRANSFORM, length),
        ]
    for options in (
        {},
        {"norm": "ortho"},
        {"axes": [0, 2]},
        {"axes": [2, 0]},
        {"axes": [-1]},
        {"s": [2, 7]},
        {"s": [4, 3, 6], "norm": "forward"},
        {"s": [3, 5], "axes": [1, 0]},
    ):
        cases += [
            Case("fft.fftn", (complexes(shape),), _fftn, TRANSFORM, options),
            Case("fft.ifftn", (complexes(shape),), _ifftn, TRANSFORM, options),
            Case("fft.rfftn", (floats(shape),), _rfftn, TRANSFORM, options),
            Case("fft.irfftn", (complexes(shape),), _irfftn, TRANSFORM, options),
        ]
    for n in (1, 2, 5, 8, 3001):
        cases += [
            Case("fft.fftfreq", (n,), _frequencies, ROUNDED),
            Case(
                "fft.rfftfreq",
                (n,),
                lambda n, d: np.arange(n // 2 + 1) / (n * d),
                ROUNDED,
                {"d": 0.1},
            ),
            Case("fft.rfftfreq", (n,), np.fft.rfftfreq, ROUNDED),
            Case("fft.fftshift", (ints((n, 3)),), np.fft.fftshift),
            Case("fft.ifftshift", (ints((n, 3)),), np.fft.ifftshift),
            Case("fft.fftshift", (ints((3, n)),), np.fft.fftshift, kwargs={"axes": -1}),
        ]
    return [
        *cases,
        Case("fft.fft", (floats((6,)),), _fft, TRANSFORM),
        Case("fft.fft", (ints((6,)),), _fft, TRANSFORM),
        Case("fft.fft", (complexes((0, 4)),), lambda x: x),
        Case("fft.fft", (complexes((2, 0)),), np.fft.fft, EXACT, {"n": 5}),
        Case("fft.irfft", (complexes((2, 0)),), lambda x, n: np.zeros((2, n)), EXACT, {"n": 5}),
        Case("fft.rfft", (floats((0, 4)),), lambda x: np.zeros((0, 3), complex)),
        Case("fft.fftn", (complexes((2, 3)),), lambda x, axes: x, kwargs={"axes": []}),
    ]


def _height(x: Any, period: float, a: float, b: float) -> Any:
    return a - b * np.cos(2 * np.pi * x / period)


LONG_WINDOW = Tolerance(
    "a cosine in float32, of an angle that was rounded twice: see `MATH`; heights are up to 1",
    ulps=4,
    gpu_ulps=16,
    scale=lambda *args: 1.0,
)


def _window(length: int, a: float = 0.5, b: float = 0.5) -> Any:
    if length == 1:
        return np.array([a + b])
    k = np.arange(length)
    return a - b * np.cos(2 * np.pi * k / (length - length % 2))


def _frames(x: Any, length: int, step: int, pad_end: bool = False, value: float = 0) -> Any:
    rows = []
    for start in range(0, np.shape(x)[-1], step):
        row = x[..., start : start + length]
        missing = length - row.shape[-1]
        if missing and not pad_end:
            break
        rows.append(np.concatenate([row, np.full((*row.shape[:-1], missing), value, x.dtype)], -1))
    return np.stack(rows, -2) if rows else np.zeros((*np.shape(x)[:-1], 0, length), x.dtype)


def _stft(x: Any, length: int, step: int, size: int | None = None, window_fn: Any = _window) -> Any:
    size = 1 << (length - 1).bit_length() if size is None else size
    return _rfft(_frames(x, length, step) * (window_fn(length) if window_fn else 1), size)


def _signal_cases() -> list[Case]:
    framings: tuple[tuple[Any, ...], ...] = (
        (4, 2),
        (4, 4),
        (3, 5),
        (5, 1),
        (1, 1),
        (17, 3),
        (18, 1),
        (4, 3, True),
        (20, 4, True, 1.5),
        (3, 7, True),
    )
    cases = [
        Case("signal.frame", (floats((17,)), *framing), _frames, EXACT, sample=framing == (4, 2))
        for framing in framings
    ]
    windows = [Case("signal.hann_window", (n,), _window, ROUNDED) for n in (0, 1, 2, 5, 8, 101)]
    windows += [
        Case("signal.hamming_window", (n,), lambda n: _window(n, 0.54, 0.46), ROUNDED)
        for n in (0, 1, 2, 5, 8, 101)
    ]
    windows += [Case("signal.hann_window", (n,), _window, LONG_WINDOW) for n in (5000, 5001)]
    windows.append(
        Case("height_of_window", (ints((50,), 0, 90), 90, 0.54, 0.46), _height, LONG_WINDOW)
    )
    return [
        *cases,
        *windows,
        Case(
            "enclosing_powers",
            ([0.1, 0.5, 1, 1.5, 2, 2.001, 3, 4, 5, 1023.5, 1024, 1025],),
            lambda values: (2 ** np.ceil(np.log2(np.maximum(values, 1)))).astype(int),
        ),
        Case("signal.cosine_window", (7, 0.3, 0.9), _window, ROUNDED),
        Case("cosine_window", (6, 1, 2), _window, ROUNDED),
        Case("signal.frame", (floats((2, 3, 9)), 4, 2), _frames),
        Case("signal.frame", (floats((2, 3, 9)), 4, 3, True, 1.5), _frames),
        Case("signal.frame", (ints((9,)), 4, 2), _frames),
        Case("signal.frame", (floats((0,)), 4, 2, True), _frames),
        Case("signal.frame", (floats((2, 5)), 6, 0), lambda x, *_: np.zeros((2, 0, 6))),
        Case("signal.frame", (floats((0,)), 4, 0, True), lambda x, *_: np.zeros((0, 4))),
        Case("signal.stft", (floats((100,)), 16, 8), _stft, TRANSFORM, sample=True),
        Case("signal.stft", (floats((100,)), 10, 5), _stft, TRANSFORM),
        Case("signal.stft", (floats((2, 50)), 10, 5, 11), _stft, TRANSFORM),
        Case("signal.stft", (ints((50,)), 10, 20, 8), _stft, TRANSFORM),
        Case("signal.stft", (floats((50,)), 10, 5), _stft, TRANSFORM, {"window_fn": None}),
    ]


def _gradient_cases() -> list[Case]:
    x, z = floats((2, 5), -1, 1), complexes((2, 5), -1, 1)
    rows: tuple[tuple[str, tuple[Any, ...], Any, dict[str, Any]], ...] = (
        ("spectral.fft", (z,), _fft, {}),
        ("spectral.ifft", (z,), _ifft, {}),
        ("spectral.fft", (complexes((17,)),), _fft, {}),
        ("spectral.rfft", (x,), _rfft, {}),
        ("spectral.irfft", (z,), _spectral_irfft, {}),
        ("fft.fft", (z,), _fft, {"axis": 0, "norm": "ortho"}),
        ("fft.fft", (x,), _fft, {"n": 7}),
        ("fft.ifft", (z,), _ifft, {"axis": 0, "norm": "forward"}),
        ("fft.rfft", (x,), _rfft, {"n": 4}),
        ("fft.irfft", (z,), _irfft, {"n": 9}),
        ("fft.irfft", (z,), _irfft, {"n": 4}),
        ("fft.hfft", (z,), _hfft, {}),
        ("fft.ihfft", (x,), _ihfft, {}),
        ("fft.fftn", (complexes((2, 3)),), _fftn, {}),
        ("fft.ifftn", (complexes((2, 3)),), _ifftn, {"s": [3, 2]}),
        ("fft.rfftn", (floats((2, 3)),), _rfftn, {"axes": [1, 0]}),
        ("fft.irfftn", (complexes((2, 3)),), _irfftn, {}),
        ("fft.fftshift", (x,), np.fft.fftshift, {}),
        ("signal.frame", (floats((9,)), 4, 2), _frames, {}),
        ("signal.frame", (floats((9,)), 4, 3, True), _frames, {}),
        ("signal.frame", (floats((2, 9)), 2, 5), _frames, {}),
        ("signal.frame", (floats((2, 3)), 4, 1), _frames, {}),
        ("signal.stft", (floats((12,)), 4, 2), _stft, {}),
    )
    cases = [
        gradient_of(Case(name, args, oracle, kwargs=options))
        for name, args, oracle, options in rows
    ]
    squared = Case("spectrum_power", (arr([0.5, -1, 2, 0.3, 1]),), lambda x: np.abs(_rfft(x)) ** 2)
    squared_signal = Case("combined", ("spectral.irfft", z), combined(_spectral_irfft))
    return [
        *cases,
        gradient_of(squared),
        second_derivative_of(squared),
        second_derivative_of(squared_signal),
    ]


FOURIER = _fourier_cases()
SIGNAL = _signal_cases()
GRADIENTS = _gradient_cases()
