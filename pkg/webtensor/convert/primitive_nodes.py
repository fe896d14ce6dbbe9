"""The nodes that compute what a primitive of the engine does.

``RULES`` is the table: for the name of each primitive a function that adds the nodes and returns
their result. Primitives see their operands as a few axes; the rules find the axes again. Those of
rows are in ``elementwise_nodes``, those of windows in ``window_nodes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from webtensor import ops
from webtensor.convert.elementwise_nodes import ELEMENTWISE_RULES
from webtensor.convert.node_building import NodeBuilder, Value
from webtensor.convert.node_rules import Call, Rule, alike, broadcast, refused
from webtensor.convert.sizes import Shape, Size, Varying, product
from webtensor.formats.graph_def import AttributeValue, ElementType

__all__ = ["RULES", "added_epilogue"]

_COMPLEX64, _FLOAT32 = ElementType("complex64"), ElementType("float32")
_INT32 = ElementType("int32")

# -- shapes --------------------------------------------------------------------------------------


def _cast(nodes: NodeBuilder, call: Call) -> Value:
    return nodes.cast(call.inputs[0], call.dtype)


def _same(nodes: NodeBuilder, call: Call) -> Value:
    return call.inputs[0]


def _reshaped(nodes: NodeBuilder, call: Call) -> Value:
    return nodes.reshaped(call.inputs[0], call.shape)


def _broadcast(nodes: NodeBuilder, call: Call) -> Value:
    return nodes.add("BroadcastTo", [*call.inputs, nodes.integers(call.shape)], call.shape)


def _permuted(nodes: NodeBuilder, call: Call) -> Value:
    return nodes.transposed(call.inputs[0], call.attributes[2])


def _flipped(nodes: NodeBuilder, call: Call) -> Value:
    return nodes.add("ReverseV2", [*call.inputs, nodes.integers(call.attributes[2])], call.shape)


def _from_end(index: Size, size: Size) -> Size:
    """Return an index along an axis, counted from the end if only that does not vary."""
    behind = index - size if isinstance(index, Varying) else index
    return behind if isinstance(behind, int) else index


def _sliced(nodes: NodeBuilder, call: Call) -> Value:
    (x,), (_, _, begin, step) = call.inputs, call.attributes
    ends: list[Size] = []
    begin_mask = end_mask = 0
    for axis, (own, start, count, by) in enumerate(
        zip(x.shape, begin, call.shape, step, strict=True)
    ):
        end = start + (count - 1) * by + 1
        rest = own - end
        rests = rest.values if isinstance(rest, Varying) else (rest,)
        least, most = min(rests), max(rests)
        begin_mask |= (start == 0) << axis
        end_mask |= (least >= 0 and most < by) << axis
        # The stride may skip up to `by - 1` elements before the end that the model set.
        is_from_end = isinstance(end, Varying) and most - least < by
        ends.append(-least if is_from_end else end)
    begins = [_from_end(start, own) for start, own in zip(begin, x.shape, strict=True)]
    return nodes.sliced(x, begins, ends, step, call.shape, begin_mask, end_mask)


def _part(nodes: NodeBuilder, call: Call) -> Value:
    (x,), (_, _, axis, index) = call.inputs, call.attributes
    rank, others = len(x.shape), (1 << len(x.shape)) - 1 - (1 << axis)
    first = _from_end(index, x.shape[axis])
    begin: list[Size] = [0] * rank
    end, begin[axis] = [0] * rank, first
    past: list[Size] = [*end]
    past[axis] = first + 1
    last = 0 if first != -1 else 1 << axis
    return nodes.sliced(x, begin, past, (1,) * rank, call.shape, others, others | last, 1 << axis)


def _frames(nodes: NodeBuilder, call: Call) -> Value:
    (x,), step = call.inputs, call.attributes[2]
    (count, length), samples = call.shape[-2:], x.shape[-1]
    if not isinstance(length, int) or not isinstance(step, int):
        raise refused(nodes, "frames of an unknown length")
    ends = [nodes.size(size) for size in (0, samples - (length - 1), step)]
    begins = nodes.add("Range", ends, (count,), "int32", Tidx=_INT32)
    offsets = nodes.constant("offsets", ops.arange(length, dtype="int32"))
    indices = alike(nodes, "AddV2", nodes.reshaped(begins, (count, 1)), offsets)
    return _gathered_along(nodes, x, indices, len(x.shape) - 1)


def _pairs(nodes: NodeBuilder, low: Sequence[Size], high: Sequence[Size]) -> Value:
    """Return paddings as a matrix."""
    flat = [size for pair in zip(low, high, strict=True) for size in pair]
    return nodes.reshaped(nodes.integers(flat), (len(flat) // 2, 2))


def _spread(nodes: NodeBuilder, x: Value, step: Sequence[int], value: Value) -> Value:
    """Put elements ``step`` apart: each gets an axis, which is padded and joined with it."""
    for axis, by in enumerate(step):
        if by == 1:
            continue
        rank = len(x.shape)
        apart = nodes.reshaped(x, (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :]))
        low, high = [0] * (rank + 1), [0] * (rank + 1)
        high[axis + 1] = by - 1
        shape = (*x.shape[: axis + 1], by, *x.shape[axis + 1 :])
        padded = nodes.add("PadV2", [apart, _pairs(nodes, low, high), value], shape)
        joined = (*x.shape[:axis], x.shape[axis] * by, *x.shape[axis + 1 :])
        longer = nodes.reshaped(padded, joined)
        end: list[Size] = [0] * rank
        end[axis] = 1 - by
        spread_shape = (*x.shape[:axis], x.shape[axis] * by - (by - 1), *x.shape[axis + 1 :])
        others = (1 << rank) - 1
        x = nodes.sliced(
            longer, [0] * rank, end, [1] * rank, spread_shape, others, others - (1 << axis)
        )
    return x


def _padded(nodes: NodeBuilder, call: Call) -> Value:
    (x,), (low, step, number) = call.inputs, call.attributes
    value = nodes.scalar(number, call.dtype)
    x = _spread(nodes, x, step, value)
    high = [size - before - own for size, before, own in zip(call.shape, low, x.shape, strict=True)]
    cut = [isinstance(after, int) and after < 0 for after in high]
    if any(cut):
        raise refused(nodes, "a padding that leaves elements out")
    return nodes.add("PadV2", [x, _pairs(nodes, low, high), value], call.shape)


def _mirrored(nodes: NodeBuilder, call: Call) -> Value:
    (x,), (low, skipped) = call.inputs, call.attributes
    high = [size - before - own for size, before, own in zip(call.shape, low, x.shape, strict=True)]
    mode = "REFLECT" if skipped else "SYMMETRIC"
    return nodes.add("MirrorPad", [x, _pairs(nodes, low, high)], call.shape, mode=mode)


def _joined(nodes: NodeBuilder, call: Call) -> Value:
    shapes = [value.shape for value in call.inputs]
    axis = next(
        axis for axis, size in enumerate(call.shape) if any(shape[axis] != size for shape in shapes)
    )
    inputs = [*call.inputs, nodes.scalar(axis, "int32")]
    return nodes.add("ConcatV2", inputs, call.shape, N=len(shapes), Tidx=_INT32)


def _stacked(nodes: NodeBuilder, call: Call) -> Value:
    outer, count = call.attributes[0], len(call.inputs)
    axis = next(
        axis
        for axis, size in enumerate(call.shape)
        if size == count and product(call.shape[:axis]) == outer
    )
    return nodes.add("Pack", call.inputs, call.shape, N=count, axis=axis)


# -- axes ----------------------------------------------------------------------------------------


def _group_axes(shape: Shape, outer: Size, length: Size) -> tuple[int, int] | None:
    """Return the axes, up to the second, that make ``length`` elements behind ``outer``."""
    for first in range(len(shape) + 1):
        if product(shape[:first]) == outer:
            for last in range(first + 1, len(shape) + 1):
                if product(shape[first:last]) == length:
                    return first, last
    return None


def _grouped(
    nodes: NodeBuilder, x: Value, outer: Size, length: Size, inner: Size
) -> tuple[Value, int, int]:
    """Return a tensor with axes that make a group, and these axes."""
    axes = _group_axes(x.shape, outer, length)
    if axes is None:
        return nodes.reshaped(x, (outer, length, inner)), 1, 2
    return (x, *axes)


def _reduced(op: str, nodes: NodeBuilder, call: Call) -> Value:
    x, first, last = _grouped(nodes, call.inputs[0], *call.attributes[1:])
    shape = (*x.shape[:first], *x.shape[last:])
    axes = nodes.integers(range(first, last))
    y = nodes.add(op, [x, axes], shape, keep_dims=False, Tidx=_INT32)
    return nodes.reshaped(y, call.shape)


def _index_of_extremum(op: str, nodes: NodeBuilder, call: Call) -> Value:
    x, first, last = _grouped(nodes, call.inputs[0], *call.attributes[1:])
    if last != first + 1:
        x, first = nodes.reshaped(x, call.attributes[1:]), 1
    shape = (*x.shape[:first], *x.shape[first + 1 :])
    axis = nodes.scalar(first, "int32")
    kinds = {"Tidx": _INT32, "output_type": _INT32}
    return nodes.reshaped(nodes.add(op, [x, axis], shape, "int32", **kinds), call.shape)


def _scanned(op: str, nodes: NodeBuilder, call: Call) -> Value:
    _, exclusive, reverse, *group = call.attributes
    x, first, last = _grouped(nodes, call.inputs[0], *group)
    if last != first + 1:
        x, first = nodes.reshaped(x, tuple(group)), 1
    inputs = [x, nodes.scalar(first, "int32")]
    flags = {"exclusive": exclusive, "reverse": reverse}
    y = nodes.add(op, inputs, x.shape, Tidx=_INT32, **flags)
    return nodes.reshaped(y, call.shape)


def _of_rows(op: str, nodes: NodeBuilder, call: Call) -> Value:
    """Add an operation of the last axis."""
    return nodes.add(op, call.inputs, call.shape)


def _moments(nodes: NodeBuilder, call: Call) -> Value:
    """Return means and, along the first axis behind them, variances."""
    outer, length, inner = call.attributes
    x = nodes.reshaped(call.inputs[0], (outer, length, inner))
    axis, shape = nodes.integers([1]), (outer, inner)
    row_means = nodes.add("Mean", [x, axis], (outer, 1, inner), keep_dims=True, Tidx=_INT32)
    squares = alike(nodes, "SquaredDifference", x, row_means)
    variance = nodes.add("Mean", [squares, axis], shape, keep_dims=False, Tidx=_INT32)
    mean = nodes.reshaped(row_means, shape)
    return nodes.add("Pack", [mean, variance], call.shape, N=2, axis=0)


def _top(nodes: NodeBuilder, x: Value, count: Size) -> Value:
    """Return the indices of the largest elements along the last axis."""
    shape = (*x.shape[:-1], count)
    inputs = [x, nodes.size(count)]
    values = nodes.add("TopKV2", inputs, shape, sorted=True)
    return nodes.noted(Value(f"{values.name}:1", shape, "int32"))


def _indices_of_top(nodes: NodeBuilder, call: Call) -> Value:
    return _top(nodes, call.inputs[0], call.shape[-1])


def _sorting_indices(nodes: NodeBuilder, call: Call) -> Value:
    (x,), descending = call.inputs, call.attributes[0]
    return _top(nodes, x if descending else nodes.add("Neg", [x], x.shape), x.shape[-1])


def _searched(nodes: NodeBuilder, call: Call) -> Value:
    is_right, outer, length, count = call.attributes
    rows = nodes.reshaped(call.inputs[0], (outer, length))
    targets = nodes.reshaped(call.inputs[1], (outer, count))
    op = "UpperBound" if is_right else "LowerBound"
    bounds = nodes.add(op, [rows, targets], targets.shape, "int32", out_type=_INT32)
    return nodes.reshaped(bounds, call.shape)


# -- indices -------------------------------------------------------------------------------------


def _gathered_along(nodes: NodeBuilder, x: Value, indices: Value, axis: int) -> Value:
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    inputs = [x, indices, nodes.scalar(axis, "int32")]
    kinds = {"Tparams": ElementType(x.dtype), "Tindices": _INT32, "Taxis": _INT32}
    return nodes.add("GatherV2", inputs, shape, batch_dims=0, **kinds)


def _gathered(nodes: NodeBuilder, call: Call) -> Value:
    (x, indices), (outer, length, inner, _) = call.inputs, call.attributes
    x, first, last = _grouped(nodes, x, outer, length, inner)
    if last != first + 1:
        x, first = nodes.reshaped(x, (outer, length, inner)), 1
    numbers = call.values[1]
    if numbers is not None and isinstance(length, int):
        wrapped = [index + length * (index < 0) for index in ops.reshape(numbers, (-1,)).tolist()]
        if any(index < 0 or index >= length for index in wrapped):
            raise refused(nodes, f"an index is out of range for {length} elements")
        whole = ops.tensor(wrapped, shape=numbers.shape, dtype="int32")
        indices = nodes.constant(f"{nodes.place}/indices", whole)
    return nodes.reshaped(_gathered_along(nodes, x, indices, first), call.shape)


def _columns(nodes: NodeBuilder, indices: Value, count: Size) -> Value:
    return nodes.reshaped(indices, (count, 1))


def _replaced(nodes: NodeBuilder, call: Call) -> Value:
    (x, indices, updates), (length, inner, count) = call.inputs, call.attributes
    if product(x.shape) == product((length, inner)):
        rows = nodes.reshaped(x, (length, inner))
    else:
        target = nodes.integers((length, inner))
        rows = nodes.add("BroadcastTo", [x, target], (length, inner))
    inputs = [
        rows,
        _columns(nodes, indices, count),
        nodes.reshaped(updates, (count, inner)),
    ]
    y = nodes.add("TensorScatterUpdate", inputs, rows.shape, Tindices=_INT32)
    return nodes.reshaped(y, call.shape)


def _added_up(nodes: NodeBuilder, call: Call) -> Value:
    (x, indices), (outer, length, inner, count) = call.inputs, call.attributes
    if outer != 1:
        raise refused(nodes, "a sum of slices at indices along an inner axis")
    target = nodes.integers((length, inner))
    inputs = [_columns(nodes, indices, count), nodes.reshaped(x, (count, inner)), target]
    y = nodes.add("ScatterNd", inputs, (length, inner), call.dtype, Tindices=_INT32)
    return nodes.reshaped(y, call.shape)


def _hot(nodes: NodeBuilder, call: Call) -> Value:
    depth, on, off = call.attributes
    dtype = "int32" if call.dtype == "bool" else call.dtype
    numbers = [
        nodes.scalar(int(number) if dtype == "int32" else number, dtype) for number in (on, off)
    ]
    inputs = [*call.inputs, nodes.size(depth), *numbers]
    y = nodes.add("OneHot", inputs, call.shape, dtype, axis=-1, TI=_INT32)
    return y if call.dtype == dtype else nodes.cast(y, "bool")


def _flat_indices(nodes: NodeBuilder, call: Call) -> Value:
    (rows,), (sizes,) = call.inputs, call.attributes
    strides = [product(sizes[axis + 1 :]) for axis in range(len(sizes))]
    flat = nodes.reshaped(rows, (product(rows.shape[:-1]), len(sizes)))
    offsets = alike(nodes, "Mul", flat, nodes.integers(strides))
    axes = nodes.integers([1])
    y = nodes.add("Sum", [offsets, axes], flat.shape[:1], keep_dims=False, Tidx=_INT32)
    return nodes.reshaped(y, call.shape)


# -- products ------------------------------------------------------------------------------------


def _product(nodes: NodeBuilder, call: Call) -> Value:
    (a, b), sizes = call.inputs[:2], call.attributes[0]
    if len(a.shape) == len(b.shape) == 2:
        flags = {"transpose_a": sizes.transpose_a, "transpose_b": sizes.transpose_b}
        return nodes.add("MatMul", [a, b], call.shape, **flags)
    flags = {"adj_x": sizes.transpose_a, "adj_y": sizes.transpose_b}
    shape = (*broadcast(a.shape[:-2], b.shape[:-2]), *call.shape[-2:])
    return nodes.reshaped(nodes.add("BatchMatMulV2", [a, b], shape, **flags), call.shape)


def added_epilogue(product_rule: Rule, nodes: NodeBuilder, call: Call) -> Value:
    """Add a product, and then what its kernel does with the result: bias, residual, activation."""
    _, row, *parameters = call.attributes
    y = product_rule(nodes, call)
    bias, *others = call.inputs[2:]
    slopes = others.pop(0) if row is not None and row.arity == 2 else None
    op = "BiasAdd" if len(bias.shape) == 1 else "AddV2"
    attributes: dict[str, AttributeValue] = {"data_format": "NHWC"} if op == "BiasAdd" else {}
    y = nodes.add(op, [y, bias], call.shape, **attributes)
    for residual in others:
        y = nodes.add("AddV2", [y, residual], call.shape)
    if row is None:
        return y
    operands = [y] if slopes is None else [y, slopes]
    applied = call._replace(primitive=row, inputs=operands, attributes=(row, *parameters))
    return RULES[row.name](nodes, applied)


def _normalized(nodes: NodeBuilder, call: Call) -> Value:
    x, mean, factor, offset = call.inputs
    if len(x.shape) == 4:
        ones = ops.ones((call.attributes[1],))
        variance = nodes.constant(f"{nodes.place}/variance", ones)
        return nodes.add(
            "FusedBatchNormV3",
            [x, factor, offset, mean, variance],
            call.shape,
            epsilon=0.0,
            is_training=False,
            data_format="NHWC",
            U=_FLOAT32,
        )
    numbers = [call.values[index] for index in (1, 2, 3)]
    middle, scale, shift = numbers
    if middle is None or scale is None or shift is None:
        scaled = alike(nodes, "Mul", alike(nodes, "Sub", x, mean), factor)
        return alike(nodes, "AddV2", scaled, offset)
    # In this form it becomes a part of the product before it.
    sums = ops.subtract(shift, ops.multiply(middle, scale))
    scaled = alike(nodes, "Mul", x, factor)
    return alike(nodes, "AddV2", scaled, nodes.constant(f"{nodes.place}/offset", sums))


def _window_sums(nodes: NodeBuilder, call: Call) -> Value:
    """Add neighbours along the last axis up: a convolution with a band of ones."""
    (x,), (outer, channels, radius) = call.inputs, call.attributes
    if not isinstance(channels, int):
        raise refused(nodes, "a normalization of an unknown number of channels")
    band = [[float(abs(a - b) <= radius) for b in range(channels)] for a in range(channels)]
    matrix = nodes.constant(f"{nodes.place}/band", ops.tensor(band))
    rows = nodes.reshaped(x, (outer, channels))
    flags = {"transpose_a": False, "transpose_b": False}
    return nodes.reshaped(nodes.add("MatMul", [rows, matrix], rows.shape, **flags), call.shape)


# -- complex numbers, which are pairs along the last axis ------------------------------------------


def _transformed(nodes: NodeBuilder, call: Call) -> Value:
    """Transform rows of complex numbers, without a factor."""
    (pairs,), (_, length, is_inverse) = call.inputs, call.attributes
    shape = pairs.shape[:-1]
    real = nodes.add("Unpack", [pairs], shape, num=2, axis=len(shape))
    parts = [real, real._replace(name=f"{real.name}:1")]
    x = nodes.add("Complex", parts, shape, "complex64", Tout=_COMPLEX64)
    y = nodes.add("IFFT" if is_inverse else "FFT", [x], shape, Tcomplex=_COMPLEX64)
    parts = [nodes.add(op, [y], shape, "float32", Tout=_FLOAT32) for op in ("Real", "Imag")]
    result = nodes.add("Pack", parts, pairs.shape, N=2, axis=len(shape))
    if not is_inverse:
        return result
    count = nodes.cast(nodes.size(length), "float32")  # by which TensorFlow divides
    return nodes.add("Mul", [result, count], result.shape)


#: What computes a primitive, by its name.
RULES: dict[str, Rule] = {
    **ELEMENTWISE_RULES,
    # dtypes and shapes
    "astype": _same,
    "broadcast_to": _broadcast,
    "cast": _cast,
    "clone": _same,
    "concat": _joined,
    "constant": _same,
    "flip": _flipped,
    "frame": _frames,
    "identity": _same,
    "mirror_pad": _mirrored,
    "pad": _padded,
    "part": _part,
    "permute_dims": _permuted,
    "reshape": _reshaped,
    "slice": _sliced,
    "stack": _stacked,
    # along axes
    "all": partial(_reduced, "All"),
    "any": partial(_reduced, "Any"),
    "argmax": partial(_index_of_extremum, "ArgMax"),
    "argmin": partial(_index_of_extremum, "ArgMin"),
    "argsort": _sorting_indices,
    "cumprod": partial(_scanned, "Cumprod"),
    "cumsum": partial(_scanned, "Cumsum"),
    "log_softmax": partial(_of_rows, "LogSoftmax"),
    "max": partial(_reduced, "Max"),
    "mean": partial(_reduced, "Mean"),
    "min": partial(_reduced, "Min"),
    "moments": _moments,
    "prod": partial(_reduced, "Prod"),
    "search_sorted": _searched,
    "softmax": partial(_of_rows, "Softmax"),
    "sum": partial(_reduced, "Sum"),
    "topk": _indices_of_top,
    "window_sum": _window_sums,
    # complex numbers
    "as_pairs": _same,
    "fft": _transformed,
    "from_pairs": _same,
    # indices
    "flat_indices": _flat_indices,
    "gather": _gathered,
    "one_hot": _hot,
    "scatter_add": _added_up,
    "scatter_set": _replaced,
    # products
    "fused_matmul": partial(added_epilogue, _product),
    "matmul": _product,
    "normalize": _normalized,
}
