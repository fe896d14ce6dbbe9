"""SavedModels as TensorFlow writes them, made without it (`make test-tensorflow` has its own)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests_py.formats.bundles import bundle
from webtensor import ModelFormatError
from webtensor.formats.checkpoint import Checkpoint
from webtensor.formats.graph_def import NodeDef, TensorInfo
from webtensor.formats.saved_model import SavedModel, TableSource, read_saved_model
from webtensor.formats.tensorflow_messages import SCHEMA

FLOAT, STRING, RESOURCE = 1, 7, 20


def node(name: str, op: str, *inputs: str, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "op": op, "input": inputs, "attr": attributes}


def strings(*values: str) -> dict[str, Any]:
    shape = {"dim": [{"size": len(values)}]}
    data = [value.encode() for value in values]
    return {"tensor": {"dtype": STRING, "tensor_shape": shape, "string_val": data}}


def function(name: str, arguments: Mapping[str, int], *nodes: Any) -> dict[str, Any]:
    inputs = [{"name": argument, "type": dtype} for argument, dtype in arguments.items()]
    return {"signature": {"name": name, "input_arg": inputs}, "node_def": nodes}


def call(name: str, called: str, *inputs: str) -> dict[str, Any]:
    return node(name, "StatefulPartitionedCall", *inputs, f={"func": {"name": called}})


#: The restore operation calls a function, which calls another one, as that of several devices does.
RESTORE = (
    function(
        "restore",
        {"file_prefix": STRING, "first": RESOURCE, "second": RESOURCE, "table": RESOURCE},
        node("names", "Const", value=strings("b/VALUE", "t-keys", "t-values", "graph")),
        node("restored", "RestoreV2", "file_prefix", "names:output:0", "slices:output:0"),
        node("copy", "Identity", "restored:tensors:0"),
        node("assign", "AssignVariableOp", "first", "copy:output:0"),
        node("import", "LookupTableImportV2", "table", "restored:tensors:1", "restored:tensors:2"),
        call("more", "restore_more", "file_prefix", "second"),
        node("done", "NoOp", "^assign", "^import", "^more"),
    ),
    function(
        "restore_more",
        {"file_prefix": STRING, "variable": RESOURCE},
        node("names", "Const", value=strings("a/VALUE")),
        node("restored", "RestoreV2", "file_prefix", "names:output:0", "slices:output:0"),
        node("assign", "AssignVariableOp", "variable", "restored:tensors:0"),
    ),
)
VALUES = {
    "a/VALUE": np.array([1, 2, 3], "float32"),
    "b/VALUE": np.array([[4]], "float32"),
    "t-keys": np.array(["x", "y"], object),
    "t-values": np.array([7, 8], "int64"),
}
INFO = {"name": "x:0", "dtype": FLOAT, "tensor_shape": {"dim": [{"size": -1}, {"size": 3}]}}
#: As of TensorFlow 2: two variables share a name, and functions restore them.
MODERN: dict[str, Any] = {
    "meta_info_def": {"tags": ["serve"], "tensorflow_version": "2.21.0"},
    "graph_def": {
        "node": [
            node("v", "VarHandleOp", shared_name={"s": b"v"}),
            node("v_1", "VarHandleOp", shared_name={"s": b"v"}),
            node("unused", "VarHandleOp", shared_name={"s": b"unused"}),
            node("table", "MutableHashTableV2"),
            node("path", "Placeholder"),
            node("x", "Placeholder"),
            node("init", "NoOp"),
            node("prefix", "Placeholder"),
            call("call", "restore", "prefix", "v", "v_1", "table"),
        ],
        "library": {"function": RESTORE},
    },
    "saver_def": {"restore_op_name": "call"},
    "signature_def": {
        "serving_default": {"inputs": {"x": INFO}, "outputs": {"y": {"name": "y:0"}}},
        "__saved_model_init_op": {"outputs": {"__saved_model_init_op": {"name": "init"}}},
    },
    "asset_file_def": [{"tensor_info": {"name": "path:0"}, "filename": "words.txt"}],
}
#: As of TensorFlow 1: the restore operation waits for assignments.
OLD: dict[str, Any] = {
    "meta_info_def": {"tags": ["serve", "gpu"]},
    "graph_def": {
        "node": [
            node("w", "VariableV2"),
            node("u", "VarHandleOp", shared_name={"s": b"t-values"}),
            node("w/initial", "Const"),
            node("w/Assign", "Assign", "w", "w/initial"),
            node("names", "Const", value=strings("graph", "a/VALUE")),
            node("save/RestoreV2", "RestoreV2", "prefix", "names", "slices"),
            node("save/Assign", "Assign", "w", "save/RestoreV2:1"),
            node("save/restore_shard", "NoOp", "^save/Assign"),
            node("save/restore_all", "NoOp", "^save/restore_shard"),
        ]
    },
    "saver_def": {"restore_op_name": "save/restore_all"},
    "collection_def": {
        "saved_model_main_op": {"node_list": {"value": ["init_tables"]}},
        "saved_model_assets": {
            "any_list": {
                "value": [
                    {
                        "type_url": "type.googleapis.com/tensorflow.AssetFileDef",
                        "value": SCHEMA.encode(
                            "AssetFileDef",
                            {"tensor_info": {"name": "path:0"}, "filename": "old.txt"},
                        ),
                    }
                ]
            }
        },
    },
}
ASSETS = {"assets/words.txt": b"a\nb\n", "assets/old.txt": b"c\n"}


def files(*graphs: Any) -> dict[str, bytes]:
    data = SCHEMA.encode("SavedModel", {"saved_model_schema_version": 1, "meta_graphs": graphs})
    return {"saved_model.pb": data, **bundle(VALUES, "variables/variables"), **ASSETS}


def opened(*graphs: Any, **options: Any) -> SavedModel:
    return read_saved_model(files(*graphs), "m", **options)


def variable_of(model: SavedModel, name: str) -> NodeDef:
    return next(node for node in model.graph.nodes if node.name == name)


def test_a_model_of_tensorflow_2():
    model = opened(MODERN)
    assert (model.tags, model.version) == (("serve",), "2.21.0")
    assert model.initializer == "init"
    assert list(model.signatures) == ["serving_default"]
    assert model.signatures["serving_default"].inputs == {
        "x": TensorInfo(("x:0",), "float32", (None, 3))
    }
    assert model.variables == {"v": "b/VALUE", "v_1": "a/VALUE"}
    assert model.tables == {"table": TableSource("t-keys", "t-values")}
    elements = model.variable(variable_of(model, "v_1"))
    assert (elements.shape, elements.dtype) == ((3,), "float32")
    assert bytes(elements.data) == VALUES["a/VALUE"].tobytes()
    assert model.checkpoint.elements("t-keys").data == (b"x", b"y")
    assert model.assets == {"path:0": "assets/words.txt"}
    assert model.asset("path:0") == b"a\nb\n"


def test_a_model_of_tensorflow_1():
    model = opened(OLD)
    assert model.initializer == "init_tables"
    assert model.variables == {"w": "a/VALUE"}
    assert model.asset("path:0") == b"c\n"
    # A variable that is not restored has the key that its name is.
    assert bytes(model.variable(variable_of(model, "u")).data) == VALUES["t-values"].tobytes()


def test_graphs_are_chosen_by_their_tags():
    train = {"meta_info_def": {"tags": ["train"]}}
    assert opened(MODERN, OLD).tags == ("serve",)
    assert opened(OLD).tags == ("serve", "gpu")
    assert opened(MODERN, OLD, train, tags=["gpu", "serve"]).tags == ("serve", "gpu")
    message = r"no graph has the tags \['serve'\]; there are \['serve', 'gpu'\], \['train'\]"
    with pytest.raises(ModelFormatError, match=message):
        opened(OLD, train)
    with pytest.raises(ModelFormatError, match="there are none"):
        opened()


def test_models_in_folders_and_archives(tmp_path: Path):
    for name, data in files(MODERN).items():
        path = tmp_path / "model" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    nested = {f"folder/model/{name}": data for name, data in files(MODERN).items()}
    for source in (tmp_path / "model", str(tmp_path / "model"), tmp_path, nested):
        model = read_saved_model(source)
        assert len(model.variable(variable_of(model, "v")).data) == 4
        assert model.asset("path:0") == b"a\nb\n"


def test_models_are_read_through_names_and_read():
    contents = files(MODERN)

    class Files:
        names = tuple(contents)

        def read(self, name: str) -> bytes:
            return contents[name]

    model = read_saved_model(Files(), "m")
    assert len(model.variable(variable_of(model, "v")).data) == 4


def test_files_of_variables_are_read_when_needed():
    complete = files(MODERN)
    without = {name: data for name, data in complete.items() if "data-0" not in name}
    model = read_saved_model(without, "m")
    with pytest.raises(ModelFormatError, match=r"m has no file 'variables/variables\.data-0"):
        model.variable(variable_of(model, "v"))


def test_models_without_variables():
    model = read_saved_model({"saved_model.pb": files(MODERN)["saved_model.pb"]}, "m")
    assert isinstance(model.checkpoint, Checkpoint)
    assert model.checkpoint.entries == {}
    with pytest.raises(ModelFormatError, match="tensor 'b/VALUE' is missing"):
        model.variable(variable_of(model, "v"))


def test_variables_whose_copies_are_restored():
    """Keras 3 captures variables of its own, and TensorFlow saves copies of them."""
    graph = MODERN["graph_def"]
    nodes = [
        *graph["node"],
        node("kernel", "VarHandleOp", shared_name={"s": b"kernel"}),
        node("v/Initializer", "ReadVariableOp", "kernel"),
        node("v/Assign", "AssignVariableOp", "v", "v/Initializer"),
        node("v_1/Initializer", "Const"),
        node("v_1/Assign", "AssignVariableOp", "v_1", "v_1/Initializer"),
        node("unused/Initializer", "ReadVariableOp", "v"),
        node("unused/Assign", "AssignVariableOp", "unused", "unused/Initializer"),
    ]
    model = opened({**MODERN, "graph_def": {**graph, "node": nodes}})
    assert model.variables == {"v": "b/VALUE", "v_1": "a/VALUE", "kernel": "b/VALUE"}


def test_variables_without_a_value():
    model = opened(MODERN)
    with pytest.raises(ModelFormatError, match="m: there is no value of the variable 'unused'"):
        model.variable(variable_of(model, "unused"))


def test_missing_assets():
    model = read_saved_model({"saved_model.pb": files(MODERN)["saved_model.pb"]}, "m")
    with pytest.raises(ModelFormatError, match=r"m has no file 'assets/words\.txt'"):
        model.asset("path:0")
    with pytest.raises(ModelFormatError, match="m has no file 'other:0'"):
        model.asset("other:0")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"asset_file_def": [{"filename": "../secret"}]}, "names a file that lies elsewhere"),
        ({"asset_file_def": [{"filename": "/etc/passwd"}]}, "names a file that lies elsewhere"),
        ({"graph_def": {"node": [node("a", "A"), node("a", "A")]}}, "two have the name 'a'"),
        (
            {"signature_def": {"s": {"inputs": {"x": {"dtype": 99}}}}},
            "signature 's': there is no dtype of number 99",
        ),
    ],
)
def test_broken_models(changes: dict[str, Any], message: str):
    with pytest.raises(ModelFormatError, match=rf"^m: saved_model\.pb.*{message}"):
        opened({**MODERN, **changes})


def test_folders_without_a_model(tmp_path: Path):
    for source in ({}, {"saved_model.pbtxt": b""}, tmp_path):
        with pytest.raises(ModelFormatError, match=r"has no file 'saved_model\.pb'"):
            read_saved_model(source)


def test_functions_that_call_themselves():
    graph = {
        "node": [call("call", "f")],
        "library": {"function": [function("f", {}, call("one", "f"), call("two", "f"))]},
    }
    with pytest.raises(ModelFormatError, match="would become"):
        opened({**MODERN, "graph_def": graph})


def test_assignments_in_circles():
    graph = {
        "node": [
            node("a", "Identity", "b"),
            node("b", "Identity", "a"),
            node("call", "Assign", "a", "b", "^call"),
        ]
    }
    assert opened({**MODERN, "graph_def": graph}).variables == {}


@pytest.mark.parametrize(
    "restored",
    [
        ["prefix", "names", "slices"],
        ["prefix"],
        ["prefix", "prefix"],
        ["prefix", "missing"],
    ],
)
@pytest.mark.parametrize(
    "output", ["restored:9", "restored:x", "restored:-1", "restored:99999999999"]
)
def test_restore_operations_that_are_wrong(restored: list[str], output: str):
    graph = {
        "node": [
            node("v", "VariableV2"),
            node("prefix", "Placeholder"),
            node("names", "Const", value=strings("a/VALUE")),
            node("restored", "RestoreV2", *restored),
            node("call", "Assign", "v", output),
        ]
    }
    assert opened({**MODERN, "graph_def": graph}).variables == {}
