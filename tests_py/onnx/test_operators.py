"""ONNX's own operators in cases that its node tests do not have, beside ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests_py.onnx.single_nodes import Arrays, Case, compare

INT32_MAX, INT64_MAX = np.iinfo(np.int32).max, np.iinfo(np.int64).max


def array(values: Any, dtype: Any = np.float32) -> Any:
    return np.asarray(values, dtype)


def onnx_case(op: str, inputs: Arrays, attributes: dict[str, Any] | None = None, **more: Any) -> Case:
    return Case(op, inputs, attributes or {}, domain="", **more)


def backward_slice(end: int) -> Case:
    bounds = {"starts": [-1], "ends": [end], "axes": [0], "steps": [-2]}
    inputs = {"x": array([1, 2, 3, 4, 5])}
    inputs.update((name, array(values, np.int64)) for name, values in bounds.items())
    return onnx_case("Slice", inputs, constants=tuple(bounds))


CASES = {
    "slices backward to the largest 32-bit integer": backward_slice(INT32_MAX),
    "slices backward to the largest 64-bit integer": backward_slice(INT64_MAX),
    "dynamic quantization of zeros": onnx_case(
        "DynamicQuantizeLinear", {"x": array([[0, 0]])}, outputs="yyy"
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_operators_compute_what_onnx_runtime_does(backend: str, name: str) -> None:
    compare(CASES[name])
