"""Bad input to scans, sorting, scattering, arrangements, statistics and dynamic shapes."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import webtensor as wt

X = wt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
V = wt.tensor([3.0, 1.0, 2.0])
I = wt.tensor([0, 1])  # noqa: E741
Z = wt.tensor([1 + 2j, 3j])
SCALAR = wt.tensor(1.0)
IMAGE = wt.zeros((1, 2, 2, 8))

Row = tuple[Callable[[], Any], type[Exception], str]


def of_axis(name: str, **options: Any) -> list[Row]:
    """An axis that is out of range, and one that is no integer."""
    function = getattr(wt, name)
    return [
        (
            lambda: function(X, axis=2, **options),
            ValueError,
            f"{name}: axis 2 is out of range for a tensor of rank 2",
        ),
        (lambda: function(X, axis=0.5, **options), TypeError, f"{name}: axis must be"),
    ]


def of_operand(name: str, *rest: Any, **options: Any) -> list[Row]:
    """An operand that is no tensor."""
    function = getattr(wt, name)
    return [
        (lambda: function(None, *rest, **options), TypeError, f"{name}: elements must be numbers")
    ]


SCANS: list[Row] = [
    row
    for name in ("cumsum", "cumprod", "cumulative_sum", "cumulative_prod")
    for row in (*of_axis(name), *of_operand(name))
] + [
    (lambda: wt.cumsum(SCALAR), ValueError, "cumsum: axis 0 is out of range"),
    (lambda: wt.cumulative_sum(X), ValueError, "cumulative_sum: axis must be given for .* rank 2"),
    (lambda: wt.cumulative_sum(V, dtype="float16"), TypeError, "dtype 'float16' is not supported"),
]

SORTING: list[Row] = [
    *of_axis("sort"),
    *of_axis("argsort"),
    *of_operand("sort"),
    *of_operand("argsort"),
    *of_operand("topk"),
    *of_operand("searchsorted", 1.0),
    *of_operand("isin", 1),
    *of_operand("in_top_k", I),
    (lambda: wt.sort(Z), TypeError, "sort: complex64 is not ordered"),
    (lambda: wt.argsort(Z), TypeError, "argsort: complex64 is not ordered"),
    (lambda: wt.argmax(Z), TypeError, "argmax: complex64 is not ordered"),
    (lambda: wt.argmin(Z), TypeError, "argmin: complex64 is not ordered"),
    (lambda: wt.topk(Z), TypeError, "topk: complex64 is not ordered"),
    (lambda: wt.topk(SCALAR), ValueError, "topk: x must have at least one axis"),
    (lambda: wt.topk(X, 4), ValueError, r"topk: k must be between 0 and .* \(2, 3\), but got 4"),
    (lambda: wt.topk(X, -1), ValueError, "topk: k must be between 0"),
    (lambda: wt.topk(X, 1.5), TypeError, "topk: k must be an integer, but got 1.5"),
    (lambda: wt.searchsorted(V, V, "middle"), ValueError, "side must be 'left' or 'right', .*mid"),
    (
        lambda: wt.searchsorted(V, V, sorter=I),
        ValueError,
        "searchsorted: sorter needs x1 of rank 1",
    ),
    (
        lambda: wt.searchsorted(X, X, sorter=I),
        ValueError,
        "searchsorted: sorter needs x1 of rank 1",
    ),
    (
        lambda: wt.searchsorted(SCALAR, V),
        ValueError,
        "searchsorted: x1 must have at least one axis",
    ),
    (lambda: wt.searchsorted(Z, V), TypeError, "searchsorted: complex64 is not ordered"),
    (lambda: wt.searchsorted(X, V), ValueError, "x1 and x2 must have equal shapes except for the"),
    (lambda: wt.lower_bound(X, V), ValueError, "lower_bound: sorted_sequence and values must"),
    (lambda: wt.upper_bound(SCALAR, V), ValueError, "upper_bound: sorted_sequence must have"),
    (lambda: wt.in_top_k(V, 1), ValueError, r"in_top_k: predictions must be \(…, classes\)"),
    (lambda: wt.in_top_k(X, [1]), ValueError, r"but got \(2, 3\) and \(1,\)"),
    (lambda: wt.in_top_k(X, [True, False]), TypeError, "targets must be int32 or float32"),
    (lambda: wt.in_top_k(X, I, 4), ValueError, "k must be between 1 and the number of classes, 3"),
    (lambda: wt.in_top_k(X, I, 0), ValueError, "in_top_k: k must be between 1"),
    (lambda: wt.in_top_k(X, I, 1.5), TypeError, "in_top_k: k must be an integer, but got 1.5"),
]

SCATTERING: list[Row] = [
    (lambda: wt.gather(X, [0, 0], 1, 2), ValueError, "gather: batch_dims must not exceed axis 1"),
    (lambda: wt.gather(X, [0, 0], 1, -2), ValueError, "gather: batch_dims must not exceed"),
    (lambda: wt.gather(X, [[0]], 1, 1), ValueError, "the axes it counts must be equal"),
    (lambda: wt.gather(X, [[0], [3]], 1, 1), IndexError, r"indices must lie in \[-3, 3\)"),
    (lambda: wt.gather(X[:, :0], [[0], [0]], 1, 1), IndexError, "gather: axis 1 .* no elements"),
    *of_operand("gather_nd", [[0]]),
    (
        lambda: wt.gather_nd(X, [[0.5]]),
        TypeError,
        "gather_nd: indices must be int32, but got float",
    ),
    (lambda: wt.gather_nd(X, 1), ValueError, "gather_nd: indices must have a last axis"),
    (lambda: wt.gather_nd(X, [[0, 1, 2]]), ValueError, "last axis of size at most 2"),
    (lambda: wt.gather_nd(X, [[0, 3]]), IndexError, r"indices along axis 1 must lie in \[0, 3\)"),
    (lambda: wt.gather_nd(X, [[-1, 0]]), IndexError, "they range from -1 to -1"),
    (lambda: wt.gather_nd(wt.zeros((0, 2)), [[0]]), IndexError, "gather_nd: .* no elements"),
    *of_operand("take_along_axis", [[0]]),
    (lambda: wt.take_along_axis(X, I), ValueError, "indices must have the rank of x, 2"),
    (lambda: wt.take_along_axis(X, [[0.5]]), TypeError, "take_along_axis: indices must be int32"),
    (
        lambda: wt.take_along_axis(X, [[0]], 2),
        ValueError,
        "take_along_axis: axis 2 is out of range",
    ),
    (lambda: wt.take_along_axis(X, [[7]]), IndexError, r"indices must lie in \[-3, 3\)"),
    (lambda: wt.take_along_axis(X, [[-4, 0]]), IndexError, "they range from -4 to 0"),
    (lambda: wt.take_along_axis(X, [[0]] * 3), ValueError, "cannot be broadcast together"),
    (lambda: wt.scatter_nd([[0.5]], [1.0], (2,)), TypeError, "scatter_nd: indices must be int32"),
    (lambda: wt.scatter_nd([[0]], [1.0, 2.0], (2,)), ValueError, r"updates must have shape \(1,\)"),
    (lambda: wt.scatter_nd([[0]], [1.0], (-2,)), ValueError, "scatter_nd: shape must not have"),
    (lambda: wt.scatter_nd([[0]], [1.0], "a"), TypeError, "scatter_nd: shape must be integers"),
    (lambda: wt.scatter_nd([[2]], [1.0], (2,)), IndexError, r"must lie in \[0, 2\)"),
    (lambda: wt.scatter_nd([[0, 1]], [1.0], (2,)), ValueError, "last axis of size at most 1"),
    (lambda: wt.scatter_nd([[0]], None, (2,)), TypeError, "scatter_nd: elements must be numbers"),
    *of_operand("tensor_scatter_update", [[0]], [1.0]),
    (
        lambda: wt.tensor_scatter_update(V, [[3]], [1.0]),
        IndexError,
        r"tensor_scatter_update: indices along axis 0 must lie in \[0, 3\)",
    ),
    (lambda: wt.tensor_scatter_update(V[:0], [[0]], [1.0]), IndexError, r"must lie in \[0, 0\)"),
    (lambda: wt.tensor_scatter_update(V, [[0]], [[1.0]]), ValueError, "updates must have shape"),
    (lambda: wt.tensor_scatter_update(V, [0.5], [1.0]), TypeError, "indices must be int32"),
    (lambda: wt.tensor_scatter_update(SCALAR, [[0]], [1.0]), ValueError, "size at most 0"),
    (
        lambda: wt.sparse_to_dense([[[0]]], [1.0], (2,)),
        ValueError,
        "sparse_to_dense: sparse_indices must have rank 0, 1 or 2",
    ),
    (lambda: wt.sparse_to_dense([0.5], [1.0], (2,)), TypeError, "sparse_indices must be int32"),
    (lambda: wt.sparse_to_dense([[0]], [1.0], (2, 2)), ValueError, "give 1 coordinates, but"),
    (lambda: wt.sparse_to_dense([0], [1.0, 2.0], (2,)), ValueError, "sparse_values must be a"),
    (lambda: wt.sparse_to_dense([0], 1.0, (2,), [1.0]), ValueError, "default_value must be a scal"),
    (lambda: wt.sparse_to_dense([2], 1.0, (2,)), IndexError, r"must lie in \[0, 2\)"),
    (lambda: wt.sparse_to_dense([0], 1.0, (0,)), IndexError, r"must lie in \[0, 0\)"),
    (lambda: wt.sparse_to_dense([0], 1.0, (-2,)), ValueError, "shape must not have negative"),
    *of_operand("unsorted_segment_sum", I, 2),
    (lambda: wt.unsorted_segment_sum(V, I, 2), ValueError, "must have one number for each slice"),
    (lambda: wt.unsorted_segment_sum(X, V, 2), TypeError, "segment_ids must be int32"),
    (lambda: wt.unsorted_segment_sum(X, I, -2), ValueError, "num_segments must not be negative"),
    (lambda: wt.unsorted_segment_sum(X, I, 1.5), TypeError, "must be an integer, but got 1.5"),
    (lambda: wt.unsorted_segment_sum(X, I, [2, 3]), TypeError, "num_segments must be an integer"),
    (lambda: wt.unsorted_segment_sum(SCALAR, 0, 1), ValueError, "along the first axis of x"),
    (lambda: wt.bincount(V), TypeError, "bincount: x must be int32, but got float32"),
    (lambda: wt.bincount([[1]]), ValueError, "bincount: x must have rank 1"),
    (
        lambda: wt.bincount([-1], None, 3),
        ValueError,
        "bincount: x must not be negative, but got -1",
    ),
    (lambda: wt.bincount(I, [1.0], 3), ValueError, "bincount: weights must be empty or have"),
    (lambda: wt.bincount(I, None, -3), ValueError, "bincount: size must not be negative"),
    (lambda: wt.bincount(I, minlength=[3]), TypeError, "minlength must be an integer"),
    (lambda: wt.bincount([-2]), ValueError, "bincount: x must not be negative, but got -2"),
    (lambda: wt.dense_bincount([[-2]]), ValueError, "dense_bincount: x must not be negative"),
    (lambda: wt.dense_bincount([[[1]]]), ValueError, "dense_bincount: x must have rank 1 or 2"),
    (lambda: wt.dense_bincount([[2, -1]], None, 3), ValueError, "not be negative, but got -1"),
    (lambda: wt.dense_bincount([[1]], [1.0], 3), ValueError, "weights must be empty or have"),
    (lambda: wt.dense_bincount([[1.5]]), TypeError, "dense_bincount: x must be int32"),
    (lambda: wt.math.confusion_matrix([True], I, 2), TypeError, "labels must be int32"),
    (lambda: wt.math.confusion_matrix(I, [1j], 2), TypeError, "predictions must be int32"),
    (lambda: wt.math.confusion_matrix(I, [0], 2), ValueError, "be equally many, but got shapes"),
    (lambda: wt.math.confusion_matrix([[0]], [[0]], 2), ValueError, "must have rank 1"),
    (lambda: wt.math.confusion_matrix(I, I, 0), ValueError, "num_classes must be positive"),
    (lambda: wt.math.confusion_matrix(I, I, 1.5), TypeError, "num_classes must be an integer"),
]

ARRANGING: list[Row] = [
    *of_axis("roll", shift=1),
    *of_operand("roll", 1),
    (lambda: wt.roll(X, 0.5), TypeError, "roll: shift must be integers, but got 0.5"),
    (lambda: wt.roll(X, (1, 2), 0), ValueError, "roll: shift must be one number, or one for each"),
    *of_axis("repeat", repeats=2),
    *of_operand("repeat", 2),
    (lambda: wt.repeat(V, 0.5), TypeError, "repeat: repeats must be int32, but got float32"),
    (lambda: wt.repeat(V, -1), ValueError, "repeat: repeats must not be negative, but got -1"),
    (lambda: wt.repeat(V, [1, 2]), ValueError, "repeat: repeats must be one number, or 3, one for"),
    (lambda: wt.repeat(V, [[1, 2, 3]]), ValueError, r"but its shape is \(1, 3\)"),
    (lambda: wt.moveaxis(X, 2, 0), ValueError, "moveaxis: axis 2 is out of range"),
    (lambda: wt.moveaxis(X, 0, -3), ValueError, "moveaxis: axis -3 is out of range"),
    (lambda: wt.moveaxis(X, (0, 1), 0), ValueError, "must name as many axes"),
    (lambda: wt.moveaxis(X, (0, 0), (0, 1)), ValueError, "must not name an axis twice"),
    (lambda: wt.moveaxis(X, 0.5, 0), TypeError, "moveaxis: source must be integers"),
    (lambda: wt.tril(V), ValueError, "tril: x must have at least two axes"),
    (lambda: wt.triu(X, 0.5), TypeError, "triu: k must be integers, but got 0.5"),
    *of_operand("diag"),
    (lambda: wt.meshgrid(V, indexing="yx"), ValueError, "indexing must be 'xy' or 'ij'"),
    (lambda: wt.broadcast_args([2], [3]), ValueError, "broadcast_args: shapes .* cannot be"),
    (lambda: wt.broadcast_args(2, [3]), ValueError, "broadcast_args: s0 must have rank 1"),
    (lambda: wt.broadcast_args([2], [0.5]), TypeError, "broadcast_args: s1 must be int32"),
    (
        lambda: wt.ensure_shape(X, (2, 2)),
        ValueError,
        r"wanted shape \(2, 2\), but x has .*\(2, 3\)",
    ),
    (lambda: wt.ensure_shape(X, (2,)), ValueError, "ensure_shape: wanted shape"),
    (lambda: wt.strided_slice(X, [0], [1, 2]), ValueError, "must be equally long"),
    (lambda: wt.strided_slice(X, [0], [1], [0]), ValueError, "strides must not be 0"),
    (lambda: wt.strided_slice(X, [0.5], [1]), TypeError, "strided_slice: begin must be integers"),
    (lambda: wt.strided_slice(X, [0], ["a"]), TypeError, "strided_slice: end must be integers"),
    (lambda: wt.strided_slice(X, [0] * 3, [1] * 3), IndexError, "3 indices for a tensor of rank 2"),
    (
        lambda: wt.strided_slice(X, [0, 0], [1, 1], ellipsis_mask=3),
        ValueError,
        "ellipsis_mask must have one bit set, but got 3",
    ),
    (
        lambda: wt.strided_slice(X, [2], [3], shrink_axis_mask=1),
        IndexError,
        "strided_slice: index 2 is out of range for axis 0",
    ),
    (
        lambda: wt.strided_slice(X, [1], [0], [-1], shrink_axis_mask=1),
        ValueError,
        "the stride of a single index must be positive",
    ),
    (lambda: wt.mirror_pad(V, [(1, 1)], "wrap"), ValueError, "mode must be 'reflect' or 'symmet"),
    (lambda: wt.mirror_pad(V, [(3, 0)], "reflect"), ValueError, "not longer than its mirror image"),
    (lambda: wt.mirror_pad(V, [(4, 0)], "symmetric"), ValueError, "not longer than its mirror"),
    (
        lambda: wt.mirror_pad(V, [(-1, 0)], "reflect"),
        ValueError,
        "mirror_pad: paddings must be one",
    ),
    (lambda: wt.mirror_pad(X, [(1, 0)], "reflect"), ValueError, "for each axis"),
    (lambda: wt.mirror_pad(V, [(0.5, 0)], "reflect"), TypeError, "paddings must be integers"),
    (lambda: wt.space_to_batch_nd(X, [2], [(0, 0)]), ValueError, r"sizes \(3,\) must be multip"),
    (  # before any memory is taken
        lambda: wt.space_to_batch_nd(X, [2], [(1 << 40, 0)]),
        ValueError,
        r"sizes \(1099511627779,\) must be multip",
    ),
    (lambda: wt.space_to_batch_nd(X, [0], [(0, 0)]), ValueError, "block_shape must be positive"),
    (
        lambda: wt.space_to_batch_nd(V, [1], [(0, 0)]),
        ValueError,
        "x must have more axes than the 1",
    ),
    (lambda: wt.space_to_batch_nd(X, [3], []), ValueError, "paddings must be one pair of non-neg"),
    (lambda: wt.space_to_batch_nd(X, [3], [(-3, 0)]), ValueError, "paddings must be one pair"),
    (lambda: wt.batch_to_space_nd(X, [3], [(0, 0)]), ValueError, "batch of 2 must be a multiple"),
    (lambda: wt.batch_to_space_nd(X, [2], [(4, 3)]), ValueError, "crops .* are longer than the sp"),
    (lambda: wt.batch_to_space_nd(X, [2], [(0,)]), ValueError, "crops must be one pair"),
    (lambda: wt.batch_to_space_nd(X, [1.5], [(0, 0)]), TypeError, "block_shape must be integers"),
    (lambda: wt.depth_to_space(X, 2), ValueError, "depth_to_space: x must have rank 4"),
    (lambda: wt.depth_to_space(IMAGE, 3), ValueError, "8 channels and block_size=3"),
    (lambda: wt.depth_to_space(IMAGE, 0), ValueError, "multiple of block_size squared"),
    (
        lambda: wt.depth_to_space(IMAGE, 2, "HWC"),
        ValueError,
        "data_format must be 'NHWC' or 'NCHW'",
    ),
]

STATISTICS: list[Row] = [
    row
    for name in ("moments", "var", "std", "count_nonzero", "euclidean_norm", "log_sum_exp", "norm")
    for row in (*of_axis(name), *of_operand(name))
] + [
    (lambda: wt.moments(Z), TypeError, "moments: complex64 is not supported"),
    (lambda: wt.log_sum_exp(Z), TypeError, "log_sum_exp: complex64 is not supported"),
    (lambda: wt.softmax(Z), TypeError, "softmax: logits must hold real numbers"),
    (lambda: wt.log_softmax(Z), TypeError, "log_softmax: logits must hold real numbers"),
    (lambda: wt.in_top_k(Z, [0]), TypeError, "in_top_k: predictions must hold real numbers"),
    (lambda: wt.complex(Z, Z), TypeError, "complex: real must hold real numbers"),
    (lambda: wt.var(X, correction="a"), TypeError, "var: correction must be a number, but got 'a'"),
    (lambda: wt.norm(X, "max"), ValueError, "norm: ord of vectors must be .* but got 'max'"),
    (lambda: wt.norm(X, -2, 1), ValueError, "norm: ord of vectors must be .* but got -2"),
    (lambda: wt.norm(X, 2, (0, 1)), ValueError, "norm: ord of matrices must be .* but got 2"),
    (lambda: wt.norm(X, 1, (0, 0)), ValueError, "norm: axis must name one axis, or two different"),
    (lambda: wt.add_n([]), ValueError, "add_n: tensors must not be empty"),
    (lambda: wt.add_n(X), TypeError, "add_n: tensors must be a sequence of tensors"),
    (lambda: wt.add_n([V, I]), TypeError, r"add_n: dtypes must be equal, .*'float32', 'int32'"),
    (lambda: wt.add_n([V, X]), ValueError, r"add_n: shapes must be equal, .*\(3,\), \(2, 3\)"),
    (lambda: wt.diff(X, axis=2), ValueError, "diff: axis 2 is out of range"),
    (lambda: wt.diff(X, n=-1), ValueError, "diff: n must not be negative, but got -1"),
    (lambda: wt.diff(X, n=0.5), TypeError, "diff: n must be an integer, but got 0.5"),
    (lambda: wt.diff(X, prepend=V), ValueError, "diff: prepend must have the shape of x, .*2, 3"),
    (lambda: wt.moving_average(V, X, 0.5, 1), ValueError, "moving_average: v and x must be alike"),
    (lambda: wt.moving_average(V, V, 0.5), ValueError, "moving_average: step must be given"),
    (lambda: wt.moving_average(V, V, None, 1), TypeError, "moving_average: elements must be"),
]

DYNAMIC: list[Row] = [
    (lambda: wt.nonzero(SCALAR), ValueError, "nonzero: x must have at least one axis"),
    *of_operand("argwhere"),
    *of_axis("unique"),
    *of_operand("unique"),
    *of_operand("unique_all"),
    *of_operand("unique_counts"),
    (lambda: wt.setdiff1d(X, V), ValueError, r"setdiff1d: x must have rank 1, .*\(2, 3\)"),
    (lambda: wt.setdiff1d(V, X), ValueError, "setdiff1d: y must have rank 1"),
    (lambda: wt.setdiff1d(V, I), TypeError, "x and y must have one dtype, but got float32 and int"),
    (lambda: wt.boolean_mask(X, [1, 0]), TypeError, "boolean_mask: mask must be bool, but got int"),
    (lambda: wt.boolean_mask(X, [True]), IndexError, r"mask of shape \(1,\) does not fit the axes"),
    (lambda: wt.boolean_mask(X, [True] * 3, 2), ValueError, "boolean_mask: axis 2 is out of range"),
    (
        lambda: asyncio.run(wt.setdiff1d_async(V, X)),
        ValueError,
        "setdiff1d_async: y must have rank",
    ),
    (
        lambda: asyncio.run(wt.in_top_k_async(X, [1j])),
        TypeError,
        "in_top_k_async: targets must be",
    ),
    (lambda: asyncio.run(wt.where_async(None)), TypeError, "where_async: elements must be numbers"),
    (
        lambda: asyncio.run(wt.boolean_mask_async(X, [True])),
        IndexError,
        "boolean_mask_async: mask of shape",
    ),
]

ROWS = [*SCANS, *SORTING, *SCATTERING, *ARRANGING, *STATISTICS, *DYNAMIC]


@pytest.mark.parametrize("do, kind, message", ROWS, ids=[row[2] for row in ROWS])
def test_bad_input(
    backend: str, no_leak: None, do: Callable[[], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        do()


def on_device(values: Any) -> wt.Tensor:
    """A tensor whose values the host does not know."""
    return wt.multiply(wt.tensor(values), 1)


def test_indices_out_of_range_on_a_device_pick_zeros_and_put_nothing(backend: str) -> None:
    wrong = on_device([[0, 7], [1, 2], [-1, 0], [9, -9]])
    assert wt.gather_nd(X, wrong).tolist() == [0, 6, 0, 0]
    assert wt.scatter_nd(wrong, [1, 2, 3, 4], (2, 3)).tolist() == [[0, 0, 0], [0, 0, 2]]
    updated = wt.tensor_scatter_update(X, wrong, [10.0, 20.0, 30.0, 40.0])
    assert updated.tolist() == [[1, 2, 3], [4, 5, 20]]
    columns = on_device([[0, -1, 3], [-4, 2, 9]])
    assert wt.take_along_axis(X, columns, 1).tolist() == [[1, 3, 0], [0, 6, 0]]
    assert wt.bincount(on_device([-1, 2, 5, 2]), None, 3).tolist() == [0, 0, 2]
    assert wt.dense_bincount(on_device([[-1, 2], [5, 0]]), None, 3).tolist() == [
        [0, 0, 1],
        [1, 0, 0],
    ]


def test_gradients_where_indices_are_out_of_range(backend: str) -> None:
    wrong = on_device([[0, 7], [1, 2], [-1, 0]])
    picked = wt.grad(lambda x: wt.gather_nd(x, wrong))(X)
    assert picked.tolist() == [[0, 0, 0], [0, 0, 1]]
    put = wt.grad(lambda updates: wt.tensor_scatter_update(X, wrong, updates))(V)
    assert put.tolist() == [0, 1, 0]
    kept = wt.grad(lambda x: wt.tensor_scatter_update(x, wrong, V))(X)
    assert kept.tolist() == [[1, 1, 1], [1, 1, 0]]
