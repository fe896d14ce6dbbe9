"""Hostile SavedModels are refused with an error that names them; nothing is written."""

from __future__ import annotations

import os
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

import webtensor as wt
from tests_py.convert.samples import SAMPLES
from tests_py.mutations import mutated, mutated_json
from webtensor import ModelFormatError
from webtensor.convert import convert_model
from webtensor.formats.tensorflow_messages import DTYPES, SCHEMA

MUTATIONS = 10_000 if os.environ.get("WEBTENSOR_FUZZ") else 60
GRAPH = "saved_model.pb"
NUMBERS = {name: number for number, name in DTYPES.items()}


@pytest.mark.timeout(3600)
def test_mutated_models_are_converted_or_refused(tmp_path: Path) -> None:
    random = Random(3)
    names = sorted(SAMPLES)
    outcomes = {True: 0, False: 0}
    for number in range(MUTATIONS):
        sample = SAMPLES[names[number % len(names)]]
        changed = dict(sample.files)
        # Other files are behind checksums, which have tests of their own.
        changed[GRAPH] = mutated(changed[GRAPH], random)
        saved = sample._replace(files=changed).write(tmp_path / "saved")
        started = time.process_time()
        error = error_of(saved, tmp_path / "web")
        assert len(error) <= 500 + len(str(saved)), error
        outcomes[not error] += 1
        assert time.process_time() - started < 20
    assert min(outcomes.values()) > MUTATIONS // 20, outcomes


@pytest.mark.timeout(3600)
def test_mutated_graph_models_are_converted_or_refused(tmp_path: Path) -> None:
    random = Random(4)
    folders = {}
    for name, sample in SAMPLES.items():
        folders[name] = tmp_path / name
        convert_model(sample.write(tmp_path / "saved"), folders[name])
    originals = {name: (folder / "model.json").read_bytes() for name, folder in folders.items()}
    outcomes = {True: 0, False: 0}
    for number in range(MUTATIONS):
        name = sorted(SAMPLES)[number % len(SAMPLES)]
        changed = mutated_json(originals[name], random)
        (folders[name] / "model.json").write_bytes(changed)
        error = error_of(folders[name], tmp_path / "web", input_format="tfjs_graph_model")
        assert len(error) <= 500 + len(str(folders[name])), error
        outcomes[not error] += 1
    assert min(outcomes.values()) > MUTATIONS // 20, outcomes


def error_of(saved: Path, web: Path, **options: Any) -> str:
    """The error that a conversion raises, or an empty text."""
    try:
        convert_model(saved, web, overwrite=True, **options)
    except (ModelFormatError, OSError) as error:
        return str(error)
    return ""


def node(name: str, op: str, *inputs: str, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "op": op, "input": list(inputs), "attr": attributes}


def call(name: str, function: str, *inputs: str) -> dict[str, Any]:
    return node(name, "PartitionedCall", *inputs, f={"func": {"name": function}})


def function(name: str, *nodes: dict[str, Any], result: str) -> dict[str, Any]:
    floats = NUMBERS["float32"]
    return {
        "signature": {
            "name": name,
            "input_arg": [{"name": "x", "type": floats}],
            "output_arg": [{"name": "y", "type": floats}],
        },
        "node_def": list(nodes),
        "ret": {"y": result},
    }


def converted(tmp_path: Path, nodes: list[dict[str, Any]], *functions: dict[str, Any]) -> None:
    """Convert a graph with an input x and an output y."""
    x = node("x", "Placeholder", dtype={"type": NUMBERS["float32"]})
    signature = {"inputs": {"x": {"name": "x:0"}}, "outputs": {"y": {"name": "y:0"}}}
    graph = {"node": [x, *nodes], "library": {"function": list(functions)}}
    message = {
        "meta_graphs": [{"graph_def": graph, "signature_def": {"serving_default": signature}}]
    }
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / GRAPH).write_bytes(SCHEMA.encode("SavedModel", message))
    convert_model(tmp_path / "saved", tmp_path / "web")


def test_functions_that_double_again_and_again(tmp_path: Path) -> None:
    functions = [
        function(
            f"f{level}",
            call("a", f"f{level + 1}", "x"),
            call("b", f"f{level + 1}", "a:output:0"),
            result="b:output:0",
        )
        for level in range(40)
    ]
    last = function("f40", node("r", "Relu", "x"), result="r:activations:0")
    with pytest.raises(ModelFormatError, match="would become"):
        converted(tmp_path, [call("y", "f0", "x")], *functions, last)


@pytest.mark.parametrize(
    "nodes, functions, message",
    [
        ([call("y", "f", "x")], [function("f", call("a", "f", "x"), result="a:output:0")], "call"),
        ([call("y", "g", "x")], [], "there is no function 'g'"),
        ([call("y", "f")], [function("f", result="x")], "takes 1 inputs, not 0"),
        ([node("y", "Relu", "y")], [], "node 'y' depends on itself"),
        ([node("y", "Relu", "z")], [], "there is no node 'z'"),
        ([node("y", "Relu", "v"), node("v", "VarHandleOp")], [], "there is no value of the variab"),
        ([node("y", "Relu", "c"), node("c", "Const")], [], "node 'c' has no value"),
        (
            [node("y", "Relu", "p"), node("p", "Placeholder")],
            [],
            "which is no input of the signatu",
        ),
        ([node("y", "While", "x")], [], "node 'y' has no function 'cond'"),
        ([node("y", "Relu", "a"), node("a", "AssignVariableOp", "x")], [], "assigns a variable"),
        (
            [call("y", "f", "x")],
            [
                function(
                    "f",
                    node("r", "ReadVariableOp", "x"),
                    node("a", "AssignAddVariableOp", "x", "x"),
                    result="r:value:0",
                )
            ],
            "node 'a' assigns a variable that the outputs need",
        ),
        ([node("y", "Quux", "x"), node("z", "Foo", "y")], [], "operations that are unknown: Quux"),
        ([node("y", "IdentityN:1", "x")], [], "unknown"),
    ],
)
def test_broken_graphs(
    nodes: list[dict[str, Any]],
    functions: list[dict[str, Any]],
    message: str,
    tmp_path: Path,
) -> None:
    with pytest.raises(ModelFormatError, match=message):
        converted(tmp_path, nodes, *functions)
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]


def constant(name: str, dtype: str, *values: int) -> dict[str, Any]:
    shape = {"dim": [{"size": len(values)}]}
    field = {"int32": "int_val", "int64": "int64_val", "float32": "float_val"}[dtype]
    tensor = {"dtype": NUMBERS[dtype], "tensor_shape": shape, field: list(values)}
    return node(name, "Const", dtype={"type": NUMBERS[dtype]}, value={"tensor": tensor})


@pytest.mark.parametrize(
    "nodes",
    [
        [
            node("big", "Fill", "sizes", "zero"),
            constant("sizes", "int32", 100_000, 100_000),
            constant("zero", "float32", 0),
        ],
        [node("big", "Tile", "zero", "sizes"), constant("sizes", "int32", 2**31 - 1),
         constant("zero", "float32", 0)],
        [node("big", "BroadcastTo", "zero", "sizes"), constant("sizes", "int32", 2**31 - 1),
         constant("zero", "float32", 0)],
    ],
)  # fmt: skip
def test_large_constants_are_left_to_be_computed(
    nodes: list[dict[str, Any]], tmp_path: Path
) -> None:
    converted(tmp_path, [node("y", "AddV2", "x", "big"), *nodes])
    files = [path.stat().st_size for path in (tmp_path / "web").iterdir()]
    assert sum(files) < 10_000


def test_limits_of_64_bits_become_those_of_32(tmp_path: Path) -> None:
    limits = constant("limits", "int64", 2**63 - 1, -(2**63), 5)
    cast = node("cast", "Cast", "limits", DstT={"type": NUMBERS["float32"]})
    converted(tmp_path, [node("y", "AddV2", "x", "cast"), limits, cast])
    model = wt.load_graph_model(tmp_path / "web")
    assert model.weights["cast"][0].tolist() == [2.0**31, -(2.0**31), 5]


def test_other_integers_of_64_bits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="4294967296 does not fit dtype int32"):
        converted(tmp_path, [node("y", "AddV2", "x", "big"), constant("big", "int64", 2**32)])


def random_function(*nodes: dict[str, Any], result: str) -> dict[str, Any]:
    """A function that draws numbers of its argument x, a variable, as Keras's layers do."""
    key = node("key", "StatelessRandomGetKeyCounter", "seed:value:0")
    shape = constant("shape", "int32", 2000)
    inputs = ("shape:output:0", "key:key:0", "key:counter:0", "algorithm:alg:0")
    drawn = node("drawn", "StatelessRandomUniformV2", *inputs)
    algorithm = node("algorithm", "StatelessRandomGetAlg")
    seed = node("seed", "ReadVariableOp", "x")
    return function("f", key, shape, drawn, algorithm, seed, *nodes, result=result)


def test_seeds_that_are_assigned_draw_numbers_anew(tmp_path: Path) -> None:
    update = node("update", "AssignVariableOp", "x", "seed:value:0")
    converted(tmp_path, [call("y", "f", "x")], random_function(update, result="drawn:output:0"))
    model: Any = wt.load_graph_model(tmp_path / "web")
    first, second = (model.predict(0.0).numpy() for _ in range(2))
    assert (first != second).any()
    for drawn in (first, second):
        assert 0 <= drawn.min() < 0.01 < 0.99 < drawn.max() <= 1


def test_seeds_that_stay_and_seeds_as_outputs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="unknown: StatelessRandomGetAlg, StatelessRandom"):
        converted(tmp_path, [call("y", "f", "x")], random_function(result="drawn:output:0"))
    (tmp_path / "other").mkdir()
    update = node("update", "AssignVariableOp", "x", "seed:value:0")
    total = node("total", "AddV2", "drawn:output:0", "seed:value:0")
    with pytest.raises(ModelFormatError, match="'update' assigns a variable that the outputs need"):
        converted(
            tmp_path / "other",
            [call("y", "f", "x")],
            random_function(update, total, result="total:z:0"),
        )


def test_bfloat16_is_written_as_float32(tmp_path: Path) -> None:
    """TensorFlow.js knows no other name of it."""
    kinds = {name: {"type": NUMBERS[name]} for name in ("bfloat16", "float32")}
    narrow = node("narrow", "Cast", "x", SrcT=kinds["float32"], DstT=kinds["bfloat16"])
    wide = node("y", "Cast", "narrow", SrcT=kinds["bfloat16"], DstT=kinds["float32"])
    converted(tmp_path, [narrow, wide])
    assert "BFLOAT16" not in (tmp_path / "web" / "model.json").read_text()
