"""Which nodes become one, and which must not: graphs before and after compute the same."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import webtensor as wt
from webtensor import io
from webtensor.convert import convert_model
from webtensor.convert.constant_sizes import result_bound

RNG = np.random.default_rng(9)
Constants = dict[str, NDArray[Any]]


def floats(*shape: int) -> NDArray[np.float32]:
    return RNG.normal(size=shape).astype("float32")


def node(name: str, op: str, *inputs: str, **attributes: Any) -> dict[str, Any]:
    attributes = {"T": {"type": "DT_FLOAT"}, **attributes}
    return {"name": name, "op": op, "input": list(inputs), "attr": attributes}


def integers(*values: int) -> dict[str, Any]:
    return {"list": {"i": list(map(str, values))}}


SAME = {"s": "U0FNRQ=="}
CONVOLUTION = {"strides": integers(1, 1, 1, 1), "padding": SAME}
CONSTANTS: Constants = {
    "filter": floats(3, 3, 3, 4),
    "depthwise": floats(3, 3, 3, 2),
    "matrix": floats(3, 4),
    "turned": floats(4, 3),
    "channels": floats(4),
    "more": floats(1, 1, 1, 4),
    "six": floats(6),
    "positive": np.abs(floats(4)),
    "one": np.array(1.5, "float32"),
    "rows": floats(5, 1),
    "image": floats(5, 5, 4),
    "slopes": floats(1, 1, 3),
    "order": np.array([0, 3, 1, 2], "int32"),
}
IMAGE = floats(2, 5, 5, 3)
PRELU = [
    node("negated", "Neg", "slopes"),
    node("minus", "Neg", "x"),
    node("right", "Relu", "x"),
    node("left", "Relu", "minus"),
    node("scaled", "Mul", "negated", "left"),
    node("y", "AddV2", "right", "scaled"),
]

OTHER_PRELU = [
    node("twice", "AddV2", "x", "x"),
    *(node("minus", "Neg", "twice") if item["name"] == "minus" else item for item in PRELU),
]

PRODUCT = node("p", "Conv2D", "x", "filter", **CONVOLUTION)


FIRST = {"s": "TkNIVw=="}


def normalization(name: str, x: str, is_training: bool, **attributes: Any) -> dict[str, Any]:
    inputs = (x, "positive", "channels", "channels", "positive")
    return node(name, "FusedBatchNormV3", *inputs, is_training={"b": is_training}, **attributes)


CASES = {
    "bias": ([PRODUCT, node("y", "BiasAdd", "p", "channels")], ["_FusedConv2D"]),
    "two biases": (
        [
            PRODUCT,
            node("b", "BiasAdd", "p", "channels"),
            node("y", "AddV2", "more", "b"),
        ],
        ["_FusedConv2D"],
    ),
    "factor, bias and activation": (
        [
            PRODUCT,
            node("m", "Mul", "channels", "p"),
            node("b", "AddV2", "m", "more"),
            node("y", "Relu6", "b"),
        ],
        ["_FusedConv2D"],
    ),
    "normalization after a bias": (
        [
            PRODUCT,
            node("b", "BiasAdd", "p", "channels"),
            normalization("n", "b", False),
            node("y", "Elu", "n"),
        ],
        ["_FusedConv2D"],
    ),
    **{
        f"normalization of older models, scaled: {is_scaled}": (
            [
                PRODUCT,
                node(
                    "n", "BatchNormWithGlobalNormalization",
                    "p", "channels", "positive", "channels", "channels",
                    variance_epsilon={"f": 0.01}, scale_after_normalization={"b": is_scaled},
                ),
                node("y", "Relu", "n"),
            ],
            ["_FusedConv2D"],
        )
        for is_scaled in (True, False)
    },
    "normalization of training": (
        [
            PRODUCT,
            normalization("y", "p", True),
        ],
        ["Conv2D", "FusedBatchNormV3"],
    ),
    "normalization whose mean is used": (
        [PRODUCT, normalization("n", "p", False), node("y", "AddV2", "n", "n:1")],
        ["AddV2", "Conv2D", "FusedBatchNormV3"],
    ),
    "normalization of channels first": (
        [
            node("moved", "Transpose", "x", "order"),
            node("p", "Conv2D", "moved", "filter", **CONVOLUTION, data_format=FIRST),
            normalization("y", "p", False, data_format=FIRST),
        ],
        ["Conv2D", "FusedBatchNormV3", "Transpose"],
    ),
    "normalization of an input": (
        [
            PRODUCT,
            node("r", "Relu", "p"),
            normalization("n", "r", False),
            node("y", "Neg", "n"),
        ],
        ["AddV2", "Mul", "Neg", "_FusedConv2D"],
    ),
    "depthwise": (
        [
            node("p", "DepthwiseConv2dNative", "x", "depthwise", **CONVOLUTION),
            node("m", "Mul", "p", "six"),
            node("y", "BiasAdd", "m", "six"),
        ],
        ["FusedDepthwiseConv2dNative"],
    ),
    "leaky depthwise": (
        [
            node("p", "DepthwiseConv2dNative", "x", "depthwise", **CONVOLUTION),
            node("y", "LeakyRelu", "p", alpha={"f": 0.3}),
        ],
        ["DepthwiseConv2dNative", "LeakyRelu"],
    ),
    "matrix": (
        [
            node("f", "MatMul", "flat", "matrix"),
            node("b", "AddV2", "channels", "f"),
            node("y", "LeakyRelu", "b", alpha={"f": 0.3}),
        ],
        ["_FusedMatMul"],
    ),
    "turned matrix": (
        [
            node("f", "MatMul", "flat", "turned", transpose_b={"b": True}),
            node("m", "Mul", "f", "channels"),
            node("y", "AddV2", "m", "channels"),
        ],
        ["AddV2", "MatMul", "Mul"],
    ),
    "higher rank": (
        [node("f", "MatMul", "flat", "matrix"), node("y", "AddV2", "f", "more")],
        ["AddV2", "MatMul"],
    ),
    "used twice": (
        [
            PRODUCT,
            node("a", "BiasAdd", "p", "channels"),
            node("y", "Mul", "a", "p"),
        ],
        ["BiasAdd", "Conv2D", "Mul"],
    ),
    "residual": (
        [
            PRODUCT,
            node("q", "Conv2D", "x", "filter", **CONVOLUTION),
            node("s", "AddV2", "p", "q"),
            node("y", "Relu", "s"),
        ],
        ["AddV2", "Conv2D", "Conv2D", "Relu"],
    ),
    "not per channel": (
        [PRODUCT, node("y", "AddV2", "p", "image")],
        ["AddV2", "Conv2D"],
    ),
    "PReLU": (PRELU, ["Prelu"]),
    "ReLU of two values": (OTHER_PRELU, ["AddV2", "AddV2", "Mul", "Neg", "Relu", "Relu"]),
    "constants": (
        [
            node("c", "Mul", "one", "channels"),
            node("d", "Exp", "c"),
            PRODUCT,
            node("y", "Mul", "p", "d"),
        ],
        ["Conv2D"],
    ),
}  # fmt: skip


def test_products_share_the_filter_that_becomes_of_theirs(tmp_path: Path) -> None:
    nodes = [
        PRODUCT,
        node("m", "Mul", "p", "channels"),
        node("twice", "AddV2", "x", "x"),
        node("q", "Conv2D", "twice", "filter", **CONVOLUTION),
        node("n", "Mul", "q", "channels"),
        node("y", "AddV2", "m", "n"),
    ]
    assert_fused(nodes, ["AddV2", "AddV2", "Conv2D", "Conv2D"], tmp_path)
    (spec,) = io.load_artifacts(str(tmp_path / "after")).weight_specs or []
    assert spec["name"] == "filter"


#: Operations on constants, whose results are large for their operands.
LARGE: dict[str, tuple[str, list[Any]]] = {
    "broadcasting": ("Mul", [np.ones((3, 1)), np.ones((4,))]),
    "filling": ("Fill", [[7, 9], 0.0]),
    "filling with a large number": ("Fill", [[3], -1e9]),
    "padding": ("Pad", [np.ones((2, 3)), [[1, 2], [0, 4]]]),
    "repeating": ("Tile", [np.ones((2, 3)), [4, 5]]),
    "counting": ("Range", [-5, 100, 1]),
    "counting in small steps": ("Range", [0.0, 1.0, 0.001]),
    "picking again and again": ("GatherNd", [np.ones((2, 100)), np.zeros((100, 1), int)]),
    "picking all again and again": ("GatherNd", [np.ones(100), np.zeros((100, 0), int)]),
    "products": ("MatMul", [np.ones((50, 1)), np.ones((1, 50))]),
    "stacking": ("Pack", [1.0, 2.0, 3.0]),
}


TYPES = {"float32": "DT_FLOAT", "int32": "DT_INT32"}


@pytest.mark.parametrize("name", LARGE)
def test_results_are_not_larger_than_was_expected(name: str) -> None:
    op, values = LARGE[name]
    operands = {f"operand{index}": wt.tensor(value) for index, value in enumerate(values)}
    nodes = [
        {"name": name, "op": "Placeholder", "attr": {"dtype": {"type": TYPES[str(value.dtype)]}}}
        for name, value in operands.items()
    ]
    topology = {"node": [*nodes, node("y", op, *operands)]}
    model_json = json.dumps({"modelTopology": topology, "weightsManifest": []})
    model = wt.load_graph_model({"model.json": model_json.encode()})
    result = model.execute(operands, "y")
    assert isinstance(result, wt.Tensor)
    assert result.size <= result_bound(op, list(operands.values()))


def test_filling_with_a_large_number_is_still_small() -> None:
    assert result_bound("Fill", [wt.tensor([3]), wt.tensor(-1e9)]) == 4


def test_ranges_of_floats_have_the_elements_that_their_steps_leave() -> None:
    assert result_bound("Range", [wt.tensor(value) for value in (0.0, 1.0, 0.25)]) == 5
    assert result_bound("Range", [wt.tensor(value) for value in (0.0, 1.0, 0.0)]) == math.inf


@pytest.mark.parametrize("name", CASES)
def test_fused(name: str, tmp_path: Path) -> None:
    assert_fused(*CASES[name], tmp_path)


def assert_fused(nodes: list[dict[str, Any]], expected: list[str], tmp_path: Path) -> None:
    """Convert nodes, and compare results, and the operations that are left."""
    used = {text for item in nodes for text in item["input"]}
    dtype = {"dtype": {"type": "DT_FLOAT"}}
    inputs = [{"name": text, "op": "Placeholder", "attr": dtype} for text in ("x", "flat")]
    constants = {text: array for text, array in CONSTANTS.items() if text in used}
    stored = [{"name": text, "op": "Const", "attr": dtype} for text in constants]
    encoded = io.encode_weights({text: wt.tensor(array) for text, array in constants.items()})
    topology = {
        "node": [*(item for item in inputs if item["name"] in used), *stored, *nodes],
        "versions": {"producer": 1},
    }
    artifacts = io.ModelArtifacts(
        topology, "graph-model", weight_specs=encoded.specs, weight_data=encoded.data
    )
    io.save_artifacts(artifacts, str(tmp_path / "before"))
    convert_model(tmp_path / "before", tmp_path / "after")
    feeds = {"x": IMAGE} if "x" in used else {"flat": IMAGE[0, 0]}
    results = []
    for folder in ("before", "after"):
        model = wt.load_graph_model(tmp_path / folder)
        value = model.execute({text: wt.tensor(array) for text, array in feeds.items()}, "y")
        assert isinstance(value, wt.Tensor)
        results.append(value.numpy())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=1e-4)
    again = io.load_artifacts(str(tmp_path / "after"))
    others = ("Const", "Identity", "Placeholder")
    operations = sorted(
        item["op"] for item in again.model_topology["node"] if item["op"] not in others
    )
    assert operations == expected
