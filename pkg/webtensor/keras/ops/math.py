"""Functions that NumPy lacks: segments, largest elements, Fourier transforms, special functions."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import complex64, float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import check_positive
from webtensor.keras.ops.operations import Arguments, Computation, Row, Table, op, reduction, unary
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Axis, Config
from webtensor.keras.window_functions import window_values
from webtensor.ops import spectral

__all__ = ["TABLE"]


# -- segments ----------------------------------------------------------------------------------


def _segments(
    data: TensorLike, segment_ids: TensorLike, num_segments: int | None
) -> tuple[Tensor, int]:
    ids = wt.astype(segment_ids, int32)
    if len(ids.shape) != 1 or data.shape[:1] != ids.shape:
        raise ValueError(
            "segment_ids must have a number for each slice along the first axis of data, but has "
            f"shape {ids.shape}; data has shape {data.shape}"
        )
    if num_segments is None:
        num_segments = int(wt.max(ids)) + 1 if prod(ids.shape) else 0
    return ids, num_segments


def _segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: int | None = None, sorted: bool = False
) -> Tensor:
    """Return the sums of slices that have the same segment index.

    ``segment_ids`` is int32 of shape (n,), where n is the size of the first axis of ``data``; the
    result has shape (num_segments, *data.shape[1:]). ``num_segments`` is by default the maximum
    index plus 1.

    Raises:
        ValueError: ``segment_ids`` has another shape.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.segment_sum([1, 2, 3], [0, 1, 0]).tolist()
        [4, 2]
    """
    data = wt.asarray(data)
    ids, count = _segments(data, segment_ids, num_segments)
    return wt.unsorted_segment_sum(data, ids, count)


def _segment_reduction(reduce: Callable[..., Tensor], neutral_element: float) -> Row:
    """Reduce slices by segment; slices of other segments are masked by the neutral element."""

    def reduced(
        data: TensorLike,
        segment_ids: TensorLike,
        num_segments: int | None = None,
        sorted: bool = False,
    ) -> Tensor:
        data = wt.asarray(data)
        ids, count = _segments(data, segment_ids, num_segments)
        trailing = (1,) * (len(data.shape) - 1)
        numbers = wt.reshape(wt.arange(count), (count, 1, *trailing))
        is_inside = wt.equal(wt.reshape(ids, (1, -1, *trailing)), numbers)
        neutral = neutral_element
        if data.dtype is not float32:
            neutral = _INTEGER_LIMITS.get(neutral_element, neutral_element)
        return reduce(wt.where(is_inside, wt.expand_dims(data, 0), neutral), axis=1)

    return op(reduced, "num_segments sorted", spec=_segment_spec)


def _segment_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    """Without ``num_segments``, the number of segments is unknown: it depends on the elements."""
    data, ids = args
    sizes = {data.shape[0], ids.shape[0]} - {None}
    if len(ids.shape) != 1 or len(sizes) > 1:
        raise ValueError(
            f"segment_ids of shape {ids.shape} must have a number for each slice of data, of shape "
            f"{data.shape}"
        )
    return KerasTensor((config["num_segments"], *data.shape[1:]), data.dtype)


#: The int32 numbers that stand for the infinities.
_INTEGER_LIMITS = {-wt.inf: -(2**31), wt.inf: 2**31 - 1}


# -- largest elements --------------------------------------------------------------------------


def _top_k(x: TensorLike, k: int, sorted: bool = True) -> tuple[Tensor, ...]:
    """Return the k largest elements along the last axis, and their indices.

    Both have shape (…, k); the indices are int32.

    Example:
        >>> from webtensor import keras
        >>> values, indices = keras.ops.top_k([3, 1, 2], 2)
        >>> values.tolist(), indices.tolist()
        ([3, 2], [0, 2])
    """
    return tuple(wt.topk(x, k, sorted))


def _in_top_k(targets: TensorLike, predictions: TensorLike, k: int) -> Tensor:
    """Return, as bool, whether the prediction of each target class is among the k largest.

    ``targets`` has shape (batch,), ``predictions`` (batch, classes) and the result (batch,).

    Example:
        >>> from webtensor import keras
        >>> keras.ops.in_top_k([0, 1], [[0.9, 0.1, 0.0], [0.6, 0.3, 0.1]], k=1).tolist()
        [True, False]
    """
    targets, predictions = wt.astype(targets, int32), wt.asarray(predictions)
    chosen = wt.take_along_axis(predictions, wt.expand_dims(targets, -1), axis=-1)
    larger_count = wt.sum(wt.greater(predictions, chosen), axis=-1)
    return wt.logical_and(wt.less(larger_count, k), wt.isfinite(wt.squeeze(chosen, -1)))


# -- transforms --------------------------------------------------------------------------------


def _complex(x: TensorLike) -> Tensor:
    """Return the complex tensor of a pair of real and imaginary parts.

    Raises:
        ValueError: ``x`` is something else, such as a tensor of real numbers.
    """
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise ValueError("x must be a tuple of two tensors, the real and the imaginary parts")
    real, imaginary = x
    return wt.complex(real, imaginary)


def _parts(x: TensorLike) -> tuple[Tensor, Tensor]:
    return wt.real(x), wt.imag(x)


def _fft(x: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the discrete Fourier transform along the last axis.

    ``x`` is a pair of real and imaginary parts of the same shape, as the result is, in float32.

    Example:
        >>> from webtensor import keras
        >>> real, imaginary = keras.ops.fft(([1.0, 0.0], [0.0, 0.0]))
        >>> real.tolist(), imaginary.tolist()
        ([1.0, 1.0], [0.0, 0.0])
    """
    return _parts(wt.fft.fft(_complex(x)))


def _fft2(x: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the discrete Fourier transform along the last two axes.

    ``x`` is a pair of real and imaginary parts of the same shape, as the result is, in float32.

    Example:
        >>> from webtensor import keras
        >>> real, imaginary = keras.ops.fft2((keras.ops.ones((2, 2)), keras.ops.zeros((2, 2))))
        >>> real.tolist()
        [[4.0, 0.0], [0.0, 0.0]]
    """
    return _parts(wt.fft.fftn(_complex(x), axes=(-2, -1)))


def _ifft2(x: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the inverse discrete Fourier transform along the last two axes.

    ``x`` is a pair of real and imaginary parts of the same shape, as the result is, in float32.

    Example:
        >>> from webtensor import keras
        >>> real, imaginary = keras.ops.ifft2((keras.ops.ones((2, 2)), keras.ops.zeros((2, 2))))
        >>> real.tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    return _parts(wt.fft.ifftn(_complex(x), axes=(-2, -1)))


def _rfft(x: TensorLike, fft_length: int | None = None) -> tuple[Tensor, Tensor]:
    """Return the discrete Fourier transform of real numbers along the last axis.

    The result is a pair of real and imaginary parts of shape (…, fft_length // 2 + 1), in float32.
    ``x`` is padded with zeros or cropped to ``fft_length``.

    Example:
        >>> from webtensor import keras
        >>> real, imaginary = keras.ops.rfft([1.0, 2.0, 3.0])
        >>> real.numpy().round(3)
        array([ 6. , -1.5], dtype=float32)
    """
    return _parts(spectral.rfft(x, fft_length))


def _irfft(x: TensorLike, fft_length: int | None = None) -> Tensor:
    """Return the inverse of ``rfft``: real numbers of shape (…, fft_length).

    ``x`` is a pair of real and imaginary parts; ``fft_length`` is by default twice the size of the
    last axis less 2.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.irfft(([6.0, -2.0], [0.0, 0.0])).tolist()
        [2.0, 4.0]
    """
    return spectral.irfft(_complex(x), fft_length)


def _extract_sequences(x: TensorLike, sequence_length: int, sequence_stride: int) -> Tensor:
    """Return windows along the last axis: (…, n) becomes (…, windows, sequence_length).

    Windows begin every ``sequence_stride`` elements.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.extract_sequences([1, 2, 3, 4], 2, 1).tolist()
        [[1, 2], [2, 3], [3, 4]]
    """
    return wt.signal.frame(x, sequence_length, sequence_stride)


_WINDOWS = ("hamming", "hann")


def _window(name: str, window: TensorLike | str | None, length: int, fft_length: int) -> Tensor:
    """Return the weights of a window, padded with zeros to the size of the transform."""
    if window is None:  # all samples of a frame have the weight 1
        return wt.ones((fft_length,))
    if isinstance(window, str):
        if window not in _WINDOWS:
            raise ValueError(
                f"{name}: window must be one of {_WINDOWS}, a tensor or None, but got {window!r}"
            )
        weights = wt.tensor(window_values(window, length, periodic=True))
    else:
        weights = wt.astype(window, float32)
        if weights.shape != (length,):
            raise ValueError(
                f"{name}: window must have {length} values, but its shape is {weights.shape}"
            )
    before = (fft_length - length) // 2
    return wt.pad(weights, [[before, fft_length - length - before]])


def _stft(
    x: TensorLike,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    window: TensorLike | str | None = "hann",
    center: bool = True,
) -> tuple[Tensor, Tensor]:
    """Return the short-time Fourier transform of signals (…, samples).

    The result is a pair of real and imaginary parts of shape (…, frames, fft_length // 2 + 1).
    Frames of ``sequence_length`` samples begin every ``sequence_stride`` samples and are
    multiplied by ``window``: "hann", "hamming", a tensor of ``sequence_length`` weights, or None.
    With ``center``, the signal is padded by reflection, so that frames are centered.

    Raises:
        TypeError: ``x`` is not float32.
        ValueError: ``sequence_stride`` is not positive, ``fft_length`` is less than
            ``sequence_length``, or the window does not fit.

    Example:
        >>> from webtensor import keras
        >>> real, imaginary = keras.ops.stft(keras.ops.ones((8,)), 4, 2, 4)
        >>> real.shape
        (5, 3)
    """
    _check_window_sizes("stft", sequence_length, sequence_stride, fft_length)
    x = wt.asarray(x)
    if x.dtype is not float32:
        raise TypeError(f"stft: x must be floats, but is {x.dtype}")
    if center:
        paddings = [[0, 0]] * (len(x.shape) - 1) + [[fft_length // 2] * 2]
        x = wt.mirror_pad(x, paddings, "reflect")
    frames = wt.signal.frame(x, fft_length, sequence_stride)
    return _rfft(frames * _window("stft", window, sequence_length, fft_length), fft_length)


def _check_window_sizes(name: str, sequence_length: int, stride: int, fft_length: int) -> None:
    check_positive(name, sequence_stride=stride)
    if fft_length < sequence_length:
        raise ValueError(
            f"{name}: fft_length must be no less than sequence_length, but they are {fft_length} "
            f"and {sequence_length}"
        )


def _istft(
    x: TensorLike,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    length: int | None = None,
    window: TensorLike | str | None = "hann",
    center: bool = True,
) -> Tensor:
    """Return the signal whose short-time Fourier transform is ``x``; the inverse of ``stft``.

    ``x`` is a pair of real and imaginary parts of shape (…, frames, fft_length // 2 + 1); the
    result has shape (…, length).

    Raises:
        ValueError: the arguments do not fit, as in ``stft``.

    Example:
        >>> from webtensor import keras
        >>> x = keras.ops.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
        >>> keras.ops.istft(keras.ops.stft(x, 4, 2, 4), 4, 2, 4).numpy().round(3)
        array([1., 2., 3., 4., 5., 6., 7., 8.], dtype=float32)
    """
    _check_window_sizes("istft", sequence_length, sequence_stride, fft_length)
    if len(wt.asarray(x[0]).shape) < 2:
        raise ValueError("istft: the parts of x must have at least two axes")
    frames = _irfft(x, fft_length)
    weights = _window("istft", window, sequence_length, fft_length)
    count = frames.shape[-2]
    total = fft_length + sequence_stride * (count - 1)
    signal = _overlap_added(frames * weights, sequence_stride, total)
    power = wt.broadcast_to(wt.square(weights), (count, fft_length))
    power = _overlap_added(power, sequence_stride, total)
    signal = wt.divide(signal, wt.where(wt.greater(power, 1e-10), power, 1.0))
    if window is None:  # Keras only adds up the frames
        signal = signal * (fft_length / sequence_stride)
    start = fft_length // 2 if center else 0
    end = total - start if length is None else start + length
    signal = signal[..., start : min(end, total)]
    missing = 0 if length is None else length - signal.shape[-1]
    if missing > 0:
        signal = wt.pad(signal, [[0, 0]] * (len(signal.shape) - 1) + [[0, missing]])
    return signal


def _overlap_added(frames: Tensor, stride: int, total: int) -> Tensor:
    """Add up overlapping frames, which begin every ``stride`` of the ``total`` samples."""
    *batch_shape, count, frame_size = frames.shape
    rows = wt.moveaxis(wt.reshape(frames, (-1, count * frame_size)), 0, 1)
    starts = wt.reshape(wt.arange(count) * stride, (count, 1))
    ids = wt.reshape(wt.add(starts, wt.arange(frame_size)), (-1,))
    sums = wt.unsorted_segment_sum(rows, ids, total)
    return wt.reshape(wt.moveaxis(sums, 0, 1), (*batch_shape, total))


# -- special functions -------------------------------------------------------------------------


def _cdist(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the Euclidean distances of the rows of two tensors.

    The shapes (…, m, n) and (…, k, n) give (…, m, k).

    Example:
        >>> from webtensor import keras
        >>> keras.ops.cdist([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]]).tolist()
        [[5.0, 1.0]]
    """
    pairs = wt.subtract(wt.expand_dims(x, -2), wt.expand_dims(y, -3))
    return wt.sqrt(wt.sum(wt.square(pairs), axis=-1))


def _logsumexp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return ``log(sum(exp(x)))`` along axes, without overflow.

    Example:
        >>> from webtensor import keras
        >>> round(keras.ops.logsumexp([0.0, 0.0]).item(), 3)
        0.693
    """
    return wt.log_sum_exp(x, tuple(axis) if isinstance(axis, list) else axis, keepdims)


def _logdet(x: TensorLike) -> Tensor:
    """Return the logarithm of the determinant of Hermitian positive definite matrices (…, n, n).

    Example:
        >>> from webtensor import keras
        >>> round(keras.ops.logdet([[2.0, 0.0], [0.0, 4.0]]).item(), 3)
        2.079
    """
    diagonal = wt.linalg.diagonal(wt.linalg.cholesky(x))
    return wt.multiply(wt.sum(wt.log(diagonal), axis=-1), 2.0)


def _view_as_complex(x: TensorLike) -> Tensor:
    """Return the complex numbers whose parts are pairs along the last axis: (…, 2) becomes (…).

    Raises:
        ValueError: the last axis is not of size 2.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.view_as_complex([[1.0, 2.0]]).tolist()
        [(1+2j)]
    """
    x = wt.asarray(x)
    if x.shape[-1:] != (2,):
        raise ValueError(f"view_as_complex: the last axis must have size 2; x.shape={x.shape}")
    return wt.complex(x[..., 0], x[..., 1])


def _view_as_real(x: TensorLike) -> Tensor:
    """Return the real and imaginary parts of complex numbers along a new last axis of size 2.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.view_as_real([1 + 2j]).tolist()
        [[1.0, 2.0]]
    """
    return wt.stack(_parts(wt.astype(x, complex64)), -1)


def _erfc(x: TensorLike) -> Tensor:
    """Return the complementary error function, ``1 - erf(x)``, of each element.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.erfc([0.0, 0.5]).numpy().round(3)
        array([1.  , 0.48], dtype=float32)
    """
    return wt.subtract(1.0, wt.erf(x))


TABLE = Table(
    "keras.src.ops.math",
    {
        # -- segments --------------------------------------------------------------------------
        "segment_max": _segment_reduction(wt.max, -wt.inf),
        "segment_min": _segment_reduction(wt.min, wt.inf),
        "segment_prod": _segment_reduction(wt.prod, 1),
        "segment_sum": op(_segment_sum, "num_segments sorted", spec=_segment_spec),
        # -- largest elements ------------------------------------------------------------------
        "in_top_k": op(_in_top_k, "k"),
        "top_k": op(_top_k, "k sorted"),
        # -- transforms ------------------------------------------------------------------------
        "extract_sequences": op(_extract_sequences, "sequence_length sequence_stride"),
        "fft": op(_fft, class_name="FFT"),
        "fft2": op(_fft2, class_name="FFT2"),
        "ifft2": op(_ifft2, class_name="IFFT2"),
        "irfft": op(_irfft, "fft_length", class_name="IRFFT"),
        "istft": op(
            _istft,
            "sequence_length sequence_stride fft_length length window center",
            class_name="ISTFT",
        ),
        "rfft": op(_rfft, "fft_length", class_name="RFFT"),
        "stft": op(
            _stft, "sequence_length sequence_stride fft_length window center", class_name="STFT"
        ),
        # -- special functions -----------------------------------------------------------------
        "cdist": op(_cdist, class_name="CDist"),
        "erf": unary(wt.erf),
        "erfc": unary(_erfc),
        "erfinv": unary(wt.erf_inv),
        "logdet": op(_logdet),
        "logsumexp": reduction(_logsumexp),
        "rsqrt": unary(wt.rsqrt),
        "view_as_complex": op(_view_as_complex),
        "view_as_real": op(_view_as_real),
    },
)


def __getattr__(name: str) -> Any:
    return TABLE.function(name)
