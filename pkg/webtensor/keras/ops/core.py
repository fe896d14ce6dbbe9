"""Conversions of tensors, their slices, and control flow.

Loops and branches run immediately: ``while_loop``, ``scan`` and the like call Python functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast

from webtensor import ops as wt, transforms
from webtensor.autodiff import custom_grad
from webtensor.dtypes import DType, bool_, int32
from webtensor.engine import Tensor, TensorLike, Variable
from webtensor.errors import CaptureError
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.ops.movement import shape_of
from webtensor.keras.ops.operations import Arguments, Computation, Table, like, op, plain
from webtensor.keras.shape_inference import outcome_of_trial
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config, DTypeLike, Shape
from webtensor.nest import flatten, map_structure, pack

__all__ = ["TABLE"]

#: What a function of the user's returns.
Result = TypeVar("Result")
#: A tensor, or a list, tuple or dictionary of structures.
Structure: TypeAlias = "Tensor | Sequence[Structure] | Mapping[str, Structure] | None"
#: What a gradient function returns: one gradient for each argument.
Gradients: TypeAlias = "Tensor | Sequence[Tensor]"


# -- conversions -------------------------------------------------------------------------------


def _convert_to_tensor(
    x: TensorLike, dtype: DTypeLike = None, sparse: bool | None = None, ragged: bool | None = None
) -> Tensor:
    """Convert an array, a list, a number or a variable to a tensor, optionally of a given dtype.

    Raises:
        ValueError: ``sparse`` or ``ragged`` is true, which no backend supports.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.convert_to_tensor([[1, 2]], dtype="float32").tolist()
        [[1.0, 2.0]]
    """
    if sparse or ragged:
        raise ValueError(
            "convert_to_tensor: sparse and ragged must be False or None, as there are no such "
            f"tensors, but got sparse={sparse} and ragged={ragged}"
        )
    if isinstance(x, Variable):
        x = x.value
    tensor = _joined(x)
    return tensor if dtype is None else wt.astype(tensor, storage_dtype(dtype))


def _joined(x: TensorLike) -> Tensor:
    """Convert a value to a tensor; a list may contain arrays and tensors."""
    if isinstance(x, (list, tuple)) and any(hasattr(leaf, "shape") for leaf in flatten(x)):
        return wt.stack([_joined(element) for element in x])
    return wt.asarray(x)


def _convert_to_numpy(x: TensorLike) -> Any:
    """Return the elements of a tensor as a new NumPy array of the same shape and dtype.

    NumPy's arrays and numbers keep their dtype, even if tensors do not have it.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.convert_to_numpy(keras.ops.ones((2,)))
        array([1., 1.], dtype=float32)
    """
    if hasattr(x, "__array_interface__"):
        import numpy

        return numpy.array(x)
    return wt.asarray(x).numpy()


def _cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """Convert the elements to another dtype; the shape stays.

    Raises:
        TypeError, ValueError: ``dtype`` is not a dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.cast([0.5, 2.0], "int32").tolist()
        [0, 2]
    """
    return wt.astype(x, storage_dtype(dtype))


def dtype_of(x: TensorLike) -> str:
    """Return the name of a tensor's dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.dtype([0.5])
        'float32'
    """
    return str(x.dtype if hasattr(x, "dtype") else wt.asarray(x).dtype)


def _is_tensor(x: TensorLike) -> bool:
    """Return whether a value is a tensor, symbolic or not.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.is_tensor(keras.ops.ones(2)), keras.ops.is_tensor([1.0, 1.0])
        (True, False)
    """
    return isinstance(x, (Tensor, KerasTensor))


def _stop_gradient(variable: TensorLike) -> Tensor:
    """Return the elements as a constant, through which no gradient flows.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> wt.grad(lambda x: x * keras.ops.stop_gradient(x))(wt.tensor(3.0)).tolist()
        3.0
    """
    return _constant(wt.asarray(variable))


@custom_grad
def _constant(x: Tensor) -> tuple[Tensor, Callable[..., Tensor]]:
    return wt.clone(x), lambda _: wt.zeros_like(x)


def _custom_gradient(
    f: Callable[..., tuple[Tensor, Callable[..., Gradients]]],
) -> Callable[..., Tensor]:
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

    def with_upstream(*args: Tensor) -> tuple[Tensor, Callable[..., Gradients]]:
        result, gradient = f(*args)
        return result, lambda upstream, *_: gradient(upstream)

    return custom_grad(with_upstream)


# -- parts -------------------------------------------------------------------------------------


def _slice(inputs: TensorLike, start_indices: TensorLike, shape: Sequence[int]) -> Tensor:
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
    starts = _integers(start_indices)
    block_shape = [
        axis_size - start if size == -1 else size
        for axis_size, start, size in zip(inputs.shape, starts, shape, strict=True)
    ]
    return wt.slice(inputs, _clipped_starts(starts, inputs.shape, block_shape), block_shape)


def _slice_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    inputs, starts = args
    shape = list(config["shape"])
    rank = len(inputs.shape)
    concrete_starts = None if isinstance(starts, KerasTensor) else list(starts)
    if len(shape) != rank or (concrete_starts is not None and len(concrete_starts) != rank):
        raise ValueError(
            f"slice: start_indices and shape must have a number for each of {rank} axes, but are "
            f"{starts} and {tuple(shape)}"
        )
    for axis, size in enumerate(shape):
        if size == -1:
            axis_size = inputs.shape[axis]
            if concrete_starts is not None and axis_size is not None:
                shape[axis] = axis_size - int(concrete_starts[axis])
            else:
                shape[axis] = None
    return KerasTensor(shape, inputs.dtype)


def _integers(indices: TensorLike) -> list[int]:
    """Return the elements of a vector of indices as integers."""
    if hasattr(indices, "tolist"):
        indices = indices.tolist()
    return [int(index) for index in indices]


def _clipped_starts(
    starts: list[int], shape: Sequence[int], block_shape: Sequence[int]
) -> list[int]:
    """Move the start of a block such that the block lies inside the shape, as JAX does."""
    return [
        max(0, min(start, axis_size - size))
        for start, axis_size, size in zip(starts, shape, block_shape, strict=True)
    ]


def _slice_update(inputs: TensorLike, start_indices: TensorLike, updates: TensorLike) -> Tensor:
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
    starts = _clipped_starts(_integers(start_indices), inputs.shape, updates.shape)
    paddings = [
        [start, axis_size - start - size]
        for start, axis_size, size in zip(starts, inputs.shape, updates.shape, strict=True)
    ]
    is_updated = wt.pad(wt.ones_like(updates, bool_), paddings)
    return wt.where(wt.astype(is_updated, bool_), wt.pad(updates, paddings), inputs)


def _scatter(indices: TensorLike, values: TensorLike, shape: Sequence[int]) -> Tensor:
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


def _scatter_update(
    inputs: TensorLike, indices: TensorLike, updates: TensorLike, reduction: str | None = None
) -> Tensor:
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
    result, indices = wt.asarray(inputs), wt.astype(indices, int32)
    updates = wt.astype(updates, result.dtype)
    if reduction is None:
        return wt.tensor_scatter_update(result, indices, updates)
    if reduction == "add":
        return wt.add(result, wt.scatter_nd(indices, updates, result.shape))
    if reduction not in _REDUCTIONS:
        reductions = ["add", *_REDUCTIONS]
        raise ValueError(
            f"scatter_update: reduction must be None or one of {reductions}, but got {reduction!r}"
        )
    combine = _REDUCTIONS[reduction]
    # Updates of equal indices are combined one after the other.
    depth = indices.shape[-1]
    index_rows = wt.reshape(indices, (-1, depth))
    update_rows = wt.reshape(updates, (index_rows.shape[0], *result.shape[depth:]))
    for number in range(index_rows.shape[0]):
        index = index_rows[number : number + 1]
        row = combine(wt.gather_nd(result, index), update_rows[number : number + 1])
        result = wt.tensor_scatter_update(result, index, row)
    return result


_REDUCTIONS: dict[str, Callable[..., Tensor]] = {
    "max": wt.maximum,
    "min": wt.minimum,
    "mul": wt.multiply,
}


def _unstack(x: TensorLike, num: int | None = None, axis: int = 0) -> list[Tensor]:
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
        raise ValueError(f"unstack: num is {num}, but axis {axis} has size {len(slices)}")
    return slices


def _saturate_cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """Convert the elements to another dtype, clipped to the range of that dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.saturate_cast([-5, 300], "uint8").tolist()
        [0, 255]
    """
    x = wt.asarray(x)
    limits = _LIMITS.get(str(dtype))
    return wt.astype(x if limits is None else wt.clip(x, *limits), storage_dtype(dtype))


_LIMITS = {
    "bool": (0, 1),
    "int16": (-(2**15), 2**15 - 1),
    "int8": (-128, 127),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**31 - 1),
    "uint64": (0, 2**31 - 1),
    "uint8": (0, 255),
}


# -- flow --------------------------------------------------------------------------------------


def _cond(
    pred: TensorLike, true_fn: Callable[[], Result], false_fn: Callable[[], Result]
) -> Result:
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
    return transforms.cond(pred, true_fn, false_fn)


def _cond_spec(compute: Computation, args: Arguments, config: Config) -> object:
    """Return the outcome of ``true_fn``, which must match that of ``false_fn``."""
    outcome, other = (outcome_of_trial(cast(Computation, branch), (), {}) for branch in args[1:])
    types, other_types = _types(outcome), _types(other)
    if types != other_types:
        raise ValueError(
            f"cond: true_fn and false_fn must return the same shapes and dtypes, but return "
            f"{types} and {other_types}"
        )
    return map_structure(
        lambda leaf: KerasTensor(leaf.shape, leaf.dtype) if isinstance(leaf, KerasTensor) else leaf,
        outcome,
    )


def _types(outcome: object) -> list[tuple[Shape, DType] | None]:
    """Return shape and dtype of each symbolic tensor in a structure; None for other values."""
    return [
        (leaf.shape, leaf.dtype) if isinstance(leaf, KerasTensor) else None
        for leaf in flatten(outcome)
    ]


def _switch(
    index: TensorLike, branches: Sequence[Callable[..., Result]], *operands: TensorLike
) -> Result:
    """Call ``branches[index]`` with the operands and return what it returned.

    An index out of range is clipped to the first or last branch.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.switch(1, [lambda x: x + 1, lambda x: x * 10], 3)
        30
    """
    number = int(index.item() if hasattr(index, "item") else index)
    return branches[max(0, min(number, len(branches) - 1))](*operands)


def _while_loop(
    cond: Callable[..., TensorLike],
    body: Callable[..., Structure],
    loop_vars: Structure,
    maximum_iterations: int | None = None,
) -> Structure:
    """Call ``body`` with the loop variables as long as ``cond`` of them is true.

    ``body`` returns the next loop variables, with the same structure, shapes and dtypes.
    ``maximum_iterations`` limits the number of calls. Return the last loop variables: a tuple if
    ``loop_vars`` is a list or tuple, else one value.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.while_loop(lambda n: n < 10, lambda n: n * 2, 1)
        16
    """
    result: Structure = transforms.while_loop(cond, body, loop_vars, maximum_iterations)
    return result


def _loop_spec(compute: Computation, args: Arguments, config: Config) -> object:
    """Loop variables keep their shapes and dtypes."""
    return map_structure(lambda leaf: KerasTensor(shape_of(leaf), dtype_of(leaf)), args[0])


def _fori_loop(
    lower: int, upper: int, body_fun: Callable[[int, Result], Result], init_val: Result
) -> Result:
    """Call ``body_fun(index, value)`` for each index from ``lower`` to ``upper - 1``.

    ``value`` is ``init_val`` at first, then what the previous call returned. Return the last
    value.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.fori_loop(1, 4, lambda index, value: value * index, 1)
        6
    """
    value = init_val
    for index in range(int(lower), int(upper)):
        value = body_fun(index, value)
    return value


def _stacked(structures: list[Structure]) -> Structure:
    """Stack the corresponding tensors of structures."""
    if structures[0] is None:
        return None
    columns = zip(*map(flatten, structures), strict=True)
    stacked = [wt.stack([wt.asarray(leaf) for leaf in column]) for column in columns]
    structure: Structure = pack(structures[0], stacked)
    return structure


def _scan(
    f: Callable[[Structure, Structure], tuple[Structure, Structure]],
    init: Structure,
    xs: Structure = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Structure, Structure]:
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
    return transforms.scan(f, init, xs, length, reverse, unroll)


def _slice_at(structure: Structure, index: int) -> Structure:
    """Return the slices along the first axis of all tensors of a structure."""
    slices: Structure = map_structure(lambda leaf: leaf[index], structure)
    return slices


def _associative_scan(
    f: Callable[[Structure, Structure], Structure],
    elems: Structure,
    reverse: bool = False,
    axis: int = 0,
) -> Structure:
    """Combine the slices along an axis cumulatively with an associative function.

    The result's slice ``i`` is ``f(f(x[0], x[1]), …, x[i])``. ``elems`` is a tensor or a structure
    of tensors of the same size along ``axis``; the result has its structure and shapes.
    ``reverse`` begins with the last slice.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.associative_scan(keras.ops.add, keras.ops.array([1, 2, 3])).tolist()
        [1, 3, 6]
    """
    columns = [wt.unstack(leaf, axis) for leaf in flatten(elems)]
    slices: list[Structure] = [pack(elems, row) for row in zip(*columns, strict=True)]
    if not slices:
        return elems
    if reverse:
        slices.reverse()
    results = slices[:1]
    for element in slices[1:]:
        results.append(f(results[-1], element))
    if reverse:
        results.reverse()
    result_columns = zip(*map(flatten, results), strict=True)
    scanned: Structure = pack(elems, [wt.stack(list(leaves), axis) for leaves in result_columns])
    return scanned


def _map(f: Callable[[Structure], Structure], xs: Structure) -> Structure:
    """Call ``f`` with each slice along the first axis, and stack the results.

    ``xs`` is a tensor or a structure of tensors of the same size along the first axis.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.map(keras.ops.sum, keras.ops.array([[1, 2], [3, 4]])).tolist()
        [3, 7]
    """
    count = flatten(xs)[0].shape[0]
    return _stacked([f(_slice_at(xs, index)) for index in range(count)])


def _vectorized_map(function: Callable[[Structure], Structure], elements: Structure) -> Structure:
    """Call ``function`` with each slice along the first axis, and stack the results.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.vectorized_map(lambda x: x * 2, keras.ops.array([1, 2])).tolist()
        [2, 4]
    """
    try:
        result: Structure = transforms.vmap(function)(elements)
    except CaptureError:  # the function reads elements
        result = _map(function, elements)
    return result


TABLE = Table(
    "keras.src.ops.core",
    {
        "associative_scan": op(_associative_scan, "reverse axis"),
        "cast": op(_cast, "dtype"),
        "cond": op(_cond, spec=_cond_spec),
        "convert_to_numpy": plain(_convert_to_numpy),
        "convert_to_tensor": op(_convert_to_tensor, "dtype sparse ragged"),
        "custom_gradient": plain(_custom_gradient),
        "dtype": plain(dtype_of),
        "fori_loop": op(_fori_loop, "lower upper body_fun", spec=_loop_spec),
        "is_tensor": plain(_is_tensor),
        "map": op(_map),
        "saturate_cast": op(_saturate_cast, "dtype"),
        "scan": op(_scan, "length reverse unroll"),
        "scatter": op(_scatter, "shape"),
        "scatter_update": like(_scatter_update, "reduction"),
        "shape": plain(shape_of),
        "slice": op(_slice, "shape", spec=_slice_spec),
        "slice_update": like(_slice_update),
        "stop_gradient": like(_stop_gradient),
        "switch": op(_switch),
        "unstack": op(_unstack, "num axis"),
        "vectorized_map": op(_vectorized_map, "function"),
        "while_loop": op(_while_loop, "cond body maximum_iterations", spec=_loop_spec),
    },
)


def __getattr__(name: str) -> Any:
    return TABLE.function(name)
