"""Models of one node, and what ONNX Runtime computes with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper

import webtensor as wt

__all__ = ["Arrays", "Case", "compare", "compare_models", "feeds_of", "model_of"]

Arrays = Mapping[str, "NDArray[Any] | None"]


class Case(NamedTuple):
    """A node.

    Attributes:
        op: its operator.
        inputs: its inputs in order; None is one that is missing.
        attributes: its attributes.
        outputs: which outputs it has: "y" for each that is compared, "-" for others.
        tolerance: how much results may differ; one below 1 is relative to the maximum magnitude.
        constants: the names of inputs that are initializers.
        domain: that of the operator.
        opset: the version of ONNX.
        domain_opset: that of the operator's domain.
    """

    op: str
    inputs: Arrays
    attributes: Mapping[str, Any] = {}
    outputs: str = "y"
    tolerance: float = 1e-5
    constants: tuple[str, ...] = ()
    domain: str = "com.microsoft"
    opset: int = 17
    domain_opset: int = 1


def model_of(case: Case) -> bytes:
    inputs, initializers = [], []
    for name, value in case.inputs.items():
        if value is None:
            continue
        if name in case.constants:
            initializers.append(numpy_helper.from_array(value, name))
        else:
            kind = helper.np_dtype_to_tensor_dtype(value.dtype)
            inputs.append(helper.make_tensor_value_info(name, kind, value.shape))
    outputs = [f"output {index}" if kind == "y" else "" for index, kind in enumerate(case.outputs)]
    node = helper.make_node(
        case.op,
        ["" if value is None else name for name, value in case.inputs.items()],
        outputs,
        domain=case.domain,
        **case.attributes,
    )
    infos = [helper.make_empty_tensor_value_info(name) for name in outputs if name]
    graph = helper.make_graph([node], "graph", inputs, infos, initializers)
    imports = [helper.make_opsetid("", case.opset)]
    if case.domain:
        imports.append(helper.make_opsetid(case.domain, case.domain_opset))
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    return bytes(model.SerializeToString())


def feeds_of(case: Case) -> dict[str, NDArray[Any]]:
    """Return the inputs of a model that are no constants."""
    return {
        name: value
        for name, value in case.inputs.items()
        if value is not None and name not in case.constants
    }


def compare(case: Case) -> None:
    """Compare all outputs of a node with ONNX Runtime's."""
    compare_models(model_of(case), feeds_of(case), case.tolerance)


def compare_models(model: bytes, feeds: dict[str, NDArray[Any]], tolerance: float) -> list[Any]:
    """Compare all outputs of a model with ONNX Runtime's, and return them."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    expected = session.run(None, feeds)
    loaded = wt.load_onnx(model)
    results: list[Any] = []
    for _ in range(2):  # the second run computes with fewer nodes
        tensors = {
            name: wt.tensor(value.tolist() if value.dtype == object else value)
            for name, value in feeds.items()
        }
        results = [*loaded.execute(tensors, loaded.output_names)]
        for result, expected_array in zip(results, expected, strict=True):
            _check(result, expected_array, tolerance)
    return results


def _check(result: Any, expected: NDArray[Any], tolerance: float) -> None:
    assert result.shape == expected.shape
    if expected.dtype.kind in "OU":
        assert result.tolist() == expected.tolist()
        return
    actual = result.numpy()
    assert _kind(actual) == _kind(expected)
    sizes = np.abs(expected.astype(np.float64))
    magnitude = sizes.max(initial=1.0, where=np.isfinite(sizes)) if tolerance < 1 else 1.0
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * magnitude)


def _kind(array: NDArray[Any]) -> str:
    """Return the kind of an array's dtype; integers without a sign are integers here."""
    return array.dtype.kind.replace("u", "i")
