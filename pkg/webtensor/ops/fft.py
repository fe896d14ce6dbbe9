"""``wt.fft``: the Fourier transforms of the array API standard.

``n`` or ``s`` cut or pad axes before the transform; ``norm`` selects which direction is divided by
the number of elements: "backward" (the inverse), "forward", or "ortho" (both, by its square root).
Invalid arguments raise ``TypeError`` or ``ValueError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from webtensor.arguments import as_integers, as_number, as_positive_integer, check_choice
from webtensor.dtypes import as_dtype, complex64, float32
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops.binary import multiply
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_numbers import conj
from webtensor.ops.movement import concat
from webtensor.ops.rearrangement import moveaxis, roll
from webtensor.ops.sequences import arange
from webtensor.ops.spectral import half_inverse, half_transform, resized, transform
from webtensor.shapes import check_size, normalize_axes, normalize_axis

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

_OTHER_NORM = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


# -- arguments ----------------------------------------------------------------------------------


def _factor(name: str, norm: str, length: int, inverse: bool) -> float:
    """Return the factor of a transform of this size."""
    check_choice(name, "norm", norm, _OTHER_NORM)
    if norm == "ortho":
        return 1 / sqrt(length)
    return 1 / length if inverse == (norm == "backward") else 1.0


def _operand(name: str, x: TensorLike, only_real: bool = False) -> Tensor:
    operand = as_operand(name, x)
    if not only_real:
        return cast_to(operand, complex64)
    if operand.dtype is complex64:
        raise TypeError(f"{name}: x must be real, but got complex64")
    return cast_to(operand, float32)


def _last(name: str, x: Tensor, axis: int, n: int | None) -> tuple[Tensor, int]:
    """Move an axis to the end; also return the size of the transform along it."""
    axis_index = normalize_axis(name, axis, len(x.shape))
    length = x.shape[axis_index] if n is None else as_positive_integer(name, "n", n)
    if length == 0:
        raise ValueError(f"{name}: axis {axis} of shape {x.shape} has no elements")
    return moveaxis(x, axis_index, -1), length


def _several(
    name: str, x: Tensor, s: Sequence[int] | None, axes: Sequence[int] | None
) -> list[tuple[int, int | None]]:
    """The axes to transform, each with the size that it is to have."""
    rank = len(x.shape)
    if s is not None:
        s = as_integers(name, "s", s)
    if axes is None:
        chosen_axes = list(range(0 if s is None else rank - len(s), rank))
    else:
        chosen_axes = [normalize_axis(name, axis, rank) for axis in as_integers(name, "axes", axes)]
        if len(set(chosen_axes)) != len(chosen_axes):
            raise ValueError(f"{name}: axes {tuple(axes)} name an axis twice (rank {rank})")
    sizes = [None] * len(chosen_axes) if s is None else list(s)
    if len(sizes) != len(chosen_axes) or min(chosen_axes, default=0) < 0:
        raise ValueError(
            f"{name}: s and axes must have the same length, at most the rank of x, but got "
            f"s={s} and axes={axes} (x.shape={x.shape})"
        )
    return list(zip(chosen_axes, sizes, strict=True))


def _transform(name: str, x: Tensor, n: int | None, axis: int, norm: str, inverse: bool) -> Tensor:
    rows, length = _last(name, x, axis, n)
    factor = _factor(name, norm, length, inverse)
    return moveaxis(transform(resized(rows, length), inverse, factor), -1, axis)


def _half_transform(name: str, x: Tensor, n: int | None, axis: int, norm: str) -> Tensor:
    rows, length = _last(name, x, axis, n)
    factor = _factor(name, norm, length, False)
    return moveaxis(half_transform(resized(rows, length), factor), -1, axis)


def _half_inverse(name: str, x: Tensor, n: int | None, axis: int, norm: str) -> Tensor:
    rows, length = _last(name, x, axis, n)
    if n is None:
        length = 2 * (length - 1)
    if length < 1:
        raise ValueError(
            f"{name}: axis {axis} of shape {x.shape} needs at least 2 elements, or n must be given"
        )
    factor = _factor(name, norm, length, True)
    return moveaxis(half_inverse(rows, length, factor), -1, axis)


# -- complex transforms -------------------------------------------------------------------------


def fft(
    x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Tensor:
    """Discrete Fourier transform along an axis, complex64.

    ``y[k]`` is the sum over ``j`` of ``x[j] * exp(-2 * pi * i * j * k / n)``.

    The axis is cropped or padded with zeros to ``n`` elements.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: ``axis`` is out of range, ``n`` is not positive, or ``norm`` is unknown.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.fft([1.0, 0.0, 0.0]).tolist()
        [(1+0j), (1+0j), (1+0j)]
    """
    return _transform("fft", _operand("fft", x), n, axis, norm, False)


def ifft(
    x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Tensor:
    """Inverse of ``fft`` along an axis, complex64.

    The axis is cropped or padded with zeros to ``n`` elements.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: ``axis`` is out of range, ``n`` is not positive, or ``norm`` is unknown.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.ifft([2.0, 2.0]).tolist()
        [(2+0j), 0j]
    """
    return _transform("ifft", _operand("ifft", x), n, axis, norm, True)


def fftn(
    x: TensorLike,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Tensor:
    """Discrete Fourier transform along several axes (all by default), complex64.

    ``s`` holds the size that each of the axes is cut or padded to.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: an axis is out of range, ``s`` does not fit the axes, or ``norm`` is unknown.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.fftn([[1.0, 2.0], [3.0, 4.0]]).tolist()
        [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    """
    transformed = _operand("fftn", x)
    for axis, n in _several("fftn", transformed, s, axes):
        transformed = _transform("fftn", transformed, n, axis, norm, False)
    return transformed


def ifftn(
    x: TensorLike,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Tensor:
    """Inverse of ``fftn`` along several axes (all by default), complex64.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: an axis is out of range, ``s`` does not fit the axes, or ``norm`` is unknown.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.ifftn([[4.0, 0.0], [0.0, 0.0]]).tolist()
        [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    transformed = _operand("ifftn", x)
    for axis, n in _several("ifftn", transformed, s, axes):
        transformed = _transform("ifftn", transformed, n, axis, norm, True)
    return transformed


# -- transforms of real signals -----------------------------------------------------------------


def rfft(
    x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Tensor:
    """First ``n // 2 + 1`` elements of the Fourier transform of a real tensor, complex64.

    Other axes keep their sizes.

    Raises:
        TypeError: ``x`` is not real.
        ValueError: ``axis`` is out of range, ``n`` is not positive, or ``norm`` is unknown.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.rfft([1.0, 2.0]).tolist()
        [(3+0j), (-1+0j)]
    """
    return _half_transform("rfft", _operand("rfft", x, only_real=True), n, axis, norm)


def irfft(
    x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Tensor:
    """Inverse of ``rfft``, float32; ``n`` is the length of the result, even by default.

    Raises:
        ValueError: ``axis`` is out of range or has fewer than 2 elements, ``n`` is not positive,
            or ``norm`` is unknown.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.irfft([3 + 0j, -1 + 0j]).tolist()
        [1.0, 2.0]
    """
    return _half_inverse("irfft", _operand("irfft", x), n, axis, norm)


def rfftn(
    x: TensorLike,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Tensor:
    """Fourier transform of a real tensor along several axes; half of the last is left out.

    The result is complex64; its last transformed axis has ``n // 2 + 1`` elements.

    Raises:
        TypeError: ``x`` is not real.
        ValueError: an axis is out of range, ``s`` does not fit the axes, or ``norm`` is unknown.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.rfftn([[1.0, 2.0], [3.0, 4.0]]).tolist()
        [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    """
    transformed = _operand("rfftn", x, only_real=True)
    axis_sizes = _several("rfftn", transformed, s, axes)
    if not axis_sizes:
        raise ValueError(
            f"rfftn: wanted at least one axis, but got axes={axes} (rank {transformed.ndim})"
        )
    axis, n = axis_sizes[-1]
    transformed = _half_transform("rfftn", transformed, n, axis, norm)
    for axis, n in axis_sizes[:-1]:
        transformed = _transform("rfftn", transformed, n, axis, norm, False)
    return transformed


def irfftn(
    x: TensorLike,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Tensor:
    """Inverse of ``rfftn``, float32; the last of ``s`` is the size of the last axis in the result.

    Raises:
        ValueError: an axis is out of range, ``s`` does not fit the axes, or ``norm`` is unknown.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.irfftn([[10 + 0j, -2 + 0j], [-4 + 0j, 0j]]).tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """
    transformed = _operand("irfftn", x)
    axis_sizes = _several("irfftn", transformed, s, axes)
    if not axis_sizes:
        raise ValueError(
            f"irfftn: wanted at least one axis, but got axes={axes} (rank {transformed.ndim})"
        )
    for axis, n in axis_sizes[:-1]:
        transformed = _transform("irfftn", transformed, n, axis, norm, True)
    axis, n = axis_sizes[-1]
    return _half_inverse("irfftn", transformed, n, axis, norm)


def hfft(
    x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Tensor:
    """Fourier transform of a signal whose second half mirrors ``x`` (Hermitian), float32.

    ``n`` is the length of the result, even by default.

    Raises:
        ValueError: ``axis`` is out of range or has fewer than 2 elements, ``n`` is not positive,
            or ``norm`` is unknown.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.hfft([1 + 0j, 2 + 0j]).tolist()
        [3.0, -1.0]
    """
    return _half_inverse("hfft", conj(_operand("hfft", x)), n, axis, _OTHER_NORM.get(norm, norm))


def ihfft(
    x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Tensor:
    """Inverse of ``hfft``: the first ``n // 2 + 1`` elements of a Hermitian signal, complex64.

    Other axes keep their sizes.

    Raises:
        TypeError: ``x`` is not real.
        ValueError: ``axis`` is out of range, ``n`` is not positive, or ``norm`` is unknown.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.ihfft([3.0, -1.0]).tolist()
        [(1-0j), (2-0j)]
    """
    operand = _operand("ihfft", x, only_real=True)
    return conj(_half_transform("ihfft", operand, n, axis, _OTHER_NORM.get(norm, norm)))


# -- frequencies --------------------------------------------------------------------------------


def _frequencies(name: str, n: int, d: float, count: int, dtype: Any, device: Any) -> Tensor:
    result_dtype = float32 if dtype is None else as_dtype(dtype)
    if result_dtype is not float32:
        raise TypeError(f"{name}: dtype must be float32, but got {result_dtype}")
    spacing = n * as_number(name, "d", d)
    if not spacing:
        raise ValueError(f"{name}: d must not be 0, but got {d!r}")
    check_size(name, "n", n, count)
    positive = (n - 1) // 2 + 1 if name == "fftfreq" else count
    numbers = concat([arange(positive), arange(positive - n, count - n)])
    frequencies = multiply(cast_to(numbers, result_dtype), 1 / spacing)
    return frequencies if device is None else frequencies.to_device(device)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """Frequencies of the elements of ``fft``, for samples ``d`` apart.

    The result is float32 (n,).

    Raises:
        ValueError: ``n`` is not positive, or ``d`` is 0.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.fftfreq(4).tolist()
        [0.0, 0.25, -0.5, -0.25]
    """
    n = as_positive_integer("fftfreq", "n", n)
    return _frequencies("fftfreq", n, d, n, dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """Frequencies of the elements of ``rfft`` of ``n`` samples, ``d`` apart.

    The result is float32 (n // 2 + 1,).

    Raises:
        ValueError: ``n`` is not positive, or ``d`` is 0.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.rfftfreq(4).tolist()
        [0.0, 0.25, 0.5]
    """
    n = as_positive_integer("rfftfreq", "n", n)
    return _frequencies("rfftfreq", n, d, n // 2 + 1, dtype, device)


def _shifted(name: str, x: TensorLike, axes: int | Sequence[int] | None, inverse: bool) -> Tensor:
    """Exchange the halves of axes; of an odd size, the middle goes with the front or the back."""
    operand = as_operand(name, x)
    chosen = normalize_axes(name, axes, len(operand.shape))
    return roll(operand, [(operand.shape[index] + inverse) // 2 for index in chosen], chosen)


def fftshift(x: TensorLike, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """Move frequency 0 to the middle of the axes (all by default).

    The result has the shape and dtype of ``x``.

    Raises:
        ValueError: an axis is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.fftshift([0, 1, 2, -2, -1]).tolist()
        [-2, -1, 0, 1, 2]
    """
    return _shifted("fftshift", x, axes, False)


def ifftshift(x: TensorLike, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """Undo ``fftshift``.

    The result has the shape and dtype of ``x``.

    Raises:
        ValueError: an axis is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.fft.ifftshift([-2, -1, 0, 1, 2]).tolist()
        [0, 1, 2, -2, -1]
    """
    return _shifted("ifftshift", x, axes, True)
