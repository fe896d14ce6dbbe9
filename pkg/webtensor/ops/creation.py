"""Making tensors: from host values, filled, in sequence.

``device`` names the backend that a tensor is moved to at once; by default, tensors are moved to the
active backend when an operation first uses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.arguments import as_integer
from webtensor.autodiff import note_constant
from webtensor.dtypes import as_dtype, bool_, complex64, float32, int32, number_dtype, string_
from webtensor.engine import (
    Primitive,
    Tensor,
    TensorLike,
    Variable,
    as_operand,
    from_host,
    planned,
    run,
)
from webtensor.engine.convert import pack
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_pairs import from_pairs
from webtensor.ops.movement import clone, concat, reshape
from webtensor.shapes import as_shape, check_size, prod

__all__ = [
    "array",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "tensor",
    "zeros",
    "zeros_like",
]

_FILL = Primitive("fill")
_EYE = Primitive("eye")

#: Up to this many elements are made on the host, so that ops can check them as indices.
MAX_ON_HOST = 1024


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


def on_device(result: Tensor, device: str | None) -> Tensor:
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
        return on_device(from_host("asarray", obj, target_dtype), device)
    result = as_operand("asarray", obj)
    result.throw_if_disposed()
    result = result if target_dtype is None else cast_to(result, target_dtype)
    return on_device(clone(result) if copy and result is obj else result, device)


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
        return on_device(clone(operand) if copy else operand, device)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: x must have __dlpack__, but got {type(x).__name__}")
    if copy is False:
        raise BufferError("from_dlpack: copy must not be False, since arrays are copied")
    import numpy

    return on_device(from_host("from_dlpack", numpy.from_dlpack(x), None), device)


@planned
def full(
    shape: int | Sequence[int], fill_value: Any, dtype: Any = None, device: str | None = None
) -> Tensor:
    """Tensor of a shape with every element the same; the dtype follows ``fill_value``.

    Gradients flow to a ``fill_value`` that is a tensor.

    Raises:
        TypeError: ``dtype`` is not a dtype.
        ValueError: a size in ``shape`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.full((2,), 7).tolist()
        [7, 7]
    """
    return on_device(_filled("full", shape, fill_value, dtype), device)


@planned
def _filled(name: str, shape: int | Sequence[int], fill_value: Any, dtype: Any) -> Tensor:
    """See ``full``; ``name`` is the function that errors will name."""
    shape = as_shape(name, shape)
    if isinstance(fill_value, (Tensor, Variable)) and fill_value.dtype is not string_:
        from webtensor.ops.broadcasting import broadcast_to

        if fill_value.size == 1:  # gradients flow to it, and replays read it again
            number = reshape(as_operand(name, fill_value), ())
            return broadcast_to(
                number if dtype is None else cast_to(number, as_dtype(dtype)), shape
            )
    if hasattr(fill_value, "item"):  # a tensor, a number of NumPy's
        fill_value = fill_value.item()
    if isinstance(fill_value, (str, bytes)):
        result_dtype = string_ if dtype is None else as_dtype(dtype)
        check_size(name, "shape", shape, prod(shape))
        from webtensor.ops.string_elements import text_tensor

        return text_tensor(pack(name, [fill_value], result_dtype) * prod(shape), shape)
    if not isinstance(fill_value, (bool, int, float, complex)):
        raise TypeError(f"{name}: fill_value must be a number, but got {fill_value!r}")
    result_dtype = number_dtype(fill_value) if dtype is None else as_dtype(dtype)
    stored = pack(name, [fill_value], result_dtype)
    if result_dtype is complex64:
        filled = concat([full((*shape, 1), part) for part in stored], -1)
        return from_pairs(filled)
    return run(_FILL, (), shape, result_dtype, stored[0])


def _zeros(name: str, shape: int | Sequence[int], dtype: Any) -> Tensor:
    """See ``zeros``; ``name`` is the function that errors will name."""
    return _filled(name, shape, "" if as_dtype(dtype) is string_ else 0, dtype)


@planned
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
    return on_device(_zeros("zeros", shape, float32 if dtype is None else dtype), device)


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
    return on_device(_zeros("empty", shape, float32 if dtype is None else dtype), device)


@planned
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
    return on_device(_filled("ones", shape, 1, float32 if dtype is None else dtype), device)


def full_like(
    x: TensorLike, fill_value: Any, dtype: Any = None, device: str | None = None
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
    return on_device(filled, device)


def _zeros_like(name: str, x: TensorLike, dtype: Any, device: str | None) -> Tensor:
    x = as_operand(name, x)
    is_text = (x.dtype if dtype is None else as_dtype(dtype)) is string_
    return _like(name, x, "" if is_text else 0, dtype, device)


def zeros_like(x: TensorLike, dtype: Any = None, device: str | None = None) -> Tensor:
    """Tensor of zeros with the shape of ``x``, and its dtype by default.

    Raises:
        TypeError: ``dtype`` is not a dtype.

    Example:
        >>> import webtensor as wt
        >>> wt.zeros_like([5, 6]).tolist()
        [0, 0]
    """
    return _zeros_like("zeros_like", x, dtype, device)


def empty_like(x: TensorLike, dtype: Any = None, device: str | None = None) -> Tensor:
    """Tensor like ``x`` whose elements don't matter, for the array API standard: zeros.

    Raises:
        TypeError: ``dtype`` is not a dtype.

    Example:
        >>> import webtensor as wt
        >>> wt.empty_like([[1, 2]]).shape
        (1, 2)
    """
    return _zeros_like("empty_like", x, dtype, device)


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
    ``(*batch_shape, n_rows, n_cols)``. A sequence in place of ``k``, or None, is taken for it,
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
    if prod(shape) <= MAX_ON_HOST:
        values = [int(column == row + diagonal) for row in range(rows) for column in range(columns)]
        return on_device(reshape(from_host("eye", values, result_dtype), shape), device)
    computed = result_dtype if result_dtype in (float32, int32, bool_) else float32
    return on_device(cast_to(run(_EYE, (), shape, computed, diagonal), result_dtype), device)
