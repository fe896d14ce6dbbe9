"""Loading graph models in TensorFlow.js's web format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

from webtensor import io
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.graph_def import Graph, Signature, graph_of_json, signature_of_json
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.graph.model import GraphModel
from webtensor.io.handlers import LoadOptions
from webtensor.io.routers import ModelSource, load_described
from webtensor.io.weights import weights_of

__all__ = ["GraphParts", "graph_parts", "load_graph_model", "load_graph_model_async"]

#: What the formats of other models end with; those of graph models are not always "graph-model".
_OTHER_FORMAT = "layers-model"
#: The address of a model of TensorFlow Hub's, or of Kaggle's, beside that of its page.
_TF_HUB_FILE = "/model.json?tfjs-format=file"


def load_graph_model(
    source: ModelSource, *, from_tf_hub: bool = False, **options: Unpack[LoadOptions]
) -> GraphModel:
    """Load a graph model in TensorFlow.js's web format: ``model.json`` and files of weights.

    Args:
        source: the path of ``model.json`` or of its folder, a list of paths, a mapping of the
            files' names to their bytes, the address of ``model.json``, a handler of
            ``webtensor.io``, or what one loads. In a page, addresses need a browser that can
            suspend Python (JSPI); ``load_graph_model_async`` does not.
        from_tf_hub: whether ``source`` is the address of a page of TensorFlow Hub or Kaggle.
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
    artifacts = io.load_artifacts(_model_json(source, from_tf_hub), **options)
    return _model_of(artifacts, _description_of(artifacts))


async def load_graph_model_async(
    source: ModelSource, *, from_tf_hub: bool = False, **options: Unpack[LoadOptions]
) -> GraphModel:
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
    descriptions: list[_Description] = []

    def describe(artifacts: ModelArtifacts) -> None:
        descriptions.append(_description_of(artifacts))

    artifacts = await load_described(_model_json(source, from_tf_hub), describe, **options)
    return _model_of(artifacts, descriptions[0])


def _model_json(source: ModelSource, from_tf_hub: bool) -> ModelSource:
    """Return the address of ``model.json`` where a source is that of a page of TensorFlow Hub."""
    if from_tf_hub and isinstance(source, str):
        return f"{source.removesuffix('/')}{_TF_HUB_FILE}"
    return source


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
    return _parts(artifacts, _description(artifacts))


class _Description(NamedTuple):
    """What ``model.json`` says of a graph model, beside its weights; see ``GraphParts``."""

    graph: Graph
    signature: Signature | None
    initializer: Graph | None
    initializer_signature: Signature | None
    budget: Budget


def _description(artifacts: ModelArtifacts) -> _Description:
    label = artifacts.label
    if artifacts.model_topology is None:
        raise ModelFormatError(f"{label} has no modelTopology")
    budget = artifacts.budget or Budget(label, artifacts.weight_size)
    with reading(label):
        signature, initializer_signature = (
            None if value is None else signature_of_json(value, label, budget)
            for value in (_signature_of(artifacts), artifacts.initializer_signature)
        )
        initializer = None
        if artifacts.model_initializer is not None:
            where = f"{label}: modelInitializer"
            initializer = graph_of_json(artifacts.model_initializer, where, budget)
        graph = graph_of_json(artifacts.model_topology, label, budget)
        return _Description(graph, signature, initializer, initializer_signature, budget)


def _signature_of(artifacts: ModelArtifacts) -> Any:
    """Return the signature in ``model.json``, which is in the metadata of older files."""
    metadata = artifacts.user_defined_metadata
    old = metadata.get("signature") if isinstance(metadata, Mapping) else None
    is_signature = isinstance(old, Mapping) and not {"inputs", "outputs"}.isdisjoint(old)
    return old if is_signature else artifacts.signature


def _parts(artifacts: ModelArtifacts, description: _Description) -> GraphParts:
    label = artifacts.label
    with reading(label):
        return GraphParts(
            description.graph,
            {weight.name: weight.value for weight in weights_of(artifacts, description.budget)},
            *description[1:],
        )


def _description_of(artifacts: ModelArtifacts) -> _Description:
    """Return the description of a graph model; models of layers are refused."""
    if str(artifacts.format).endswith(_OTHER_FORMAT):
        raise ModelFormatError(
            f"{artifacts.label} is a {artifacts.format!r}, which is no graph-model"
        )
    return _description(artifacts)


def _model_of(artifacts: ModelArtifacts, description: _Description) -> GraphModel:
    label = artifacts.label
    parts = _parts(artifacts, description)
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
            stored=replace(artifacts, model_topology=None, model_initializer=None, budget=None),
        )
