"""Cases of normalization, recurrent cells, and products fused with bias and activation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from tests_py.cases.inputs import floats, ints
from tests_py.cases.table import Array, Case, Tolerance, gradient_of, second_derivative_of
from tests_py.cases.windows import _conv2d, _depthwise

__all__ = ["CELLS", "FUSED", "GRADIENTS", "NORMALIZATION"]

# -- oracles -------------------------------------------------------------------------------------


def _batch_norm(
    x: Array,
    mean: Array,
    variance: Array,
    offset: Any = None,
    scale: Any = None,
    variance_epsilon: float = 0.001,
) -> Array:
    y = (x - mean) / np.sqrt(variance + variance_epsilon)
    y = y if scale is None else y * scale
    return np.asarray(y if offset is None else y + offset)


def _lrn(
    x: Array, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5
) -> Array:
    y = np.empty(x.shape)
    for channel in range(x.shape[-1]):
        near = x[..., max(0, channel - depth_radius) : channel + depth_radius + 1] * 1.0
        y[..., channel] = x[..., channel] / (bias + alpha * (near**2).sum(axis=-1)) ** beta
    return y


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _lstm(
    forget_bias: Any, kernel: Array, bias: Array, data: Array, c: Array, h: Array
) -> tuple[Array, Array]:
    gates = np.concatenate([data, h], axis=1) @ kernel + bias
    units = h.shape[1]
    enter, candidate, forget, leave = (gates[:, n * units : (n + 1) * units] for n in range(4))
    memory = c * _sigmoid(forget + forget_bias) + _sigmoid(enter) * np.tanh(candidate)
    return memory, np.tanh(memory) * _sigmoid(leave)


def _activated(y: Array, activation: str | None, slopes: Any, alpha: float) -> Array:
    functions: dict[str, Any] = {
        "linear": lambda: y,
        "relu": lambda: np.maximum(y, 0),
        "relu6": lambda: np.clip(y, 0, 6),
        "elu": lambda: np.where(y > 0, y, np.expm1(np.minimum(y, 0))),
        "sigmoid": lambda: _sigmoid(y),
        "prelu": lambda: np.where(y >= 0, y, y * slopes),
        "leakyrelu": lambda: np.where(y >= 0, y, y * alpha),
    }
    return np.asarray(functions[activation or "linear"]())


def _by_channel(value: Any, data_format: str) -> Any:
    return value[:, None, None] if data_format == "NCHW" and np.ndim(value) == 1 else value


def _fused_convolution(convolve: Any) -> Any:
    def oracle(
        x: Array,
        filter: Array,
        strides: Any,
        pad: Any,
        data_format: str = "NHWC",
        dilations: Any = 1,
        dim_rounding_mode: str | None = None,
        bias: Any = None,
        activation: str | None = "linear",
        prelu_activation_weights: Any = None,
        leakyrelu_alpha: float = 0.2,
        residual: Any = 0,
    ) -> Array:
        y = convolve(x, filter, strides, pad, data_format, dilations, dim_rounding_mode) + residual
        y = y if bias is None else y + _by_channel(bias, data_format)
        slopes = _by_channel(prelu_activation_weights, data_format)
        return _activated(y, activation, slopes, leakyrelu_alpha)

    return oracle


_fused_conv2d, _fused_depthwise = _fused_convolution(_conv2d), _fused_convolution(_depthwise)


def _fused_matmul(
    a: Array,
    b: Array,
    transpose_a: bool = False,
    transpose_b: bool = False,
    bias: Any = None,
    activation: str | None = "linear",
    prelu_activation_weights: Any = None,
    leakyrelu_alpha: float = 0.2,
    residual: Any = 0,
) -> Array:
    left = np.swapaxes(a, -1, -2) if transpose_a else a
    right = np.swapaxes(b, -1, -2) if transpose_b else b
    y = left @ right + residual
    y = y if bias is None else y + bias
    return _activated(y, activation, prelu_activation_weights, leakyrelu_alpha)


# -- rows ----------------------------------------------------------------------------------------

BATCH_NORM = Tolerance(
    "a difference, a square root, a quotient, two products and a sum: some six roundings relative "
    "to terms no greater than 30",
    ulps=16,
    gpu_ulps=32,
    scale=lambda *_, **__: 30.0,
)
LRN = Tolerance(
    "a sum of up to 20 squares, and a power of it, whose logarithm is good to a few ULP of 10",
    ulps=48,
    gpu_ulps=160,
)
CELL = Tolerance(
    "sums of up to 16 products, through functions with slopes up to 1, into numbers up to 4",
    ulps=32,
    gpu_ulps=96,
    scale=lambda *_, **__: 4.0,
)
PRODUCT = Tolerance(
    "sums of up to 40 products of numbers up to 2, through functions with slopes up to 2",
    ulps=64,
    gpu_ulps=128,
    scale=lambda *_, **__: 16.0,
)


def _norm_case(name: str, shape: Sequence[int], parameters: Sequence[int], **kwargs: Any) -> Case:
    x = floats(shape, seed=1)
    mean, variance = floats(parameters, seed=2), floats(parameters, 0.05, 2, seed=3)
    return Case(name, (x, mean, variance), _batch_norm, BATCH_NORM, kwargs)


def _normalization_cases() -> list[Case]:
    cases = []
    for shape in ((4,), (5, 3), (2, 5, 4), (2, 4, 3, 8), (0, 4, 3, 2), (2, 1, 1, 5)):
        name = "batch_norm" if len(shape) == 1 else f"batch_norm{len(shape)}d"
        for parameters in (shape[-1:], shape):
            offset, scale = floats(parameters, seed=4), floats(parameters, 0.5, 2, seed=5)
            for options in (
                {},
                {"offset": offset},
                {"scale": scale},
                {"offset": offset, "scale": scale},
            ):
                cases.append(_norm_case(name, shape, parameters, **options))
                cases.append(_norm_case("batch_norm", shape, parameters, **options))
        cases.append(_norm_case(name, shape, shape[-1:], variance_epsilon=1e-5))
    cases += [
        _norm_case("batch_norm", (2, 3, 4, 5), (1, 1, 1, 5)),
        _norm_case("batch_norm", (2, 3, 4, 5), (2, 3, 1, 1)),
        _norm_case("batch_norm", (2, 3, 2, 2, 3), (3,), offset=floats((3,))),
        _norm_case("batch_norm", (2, 3), ()),
        Case(
            "batch_norm",
            (ints((4, 3)), floats((3,)), floats((3,), 0.5, 2)),
            _batch_norm,
            BATCH_NORM,
        ),
    ]
    name = "local_response_normalization"
    for channels, radius in product((1, 2, 3, 4, 8, 13, 21), (0, 1, 2, 5, 30)):
        cases.append(Case(name, (floats((2, 3, 2, channels)), radius, 1.5, 0.5, 0.75), _lrn, LRN))
    cases += [
        Case(name, (floats((2, 3, 16)),), _lrn, LRN, sample=True),
        Case(name, (floats((2, 3, 4, 40)), 2, 2, 1e-2, 0.5), _lrn, LRN),
        *(Case(name, (floats((2, 3, 4, 6)), 1, 1, 0.5, beta), _lrn, LRN) for beta in (0.3, 1, 2)),
        Case(name, (floats((2, 3, 4, 5)), 1, 1, 1, 0), _lrn, LRN),
        Case(name, (floats((2, 3, 4, 5)), 1, 1, 1, -1), _lrn, LRN),
        Case(name, (ints((2, 3, 4)), 1), _lrn, LRN),
        Case(name, (floats((0, 3, 4, 5)),), _lrn, LRN),
        Case(name, (floats((2, 3, 4, 0)),), _lrn, LRN),
    ]
    return cases


def _cell_arguments(batch: int, inputs: int, units: int, forget_bias: Any = 1.0) -> tuple[Any, ...]:
    return (
        forget_bias,
        floats((inputs + units, 4 * units), -1, 1),
        floats((4 * units,)),
        floats((batch, inputs), seed=1),
        floats((batch, units), seed=2),
        floats((batch, units), -1, 1, seed=3),
    )


def _cell_cases() -> list[Case]:
    sizes = ((1, 1, 1), (2, 3, 4), (5, 2, 3), (3, 1, 8), (0, 2, 3))
    cases = [Case("basic_lstm_cell", _cell_arguments(*size), _lstm, CELL) for size in sizes]
    bias = floats((), 0, 1)
    return [*cases, Case("basic_lstm_cell", _cell_arguments(2, 3, 2, bias), _lstm, CELL)]


ACTIVATIONS = (None, "linear", "relu", "relu6", "elu", "sigmoid", "prelu", "leakyrelu")


def _options(activation: str | None, bias: Array | None, slopes: Array) -> dict[str, Any]:
    options: dict[str, Any] = {"activation": activation}
    if bias is not None:
        options["bias"] = bias
    if activation == "prelu":
        options["prelu_activation_weights"] = slopes
    if activation == "leakyrelu":
        options["leakyrelu_alpha"] = 0.25
    return options


def _fused_cases() -> list[Case]:
    cases = []
    x, square = floats((2, 5, 6, 3), seed=1), floats((1, 4, 4, 4), seed=1)
    for name, oracle, filter, channels in (
        ("fused.conv2d", _fused_conv2d, floats((2, 3, 3, 4), seed=2), 4),
        ("fused.depthwise_conv2d", _fused_depthwise, floats((2, 3, 3, 2), seed=2), 6),
    ):

        def case(*args: Any, **kwargs: Any) -> Case:
            return Case(name, args, oracle, PRODUCT, kwargs)  # noqa: B023

        bias, slopes = floats((channels,), seed=3), floats((channels,), 0.1, 0.5, seed=4)
        for activation, own_bias in product(ACTIVATIONS, (bias, None)):
            cases.append(case(x, filter, 1, "same", **_options(activation, own_bias, slopes)))
        images = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
        cases += [
            case(x, filter, (2, 1), "valid", "NHWC", 1, bias=floats(()), activation="relu"),
            case(x, filter, 1, "valid", "NHWC", 2, bias=floats((1, channels))),
            case(x[0], filter, 2, 1, bias=bias, activation="elu"),
            case(images, filter, 1, "same", "NCHW", **_options("prelu", bias, slopes)),
            case(x, filter, 1, "same", **_options("prelu", bias, floats((5, 6, channels), 0, 1))),
            case(floats((0, 5, 6, 3)), filter, 1, "same", bias=bias, activation="relu6"),
            case(x, filter, 1, "same", activation="leakyrelu"),
            case(x, filter, 1, "same", **_options("prelu", bias, slopes.reshape(1, 1, -1))),
        ]
        for activation in ACTIVATIONS:
            options = {
                **_options(activation, bias, slopes),
                "residual": floats((2, 5, 6, channels)),
            }
            cases.append(case(x, filter, 1, "same", **options))
        relu: dict[str, Any] = {"activation": "relu"}
        cases += [
            case(x, filter, 1, "same", residual=floats((2, 5, 6, channels)), **relu),
            case(x[0], filter, 1, "same", bias=bias, residual=floats((5, 6, channels)), **relu),
            case(
                images, filter, 1, "same", "NCHW",
                bias=bias, residual=floats((2, channels, 5, 6)), **relu,
            ),
        ]  # fmt: skip
    cases.append(
        Case("fused.conv2d", (square, floats((1, 1, 4, 8)), 1, "valid"), _fused_conv2d, PRODUCT)
    )
    a, b = floats((5, 7), seed=1), floats((7, 4), seed=2)
    bias, slopes = floats((4,), seed=3), floats((4,), 0.1, 0.5, seed=4)
    for activation, own_bias in product(ACTIVATIONS, (bias, None)):
        args, options = (a, b), _options(activation, own_bias, slopes)
        cases.append(Case("fused.mat_mul", args, _fused_matmul, PRODUCT, options))
        options = {**options, "residual": floats((5, 4), seed=5)}
        cases.append(Case("fused.mat_mul", args, _fused_matmul, PRODUCT, options))
    # Whole tiles of kernels, and parts of some.
    wide = floats((13, 40), seed=1), floats((40, 20), seed=2)
    for activation in ACTIVATIONS:
        options = _options(activation, floats((20,), seed=3), floats((20,), 0.1, 0.5, seed=4))
        cases.append(Case("fused.mat_mul", wide, _fused_matmul, PRODUCT, options))
        options = {**options, "residual": floats((13, 20), seed=5)}
        cases.append(Case("fused.mat_mul", wide, _fused_matmul, PRODUCT, options))
    turned = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
    relu = {"bias": bias, "activation": "relu"}
    # fmt: off
    return [
        *cases,
        Case("fused.mat_mul", (turned[0], b, True), _fused_matmul, PRODUCT, relu),
        Case("fused.mat_mul", (a, turned[1], False, True), _fused_matmul, PRODUCT, relu),
        Case("fused.mat_mul", (floats((3, 5, 7)), b), _fused_matmul, PRODUCT, relu),
        Case(
            "fused.mat_mul", (floats((3, 5, 7)), b), _fused_matmul, PRODUCT,
            {**relu, "residual": floats((3, 5, 4), seed=5)},
        ),
        Case(
            "fused.mat_mul", (floats((3, 5, 7)), floats((3, 7, 4))), _fused_matmul, PRODUCT,
            {**relu, "residual": floats((3, 5, 4), seed=5)},
        ),
        *(
            Case(
                "fused.mat_mul", (floats((m, 9)), floats((9, n))), _fused_matmul, PRODUCT,
                {"bias": floats((n,)), "residual": floats((m, n), seed=5)},
            )
            for m, n in ((1, 1), (1, 6), (6, 1), (7, 9))
        ),
        Case("fused.mat_mul", (a, b), _fused_matmul, PRODUCT, {"bias": floats((5, 1))}),
        Case("fused.mat_mul", (ints((2, 3)), ints((3, 4))), _fused_matmul),
        Case("fused.mat_mul", (ints((2, 3)), ints((3, 4))), _fused_matmul, PRODUCT, relu),
    ]


def _large_fused_cases() -> list[Case]:
    """Products large enough for tiles and threads, with ends that fill neither."""
    cases = []
    for (batch, side, inner, outer), size, activation in (
        ((1, 48, 16, 32), 1, "relu"),
        ((1, 48, 16, 32), 3, "sigmoid"),
        ((2, 23, 12, 20), 3, "elu"),
        ((1, 47, 3, 24), 5, "relu6"),
        ((1, 29, 9, 13), 3, "leakyrelu"),
        ((1, 31, 8, 17), 3, "prelu"),
    ):
        x = floats((batch, side, side, inner), seed=1)
        filter = floats((size, size, inner, outer), seed=2)
        options = _options(activation, floats((outer,), seed=3), floats((outer,), seed=4))
        args = (x, filter, 1, "same")
        cases.append(Case("fused.conv2d", args, _fused_conv2d, PRODUCT, options))
        columns = filter.reshape(-1, outer)
        rows = floats((131, len(columns)), seed=5)
        cases.append(Case("fused.mat_mul", (rows, columns), _fused_matmul, PRODUCT, options))
        options = _options(activation, floats((inner,), seed=3), floats((inner,), seed=4))
        args = (x, floats((size, size, inner, 1), seed=2), 1, "same")
        case = Case("fused.depthwise_conv2d", args, _fused_depthwise, PRODUCT, options)
        cases.append(case)
    return cases + [
        replace(case, kwargs={**case.kwargs, "residual": floats(case.value.shape, seed=6)})
        for case in cases
    ]


# -- gradients -----------------------------------------------------------------------------------


def _combined(path: str, *args: Any) -> Array:
    return np.asarray(sum((n + 1.0) * (part * part).sum() for n, part in enumerate(_lstm(*args))))


def _gradient_cases() -> list[Case]:
    cases = []
    offset, scale = floats((3,), seed=4), floats((3,), 0.5, 2, seed=5)
    for shape in ((3, 3), (2, 2, 2, 3)):
        case = _norm_case("batch_norm", shape, (3,), offset=offset, scale=scale)
        cases += [gradient_of(case), second_derivative_of(case, (0, 1, 2, 4))]
    whole = _norm_case("batch_norm2d", (2, 3), (2, 3), offset=floats((2, 3)), scale=floats((2, 3)))
    cases += [gradient_of(whole), gradient_of(_norm_case("batch_norm3d", (1, 2, 3), (3,)))]
    for rank in (2, 3, 4):
        of_rank = (1, 2, 2, 3)[-rank:]
        for parameters in ((3,), (*(1,) * (rank - 1), 3), of_rank):
            offset, scale = floats(parameters, seed=4), floats(parameters, 0.5, 2, seed=5)
            case = _norm_case(f"batch_norm{rank}d", of_rank, parameters, offset=offset, scale=scale)
            cases.append(gradient_of(case))
            if parameters != of_rank:
                cases.append(second_derivative_of(case, (0, 1, 2, 4)))
    for channels, radius, beta in ((1, 2, 0.75), (3, 1, 0.5), (5, 2, 1.0), (4, 9, 0.3)):
        args = (floats((1, 2, 2, channels)), radius, 1.5, 0.5, beta)
        case = Case("local_response_normalization", args, _lrn)
        cases += [gradient_of(case), second_derivative_of(case)]
    cell = Case("combined", ("basic_lstm_cell", *_cell_arguments(2, 2, 2)), _combined)
    small = Case("combined", ("basic_lstm_cell", *_cell_arguments(1, 1, 1)), _combined)
    cases += [gradient_of(cell), second_derivative_of(small)]
    x, filter = floats((1, 3, 4, 2), seed=1), floats((2, 2, 2, 2), seed=2)
    a, b = floats((3, 2), seed=1), floats((2, 4), seed=2)
    for activation in ACTIVATIONS[1:]:
        options = _options(activation, floats((2,), seed=3), floats((2,), 0.1, 0.5, seed=4))
        case = Case("fused.conv2d", (x, filter, 1, "same"), _fused_conv2d, PRODUCT, options)
        cases.append(gradient_of(case))
        options = _options(activation, floats((4,), seed=3), floats((4,), 0.1, 0.5, seed=4))
        depthwise = (x, filter, 1, "valid")
        for case in (
            Case("fused.depthwise_conv2d", depthwise, _fused_depthwise, PRODUCT, options),
            Case("fused.mat_mul", (a, b), _fused_matmul, PRODUCT, options),
        ):
            cases.append(gradient_of(case))
    for activation in ("relu", "prelu"):
        options = _options(activation, floats((4,), seed=3), floats((4,), 0.1, 0.5, seed=4))
        options["residual"] = floats((3, 4), seed=5)
        cases.append(gradient_of(Case("fused.mat_mul", (a, b), _fused_matmul, PRODUCT, options)))
    return cases


NORMALIZATION = _normalization_cases()
CELLS = _cell_cases()
FUSED = _fused_cases() + _large_fused_cases()
GRADIENTS = _gradient_cases()
