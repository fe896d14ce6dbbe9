"""``wt.spectral``: TensorFlow.js's Fourier transforms, over the last axis.

``wt.fft`` has the array API standard's, over any axes. Both use one primitive, which transforms
rows of complex numbers without a factor; it is symmetric, so its gradient is the transform of the
other direction.
"""

from __future__ import annotations

from webtensor.arguments import as_positive_integer
from webtensor.dtypes import complex64, float32
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, run
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_numbers import conj, real
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.ops.movement import concat, flip, pad
from webtensor.shapes import prod

__all__ = ["fft", "ifft", "irfft", "rfft"]

#: Attributes are (rows, length, inverse).
_FFT: Primitive = Primitive(
    "fft",
    gradients=(
        lambda dy, y, x, rows, length, inverse: run(
            _FFT, (dy,), dy.shape, float32, rows, length, not inverse
        ),
    ),
)


def transform(x: Tensor, inverse: bool, factor: float = 1.0) -> Tensor:
    """Transform the last axis of a complex tensor, and multiply by a factor."""
    length = x.shape[-1]
    pairs = as_pairs(x)
    rows = prod(x.shape[:-1])
    pairs = run(_FFT, (pairs,), pairs.shape, float32, rows, length, bool(inverse))
    return from_pairs(pairs if factor == 1 else pairs * factor)


def resized(x: Tensor, length: int) -> Tensor:
    """Cut the end of the last axis off, or pad it with zeros."""
    own = x.shape[-1]
    if length < own:
        return x[..., :length]
    return x if length == own else pad(x, [(0, 0)] * (len(x.shape) - 1) + [(0, length - own)])


def half_transform(x: Tensor, factor: float = 1.0) -> Tensor:
    """Transform the last axis of a real tensor; the second half, which mirrors the first, is left
    out.
    """
    length = x.shape[-1]
    return transform(cast_to(x, complex64), False)[..., : length // 2 + 1] * factor


def half_inverse(x: Tensor, length: int, factor: float) -> Tensor:
    """Undo ``half_transform``: the real signal of a length whose transform begins with ``x``."""
    half = resized(x, length // 2 + 1)
    mirrored = conj(flip(half[..., 1 : (length + 1) // 2], -1))
    return real(transform(concat([half, mirrored], -1), True)) * factor


def _rows(name: str, input: TensorLike) -> Tensor:
    """Return the operand, which must have elements along its last axis."""
    x = as_operand(name, input)
    if not x.shape or x.shape[-1] == 0:
        raise ValueError(
            f"{name}: input must have a last axis with elements, but its shape is {x.shape}"
        )
    return x


def fft(input: TensorLike) -> Tensor:
    """Discrete Fourier transform over the last axis, complex64.

    ``y[k]`` is the sum over ``j`` of ``input[j] * exp(-2 * pi * i * j * k / n)``.

    Raises:
        ValueError: there are no elements along the last axis.

    Example:
        >>> import webtensor as wt
        >>> wt.spectral.fft([1 + 0j, 0j]).tolist()
        [(1+0j), (1+0j)]
    """
    return transform(cast_to(_rows("fft", input), complex64), False)


def ifft(input: TensorLike) -> Tensor:
    """Inverse of ``fft`` over the last axis, complex64.

    The result has the shape of ``input``.

    Raises:
        ValueError: ``input`` has no axis.

    Example:
        >>> import webtensor as wt
        >>> wt.spectral.ifft([1 + 0j, 1 + 0j]).tolist()
        [(1+0j), 0j]
    """
    x = cast_to(_rows("ifft", input), complex64)
    return transform(x, True, 1 / x.shape[-1])


def rfft(input: TensorLike, fft_length: int | None = None) -> Tensor:
    """First half of the Fourier transform of a real tensor over the last axis, complex64.

    The last axis is cut or padded with zeros to ``fft_length`` (its own length by default), and
    becomes ``fft_length // 2 + 1`` long.

    Raises:
        TypeError: the input is complex.
        ValueError: there are no elements along the last axis, or ``fft_length`` is below 1.

    Example:
        >>> import webtensor as wt
        >>> wt.spectral.rfft([1.0, 2.0]).tolist()
        [(3+0j), (-1+0j)]
    """
    x = _rows("rfft", input)
    if x.dtype is complex64:
        raise TypeError("rfft: input must be real, but got complex64")
    return half_transform(resized(cast_to(x, float32), _length("rfft", fft_length, x.shape[-1])))


def irfft(input: TensorLike, fft_length: int | None = None) -> Tensor:
    """Inverse of ``rfft`` over the last axis, float32.

    ``fft_length`` is the length of the result, ``2 * (n - 1)`` by default (1 for ``n`` = 1).

    Raises:
        ValueError: ``input`` has no axis, or ``fft_length`` is not positive.

    Example:
        >>> import webtensor as wt
        >>> wt.spectral.irfft([3 + 0j, -1 + 0j]).tolist()
        [1.0, 2.0]
    """
    x = cast_to(_rows("irfft", input), complex64)
    length = _length("irfft", fft_length, max(2 * (x.shape[-1] - 1), 1))
    return half_inverse(x, length, 1 / length)


def _length(name: str, length: int | None, default: int) -> int:
    return default if length is None else as_positive_integer(name, "fft_length", length)
