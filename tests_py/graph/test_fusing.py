"""The second run of a model takes fewer kernels than its nodes, and computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.graph.graphs import (
    Dtype,
    JsonNode,
    arrays_of,
    constant,
    model_of,
    node,
    placeholder,
    topology,
)

rng = np.random.default_rng(0)
IMAGES = rng.normal(size=(2, 6, 6, 3)).astype("float32")
ROWS = rng.normal(size=(4, 3)).astype("float32")
FILTER = constant("filter", rng.normal(size=(3, 3, 3, 4)))
OPTIONS = {"strides": [1, 1, 1, 1], "padding": "SAME", "dilations": [1, 1, 1, 1]}
VECTOR = constant("vector", rng.normal(size=4))


def conv(x: str = "x", **options: Any) -> JsonNode:
    return node("y", "Conv2D", f"{x} filter", **{**OPTIONS, **options})


#: The input, and the nodes after it, of which the last is wanted and the second run makes one.
CHAINS: dict[str, tuple[Any, list[JsonNode]]] = {
    "bias and activation": (
        IMAGES,
        [conv(), VECTOR, node("z", "BiasAdd", "y vector"), node("out", "Relu", "z")],
    ),
    "activation alone": (IMAGES, [conv(), node("out", "Elu", "y")]),
    "slopes": (IMAGES, [conv(), VECTOR, node("out", "Prelu", "y vector")]),
    "leaky": (IMAGES, [conv(), node("out", "LeakyRelu", "y", alpha=0.3)]),
    "factors and bias": (
        IMAGES,
        [
            *(conv(), VECTOR, constant("bias", rng.normal(size=(1, 1, 1, 4)))),
            *(node("z", "Mul", "vector y"), node("out", "AddV2", "bias z")),
        ],
    ),
    "normalization": (
        IMAGES,
        [
            *(conv(), VECTOR, constant("variance", rng.uniform(0.5, 2.0, size=4))),
            node("out", "FusedBatchNormV3", "y vector vector vector variance", epsilon=0.01),
        ],
    ),
    "normalization of a bias": (
        IMAGES,
        [
            *(conv(), VECTOR, constant("variance", rng.uniform(0.5, 2.0, size=4))),
            node("z", "BiasAdd", "y vector"),
            node("out", "FusedBatchNormV3", "z vector vector vector variance"),
        ],
    ),
    "normalization alone": (
        IMAGES,
        [
            *(constant("scale", rng.normal(size=3)), constant("variance", [0.5, 1.0, 2.0])),
            node("y", "FusedBatchNormV3", "x scale scale scale variance", epsilon=0.01),
            *(constant("factor", -2.0), node("z", "Mul", "factor y")),
            node("out", "AddV2", "z scale"),
        ],
    ),
    "two biases and a factor": (
        IMAGES,
        [
            *(conv(), VECTOR, constant("factor", 0.5), constant("bias", rng.normal(size=4))),
            *(node("z", "BiasAdd", "y vector"), node("scaled", "Mul", "z factor")),
            node("out", "AddV2", "scaled bias"),
        ],
    ),
    "factors of a bias": (
        IMAGES,
        [conv(), VECTOR, node("z", "BiasAdd", "y vector"), node("out", "Mul", "z vector")],
    ),
    "padding": (
        IMAGES,
        [
            constant("pads", [[0, 0], [2, 1], [0, 3], [0, 0]]),
            *(node("padded", "Pad", "x pads"), conv("padded", padding="VALID")),
            *(VECTOR, node("out", "AddV2", "y vector")),
        ],
    ),
    "depthwise": (
        IMAGES,
        [
            constant("kernel", rng.normal(size=(3, 3, 3, 2))),
            node("y", "DepthwiseConv2dNative", "x kernel", **OPTIONS),
            constant("six", rng.normal(size=6)),
            *(node("biased", "BiasAdd", "y six"), node("scaled", "Mul", "biased six")),
            node("z", "Add", "scaled six"),
            node("out", "Relu6", "z"),
        ],
    ),
    "product": (
        ROWS,
        [
            constant("weights", rng.normal(size=(3, 4))),
            *(node("y", "MatMul", "x weights"), VECTOR, node("z", "Add", "y vector")),
            node("out", "Sigmoid", "z"),
        ],
    ),
    "an addend for each element": (
        ROWS,
        [
            constant("weights", rng.normal(size=(3, 4))),
            *(node("y", "MatMul", "x weights"), constant("addend", rng.normal(size=(4, 4)))),
            node("out", "Add", "y addend"),
        ],
    ),
    "bounds": (
        ROWS,
        [
            *(constant("low", -0.5), constant("high", 0.75)),
            *(node("y", "Maximum", "x low"), node("out", "Minimum", "y high")),
        ],
    ),
    "relu up to six": (
        6 * ROWS,
        [constant("six", 6.0), node("y", "Relu", "x"), node("out", "Minimum", "y six")],
    ),
    "shapes": (
        IMAGES,
        [
            *(node("shape", "Shape", "x"), constant("zero", [0]), constant("one", [1])),
            node("batch", "StridedSlice", "shape zero one one", shrink_axis_mask=1),
            *(constant("rest", -1), node("wanted", "Pack", "batch rest"), node("z", "Relu", "x")),
            node("out", "Reshape", "z wanted"),
        ],
    ),
}


#: The same for what the second run computes in several steps.
SEPARATE: dict[str, tuple[Any, list[JsonNode]]] = {
    "padding that is no zero": (
        IMAGES,
        [
            constant("pads", [[0, 0], [2, 1], [0, 3], [0, 0]]),
            *(node("padded", "Pad", "x pads", constant_value=1.5), conv("padded", padding="VALID")),
            node("out", "Identity", "y"),
        ],
    ),
    "padding with a constant that is no zero": (
        IMAGES,
        [
            *(constant("pads", [[0, 0], [2, 1], [0, 3], [0, 0]]), constant("value", 1.5)),
            *(node("padded", "PadV2", "x pads value"), conv("padded", padding="VALID")),
            node("out", "Identity", "y"),
        ],
    ),
    "padding of a batch": (
        IMAGES,
        [
            constant("pads", [[1, 0], [1, 1], [1, 1], [0, 0]]),
            *(node("padded", "Pad", "x pads"), conv("padded", padding="VALID")),
            node("out", "Identity", "y"),
        ],
    ),
    "factors after an activation": (
        IMAGES,
        [conv(), VECTOR, node("z", "Relu", "y"), node("out", "Mul", "z vector")],
    ),
    "an activation after an activation": (
        IMAGES,
        [conv(), node("z", "Sigmoid", "y"), node("out", "Elu", "z")],
    ),
    "factors for each row": (
        ROWS,
        [
            constant("weights", rng.normal(size=(3, 4))),
            *(node("y", "MatMul", "x weights"), constant("factors", rng.normal(size=(4, 1)))),
            node("out", "Mul", "y factors"),
        ],
    ),
    "factors of a product without constants": (
        ROWS,
        [
            *(node("y", "MatMul", "x x", transpose_a=True), constant("factor", -2.0)),
            node("out", "Mul", "y factor"),
        ],
    ),
    "normalization by statistics of the input": (
        IMAGES,
        [
            *(conv(), VECTOR, constant("axes", [0, 1, 2]), constant("ones", [1.0] * 4)),
            node("mean", "Mean", "y axes"),
            node("out", "FusedBatchNormV3", "y vector vector mean ones"),
        ],
    ),
    "a bias for channels that come first": (
        IMAGES,
        [
            *(conv(padding="VALID"), VECTOR),
            node("out", "BiasAdd", "y vector", data_format="NCHW"),
        ],
    ),
    "bounds that add an axis": (
        ROWS,
        [
            *(constant("low", [[[-0.5]]]), constant("high", 0.75)),
            *(node("y", "Maximum", "x low"), node("out", "Minimum", "y high")),
        ],
    ),
    "relu up to five": (
        6 * ROWS,
        [constant("five", 5.0), node("y", "Relu", "x"), node("out", "Minimum", "y five")],
    ),
    "a product of as many rows as there are numbers": (
        ROWS,
        [
            *(node("places", "Where", "x"), node("rows", "Cast", "places", DstT=Dtype("float32"))),
            *(constant("weights", rng.normal(size=(2, 4))), VECTOR),
            *(node("y", "MatMul", "rows weights"), node("out", "Add", "y vector")),
        ],
    ),
}


def kernels(profile: Any) -> list[str]:
    """The kernels that moved or computed elements."""
    return [record.name for record in profile.kernels if record.name != "reshape"]


def of_second_run(x: Any, nodes: list[JsonNode]) -> list[str]:
    """Return the kernels of a second run, after checking that it computes what the first does."""
    filters = [FILTER] if any("filter" in node["input"] for node in nodes) else []
    model = model_of(topology([placeholder("x"), *filters, *nodes]))
    (first,) = arrays_of(model.execute({"x": wt.tensor(x)}, "out"))
    profile = wt.profile(lambda: model.execute({"x": wt.tensor(x)}, "out"))
    np.testing.assert_allclose(profile.result.numpy(), first, rtol=1e-5, atol=1e-5)
    return kernels(profile)


@pytest.mark.parametrize("name", CHAINS)
def test_chain_becomes_one_kernel(name: str, backend: str):
    assert len(of_second_run(*CHAINS[name])) == 1


@pytest.mark.parametrize("name", SEPARATE)
def test_others_stay_several_kernels(name: str, backend: str):
    assert len(of_second_run(*SEPARATE[name])) > 1


def residual(*nodes: JsonNode) -> dict[str, Any]:
    return topology(
        [
            *(placeholder("x"), constant("filter", rng.normal(size=(3, 3, 3, 3))), conv()),
            *(node("sum", "AddV2", "x y"), *nodes),
        ]
    )


def test_residual_is_added_by_the_kernel(backend: str):
    model = model_of(residual(node("out", "Relu", "sum")))
    (first,) = arrays_of(model.execute(IMAGES, "out"))
    profile = wt.profile(lambda: model.execute(IMAGES, "out"))
    np.testing.assert_allclose(profile.result.numpy(), first, rtol=1e-5, atol=1e-5)
    assert len(kernels(profile)) == 1


def test_tensors_that_are_wanted_are_computed(backend: str):
    model = model_of(residual(node("out", "Relu", "sum")))
    expected = arrays_of(model.execute(IMAGES, ["out", "sum", "y"]))
    results = arrays_of(model.execute(IMAGES, ["out", "sum", "y"]))
    for result, array in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, array, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(results[0], np.maximum(results[1], 0))


def test_tensors_that_are_used_twice_are_computed_once(backend: str):
    model = model_of(residual(node("a", "Relu", "sum"), node("out", "AddV2", "a sum")))
    (first,) = arrays_of(model.execute(IMAGES, "out"))
    profile = wt.profile(lambda: model.execute(IMAGES, "out"))
    np.testing.assert_allclose(profile.result.numpy(), first, rtol=1e-5, atol=1e-5)
    assert len(kernels(profile)) == 3


def test_addends_of_other_shapes_are_broadcast(backend: str):
    graph = topology([placeholder("x"), FILTER, conv(), node("out", "AddV2", "y row")])
    graph["node"].append(placeholder("row"))
    model = model_of(graph)
    row = rng.normal(size=(1, 1, 6, 4)).astype("float32")
    (alone,) = arrays_of(model.execute({"x": IMAGES, "row": row}, "y"))
    for _ in range(2):
        (result,) = arrays_of(model.execute({"x": IMAGES, "row": row}, "out"))
        np.testing.assert_allclose(result, alone + row, rtol=1e-5, atol=1e-5)


def test_what_follows_from_shapes_follows_from_each_shape(backend: str):
    _, nodes = CHAINS["shapes"]
    model = model_of(topology([placeholder("x"), *nodes]))
    for batch in (2, 3, 2, 5):
        x = rng.normal(size=(batch, 2, 2)).astype("float32")
        (result,) = arrays_of(model.execute({"x": x}, "out"))
        np.testing.assert_allclose(result, np.maximum(x, 0).reshape(batch, -1))


def test_what_follows_from_elements_is_computed_each_time(backend: str):
    nodes = [node("places", "Where", "x"), node("out", "Shape", "places")]
    model = model_of(topology([placeholder("x", "bool"), *nodes]))
    for x in ([True, False, True], [False, False, False], [True, True, True]):
        (shape,) = arrays_of(model.execute({"x": wt.tensor(x)}, "out"))
        assert shape.tolist() == [sum(x), 1]
