"""Bad input to functions of sparse and ragged tensors."""

from collections.abc import Callable
from typing import Any

import pytest

import webtensor as wt

V = wt.tensor([1.0, 2.0])
I = wt.tensor([[0, 0], [1, 1]])  # noqa: E741
SHAPE = wt.tensor([2, 2])


def fill(indices: Any = I, values: Any = V, shape: Any = SHAPE, default: Any = 0) -> Any:
    return wt.sparse.sparse_fill_empty_rows(indices, values, shape, default)


def reshape(indices: Any = I, before: Any = SHAPE, after: Any = (4,)) -> Any:
    return wt.sparse.sparse_reshape(indices, before, list(after))


def segments(data: Any = V, indices: Any = (0, 1), numbers: Any = (0, 1)) -> Any:
    return wt.sparse.sparse_segment_sum(data, list(indices), list(numbers))


def gather(splits: Any = ((0, 1, 2),), values: Any = V, indices: Any = (0,), rank: int = 1) -> Any:
    return wt.ragged_gather([list(split) for split in splits], values, list(indices), rank)


def dense(
    shape: Any = -1,
    values: Any = V,
    default: Any = 0.0,
    parts: Any = ([0, 1, 2],),
    types: Any = ("ROW_SPLITS",),
) -> Any:
    return wt.ragged_tensor_to_tensor(shape, values, default, list(parts), list(types))


Row = tuple[Callable[[], Any], type[Exception], str]
ROWS: list[Row] = [
    (lambda: fill(indices=[0]), ValueError, "sparse_fill_empty_rows: indices must have rank 2"),
    (lambda: fill(indices=[[0.5, 1], [1, 1]]), TypeError, "indices must be int32"),
    (lambda: fill(indices=[[0, 0], [2, 0]]), IndexError, r"indices\[1\] has row 2, but .* 2 rows"),
    (lambda: fill(indices=[[0, 0], [-1, 0]]), IndexError, r"indices\[1\] has row -1"),
    (lambda: fill(values=[1.0]), ValueError, r"values must have shape \(2,\), but .*\(1,\)"),
    (lambda: fill(values=None), TypeError, "sparse_fill_empty_rows: elements must be numbers"),
    (lambda: fill(shape=2), ValueError, "dense_shape must have rank 1"),
    (lambda: fill(shape=[2, 2, 2]), ValueError, "dense_shape must have 2 sizes .* has 3"),
    (lambda: fill(default=[0]), ValueError, "default_value must be a scalar"),
    (lambda: reshape(indices=[0]), ValueError, "sparse_reshape: input_indices must have rank 2"),
    (lambda: reshape(before=[2.5, 2]), TypeError, "sparse_reshape: input_shape must be int32"),
    (lambda: reshape(before=[2]), ValueError, "input_shape must have 2 sizes"),
    (lambda: reshape(after=(3,)), ValueError, r"new_shape \(3,\) does not hold 4 elements"),
    (lambda: reshape(after=(-1, -1)), ValueError, r"new_shape \(-1, -1\) does not hold"),
    (lambda: reshape(after=(-1, 3)), ValueError, r"new_shape \(-1, 3\) does not hold"),
    (
        lambda: segments(data=1.0),
        ValueError,
        "sparse_segment_sum: data must have at least one axis",
    ),
    (lambda: segments(data=["a"]), TypeError, "sparse_segment_sum: string operands are not supp"),
    (lambda: segments(indices=(0.5, 1)), TypeError, "sparse_segment_sum: indices must be int32"),
    (lambda: segments(indices=(0,)), ValueError, "must be equally many, but got 1 and 2"),
    (lambda: segments(indices=(0, 2)), IndexError, r"indices must lie in \[0, 2\)"),
    (lambda: segments(indices=(-1, 0)), IndexError, "they range from -1 to 0"),
    (lambda: segments(numbers=(1, 0)), ValueError, "segment_ids must rise from 0 or more"),
    (lambda: segments(numbers=(-1, 0)), ValueError, "segment_ids must rise from 0 or more"),
    (lambda: wt.sparse.sparse_segment_mean(V, [0], [[0]]), ValueError, "sparse_segment_mean: segm"),
    (lambda: gather(splits=()), ValueError, "params_nested_splits must not be empty"),
    (lambda: gather(splits=((0.5,),)), TypeError, r"params_nested_splits\[0\] must be int32"),
    (lambda: gather(splits=((0, 2, 1),)), ValueError, "must rise from 0 or more to at most 2"),
    (lambda: gather(splits=((0, 3),)), ValueError, "must rise from 0 or more to at most 2"),
    (lambda: gather(splits=((),)), ValueError, r"params_nested_splits\[0\] must rise"),
    (lambda: gather(splits=((0, 2), (0, 2))), ValueError, r"at most 1, but is \[0, 2\]"),
    (lambda: gather(values=1.0), ValueError, "params_dense_values must have at least one axis"),
    (lambda: gather(indices=(2,)), IndexError, r"ragged_gather: indices must lie in \[0, 2\)"),
    (lambda: gather(indices=(0.5,)), TypeError, "ragged_gather: indices must be int32"),
    (lambda: gather(rank=2), ValueError, "output_ragged_rank must be 1 for these"),
    (lambda: wt.ragged_range([0], [1], [0]), ValueError, "ragged_range: deltas must not be 0"),
    (lambda: wt.ragged_range([[0]], 1, 1), ValueError, "must be scalars or of rank 1"),
    (lambda: wt.ragged_range([0, 1], [1], 1), ValueError, "equally long, but got shapes"),
    (lambda: wt.ragged_range("a", "b", "c"), TypeError, "ragged_range: string operands are not"),
    (lambda: wt.ragged_range(1j, 1, 1), TypeError, "ragged_range: complex64 operands are not"),
    (lambda: dense(types=("ROWS",)), ValueError, r"row_partition_types must be one of .*'ROWS'"),
    (lambda: dense(types=()), ValueError, "row_partition_types must be one of"),
    (lambda: dense(types=("VALUE_ROWIDS",)), ValueError, "VALUE_ROWIDS must follow FIRST_DIM_SIZE"),
    (lambda: dense(parts=([0.5],)), TypeError, r"row_partition_tensors\[0\] must be int32"),
    (lambda: dense(parts=([0, 2, 1],)), ValueError, "ROW_SPLITS of 2 rows must rise from 0"),
    (lambda: dense(parts=([0, 1],)), ValueError, "the partitions are of 1 values, but there are 2"),
    (
        lambda: dense(parts=([2], [0, 5]), types=("FIRST_DIM_SIZE", "VALUE_ROWIDS")),
        ValueError,
        r"VALUE_ROWIDS must not fall, and lie in \[0, 2\)",
    ),
    (
        lambda: dense(parts=([-1],), types=("FIRST_DIM_SIZE",)),
        ValueError,
        "FIRST_DIM_SIZE must be one size",
    ),
    (
        lambda: dense(parts=([0, 2], [2]), types=("ROW_SPLITS", "FIRST_DIM_SIZE")),
        ValueError,
        "FIRST_DIM_SIZE must come first",
    ),
    (lambda: dense(shape=3), ValueError, "a scalar shape must be -1, but got 3"),
    (lambda: dense(shape=[2]), ValueError, "shape must have 2 sizes"),
    (lambda: dense(shape=[2, -2]), ValueError, r"shape \[2, -2\] does not fit"),
    (lambda: dense(values=[[1.0], [2]], shape=[2, 2, 2]), ValueError, "does not fit elements of"),
    (lambda: dense(values=1.0), ValueError, "values must have at least one axis"),
    (lambda: dense(default=[0.0]), ValueError, "default_value of shape .* does not fit elements"),
    (
        lambda: dense(default=wt.tensor("a")),
        TypeError,
        "ragged_tensor_to_tensor: text and numbers do not mix",
    ),
]


@pytest.mark.parametrize("do, kind, message", ROWS, ids=[row[2] for row in ROWS])
def test_bad_input(
    backend: str, no_leak: None, do: Callable[[], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        do()
