"""Calls that programs join: what becomes one call, what doesn't, and that it computes the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor.backends.programs import Program

Function = Callable[[wt.Tensor], Any]


def normal(*shape: int) -> wt.Tensor:
    return wt.random_normal(shape, seed=sum(shape))


def check(function: Function, x: wt.Tensor) -> None:
    """Check that a replay computes what the function does, for other elements, too."""
    captured = wt.function(function)
    captured(x)
    for factor in (1.0, -0.5):
        got, expected = captured(x * factor), function(x * factor)
        for ours, theirs in zip(wt.nest.flatten(got), wt.nest.flatten(expected), strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-5)


def kernels(programs: list[Program]) -> list[str]:
    """Return the names of the kernels of the last program; others compute its constants."""
    return [call.kernel for call in programs[-1].calls]


W, B = normal(7, 3), normal(3)
IMAGES, FILTERS, DEEP = normal(2, 8, 9, 3), normal(3, 3, 3, 4), normal(3, 3, 3, 2)
ZEROS = [(0, 0), (1, 2), (2, 1), (0, 0)]

JOINED: dict[str, tuple[Function, wt.Tensor, list[str]]] = {
    "bias": (lambda x: x @ W + B, normal(5, 7), ["fused_matmul"]),
    "bias on the left": (lambda x: B + x @ W, normal(5, 7), ["fused_matmul"]),
    "bias of a row": (lambda x: x @ W + B[None], normal(5, 7), ["fused_matmul"]),
    "bias in a batch": (lambda x: x @ W + B, normal(2, 5, 7), ["fused_matmul"]),
    "activation": (lambda x: wt.relu(x @ W + B), normal(5, 7), ["fused_matmul"]),
    "its parameter": (lambda x: wt.leaky_relu(x @ W + B, -0.3), normal(5, 7), ["fused_matmul"]),
    "residual": (
        lambda x: (wt.sigmoid(x @ W + B + x[:, :3]), x),
        normal(5, 7),
        ["strided", "fused_matmul"],
    ),
    "after a layer's bias": (
        lambda x: wt.elu(wt.fused.mat_mul(x, W, bias=B)),
        normal(5, 7),
        ["fused_matmul"],
    ),
    "convolution": (
        lambda x: wt.relu6(wt.conv2d(x, FILTERS, 1, "same") + normal(4)),
        IMAGES,
        ["fused_conv2d"],
    ),
    "depthwise convolution": (
        lambda x: wt.relu(wt.depthwise_conv2d(x, DEEP, 1, "same") + normal(6)),
        IMAGES,
        ["fused_depthwise_conv2d"],
    ),
    "padding": (
        lambda x: wt.conv2d(wt.pad(x, ZEROS), FILTERS, 2, "valid"),
        IMAGES,
        ["conv2d"],
    ),
    "padding, epilogue": (
        lambda x: wt.relu(wt.depthwise_conv2d(wt.pad(x, ZEROS), DEEP, 1, "same") + normal(6)),
        IMAGES,
        ["fused_depthwise_conv2d"],
    ),
    "transposed on the left": (lambda x: wt.transpose(x) @ W[:5], normal(5, 7), ["matmul"]),
    "transposed on the right": (lambda x: W[:5] @ wt.transpose(x), normal(7, 3), ["matmul"]),
    "transposed twice": (lambda x: wt.transpose(wt.transpose(x)) @ W, normal(5, 7), ["matmul"]),
    "transposed in a batch": (
        lambda x: wt.permute_dims(x, (0, 2, 1)) @ normal(2, 5, 3),
        normal(2, 5, 7),
        ["matmul"],
    ),
    "permuted twice": (
        lambda x: wt.permute_dims(wt.permute_dims(x, (0, 3, 1, 2)), (3, 0, 2, 1)),
        IMAGES,
        ["strided"],
    ),
    "a view that is permuted": (
        lambda x: wt.permute_dims(wt.flip(x, 1), (3, 0, 2, 1)),
        IMAGES,
        ["strided"],
    ),
}

SEPARATE: dict[str, tuple[Function, wt.Tensor, list[str]]] = {
    "the product is a result": (
        lambda x: [y := x @ W, y + B],
        normal(5, 7),
        ["matmul", "binary"],
    ),
    "the product is read twice": (
        lambda x: (y := x @ W) + B + wt.sum(y),
        normal(5, 7),
        ["matmul", "reduce", "binary", "binary"],
    ),
    "no number for each column": (
        lambda x: x @ W + normal(5, 1),
        normal(5, 7),
        ["matmul", "binary"],
    ),
    "a scalar beside one column": (
        lambda x: x @ W[:, :1] + wt.sum(x),
        normal(5, 7),
        ["matmul", "reduce", "binary"],
    ),
    "an activation alone": (lambda x: wt.relu(x @ W), normal(5, 7), ["matmul", "unary"]),
    "no activation of kernels": (
        lambda x: wt.tanh(x @ W + B),
        normal(5, 7),
        ["fused_matmul", "unary"],
    ),
    "a product that is broadcast": (
        lambda x: x @ W + normal(4, 1, 3),
        normal(1, 7),
        ["matmul", "binary"],
    ),
    "integers": (
        lambda x: wt.matmul(x.astype("int32"), wt.ones((7, 3), "int32")) + 1,
        normal(5, 7),
        ["cast", "matmul", "binary"],
    ),
    "padding that is no zero": (
        lambda x: wt.conv2d(wt.pad(x, ZEROS, 1.0), FILTERS, 1, "valid"),
        IMAGES,
        ["pad", "conv2d"],
    ),
    "padded channels": (
        lambda x: wt.conv2d(wt.pad(x[..., :2], [*ZEROS[:3], (0, 1)]), FILTERS, 1, "valid"),
        IMAGES,
        ["strided", "pad", "conv2d"],
    ),
    "batches that are permuted": (
        lambda x: wt.permute_dims(x, (1, 0, 2)) @ W,
        normal(2, 5, 7),
        ["strided", "matmul"],
    ),
}


@pytest.mark.parametrize("name", JOINED)
def test_joined(programs: list[Program], name: str) -> None:
    function, x, expected = JOINED[name]
    check(function, x)
    assert kernels(programs) == expected


@pytest.mark.parametrize("name", SEPARATE)
def test_separate(programs: list[Program], name: str) -> None:
    function, x, expected = SEPARATE[name]
    check(function, x)
    assert sorted(kernels(programs)) == sorted(expected)


def test_a_copy_that_is_a_result_stays(programs: list[Program]) -> None:
    check(lambda x: wt.transpose(wt.transpose(x)), normal(5, 7))
    assert kernels(programs) == ["strided"]


def test_late_attributes_are_not_joined(programs: list[Program]) -> None:
    captured = wt.function(lambda x: wt.dropout(x @ W + B, 0.5))
    wt.set_random_seed(1)
    results = [captured(wt.ones((5, 7))).numpy() for _ in range(3)]
    assert not np.array_equal(results[1], results[2])


# -- constants -----------------------------------------------------------------------------------


def test_constants_are_computed_once(programs: list[Program]) -> None:
    table = normal(7, 3)
    check(lambda x: x @ wt.relu(table * 2.0 + 1.0), normal(5, 7))
    assert kernels(programs) == ["matmul"]


def test_constants_that_are_results_are_computed_each_time(programs: list[Program]) -> None:
    table = normal(7, 3)
    captured = wt.function(lambda x: [x + 1.0, wt.exp(table)])
    captured(normal(2))
    for _ in range(2):
        result = captured(normal(2))[1]
        np.testing.assert_allclose(result.numpy(), np.exp(table.numpy()), rtol=1e-6)
        result.dispose()


def test_large_constants_take_no_memory(programs: list[Program]) -> None:
    captured = wt.function(lambda x: x * wt.ones((300, 300)))
    captured(normal(1))
    before = wt.memory()["num_bytes"]
    captured(normal(1))
    assert wt.memory()["num_bytes"] == before


def test_variables_are_no_constants(programs: list[Program]) -> None:
    variable = wt.Variable([1.0, 2.0])
    captured = wt.function(lambda x: x + wt.exp(variable))
    captured(normal(2))
    variable.assign([0.0, 0.0])
    np.testing.assert_allclose(captured(wt.zeros(2)).numpy(), [1.0, 1.0])
