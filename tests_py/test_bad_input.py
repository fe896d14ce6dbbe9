"""Bad input: each gives a clear error, and leaves memory as it was."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt

NAN, INF = math.nan, math.inf

X = wt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
IMAGE = wt.tensor(np.ones((1, 8, 8, 4), np.float32))
FILTER = wt.tensor(np.ones((3, 3, 3, 16), np.float32))
FITTING = wt.tensor(np.ones((3, 3, 4, 2), np.float32))

Row = tuple[Callable[[], Any], type[Exception] | tuple[type[Exception], ...], str]

#: What is done, the kind of error, and what the message says.
ERRORS: dict[str, Row] = {
    # -- host data
    "ragged lists": (
        lambda: wt.tensor([[1, 2], [3]]),
        ValueError,
        r"tensor: nested sequences must have equal sizes, but at depth 1 .* \[1, 2\]",
    ),
    "lists beside numbers": (lambda: wt.tensor([[1], 2]), ValueError, "single elements"),
    "ragged lists in an op": (
        lambda: wt.add([[1, 2], [3]], 1),
        ValueError,
        "add: nested sequences",
    ),
    "text as numbers": (
        lambda: wt.tensor("abc", dtype="float32"),
        TypeError,
        "tensor: elements must be numbers, but got 'abc'",
    ),
    "an object that is no number": (
        lambda: wt.tensor(np.array([object()])),
        TypeError,
        "arrays of dtype object are not supported",
    ),
    "text among numbers": (lambda: wt.tensor([1, "a"]), TypeError, "but got 'a'"),
    "None": (lambda: wt.tensor(None), TypeError, "but got None"),
    "None as float32": (
        lambda: wt.tensor([1, None], dtype="float32"),
        TypeError,
        "tensor: elements must be numbers, but got None",
    ),
    "None in an op": (
        lambda: wt.add(X, None),
        TypeError,
        "add: elements must be numbers, but got None",
    ),
    "tensors of unlike shapes in a list": (
        lambda: wt.tensor([X, X[0]]),
        ValueError,
        r"tensor: nested sequences must have equal sizes, but there are tensors of shapes",
    ),
    "arrays of unlike shapes in a list": (
        lambda: wt.tensor([np.ones(2), np.ones(3)]),
        ValueError,
        r"tensor: nested sequences must have equal sizes, .* arrays of shapes \[\(2,\), \(3,\)\]",
    ),
    "a dictionary": (lambda: wt.tensor({"a": 1}), TypeError, "elements must be numbers"),
    "a set": (lambda: wt.tensor({1, 2}), TypeError, "elements must be numbers"),
    "a generator": (lambda: wt.tensor(n for n in (1, 2)), TypeError, "elements must be numbers"),
    "objects in an array": (
        lambda: wt.tensor(np.array([object()])),
        TypeError,
        "arrays of dtype object are not supported",
    ),
    "text as numbers in an array": (
        lambda: wt.tensor(np.array(["a"]), dtype="float32"),
        TypeError,
        "elements must be numbers, but got 'a'",
    ),
    "an integer beyond int32": (
        lambda: wt.tensor([1, 2**31]),
        ValueError,
        "tensor: 2147483648 does not fit dtype int32",
    ),
    "an array beyond int32": (
        lambda: wt.tensor(np.array([2**40])),
        ValueError,
        "1099511627776.* does not fit dtype int32",
    ),
    "an unsigned array beyond int32": (
        lambda: wt.tensor(np.array([2**32 - 1], np.uint32)),
        ValueError,
        "does not fit dtype int32",
    ),
    "infinity as int32": (
        lambda: wt.tensor([INF], dtype="int32"),
        ValueError,
        "inf does not fit dtype int32",
    ),
    "NaN as int32": (
        lambda: wt.tensor([NAN], dtype="int32"),
        ValueError,
        "do(es)? not fit dtype int32",
    ),
    "NaN in an array as int32": (
        lambda: wt.tensor(np.array([NAN]), dtype="int32"),
        ValueError,
        "nan.* does not fit dtype int32",
    ),
    "a number beyond int32 in an op": (
        lambda: wt.tensor([1, 2]) + 2**31,
        ValueError,
        "add: 2147483648 does not fit dtype int32",
    ),
    "a buffer with holes": (
        lambda: wt.tensor(memoryview(b"abcd")[::2]),
        ValueError,
        "the buffer must be contiguous",
    ),
    "a buffer of the other byte order": (
        lambda: wt.tensor(np.ones(2, ">f4").data),
        TypeError,
        "buffers of format '>f' are not supported",
    ),
    # -- shapes and axes
    "a shape that does not hold the values": (
        lambda: wt.tensor([1, 2, 3], shape=(2, 2)),
        ValueError,
        r"tensor: shape \(2, 2\) holds 4 elements, but values has 3",
    ),
    "a negative length": (lambda: wt.zeros((2, -1)), ValueError, "zeros: shape must not have"),
    "a length that is no integer": (lambda: wt.zeros((1.5,)), TypeError, "shape must be integers"),
    "text as a shape": (lambda: wt.zeros("ab"), TypeError, "shape must be integers"),
    "a fill value that is no number": (
        lambda: wt.full((2,), "a", dtype="float32"),
        TypeError,
        "full: elements must be numbers, but got 'a'",
    ),
    "shapes that do not broadcast": (
        lambda: wt.add(X, [1.0, 2.0]),
        ValueError,
        r"add: shapes \(2, 3\) and \(2,\) cannot be broadcast together",
    ),
    "shapes that do not broadcast in where": (
        lambda: wt.where([True, False], X, 0.0),
        ValueError,
        "where: shapes",
    ),
    "shapes that do not broadcast in a comparison": (
        lambda: wt.less_equal(X, wt.ones((4,))),
        ValueError,
        "less_equal: shapes",
    ),
    "a shape not to broadcast to": (
        lambda: wt.broadcast_to(X, (3, 2)),
        ValueError,
        "broadcast_to: shape",
    ),
    "a shape of lower rank to broadcast to": (
        lambda: wt.broadcast_to(X, (3,)),
        ValueError,
        "broadcast_to",
    ),
    "an axis out of range": (
        lambda: wt.sum(X, 2),
        ValueError,
        "sum: axis 2 is out of range for a tensor of rank 2",
    ),
    "a negative axis out of range": (
        lambda: wt.mean(X, -3),
        ValueError,
        "mean: axis -3 is out of range",
    ),
    "an axis of a scalar": (
        lambda: wt.max(wt.tensor(1.0), 0),
        ValueError,
        "max: axis 0 is out of range",
    ),
    "an axis twice": (lambda: wt.sum(X, (0, -2)), ValueError, "sum: axis .* names an axis twice"),
    "a fraction as an axis": (lambda: wt.sum(X, 1.5), TypeError, "sum: axis must be an integer"),
    "text as an axis": (lambda: wt.sum(X, "rows"), TypeError, "sum: axis must be an integer"),
    "a bool as an axis": (lambda: wt.argmax(X, True), TypeError, "argmax: axis must be an integer"),
    "the maximum of nothing": (
        lambda: wt.max(wt.zeros((0, 3)), 0),
        ValueError,
        r"max: no elements to reduce \(x.shape=\(0, 3\), axis=0\)",
    ),
    "the minimum of nothing": (lambda: wt.min([]), ValueError, "min: no elements to reduce"),
    "the index of the maximum of nothing": (
        lambda: wt.argmax(wt.zeros((2, 0)), 1),
        ValueError,
        "argmax: no elements to compare",
    ),
    # -- movement
    "a shape of another size": (
        lambda: wt.reshape(X, (4, 2)),
        ValueError,
        r"reshape: shape \(4, 2\) does not hold 6 elements of \(2, 3\)",
    ),
    "two open lengths": (lambda: wt.reshape(X, (-1, -1)), ValueError, "reshape"),
    "an open length that is not whole": (lambda: wt.reshape(X, (4, -1)), ValueError, "reshape"),
    "an open length of nothing": (
        lambda: wt.reshape(wt.zeros((0, 3)), (0, -1)),
        ValueError,
        "reshape",
    ),
    "a permutation that is none": (
        lambda: wt.permute_dims(X, (0, 0)),
        ValueError,
        "permute_dims: axes must be a permutation",
    ),
    "a permutation of too few axes": (
        lambda: wt.permute_dims(X, (0,)),
        ValueError,
        "permute_dims: axes must be a permutation",
    ),
    "squeezing a longer axis": (
        lambda: wt.squeeze(X, 0),
        ValueError,
        r"squeeze: axis 0 of shape \(2, 3\) does not have size 1",
    ),
    "a slice beyond the end": (
        lambda: wt.slice(X, (0, 1), (2, 3)),
        ValueError,
        "slice: .* do not lie within",
    ),
    "a slice of too many axes": (
        lambda: wt.slice(X, (0, 0, 0), (1, 1, 1)),
        ValueError,
        "slice: .* more axes",
    ),
    "a padding value that is no number": (
        lambda: wt.pad(X, [(1, 1), (1, 1)], "a"),
        TypeError,
        "pad: elements must be numbers, but got 'a'",
    ),
    "negative padding": (
        lambda: wt.pad(X, [(0, 0), (-1, 0)]),
        ValueError,
        "pad: paddings must be one",
    ),
    "padding of too few axes": (
        lambda: wt.pad(wt.ones((1, 1, 1)), [(1, 1), (1, 1)]),
        ValueError,
        "pad: paddings must be one",
    ),
    "concat of nothing": (lambda: wt.concat([]), ValueError, "concat: tensors must not be empty"),
    "concat of a tensor": (lambda: wt.concat(X), TypeError, "concat: tensors must be a sequence"),
    "concat of other shapes": (
        lambda: wt.concat([X, wt.ones((2, 2))], 0),
        ValueError,
        "concat: shapes must be equal except along axis 0",
    ),
    "concat of other ranks": (
        lambda: wt.concat([X, wt.ones((3,))]),
        ValueError,
        "concat: shapes must be equal",
    ),
    "stack of other shapes": (
        lambda: wt.stack([X, wt.ones((3,))]),
        ValueError,
        "stack: shapes must be equal",
    ),
    "unequal parts": (
        lambda: wt.split(X, 2, 1),
        ValueError,
        r"split: axis 1 of \(2, 3\) cannot be parted into 2 equal parts",
    ),
    "parts that do not add up": (
        lambda: wt.split(X, [1, 1], 1),
        ValueError,
        "split: sizes .* do not add up",
    ),
    "text as parts": (lambda: wt.split(X, "ab"), TypeError, "split"),
    "negative repetitions": (
        lambda: wt.tile(X, (2, -1)),
        ValueError,
        "tile: repetitions must not be negative",
    ),
    "fractions as repetitions": (
        lambda: wt.tile(X, (1.5, 2)),
        TypeError,
        "tile: repetitions must be integers",
    ),
    "indices out of range": (
        lambda: wt.gather(X, [0, 2]),
        IndexError,
        r"gather: indices must lie in \[-2, 2\) for axis 0 of \(2, 3\)",
    ),
    "negative indices out of range": (
        lambda: wt.take(X, [-7]),
        IndexError,
        "take: indices must lie in",
    ),
    "fractions as indices": (
        lambda: wt.gather(X, [0.0]),
        TypeError,
        "gather: indices must be int32, but got float32",
    ),
    "indices into nothing": (lambda: wt.gather(wt.zeros((0, 3)), [0]), IndexError, "gather"),
    # -- indexing
    "an index out of range": (
        lambda: X[2],
        IndexError,
        r"index 2 is out of range for axis 0 of \(2, 3\)",
    ),
    "too many indices": (lambda: X[0, 0, 0], IndexError, "3 indices for a tensor of rank 2"),
    "two ellipses": (lambda: X[..., ...], IndexError, "only one ellipsis"),
    "a fraction as an index": (lambda: X[0.5], TypeError, "index: wanted integers, slices"),
    "text as an index": (lambda: X["a"], TypeError, "index: wanted integers, slices"),
    "a mask that does not fit": (
        lambda: X[wt.tensor([True, False, True])],
        IndexError,
        "boolean_mask: mask of shape",
    ),
    "a step of 0": (lambda: X[::0], ValueError, "step"),
    "assignment to elements": (lambda: X.__setitem__(0, 1), TypeError, "tensors are immutable"),
    # -- contractions
    "matrices that do not fit": (
        lambda: wt.matmul(X, X),
        ValueError,
        r"matmul: a has 3 columns, but b has 2 rows \(a.shape=\(2, 3\), b.shape=\(2, 3\)",
    ),
    "a scalar in matmul": (
        lambda: wt.matmul(X, 2.0),
        ValueError,
        "matmul: operands must have axes",
    ),
    "batches that do not fit": (
        lambda: wt.matmul(wt.ones((2, 2, 2)), wt.ones((3, 2, 2))),
        ValueError,
        "matmul: shapes",
    ),
    "dot of axes that do not fit": (
        lambda: wt.dot(wt.ones((2, 3, 4)), wt.ones((2, 3, 4))),
        ValueError,
        r"dot: axes \(2,\) of shape \(2, 3, 4\) and \(1,\) of \(2, 3, 4\) have different sizes",
    ),
    "channels that do not fit": (
        lambda: wt.conv2d(IMAGE, FILTER),
        ValueError,
        r"conv2d: filter has 3 input channels, but x has 4 "
        r"\(x.shape=\(1, 8, 8, 4\), filter.shape=\(3, 3, 3, 16\)\)",
    ),
    "channels that do not fit depthwise": (
        lambda: wt.depthwise_conv2d(IMAGE, FILTER),
        ValueError,
        "depthwise_conv2d: filter has 3 input channels",
    ),
    "an image of rank 2": (
        lambda: wt.conv2d(X, FILTER),
        ValueError,
        "conv2d: x must have rank 3 or 4",
    ),
    "a filter of rank 3": (
        lambda: wt.conv2d(IMAGE, wt.ones((3, 3, 4))),
        ValueError,
        "conv2d: filter must have rank 4",
    ),
    "a stride of 0": (
        lambda: wt.conv2d(IMAGE, FITTING, 0),
        ValueError,
        "conv2d: strides must be a positive integer or 2 of them",
    ),
    "three strides": (lambda: wt.conv2d(IMAGE, FITTING, (1, 2, 3)), ValueError, "strides must be"),
    "a fraction as a stride": (
        lambda: wt.conv2d(IMAGE, FITTING, 1.5),
        (ValueError, TypeError),
        "strides must be",
    ),
    "a negative dilation": (
        lambda: wt.conv2d(IMAGE, FITTING, 1, "same", "NHWC", -1),
        ValueError,
        "dilations must be",
    ),
    "an unknown padding": (
        lambda: wt.conv2d(IMAGE, FITTING, 1, "full"),
        ValueError,
        "conv2d: pad must be 'same', 'valid'",
    ),
    "no padding": (
        lambda: wt.conv2d(IMAGE, FITTING, 1, None),
        (ValueError, TypeError),
        "pad must be",
    ),
    "padding of one axis": (
        lambda: wt.conv2d(IMAGE, FITTING, 1, [1, 2]),
        (ValueError, TypeError),
        "pad must be",
    ),
    "an unknown layout": (
        lambda: wt.conv2d(IMAGE, FITTING, 1, "same", "CHWN"),
        ValueError,
        "data_format must be 'NHWC' or 'NCHW'",
    ),
    "a pool of a matrix": (
        lambda: wt.avg_pool(X, 1),
        ValueError,
        "avg_pool: x must have rank 3 or 4",
    ),
    # -- the rest
    "fractions as classes": (
        lambda: wt.one_hot([0.0], 3),
        TypeError,
        "one_hot: indices must be int32",
    ),
    "a negative depth": (
        lambda: wt.one_hot([0], -1),
        ValueError,
        "one_hot: depth must not be negative",
    ),
    "labels of another shape": (
        lambda: wt.softmax_cross_entropy(X, wt.ones((2, 2))),
        ValueError,
        "softmax_cross_entropy: onehot_labels has shape",
    ),
    "softmax of a scalar": (
        lambda: wt.softmax(1.0),
        ValueError,
        "softmax: axis -1 is out of range",
    ),
    "bits of floats": (
        lambda: wt.bitwise_and(X, X),
        TypeError,
        "bitwise_and: operands must be int32 or bool, but got float32",
    ),
    "not of floats": (lambda: ~X, TypeError, "bitwise_invert: operands must be int32 or bool"),
    "or of fractions": (
        lambda: wt.tensor([1.0]) | wt.tensor([2]),
        TypeError,
        "bitwise_or: operands must be int32 or bool, but got float32",
    ),
    "text beside an operator": (lambda: X + "a", TypeError, "unsupported operand"),
    "a parameter that is no number": (
        lambda: wt.leaky_relu(X, "a"),
        TypeError,
        "leaky_relu: alpha must be a number, but got 'a'",
    ),
    "a step of 0 in arange": (lambda: wt.arange(1, 5, 0), ValueError, "arange: step must not be 0"),
    "a negative count": (
        lambda: wt.linspace(0, 1, -1),
        ValueError,
        "linspace: num must not be negative",
    ),
    "a fraction as a count": (
        lambda: wt.linspace(0, 1, 2.5),
        TypeError,
        "linspace: num must be an integer",
    ),
    "a negative size": (
        lambda: wt.eye(-1),
        ValueError,
        r"eye: \(n_rows, n_cols\) must not have negative sizes",
    ),
    "text as a seed": (
        lambda: wt.random_uniform((2,), seed="1"),
        TypeError,
        "random_uniform: seed must be a number or None, but got '1'",
    ),
    "a random shape below 0": (
        lambda: wt.random_normal((-1,)),
        ValueError,
        "random_normal: shape must not have",
    ),
    # -- as Python objects
    "the truth of several elements": (
        lambda: bool(X),
        TypeError,
        r"bool: wanted a tensor of rank 0, but its shape is \(2, 3\); use wt.any or wt.all$",
    ),
    "the number of several elements": (
        lambda: float(X),
        TypeError,
        "float: wanted a tensor of rank 0",
    ),
    "the number of a vector of a single element": (
        lambda: float(wt.tensor([1.5])),
        TypeError,
        r"float: wanted a tensor of rank 0, but its shape is \(1,\); use x.item\(\)$",
    ),
    "the item of several elements": (
        X.item,
        ValueError,
        "item: wanted a tensor with one element",
    ),
    "a float as a list's index": (
        lambda: [1, 2][wt.tensor(1.0)],
        TypeError,
        "only an int32 tensor can be an index",
    ),
    "the length of a scalar": (lambda: len(wt.tensor(1)), TypeError, "has no len"),
    "the elements of a scalar": (lambda: list(wt.tensor(1)), TypeError, "cannot be iterated over"),
    "a method that there is not": (lambda: X.foo, AttributeError, "foo"),
    # -- variables
    "assigning another shape": (
        lambda: wt.Variable([1.0]).assign([1.0, 2.0]),
        ValueError,
        r"assign: variable .* holds float32 of shape \(1,\), but value is float32 of shape \(2,\)",
    ),
    "assigning another dtype": (
        lambda: wt.Variable([1.0]).assign(wt.tensor([1])),
        ValueError,
        "but value is int32",
    ),
    "a variable of another dtype": (
        lambda: wt.Variable(wt.tensor([1]), dtype="float32"),
        ValueError,
        "Variable: wanted dtype float32, but got a int32 tensor",
    ),
}


@pytest.mark.parametrize("what", ERRORS)
def test_bad_input(what: str, backend: str, no_leak: None) -> None:
    do, kind, message = ERRORS[what]
    with pytest.raises(kind, match=message):
        do()


def test_nan_and_infinity_flow_through_a_model(backend: str) -> None:
    x = wt.tensor([[NAN, 1.0], [INF, 1.0], [2.0, 1.0]])
    y = wt.relu(wt.matmul(x, wt.ones((2, 1)))).tolist()
    assert math.isnan(y[0][0])
    assert y[1:] == [[INF], [3.0]]


def test_a_batch_of_nothing_flows_through_a_model(backend: str, no_leak: None) -> None:
    x = wt.zeros((0, 8, 8, 1))
    y = wt.max_pool(wt.relu(wt.conv2d(x, wt.ones((3, 3, 1, 4)), 1, "same")), 2)
    y = wt.softmax(wt.matmul(wt.reshape(y, (0, 64)), wt.ones((64, 10))))
    assert y.shape == (0, 10)
    assert wt.argmax(y, 1).tolist() == []
