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


CASES = {
    "sequences reversed up to lengths that a node computes": onnx_case(
        "ReverseSequence",
        {"x": np.arange(24, dtype=np.float32).reshape(4, 3, 2), "n": array([4, 1, 2], np.int64)},
    ),
    **{
        f"the {op} of no {dtype}": onnx_case(op, {"x": np.zeros((2, 0), dtype)}, {"axes": [1]})
        for op in ("ReduceMax", "ReduceMin")
        for dtype in ("float32", "int32")
    },
    "slices backward from before the first element": backward_slice(-9, -9),
    "slices backward to the largest 32-bit integer": backward_slice(-1, INT32_MAX),
    "slices backward to the largest 64-bit integer": backward_slice(-1, INT64_MAX),
    "boxes that do not overlap at a threshold of 0": suppression(0.0),
    "boxes that overlap by the threshold": suppression(0.5),
    "means of regions without extent": pooled_regions("avg"),
    "maxima of regions without extent": pooled_regions("max"),
    "dynamic quantization of zeros": onnx_case(
        "DynamicQuantizeLinear", {"x": array([[0, 0]])}, outputs="yyy"
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_operators_compute_what_onnx_runtime_does(backend: str, name: str) -> None:
    compare(CASES[name])


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
