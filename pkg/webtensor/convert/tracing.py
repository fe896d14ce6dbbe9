"""Graphs of models that have none: what a model computes is recorded, and becomes nodes.

A model runs a few times, for inputs of different sizes where its inputs have unknown ones. What its
runs have in common is the graph; where they differ in a size, nodes compute it from the shapes of
tensors. Runs with other sizes show that the graph computes what the model does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from webtensor import ops
from webtensor.convert.graphs import GraphSource
from webtensor.convert.node_building import Value
from webtensor.convert.recording import Loops, Recorder, Trace, TracedModel, unscoped
from webtensor.convert.sizes import UnknownSizeError
from webtensor.convert.trace_merging import Merging
from webtensor.convert.trace_sizes import Grouping, Sizes, groupings
from webtensor.engine import Tensor
from webtensor.engine.placement import on_host
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import reading
from webtensor.formats.graph_def import Graph, Signature, TensorInfo
from webtensor.graph.default_attributes import DEFAULTS
from webtensor.graph.model import GraphModel
from webtensor.graph.nodes import Node

__all__ = ["traced_graph"]

#: The maximum numbers of elements of an input, and of one that checks all graphs.
_MAX_ELEMENTS, _MAX_CHECKED = 1 << 26, 1 << 21
#: How often loops run in each trace whose end depends on elements; no size gives these numbers.
_ITERATIONS = (3, 7, 6, 4)
#: Samples for networks that need a second of sound; some runs have half as many.
_LONG_SIGNAL = 34_000
#: By how much of the largest magnitude results of the graph may differ from those of the model.
_TOLERANCE = 1e-4


def traced_graph(model: TracedModel) -> GraphSource:
    """Return the graph of what a model computes.

    Raises:
        ModelFormatError: the model computes something that no graph of a fixed size does, such as
            loops whose length depends on values, or random numbers.
    """
    with on_host("tracing"), reading(model.label):
        problems: list[UnknownSizeError] = []
        limited: GraphSource | None = None
        sizes = [size for value in model.inputs for size in value.shape]
        loops = Loops(has_fixed_sizes=all(isinstance(size, int) for size in sizes))
        distinct: Sequence[Sizes] = ()
        for grouping in groupings(model.inputs):
            attempts = _Attempts(model, grouping, loops, distinct)
            distinct = distinct or next(grouping.runs())
            for runs in attempts.runs():
                try:
                    return attempts.graph(runs)
                except UnknownSizeError as error:
                    problems.append(error.with_traceback(None))
            limited = limited or attempts.limited
        if limited is not None:
            return limited
        # Of a model that takes some sizes, the reason why these are not enough says most.
        raise max(problems, key=lambda error: error.progress)


# -- running -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Run:
    """A run that checks graphs.

    Attributes:
        feeds: the inputs.
        results: the outputs.
        empty: the numbers of the tensors without elements.
    """

    feeds: Sequence[Tensor]
    results: Sequence[Tensor]
    empty: frozenset[int]


class _Attempts:
    """Tries one way after another to trace a model whose unknown axes are grouped in one way.

    Args:
        model: the model.
        grouping: which unknown axes have the same size.
        loops: what the runs of the model show about its loops.
        distinct: sizes that differ where names do, for which graphs must also compute the same.
    """

    def __init__(
        self, model: TracedModel, grouping: Grouping, loops: Loops, distinct: Sequence[Sizes]
    ) -> None:
        self._model, self._grouping, self._loops = model, grouping, loops
        self._distinct = distinct
        self._has_unknown = bool(grouping.batches or grouping.others)
        #: Runs of sizes that were not enough for a graph, which must compute the same for them.
        self._earlier: list[_Run] = []
        self._checks: list[_Run] | None = None
        #: A graph that passes all checks, but is an error for some of the earlier sizes.
        self.limited: GraphSource | None = None
        #: The bounds of sizes of which all traces were on the same side, and that were not tried.
        self._bounds: set[int] = set()

    def runs(self) -> Iterator[Sequence[Sizes]]:
        """Yield sizes of runs in the order to try them.

        The next ones are around the bounds of sizes that those before them show.
        """
        tried: set[int] = set()
        for runs in self._grouping.runs():
            yield runs
            while self._grouping.others and not self._bounds <= tried:
                tried |= self._bounds
                yield self._grouping.runs_around(tried)
        if self._grouping.is_signal and not self._earlier:
            yield self._grouping.runs_around({_LONG_SIGNAL})

    def graph(self, runs: Sequence[Sizes]) -> GraphSource:
        """Return the graph that runs with these sizes show; the last run is a check.

        Raises:
            UnknownSizeError: the model does not take these sizes, or the runs differ in more than
                in sizes, or the graph computes something else for other sizes.
            ModelFormatError: the model computes something that no graph does.
        """
        model = self._model
        traces, checks = self._traces(runs)
        try:
            empty = self._empty(traces, runs)
            merging = Merging(model, traces)
            results = merging.results()
            source = _source(model, merging, results)
            bounds = merging.bounds()
            self._bounds |= bounds
            around = self._taken(self._grouping.checks_around(bounds))
            # A model may take inputs that are too small for the graph.
            smallest = min(map(_size, checks))
            checked, earlier = [checks[-1]], [*self._earlier]
            for run in (*self._further_checks(runs), *around):
                (earlier if _size(run) < smallest else checked).append(run)
            checked, earlier = (
                [run for run in others if run.empty <= empty] for others in (checked, earlier)
            )
            constants = merging.nodes.constants
            errors = _check(model, source, constants, checked, earlier, self._has_unknown)
            if errors:
                self.limited = self.limited or source
                raise errors[0]
        except UnknownSizeError:
            self._earlier += [run for run in checks if not run.empty]
            raise
        return source

    def _traces(self, runs: Sequence[Sizes]) -> tuple[list[Trace], list[_Run]]:
        """Return what the model computes in all runs but the last, and all runs as checks.

        Raises:
            UnknownSizeError: the model does not take these sizes.
        """
        model = self._model
        try:
            inputs = [_inputs(model, sizes, run) for run, sizes in enumerate(runs)]
            traced = self._traced(inputs)
            while self._loops.roll():
                traced = self._traced(inputs)
            if len(traced[0][0].tensors) != len(traced[1][0].tensors):
                # The first run computed something once and for all.
                traced[0] = _run(model, inputs[0], self._loops, _ITERATIONS[0])
            results = traced
            if self._loops.depend_on_elements:
                results = [_run(model, feeds, self._loops) for feeds in inputs]
        except ModelFormatError:
            raise
        except Exception as error:
            notes = "; ".join(getattr(error, "__notes__", ()))
            raise UnknownSizeError(
                f"{model.label}: {error!s:.300}{notes and f' ({notes:.200})'}"
            ) from None
        checks = [_as_check(feeds, *run) for feeds, run in zip(inputs, results, strict=True)]
        return [trace for trace, _ in traced[:-1]], checks

    def _traced(self, inputs: Sequence[Sequence[Tensor]]) -> list[tuple[Trace, Sequence[Tensor]]]:
        return [
            _run(self._model, feeds, self._loops, iterations)
            for feeds, iterations in zip(inputs, _ITERATIONS, strict=False)
        ]

    def _further_checks(self, runs: Sequence[Sizes]) -> list[_Run]:
        """Return runs of the sizes that check all graphs, as far as the model takes them."""
        if self._checks is None:
            sizes = {run[group[0]] for run in runs for group in self._grouping.others}
            counts = [self._loops.counts[name] for name in self._loops.rolled]
            checks = self._grouping.checks(bool(counts), any(sizes <= steps for steps in counts))
            self._checks = [*self._taken([*self._distinct, *checks])]
        return self._checks

    def _taken(self, checks: Iterable[Sizes]) -> Iterator[_Run]:
        """Yield the runs of those sizes that the model takes."""
        for number, sizes in enumerate(checks):
            shapes = [
                [size if isinstance(size, int) else sizes[size] for size in value.shape]
                for value in self._model.inputs
            ]
            if max(map(prod, shapes)) > _MAX_CHECKED:
                continue
            feeds = _inputs(self._model, sizes, number)
            try:
                run = _as_check(feeds, *_run(self._model, feeds, self._loops))
            except Exception:
                continue  # a network that takes multiples of a size, or images up to one
            yield run

    def _empty(self, traces: Sequence[Trace], runs: Sequence[Sizes]) -> frozenset[int]:
        """Return the numbers of the tensors without elements.

        Raises:
            UnknownSizeError: inputs are so small that nothing is left of them; larger ones leave
                more.
        """
        empty = frozenset[int]().union(*map(_empty, traces))
        if not empty or not self._grouping.others:
            return empty
        if not all(empty <= run.empty for run in self._further_checks(runs)):
            row = traces[0].tensors[min(empty)]
            place = f"{row.place:.200}: " if row.place else ""
            raise UnknownSizeError(
                f"{self._model.label}: {place}nothing is left of inputs of the sizes tried",
                progress=1,
            )
        return empty


def _run(
    model: TracedModel, inputs: Sequence[Tensor], loops: Loops, iterations: int | None = None
) -> tuple[Trace, Sequence[Tensor]]:
    """Return what a model computes, step by step, and its outputs.

    Loops whose end depends on elements have ``iterations``, or as many as they say.
    """
    recorder = Recorder(model.label, loops, iterations)
    results: list[Tensor] = []

    def run(tensors: list[Tensor]) -> list[Tensor]:
        results.extend(model.run(tensors, recorder))
        return results

    return recorder.run(run, inputs), results


def _size(run: _Run) -> int:
    return sum(feed.size for feed in run.feeds)


def _as_check(feeds: Sequence[Tensor], trace: Trace, results: Sequence[Tensor]) -> _Run:
    return _Run(feeds, results, _empty(trace))


def _empty(trace: Trace) -> frozenset[int]:
    """Return the numbers of the tensors without elements."""
    return frozenset(number for number, row in enumerate(trace.tensors) if 0 in row.shape)


def _inputs(model: TracedModel, sizes: Sizes, run: int) -> list[Tensor]:
    """Return inputs of a run, which differ from those of the others."""
    inputs = []
    for index, value in enumerate(model.inputs):
        shape = [size if isinstance(size, int) else sizes[size] for size in value.shape]
        if prod(shape) > _MAX_ELEMENTS:
            raise UnknownSizeError(
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
        described.name: TensorInfo(
            (f"{value.name}:0",), value.dtype, _static_shape(described.shape)
        )
        for value, described in zip(merging.inputs, model.inputs, strict=True)
        if value is not None
    }
    outputs = {
        name: TensorInfo(
            (result.name if ":" in result.name else f"{result.name}:0",),
            result.dtype,
            _static_shape(result.shape),
        )
        for name, result in zip(model.outputs, results, strict=True)
    }
    constants = nodes.constants

    def constant(node: Node) -> Tensor:
        return constants[node.name]

    return GraphSource(
        model.label,
        Graph(tuple(nodes.nodes), nodes.functions, {}),
        Signature(inputs, outputs),
        constant,
        model.budget,
        defaults=DEFAULTS,
        metadata=model.metadata,
    )


def _static_shape(shape: Sequence[Any]) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in shape)


# -- checks --------------------------------------------------------------------------------------


def _check(
    model: TracedModel,
    source: GraphSource,
    constants: Mapping[str, Tensor],
    runs: Sequence[_Run],
    earlier: Sequence[_Run],
    has_unknown: bool,
) -> list[_ExecutionError]:
    """Compare the graph with the model, and return its errors for earlier runs.

    Raises:
        UnknownSizeError: they compute different numbers, or the model computes no number.
    """
    weights = {name: unscoped(value) for name, value in constants.items()}
    graph = GraphModel(source.graph, weights, model.label, signature=source.signature)
    try:
        for run in runs:
            _compare(model, graph, source, run)
        errors = []
        for run in earlier:
            try:
                _compare(model, graph, source, run)
            except _ExecutionError as error:
                errors.append(error)
    finally:
        graph.dispose()
    for index, name in enumerate(model.outputs):
        if has_unknown and not any(_has_numbers(run.results[index]) for run in [*runs, *earlier]):
            raise UnknownSizeError(
                f"{model.label}: the model computes no finite number as {name!r:.200} for inputs "
                "of the sizes tried, so its graph cannot be checked",
                progress=2,
            )
    return errors


class _ExecutionError(UnknownSizeError):
    """A graph fails for inputs of some sizes."""


def _compare(model: TracedModel, graph: GraphModel, source: GraphSource, run: _Run) -> None:
    shapes = ", ".join(str(feed.shape) for feed in run.feeds)
    feeds = dict(zip(source.signature.inputs, run.feeds, strict=True))
    fetches = [info.names[0] for info in source.signature.outputs.values()]
    try:
        results = graph.execute(feeds, fetches)
    except Exception as error:
        raise _ExecutionError(
            f"{model.label}: the graph fails for inputs of shapes {shapes:.200}: {error!s:.200}",
            progress=2,
        ) from None
    for name, expected, actual in zip(model.outputs, run.results, results, strict=True):
        if actual.shape != expected.shape or not _is_close(actual, expected):
            raise UnknownSizeError(
                f"{model.label}: the graph of {name!r:.200} computes something else than the "
                f"model for inputs of shapes {shapes:.200}",
                progress=2,
            )


def _has_numbers(value: Tensor) -> bool:
    if not value.size or str(value.dtype) != "float32":
        return bool(value.size)
    return bool(ops.any(ops.isfinite(value)).tolist())


def _is_close(actual: Tensor, expected: Tensor) -> bool:
    if not expected.size:
        return True
    x, y = (ops.astype(value, "float32") for value in (actual, expected))
    both = ops.logical_and(ops.isfinite(x), ops.isfinite(y))
    alike = ops.logical_or(ops.equal(x, y), ops.logical_and(ops.isnan(x), ops.isnan(y)))
    difference = ops.max(ops.abs(ops.where(both, ops.subtract(x, y), 0.0)))
    size = ops.max(ops.abs(ops.where(both, y, 0.0)))
    is_whole = ops.all(ops.logical_or(both, alike))
    return bool(is_whole.tolist()) and difference.tolist() <= _TOLERANCE * size.tolist()
