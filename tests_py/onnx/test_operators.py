"""ONNX's own operators in cases that its node tests do not have, beside ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.onnx.single_nodes import Arrays, Case, compare, feeds_of, model_of

INT32_MAX, INT64_MAX = np.iinfo(np.int32).max, np.iinfo(np.int64).max


def array(values: Any, dtype: Any = np.float32) -> Any:
    return np.asarray(values, dtype)


def onnx_case(
    op: str, inputs: Arrays, attributes: dict[str, Any] | None = None, **more: Any
) -> Case:
    return Case(op, inputs, attributes or {}, domain="", **more)


def backward_slice(start: int, end: int) -> Case:
    bounds = {"starts": [start], "ends": [end], "axes": [0], "steps": [-2]}
    inputs = {"x": array([1, 2, 3, 4, 5])}
    inputs.update((name, array(values, np.int64)) for name, values in bounds.items())
    return onnx_case("Slice", inputs, constants=tuple(bounds))


def suppression(threshold: float) -> Case:
    """Boxes of which the first two overlap by a half, and the last only touches the first."""
    inputs = {
        "boxes": array([[[0, 0, 1, 2], [0, 0, 1, 1], [0, 2, 1, 3]]]),
        "scores": array([[[0.9, 0.8, 0.7]]]),
        "limit": array([9], np.int64),
        "threshold": array([threshold]),
    }
    return onnx_case("NonMaxSuppression", inputs)


def pooled_regions(mode: str) -> Case:
    """Regions without height, and with a negative width."""
    inputs = {
        "x": np.arange(48, dtype=np.float32).reshape(1, 3, 4, 4),
        "rois": array([[1, 2, 3, 2], [3, 1, 2, 3]]),
        "batch": array([0, 0], np.int64),
    }
    sizes = {"output_height": 2, "output_width": 2}
    return onnx_case("RoiAlign", inputs, {**sizes, "mode": mode})


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def network(op: str, gates: int, **attributes: Any) -> Case:
    """A recurrent network of 4 units on 2 sequences of 5 steps."""
    inputs = {"x": normal(5, 2, 3), "w": 3 * normal(1, gates * 4, 3), "r": normal(1, gates * 4, 4)}
    return onnx_case(op, inputs, {"hidden_size": 4, **attributes}, outputs="yy")


def sampled(padding_mode: str) -> Case:
    """Points of which some are outside of the image."""
    inputs = {"x": normal(1, 2, 5, 6), "grid": 1.5 * normal(1, 4, 4, 2, seed=1)}
    return onnx_case("GridSample", inputs, {"mode": "bicubic", "padding_mode": padding_mode})


CASES = {
    **{
        f"casting {dtype} to bool": onnx_case("Cast", {"x": array([0, 1, 2, -1], dtype)}, {"to": 9})
        for dtype in ("float32", "int32")
    },
    "boxes by their centers": onnx_case(
        "NonMaxSuppression",
        {
            "boxes": array([[[2, 2, 4, 2], [3.5, 2, 3, 2], [2, 3.5, 4, 3], [2, 9, 4, 2]]]),
            "scores": array([[[0.9, 0.8, 0.7, 0.6]]]),
            "limit": array([9], np.int64),
            "threshold": array([0.3]),
        },
        {"center_point_box": 1},
    ),
    "no box of a high score": onnx_case(
        "NonMaxSuppression",
        {
            "boxes": array([[[0, 0, 1, 1]]]),
            "scores": array([[[0.5]]]),
            "limit": array([9], np.int64),
            "threshold": array([0.5]),
            "score": array([0.9]),
        },
    ),
    **{f"cubic samples of {mode}": sampled(mode) for mode in ("zeros", "border", "reflection")},
    **{
        f"{op} with limits": network(op, gates, clip=0.4)
        for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4))
    },
    "RNN with an activation of two numbers": network(
        "RNN",
        1,
        activations=["HardSigmoid"],
        activation_alpha=[0.3],
        activation_beta=[0.4],
    ),
    "mel weights above a frequency": onnx_case(
        "MelWeightMatrix",
        {
            "bins": array(6, np.int64),
            "length": array(64, np.int64),
            "rate": array(8000, np.int64),
            "low": array(300),
            "high": array(3500),
        },
    ),
    "images resized to one pixel at the corners": onnx_case(
        "Resize",
        {
            "x": normal(1, 1, 4, 5),
            "roi": None,
            "scales": None,
            "sizes": array([1, 1, 1, 3], np.int64),
        },
        {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
    ),
    "rows from the end of a table": onnx_case(
        "ScatterND",
        {
            "x": normal(8, 2),
            "indices": array([[[-1], [0], [2]], [[-3], [4], [-5]]], np.int64),
            "updates": normal(2, 3, 2, seed=1),
        },
    ),
    "windows whose padding is odd and even": onnx_case(
        "LpPool",
        {"x": normal(1, 2, 5, 6)},
        {"kernel_shape": [3, 2], "auto_pad": "SAME_UPPER"},
        opset=18,
    ),
    "weights of words that occur again": onnx_case(
        "TfIdfVectorizer",
        {"x": array([[2, 3, 2, 5, 2], [3, 3, 7, 7, 2]], np.int32)},
        {
            "mode": "IDF",
            "min_gram_length": 1,
            "max_gram_length": 1,
            "max_skip_count": 0,
            "ngram_counts": [0],
            "ngram_indexes": [0, 1, 2],
            "pool_int64s": [2, 3, 5],
            "weights": [0.5, 0.25, 2.0],
        },
    ),
    "sequences reversed up to lengths that a node computes": onnx_case(
        "ReverseSequence",
        {"x": np.arange(24, dtype=np.float32).reshape(4, 3, 2), "n": array([4, 1, 2], np.int64)},
    ),
    **{
        f"the {op} of no {dtype}": onnx_case(op, {"x": np.zeros((2, 0), dtype)}, {"axes": [1]})
        for op in ("ReduceMax", "ReduceMin")
        for dtype in ("float32", "int32")
    },
    "remainders with the sign of the lowest number": onnx_case(
        "Mod",
        {"x": array([-(2**31), 2**31 - 1, -5], np.int32), "y": array([3, -(2**31), 3], np.int32)},
        {"fmod": 1},
    ),
    "slices backward from before the first element": backward_slice(-9, -9),
    "slices backward to the largest 32-bit integer": backward_slice(-1, INT32_MAX),
    "slices backward to the largest 64-bit integer": backward_slice(-1, INT64_MAX),
    "boxes that do not overlap at a threshold of 0": suppression(0.0),
    "boxes that overlap by the threshold": suppression(0.5),
    "means of regions without extent": pooled_regions("avg"),
    "maxima of regions without extent": pooled_regions("max"),
    **{
        f"transposed convolutions to {size} elements ({auto_pad})": onnx_case(
            "ConvTranspose",
            {"x": normal(1, 2, 3), "w": normal(2, 2, 2)},
            {"strides": [4], "output_shape": [size], "auto_pad": auto_pad},
        )
        for size in (8, 12, 13)
        for auto_pad in ("NOTSET", "SAME_UPPER", "SAME_LOWER")
    },
    **{
        f"{op} of nothing before version 13": onnx_case(op, {"x": normal(0, 3, 2)}, opset=11)
        for op in ("Softmax", "LogSoftmax")
    },
    **{
        f"{op} of integers": onnx_case(op, {"x": array([[7, -5, 9], [1, 2, 30]], np.int32)})
        for op in ("ReduceLogSum", "ReduceLogSumExp", "Shrink")
    },
    "Shrink with thresholds that overlap": onnx_case(
        "Shrink", {"x": array([-2, 0, 0.5, 2])}, {"bias": 0.25, "lambd": -1.0}
    ),
    "dynamic quantization of zeros": onnx_case(
        "DynamicQuantizeLinear", {"x": array([[0, 0]])}, outputs="yyy"
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_operators_compute_what_onnx_runtime_does(backend: str, name: str) -> None:
    compare(CASES[name])


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("shape", [(2, 5, 3), (2, 5, 3, 2), (1, 5, 2, 2, 2)])
def test_responses_are_normalized_by_the_channels_around(
    size: int, shape: tuple[int, ...], backend: str
) -> None:
    """ONNX Runtime has this for odd sizes and images only."""
    x = normal(*shape)
    case = onnx_case("LRN", {"x": x}, {"size": size, "alpha": 0.5, "beta": 0.6, "bias": 2.0})
    sums = np.zeros_like(x)
    for channel in range(5):
        first, last = channel - (size - 1) // 2, channel + size // 2
        sums[:, channel] = (x[:, max(first, 0) : last + 1] ** 2).sum(1)
    result: Any = wt.load_onnx(model_of(case)).predict(x)
    np.testing.assert_allclose(result.numpy(), x / (2 + 0.5 / size * sums) ** 0.6, rtol=1e-5)


def test_slopes_of_integers_give_integers_in_each_run() -> None:
    """ONNX Runtime has PRelu for floats only."""
    inputs: Arrays = {"x": array([[3, -2]], np.int32), "slope": array([5, 4], np.int32)}
    model = wt.load_onnx(model_of(onnx_case("PRelu", inputs, constants=("slope",))))
    for _ in range(2):  # the second run computes with fewer nodes
        result: Any = model.predict(wt.tensor([[3, -2]]))
        assert str(result.dtype) == "int32"
        assert result.tolist() == [[3, -8]]


@pytest.mark.parametrize("op, gates, products", [("RNN", 1, 1), ("GRU", 3, 2), ("LSTM", 4, 1)])
def test_networks_multiply_the_inputs_of_all_steps_at_once(
    op: str, gates: int, products: int
) -> None:
    inputs: Arrays = {
        "x": np.ones((5, 2, 3), np.float32),
        "w": np.ones((1, gates * 4, 3), np.float32),
        "r": np.ones((1, gates * 4, 4), np.float32),
    }
    case = onnx_case(op, inputs, {"hidden_size": 4}, outputs="yy")
    model = wt.load_onnx(model_of(case))
    seen = wt.profile(lambda: model.predict([*feeds_of(case).values()]))
    assert sum("matmul" in kernel.name for kernel in seen.kernels) == 1 + 5 * products


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("op, gates", [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_networks_of_no_steps_return_their_initial_states(
    op: str, gates: int, direction: str
) -> None:
    """ONNX Runtime crashes."""
    count = 1 + (direction == "bidirectional")
    state = np.arange(count * 8, dtype=np.float32).reshape(count, 2, 4)
    inputs: Arrays = {
        "x": np.zeros((0, 2, 3), np.float32),
        "w": np.ones((count, gates * 4, 3), np.float32),
        "r": np.ones((count, gates * 4, 4), np.float32),
        "b": None,
        "lengths": None,
        "state": state,
    }
    case = onnx_case(op, inputs, {"hidden_size": 4, "direction": direction}, outputs="yy")
    outputs, final = wt.load_onnx(model_of(case)).predict([*feeds_of(case).values()])
    assert outputs.shape == (0, count, 2, 4)
    np.testing.assert_array_equal(final.numpy(), state)
