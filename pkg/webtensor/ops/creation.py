"""Making tensors: from host values, filled, in sequence.

``device`` names the backend that a tensor is moved to at once; by default, tensors are moved to the
active backend when an operation first uses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import ceil, isfinite
from typing import Any

from webtensor.arguments import as_integer, as_number
from webtensor.autodiff import note_constant
from webtensor.dtypes import as_dtype, bool_, complex64, float32, int32, number_dtype, string_
from webtensor.engine import Primitive, Tensor, TensorLike, Variable, as_operand, from_host, run
from webtensor.engine.convert import pack
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_pairs import from_pairs
from webtensor.ops.movement import clone, concat, reshape
from webtensor.ops.string_elements import text_tensor
from webtensor.shapes import as_shape, check_size, prod

__all__ = [
    "arange",
    "array",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "ones",
    "ones_like",
    "tensor",
    "zeros",
    "zeros_like",
]

#: The zero of any dtype; of string it is the empty text.
_ZERO = object()

_FILL = Primitive("fill")
_SEQUENCE = Primitive("sequence")
_RAGGED_SEQUENCE = Primitive("ragged_sequence")
_EYE = Primitive("eye")

#: Up to this many elements are made on the host, so that ops can check them as indices.
_MOST_ON_HOST = 1024


def tensor(values: TensorLike, shape: Sequence[int] | None = None, dtype: Any = None) -> Tensor:
    """Make a tensor from numbers, nested lists, a buffer or an array; the data is copied.

    ``shape`` gives flat values, or the last axis of nested ones, another shape. Without ``dtype``,
    floats make float32, integers int32 and booleans bool.

    Raises:
        TypeError: an element is not a number, or the dtype is unknown.
        ValueError: nested lists are uneven, the shape does not hold the values, or an integer does
            not fit int32.

    Example:
        >>> import webtensor as wt
        >>> wt.tensor([1, 2, 3, 4], shape=(2, 2)).tolist()
        [[1, 2], [3, 4]]
    """
    target_dtype = None if dtype is None else as_dtype(dtype)
    if isinstance(values, (Tensor, Variable)):
        result = as_operand("tensor", values)
        result = result if target_dtype is None else cast_to(result, target_dtype)
    else:
        result = from_host("tensor", values, target_dtype)
    if shape is None:
        return clone(result) if result is values else result
    shape = as_shape("tensor", shape)
    if prod(shape) != result.size:
        raise ValueError(
            f"tensor: shape {shape} holds {prod(shape)} elements, but values has {result.size}"
        )
    is_nested = len(result.shape) > 1 and not isinstance(values, (Tensor, Variable))
    if is_nested and result.shape[:-1] != shape[: len(result.shape) - 1]:
        raise ValueError(
            f"tensor: values of shape {result.shape} cannot have shape {shape}; reshape them after"
        )
    return reshape(result, shape)


def _placed(result: Tensor, device: str | None) -> Tensor:
    return result if device is None else result.to_device(device)


def asarray(
    obj: TensorLike, dtype: Any = None, copy: bool | None = None, device: str | None = None
) -> Tensor:
    """Return ``obj`` as a tensor, itself where it is one of the dtype (array API standard).

    Raises:
        ValueError: ``copy`` is False, but the elements have to be copied.

    Example:
        >>> import webtensor as wt
        >>> wt.asarray([1.0, 2.0]).dtype
        'float32'
    """
    target_dtype = None if dtype is None else as_dtype(dtype)
    is_tensor = isinstance(obj, (Tensor, Variable))
    if copy is False and (not is_tensor or target_dtype not in (None, obj.dtype)):
        raise ValueError(
            "asarray: copy must not be False for values of the host or of another dtype"
        )
    if not is_tensor:
        return _placed(from_host("asarray", obj, target_dtype), device)
    result = as_operand("asarray", obj)
    result.throw_if_disposed()
    result = result if target_dtype is None else cast_to(result, target_dtype)
    return _placed(clone(result) if copy and result is obj else result, device)


def array(
    obj: TensorLike, dtype: Any = None, copy: bool = True, device: str | None = None
) -> Tensor:
    """Return a tensor of the elements of ``obj``, as ``numpy.array`` does.

    Like ``asarray``, but the result is a new tensor, unless ``copy`` is False.

    Example:
        >>> import webtensor as wt
        >>> wt.array([[1, 2], [3, 4]]).shape
        (2, 2)
    """
    return asarray(obj, dtype, copy or None, device)


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """Make a tensor of another library's array in host memory, through NumPy; the data is copied.

    A tensor is returned as it is, or a copy of it where ``copy`` is True.

    The result has the shape and the dtype of ``x``.

    Raises:
        TypeError: ``x`` does not export its elements.
        BufferError: ``copy`` is False, and the elements have to be copied.

    Example:
        >>> import webtensor as wt
        >>> wt.from_dlpack(wt.tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    if isinstance(x, (Tensor, Variable)):
        operand = as_operand("from_dlpack", x)
        return _placed(clone(operand) if copy else operand, device)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: x must have __dlpack__, but got {type(x).__name__}")
    if copy is False:
        raise BufferError("from_dlpack: copy must not be False, since arrays are copied")
    import numpy

    return _placed(from_host("from_dlpack", numpy.from_dlpack(x), None), device)


def full(
    shape: int | Sequence[int], fill_value: Any, dtype: Any = None, device: str | None = None
) -> Tensor:
    """Tensor of a shape with every element the same; the dtype follows ``fill_value``.

    Raises:
        TypeError: ``dtype`` is not a dtype.
        ValueError: a size in ``shape`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.full((2,), 7).tolist()
        [7, 7]
    """
    return _placed(_filled("full", shape, fill_value, dtype), device)


def _filled(name: str, shape: int | Sequence[int], fill_value: Any, dtype: Any) -> Tensor:
    """See ``full``; ``name`` is the function that errors will name."""
    shape = as_shape(name, shape)
    if fill_value is _ZERO:
        fill_value = "" if as_dtype(dtype) is string_ else 0
    if hasattr(fill_value, "item"):  # a tensor, a variable, a number of NumPy's
        fill_value = fill_value.item()
    if isinstance(fill_value, (str, bytes)):
        result_dtype = string_ if dtype is None else as_dtype(dtype)
        check_size(name, "shape", shape, prod(shape))
        return text_tensor(pack(name, [fill_value], result_dtype) * prod(shape), shape)
    if not isinstance(fill_value, (bool, int, float, complex)):
        raise TypeError(f"{name}: fill_value must be a number, but got {fill_value!r}")
    result_dtype = number_dtype(fill_value) if dtype is None else as_dtype(dtype)
    stored = pack(name, [fill_value], result_dtype)
    if result_dtype is complex64:
        filled = concat([full((*shape, 1), part) for part in stored], -1)
        return from_pairs(filled)
    return run(_FILL, (), shape, result_dtype, stored[0])


def zeros(shape: int | Sequence[int], dtype: Any = float32, device: str | None = None) -> Tensor:
    """Tensor of zeros; of empty texts, where the dtype is string.

    Raises:
        TypeError: ``dtype`` is not a dtype.
        ValueError: a size in ``shape`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.zeros((2, 1)).tolist()
        [[0.0], [0.0]]
    """
    return _placed(_filled("zeros", shape, _ZERO, float32 if dtype is None else dtype), device)


def empty(shape: int | Sequence[int], dtype: Any = float32, device: str | None = None) -> Tensor:
    """Tensor whose elements don't matter, for the array API standard: zeros.

    Raises:
        TypeError: ``dtype`` is not a dtype.
        ValueError: a size in ``shape`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.empty((2, 1)).shape
        (2, 1)
    """
    return _placed(_filled("empty", shape, _ZERO, float32 if dtype is None else dtype), device)


def ones(shape: int | Sequence[int], dtype: Any = float32, device: str | None = None) -> Tensor:
    """Tensor of ones.

    Raises:
        TypeError: ``dtype`` is not a dtype.
        ValueError: a size in ``shape`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.ones(2, dtype=wt.int32).tolist()
        [1, 1]
    """
    return _placed(_filled("ones", shape, 1, float32 if dtype is None else dtype), device)


def full_like(
    x: TensorLike, fill_value: float, dtype: Any = None, device: str | None = None
) -> Tensor:
    """Tensor with the shape of ``x``, and its dtype by default, with every element the same.

    Raises:
        TypeError: ``fill_value`` is not a number.

    Example:
        >>> import webtensor as wt
        >>> wt.full_like([1, 2], 7).tolist()
        [7, 7]
    """
    return _like("full_like", x, fill_value, dtype, device)


def _like(name: str, x: TensorLike, fill_value: Any, dtype: Any, device: str | None) -> Tensor:
    """See ``full_like``; ``name`` is the function that errors will name."""
    x = as_operand(name, x)
    filled = _filled(name, x.shape, fill_value, x.dtype if dtype is None else dtype)
    note_constant(x, filled)
    return _placed(filled, device)


def zeros_like(x: TensorLike, dtype: Any = None, device: str | None = None) -> Tensor:
    """Tensor of zeros with the shape of ``x``, and its dtype by default.

    Raises:
        TypeError: ``dtype`` is not a dtype.

    Example:
        >>> import webtensor as wt
        >>> wt.zeros_like([5, 6]).tolist()
        [0, 0]
    """
    return _like("zeros_like", x, _ZERO, dtype, device)


def empty_like(x: TensorLike, dtype: Any = None, device: str | None = None) -> Tensor:
    """Tensor like ``x`` whose elements don't matter, for the array API standard: zeros.

    Raises:
        TypeError: ``dtype`` is not a dtype.

    Example:
        >>> import webtensor as wt
        >>> wt.empty_like([[1, 2]]).shape
        (1, 2)
    """
    return _like("empty_like", x, _ZERO, dtype, device)


def ones_like(x: TensorLike, dtype: Any = None, device: str | None = None) -> Tensor:
    """Tensor of ones with the shape of ``x``, and its dtype by default.

    Raises:
        TypeError: ``dtype`` is not a dtype.

    Example:
        >>> import webtensor as wt
        >>> wt.ones_like([5, 6]).tolist()
        [1, 1]
    """
    return _like("ones_like", x, 1, dtype, device)


# -- numbers in equal steps -----------------------------------------------------------------------


def _sequence(name: str, count: int, start: float, step: float, last: float, dtype: Any) -> Tensor:
    """``start + i * step`` for each ``i`` less than ``count``, of which the last is ``last``."""
    if count <= _MOST_ON_HOST:
        values = [start + index * step for index in range(count)]
        values[-1:] = [last] * min(count, 1)
        return from_host(name, values, dtype)
    is_whole = float(start).is_integer() and float(step).is_integer()
    fits = all(-(2**31) <= number < 2**31 for number in (start, last))
    if dtype is int32 and not fits:
        raise ValueError(f"{name}: numbers from {start} to {last} do not fit dtype int32")
    computed = int32 if is_whole and fits else float32
    number = int if computed is int32 else float
    steps = number(start), number(step), number(last)
    return cast_to(run(_SEQUENCE, (), (count,), computed, *steps), dtype)


def ragged_sequence(
    name: str, starts: Sequence[float], deltas: Sequence[float], ends: Sequence[int], dtype: Any
) -> Tensor:
    """Rows of numbers in equal steps, one after the other; row ``r`` ends before ``ends[r]``.

    The dtype is int32 or float32.
    """
    size = ends[-1] if ends else 0
    operands = (
        from_host(name, starts, dtype),
        from_host(name, deltas, dtype),
        from_host(name, [0, *ends], int32),
    )
    return run(_RAGGED_SEQUENCE, operands, (size,), dtype)


def row_numbers(name: str, counts: Sequence[int]) -> Tensor:
    """The number of each row as many times as its count says, as int32."""
    rows = len(counts)
    return ragged_sequence(name, range(rows), [0] * rows, list(accumulate(counts)), int32)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: Any = None,
    device: str | None = None,
) -> Tensor:
    """Evenly spaced numbers from ``start`` (0 if only one is given) up to, not including, ``stop``.

    int32 where all arguments are integers, else float32.

    Raises:
        ValueError: ``step`` is 0, a number is not finite, or there are too many.

    Example:
        >>> import webtensor as wt
        >>> wt.arange(3).tolist(), wt.arange(1, 2, 0.5).tolist()
        ([0, 1, 2], [1.0, 1.5])
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = (
        _finite("arange", argument, number)
        for argument, number in (("start", start), ("stop", stop), ("step", step))
    )
    if step == 0:
        raise ValueError("arange: step must not be 0")
    is_whole = all(isinstance(number, int) for number in (start, stop, step))
    natural = int32 if is_whole else float32
    result_dtype = natural if dtype is None else as_dtype(dtype)
    steps = -((start - stop) // step) if is_whole else (stop - start) / step
    check_size("arange", "stop", stop, steps)
    count = ceil(max(0, steps))
    numbers = _sequence("arange", count, start, step, start + (count - 1) * step, result_dtype)
    return _placed(numbers, device)


def _finite(name: str, argument: str, value: Any) -> float:
    """Return an integer as it is, or another finite number as a float."""
    if isinstance(value, int):
        return value
    number = as_number(name, argument, value)
    if not isfinite(number):
        raise ValueError(f"{name}: {argument} must be finite, but got {value!r}")
    return number


def linspace(
    start: float,
    stop: float,
    num: int,
    dtype: Any = None,
    endpoint: bool = True,
    device: str | None = None,
) -> Tensor:
    """``num`` evenly spaced numbers from ``start`` to ``stop`` inclusive, as float32.

    The result has shape (num,).

    Raises:
        ValueError: ``num`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.linspace(0, 1, 3).tolist()
        [0.0, 0.5, 1.0]
    """
    count = as_integer("linspace", "num", num)
    if count < 0:
        raise ValueError(f"linspace: num must not be negative, but got {num}")
    check_size("linspace", "num", num, count)
    first, end = as_number("linspace", "start", start), as_number("linspace", "stop", stop)
    intervals = count - 1 if endpoint else count
    step = (end - first) / intervals if intervals > 0 else 0.0
    last = end if endpoint and count > 1 else first + (count - 1) * step
    result_dtype = float32 if dtype is None else as_dtype(dtype)
    return _placed(_sequence("linspace", count, first, step, last, result_dtype), device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    k: int | Sequence[int] | None = 0,
    dtype: Any = float32,
    device: str | None = None,
    *,
    batch_shape: Sequence[int] | None = None,
) -> Tensor:
    """Matrix with ones on the diagonal number ``k`` and zeros elsewhere.

    With ``batch_shape`` there is one for each of its elements: the result's shape is
    ``(*batch_shape, n_rows, n_cols)``. A sequence in the place of ``k``, or None, is taken for it,
    as in TensorFlow.js.

    Raises:
        ValueError: a number of rows or columns is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        >>> wt.eye(2, 3, batch_shape=(4,)).shape
        (4, 2, 3)
    """
    if k is None:
        k = 0
    elif isinstance(k, Sequence):
        batch_shape, k = k, 0
    if batch_shape is not None:
        matrix = eye(n_rows, n_cols, k, dtype, device)
        shape = (*as_shape("eye", batch_shape, "batch_shape"), *matrix.shape)
        return matrix.broadcast_to(shape)  # type: ignore[no-any-return]
    rows = as_integer("eye", "n_rows", n_rows)
    columns = rows if n_cols is None else as_integer("eye", "n_cols", n_cols)
    diagonal = as_integer("eye", "k", k)
    shape = as_shape("eye", (rows, columns), "(n_rows, n_cols)")
    result_dtype = float32 if dtype is None else as_dtype(dtype)
    diagonal = max(-rows, min(diagonal, columns))  # beside the matrix, wherever
    if prod(shape) <= _MOST_ON_HOST:
        values = [int(column == row + diagonal) for row in range(rows) for column in range(columns)]
        return _placed(reshape(from_host("eye", values, result_dtype), shape), device)
    computed = result_dtype if result_dtype in (float32, int32, bool_) else float32
    return _placed(cast_to(run(_EYE, (), shape, computed, diagonal), result_dtype), device)
