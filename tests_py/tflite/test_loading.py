"""Loading models: from bytes, paths and addresses, and what is refused."""

import asyncio
import base64
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.io.web_server import serving
from tests_py.tflite.files import Operator, Tensor, file, opened, subgraph
from webtensor.formats.budgets import Budget
from webtensor.formats.tflite import read_tflite
from webtensor.graph.inputs import ModelTensor
from webtensor.tflite import TFLiteModel

TWICE = Operator("ADD", ["x", "x"], ["y"], ("AddOptions", {}))


def doubles(model: wt.TFLiteModel) -> bool:
    """Whether a model doubles numbers."""
    return model.execute(wt.tensor([[1.0, 2.0]]), ["y"])[0].tolist() == [[2.0, 4.0]]


def twice(**fields: Any) -> bytes:
    """A model that doubles numbers, whose batch has any size."""
    tensors = [Tensor("x", (None, 2)), Tensor("y", (None, 2))]
    return file(subgraph(tensors, [TWICE], ["x"], ["y"]), **fields)


def test_bytes():
    model = opened(twice())
    assert model.predict([[1.0, 2.0]]).tolist() == [[2.0, 4.0]]
    assert model.predict({"x": wt.ones((3, 2))}).shape == (3, 2)
    assert model.inputs == [ModelTensor("x", (None, 2), "float32")]
    assert model.output_nodes == ["y"]


def test_a_model_that_tensorflow_wrote():
    text = (Path(__file__).parents[1] / "formats/tflite.txt").read_text()
    model = opened(base64.b64decode(text))
    assert model.signatures == ["serving_default"]
    x = np.array([[1, -2]], "float32")
    result = model.predict(wt.tensor(x)).numpy()
    assert result.shape == (1, 3)
    assert (result >= 0).all()


def test_metadata():
    data = twice(metadata=[{"name": "author", "buffer": 1}], buffers=[{}, {"data": b"me"}])
    assert {name: bytes(value) for name, value in opened(data).metadata.items()} == {
        "author": b"me"
    }


def test_paths(tmp_path: Path):
    path = tmp_path / "twice.tflite"
    path.write_bytes(twice())
    for source in (path, str(path)):
        assert doubles(wt.load_tflite(source))
    model: Any = asyncio.run(wt.load_tflite_async(path))
    assert asyncio.run(model.predict_async([[1.0, 2.0]])).tolist() == [[2.0, 4.0]]


def test_files_that_are_missing(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        wt.load_tflite(tmp_path / "none.tflite")


def test_addresses():
    with serving({"/models/twice.tflite": twice()}) as server:
        address = f"{server.url}/models/twice.tflite?version=2"
        assert doubles(wt.load_tflite(address))
        assert doubles(asyncio.run(wt.load_tflite_async(address)))
        with pytest.raises(OSError, match="404"):
            wt.load_tflite(f"{server.url}/none.tflite")


# -- signatures --------------------------------------------------------------------------------


def signature(key: str, index: int) -> dict[str, Any]:
    return {
        "signature_key": key,
        "subgraph_index": index,
        "inputs": [{"name": "number", "tensor_index": 0}],
        "outputs": [{"name": "result", "tensor_index": 1}],
    }


def several() -> bytes:
    graphs = [
        subgraph([Tensor("x"), Tensor("y")], [Operator(op, ["x"], ["y"])], ["x"], ["y"])
        for op in ("NEG", "SQUARE")
    ]
    return file(*graphs, signature_defs=[signature("negated", 0), signature("squared", 1)])


def test_signatures():
    model = opened(several())
    assert model.signatures == ["negated", "squared"]
    assert model.execute({"number": 3.0}, "result").item() == -3
    assert model.predict(3.0).item() == -3
    squared = opened(several(), signature="squared")
    assert squared.execute({"number": 3.0}, ["result"])[0].item() == 9
    assert squared.input_nodes == ["number"]


def test_outputs_that_are_one_tensor():
    graph = subgraph([Tensor("x"), Tensor("y")], [Operator("NEG", ["x"], ["y"])], ["x"], ["y", "y"])
    names = signature("negated", 0)
    names["outputs"].append({"name": "again", "tensor_index": 1})
    model = opened(file(graph, signature_defs=[names]))
    results = model.execute({"number": 3.0}, ["result", "again"])
    assert [result.item() for result in results] == [-3, -3]
    assert len(model.outputs) == 2


def test_tensors_have_the_names_of_the_file():
    tensors = [
        Tensor("serving_default_x:0"),
        Tensor("a:b;c"),
        Tensor("StatefulPartitionedCall:0"),
    ]
    names = [tensor.name for tensor in tensors]
    operators = [Operator("NEG", names[:1], names[1:2]), Operator("ABS", names[1:2], names[2:])]
    model = opened(file(subgraph(tensors, operators, names[:1], names[1:])))
    for name in (names[0], "serving_default_x"):
        results = model.execute({name: 3.0}, [*names[1:], "StatefulPartitionedCall"])
        assert [value.item() for value in results] == [-3, 3, 3]


def test_inputs_of_the_same_name():
    tensors = [Tensor("first"), Tensor("other"), Tensor("y")]
    operators = [Operator("SUB", ["first", "other"], ["y"], ("SubOptions", {}))]
    data = file(subgraph(tensors, operators, ["first", "other"], ["y"]))
    model = opened(data.replace(b"other", b"first"))
    assert model.input_nodes == ["first", "first_1"]
    assert model.predict([3.0, 1.0]).item() == 2


def test_signatures_that_are_missing():
    message = "has no signature 'cubed', but 'negated', 'squared'"
    with pytest.raises(ValueError, match=message) as info:
        opened(several(), signature="cubed")
    assert not isinstance(info.value, wt.ModelFormatError)


# -- what is refused ---------------------------------------------------------------------------


def test_unknown_operators_are_named_at_once():
    operators = [
        Operator("SKIP_GRAM", ["x"], ["y"]),
        Operator("Mine", ["x"], ["y"]),
        Operator("ABS", ["x"], ["y"]),
    ]
    graph = subgraph([Tensor("x"), Tensor("y")], operators, ["x"], ["y"])
    other = subgraph([Tensor("x")], [Operator("STABLEHLO_ADD", ["x"], ["x"])], [], [])
    with pytest.raises(wt.ModelFormatError) as info:
        opened(file(graph, other))
    expected = "model.tflite has operators that are unknown: Mine, SKIP_GRAM, STABLEHLO_ADD; "
    assert str(info.value).startswith(expected)


SHAPES = [Tensor("x", (1, 4, 4, 3)), Tensor("y", (1, 4, 4, 3))]
ORDER = Tensor.constant("order", np.array([0, 1], "int32"))


@pytest.mark.parametrize(
    "tensors, operators, message",
    [
        (SHAPES, [Operator("ABS", ["y"], ["y"])], "operator 0, ABS needs the tensor 'y'"),
        (SHAPES, [], "the output needs the tensor 'y', which nothing computes before"),
        (SHAPES, [Operator("ABS", ["x"], ["y"])] * 2, "the tensor 'y' is computed, but"),
        (SHAPES, [Operator("ABS", ["x"], ["x"])], "the tensor 'x' is computed, but"),
        (
            [SHAPES[0], Tensor.constant("y", np.zeros((1, 4, 4, 3), "float32"))],
            [Operator("ABS", ["x"], ["y"])],
            "the tensor 'y' is computed, but has a value before",
        ),
        (SHAPES, [Operator("SOFTMAX", ["x"], ["y"])], "SOFTMAX: it has no option 'beta'"),
        (
            SHAPES,
            [Operator("CONV_2D", ["x"], ["y"], ("Conv2DOptions", {"stride_w": 1}))],
            "operator 0, CONV_2D: it has no input 1",
        ),
        (
            [*SHAPES, ORDER],
            [Operator("CONV_2D", ["x", "order"], ["y"], ("Conv2DOptions", {}))],
            "operator 0, CONV_2D: transpose: axis 1 is out of range",
        ),
        (
            SHAPES,
            [Operator("ADD", ["x", "x"], ["y"], (
                "AddOptions", {"fused_activation_function": "SIGN_BIT"}))],
            "the activation SIGN_BIT is not supported",
        ),
        (
            SHAPES,
            [Operator("SVDF", ["x"] * 5, ["y"], ("SVDFOptions", {"rank": 1}))],
            "its input 4 is no variable",
        ),
        (
            SHAPES,
            [Operator("TFLite_Detection_PostProcess", ["x"] * 3, ["y"], None, b"\5\4\1")],
            "its options are no map",
        ),
    ],
)  # fmt: skip
def test_broken_models(tensors: list[Tensor], operators: list[Operator], message: str):
    data = file(subgraph(tensors, operators, ["x"], ["y"]))
    with pytest.raises(wt.ModelFormatError, match=message) as info:
        opened(data)
    assert str(info.value).startswith("model.tflite")
    assert len(str(info.value)) <= 500


def test_constants_that_do_not_fit_their_shape():
    constant = Tensor("c", (3,), "float32", bytes(8))
    data = file(subgraph([constant], [], [], ["c"]))
    with pytest.raises(wt.ModelFormatError, match="'c' of dtype float32 and shape"):
        opened(data)


def test_empty_tensors_are_computed():
    tensors = [
        Tensor("x", (2,)),
        Tensor.constant("sizes", np.array([2, 0], "int32")),
        Tensor.constant("axis", np.array(0, "int32")),
        Tensor("all", (2,)),
        Tensor("none", (0,), data=b""),  # has a buffer, which a constant would have, too
    ]
    split = Operator(
        "SPLIT_V", ["x", "sizes", "axis"], ["all", "none"], ("SplitVOptions", {"num_splits": 2})
    )
    model = opened(file(subgraph(tensors, [split], ["x"], ["all", "none"])))
    both, nothing = model.execute(wt.tensor([1.0, 2.0]), ["all", "none"])
    assert both.tolist() == [1.0, 2.0]
    assert nothing.shape == (0,)


def test_models_are_disposed(no_leak: None):
    weights = Tensor.constant("w", np.ones((2, 2), "float32"))
    tensors = [Tensor("x", (1, 2)), weights, Tensor("y", (1, 2))]
    operator = Operator("FULLY_CONNECTED", ["x", "w"], ["y"], ("FullyConnectedOptions", {}))
    model = opened(file(subgraph(tensors, [operator], ["x"], ["y"])))
    for _ in range(2):
        assert model.predict([[1.0, 2.0]]).tolist() == [[3.0, 3.0]]
    model.dispose()


def test_operators_share_weights():
    """A network that was unrolled uses the same weights in each step; they are kept once."""
    weights = Tensor.constant("w", np.eye(2, dtype="float32"))
    names = [f"x{step}" for step in range(9)]
    tensors = [weights, *(Tensor(name, (1, 2)) for name in names)]
    operators = [
        Operator("FULLY_CONNECTED", [x, "w"], [y], ("FullyConnectedOptions", {}))
        for x, y in pairwise(names)
    ]
    model = opened(file(subgraph(tensors, operators, ["x0"], ["x8"])))
    assert model.predict([[1.0, 2.0]]).tolist() == [[1.0, 2.0]]
    assert [value.shape for (value,) in model.weights.values()] == [(2, 2)]


def test_what_becomes_of_weights_is_limited():
    weights = Tensor.constant("w", np.zeros((64, 1 << 10), "float32"))
    x, y = Tensor("x", (1, 1 << 10)), Tensor("y", (1, 64))
    operator = Operator("FULLY_CONNECTED", ["x", "w"], ["y"], ("FullyConnectedOptions", {}))
    data = file(subgraph([weights, x, y], [operator], ["x"], ["y"]))
    spent = Budget("m", len(data))
    spent.spend(spent.limit - 3 * (1 << 18))
    with pytest.raises(wt.ModelFormatError, match="would become"):
        TFLiteModel(read_tflite(data, "m"), "m", budget=spent)
