"""Random calls of what moves elements: shapes, axes, paddings, slices, joints, blocks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.table import EXACT, Case

__all__ = ["GENERATORS"]


def _factored(draw: Draw, size: int) -> Shape:
    """A shape with this many elements."""
    shape: list[int] = []
    left = size
    for factor in (2, 3, 5, 7):
        while left % factor == 0 and left > 0 and len(shape) < 5:
            shape.append(factor)
            left //= factor
    return tuple(draw.shuffled([*shape, left, *(1,) * draw.chance()]))


def reshape(draw: Draw) -> Case:
    x = draw.numbers(draw.shape())
    shape = list(_factored(draw, x.size))
    if x.size and draw.chance():
        shape[draw.integer(0, len(shape) - 1)] = -1
    return call("reshape", x, tuple(shape), oracle=np.reshape, tolerance=EXACT)


def reshape_method(function: str, ranks: int, draw: Draw) -> Case:
    x = draw.numbers(draw.filled_shape(0, 6, 60))
    sizes = [1] * ranks
    for length in _factored(draw, x.size):
        sizes[draw.integer(0, ranks - 1)] *= length
    sizes = sizes if ranks > 1 else []
    return call(
        function,
        x,
        *sizes,
        oracle=lambda x, *shape: x.reshape(shape or (-1,)),
        tolerance=EXACT,
    )


def as_scalar(draw: Draw) -> Case:
    x = draw.numbers((1,) * draw.integer(0, 5))
    return call("Tensor.as_scalar", x, oracle=lambda x: x.reshape(()), tolerance=EXACT)


def reshape_as(draw: Draw) -> Case:
    x = draw.numbers(draw.filled_shape(0, 5, 60))
    other = draw.floats(_factored(draw, x.size))
    oracle = lambda x, other: x.reshape(other.shape)  # noqa: E731
    return call("Tensor.reshape_as", x, other, oracle=oracle, tolerance=EXACT)


def converted(function: str, dtype: Any, draw: Draw) -> Case:
    x = draw.numbers(draw.shape())
    return call(function, x, oracle=lambda x: x.astype(dtype), tolerance=EXACT)


def flatten(function: str, draw: Draw) -> Case:
    return call(function, draw.numbers(draw.shape()), oracle=np.ravel, tolerance=EXACT)


def clone(draw: Draw) -> Case:
    return call("clone", draw.numbers(draw.shape()))


def transpose(draw: Draw) -> Case:
    x = draw.numbers(draw.shape())
    order = draw.pick((None, draw.shuffled(range(x.ndim))))
    return call("transpose", x, order)


def permute_dims(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(1))
    order = [axis - x.ndim * draw.chance() for axis in draw.shuffled(range(x.ndim))]
    return call("permute_dims", x, order, oracle=np.transpose, tolerance=EXACT)


def expand_dims(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(0, 5))
    axis = draw.integer(-x.ndim - 1, x.ndim)
    return call("expand_dims", x, axis, oracle=np.expand_dims, tolerance=EXACT)


def squeeze(draw: Draw) -> Case:
    x = draw.numbers(draw.shape())
    unit_axes = [axis for axis, size in enumerate(x.shape) if size == 1]
    axis = (
        tuple(unit_axes[: draw.integer(1, len(unit_axes))]) if unit_axes and draw.chance() else None
    )
    return call("squeeze", x, axis)


def broadcast_to(draw: Draw) -> Case:
    shape = draw.shape(1)
    x = draw.numbers(draw.broadcastable(shape))
    return call("broadcast_to", x, shape, oracle=np.broadcast_to, tolerance=EXACT)


def broadcast_args(draw: Draw) -> Case:
    whole = draw.filled_shape(1)
    first, second = draw.broadcastable(whole), draw.broadcastable(whole)
    return call("broadcast_args", *(np.array(shape, np.int32) for shape in (first, second)))


def broadcast_arrays(draw: Draw) -> Case:
    whole = draw.shape()
    return call("broadcast_arrays", *(draw.numbers(draw.broadcastable(whole)) for _ in range(3)))


def ensure_shape(draw: Draw) -> Case:
    x = draw.numbers(draw.shape())
    return call("ensure_shape", x, [draw.pick((length, None)) for length in x.shape])


def flip(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(1))
    axes = draw.axes_or_none(x.ndim)
    return call("flip", x, axes, oracle=np.flip, tolerance=EXACT)


def roll(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(1))
    axes = draw.axes(x.ndim, least=1)
    shifts = tuple(draw.integer(-9, 9) for _ in axes)
    return call("roll", x, *draw.pick(((shifts, axes), (shifts[0], axes[0]), (shifts[0],))))


def repeat(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(1, 4))
    axis = draw.pick((None, draw.axis(x.ndim)))
    return call("repeat", x, draw.integer(0, 3), axis)


def tile(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(1, 6, most_elements=60))
    times = tuple(draw.pick((1, 1, 2, 3, 0)) for _ in x.shape)
    return call("tile", x, times, oracle=np.tile, tolerance=EXACT)


def moveaxis(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(1))
    return call("moveaxis", x, draw.axis(x.ndim), draw.axis(x.ndim))


def matrix_transpose(draw: Draw) -> Case:
    return call("matrix_transpose", draw.numbers(draw.shape(2)))


def triangle(function: str, draw: Draw) -> Case:
    return call(function, draw.numbers(draw.shape(2), "fi"), draw.integer(-4, 4))


def diag(draw: Draw) -> Case:
    return call("diag", draw.numbers(draw.filled_shape(1, 3, 20), "fi"))


def pad(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(1, 5, most_elements=100), "fi")
    widths = [(draw.integer(0, 2), draw.integer(0, 2)) for _ in x.shape]
    value = draw.integer(-3, 3)
    return call("pad", x, widths, value, oracle=_padded, tolerance=EXACT)


def _padded(x: Any, widths: Any, value: float) -> Any:
    return np.pad(x, widths, constant_values=value)


def mirror_pad(draw: Draw) -> Case:
    x = draw.numbers(draw.filled_shape(1, 4, 100), "fi")
    mode = draw.pick(("reflect", "symmetric"))
    most = 1 if mode == "reflect" else 0
    widths = [[draw.integer(0, length - most) for _ in range(2)] for length in x.shape]
    return call("mirror_pad", x, widths, mode)


def slice_(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(1))
    begin = [draw.integer(0, length) for length in x.shape]
    size = [
        draw.pick((-1, draw.integer(0, length - first)))
        for first, length in zip(begin, x.shape, strict=True)
    ]
    return call("slice", x, begin, size)


def strided_slice(draw: Draw) -> Case:
    x = draw.numbers(draw.filled_shape(1, 5, 300), "fi")
    begin, end, strides, shrink = [], [], [], 0
    for index, length in enumerate(x.shape):
        stride = draw.pick((1, 1, 2, 3, -1, -2))
        first, last = sorted((draw.integer(0, length - 1), draw.integer(0, length - 1)))
        if draw.chance(5):
            shrink |= 1 << index
            stride = 1
        if stride < 0:
            first, last = last, first
        begin.append(first - length * draw.chance(3))
        end.append(last - length * (draw.chance(3)))
        strides.append(stride)
    masks = (draw.integer(0, 7), draw.integer(0, 7))
    return call("strided_slice", x, begin, end, strides, *masks, 0, 0, shrink)


def concat(draw: Draw) -> Case:
    shape = draw.shape(1, 5, most_elements=100)
    axis, kind = draw.axis(len(shape)), draw.pick("fib")

    def lengthened(length: int) -> Shape:
        changed = list(shape)
        changed[axis] = length
        return tuple(changed)

    parts = [draw.numbers(lengthened(draw.integer(0, 4)), kind) for _ in range(draw.integer(1, 5))]
    return call("concat", parts, axis, oracle=np.concatenate, tolerance=EXACT)


def concat_method(draw: Draw) -> Case:
    shape = draw.filled_shape(1, 4, 60)
    axis = draw.axis(len(shape))
    x, y = draw.floats(shape), draw.floats(shape)
    oracle = lambda x, y, axis: np.concatenate([x, y], axis)  # noqa: E731
    return call("Tensor.concat", x, y, axis, oracle=oracle, tolerance=EXACT)


def stack(draw: Draw) -> Case:
    shape, kind = draw.shape(0, 5, most_elements=100), draw.pick("fib")
    parts = [draw.numbers(shape, kind) for _ in range(draw.integer(1, 4))]
    axis = draw.integer(-len(shape) - 1, len(shape))
    return call("stack", parts, axis, oracle=np.stack, tolerance=EXACT)


def stack_method(draw: Draw) -> Case:
    shape = draw.filled_shape(0, 4, 60)
    axis = draw.integer(0, len(shape))
    x, y = draw.floats(shape), draw.floats(shape)
    oracle = lambda x, y, axis: np.stack([x, y], axis)  # noqa: E731
    return call("Tensor.stack", x, y, axis, oracle=oracle, tolerance=EXACT)


def split(draw: Draw) -> Case:
    parts = [draw.integer(1, 3) for _ in range(draw.integer(1, 4))]
    shape = list(draw.filled_shape(1, 5, 60))
    axis = draw.axis(len(shape))
    if draw.chance():
        shape[axis] = parts[0] * len(parts)
        return call("split", draw.numbers(shape), len(parts), axis)
    shape[axis] = sum(parts)
    sizes = [*parts[:-1], -1] if draw.chance() else parts
    return call("split", draw.numbers(shape), sizes, axis)


def unstack(draw: Draw) -> Case:
    x = draw.numbers(draw.filled_shape(1, 6, 60))
    return call("unstack", x, draw.axis(x.ndim))


def gather(function: str, draw: Draw) -> Case:
    x = draw.numbers(draw.filled_shape(1, 5, 200))
    axis = draw.axis(x.ndim)
    length = x.shape[axis]
    indices = draw.ints(draw.shape(0, 2, most_elements=20), -length, length)
    return call(function, x, indices, axis, oracle=np.take, tolerance=EXACT)


def take_along_axis(draw: Draw) -> Case:
    x = draw.numbers(draw.filled_shape(1, 5, 200))
    axis = draw.axis(x.ndim)
    shape = list(x.shape)
    shape[axis] = draw.integer(1, 5)
    return call("take_along_axis", x, draw.ints(shape, 0, x.shape[axis]), axis)


def meshgrid(draw: Draw) -> Case:
    arrays = [draw.floats((draw.integer(1, 5),)) for _ in range(draw.integer(1, 3))]
    return call("meshgrid", *arrays, indexing=draw.pick(("xy", "ij")))


def space_to_batch_nd(draw: Draw) -> Case:
    blocks = [draw.integer(1, 3) for _ in range(draw.integer(1, 3))]
    pads = [[draw.integer(0, 2), 0] for _ in blocks]
    space = []
    for block, pair in zip(blocks, pads, strict=True):
        cells = draw.integer(1, 3)
        length = cells * block
        pair[0] = min(pair[0], length - 1)
        space.append(length - pair[0])
    rest = draw.filled_shape(0, 2, 6)
    x = draw.numbers((draw.integer(1, 3), *space, *rest), "fi")
    return call("space_to_batch_nd", x, blocks, pads)


def batch_to_space_nd(draw: Draw) -> Case:
    blocks = [draw.integer(1, 3) for _ in range(draw.integer(1, 3))]
    cells = [draw.integer(1, 3) for _ in blocks]
    crops = [
        [draw.integer(0, (block * cell - 1) // 2), draw.integer(0, (block * cell - 1) // 2)]
        for block, cell in zip(blocks, cells, strict=True)
    ]
    batch = int(np.prod(blocks)) * draw.integer(1, 2)
    x = draw.numbers((batch, *cells, *draw.filled_shape(0, 2, 6)), "fi")
    return call("batch_to_space_nd", x, blocks, crops)


def depth_to_space(draw: Draw) -> Case:
    block = draw.integer(2, 3)
    x = draw.numbers(
        (draw.integer(1, 2), draw.integer(1, 3), draw.integer(1, 3), block**2 * draw.integer(1, 3)),
        "fi",
    )
    return call("depth_to_space", x, block, "NHWC")


def get_item(draw: Draw) -> Case:
    x = draw.numbers(draw.filled_shape(1, 5, 300))
    keys: list[Any] = []
    for length in x.shape[: draw.integer(1, x.ndim)]:
        first = draw.integer(-length, length - 1)
        ends = slice(draw.pick((None, first)), None, draw.pick((1, 2, -1, -2, None)))
        keys.append(draw.pick((first, ends, slice(None))))
    if draw.chance(3):
        keys.append(...)
    oracle = lambda x, key: x[key]  # noqa: E731
    return call("Tensor.__getitem__", x, tuple(keys), oracle=oracle, tolerance=EXACT)


GENERATORS: dict[str, Generator] = {
    "reshape": reshape,
    **{
        f"Tensor.as{rank}d": partial(reshape_method, f"Tensor.as{rank}d", rank)
        for rank in range(1, 6)
    },
    "Tensor.as_scalar": as_scalar,
    "Tensor.reshape_as": reshape_as,
    "Tensor.to_bool": partial(converted, "Tensor.to_bool", bool),
    "Tensor.to_float": partial(converted, "Tensor.to_float", np.float64),
    "Tensor.to_int": partial(converted, "Tensor.to_int", np.int64),
    "flatten": partial(flatten, "flatten"),
    "Tensor.flatten": partial(flatten, "Tensor.flatten"),
    "clone": clone,
    "transpose": transpose,
    "permute_dims": permute_dims,
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "broadcast_to": broadcast_to,
    "broadcast_args": broadcast_args,
    "broadcast_arrays": broadcast_arrays,
    "ensure_shape": ensure_shape,
    "flip": flip,
    "roll": roll,
    "repeat": repeat,
    "tile": tile,
    "moveaxis": moveaxis,
    "matrix_transpose": matrix_transpose,
    "tril": partial(triangle, "tril"),
    "triu": partial(triangle, "triu"),
    "diag": diag,
    "pad": pad,
    "mirror_pad": mirror_pad,
    "slice": slice_,
    "strided_slice": strided_slice,
    "concat": concat,
    "Tensor.concat": concat_method,
    "stack": stack,
    "Tensor.stack": stack_method,
    "split": split,
    "unstack": unstack,
    "gather": partial(gather, "gather"),
    "take": partial(gather, "take"),
    "take_along_axis": take_along_axis,
    "meshgrid": meshgrid,
    "space_to_batch_nd": space_to_batch_nd,
    "batch_to_space_nd": batch_to_space_nd,
    "depth_to_space": depth_to_space,
    "Tensor.__getitem__": get_item,
}
