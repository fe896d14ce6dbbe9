"""Subgraphs that operators run, variables, tables, custom operators and random numbers."""

from collections.abc import Sequence
from struct import pack
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.formats.flexbuffer_files import flexbuffer
from tests_py.tflite.cases import convolved_backwards, normal
from tests_py.tflite.files import Array, Operator, Tensor, file, opened, subgraph

FLOW_OPERATORS = {
    "ASSIGN_VARIABLE",
    "CALL",
    "CALL_ONCE",
    "Convolution2DTransposeBias",
    "HASHTABLE",
    "HASHTABLE_FIND",
    "HASHTABLE_IMPORT",
    "HASHTABLE_SIZE",
    "IF",
    "Landmarks2TransformMatrix",
    "READ_VARIABLE",
    "TFLite_Detection_PostProcess",
    "TransformLandmarks",
    "TransformTensorBilinear",
    "VAR_HANDLE",
    "WHILE",
}

HALF = Tensor.constant("half", np.array(0.5, "float32"))


def unary(op: str) -> dict[str, Any]:
    """A subgraph that computes an operator."""
    return subgraph([Tensor("a"), Tensor("b")], [Operator(op, ["a"], ["b"])], ["a"], ["b"])


def results(model: Any, *inputs: Any) -> list[Any]:
    outputs = model.execute([*map(wt.tensor, inputs)], model.output_nodes)
    return [value.tolist() for value in outputs]


@pytest.mark.parametrize("condition, expected", [(True, 0.25), (False, -0.5)])
def test_if(condition: bool, expected: float, backend: str):
    tensors = [Tensor("condition", (), "bool"), Tensor("x"), Tensor("y")]
    options = ("IfOptions", {"then_subgraph_index": 1, "else_subgraph_index": 2})
    branch = Operator("IF", ["condition", "x"], ["y"], options)
    main = subgraph(tensors, [branch], ["condition", "x"], ["y"])
    model = opened(file(main, unary("SQUARE"), unary("NEG")))
    assert results(model, condition, 0.5) == results(model, condition, 0.5) == [expected]


def test_while(backend: str):
    options = ("WhileOptions", {"cond_subgraph_index": 1, "body_subgraph_index": 2})
    main = subgraph(
        [Tensor("i", (), "int32"), Tensor("x"), Tensor("j", (), "int32"), Tensor("y")],
        [Operator("WHILE", ["i", "x"], ["j", "y"], options)],
        ["i", "x"],
        ["j", "y"],
    )
    three = Tensor.constant("three", np.array(3, "int32"))
    one = Tensor.constant("one", np.array(1, "int32"))
    condition = subgraph(
        [Tensor("i", (), "int32"), Tensor("x"), three, Tensor("goes_on", (), "bool")],
        [Operator("LESS", ["i", "three"], ["goes_on"])],
        ["i", "x"],
        ["goes_on"],
    )
    body = subgraph(
        [Tensor("i", (), "int32"), Tensor("x"), one, HALF, Tensor("j", (), "int32"), Tensor("y")],
        [
            Operator("ADD", ["i", "one"], ["j"], ("AddOptions", {})),
            Operator("MUL", ["x", "half"], ["y"], ("MulOptions", {})),
        ],
        ["i", "x"],
        ["j", "y"],
    )
    model = opened(file(main, condition, body))
    assert results(model, 0, 8.0) == [3, 1.0]
    assert results(model, 5, 8.0) == [5, 8.0]


def test_call(backend: str):
    call = Operator("CALL", ["x"], ["y"], ("CallOptions", {"subgraph": 1}))
    main = subgraph([Tensor("x"), Tensor("y")], [call], ["x"], ["y"])
    model = opened(file(main, unary("ABS")))
    assert results(model, -2.0) == [2.0]


def test_subgraphs_that_call_themselves():
    call = Operator("CALL", ["x"], ["y"], ("CallOptions", {"subgraph": 1}))
    graph = subgraph([Tensor("x"), Tensor("y")], [call], ["x"], ["y"])
    model = opened(file(graph, graph))
    with pytest.raises(wt.ModelFormatError, match="subgraph 1' calls itself"):
        model.predict(1.0)


# -- variables and tables ----------------------------------------------------------------------

HANDLE = Operator("VAR_HANDLE", [], ["v"], ("VarHandleOptions", {"shared_name": "total"}))


def counter() -> bytes:
    """A model that adds its input to a variable, and returns its value before and after."""
    once = Operator("CALL_ONCE", [], [], ("CallOnceOptions", {"init_subgraph_index": 1}))
    handle = Tensor("v", (), "resource")
    main = subgraph(
        [handle, *map(Tensor, ("x", "before", "sum", "after"))],
        [
            once,
            HANDLE,
            Operator("READ_VARIABLE", ["v"], ["before"]),
            Operator("ADD", ["before", "x"], ["sum"], ("AddOptions", {})),
            Operator("ASSIGN_VARIABLE", ["v", "sum"], []),
            Operator("READ_VARIABLE", ["v"], ["after"]),
        ],
        ["x"],
        ["before", "after"],
    )
    initializer = subgraph(
        [handle, HALF], [HANDLE, Operator("ASSIGN_VARIABLE", ["v", "half"], [])], [], []
    )
    return file(main, initializer)


def test_variables(backend: str):
    model = opened(counter())
    assert results(model, 1.0) == [0.5, 1.5]
    assert results(model, 2.0) == [1.5, 3.5]
    assert results(model, 3.0) == [3.5, 6.5]
    model.reset_states()
    assert results(model, 1.0) == [0.5, 1.5]


def test_variables_outlive_the_results_that_have_their_values(backend: str):
    model = opened(counter())
    for total in (0.5, 1.5, 2.5, 3.5):
        values: Any = model.predict(wt.tensor(1.0))
        assert [value.tolist() for value in values] == [total, total + 1.0]
        wt.dispose(values)


def test_variables_outlive_tidied_blocks():
    model = opened(counter())
    with wt.tidy():
        model.predict(1.0)
    assert results(model, 1.0) == [1.5, 2.5]


def test_results_that_are_variables_may_be_disposed():
    model = opened(counter())
    for before in (0.5, 1.5, 2.5):
        old, new = model.predict(wt.tensor(1.0))
        assert [old.item(), new.item()] == [before, before + 1]
        old.dispose()
        new.dispose()


def test_variables_leave_nothing(no_leak: None):
    model = opened(counter())
    model.predict(1.0)
    model.dispose()


def table() -> bytes:
    """A model that looks up the texts of two numbers, and returns the size of the table, too."""
    once = Operator("CALL_ONCE", [], [], ("CallOnceOptions", {"init_subgraph_index": 1}))
    options = {"table_id": 7, "key_dtype": "int64", "value_dtype": "string"}
    table_node = Operator("HASHTABLE", [], ["table"], ("HashtableOptions", options))
    handle = Tensor("table", (), "resource")
    default = Tensor.constant("default", np.array("?"))
    main = subgraph(
        [
            handle,
            default,
            Tensor("x", (2,), "int64"),
            Tensor("y", (2,), "string"),
            Tensor("size", (), "int64"),
        ],
        [
            once,
            table_node,
            Operator("HASHTABLE_FIND", ["table", "x", "default"], ["y"]),
            Operator("HASHTABLE_SIZE", ["table"], ["size"]),
        ],
        ["x"],
        ["y", "size"],
    )
    keys = Tensor.constant("keys", np.array([3, 5], "int64"))
    values = Tensor.constant("values", np.array(["a", "bc"]))
    filling = Operator("HASHTABLE_IMPORT", ["table", "keys", "values"], [])
    return file(main, subgraph([handle, keys, values], [table_node, filling], [], []))


def test_tables(backend: str):
    model = opened(table())
    assert results(model, [5, 4]) == results(model, [5, 4]) == [["bc", "?"], 2]


# -- custom operators --------------------------------------------------------------------------


def test_transposed_convolutions_of_mediapipe(backend: str):
    x, filter, bias = normal(1, 3, 4, 3), normal(2, 2, 2, 3), normal(2)
    operator = Operator(
        "Convolution2DTransposeBias",
        ["x", "filter", "bias"],
        ["y"],
        custom_options=pack("<3i", 1, 2, 2),
    )
    tensors = [
        Tensor("x", x.shape),
        Tensor.constant("filter", filter),
        Tensor.constant("bias", bias),
        Tensor("y", (1, 6, 8, 2)),
    ]
    model = opened(file(subgraph(tensors, [operator], ["x"], ["y"])))
    expected = convolved_backwards(x, filter, 2) + bias
    np.testing.assert_allclose(model.execute(wt.tensor(x), "y").numpy(), expected, atol=1e-5)


DETECTION = {
    "max_detections": 3,
    "max_classes_per_detection": 1,
    "num_classes": 2,
    "nms_score_threshold": 0.3,
    "nms_iou_threshold": 0.5,
    "y_scale": 10.0,
    "x_scale": 10.0,
    "h_scale": 5.0,
    "w_scale": 5.0,
}
#: Centers and sizes of anchors; the second is nearly the first one.
ANCHORS = np.array([[0.5, 0.5, 1, 1], [0.5, 0.5, 1, 0.9], [2.5, 2.5, 1, 1]], "float32")
#: Scores of the background and of two classes.
SCORES = np.array([[[0, 0.2, 0.8], [0, 0.9, 0.1], [0, 0.1, 0.4]]], "float32")
WIDE, NARROW, FAR = [0, 0, 1, 1], [0, 0.05, 1, 0.95], [2, 2, 3, 3]


DETECTED = ("boxes", "classes", "scores", "count")


def detector(anchors: Array, shape: Sequence[int], options: dict[str, Any]) -> bytes:
    """A model that chooses boxes; ``shape`` is that of the scores."""
    operator = Operator(
        "TFLite_Detection_PostProcess",
        ["encodings", "class_scores", "anchors"],
        DETECTED,
        custom_options=flexbuffer({**DETECTION, **options}),
    )
    tensors = [
        Tensor("encodings", (1, len(anchors), 4)),
        Tensor("class_scores", shape),
        Tensor.constant("anchors", anchors),
        *map(Tensor, DETECTED),
    ]
    return file(subgraph(tensors, [operator], ["encodings", "class_scores"], DETECTED))


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, ([NARROW, FAR, [0] * 4], [0, 1, 0], [0.9, 0.4, 0], [2])),
        (
            {"use_regular_nms": True, "detections_per_class": 2},
            ([NARROW, WIDE, FAR], [0, 1, 1], [0.9, 0.8, 0.4], [3]),
        ),
    ],
    ids=["fast", "regular"],
)
def test_detections(options: dict[str, Any], expected: tuple[Any, ...], backend: str):
    model = opened(detector(ANCHORS, SCORES.shape, options))
    values = model.execute([wt.zeros((1, 3, 4)), wt.tensor(SCORES)], DETECTED)
    for value, numbers in zip(values, expected, strict=True):
        array: Array = np.array(numbers, "float32")
        np.testing.assert_allclose(value.numpy().reshape(array.shape), array, atol=1e-6)


def test_boxes_are_decoded_from_their_anchors(backend: str):
    encodings = normal(1, 3, 4)
    model = opened(detector(ANCHORS, SCORES.shape, {"nms_iou_threshold": 1.0}))
    boxes, classes = model.execute([wt.tensor(encodings), wt.tensor(SCORES)], DETECTED[:2])
    centers, sizes = ANCHORS[:, :2], ANCHORS[:, 2:]
    middle = centers + encodings[0, :, :2] / 10 * sizes
    half = np.exp(encodings[0, :, 2:] / 5) * sizes / 2
    expected = np.concatenate([middle - half, middle + half], 1)
    np.testing.assert_allclose(boxes.numpy()[0], expected[[1, 0, 2]], atol=1e-6)
    assert classes.tolist() == [[0, 1, 1]]


def test_scores_of_another_number_of_boxes_are_refused():
    model = opened(detector(ANCHORS, (1, 2, 3), {}))
    with pytest.raises(ValueError, match=r"3 anchors, but the scores have shape \(2, 3\)"):
        model.predict([wt.zeros((1, 3, 4)), wt.zeros((1, 2, 3))])


SEEN_AGAIN: dict[str, Any] = {
    "left_rotation_idx": 4,
    "output_height": 5,
    "output_width": 6,
    "right_rotation_idx": 1,
    "scale_x": 2.5,
    "scale_y": 0.75,
    "subset_idxs": [0, 2, 3, 4],
    "target_rotation_radians": 0.25,
}


def seen_again(version: int = 2, **options: Any) -> bytes:
    """A model that looks at features around landmarks, and takes these to where it found them."""
    size = {name: SEEN_AGAIN[name] for name in ("output_height", "output_width")}
    options = {**SEEN_AGAIN, **options}
    operators = [
        Operator(
            "Landmarks2TransformMatrix", ["points"], ["m"], None, flexbuffer(options), version
        ),
        Operator("TransformTensorBilinear", ["x", "m"], ["y"], None, flexbuffer(size), version),
        Operator("TransformLandmarks", ["points", "m"], ["moved"], version=version),
    ]
    tensors = [
        Tensor("points", (1, 5, 3)),
        Tensor("x", (1, 8, 9, 2)),
        Tensor("m", (1, 4, 4)),
        Tensor("y", (1, 5, 6, 2)),
        Tensor("moved", (1, 5, 3)),
    ]
    return file(subgraph(tensors, operators, ["points", "x"], ["m", "y", "moved"]))


def turned(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def moved(x: float, y: float) -> Array:
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1]])


def test_landmarks_that_mediapipe_looks_at_again(backend: str):
    points = (
        np.array([[[2, 5, 9], [1, 1, 8], [5, 3, 7], [3, 1, 6], [6, 4, 5]]], "float32")
        + normal(1, 5, 3) / 9
    )
    features = normal(1, 8, 9, 2)
    model = opened(seen_again())
    m, y, landmarks = model.execute([wt.tensor(points), wt.tensor(features)], ["m", "y", "moved"])

    across, down = points[0, 1, :2] - points[0, 4, :2]
    angle = SEEN_AGAIN["target_rotation_radians"] - np.arctan2(down, across)
    corners = turned(angle)[:2, :2] @ points[0, SEEN_AGAIN["subset_idxs"], :2].T
    low, high = corners.min(1), corners.max(1)
    middle = turned(-angle)[:2, :2] @ ((low + high) / 2)
    width, height = high - low
    scale = np.diag([2.5 * width / 6, 0.75 * height / 5, 1])
    expected = moved(*middle) @ turned(-angle) @ scale @ moved(-3, -2.5)
    matrix = m.numpy()[0]
    np.testing.assert_allclose(matrix[:2][:, [0, 1, 3]], expected[:2], atol=1e-5)
    np.testing.assert_array_equal(matrix[2:], np.eye(4)[2:])

    for row in range(5):
        for column in range(6):
            x, up, _ = expected @ [column + 0.5, row + 0.5, 1] - 0.5
            value = np.zeros(2)
            if 0 <= x <= 8 and 0 <= up <= 7:
                left, top = int(x), int(up)
                near = np.pad(features[0], ((0, 1), (0, 1), (0, 0)))[top : top + 2, left : left + 2]
                weights = np.outer([1 - up + top, up - top], [1 - x + left, x - left])
                value = (weights[..., None] * near).sum((0, 1))
            np.testing.assert_allclose(y.numpy()[0, row, column], value, atol=1e-4)
    assert 5 < np.count_nonzero(y.numpy()[..., 0]) < 30, "some places are outside"

    flat = np.concatenate([points[0, :, :2], np.ones((5, 1))], 1) @ expected.T
    np.testing.assert_allclose(landmarks.numpy()[0, :, :2], flat[:, :2], atol=1e-4)
    np.testing.assert_array_equal(landmarks.numpy()[0, :, 2], points[0, :, 2])


@pytest.mark.parametrize(
    "data, expected",
    [
        (seen_again(version=1), "its version must be 2, but it is 1"),
        (seen_again(subset_idxs=[]), "there must be landmarks"),
        (seen_again(left_rotation_idx=-1), "there must be landmarks"),
        (seen_again(scale_x=0.0), "scale_x and scale_y must be positive"),
        (seen_again(output_width=0), "output_height and output_width must be positive"),
    ],
)
def test_landmarks_that_cannot_be_looked_at(data: bytes, expected: str):
    with pytest.raises(wt.ModelFormatError, match=expected):
        opened(data).predict([wt.zeros((1, 5, 3)), wt.zeros((1, 8, 9, 2))])


def test_landmarks_that_are_missing():
    model = opened(seen_again(subset_idxs=[0, 5]))
    with pytest.raises(ValueError, match=r"no landmark 5 in a tensor of \(1, 5, 3\)"):
        model.predict([wt.zeros((1, 5, 3)), wt.zeros((1, 8, 9, 2))])


def test_registered_operators():
    wt.register_graph_op("Mine", lambda node: node.inputs[0] * node.attributes["custom_options"][0])
    operator = Operator("Mine", ["x"], ["y"], custom_options=b"\x05")
    data = file(subgraph([Tensor("x"), Tensor("y")], [operator], ["x"], ["y"]))
    try:
        assert results(opened(data), 3.0) == [15.0]
    finally:
        wt.deregister_graph_op("Mine")
    with pytest.raises(wt.ModelFormatError, match="operators that are unknown: Mine"):
        opened(data)


# -- random numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize("op, low, high", [
    ("RANDOM_UNIFORM", 0, 1), ("RANDOM_STANDARD_NORMAL", -9, 9)
])  # fmt: skip
def test_random_numbers(op: str, low: float, high: float):
    shape = Tensor.constant("shape", np.array([50, 4], "int32"))
    operator = Operator(op, ["shape"], ["y"], ("RandomOptions", {"seed": 1, "seed2": 2}))
    data = file(subgraph([shape, Tensor("y", (50, 4))], [operator], [], ["y"]))
    values = opened(data).execute({}, "y").numpy()
    assert values.shape == (50, 4)
    assert low <= values.min() < values.mean() < values.max() <= high


def test_random_choices():
    count = Tensor.constant("count", np.array(20, "int32"))
    logits = Tensor.constant("logits", np.array([[-50, 0, -50]], "float32"))
    options = ("RandomOptions", {"seed": 1, "seed2": 2})
    operator = Operator("MULTINOMIAL", ["logits", "count"], ["y"], options)
    graph = subgraph([logits, count, Tensor("y", (1, 20), "int32")], [operator], [], ["y"])
    assert opened(file(graph)).execute({}, "y").tolist() == [[1] * 20]
