"""Mutated files of each format: only ``ModelFormatError`` comes out, with little memory, no hang.

The suite reads a sample; ``make fuzz`` reads thousands of mutations of each format.
"""

import json
import os
import tracemalloc
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import pytest

from tests_py.formats.test_graph_def import GRAPH
from tests_py.formats.test_onnx import everything
from tests_py.mutations import mutated, mutated_json
from webtensor import ModelFormatError
from webtensor.formats.budgets import EXPANSION, FLOOR, parse_json
from webtensor.formats.graph_def import graph_of_json, read_graph
from webtensor.formats.onnx import read_onnx
from webtensor.formats.protobuf_json import to_json
from webtensor.formats.tensorflow_messages import SCHEMA as TENSORFLOW

COUNT = 3_000 if os.environ.get("WEBTENSOR_FUZZ") else 200
#: Small files take at most as much memory as the budget, large ones a few times theirs.
MEMORY = 3


class Format(NamedTuple):
    """A file of a format, how it is read, and how it is mutated."""

    make: Callable[[], bytes]
    read: Callable[[bytes], Any]
    mutate: Callable[[bytes, Random], bytes] = mutated


FORMATS = {
    "GraphDef": Format(
        lambda: TENSORFLOW.encode("GraphDef", GRAPH), lambda data: read_graph(data, "file")
    ),
    "modelTopology": Format(
        lambda: json.dumps(to_json(TENSORFLOW, "GraphDef", GRAPH)).encode(),
        lambda data: graph_of_json(parse_json(data, "file"), "file"),
        mutated_json,
    ),
    "ONNX": Format(lambda: everything().SerializeToString(), lambda data: read_onnx(data, "file")),
}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", FORMATS)
def test_mutated_files(name: str):
    make, read, mutate = FORMATS[name]
    data = make()
    random = Random(name)
    read(data)
    messages = []
    tracemalloc.start()
    for _ in range(COUNT):
        changed = mutate(data, random)
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
