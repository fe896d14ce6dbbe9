"""Making tensors: from host values, filled, in sequence.

``device`` names the backend that a tensor goes to at once; without it, tensors go to the active
backend when an operation first uses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from math import ceil
from typing import Any

from webtensor.arguments import as_integer, as_number
from webtensor.dtypes import as_dtype, complex64, float32, int32, number_dtype, string_
from webtensor.engine import Primitive, Tensor, TensorLike, Variable, as_operand, from_host, run
from webtensor.engine.convert import pack
from webtensor.engine.storage import Storage
from webtensor.ops.casting import cast_to
from webtensor.ops.movement import clone, concat, reshape
from webtensor.ops.pairs import from_pairs
from webtensor.ops.text import text_tensor
from webtensor.shapes import as_shape, prod

__all__ = [
    "arange",
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

_FILL = Primitive("fill")


def tensor(values: TensorLike, shape: Sequence[int] | None = None, dtype: Any = None) -> Tensor:
    """Make a tensor from numbers, nested lists, a buffer or an array; the data is copied.

    ``shape`` gives flat values another shape. Without ``dtype``, floats make float32, integers
    int32 and booleans bool.

    Raises:
        TypeError: an element is not a number, or the dtype is unknown.
        ValueError: nested lists are uneven, the shape does not hold the values, or an integer does
            not fit int32.

    Example:
        >>> import webtensor as wt
        >>> wt.tensor([1, 2, 3, 4], shape=(2, 2)).tolist()
        [[1, 2], [3, 4]]
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(values, (Tensor, Variable)):
        made = as_operand("tensor", values)
        made = made if wanted is None else cast_to(made, wanted)
    else:
        made = from_host("tensor", values, wanted)
    if shape is None:
        return clone(made) if made is values else made
    shape = as_shape("tensor", shape)
    if prod(shape) != made.size:
        raise ValueError(
            f"tensor: shape {shape} holds {prod(shape)} elements, but values has {made.size}"
        )
    return reshape(made, shape)


def _placed(made: Tensor, device: str | None) -> Tensor:
    return made if device is None else made.to_device(device)


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
    wanted = None if dtype is None else as_dtype(dtype)
    is_tensor = isinstance(obj, (Tensor, Variable))
    if copy is False and (not is_tensor or wanted not in (None, obj.dtype)):
        raise ValueError(
            "asarray: copy must not be False for values of the host or of another dtype"
        )
    if not is_tensor:
        return _placed(from_host("asarray", obj, wanted), device)
    made = as_operand("asarray", obj)
    made = made if wanted is None else cast_to(made, wanted)
    return _placed(clone(made) if copy and made is obj else made, device)


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """Make a tensor of another library's array in host memory, through NumPy; the data is copied.

    Raises:
        TypeError: ``x`` does not export its elements.
        ValueError: ``copy`` is False.

    Example:
        >>> import webtensor as wt
        >>> wt.from_dlpack(wt.tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    import numpy

    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: x must have __dlpack__, but got {type(x).__name__}")
    if copy is False:
        raise ValueError("from_dlpack: copy must not be False, since the data is copied")
    return _placed(from_host("from_dlpack", numpy.from_dlpack(x), None), device)


def full(
    shape: int | Sequence[int], fill_value: Any, dtype: Any = None, device: str | None = None
) -> Tensor:
    """Tensor of a shape with every element the same; the dtype follows ``fill_value``.

    Example:
        >>> import webtensor as wt
        >>> wt.full((2,), 7).tolist()
        [7, 7]
    """
    return _placed(_filled("full", shape, fill_value, dtype), device)


def _filled(name: str, shape: int | Sequence[int], fill_value: Any, dtype: Any) -> Tensor:
    """See ``full``; ``name`` is the function that errors will name."""
    shape = as_shape(name, shape)
    if hasattr(fill_value, "item"):  # a tensor, a variable, a number of NumPy's
        fill_value = fill_value.item()
    if isinstance(fill_value, (str, bytes)):
        made = string_ if dtype is None else as_dtype(dtype)
        return text_tensor(pack(name, [fill_value], made) * prod(shape), shape)
    if not isinstance(fill_value, (bool, int, float, complex)):
        raise TypeError(f"{name}: fill_value must be a number, but got {fill_value!r}")
    made = number_dtype(fill_value) if dtype is None else as_dtype(dtype)
    stored = pack(name, [fill_value], made)
    if made is complex64:
        filled = concat([full((*shape, 1), part) for part in stored], -1)
        return from_pairs(filled)
    return run(_FILL, (), shape, made, stored[0])


def zeros(shape: int | Sequence[int], dtype: Any = float32, device: str | None = None) -> Tensor:
    """Tensor of zeros.

    Example:
        >>> import webtensor as wt
        >>> wt.zeros((2, 1)).tolist()
        [[0.0], [0.0]]
    """
    return _placed(_filled("zeros", shape, 0, float32 if dtype is None else dtype), device)


def empty(shape: int | Sequence[int], dtype: Any = float32, device: str | None = None) -> Tensor:
    """Tensor whose elements don't matter, for the array API standard: zeros.

    Example:
        >>> import webtensor as wt
        >>> wt.empty((2, 1)).shape
        (2, 1)
    """
    return _placed(_filled("empty", shape, 0, float32 if dtype is None else dtype), device)


def ones(shape: int | Sequence[int], dtype: Any = float32, device: str | None = None) -> Tensor:
    """Tensor of ones.

    Example:
        >>> import webtensor as wt
        >>> wt.ones(2, dtype=wt.int32).tolist()
        [1, 1]
    """
    return _placed(_filled("ones", shape, 1, float32 if dtype is None else dtype), device)


def full_like(
    x: TensorLike, fill_value: float, dtype: Any = None, device: str | None = None
) -> Tensor:
    """Tensor with the shape of ``x``, and its dtype by default, with every element the same."""
    return _like("full_like", x, fill_value, dtype, device)


def _like(name: str, x: TensorLike, fill_value: Any, dtype: Any, device: str | None) -> Tensor:
    """See ``full_like``; ``name`` is the function that errors will name."""
    x = as_operand(name, x)
    return _placed(_filled(name, x.shape, fill_value, x.dtype if dtype is None else dtype), device)


def zeros_like(x: TensorLike, dtype: Any = None, device: str | None = None) -> Tensor:
    """Tensor of zeros with the shape of ``x``, and its dtype by default."""
    return _like("zeros_like", x, 0, dtype, device)


def empty_like(x: TensorLike, dtype: Any = None, device: str | None = None) -> Tensor:
    """Tensor like ``x`` whose elements don't matter, for the array API standard: zeros."""
    return _like("empty_like", x, 0, dtype, device)


def ones_like(x: TensorLike, dtype: Any = None, device: str | None = None) -> Tensor:
    """Tensor of ones with the shape of ``x``, and its dtype by default."""
    return _like("ones_like", x, 1, dtype, device)


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
        ValueError: ``step`` is 0.

    Example:
        >>> import webtensor as wt
        >>> wt.arange(3).tolist(), wt.arange(1, 2, 0.5).tolist()
        ([0, 1, 2], [1.0, 1.5])
    """
    for argument, number in (("start", start), ("stop", stop), ("step", step)):
        if number is not None:
            as_number("arange", argument, number)
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ValueError("arange: step must not be 0")
    natural = float32
    if all(isinstance(number, int) for number in (start, stop, step)):
        natural = int32
        values: Any = range(int(start), int(stop), int(step))
    else:
        count = max(0, ceil((stop - start) / step))
        values = [start + step * index for index in range(count)]
    made = natural if dtype is None else as_dtype(dtype)
    host = pack("arange", values, made)
    return _placed(Tensor(Storage(made.stored, len(host), host), (len(values),), made), device)


def linspace(
    start: float,
    stop: float,
    num: int,
    dtype: Any = None,
    endpoint: bool = True,
    device: str | None = None,
) -> Tensor:
    """``num`` evenly spaced numbers from ``start`` to ``stop`` inclusive, as float32.

    Example:
        >>> import webtensor as wt
        >>> wt.linspace(0, 1, 3).tolist()
        [0.0, 0.5, 1.0]
    """
    if not isinstance(num, int):
        raise TypeError(f"linspace: num must be an integer, but got {num!r}")
    if num < 0:
        raise ValueError(f"linspace: num must not be negative, but got {num}")
    for argument, number in (("start", start), ("stop", stop)):
        as_number("linspace", argument, number)
    intervals = num - 1 if endpoint else num
    step = (stop - start) / intervals if intervals > 0 else 0.0
    values = [start + step * index for index in range(num)]
    if endpoint and num > 1:
        values[-1] = stop
    made = float32 if dtype is None else as_dtype(dtype)
    return _placed(from_host("linspace", values, made), device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    k: int = 0,
    dtype: Any = float32,
    device: str | None = None,
) -> Tensor:
    """Matrix with ones on the diagonal number ``k`` and zeros elsewhere.

    Example:
        >>> import webtensor as wt
        >>> wt.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    columns = n_rows if n_cols is None else n_cols
    k = as_integer("eye", "k", k)
    as_integer("eye", "n_rows", n_rows)
    as_integer("eye", "n_cols", columns)
    shape = as_shape("eye", (n_rows, columns))
    values: list[float] = list(repeat(0, prod(shape)))
    for row in range(n_rows):
        if 0 <= row + k < columns:
            values[row * columns + row + k] = 1
    made = float32 if dtype is None else as_dtype(dtype)
    host = pack("eye", values, made)
    return _placed(Tensor(Storage(made.stored, len(host), host), shape, made), device)
