"""Loading graph models in TensorFlow.js's web format."""

from __future__ import annotations

from typing import NamedTuple, Unpack

from webtensor import io
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.graph_def import Graph, Signature, graph_of_json, signature_of_json
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.graph.model import GraphModel
from webtensor.io.handlers import LoadOptions
from webtensor.io.routers import ModelSource
from webtensor.io.weights import decoded

__all__ = ["GraphParts", "graph_parts", "load_graph_model", "load_graph_model_async"]

_FORMAT = "graph-model"


def load_graph_model(source: ModelSource, **options: Unpack[LoadOptions]) -> GraphModel:
    """Load a graph model in TensorFlow.js's web format: ``model.json`` and files of weights.

    Args:
        source: the path of ``model.json`` or of its folder, a list of paths, a mapping of the
            files' names to their bytes, the address of ``model.json``, or a handler of
            ``webtensor.io``. In a page, addresses need a browser that can suspend Python (JSPI);
            ``load_graph_model_async`` does not.
        **options: those of ``webtensor.io.load_artifacts``, such as ``on_progress``, a function
            that is called with the fraction of the weights that were read, from 0 to 1.

    Raises:
        ModelFormatError: a part is broken, or the graph has operations that are unknown; all of
            them are named.
        OSError: a file is missing, or a server cannot be reached.

    Example:
        >>> import json
        >>> import webtensor as wt
        >>> relu = {"name": "y", "op": "Relu", "input": ["x"], "attr": {"T": {"type": "DT_FLOAT"}}}
        >>> x = {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}}
        >>> topology = {"node": [x, relu]}
        >>> model_json = {"modelTopology": topology, "weightsManifest": []}
        >>> model = wt.load_graph_model({"model.json": json.dumps(model_json).encode()})
        >>> model.predict([[-1.0, 2.0]]).tolist()
        [[0.0, 2.0]]
    """
    return _model_of(io.load_artifacts(source, **options))


async def load_graph_model_async(source: ModelSource, **options: Unpack[LoadOptions]) -> GraphModel:
    """Load a graph model as ``load_graph_model`` does, without blocking the page.

    In a page ``source`` may be an address that is relative to it, ``indexeddb://name``, or
    ``localstorage://name``. Cancelling the task that awaits this aborts downloads.

    Raises:
        ModelFormatError: as of ``load_graph_model``.
        OSError: as of ``load_graph_model``.

    Example:
        In a page::

            model = await wt.load_graph_model_async("model/model.json", on_progress=print)
            scores = await model.predict_async(image)
    """
    return _model_of(await io.load_artifacts_async(source, **options))


class GraphParts(NamedTuple):
    """What the files of a graph model have.

    Attributes:
        graph: the graph.
        weights: the values of its constants, by the names of their nodes.
        signature: its inputs and outputs.
        initializer: the graph that fills tables.
        initializer_signature: the outputs of that graph that are inputs of the other.
        budget: limits what more may cost.
    """

    graph: Graph
    weights: dict[str, Tensor]
    signature: Signature | None
    initializer: Graph | None
    initializer_signature: Signature | None
    budget: Budget


def graph_parts(artifacts: ModelArtifacts) -> GraphParts:
    """Return what the files of a graph model have.

    Raises:
        ModelFormatError: a part is missing or broken.
    """
    label = artifacts.label
    if artifacts.model_topology is None:
        raise ModelFormatError(f"{label} has no modelTopology")
    budget = artifacts.budget or Budget(label, artifacts.weight_size)
    with reading(label):
        weights = decoded(artifacts.weight_specs or [], artifacts.weight_data or b"", label, budget)
        signature, initializer_signature = (
            None if value is None else signature_of_json(value, label, budget)
            for value in (artifacts.signature, artifacts.initializer_signature)
        )
        initializer = None
        if artifacts.model_initializer is not None:
            where = f"{label}: modelInitializer"
            initializer = graph_of_json(artifacts.model_initializer, where, budget)
        return GraphParts(
            graph_of_json(artifacts.model_topology, label, budget),
            {weight.name: weight.value for weight in weights},
            signature,
            initializer,
            initializer_signature,
            budget,
        )


def _model_of(artifacts: ModelArtifacts) -> GraphModel:
    label = artifacts.label
    if artifacts.format not in (None, _FORMAT):
        raise ModelFormatError(f"{label} is a {artifacts.format!r}, which is no {_FORMAT}")
    parts = graph_parts(artifacts)
    with reading(label):
        return GraphModel(
            parts.graph,
            parts.weights,
            label,
            signature=parts.signature,
            initializer=parts.initializer,
            initializer_signature=parts.initializer_signature,
            metadata=artifacts.user_defined_metadata,
            budget=parts.budget,
        )
