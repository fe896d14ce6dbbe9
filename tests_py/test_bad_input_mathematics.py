"""Bad input to linear algebra, transforms, signals, random numbers and bits: clear errors."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import webtensor as wt

Row = tuple[Callable[[], Any], type[Exception], str]

VECTOR = wt.ones((3,))
MATRIX = wt.ones((2, 3))
SQUARE = wt.ones((2, 2))
COMPLEX = wt.ones((4,), dtype="complex64")
WORDS: Any = "many"


def _of_squares() -> dict[str, Row]:
    names = ("cholesky", "det", "slogdet", "inv", "eigh", "eigvalsh")
    message = r"x must be square matrices, \(..., n, n\), but its shape is"
    rows: dict[str, Row] = {}
    for name in names:
        function = getattr(wt.linalg, name)
        rows[f"{name} of a rectangle"] = (
            partial(function, MATRIX),
            ValueError,
            rf"^{name}: {message} \(2, 3\)",
        )
        rows[f"{name} of a vector"] = (
            partial(function, VECTOR),
            ValueError,
            rf"^{name}: {message} \(3,\)",
        )
    for name in ("qr", "svd", "svdvals", "pinv", "matrix_rank", "matrix_norm"):
        rows[f"{name} of a vector"] = (
            partial(getattr(wt.linalg, name), VECTOR),
            ValueError,
            rf"^{name}: x must be matrices, \(..., rows, columns\), but its shape is \(3,\)",
        )
    return rows


LINALG: dict[str, Row] = {
    **_of_squares(),
    "a mode of qr that there is not": (
        lambda: wt.linalg.qr(MATRIX, mode="full"),
        ValueError,
        "qr: mode must be 'reduced' or 'complete', but got 'full'",
    ),
    "the gradient of complete qr": (
        lambda: wt.grad(lambda x: wt.linalg.qr(x, mode="complete").Q)(wt.ones((3, 2))),
        ValueError,
        "qr: mode 'complete' has no gradient",
    ),
    "the gradient of full svd": (
        lambda: wt.grad(lambda x: wt.linalg.svd(x).U)(MATRIX),
        ValueError,
        "svd: only full_matrices=False has a gradient",
    ),
    "equations of a rectangle": (
        lambda: wt.linalg.solve(MATRIX, VECTOR),
        ValueError,
        "solve: x1 must be square matrices",
    ),
    "equations that do not fit": (
        lambda: wt.linalg.solve(SQUARE, VECTOR),
        ValueError,
        r"solve: x2 must be \(..., 2, m\) or \(2,\) for x1 of shape \(2, 2\), but .* \(3,\)",
    ),
    "equations with a number": (lambda: wt.linalg.solve(SQUARE, 1.0), ValueError, "solve: x2 must"),
    "equations in stacks that do not fit": (
        lambda: wt.linalg.solve(wt.ones((2, 2, 2)), wt.ones((3, 2, 1))),
        ValueError,
        "solve: shapes",
    ),
    "a power that is no integer": (
        lambda: wt.linalg.matrix_power(SQUARE, 0.5),
        TypeError,
        "matrix_power: n must be an integer, but got 0.5",
    ),
    "a power of a rectangle": (
        lambda: wt.linalg.matrix_power(MATRIX, 2),
        ValueError,
        "matrix_power: x must be square matrices",
    ),
    "a band of a vector": (
        lambda: wt.linalg.band_part(VECTOR, 0, 0),
        ValueError,
        r"band_part: x must have at least two axes, but its shape is \(3,\)",
    ),
    "a band wider than the matrix": (
        lambda: wt.linalg.band_part(MATRIX, 3, 0),
        ValueError,
        "band_part: num_lower=3 and num_upper=0 must not exceed",
    ),
    "a band above all columns": (
        lambda: wt.linalg.band_part(MATRIX, 0, 4),
        ValueError,
        "band_part: num_lower=0 and num_upper=4 must not exceed",
    ),
    "a band of a fraction": (
        lambda: wt.linalg.band_part(MATRIX, 0.5, 0),
        TypeError,
        "band_part: num_lower must be an integer, but got 0.5",
    ),
    "the diagonal of a vector": (
        lambda: wt.linalg.diagonal(VECTOR),
        ValueError,
        "diagonal: x must",
    ),
    "the diagonal at a fraction": (
        lambda: wt.linalg.diagonal(MATRIX, offset=WORDS),
        TypeError,
        "diagonal: offset must be an integer, but got 'many'",
    ),
    "the trace of a vector": (lambda: wt.linalg.trace(VECTOR), ValueError, "trace: x must"),
    "the trace in no dtype": (
        lambda: wt.linalg.trace(SQUARE, dtype="float63"),
        TypeError,
        "dtype 'float63' is not supported",
    ),
    "a cross product of pairs": (
        lambda: wt.linalg.cross(SQUARE, SQUARE),
        ValueError,
        "cross: operands must have size 3 along axis -1",
    ),
    "a cross product of other ranks along one axis from the left": (
        lambda: wt.linalg.cross(VECTOR, wt.ones((3, 3)), axis=0),
        ValueError,
        "cross: operands must have size 3 along axis 0",
    ),
    "a cross product along no axis": (
        lambda: wt.linalg.cross(VECTOR, VECTOR, axis=1),
        ValueError,
        "cross: axis 1 is out of range",
    ),
    "an outer product of matrices": (
        lambda: wt.linalg.outer(VECTOR, MATRIX),
        ValueError,
        "outer: operands must have rank 1",
    ),
    "an outer_product of matrices": (
        lambda: wt.outer_product(MATRIX, VECTOR),
        ValueError,
        "outer_product: operands must have rank 1",
    ),
    "more vectors than dimensions": (
        lambda: wt.linalg.gram_schmidt(wt.ones((3, 2))),
        ValueError,
        "gram_schmidt: xs must be vectors of one length, at most as many",
    ),
    "complex vectors": (
        lambda: wt.linalg.gram_schmidt(wt.ones((1, 2), dtype="complex64")),
        TypeError,
        "gram_schmidt: vectors must be real",
    ),
    "vectors of different lengths": (
        lambda: wt.linalg.gram_schmidt([wt.ones(2), wt.ones(3)]),
        ValueError,
        "gram_schmidt: shapes must be equal",
    ),
    "a norm that is no number": (
        lambda: wt.linalg.vector_norm(VECTOR, ord=WORDS),
        TypeError,
        "vector_norm: ord must be a number, but got 'many'",
    ),
    "a norm of no order": (
        lambda: wt.linalg.vector_norm(VECTOR, ord=None),
        TypeError,
        "vector_norm: ord must be a number, but got None",
    ),
    "a norm along no axis": (
        lambda: wt.linalg.vector_norm(VECTOR, axis=2),
        ValueError,
        "vector_norm: axis 2 is out of range",
    ),
    "a matrix norm that there is not": (
        lambda: wt.linalg.matrix_norm(MATRIX, ord=3),
        ValueError,
        "matrix_norm: ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, but got 3",
    ),
    "the transpose of a vector": (
        lambda: wt.matrix_transpose(VECTOR),
        ValueError,
        "matrix_transpose: x must have at least two axes",
    ),
    "vectors of different lengths in vecdot": (
        lambda: wt.vecdot(VECTOR, SQUARE),
        ValueError,
        "vecdot: operands must have the same size along axis -1",
    ),
    "vectors of other ranks in vecdot along one axis from the left": (
        lambda: wt.vecdot(VECTOR, wt.ones((3, 3)), axis=0),
        ValueError,
        "vecdot: operands must have the same size along axis 0",
    ),
    "tensordot over too many axes": (
        lambda: wt.tensordot(VECTOR, MATRIX, axes=2),
        ValueError,
        "tensordot: axes must be at most the operands' ranks, but got 2",
    ),
    "tensordot over other lengths": (
        lambda: wt.tensordot(MATRIX, MATRIX, axes=1),
        ValueError,
        "tensordot: axes .* have different sizes",
    ),
    "tensordot over one axis twice": (
        lambda: wt.tensordot(SQUARE, SQUARE, axes=[[0, 0], [0, 1]]),
        ValueError,
        "tensordot: axes must name as many, different axes",
    ),
    "tensordot over more axes of one operand": (
        lambda: wt.tensordot(SQUARE, SQUARE, axes=[[0, 1], [0]]),
        ValueError,
        "tensordot: axes must name as many, different axes",
    ),
    "tensordot over axes of one operand": (
        lambda: wt.tensordot(SQUARE, SQUARE, axes=[[0]]),
        ValueError,
        r"tensordot: axes must be a pair of sequences, but got \[\[0\]\]",
    ),
    "tensordot over a single number": (
        lambda: wt.tensordot(SQUARE, SQUARE, axes=[99]),
        ValueError,
        r"tensordot: axes must be a pair of sequences, but got \[99\]",
    ),
    "tensordot over words": (
        lambda: wt.tensordot(SQUARE, SQUARE, axes=1.5),
        TypeError,
        "tensordot: axes must be an integer or a pair of sequences, but got 1.5",
    ),
}

EINSUM: dict[str, Row] = {
    "an equation that is no text": (
        lambda: wt.einsum(1, VECTOR),
        TypeError,
        "einsum: equation must be text, or each tensor be followed by a list of labels, but got",
    ),
    "labels that are no integers": (
        lambda: wt.einsum(VECTOR, [0.5]),
        TypeError,
        r"einsum: labels must be integers, but got \[0.5\]",
    ),
    "labels that are too large": (
        lambda: wt.einsum(VECTOR, [52]),
        ValueError,
        r"einsum: labels must be from 0 to 51, but got \[52\]",
    ),
    "labels of more axes": (
        lambda: wt.einsum(VECTOR, [0, 1], []),
        ValueError,
        "does not fit a tensor of rank 1",
    ),
    "an equation without tensors": (lambda: wt.einsum("i->i"), ValueError, "needs tensors"),
    "an equation for more tensors": (
        lambda: wt.einsum("i,i->i", VECTOR),
        ValueError,
        "equation 'i,i->i' is for 2 tensors, but got 1",
    ),
    "an equation of another rank": (
        lambda: wt.einsum("ij->i", VECTOR),
        ValueError,
        "einsum: 'ij' of equation 'ij->i' does not fit a tensor of rank 1",
    ),
    "an equation with digits": (
        lambda: wt.einsum("1->1", VECTOR),
        ValueError,
        "einsum: equation must hold letters, commas",
    ),
    "dots twice": (
        lambda: wt.einsum("...i...->i", VECTOR),
        ValueError,
        "einsum: equation must hold letters, commas",
    ),
    "a letter of two lengths": (
        lambda: wt.einsum("ij,ij->i", MATRIX, SQUARE),
        ValueError,
        "einsum: axes 'j' of equation 'ij,ij->i' have sizes 3 and 2",
    ),
    "dots that do not broadcast": (
        lambda: wt.einsum("...i,...i->...", wt.ones((2, 3)), wt.ones((4, 3))),
        ValueError,
        "einsum: axes under '...' .* have sizes 2 and 4",
    ),
    "a letter in the result only": (
        lambda: wt.einsum("i->ij", VECTOR),
        ValueError,
        "must have each of the tensors' letters at most once, but it has 'j'",
    ),
    "a letter twice in the result": (
        lambda: wt.einsum("i->ii", VECTOR),
        ValueError,
        "at most once, but it has 'i'",
    ),
    "a result without dots": (
        lambda: wt.einsum("...i->i", MATRIX),
        ValueError,
        "einsum: the result of equation '...i->i' must have '...', too",
    ),
}


def _of_transforms() -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        function = getattr(wt.fft, name)
        calls: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
            "along no axis": (
                lambda f: f(VECTOR, axis=1),
                ValueError,
                "axis 1 is out of range",
            ),
            "of length 0": (lambda f: f(VECTOR, n=0), ValueError, "n must be positive, but got 0"),
            "of half a length": (lambda f: f(VECTOR, n=1.5), TypeError, "n must be an integer"),
            "with another norm": (
                lambda f: f(VECTOR, norm="half"),
                ValueError,
                "norm must be one of 'backward', 'forward', 'ortho', but got 'half'",
            ),
            "of nothing": (
                lambda f: f(wt.zeros((2, 0))),
                ValueError,
                r"axis -1 of shape \(2, 0\) has no elements",
            ),
        }
        for what, (call, kind, message) in calls.items():
            rows[f"{name} {what}"] = (
                partial(call, function),
                kind,
                f"^{name}: {message}",
            )
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        function = getattr(wt.fft, name)
        rows[f"{name} along an axis twice"] = (
            partial(function, MATRIX, axes=(0, -2)),
            ValueError,
            f"^{name}: axes .* name an axis twice",
        )
        rows[f"{name} of more lengths than axes"] = (
            partial(function, MATRIX, s=(1, 2), axes=(0,)),
            ValueError,
            f"^{name}: s and axes must have the same length",
        )
        rows[f"{name} of half lengths"] = (
            partial(function, MATRIX, s=(1.5, 2)),
            TypeError,
            f"^{name}: s must be integers",
        )
        rows[f"{name} of too many lengths"] = (
            partial(function, MATRIX, s=(1, 2, 3)),
            ValueError,
            f"^{name}: s and axes must have the same length",
        )
    for name in ("rfft", "ihfft", "rfftn"):
        rows[f"{name} of complex numbers"] = (
            partial(getattr(wt.fft, name), COMPLEX),
            TypeError,
            f"^{name}: x must be real, but got complex64",
        )
    for name in ("fftfreq", "rfftfreq"):
        rows[f"{name} of length 0"] = (
            partial(getattr(wt.fft, name), 0),
            ValueError,
            f"^{name}: n must be positive",
        )
        rows[f"{name} of too many samples"] = (
            partial(getattr(wt.fft, name), 1 << 40),
            wt.OutOfMemoryError,
            f"^{name}: n=.* asks for",
        )
    return rows


TRANSFORMS: dict[str, Row] = {
    **_of_transforms(),
    "rfftn along no axes": (lambda: wt.fft.rfftn(MATRIX, axes=()), ValueError, "at least one axis"),
    "irfftn along no axes": (lambda: wt.fft.irfftn(MATRIX, axes=()), ValueError, "one axis"),
    "irfft of one element": (
        lambda: wt.fft.irfft([1.0]),
        ValueError,
        "irfft: axis -1 .* needs at least 2 elements, or n must be given",
    ),
    "integer frequencies": (
        lambda: wt.fft.fftfreq(3, dtype="int32"),
        TypeError,
        "fftfreq: dtype must be float32, but got int32",
    ),
    "shifting along no axis": (
        lambda: wt.fft.fftshift(VECTOR, axes=1),
        ValueError,
        "fftshift: axis 1 is out of range",
    ),
    "unshifting along no axis": (
        lambda: wt.fft.ifftshift(VECTOR, axes=1),
        ValueError,
        "ifftshift: axis 1 is out of range",
    ),
    "the spectrum of a number": (
        lambda: wt.spectral.fft(1.0),
        ValueError,
        r"fft: input must have a last axis with elements, but its shape is \(\)",
    ),
    "the spectrum of nothing": (
        lambda: wt.spectral.ifft(wt.ones((2, 0))),
        ValueError,
        "ifft: input",
    ),
    "half the spectrum of complex numbers": (
        lambda: wt.spectral.rfft(COMPLEX),
        TypeError,
        "rfft: input must be real, but got complex64",
    ),
    "a length of 0": (
        lambda: wt.spectral.rfft(VECTOR, 0),
        ValueError,
        "rfft: fft_length must be positive, but got 0",
    ),
    "a length that is no integer": (
        lambda: wt.spectral.irfft(COMPLEX, 2.5),
        TypeError,
        "irfft: fft_length must be an integer, but got 2.5",
    ),
}

SIGNALS: dict[str, Row] = {
    "a window of negative length": (
        lambda: wt.signal.hann_window(-1),
        ValueError,
        "hann_window: window_length must not be negative, but got -1",
    ),
    "a window of half a length": (
        lambda: wt.signal.hamming_window(2.5),
        TypeError,
        "hamming_window: window_length must be an integer, but got 2.5",
    ),
    "frames of length 0": (
        lambda: wt.signal.frame(VECTOR, 0, 1),
        ValueError,
        "frame: frame_length must be positive",
    ),
    "frames 0 apart": (
        lambda: wt.signal.frame(VECTOR, 1, 0),
        ValueError,
        "frame: frame_step must be positive",
    ),
    "frames of a number": (
        lambda: wt.signal.frame(1.0, 1, 1),
        ValueError,
        "frame: signal must have at least one axis",
    ),
    "frames of complex numbers": (
        lambda: wt.signal.frame(COMPLEX, 1, 1),
        TypeError,
        "frame: signal must be real",
    ),
    "spectra of complex numbers": (
        lambda: wt.signal.stft(COMPLEX, 2, 1),
        TypeError,
        "stft: signal must be real",
    ),
    "spectra of length 0": (
        lambda: wt.signal.stft(VECTOR, 2, 1, 0),
        ValueError,
        "stft: fft_length must be positive",
    ),
    "spectra of frames 0 apart": (
        lambda: wt.signal.stft(VECTOR, 2, 0),
        ValueError,
        "stft: frame_step must be positive",
    ),
    "spectra of frames in no window": (
        lambda: wt.signal.stft(VECTOR, 2, 1, window_fn=WORDS),
        TypeError,
        "stft: window_fn must be callable, but got 'many'",
    ),
    "frames a step back": (
        lambda: wt.signal.frame(VECTOR, 4, -1),
        ValueError,
        "frame: frame_step must be positive, but got -1",
    ),
    "a window that is too long": (
        lambda: wt.signal.hann_window(1 << 40),
        wt.OutOfMemoryError,
        "hann_window: window_length=.* asks for",
    ),
    "a power of two around 0": (
        lambda: wt.enclosing_power_of_two(0),
        ValueError,
        "enclosing_power_of_two: value must be positive and finite, but got 0",
    ),
    "a power of two around infinity": (
        lambda: wt.enclosing_power_of_two(float("inf")),
        ValueError,
        "enclosing_power_of_two: value must be positive and finite, but got inf",
    ),
    "a power of two around a word": (
        lambda: wt.enclosing_power_of_two(WORDS),
        TypeError,
        "enclosing_power_of_two: value must be a number, but got 'many'",
    ),
}

RANDOM: dict[str, Row] = {
    "gamma of shape 0": (
        lambda: wt.random_gamma((2,), 0),
        ValueError,
        "random_gamma: alpha must be positive, but got 0",
    ),
    "gamma of a negative rate": (
        lambda: wt.random_gamma((2,), 1, -1),
        ValueError,
        "random_gamma: beta must be positive, but got -1",
    ),
    "gamma of text": (
        lambda: wt.random_gamma((2,), WORDS),
        TypeError,
        "random_gamma: alpha must be a number, but got 'many'",
    ),
    "gamma with a list as a seed": (
        lambda: wt.random_gamma((2,), 1, seed=[1]),
        TypeError,
        r"random_gamma: seed must be a number or None, but got \[1\]",
    ),
    "gamma of a negative length": (
        lambda: wt.random_gamma((-2,), 1),
        ValueError,
        "random_gamma: shape must not have negative sizes",
    ),
    "classes of a cube": (
        lambda: wt.multinomial(wt.ones((2, 2, 2)), 3),
        ValueError,
        r"multinomial: logits must be \(classes,\) or \(batch, classes\)",
    ),
    "no classes": (lambda: wt.multinomial(wt.ones((2, 0)), 3), ValueError, "one class at least"),
    "complex classes": (
        lambda: wt.multinomial(COMPLEX, 3),
        TypeError,
        "multinomial: logits must be real",
    ),
    "half a sample": (
        lambda: wt.multinomial(VECTOR, 0.5),
        TypeError,
        "multinomial: num_samples must be an integer, but got 0.5",
    ),
    "negative samples": (
        lambda: wt.multinomial(VECTOR, -1),
        ValueError,
        "multinomial: num_samples must not be negative",
    ),
    "integers between fractions": (
        lambda: wt.random_uniform_int((2,), 0.5, 3),
        TypeError,
        "random_uniform_int: minval must be an integer, but got 0.5",
    ),
    "integers between nothing": (
        lambda: wt.random_uniform_int((2,), 3, 3),
        ValueError,
        "random_uniform_int: minval must be less than maxval",
    ),
    "integers far apart": (
        lambda: wt.random_uniform_int((2,), -(2**31), 2**31 - 1),
        ValueError,
        r"less than maxval by less than 2\*\*31",
    ),
    "numbers of no function": (
        lambda: wt.rand((2,), 0.5),
        TypeError,
        "rand: rand_function must be callable, but got 0.5",
    ),
    "text of a function": (
        lambda: wt.rand((2,), lambda: WORDS),
        TypeError,
        "rand: .*'many'",
    ),
}

BITS: dict[str, Row] = {
    f"{name} of floats": (
        partial(getattr(wt, name), VECTOR, VECTOR),
        TypeError,
        f"{name}: operands must be int32 or bool, but got float32",
    )
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
} | {
    f"{name} of complex numbers": (
        partial(getattr(wt, name), COMPLEX, COMPLEX),
        TypeError,
        f"{name}: complex64 operands are not supported",
    )
    for name in ("bitwise_left_shift", "hypot", "logaddexp", "copysign", "nextafter", "atan2")
}

ERRORS = {**LINALG, **EINSUM, **TRANSFORMS, **SIGNALS, **RANDOM, **BITS}


@pytest.mark.parametrize("what", ERRORS)
def test_bad_input(what: str, backend: str, no_leak: None) -> None:
    do, kind, message = ERRORS[what]
    with pytest.raises(kind, match=message):
        do()
