"""ONNX Runtime's own operators compute here what they compute there."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import webtensor as wt
from tests_py.onnx.single_nodes import Arrays, Case, compare, feeds_of, model_of

DRAW = np.random.default_rng(7)


def floats(*shape: int) -> NDArray[np.float32]:
    return DRAW.normal(size=shape).astype(np.float32)


def array(values: Any) -> NDArray[np.float32]:
    return np.asarray(values, np.float32)


def bytes_(*shape: int, low: int = 0, high: int = 256, dtype: Any = np.uint8) -> NDArray[Any]:
    return DRAW.integers(low, high, shape).astype(dtype)


def signed(*shape: int) -> NDArray[np.int8]:
    """Return weights for which sums of pairs have 16 bits, as ONNX Runtime's must on x86."""
    return bytes_(*shape, low=-63, high=64, dtype=np.int8)


def scalar(value: float, dtype: Any = np.float32) -> NDArray[Any]:
    return np.asarray(value, dtype)


def integers(values: Any, dtype: Any = np.int32) -> NDArray[Any]:
    return np.asarray(values, dtype)


def quantized(*shape: int, name: str, scale: float = 0.05, zero: int = 120) -> Arrays:
    return {
        name: bytes_(*shape),
        f"{name}_scale": scalar(scale),
        f"{name}_zero": scalar(zero, np.uint8),
    }


TARGET: Arrays = {"y_scale": scalar(0.1), "y_zero": scalar(100, np.uint8)}
IMAGE = {"x": floats(2, 4, 9, 8), "w": floats(6, 4, 3, 3), "b": floats(6)}
CONVOLUTION = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
STEP = 0.1001


def packed(n: int, k: int, block: int, bits: int, zeros: bool) -> Arrays:
    count = -(-k // block)
    inputs: dict[str, NDArray[Any] | None] = {
        "a": floats(3, 5, k),
        "b": bytes_(n, count, block * bits // 8),
        "scales": floats(n * count),
    }
    if zeros:
        inputs["zeros"] = bytes_(n * -(-count * bits // 8))
    return inputs


def attention(batch: int = 2, rows: int = 5, heads: int = 3, size: int = 4) -> Arrays:
    return {
        "x": floats(batch, rows, heads * size),
        "w": floats(heads * size, 3 * heads * size),
        "b": floats(3 * heads * size),
    }


def separate(batch: int = 2, rows: int = 5, columns: int = 7, width: int = 12) -> Arrays:
    return {
        "q": floats(batch, rows, width),
        "k": floats(batch, columns, width),
        "v": floats(batch, columns, width),
    }


def grouped(rows: int, kept: int, totals: list[int], heads: int = 4, groups: int = 2) -> Arrays:
    batch, size = len(totals), 16
    return {
        "q": floats(batch, rows, heads * size),
        "k": floats(batch, rows, groups * size),
        "v": floats(batch, rows, groups * size),
        "past_k": floats(batch, groups, kept, size),
        "past_v": floats(batch, groups, kept, size),
        "lengths": integers(totals) - 1,
        "total": integers(max(totals)),
    }


CACHES: Arrays = {"cos": np.cos(floats(20, 8)), "sin": np.sin(floats(20, 8))}
HEADS = {"num_heads": 3}
GROUPS = {"num_heads": 4, "kv_num_heads": 2}
PROMPT_MASK = integers([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
LSTM = {
    "x": floats(6, 2, 5),
    "w": bytes_(1, 5, 16),
    "r": bytes_(1, 4, 16),
    "b": floats(1, 32),
    "lengths": None,
    "h": floats(1, 2, 4),
    "c": None,
    "p": None,
    "w_scale": scalar(0.01).reshape(1),
    "w_zero": integers([128], np.uint8),
    "r_scale": scalar(0.01).reshape(1),
    "r_zero": integers([127], np.uint8),
}

EMPTY: Arrays = {"roi": None, "scales": None}

CASES = {
    "Gelu": Case("Gelu", {"x": floats(3, 4)}),
    "FastGelu": Case("FastGelu", {"x": floats(3, 4), "b": floats(4)}),
    "FastGelu without bias": Case("FastGelu", {"x": floats(3, 4)}),
    "BiasGelu": Case("BiasGelu", {"x": floats(3, 4), "b": floats(4)}),
    **{
        f"CDist {metric}": Case("CDist", {"x": floats(3, 4), "y": floats(5, 4)}, {"metric": metric})
        for metric in ("euclidean", "sqeuclidean")
    },
    "QuickGelu": Case("QuickGelu", {"x": floats(3, 4)}),
    "QuickGelu with alpha": Case("QuickGelu", {"x": floats(3, 4)}, {"alpha": 0.5}),
    "SkipLayerNormalization": Case(
        "SkipLayerNormalization",
        {"x": floats(2, 3, 8), "skip": floats(2, 3, 8), "g": floats(8), "o": floats(8)},
        {"epsilon": 1e-3},
    ),
    "SkipLayerNormalization with all": Case(
        "SkipLayerNormalization",
        {
            "x": floats(2, 3, 8),
            "skip": floats(3, 8),
            "g": floats(8),
            "o": None,
            "b": floats(8),
        },
        outputs="y--y",
    ),
    "SkipSimplifiedLayerNormalization": Case(
        "SkipSimplifiedLayerNormalization",
        {"x": floats(2, 3, 8), "skip": floats(2, 3, 8), "g": floats(8), "b": floats(8)},
        outputs="y--y",
    ),
    "SimplifiedLayerNormalization": Case(
        "SimplifiedLayerNormalization", {"x": floats(2, 3, 8), "g": floats(8)}, domain=""
    ),
    "EmbedLayerNormalization": Case(
        "EmbedLayerNormalization",
        {
            "ids": bytes_(2, 5, high=9, dtype=np.int32),
            "segments": bytes_(2, 5, high=2, dtype=np.int32),
            "words": floats(9, 8),
            "positions": floats(7, 8),
            "kinds": floats(2, 8),
            "g": floats(8),
            "o": floats(8),
            "mask": PROMPT_MASK,
        },
        outputs="yyy",
    ),
    "EmbedLayerNormalization with positions": Case(
        "EmbedLayerNormalization",
        {
            "ids": bytes_(2, 5, high=9, dtype=np.int32),
            "segments": None,
            "words": floats(9, 8),
            "positions": floats(7, 8),
            "kinds": None,
            "g": floats(8),
            "o": floats(8),
            "mask": None,
            "at": bytes_(2, 5, high=7, dtype=np.int32),
        },
        outputs="yy",
    ),
    **{
        f"FusedConv {activation}": Case(
            "FusedConv",
            IMAGE,
            {**CONVOLUTION, "activation": activation, **parameters},
            constants=("w", "b"),
            tolerance=1e-4,
        )
        for activation, parameters in (
            ("Relu", {}),
            ("Tanh", {}),
            ("Sigmoid", {}),
            ("LeakyRelu", {"activation_params": [0.2]}),
            ("Clip", {"activation_params": [-0.5, 1.5]}),
            ("HardSigmoid", {"activation_params": [0.3, 0.4]}),
        )
    },
    "FusedConv with a residual": Case(
        "FusedConv",
        {**IMAGE, "z": floats(2, 6, 9, 8)},
        {**CONVOLUTION, "activation": "Relu"},
        constants=("w", "b"),
        tolerance=1e-4,
    ),
    "FusedGemm": Case(
        "FusedGemm",
        {"a": floats(4, 3), "b": floats(4, 5), "c": floats(5)},
        {"transA": 1, "alpha": 0.5, "activation": "LeakyRelu", "activation_alpha": 0.3},
    ),
    "FusedMatMul": Case(
        "FusedMatMul",
        {"a": floats(2, 4, 3), "b": floats(2, 5, 4)},
        {"transA": 1, "transB": 1, "alpha": 0.5},
    ),
    "FusedMatMul of vectors": Case("FusedMatMul", {"a": floats(4), "b": floats(4, 3)}),
    "FusedMatMul with batches inside": Case(
        "FusedMatMul",
        {"a": floats(3, 2, 4), "b": floats(5, 2, 4)},
        {"transBatchA": 1, "transBatchB": 1, "transB": 1},
    ),
    "FusedMatMul with batches inside, transposed": Case(
        "FusedMatMul",
        {"a": floats(4, 2, 6, 3), "b": floats(2, 6, 4, 5)},
        {"transBatchA": 1, "transA": 1},
    ),
    "TransposeMatMul": Case(
        "TransposeMatMul", {"a": floats(4, 3), "b": floats(5, 4)}, {"transA": 1, "transB": 1}
    ),
    **{
        f"MatMulNBits {bits} {k} {block} {zeros}": Case(
            "MatMulNBits",
            packed(6, k, block, bits, zeros),
            {"K": k, "N": 6, "bits": bits, "block_size": block},
            constants=("b", "scales", "zeros"),
            tolerance=2e-4,
        )
        for bits, k, block, zeros in (
            *((4, 64, 32, False), (4, 64, 16, True), (4, 50, 16, True), (8, 40, 32, True)),
            *((2, 64, 32, False), (8, 64, 16, False)),
        )
    },
    "MatMulNBits with a bias": Case(
        "MatMulNBits",
        {**packed(6, 64, 32, 4, zeros=False), "z": None, "g": None, "bias": floats(6)},
        {"K": 64, "N": 6, "bits": 4, "block_size": 32},
        tolerance=2e-4,
    ),
    "MatMulNBits with float zeros": Case(
        "MatMulNBits",
        {**packed(6, 64, 32, 4, zeros=False), "zeros": floats(12)},
        {"K": 64, "N": 6, "bits": 4, "block_size": 32},
        tolerance=2e-4,
    ),
    "MatMulNBits with groups": Case(
        "MatMulNBits",
        {
            **packed(6, 64, 32, 4, zeros=False),
            "zeros": None,  # with groups, ONNX Runtime does not look at them
            "groups": DRAW.permutation(np.repeat([0, 1], 32)).astype(np.int32),
        },
        {"K": 64, "N": 6, "bits": 4, "block_size": 32},
        constants=("b", "scales", "groups"),
        tolerance=2e-4,
    ),
    **{
        f"MatMulBnb4 {kind}": Case(
            "MatMulBnb4",
            {"a": floats(3, 64), "b": bytes_(64 * 6 // 2), "absmax": np.abs(floats(12))},
            {"K": 64, "N": 6, "block_size": 32, "quant_type": kind},
            tolerance=1e-4,
        )
        for kind in (0, 1)
    },
    "GatherBlockQuantized": Case(
        "GatherBlockQuantized",
        {
            "data": bytes_(9, 32),
            "ids": bytes_(2, 3, high=9, dtype=np.int64),
            "scales": floats(9, 4),
            "zeros": bytes_(9, 2),
        },
        {"bits": 4, "block_size": 16, "quantize_axis": 1},
        constants=("data", "scales", "zeros"),
    ),
    "GatherBlockQuantized without zeros": Case(
        "GatherBlockQuantized",
        {
            "data": bytes_(9, 32),
            "ids": bytes_(2, 3, high=9, dtype=np.int64),
            "scales": floats(9, 4),
        },
        {"bits": 4, "block_size": 16, "quantize_axis": 1},
        constants=("data", "scales"),
    ),
    **{
        f"GatherBlockQuantized of {np.dtype(dtype)}": Case(
            "GatherBlockQuantized",
            {
                "data": bytes_(9, 40, high=8, dtype=dtype),
                "ids": bytes_(2, 3, high=9, dtype=np.int64),
                "scales": floats(9, 3),
                "zeros": bytes_(9, 3, high=8, dtype=dtype) if zeros else None,
            },
            {"block_size": 16, "quantize_axis": 1},
            constants=("data", "scales", "zeros"),
        )
        for dtype, zeros in ((ml_dtypes.int4, True), (ml_dtypes.uint4, False))
    },
    "DynamicQuantizeMatMul": Case(
        "DynamicQuantizeMatMul",
        {
            "a": floats(3, 8),
            "b": signed(8, 5),
            "scale": np.abs(floats(5)),
            "zero": integers([1, -2, 3, 0, 5], np.int8),
            "bias": floats(5),
        },
        tolerance=1e-3,
    ),
    "DynamicQuantizeMatMul of one scale": Case(
        "DynamicQuantizeMatMul",
        {"a": floats(3, 8), "b": bytes_(8, 5), "scale": scalar(0.1), "z": scalar(128, np.uint8)},
        tolerance=1e-3,
    ),
    "MatMulIntegerToFloat": Case(
        "MatMulIntegerToFloat",
        {
            "a": bytes_(3, 8),
            "b": bytes_(8, 5),
            "a_scale": scalar(0.1),
            "b_scale": scalar(0.2),
            "a_zero": scalar(120, np.uint8),
            "b_zero": scalar(130, np.uint8),
            "bias": floats(5),
        },
        tolerance=1e-3,
    ),
    "QGemm": Case(
        "QGemm",
        {
            **quantized(3, 8, name="a"),
            **quantized(5, 8, name="b"),
            "c": integers([10, -20, 30, 4, 5]),
            **TARGET,
        },
        {"transB": 1, "alpha": 0.5},
        tolerance=1,
    ),
    "QGemm to floats": Case(
        "QGemm",
        {**quantized(3, 8, name="a"), **quantized(8, 5, name="b")},
        tolerance=1e-3,
    ),
    "DynamicQuantizeLSTM": Case("DynamicQuantizeLSTM", LSTM, {"hidden_size": 4}, "yyy", 1e-2),
    "DynamicQuantizeLSTM of both directions": Case(
        "DynamicQuantizeLSTM",
        {
            **LSTM,
            "w": signed(2, 5, 16),
            "r": signed(2, 4, 16),
            "b": None,
            "h": None,
            "w_scale": np.abs(floats(2, 16)) / 300,
            "r_scale": np.abs(floats(2, 16)) / 300,
            "w_zero": np.zeros((2, 16), np.int8),
            "r_zero": np.zeros((2, 16), np.int8),
        },
        {"hidden_size": 4, "direction": "bidirectional"},
        "yyy",
        1e-2,
    ),
    # -- attention
    "Attention": Case("Attention", attention(), {"num_heads": 3}),
    "Attention of causes": Case("Attention", attention(), {"num_heads": 3, "unidirectional": 1}),
    "Attention with a mask": Case(
        "Attention", {**attention(), "mask": PROMPT_MASK}, {"num_heads": 3, "scale": 0.3}
    ),
    "Attention with lengths": Case(
        "Attention", {**attention(), "mask": integers([3, 5])}, {"num_heads": 3}
    ),
    "Attention with ends and starts": Case(
        "Attention", {**attention(), "mask": integers([3, 5, 1, 0])}, {"num_heads": 3}
    ),
    "Attention with a mask for each query": Case(
        "Attention",
        {**attention(), "mask": bytes_(2, 5, 5, high=2, dtype=np.int32)},
        {"num_heads": 3, "mask_filter_value": -50.0},
    ),
    "Attention after a past": Case(
        "Attention",
        {**attention(), "mask": None, "past": floats(2, 2, 3, 4, 4)},
        {"num_heads": 3, "unidirectional": 1},
        outputs="yy",
    ),
    "Attention with a bias of scores": Case(
        "Attention",
        {**attention(), "mask": None, "past": None, "more": floats(1, 3, 5, 5)},
        {"num_heads": 3},
    ),
    "Attention of other sizes": Case(
        "Attention",
        {**attention(), "w": floats(12, 30), "b": floats(30)},
        {"num_heads": 3, "qkv_hidden_sizes": [12, 12, 6]},
    ),
    "QAttention": Case(
        "QAttention",
        {
            "x": bytes_(2, 5, 12),
            "w": bytes_(12, 36),
            "b": floats(36),
            "x_scale": scalar(0.02),
            "w_scale": scalar(0.02),
            "mask": PROMPT_MASK,
            "x_zero": scalar(120, np.uint8),
            "w_zero": scalar(128, np.uint8),
        },
        {"num_heads": 3},
        tolerance=1e-4,
    ),
    "MultiHeadAttention": Case("MultiHeadAttention", separate(), {"num_heads": 3}),
    "MultiHeadAttention with all": Case(
        "MultiHeadAttention",
        {
            **separate(columns=5),
            "b": floats(36),
            "mask": bytes_(2, 8, high=2, dtype=np.int32),
            "more": floats(2, 3, 5, 8),
            "past_k": floats(2, 3, 3, 4),
            "past_v": floats(2, 3, 3, 4),
        },
        {"num_heads": 3, "unidirectional": 1},
        outputs="yyy",
    ),
    **{
        f"MultiHeadAttention of {rows} queries to {columns} keys before them": Case(
            "MultiHeadAttention",
            separate(rows=rows, columns=columns),
            {"num_heads": 3, "unidirectional": 1},
        )
        for rows, columns in ((5, 3), (3, 5), (1, 4))
    },
    "MultiHeadAttention of heads": Case(
        "MultiHeadAttention",
        {"q": floats(2, 5, 12), "k": floats(2, 3, 7, 4), "v": floats(2, 3, 7, 4)},
        {"num_heads": 3},
    ),
    "GroupQueryAttention of a prompt": Case(
        "GroupQueryAttention", grouped(5, 0, [5, 5]), GROUPS, outputs="yyy"
    ),
    "GroupQueryAttention of a step": Case(
        "GroupQueryAttention", grouped(1, 6, [7, 7]), {**GROUPS, "softcap": 2.0}, outputs="yyy"
    ),
    "GroupQueryAttention of several steps": Case(
        "GroupQueryAttention", grouped(3, 6, [9]), {**GROUPS, "scale": 0.2}, outputs="yyy"
    ),
    "GroupQueryAttention with angles": Case(
        "GroupQueryAttention",
        {**grouped(3, 6, [9]), **CACHES},
        {**GROUPS, "do_rotary": 1},
        outputs="yyy",
    ),
    "GroupQueryAttention with other angles": Case(
        "GroupQueryAttention",
        {**grouped(5, 0, [5, 5]), **CACHES},
        {**GROUPS, "do_rotary": 1, "rotary_interleaved": 1},
        outputs="yyy",
    ),
    "GroupQueryAttention of neighbours": Case(
        "GroupQueryAttention",
        grouped(3, 6, [9]),
        {**GROUPS, "local_window_size": 4},
        outputs="yyy",
    ),
    "GroupQueryAttention with a sink": Case(
        "GroupQueryAttention",
        {
            **grouped(3, 6, [9]),
            "cos": None,
            "sin": None,
            "at": None,
            "more": floats(1, 4, 3, 9),
            "sink": floats(4),
        },
        GROUPS,
        outputs="yyy",
    ),
    "GroupQueryAttention that is smooth": Case(
        "GroupQueryAttention", grouped(3, 6, [9]), {**GROUPS, "smooth_softmax": 1}, "yyy"
    ),
    "GroupQueryAttention to both sides": Case(
        "GroupQueryAttention", grouped(3, 6, [9]), {**GROUPS, "causal": 0}, "yyy"
    ),
    "GroupQueryAttention of one tensor": Case(
        "GroupQueryAttention",
        {**grouped(1, 6, [7, 7]), "q": floats(2, 1, 128), "k": None, "v": None},
        GROUPS,
        outputs="yyy",
    ),
    "GroupQueryAttention of different lengths": Case(
        "GroupQueryAttention", grouped(1, 8, [7, 5]), GROUPS, "yyy"
    ),
    **{
        f"RotaryEmbedding {name}": Case(
            "RotaryEmbedding", {"x": floats(2, 3, *size), "at": at, **CACHES}, attributes
        )
        for name, size, at, attributes in (
            ("of the first", (32,), integers([2], np.int64), {}),
            ("of each", (32,), integers([[2, 5, 7], [0, 1, 9]], np.int64), {"interleaved": 1}),
            ("of heads", (4, 16), integers([[2, 5, 7, 1], [0, 1, 9, 3]], np.int64), {}),
            (
                "of a part",
                (48,),
                integers([0], np.int64),
                {"rotary_embedding_dim": 16, "num_heads": 2},
            ),
        )
    },
    # -- quantized numbers
    **{
        f"QLinear{op}": Case(
            f"QLinear{op}",
            {**quantized(2, 3, 4, name="a"), **quantized(3, 1, name="b", zero=99), **TARGET},
            tolerance=1,
        )
        for op in ("Add", "Mul")
    },
    "QLinearSigmoid": Case(
        "QLinearSigmoid",
        {
            **quantized(3, 4, name="x"),
            "y_scale": scalar(1 / 256),
            "y_zero": scalar(0, np.uint8),
        },
        constants=("x_scale", "x_zero", "y_scale", "y_zero"),
        tolerance=1,
    ),
    "QLinearLeakyRelu": Case(
        "QLinearLeakyRelu",
        {**quantized(3, 4, name="x"), **TARGET},
        {"alpha": 0.2},
        constants=("x_scale", "x_zero", "y_scale", "y_zero"),
        tolerance=1,
    ),
    "QLinearSoftmax": Case(
        "QLinearSoftmax",
        {
            **quantized(3, 4, name="x"),
            "y_scale": scalar(1 / 256),
            "y_zero": scalar(0, np.uint8),
        },
        {"opset": 13, "axis": 1},
        constants=("x_scale", "x_zero", "y_scale", "y_zero"),
        tolerance=1,
    ),
    "QLinearAveragePool": Case(
        "QLinearAveragePool",
        {**quantized(1, 3, 6, 6, name="x"), **TARGET},
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        tolerance=1,
    ),
    "QLinearGlobalAveragePool": Case(
        "QLinearGlobalAveragePool", {**quantized(2, 3, 6, 6, name="x"), **TARGET}, tolerance=1
    ),
    "QLinearGlobalAveragePool of channels last": Case(
        "QLinearGlobalAveragePool",
        {**quantized(2, 6, 6, 3, name="x"), **TARGET},
        {"channels_last": 1},
        tolerance=1,
    ),
    "QLinearConcat": Case(
        "QLinearConcat",
        {
            **TARGET,
            **quantized(2, 3, name="a"),
            **quantized(2, 5, name="b", scale=0.03, zero=99),
        },
        {"axis": 1},
        constants=("y_scale", "y_zero", "a_scale", "a_zero", "b_scale", "b_zero"),
        tolerance=1,
    ),
    "QLinearWhere": Case(
        "QLinearWhere",
        {
            "c": bytes_(2, 3, high=2, dtype=np.bool_),
            **quantized(2, 3, name="a"),
            **quantized(2, 3, name="b", scale=0.03, zero=99),
            **TARGET,
        },
        constants=("y_scale", "y_zero", "a_scale", "a_zero", "b_scale", "b_zero"),
        tolerance=1,
    ),
    "QLinearConv of channels last": Case(
        "QLinearConv",
        {
            **quantized(1, 6, 6, 3, name="x"),
            **quantized(4, 3, 3, 3, name="w"),
            "y_scale": scalar(0.5),
            "y_zero": scalar(100, np.uint8),
            "b": integers([1, -20, 300, 4]),
        },
        {"channels_last": 1, "kernel_shape": [3, 3]},
        constants=("w", "w_scale", "w_zero", "b"),
        tolerance=1,
    ),
    "QuantizeLinear": Case(
        "QuantizeLinear",
        {"x": floats(3, 4) * 100, "scale": scalar(0.01), "zero": scalar(30000, np.uint16)},
    ),
    "DequantizeLinear": Case(
        "DequantizeLinear",
        {
            "x": bytes_(3, 4, high=65536, dtype=np.uint16),
            "scale": scalar(0.01),
            "zero": scalar(30000, np.uint16),
        },
    ),
    "NhwcMaxPool": Case(
        "NhwcMaxPool", {"x": bytes_(1, 6, 6, 3)}, {"kernel_shape": [2, 2], "strides": [2, 2]}
    ),
    # -- those that ONNX has, too
    "ExpandDims": Case("ExpandDims", {"x": floats(2, 3), "axis": integers(1)}),
    "GatherND": Case("GatherND", {"x": floats(4, 3), "at": integers([[0, 1], [3, 2]], np.int64)}),
    "Range": Case("Range", {"a": integers(1), "b": integers(9), "c": integers(2)}),
    "Trilu": Case("Trilu", {"x": floats(4, 4), "k": scalar(1, np.int64)}, {"upper": 0}),
    "GridSample": Case(
        "GridSample",
        {"x": floats(1, 2, 5, 5), "grid": floats(1, 3, 3, 2) / 2},
        {"mode": "bilinear"},
    ),
    # -- those of ONNX itself, where its versions or its tests leave something open
    **{
        f"RoiAlign of version {opset}": Case(
            "RoiAlign",
            {
                "x": floats(2, 3, 9, 10),
                "rois": array([[0, 0, 5, 5], [1, 1, 7, 6.5], [2, 2, 2.5, 2.5]]),
                "batch": integers([0, 1, 1], np.int64),
            },
            {"output_height": 3, "output_width": 2, "sampling_ratio": 2},
            domain="",
            opset=opset,
        )
        for opset in (10, 15, 16)
    },
    **{
        f"Pad by {pads}": Case(
            "Pad",
            {"x": floats(1, 3, 8, 8), "pads": integers(pads, np.int64)},
            domain="",
            constants=("pads",),
        )
        for pads in (
            [0, 0, -1, -1, 0, 0, -1, -1],
            [0, 0, 0, 1, 0, 0, 0, -1],
            [0, -1, 2, 0, 1, 0, -1, 0],
        )
    },
    **{
        f"Resize of version 10 by {scale}": Case(
            "Resize",
            {"x": floats(1, 1, 10, 7), "scales": array([1, 1, scale, 1 / scale])},
            {"mode": "nearest"},
            domain="",
            opset=10,
            constants=("scales",),
        )
        for scale in (0.3, 0.6, 0.7, 0.75, 2.0)
    },
    "Upsample": Case(
        "Upsample",
        {"x": floats(1, 1, 10, 7), "scales": array([1, 1, 1.2, 2.4])},
        domain="",
        opset=9,
        constants=("scales",),
    ),
    **{
        f"Resize by {scale}, {mode}": Case(
            "Resize",
            {"x": floats(1, 1, 10, 21), "roi": None, "scales": array([1, 1, scale, scale])},
            {"coordinate_transformation_mode": mode, "nearest_mode": "floor"},
            domain="",
            constants=("scales",),
        )
        for scale in (0.4, 0.7, 1.2)
        for mode in ("asymmetric", "half_pixel")
    },
    "Resize to a size": Case(
        "Resize",
        {"x": floats(1, 1, 10, 7), **EMPTY, "sizes": integers([1, 1, 6, 9], np.int64)},
        {"nearest_mode": "floor"},
        domain="",
        constants=("sizes",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_operators_compute_what_onnx_runtime_does(backend: str, name: str) -> None:
    compare(CASES[name])


def test_queries_keys_and_values_may_be_in_one_tensor() -> None:
    """ONNX Runtime has that on GPUs alone."""
    separate_case = Case("MultiHeadAttention", separate(columns=5), {"num_heads": 3})
    queries, keys, values = (
        value.reshape(2, 5, 3, 4) for value in separate_case.inputs.values() if value is not None
    )
    expected = computed_here(separate_case)
    np.testing.assert_array_equal(
        computed_here(separate_case._replace(inputs={"qkv": np.stack([queries, keys, values], 3)})),
        expected,
    )
    pair = {"q": separate_case.inputs["q"], "kv": np.stack([keys, values], 3)}
    np.testing.assert_array_equal(computed_here(separate_case._replace(inputs=pair)), expected)


def computed_here(case: Case) -> NDArray[Any]:
    feeds = {key: wt.tensor(value) for key, value in case.inputs.items() if value is not None}
    return np.asarray(wt.load_onnx(model_of(case)).predict(feeds))


@pytest.mark.parametrize(
    "case, reason",
    [
        (Case("Attention", attention(), {"num_heads": 3, "do_rotary": 1}), "do_rotary"),
        (Case("BiasGelu", {"x": floats(3)}, {"more": 1}), "'more'"),
        (Case("CDist", {"x": floats(3, 4), "y": floats(5, 4)}, {"metric": "city"}), "city"),
        (Case("MatMulBnb4", {"a": floats(3, 64)}, {"K": 64}), "'b'"),
        (Case("MatMulNBits", packed(6, 64, 32, 4, zeros=False), {"K": 64, "N": 6}), "block_size"),
        (
            Case(
                "MatMulNBits",
                packed(6, 64, 32, 4, zeros=False),
                {"K": 64, "N": 6, "bits": 3, "block_size": 32},
                constants=("b", "scales"),
            ),
            "bits must be",
        ),
        (
            Case(
                "SkipSimplifiedLayerNormalization",
                {"x": floats(2, 8), "skip": floats(2, 8), "g": floats(8)},
                outputs="yy",
            ),
            "output 1",
        ),
        (Case("FusedConv", {}, {"activation": "Relu"}), "Conv"),
        (Case("QLinearConcat", {"scale": scalar(1)}, {"axis": 0}), "QLinearConcat"),
        (Case("QLinearAdd", {}), "QLinearAdd"),
        (
            Case(
                "FusedConv",
                IMAGE,
                {**CONVOLUTION, "activation": "LeakyRelu", "activation_params": [1.0, 2.0]},
            ),
            "FusedConv",
        ),
        (Case("FusedConv", IMAGE, {**CONVOLUTION, "activation": "Clip"}), "FusedConv"),
        (Case("Beam", {"x": floats(3)}), "com.microsoft.Beam"),
    ],
)
def test_what_is_broken_is_refused(case: Case, reason: str) -> None:
    inputs = {key: wt.tensor(value) for key, value in case.inputs.items() if value is not None}
    with pytest.raises(wt.ModelFormatError, match=reason) as caught:
        wt.load_onnx(model_of(case)).predict(inputs)
    assert len(str(caught.value)) <= 500


@pytest.mark.parametrize(
    "case, reason",
    [
        (
            Case("GroupQueryAttention", grouped(1, 6, [7]), {**GROUPS, "k_quant_type": "X"}),
            "quantized",
        ),
        (Case("GroupQueryAttention", {"q": floats(1, 1, 128)}, GROUPS), "seqlens_k"),
        (
            Case("GroupQueryAttention", grouped(1, 6, [7]), {**GROUPS, "do_rotary": 1}),
            "cos_cache",
        ),
        (
            Case("MultiHeadAttention", {**separate(), "b": None, "m": integers([1] * 7)}, HEADS),
            "a mask of shape",
        ),
    ],
)
def test_predictions_name_the_node_that_cannot_compute(case: Case, reason: str) -> None:
    model = wt.load_onnx(model_of(case))
    with pytest.raises(ValueError, match=reason) as caught:
        model.predict({name: wt.tensor(value) for name, value in feeds_of(case).items()})
    assert "node 'output 0'" in "".join([str(caught.value), *caught.value.__notes__])
