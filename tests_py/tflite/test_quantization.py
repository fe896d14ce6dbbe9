"""Constants of all kinds, and operators between quantized tensors."""

from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.tflite.cases import convolved, normal
from tests_py.tflite.files import Array, Operator, Tensor, file, opened, subgraph


def quantization(scale: float | list[float], zero_point: int = 0, axis: int = 0) -> dict[str, Any]:
    """The field of a quantized tensor."""
    scales = scale if isinstance(scale, list) else [scale]
    zeros = [zero_point] * len(scales)
    table = {"scale": scales, "zero_point": zeros, "quantized_dimension": axis}
    return {"quantization": table}


def value_of(constant: Tensor) -> Array:
    """What the elements of a constant become."""
    graph = subgraph([constant], [], [], [constant.name])
    model = opened(file(graph))
    array: Array = model.execute({}, constant.name).numpy()
    return array


def rounded(x: Array, scale: float, zero_point: Any, low: int = -128, high: int = 127) -> Array:
    """The integers that stand for numbers."""
    return np.clip(np.round(x / scale) + zero_point, low, high).astype("int32")


# -- constants ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array, expected",
    [
        (np.array([1.5, -2], "float16"), [1.5, -2]),
        (np.array([1.5, -2], "float64"), [1.5, -2]),
        (np.array([3, -4], "int64"), [3, -4]),
        (np.array([2**62, -(2**40)], "int64"), [2**31 - 1, -(2**31)]),
        (np.array([3, 255], "uint8"), [3, 255]),
        (np.array([True, False]), [True, False]),
        (np.array(["a", "ü"]), ["a", "ü"]),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_constants(array: Array, expected: list[Any], backend: str):
    assert value_of(Tensor.constant("c", array)).tolist() == expected


WEIGHTS = np.array([[-128, 0], [127, 5], [3, -7]], "int8")


def used(constant: Tensor) -> Array:
    """A constant as an operator sees it."""
    outputs = Tensor("y", constant.shape)
    graph = subgraph([constant, outputs], [Operator("ABS", ["w"], ["y"])], [], ["y"])
    array: Array = opened(file(graph)).execute({}, "y").numpy()
    return array


@pytest.mark.parametrize(
    "fields, factors, zero",
    [
        (quantization(0.5), np.float32(0.5), 0),
        (quantization(0.25, 3), np.float32(0.25), 3),
        (quantization([0.5, 1.0, 2.0], 0, 0), np.array([[0.5], [1], [2]], "float32"), 0),
        (quantization([0.5, 2.0], -1, 1), np.array([0.5, 2], "float32"), -1),
    ],
)
def test_quantized_constants(fields: dict[str, Any], factors: Any, zero: int, backend: str):
    expected = np.abs((WEIGHTS.astype("float32") - zero) * factors)
    np.testing.assert_array_equal(used(Tensor.constant("w", WEIGHTS, **fields)), expected)


@pytest.mark.parametrize(
    "dtype, data, expected",
    [
        ("int4", b"\x71\x0f", [1, 7, -1]),
        ("uint4", b"\x71\x0f", [1, 7, 15]),
        ("int2", b"\x1d", [1, -1, 1]),
    ],
)
def test_constants_of_few_bits(dtype: str, data: bytes, expected: list[int]):
    assert value_of(Tensor("c", (3,), dtype, data)).tolist() == expected


CSR = {
    "traversal_order": [0, 1],
    "dim_metadata": [
        {"format": "DENSE", "dense_size": 2},
        {
            "format": "SPARSE_CSR",
            "array_segments": ("Uint8Vector", {"values": [0, 2, 3]}),
            "array_indices": ("Uint16Vector", {"values": [0, 3, 1]}),
        },
    ],
}
#: Blocks of 2 × 2 of a matrix of 4 × 4, of which two are stored.
BLOCKS = {
    "traversal_order": [0, 1, 2, 3],
    "block_map": [0, 1],
    "dim_metadata": [
        {"format": "DENSE", "dense_size": 2},
        {
            "format": "SPARSE_CSR",
            "array_segments": ("Int32Vector", {"values": [0, 1, 2]}),
            "array_indices": ("Int32Vector", {"values": [1, 0]}),
        },
        {"format": "DENSE", "dense_size": 2},
        {"format": "DENSE", "dense_size": 2},
    ],
}


def test_sparse_constants():
    values = np.array([1, 2, 3], "float32").tobytes()
    constant = Tensor("c", (2, 4), "float32", values, {"sparsity": CSR})
    assert value_of(constant).tolist() == [[1, 0, 0, 2], [0, 3, 0, 0]]


def test_constants_of_sparse_blocks():
    values = np.arange(1, 9, dtype="float32").tobytes()
    constant = Tensor("c", (4, 4), "float32", values, {"sparsity": BLOCKS})
    expected = [[0, 0, 1, 2], [0, 0, 3, 4], [5, 6, 0, 0], [7, 8, 0, 0]]
    assert value_of(constant).tolist() == expected


@pytest.mark.parametrize(
    "shape, sparsity, size",
    [((2, 4), CSR, 4), ((3, 4), CSR, 3), ((2, 3), CSR, 3), ((4, 4), BLOCKS, 7), ((4, 5), CSR, 3)],
)
def test_broken_sparse_constants(shape: tuple[int, int], sparsity: dict[str, Any], size: int):
    constant = Tensor("c", shape, "float32", bytes(4 * size), {"sparsity": sparsity})
    with pytest.raises(wt.ModelFormatError, match=r"tensor 'c'"):
        value_of(constant)


# -- operators ---------------------------------------------------------------------------------

X_SCALE, Y_SCALE, X_ZERO, Y_ZERO = 0.05, 0.1, 3, -7
X = np.random.default_rng(1).integers(-128, 128, (1, 5, 5, 3)).astype("int32")
REAL = ((X - X_ZERO) * np.float32(X_SCALE)).astype("float32")


def between(operator: Operator, *constants: Tensor, shape: Any = (1,), **fields: Any) -> Array:
    """What an operator computes of X, both of whose ends are quantized."""
    tensors = [
        Tensor("x", X.shape, "int8", None, quantization(X_SCALE, X_ZERO)),
        *constants,
        Tensor("y", shape, "int8", None, {**quantization(Y_SCALE, Y_ZERO), **fields}),
    ]
    model = opened(file(subgraph(tensors, [operator], ["x"], ["y"])))
    for _ in range(2):
        result = model.execute(wt.tensor(X), "y").numpy()
    array: Array = result
    return array


@pytest.mark.parametrize("scale, zero", [(Y_SCALE, Y_ZERO), (X_SCALE, X_ZERO)])
def test_elements(scale: float, zero: int, backend: str):
    grid = quantization(scale, zero)
    result = between(Operator("TANH", ["x"], ["y"]), shape=X.shape, **grid)
    np.testing.assert_array_equal(result, rounded(np.tanh(REAL), scale, zero))


@pytest.mark.parametrize("activation, low, high", [
    ("NONE", -np.inf, np.inf), ("RELU", 0, np.inf), ("RELU6", 0, 6), ("RELU_N1_TO_1", -1, 1)
])  # fmt: skip
def test_convolutions(activation: str, low: float, high: float, backend: str):
    scales = [0.01, 0.02]
    weights = np.random.default_rng(2).integers(-127, 128, (2, 3, 3, 3)).astype("int8")
    bias = np.array([40, -900], "int32")
    bias_scales = [X_SCALE * scale for scale in scales]
    operator = Operator(
        "CONV_2D",
        ["x", "w", "b"],
        ["y"],
        (
            "Conv2DOptions",
            {"stride_h": 1, "stride_w": 1, "fused_activation_function": activation},
        ),
    )
    result = between(
        operator,
        Tensor.constant("w", weights, **quantization(scales)),
        Tensor.constant("b", bias, **quantization(bias_scales)),
        shape=(1, 5, 5, 2),
    )
    numbers = weights * np.array(scales).reshape(2, 1, 1, 1)
    exact = convolved(REAL.astype("float64"), numbers, (1, 1), True) + bias * bias_scales
    expected = rounded(np.clip(exact, low, high), Y_SCALE, Y_ZERO)
    assert np.abs(result - expected).max() <= 1
    assert (result != expected).mean() < 0.02  # those that are in the middle between two steps


def test_elements_that_move_are_not_rounded_again():
    same = quantization(X_SCALE, X_ZERO)
    order = Tensor.constant("order", np.array([0, 2, 1, 3], "int32"))
    operator = Operator("TRANSPOSE", ["x", "order"], ["y"])
    result = between(operator, order, shape=X.shape, **same)
    np.testing.assert_array_equal(result, X.transpose(0, 2, 1, 3))


def test_elements_that_move_to_another_scale():
    shape = Tensor.constant("shape", np.array([75], "int32"))
    result = between(Operator("RESHAPE", ["x", "shape"], ["y"]), shape, shape=(75,))
    np.testing.assert_array_equal(result, rounded(REAL.ravel(), Y_SCALE, Y_ZERO))


def test_casts_see_the_integers():
    tensors = [
        Tensor("x", X.shape, "int8", None, quantization(X_SCALE, X_ZERO)),
        Tensor("y", X.shape),
    ]
    cast = Operator("CAST", ["x"], ["y"], ("CastOptions", {}))
    model = opened(file(subgraph(tensors, [cast], ["x"], ["y"])))
    np.testing.assert_array_equal(model.execute(wt.tensor(X), "y").numpy(), X)


def test_conversions():
    tensors = [
        Tensor("x", (3,)),
        Tensor("q", (3,), "uint8", None, quantization(0.5, 10)),
        Tensor("y", (3,)),
    ]
    operators = [Operator("QUANTIZE", ["x"], ["q"]), Operator("DEQUANTIZE", ["q"], ["y"])]
    model = opened(file(subgraph(tensors, operators, ["x"], ["q", "y"])))
    q, y = model.execute(wt.tensor([0.3, -100.0, 1000.0]), ["q", "y"])
    assert q.tolist() == [11, 0, 255]
    assert y.tolist() == [0.5, -5.0, 122.5]


def test_any_tensor_by_its_name_in_the_file():
    tensors = [
        Tensor("in:0", X.shape, "int8", None, quantization(X_SCALE, X_ZERO)),
        Tensor("layer:1", X.shape, "int8", None, quantization(Y_SCALE, Y_ZERO)),
        Tensor("layer:0", X.shape, "int8", None, quantization(X_SCALE, X_ZERO)),
    ]
    operators = [Operator("TANH", ["in:0"], ["layer:1"]), Operator("NEG", ["layer:1"], ["layer:0"])]
    model = opened(file(subgraph(tensors, operators, ["in:0"], ["layer:0"])))
    names = [tensor.name for tensor in tensors]
    inside = (rounded(np.tanh(REAL), Y_SCALE, Y_ZERO) - Y_ZERO) * np.float32(Y_SCALE)
    for _ in range(2):
        x, layer, y = model.execute({"in:0": wt.tensor(X)}, names)
        np.testing.assert_array_equal(x.numpy(), X)
        np.testing.assert_allclose(layer.numpy(), inside, atol=1e-6)
        np.testing.assert_array_equal(y.numpy(), rounded(-inside, X_SCALE, X_ZERO))
    again = model.execute({"layer:1": wt.tensor(inside)}, "layer:0")
    np.testing.assert_array_equal(again.numpy(), y.numpy())


def test_filters_of_half_precision():
    """They become those of the kernels when the model is loaded, and are kept once."""
    x, weights = normal(2, 3), normal(4, 3).astype("float16")
    tensors = [
        Tensor("x", x.shape),
        Tensor.constant("half", weights),
        Tensor("w", weights.shape),
        Tensor("y", (2, 4)),
    ]
    operators = [
        Operator("DEQUANTIZE", ["half"], ["w"]),
        Operator("FULLY_CONNECTED", ["x", "w"], ["y"], ("FullyConnectedOptions", {})),
    ]
    model = opened(file(subgraph(tensors, operators, ["x"], ["y"])))
    expected = x @ weights.astype("float32").T
    np.testing.assert_allclose(model.execute(wt.tensor(x), "y").numpy(), expected, atol=1e-5)
    assert [value.shape for (value,) in model.weights.values()] == [(3, 4)]


def test_filters_of_floats_next_to_quantized_weights():
    """Weights of 8 bits with activations of floats: the product is that of their numbers."""
    weights = np.random.default_rng(3).integers(-127, 128, (4, 3)).astype("int8")
    x = normal(2, 3)
    options: Any = ("FullyConnectedOptions", {})
    tensors = [
        Tensor("x", x.shape),
        Tensor.constant("w", weights, **quantization(0.02)),
        Tensor("y", (2, 4)),
    ]
    operator = Operator("FULLY_CONNECTED", ["x", "w"], ["y"], options)
    model = opened(file(subgraph(tensors, [operator], ["x"], ["y"])))
    expected = x @ (weights * np.float32(0.02)).T
    np.testing.assert_allclose(model.execute(wt.tensor(x), "y").numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("zero_points", [[0], [3, 0, -5, 1]])
def test_weights_that_operators_round(zero_points: list[int], backend: str):
    """As after training with rounded weights; the file may not say the shape of these."""
    weights, x = normal(4, 3), normal(2, 3, seed=5)
    scales = [0.02, 0.03, 0.01, 0.04]
    grid = quantization(scales)
    grid["quantization"]["zero_point"] = zero_points
    tensors = [
        Tensor("x", x.shape),
        Tensor.constant("w", weights),
        Tensor("integers", weights.shape, "int8", None, grid),
        Tensor("numbers", ()),
        Tensor("y", (2, 4)),
    ]
    operators = [
        Operator("QUANTIZE", ["w"], ["integers"]),
        Operator("DEQUANTIZE", ["integers"], ["numbers"]),
        Operator("FULLY_CONNECTED", ["x", "numbers"], ["y"], ("FullyConnectedOptions", {})),
    ]
    model = opened(file(subgraph(tensors, operators, ["x"], ["y"])))
    factors, zeros = np.array(scales)[:, None], np.resize(zero_points, (4, 1))
    expected = x @ ((rounded(weights / factors, 1, zeros) - zeros) * factors).T
    np.testing.assert_allclose(model.execute(wt.tensor(x), "y").numpy(), expected, atol=1e-5)


def test_scales_of_floats_count_for_nothing():
    x = wt.tensor([0.1, 0.2, 0.3, 0.4])
    tensors = [Tensor("x", (4,)), Tensor("y", (4,), "float32", None, quantization([1.0, 2, 3, 4]))]
    model = opened(file(subgraph(tensors, [Operator("QUANTIZE", ["x"], ["y"])], ["x"], ["y"])))
    assert model.execute(x, "y").tolist() == x.tolist()


@pytest.mark.parametrize("scale", [[0.1, 0.2, 0.3], [0.0], [-1.0], [float("nan")]])
def test_impossible_scales(scale: list[float]):
    fields = quantization(scale, 0, 3 if len(scale) > 1 else 0)
    with pytest.raises(wt.ModelFormatError, match="'y' is computed, but has the scales"):
        between(Operator("TANH", ["x"], ["y"]), shape=X.shape, **fields)


@pytest.mark.parametrize("zero_point", [128, -129, 2**40])
def test_zero_points_that_a_dtype_does_not_have(zero_point: int):
    with pytest.raises(wt.ModelFormatError, match=f"'y' is computed.* the zero point {zero_point}"):
        between(Operator("TANH", ["x"], ["y"]), shape=X.shape, **quantization(0.1, zero_point))
