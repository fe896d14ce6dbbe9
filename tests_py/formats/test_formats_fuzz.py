"""Mutated files of each format: only ``ModelFormatError`` comes out, with little memory, no hang.

The suite reads a sample; ``make fuzz`` reads thousands of mutations of each format.
"""

import json
import os
import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from tests_py.formats import bundles
from tests_py.formats.test_checkpoint import ARRAYS
from tests_py.formats.test_graph_def import GRAPH
from tests_py.formats.test_onnx import everything
from tests_py.formats.test_safetensors import written as safetensors_file
from tests_py.formats.test_saved_model import MODERN, files
from tests_py.formats.test_tflite import file as tflite_file
from tests_py.mutations import mutated, mutated_fields, mutated_json
from tests_py.text.test_sentencepiece import model_bytes
from tests_py.text.test_tokenizer import PAIRS
from webtensor import ModelFormatError
from webtensor.formats import checkpoint, sorted_tables
from webtensor.formats.budgets import EXPANSION, FLOOR, Budget, parse_json
from webtensor.formats.graph_def import graph_of_json, read_graph
from webtensor.formats.onnx import read_onnx
from webtensor.formats.protobuf_json import to_json
from webtensor.formats.safetensors import read_safetensors
from webtensor.formats.saved_model import read_saved_model
from webtensor.formats.tensorflow_messages import SCHEMA as TENSORFLOW
from webtensor.formats.tflite import read_tflite
from webtensor.text import SentencePieceTokenizer
from webtensor.text.vocabularies import read_vocabulary

COUNT = 3_000 if os.environ.get("WEBTENSOR_FUZZ") else 200
#: Small files take at most as much memory as the budget, large ones a few times theirs.
MEMORY = 3


class Format(NamedTuple):
    """A file of a format, how it is read, and how it is mutated."""

    make: Callable[[], bytes]
    read: Callable[[bytes], Any]
    mutate: Callable[[bytes, Random], bytes] = mutated


NAME = "variables.data-00000-of-00001"


def without_checksums() -> ExitStack:
    """Let every checksum be 0, for otherwise no mutation would come past them."""
    stack = ExitStack()
    for module in (bundles, checkpoint, sorted_tables):
        stack.enter_context(patch.object(module, "masked_crc32c", lambda *_: 0))
    return stack


@cache
def checkpoint_files() -> dict[str, bytes]:
    arrays = {key: ARRAYS[key] for key in ("a/kernel", "b", "texts", "many/1/value")}
    with without_checksums():
        return bundles.bundle(arrays, compress=bundles.compressed)


def read_all(index: bytes, data: bytes) -> None:
    with without_checksums():
        opened = checkpoint.read_checkpoint(index, lambda name: data, "file")
        for key in opened.entries:
            opened.elements(key)


def read_model(data: bytes) -> None:
    model = read_saved_model({**files(MODERN), "saved_model.pb": data}, "file")
    for node in model.graph.nodes:
        if node.op == "VarHandleOp" and node.name in model.variables:
            model.variable(node)
    for tensor in model.assets:
        model.asset(tensor)


def read_constants(data: bytes) -> None:
    budget = Budget("file", len(data))
    for subgraph in read_tflite(data, "file", budget).subgraphs:
        for tensor in subgraph.tensors:
            if tensor.data is not None and tensor.sparsity is None:
                tensor.elements("file", budget)


def read_pieces(data: bytes) -> None:
    tokenizer = SentencePieceTokenizer(read_vocabulary(data, 6, "file"))
    tokenizer.decode(tokenizer.encode("Ｈello, ﬁne\tworld 😹 ½"))


FORMATS = {
    "GraphDef": Format(
        lambda: TENSORFLOW.encode("GraphDef", GRAPH), lambda data: read_graph(data, "file")
    ),
    "modelTopology": Format(
        lambda: json.dumps(to_json(TENSORFLOW, "GraphDef", GRAPH)).encode(),
        lambda data: graph_of_json(parse_json(data, "file"), "file"),
        mutated_json,
    ),
    "checkpoint index": Format(
        lambda: checkpoint_files()["variables.index"],
        lambda data: read_all(data, checkpoint_files()[NAME]),
    ),
    "checkpoint data": Format(
        lambda: checkpoint_files()[NAME],
        lambda data: read_all(checkpoint_files()["variables.index"], data),
    ),
    "SavedModel": Format(lambda: files(MODERN)["saved_model.pb"], read_model),
    "TFLite": Format(tflite_file, read_constants),
    "safetensors": Format(safetensors_file, lambda data: read_safetensors(data, "file")),
    "SentencePiece": Format(lambda: model_bytes("default"), read_pieces),
    "SentencePiece without normalization": Format(lambda: model_bytes("identity"), read_pieces),
    "vocab.json": Format(lambda: json.dumps(PAIRS).encode(), read_pieces, mutated_json),
    "ONNX": Format(lambda: everything().SerializeToString(), lambda data: read_onnx(data, "file")),
}
MESSAGES = ("GraphDef", "SavedModel", "SentencePiece without normalization", "ONNX")
FORMATS |= {f"fields of {name}": FORMATS[name]._replace(mutate=mutated_fields) for name in MESSAGES}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", FORMATS)
def test_mutated_files(name: str):
    make, read, mutate = FORMATS[name]
    data = make()
    random = Random(name)
    read(data)
    messages = []
    variants = [mutate(data, random) for _ in range(COUNT)]
    tracemalloc.start()
    for changed in variants:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        try:
            read(changed)
        except ModelFormatError as error:
            messages.append(str(error))
        peak = tracemalloc.get_traced_memory()[1] - before
        assert peak < MEMORY * max(FLOOR, EXPANSION * len(changed))
    tracemalloc.stop()
    assert all(message.startswith("file") for message in messages)
    assert 0 < max(map(len, messages)) <= 500
