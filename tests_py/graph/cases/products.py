"""Operations that sum products: convolutions, windows, matrices, normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, distinct, floats
from tests_py.graph.cases.case import Case, case

__all__ = ["CASES"]

IMAGES = floats((2, 7, 6, 3))
FILTER = floats((3, 3, 3, 4), seed=1)
BIAS = floats((4,), seed=2)
DEPTHWISE = floats((3, 3, 3, 2), seed=3)
DEPTHWISE_BIAS = floats((6,), seed=4)
VOLUMES = floats((1, 4, 5, 5, 2))
SIGNALS = floats((2, 8, 3))
MATRIX, OTHER = floats((3, 4)), floats((4, 5), seed=1)
STACK, OTHER_STACK = floats((2, 3, 4)), floats((2, 4, 5), seed=1)

FLAT: dict[str, Any] = {
    "strides": [1, 1, 1, 1],
    "padding": "SAME",
    "dilations": [1, 1, 1, 1],
    "data_format": "NHWC",
}
STRIDED: dict[str, Any] = {**FLAT, "strides": [1, 2, 2, 1], "padding": "VALID"}
DILATED: dict[str, Any] = {**FLAT, "dilations": [1, 2, 2, 1]}
EXPLICIT: dict[str, Any] = {
    **FLAT,
    "strides": [1, 2, 2, 1],
    "padding": "EXPLICIT",
    "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0],
}
CHANNELS_FIRST: dict[str, Any] = {
    **FLAT,
    "strides": [1, 1, 2, 2],
    "padding": "VALID",
    "data_format": "NCHW",
}
POOLED: dict[str, Any] = {
    "ksize": [1, 2, 2, 1],
    "strides": [1, 2, 2, 1],
    "padding": "VALID",
    "data_format": "NHWC",
}
OVERLAPPING: dict[str, Any] = {**POOLED, "ksize": [1, 3, 3, 1], "padding": "SAME"}
POOLED_3D: dict[str, Any] = {
    "ksize": [1, 2, 2, 2, 1],
    "strides": [1, 2, 2, 2, 1],
    "padding": "SAME",
    "data_format": "NDHWC",
}
FLAT_3D: dict[str, Any] = {
    "strides": [1, 1, 1, 1, 1],
    "padding": "SAME",
    "dilations": [1, 1, 1, 1, 1],
}

ACTIVATIONS = ("Relu", "Relu6", "Elu", "LeakyRelu", "Sigmoid")


def normalized(x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
    """Normalize the last axis."""
    return (x - mean) / np.sqrt(variance + 0.01) * scale + offset


def trained(x: Any, scale: Any, offset: Any, *_: Any) -> list[Any]:
    """Normalize by the statistics of the batch, and return its mean and unbiased variance."""
    axes = (0, 1, 2)
    mean = x.mean(axes)
    return [normalized(x, scale, offset, mean, x.var(axes)), mean, x.var(axes, ddof=1)]


def normalization(op: str) -> list[Case]:
    """The cases of a version of batch normalization."""
    channels = floats((4, 3), 0.5, 2.0)
    return [
        case(
            op,
            IMAGES,
            *channels,
            expected=normalized,
            epsilon=0.01,
            data_format="NHWC",
            is_training=False,
        ),
        case(
            op,
            IMAGES.transpose(0, 3, 1, 2),
            *channels,
            expected=lambda x, *rest: normalized(x.transpose(0, 2, 3, 1), *rest).transpose(
                0, 3, 1, 2
            ),
            label="channels first",
            epsilon=0.01,
            is_training=False,
            data_format="NCHW",
        ),
        case(
            op,
            IMAGES,
            *channels,
            expected=trained,
            label="in training",
            outputs=3,
            epsilon=0.01,
            is_training=True,
        ),
        case(
            op,
            IMAGES,
            *channels,
            expected=lambda x, scale, offset, *old: [
                new if average is None else average + (new - average) * np.float32(0.25)
                for new, average in zip(trained(x, scale, offset, *old), (None, *old), strict=True)
            ],
            label="in training with averages",
            outputs=3,
            epsilon=0.01,
            is_training=True,
            exponential_avg_factor=0.25,
        ),
    ]


def response(x: Any) -> Any:
    """Divide by the sum of squares of five neighbouring channels."""
    squares = np.pad(x**2, ((0, 0),) * 3 + ((2, 2),))
    total = sum(squares[..., shift : shift + x.shape[-1]] for shift in range(5))
    return x * (1.5 + 0.3 * total) ** -0.75


def convolutions(op: str, filter: Any) -> list[Case]:
    """The cases of an operation that convolves images."""
    rows: dict[str, tuple[Any, dict[str, Any]]] = {
        "same": (IMAGES, FLAT),
        "strided": (IMAGES, STRIDED),
        "dilated": (IMAGES, DILATED),
        "explicit": (IMAGES, EXPLICIT),
        "channels first": (IMAGES.transpose(0, 3, 1, 2), CHANNELS_FIRST),
    }
    return [
        case(op, images, filter, label=label, **attributes)
        for label, (images, attributes) in rows.items()
    ]


def fused(op: str, x: Any, filter: Any, bias: Any, **attributes: Any) -> list[Case]:
    """The cases of an operation with a bias and an activation."""
    slopes = floats(bias.shape, 0.1, 0.4, seed=7)
    return [
        case(op, x, filter, bias, label="biased", num_args=1, fused_ops=["BiasAdd"], **attributes),
        *(
            case(
                op,
                x,
                filter,
                bias,
                label=activation,
                num_args=1,
                fused_ops=["BiasAdd", activation],
                leakyrelu_alpha=0.3,
                **attributes,
            )
            for activation in ACTIVATIONS
        ),
        case(
            op,
            x,
            filter,
            bias,
            slopes,
            label="Prelu",
            num_args=2,
            fused_ops=["BiasAdd", "Prelu"],
            **attributes,
        ),
    ]


CASES = [
    # convolutions
    case("Conv1D", SIGNALS, floats((3, 3, 4), seed=1), stride=2, padding="SAME", data_format="NWC"),
    case(
        "Conv1D",
        SIGNALS,
        floats((3, 3, 4), seed=1),
        label="dilated",
        stride=1,
        padding="VALID",
        dilation=2,
    ),
    *convolutions("Conv2D", FILTER),
    *convolutions("DepthwiseConv2d", DEPTHWISE),
    *convolutions("DepthwiseConv2dNative", DEPTHWISE),
    *fused("_FusedConv2D", IMAGES, FILTER, BIAS, **FLAT),
    case("_FusedConv2D", IMAGES, FILTER, label="alone", num_args=0, fused_ops=[], **FLAT),
    case(
        "_FusedConv2D",
        IMAGES.transpose(0, 3, 1, 2),
        FILTER,
        BIAS,
        label="channels first",
        num_args=1,
        fused_ops=["BiasAdd", "Relu"],
        **CHANNELS_FIRST,
    ),
    *fused("FusedDepthwiseConv2dNative", IMAGES, DEPTHWISE, DEPTHWISE_BIAS, **STRIDED),
    case(
        "Conv2DBackpropInput",
        [2, 7, 6, 3],
        FILTER,
        floats((2, 4, 3, 4), seed=5),
        **{**FLAT, "strides": [1, 2, 2, 1]},
    ),
    case(
        "Conv2DBackpropInput",
        [2, 9, 7, 3],
        FILTER,
        floats((2, 4, 3, 4), seed=5),
        label="valid",
        **STRIDED,
    ),
    case("Conv3D", VOLUMES, floats((2, 3, 3, 2, 3), seed=6), **FLAT_3D, data_format="NDHWC"),
    case(
        "Conv3D",
        VOLUMES,
        floats((2, 3, 3, 2, 3), seed=6),
        label="strided",
        **{**FLAT_3D, "strides": [1, 2, 2, 2, 1], "padding": "VALID"},
        data_format="NDHWC",
    ),
    case(
        "Dilation2D",
        IMAGES,
        floats((2, 2, 3)),
        strides=[1, 1, 1, 1],
        rates=[1, 2, 2, 1],
        padding="VALID",
    ),
    # windows
    case("AvgPool", IMAGES, **POOLED),
    case("AvgPool", IMAGES, label="overlapping", **OVERLAPPING),
    case("MaxPool", IMAGES, **POOLED),
    case("MaxPool", IMAGES, label="overlapping", **OVERLAPPING),
    case(
        "MaxPool",
        IMAGES[:, :6].reshape(2, 3, 2, 3, 2, 3).transpose(0, 5, 1, 3, 2, 4).reshape(2, 3, 6, 6),
        expected=lambda x: x.reshape(2, 3, 3, 2, 3, 2).max((3, 5)),
        label="channels first",
        **{**POOLED, "ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "data_format": "NCHW"},
    ),
    case(
        "MaxPool",
        IMAGES.transpose(0, 3, 1, 2),
        expected=lambda x: (
            np.pad(x, [(0, 0), (0, 0), (1, 0), (0, 0)], constant_values=-np.inf)
            .reshape(2, 3, 4, 2, 3, 2)
            .max((3, 5))
        ),
        label="padded, channels first",
        ksize=[1, 1, 2, 2],
        strides=[1, 1, 2, 2],
        padding="EXPLICIT",
        explicit_paddings=[0, 0, 0, 0, 1, 0, 0, 0],
        data_format="NCHW",
    ),
    case("AvgPool3D", VOLUMES, **POOLED_3D),
    case("MaxPool3D", VOLUMES, **POOLED_3D),
    case(
        "MaxPoolWithArgmax",
        distinct((2, 4, 4, 3)),
        outputs=2,
        **{key: POOLED[key] for key in ("ksize", "strides", "padding")},
        include_batch_in_index=False,
    ),
    case(
        "MaxPoolWithArgmax",
        distinct((2, 4, 4, 3)),
        label="with the batch",
        outputs=2,
        **{key: POOLED[key] for key in ("ksize", "strides", "padding")},
        include_batch_in_index=True,
    ),
    # matrices
    case("MatMul", MATRIX, OTHER, expected=np.matmul, transpose_a=False, transpose_b=False),
    case(
        "MatMul",
        MATRIX.T,
        OTHER.T,
        expected=lambda a, b: a.T @ b.T,
        label="transposed",
        transpose_a=True,
        transpose_b=True,
    ),
    *(
        part
        for op in ("BatchMatMul", "BatchMatMulV2")
        for part in (
            case(op, STACK, OTHER_STACK, expected=np.matmul, adj_x=False, adj_y=False),
            case(
                op,
                STACK.transpose(0, 2, 1),
                OTHER_STACK.transpose(0, 2, 1),
                expected=lambda a, b: a.transpose(0, 2, 1) @ b.transpose(0, 2, 1),
                label="transposed",
                adj_x=True,
                adj_y=True,
            ),
        )
    ),
    case("BatchMatMulV2", STACK, OTHER, expected=np.matmul, label="broadcasting"),
    case(
        "BatchMatMulV2",
        STACK + 2j * STACK[::-1],
        OTHER_STACK.transpose(0, 2, 1)[:, :3] * 1j + 1,
        expected=lambda a, b: a.conj().transpose(0, 2, 1) @ b,
        label="of an adjoint",
        adj_x=True,
        adj_y=False,
    ),
    case(
        "Einsum",
        STACK,
        OTHER_STACK,
        expected=lambda a, b: np.einsum("bij,bjk->bki", a, b),
        equation="bij,bjk->bki",
        N=2,
    ),
    case("Einsum", MATRIX, expected=np.transpose, label="of one", equation="ij->ji", N=1),
    case("MatrixBandPart", floats((4, 5)), 1, 2, expected=lambda x, *_: np.triu(np.tril(x, 2), -1)),
    case("MatrixBandPart", floats((4, 5)), -1, 0, expected=lambda x, *_: np.tril(x), label="lower"),
    case(
        "MatrixBandPart",
        floats((2, 3, 4)),
        0,
        -1,
        expected=lambda x, *_: np.triu(x),
        label="of matrices",
    ),
    *fused("_FusedMatMul", MATRIX, floats((4, 4), seed=1), BIAS),
    case(
        "_FusedMatMul",
        MATRIX,
        OTHER.T,
        floats((5,)),
        expected=lambda a, b, bias: np.maximum(a @ b.T + bias, 0),
        label="transposed",
        num_args=1,
        fused_ops=["BiasAdd", "Relu"],
        transpose_b=True,
    ),
    # normalization
    *(
        part
        for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
        for part in normalization(op)
    ),
    case(
        "LRN",
        floats((1, 2, 2, 6)),
        expected=response,
        depth_radius=2,
        bias=1.5,
        alpha=0.3,
        beta=0.75,
    ),
    case("LRN", arr(np.ones((1, 2, 2, 3))), label="by default"),
]
