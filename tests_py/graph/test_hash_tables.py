"""Hash tables of graph models."""

from typing import Any

import numpy as np
import pytest

from tests_py.cases.inputs import arr, texts
from tests_py.graph.graphs import (
    Dtype,
    JsonNode,
    arrays_of,
    constant,
    model_of,
    node,
    placeholder,
    tensor_of,
    topology,
)
from webtensor.errors import ModelFormatError


def ints(values: Any) -> Any:
    """An array of int32."""
    return np.array(values, np.int32)


KEYS = {
    "string": np.array([b"red", b"green", b"\xff"], object),  # bytes that are no text, too
    "int32": np.array([5, -1, 7], np.int32),
    "float32": np.array([0.5, 1.5, -2.0], np.float32),
}
ASKED = {
    "string": np.array([[b"\xff", b"\xfe"], [b"red", b""]], object),
    "int32": np.array([[7, 6], [5, 0]], np.int32),
    "float32": np.array([[-2.0, 1.0], [0.5, 9.0]], np.float32),
}
VALUES: dict[str, tuple[Any, Any, Any]] = {
    "string": (texts(["a", "b", "c"]), texts("?"), texts([["c", "?"], ["a", "?"]])),
    "int32": (ints([10, 20, 30]), ints(-1), ints([[30, -1], [10, -1]])),
    "float32": (arr([1, 2, 3]), arr(0.5), arr([[3, 0.5], [1, 0.5]])),
}


def table(
    keys: str, values: str, name: str = "table", version: str = "V2", **more: Any
) -> JsonNode:
    """A node that makes a table."""
    return node(
        name, f"HashTable{version}", key_dtype=Dtype(keys), value_dtype=Dtype(values), **more
    )


def lookups(keys: str, values: str, version: str, filling: str) -> list[JsonNode]:
    """A graph that fills a table, and looks values up."""
    contents, default, _ = VALUES[values]
    return [
        placeholder("asked", keys),
        table(keys, values, version=version),
        constant("keys", KEYS[keys]),
        constant("values", contents),
        constant("default", default),
        node("filled", f"{filling}{version}", "table keys values"),
        node("found", f"LookupTableFind{version}", "filled asked default"),
        node("size", f"LookupTableSize{version}", "filled"),
        node("table_again", f"HashTable{version}", shared_name="table",
             key_dtype=Dtype(keys), value_dtype=Dtype(values)),
        node("found_later", f"LookupTableFind{version}", "table_again asked default"),
    ]  # fmt: skip


@pytest.mark.parametrize("filling", ["LookupTableImport", "InitializeTable"])
@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("keys", KEYS)
def test_values_are_found(keys: str, values: str, version: str, filling: str, backend: str):
    model = model_of(topology(lookups(keys, values, version, filling)))
    asked = tensor_of(ASKED[keys])
    texts, size = arrays_of(model.execute({"asked": asked}, ["found", "size"]))
    assert texts.tolist() == VALUES[values][2].tolist()
    assert (size.dtype, size.tolist()) == (np.int32, 3)
    # The table stays with the model, for graphs that find it by its name.
    (later,) = arrays_of(model.execute({"asked": asked}, ["found_later"]))
    assert later.tolist() == texts.tolist()


def test_tables_of_two_models_are_different():
    nodes = lookups("string", "int32", "V2", "LookupTableImport")
    first, second = model_of(topology(nodes)), model_of(topology(nodes))
    asked = tensor_of(ASKED["string"])
    first.execute({"asked": asked}, "found")
    (later,) = arrays_of(second.execute({"asked": asked}, "found_later"))
    assert later.tolist() == [[-1, -1], [-1, -1]]


def test_importing_replaces_what_was_there():
    nodes = [
        table("int32", "int32", shared_name="shared"),
        placeholder("keys", "int32"),
        node("filled", "LookupTableImportV2", "table keys keys"),
        node("size", "LookupTableSizeV2", "filled"),
    ]
    model = model_of(topology(nodes))
    for keys in ([1, 2, 3], [4, 4], []):
        values = tensor_of(np.array(keys, np.int32))
        (size,) = arrays_of(model.execute({"keys": values}, "size"))
        assert size == len(set(keys))


def test_no_keys_find_nothing():
    nodes = lookups("string", "float32", "V2", "LookupTableImport")
    asked = tensor_of(np.empty((0, 2), object))
    (values,) = arrays_of(model_of(topology(nodes)).execute({"asked": asked}, ["found"]))
    assert (values.shape, values.dtype) == ((0, 2), np.float32)


@pytest.mark.parametrize(
    "keys, values, asked, default, message",
    [
        ([1], [1.0, 2.0], [1], 0.0, "got 1 keys, but 2 values"),
        ([1.0], [1.0], [1], 0.0, "keys of dtype int32, but got float32"),
        ([1], [1], [1], 0.0, "values of dtype float32, but got int32"),
        ([1], [1.0], [1.0], 0.0, "keys of dtype int32, but got float32"),
        ([1], [1.0], [1], 0, "default of dtype float32, but got int32"),
        ([1], [1.0], [1], [0.0, 1.0], r"default has shape \(2,\)"),
    ],
)
def test_what_does_not_fit_is_refused(
    keys: Any, values: Any, asked: Any, default: Any, message: str
):
    nodes = [
        table("int32", "float32"),
        constant("keys", keys),
        constant("values", values),
        constant("default", default),
        constant("asked", asked),
        node("filled", "InitializeTableV2", "table keys values"),
        node("found", "LookupTableFindV2", "filled asked default"),
    ]
    with pytest.raises(ValueError, match=message):
        model_of(topology(nodes)).execute({}, "found")


def test_a_table_needs_dtypes():
    nodes = [node("table", "HashTableV2"), node("size", "LookupTableSizeV2", "table")]
    with pytest.raises(ModelFormatError, match="node 'table' of operation HashTableV2"):
        model_of(topology(nodes)).execute({}, "size")
