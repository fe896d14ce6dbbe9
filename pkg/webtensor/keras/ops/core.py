"""Functions about tensors themselves, their parts, and the flow of computation.

Loops and branches run at once: ``while_loop``, ``scan`` and the like call functions of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.autodiff import custom_grad
from webtensor.dtypes import bool_, int32
from webtensor.engine import Tensor, Variable
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.nest import flatten, map_structure, pack
from webtensor.keras.ops.movement import shape_of
from webtensor.keras.ops.operations import Table, like, op, plain
from webtensor.keras.shape_inference import outcome_of_trial
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import DTypeLike

__all__ = ["TABLE"]


# -- conversions -------------------------------------------------------------------------------


def _convert_to_tensor(
    x: Any, dtype: DTypeLike = None, sparse: Any = None, ragged: Any = None
) -> Any:
    """Convert an array, a list, a number or a variable to a tensor, optionally of a given dtype.

    Raises:
        ValueError: ``sparse`` or ``ragged`` is true, which no backend supports.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.convert_to_tensor([[1, 2]], dtype="float32").tolist()
        [[1.0, 2.0]]
    """
    if sparse or ragged:
        raise ValueError("convert_to_tensor: there are no sparse and no ragged tensors")
    if isinstance(x, Variable):
        x = x.value
    held = _joined(x)
    return held if dtype is None else wt.astype(held, held_dtype(dtype))


def _joined(x: Any) -> Any:
    """A tensor of a list that may hold arrays and tensors."""
    if isinstance(x, (list, tuple)) and any(hasattr(one, "shape") for one in flatten(x)):
        return wt.stack([_joined(one) for one in x])
    return wt.asarray(x)


def _convert_to_numpy(x: Any) -> Any:
    """Return the elements of a tensor as a NumPy array of the same shape and dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.convert_to_numpy(keras.ops.ones((2,)))
        array([1., 1.], dtype=float32)
    """
    return wt.asarray(x).numpy()


def _cast(x: Any, dtype: Any) -> Any:
    """Convert the elements to another dtype; the shape stays.

    Raises:
        TypeError, ValueError: ``dtype`` is not a dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.cast([0.5, 2.0], "int32").tolist()
        [0, 2]
    """
    return wt.astype(x, held_dtype(dtype))


def dtype_of(x: Any) -> str:
    """Return the name of a tensor's dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.dtype([0.5])
        'float32'
    """
    return str(x.dtype if hasattr(x, "dtype") else wt.asarray(x).dtype)


def _is_tensor(x: Any) -> bool:
    """Return whether a value is a tensor, symbolic or not.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.is_tensor(keras.ops.ones(2)), keras.ops.is_tensor([1.0, 1.0])
        (True, False)
    """
    return isinstance(x, (Tensor, KerasTensor))


def _stop_gradient(variable: Any) -> Any:
    """Return the elements as a constant, through which no gradient flows.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> wt.grad(lambda x: x * keras.ops.stop_gradient(x))(wt.tensor(3.0)).tolist()
        3.0
    """
    return _constant(wt.asarray(variable))


@custom_grad
def _constant(x: Any) -> tuple[Any, Callable[..., Any]]:
    return wt.clone(x), lambda _: wt.zeros_like(x)


def _custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function a gradient of its own.

    ``f`` returns its result and a function that maps the gradient of the result, ``upstream``, to
    those of the arguments.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> @keras.ops.custom_gradient
        ... def clipped(x):
        ...     return x, lambda upstream: keras.ops.clip(upstream, -1.0, 1.0)
        >>> wt.grad(lambda x: clipped(x) * 5.0)(wt.tensor(2.0)).tolist()
        1.0
    """

    def with_upstream(*args: Any) -> Any:
        result, gradient = f(*args)
        return result, lambda upstream, *_: gradient(upstream)

    return custom_grad(with_upstream)


# -- parts -------------------------------------------------------------------------------------


def _slice(inputs: Any, start_indices: Any, shape: Any) -> Any:
    """Return the block of the given shape that begins at ``start_indices``.

    There is one start and one size for each axis; the size -1 means all elements from the start
    on. A block that would reach beyond the end is moved to lie inside.

    Raises:
        ValueError: the number of starts or of sizes differs from the rank.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.slice([[1, 2, 3], [4, 5, 6]], (0, 1), (2, 2)).tolist()
        [[2, 3], [5, 6]]
    """
    inputs = wt.asarray(inputs)
    starts = _whole(start_indices)
    lengths = [
        n - start if size == -1 else size
        for n, start, size in zip(inputs.shape, starts, shape, strict=True)
    ]
    starts = _kept_inside(starts, inputs.shape, lengths)
    return wt.slice(inputs, starts, lengths)


def _sliced(compute: Any, args: tuple[Any, ...], given: dict[str, Any]) -> KerasTensor:
    inputs, starts = args
    shape = list(given["shape"])
    rank = len(inputs.shape)
    is_known = not isinstance(starts, KerasTensor)
    if len(shape) != rank or (is_known and len(starts) != rank):
        raise ValueError(
            f"slice: start_indices and shape must have a number for each of {rank} axes, but are "
            f"{starts} and {tuple(shape)}"
        )
    for axis, size in enumerate(shape):
        if size == -1:
            length = inputs.shape[axis]
            is_fixed = is_known and length is not None
            shape[axis] = length - int(starts[axis]) if is_fixed else None
    return KerasTensor(shape, inputs.dtype)


def _whole(numbers: Any) -> list[int]:
    """Indices as integers."""
    if hasattr(numbers, "tolist"):
        numbers = numbers.tolist()
    return [int(one) for one in numbers]


def _kept_inside(starts: list[int], shape: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """Where blocks begin that are moved to lie inside, as JAX does."""
    return [
        max(0, min(start, n - size)) for start, n, size in zip(starts, shape, lengths, strict=True)
    ]


def _slice_update(inputs: Any, start_indices: Any, updates: Any) -> Any:
    """Return ``inputs`` with the block that begins at ``start_indices`` replaced by ``updates``.

    The result has the shape and dtype of ``inputs``. A block that would reach beyond the end is
    moved to lie inside.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.slice_update([1, 2, 3, 4], (1,), [8, 9]).tolist()
        [1, 8, 9, 4]
    """
    inputs = wt.asarray(inputs)
    updates = wt.astype(updates, inputs.dtype)
    starts = _kept_inside(_whole(start_indices), inputs.shape, updates.shape)
    pairs = [
        [start, n - start - size]
        for start, n, size in zip(starts, inputs.shape, updates.shape, strict=True)
    ]
    is_new = wt.pad(wt.ones_like(updates, bool_), pairs)
    return wt.where(wt.astype(is_new, bool_), wt.pad(updates, pairs), inputs)


def _scatter(indices: Any, values: Any, shape: Any) -> Any:
    """Return a tensor of zeros with ``values`` added at ``indices``.

    ``indices`` has shape (count…, depth), where ``depth`` is the number of leading axes of
    ``shape`` that an index names; ``values`` has shape (count…, *shape[depth:]). Values of equal
    indices are added up.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.scatter([[1], [3], [1]], [5.0, 6.0, 7.0], (4,)).tolist()
        [0.0, 12.0, 0.0, 6.0]
    """
    return wt.scatter_nd(wt.astype(indices, int32), values, tuple(shape))


def _scatter_update(inputs: Any, indices: Any, updates: Any, reduction: str | None = None) -> Any:
    """Return ``inputs`` with the elements at ``indices`` replaced by ``updates``.

    ``indices`` has shape (count…, depth) and ``updates`` (count…, *inputs.shape[depth:]). With
    ``reduction``, which is "add", "max", "min" or "mul", updates are combined with the elements
    instead. The result has the shape and dtype of ``inputs``.

    Raises:
        ValueError: ``reduction`` is none of these.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.scatter_update([1, 2, 3], [[0], [2]], [7, 9]).tolist()
        [7, 2, 9]
    """
    inputs, indices = wt.asarray(inputs), wt.astype(indices, int32)
    updates = wt.astype(updates, inputs.dtype)
    if reduction is None:
        return wt.tensor_scatter_update(inputs, indices, updates)
    if reduction == "add":
        return wt.add(inputs, wt.scatter_nd(indices, updates, inputs.shape))
    if reduction not in _COMBINE:
        known = ["add", *_COMBINE]
        raise ValueError(
            f"scatter_update: reduction must be None or one of {known}, but got {reduction!r}"
        )
    combine = _COMBINE[reduction]
    # Those at one place are combined one after the other.
    depth = indices.shape[-1]
    places = wt.reshape(indices, (-1, depth))
    rows = wt.reshape(updates, (places.shape[0], *inputs.shape[depth:]))
    for number in range(places.shape[0]):
        place = places[number : number + 1]
        row = combine(wt.gather_nd(inputs, place), rows[number : number + 1])
        inputs = wt.tensor_scatter_update(inputs, place, row)
    return inputs


_COMBINE: dict[str, Callable[..., Any]] = {
    "max": wt.maximum,
    "min": wt.minimum,
    "mul": wt.multiply,
}


def _unstack(x: Any, num: int | None = None, axis: int = 0) -> Any:
    """Return the slices along an axis as a list of tensors, without that axis.

    Raises:
        ValueError: ``num`` is given and differs from the size of the axis.

    Example:
        >>> from webtensor import keras
        >>> [row.tolist() for row in keras.ops.unstack([[1, 2], [3, 4]])]
        [[1, 2], [3, 4]]
    """
    slices = list(wt.unstack(x, axis))
    if num is not None and num != len(slices):
        raise ValueError(f"unstack: num is {num}, but axis {axis} has length {len(slices)}")
    return slices


def _saturate_cast(x: Any, dtype: Any) -> Any:
    """Convert the elements to another dtype, clipped to the range of that dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.saturate_cast([-5, 300], "uint8").tolist()
        [0, 255]
    """
    x = wt.asarray(x)
    limits = _LIMITS.get(str(dtype))
    return wt.astype(x if limits is None else wt.clip(x, *limits), held_dtype(dtype))


_LIMITS = {
    "int16": (-(2**15), 2**15 - 1),
    "int8": (-128, 127),
    "uint16": (0, 2**16 - 1),
    "uint8": (0, 255),
}


# -- flow --------------------------------------------------------------------------------------


def _truth(value: Any) -> bool:
    return bool(value.item() if hasattr(value, "item") else value)


def _cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Call ``true_fn`` if ``pred`` is true, else ``false_fn``; return what it returned.

    Both take no arguments and must return the same structure, shapes and dtypes where tensors are
    symbolic.

    Raises:
        ValueError: the functions return different shapes or dtypes of symbolic tensors.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.cond(True, lambda: "then", lambda: "else")
        'then'
    """
    return true_fn() if _truth(pred) else false_fn()


def _either(compute: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """Both functions have to return the same shapes and dtypes."""
    first, second = (outcome_of_trial(one, (), {}) for one in args[1:])
    found = [
        [(one.shape, one.dtype) if isinstance(one, KerasTensor) else None for one in flatten(made)]
        for made in (first, second)
    ]
    if found[0] != found[1]:
        raise ValueError(
            f"cond: true_fn and false_fn must return the same shapes and dtypes, but return "
            f"{found[0]} and {found[1]}"
        )
    return map_structure(
        lambda one: KerasTensor(one.shape, one.dtype) if isinstance(one, KerasTensor) else one,
        first,
    )


def _switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Call ``branches[index]`` with the operands and return what it returned.

    An index out of range is clipped to the first or last branch.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.switch(1, [lambda x: x + 1, lambda x: x * 10], 3)
        30
    """
    place = int(index.item() if hasattr(index, "item") else index)
    return branches[max(0, min(place, len(branches) - 1))](*operands)


def _while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    maximum_iterations: int | None = None,
) -> Any:
    """Call ``body`` with the loop variables as long as ``cond`` of them is true.

    ``body`` returns the next loop variables, with the same structure, shapes and dtypes.
    ``maximum_iterations`` limits the number of calls. Return the last loop variables: a tuple if
    ``loop_vars`` is a list or tuple, else one value.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.while_loop(lambda n: n < 10, lambda n: n * 2, 1)
        16
    """
    is_sequence = isinstance(loop_vars, (list, tuple))
    values = tuple(loop_vars) if is_sequence else (loop_vars,)
    count = 0
    while (maximum_iterations is None or count < maximum_iterations) and _truth(cond(*values)):
        made = body(*values)
        values = tuple(made) if isinstance(made, (list, tuple)) else (made,)
        count += 1
    return values if is_sequence else values[0]


def _as_before(compute: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """What goes through a loop keeps its shapes and dtypes."""
    return map_structure(lambda one: KerasTensor(shape_of(one), dtype_of(one)), args[0])


def _fori_loop(lower: int, upper: int, body_fun: Callable[[int, Any], Any], init_val: Any) -> Any:
    """Call ``body_fun(index, value)`` for each index from ``lower`` to ``upper - 1``.

    ``value`` is ``init_val`` at first, then what the previous call returned. Return the last
    value.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.fori_loop(1, 4, lambda index, value: value * index, 1)
        6
    """
    value = init_val
    for number in range(int(lower), int(upper)):
        value = body_fun(number, value)
    return value


def _stacked(rows: list[Any]) -> Any:
    """Structures with tensors, as one with stacked tensors."""
    if rows[0] is None:
        return None
    columns = zip(*(flatten(row) for row in rows), strict=True)
    return pack(rows[0], [wt.stack([wt.asarray(one) for one in column]) for column in columns])


def _scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> Any:
    """Call ``f(carry, x)`` for each slice ``x`` along the first axis of ``xs``.

    ``f`` returns the next carry and an output; the first carry is ``init``. Return the last carry
    and the stacked outputs. ``length`` is the number of calls where ``xs`` is None; ``reverse``
    begins with the last slice. ``unroll`` changes nothing here.

    Raises:
        TypeError: ``f`` is not callable.
        ValueError: neither ``xs`` nor ``length`` is given, or ``unroll`` is negative.

    Example:
        >>> from webtensor import keras
        >>> xs = keras.ops.array([1, 2, 3])
        >>> total, sums = keras.ops.scan(lambda carry, x: (carry + x, carry + x), 0, xs)
        >>> total.tolist(), sums.tolist()
        (6, [1, 3, 6])
    """
    if not callable(f):
        raise TypeError(f"scan: f must be callable, but got {f!r}")
    if not isinstance(unroll, int) or unroll < 0:
        raise ValueError(f"scan: unroll must be a positive integer or a bool, but got {unroll!r}")
    if xs is None and length is None:
        raise ValueError("scan: give xs or length")
    count = length if length is not None else flatten(xs)[0].shape[0]
    carry, rows = init, []
    for number in reversed(range(count)) if reverse else range(count):
        part = None if xs is None else map_structure(lambda one, at=number: one[at], xs)
        carry, made = f(carry, part)
        rows.append(made)
    return carry, _stacked(rows[::-1] if reverse else rows) if rows else None


def _associative_scan(
    f: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Combine the slices along an axis cumulatively with an associative function.

    The result's slice ``i`` is ``f(f(x[0], x[1]), …, x[i])``. ``elems`` is a tensor or a structure
    of tensors of the same size along ``axis``; the result has its structure and shapes.
    ``reverse`` begins with the last slice.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.associative_scan(keras.ops.add, keras.ops.array([1, 2, 3])).tolist()
        [1, 3, 6]
    """
    columns = [wt.unstack(one, axis) for one in flatten(elems)]
    slices = [pack(elems, row) for row in zip(*columns, strict=True)]
    if reverse:
        slices.reverse()
    rows = slices[:1]
    for one in slices[1:]:
        rows.append(f(rows[-1], one))
    if reverse:
        rows.reverse()
    scanned = zip(*(flatten(row) for row in rows), strict=True)
    return pack(elems, [wt.stack(list(column), axis) for column in scanned])


def _map(f: Callable[[Any], Any], xs: Any) -> Any:
    """Call ``f`` with each slice along the first axis, and stack the results.

    ``xs`` is a tensor or a structure of tensors of the same size along the first axis.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.map(keras.ops.sum, keras.ops.array([[1, 2], [3, 4]])).tolist()
        [3, 7]
    """
    count = flatten(xs)[0].shape[0]
    return _stacked([f(map_structure(lambda one, at=n: one[at], xs)) for n in range(count)])


def _vectorized_map(function: Callable[[Any], Any], elements: Any) -> Any:
    """Call ``function`` with each slice along the first axis, and stack the results.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.vectorized_map(lambda x: x * 2, keras.ops.array([1, 2])).tolist()
        [2, 4]
    """
    return _map(function, elements)


TABLE = Table(
    "keras.src.ops.core",
    {
        "associative_scan": op(_associative_scan, "reverse axis"),
        "cast": op(_cast, "dtype"),
        "cond": op(_cond, spec=_either),
        "convert_to_numpy": plain(_convert_to_numpy),
        "convert_to_tensor": op(_convert_to_tensor, "dtype sparse ragged"),
        "custom_gradient": plain(_custom_gradient),
        "dtype": plain(dtype_of),
        "fori_loop": op(_fori_loop, "lower upper body_fun", spec=_as_before),
        "is_tensor": plain(_is_tensor),
        "map": op(_map),
        "saturate_cast": op(_saturate_cast, "dtype"),
        "scan": op(_scan, "length reverse unroll"),
        "scatter": op(_scatter, "shape"),
        "scatter_update": like(_scatter_update, "reduction"),
        "shape": plain(shape_of),
        "slice": op(_slice, "shape", spec=_sliced),
        "slice_update": like(_slice_update),
        "stop_gradient": like(_stop_gradient),
        "switch": op(_switch),
        "unstack": op(_unstack, "num axis"),
        "vectorized_map": op(_vectorized_map, "function"),
        "while_loop": op(_while_loop, "cond body maximum_iterations", spec=_as_before),
    },
)


def __getattr__(name: str) -> Any:
    return TABLE.function(name)
