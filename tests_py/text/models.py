"""Graph models of sentences with known outputs, in the place of real weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests_py.graph.graphs import (
    Dtype,
    JsonNode,
    constant,
    node,
    placeholder,
    topology,
)
from webtensor.formats.graph_def import Signature, TensorInfo, graph_of_json
from webtensor.graph import GraphModel
from webtensor.text import SentencePieceTokenizer

__all__ = ["SIZE", "TABLE", "sentence_model", "tokenizer", "toxicity_model"]

PAIRS = [("<unk>", 0.0), ("▁a", -1.0), ("▁b", -1.0), ("c", -2.0), ("▁", -2.0), ("d", -3.0)]
SIZE = 4
#: The vector of each piece.
TABLE = np.random.default_rng(0).normal(size=(len(PAIRS), SIZE)).astype(np.float32)


def tokenizer() -> SentencePieceTokenizer:
    """A tokenizer of six pieces."""
    return SentencePieceTokenizer(PAIRS, reserved_symbols=1)


def _sums(indices: str, values: str, table: np.ndarray) -> list[JsonNode]:
    """Nodes that sum the vectors of each sentence's pieces, times their places counted from 1."""
    integers, floats = Dtype("int32"), Dtype("float32")
    return [
        constant("table", table),
        constant("first axis", np.int32(0)),
        constant("last axis", np.int32(1)),
        constant("one", np.int32(1)),
        constant("size", np.int32(table.shape[1])),
        node("vectors", "GatherV2", ["table", values, "first axis"]),
        node("columns", "Split", ["last axis", indices], num_split=2),
        node("counted", "AddV2", ["columns:1", "one"]),
        node("weights", "Cast", ["counted"], SrcT=integers, DstT=floats),
        node("summands", "Mul", ["vectors", "weights"]),
        node("last sentence", "Max", ["columns:0", "both axes"], keep_dims=False),
        constant("both axes", [0, 1]),
        node("sentences", "AddV2", ["last sentence", "one"]),
        node("shape", "Pack", ["sentences", "size"], N=2, axis=0),
        node("sums", "ScatterNd", ["columns:0", "summands", "shape"]),
    ]


def _model(
    indices: str,
    values: str,
    table: np.ndarray,
    nodes: Sequence[JsonNode],
    outputs: dict[str, int],
) -> GraphModel:
    inputs = {
        "indices": TensorInfo((f"{indices}:0",), "int64", (None, 2)),
        "values": TensorInfo((f"{values}:0",), "int64", (None,)),
    }
    described = {
        name: TensorInfo((f"{name}:0",), "float32", (None, size)) for name, size in outputs.items()
    }
    graph = topology(
        [
            placeholder(indices, "int64", [-1, 2]),
            placeholder(values, "int64", [-1]),
            *_sums(indices, values, table),
            *nodes,
        ]
    )
    signature = Signature(inputs, described)
    return GraphModel(graph_of_json(graph, "a model"), {}, "a model", signature=signature)


def sentence_model(table: np.ndarray = TABLE) -> GraphModel:
    """A model whose vectors are sums of the pieces' vectors times their places, counted from 1."""
    return _model("indices", "values", table, [], {"sums": table.shape[1]})


def toxicity_model(logits: dict[str, np.ndarray]) -> GraphModel:
    """A model with the names of TensorFlow.js's, and the softmax of a product for each label."""
    nodes: list[JsonNode] = []
    for label, matrix in logits.items():
        nodes += [
            constant(f"{label}/kernel", matrix),
            node(f"{label}/logits", "MatMul", ["sums", f"{label}/kernel"]),
            node(f"{label}/probabilities", "Softmax", [f"{label}/logits"]),
        ]
    outputs = {f"{label}/probabilities": 2 for label in logits}
    return _model("Placeholder_1", "Placeholder", TABLE, nodes, outputs)
