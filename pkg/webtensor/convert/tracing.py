"""Graphs of models that have none: what a model computes is recorded, and becomes nodes.

A model runs a few times, for inputs of different sizes where its inputs have unknown ones. What its
runs have in common is the graph; where they differ in a size, nodes compute it from the shapes of
tensors. A run with another size shows that the graph computes what the model does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from webtensor import ops
from webtensor.convert.graphs import GraphSource
from webtensor.convert.node_building import Value
from webtensor.convert.node_rules import UnknownSizeError
from webtensor.convert.recording import (
    Dimension,
    Recorder,
    Trace,
    TracedInput,
    TracedModel,
    Unknown,
    unscoped,
)
from webtensor.convert.trace_merging import Merging
from webtensor.engine import Tensor
from webtensor.engine.placement import on_host
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import reading
from webtensor.formats.graph_def import Graph, Signature, TensorInfo
from webtensor.graph.default_attributes import DEFAULTS
from webtensor.graph.model import GraphModel
from webtensor.graph.nodes import Node

__all__ = ["traced_graph"]

#: The sizes of the first axis, mostly the batch, in the three traces and in the run that checks the
#: graph; and by how much those of each further unknown size are larger.
_BATCHES = ((2, 3, 5, 1), (2, 5, 3, 1))
#: Those of other axes, small ones first. None follow from those of the batch by a factor and a sum.
_SIZES = (
    ((8, 13, 11, 14), (5, 8, 3, 4)),
    ((64, 160, 96, 128), (32, 96, 64, 32)),
    ((224, 352, 256, 288), (32, 64, 96, 32)),
)
_MOST_ELEMENTS = 1 << 26
#: By how much of the largest magnitude results of the graph may differ from those of the model.
_TOLERANCE = 1e-4


def traced_graph(model: TracedModel) -> GraphSource:
    """Return the graph of what a model computes.

    Raises:
        ModelFormatError: the model computes something that no graph of a fixed size does, such as
            loops whose length depends on values, or random numbers.
    """
    with on_host("tracing"), reading(model.label):
        problem: UnknownSizeError | None = None
        checks: list[Sequence[Tensor]] = []
        for sizes in _choices(model.inputs):
            feeds: Sequence[Sequence[Tensor]] = ()
            try:
                traces, feeds = _traces(model, sizes)
                return _graph(model, traces, [*checks, feeds[-1]])
            except UnknownSizeError as error:
                problem = problem or error
                checks += feeds
        assert problem is not None
        raise problem


def _graph(
    model: TracedModel, traces: Sequence[Trace], checks: Sequence[Sequence[Tensor]]
) -> GraphSource:
    """Return the graph that runs show, if it computes what the model does for other inputs.

    Raises:
        UnknownSizeError: the runs differ in more than in sizes.
        ModelFormatError: the model computes something that no graph does.
    """
    merging = Merging(model, traces)
    results = merging.results()
    source = _source(model, merging, results)
    for feeds in checks:
        _check(model, source, merging.nodes.constants, feeds)
    return source


# -- running -------------------------------------------------------------------------------------


def _traces(
    model: TracedModel, sizes: Mapping[Dimension, Sequence[int]]
) -> tuple[list[Trace], list[list[Tensor]]]:
    """Return what a model computes for inputs of three sizes, and the inputs of four sizes.

    Where all sizes are known, two runs with other elements show what follows from these.

    Raises:
        UnknownSizeError: the model does not take these sizes.
    """
    try:
        runs = [_inputs(model, sizes, run) for run in (range(4) if sizes else range(3))]
        traces = [_trace(model, inputs) for inputs in runs[:-1]]
        if len(traces[0].tensors) != len(traces[1].tensors):
            traces[0] = _trace(model, runs[0])  # what the first run computed once and for all
    except ModelFormatError:
        raise
    except Exception as error:
        notes = "; ".join(getattr(error, "__notes__", ()))
        raise UnknownSizeError(
            f"{model.label}: {error!s:.300}{notes and f' ({notes:.200})'}"
        ) from None
    return traces, runs


def _trace(model: TracedModel, inputs: Sequence[Tensor]) -> Trace:
    recorder = Recorder(model.label)
    return recorder.run(lambda tensors: [*model.run(tensors, recorder)], inputs)


def _choices(inputs: Sequence[TracedInput]) -> Iterator[Mapping[Dimension, Sequence[int]]]:
    """Yield sizes to try for unknown ones: one for each of four runs.

    At first all unknown sizes differ, then the same axis of all inputs has the same one.
    """
    unknown: dict[Dimension, int] = {}
    for value in inputs:
        for axis, size in enumerate(value.shape):
            if not isinstance(size, int):
                unknown[size] = min(axis, unknown.get(size, axis))
    alone: dict[Dimension, Hashable] = {size: size for size in unknown}
    by_axis = {size: axis if isinstance(size, Unknown) else size for size, axis in unknown.items()}
    for groups in (alone, by_axis) if len({*by_axis.values()}) < len(unknown) else (alone,):
        batches = [*dict.fromkeys(groups[size] for size, axis in unknown.items() if axis == 0)]
        others = [*dict.fromkeys(groups[size] for size, axis in unknown.items() if axis)]
        for rest in _SIZES if others else _SIZES[:1]:
            chosen = _numbered(batches, *_BATCHES) | _numbered(others, *rest)
            yield {size: chosen[group] for size, group in groups.items()}


def _numbered(
    groups: Sequence[Hashable], first: Sequence[int], step: Sequence[int]
) -> dict[Hashable, list[int]]:
    """Return sizes of four runs for each group, which differ from those of the others."""
    return {
        group: [size + number * by for size, by in zip(first, step, strict=True)]
        for number, group in enumerate(groups)
    }


def _inputs(model: TracedModel, sizes: Mapping[Dimension, Sequence[int]], run: int) -> list[Tensor]:
    """Return inputs of a run, which differ from those of the others."""
    inputs = []
    for index, value in enumerate(model.inputs):
        shape = [size if isinstance(size, int) else sizes[size][run] for size in value.shape]
        if prod(shape) > _MOST_ELEMENTS:
            raise ModelFormatError(
                f"{model.label}: the input {value.name!r:.200} has {prod(shape):,} elements"
            )
        numbers = ops.random_uniform(shape, 0.0, 1.0, "float32", seed=17 * run + index)
        if value.dtype in ("int32", "bool"):
            numbers = ops.astype(ops.greater(numbers, 0.5), value.dtype)
        elif value.dtype != "float32":
            raise ModelFormatError(
                f"{model.label}: the input {value.name!r:.200} has dtype {value.dtype}, which is "
                "not traced"
            )
        inputs.append(numbers)
    return inputs


# -- the source ----------------------------------------------------------------------------------


def _source(model: TracedModel, merging: Merging, results: Sequence[Value]) -> GraphSource:
    """Return the graph as a source, with the names of the model's inputs and outputs."""
    nodes = merging.nodes
    inputs = {
        value.name: TensorInfo((f"{value.name}:0",), value.dtype, _known(described.shape))
        for value, described in zip(merging.inputs, model.inputs, strict=True)
    }
    outputs = {
        name: TensorInfo(
            (result.name if ":" in result.name else f"{result.name}:0",),
            result.dtype,
            _known(result.shape),
        )
        for name, result in zip(model.outputs, results, strict=True)
    }
    constants = nodes.constants

    def constant(node: Node) -> Tensor:
        return constants[node.name]

    return GraphSource(
        model.label,
        Graph(tuple(nodes.nodes), {}, {}),
        Signature(inputs, outputs),
        constant,
        model.budget,
        defaults=DEFAULTS,
        metadata=model.metadata,
    )


def _known(shape: Sequence[Any]) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in shape)


def _check(
    model: TracedModel,
    source: GraphSource,
    constants: Mapping[str, Tensor],
    feeds: Sequence[Tensor],
) -> None:
    """Compare the graph with the model.

    Raises:
        ModelFormatError: they compute different numbers.
    """
    expected = model.run(feeds, Recorder(model.label))
    weights = {name: unscoped(value) for name, value in constants.items()}
    graph = GraphModel(source.graph, weights, model.label, signature=source.signature)
    named = {value.name: feed for value, feed in zip(model.inputs, feeds, strict=True)}
    fetches = [info.names[0] for info in source.signature.outputs.values()]
    results = graph.execute(named, fetches)
    for name, wanted, actual in zip(model.outputs, expected, results, strict=True):
        if actual.shape != wanted.shape or not _is_close(actual, wanted):
            raise ModelFormatError(
                f"{model.label}: the graph of {name!r:.200} computes something else than the "
                f"model for inputs of shapes {', '.join(str(feed.shape) for feed in feeds):.200}"
            )
    graph.dispose()


def _is_close(actual: Tensor, wanted: Tensor) -> bool:
    if not wanted.size:
        return True
    x, y = (ops.astype(value, "float32") for value in (actual, wanted))
    both = ops.logical_and(ops.isfinite(x), ops.isfinite(y))
    alike = ops.logical_or(ops.equal(x, y), ops.logical_and(ops.isnan(x), ops.isnan(y)))
    difference = ops.max(ops.abs(ops.where(both, ops.subtract(x, y), 0.0)))
    size = ops.max(ops.abs(ops.where(both, y, 0.0)))
    is_whole = ops.all(ops.logical_or(both, alike))
    return bool(is_whole.tolist()) and difference.tolist() <= _TOLERANCE * size.tolist()
