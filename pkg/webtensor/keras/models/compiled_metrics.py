"""The metrics that ``compile`` accepts, for one output or a structure of outputs.

Outputs can be nested, and metrics like them. The shapes of targets and outputs decide which metric
"accuracy" is, so metrics are made when the first batch is seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from webtensor.engine import Tensor
from webtensor.keras import metrics as metrics_module
from webtensor.keras.metrics import Metric
from webtensor.keras.models.output_parts import (
    CROSSENTROPIES,
    check_names,
    class_encoding,
    name_of,
    parts_of_outputs,
)
from webtensor.keras.types import Config, Tensors
from webtensor.keras.variables import Variable
from webtensor.nest import flatten, is_nested, keys

__all__ = ["CompiledMetrics", "MetricLike"]

#: A metric, its name, its configuration or a function.
MetricIdentifier: TypeAlias = "str | Config | Metric | Callable[..., Any] | None"
#: A metric, or a structure of metrics.
MetricLike: TypeAlias = "MetricIdentifier | Sequence[MetricLike] | Mapping[str, MetricLike]"


@dataclass
class _Request:
    """A metric that ``compile`` was called with, and the index of its output."""

    index: int
    identifier: MetricIdentifier
    is_weighted: bool


@dataclass
class _OutputMetric:
    """A metric of an output, with the output's index and the name of its result."""

    index: int
    metric: Metric
    name: str
    is_weighted: bool


class CompiledMetrics(Metric):
    """The metrics of all outputs, as one metric whose result is a dictionary.

    Args:
        metrics: a list of metrics, or for several outputs a structure of metrics.
        weighted_metrics: metrics whose samples are weighted, like ``metrics``.
        names: the names of the outputs, if they have names.

    Raises:
        ValueError: a metric is unknown, or not in a list, a tuple or a dictionary.
    """

    def __init__(
        self,
        metrics: MetricLike,
        weighted_metrics: MetricLike = None,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name="compile_metrics")
        self._identifiers = {"metrics": metrics, "weighted_metrics": weighted_metrics}
        for argument, structure in self._identifiers.items():
            if not isinstance(structure, (list, tuple, dict, type(None))):
                raise ValueError(
                    f"{argument} must be a list, a tuple or a dictionary, but is {structure!r}"
                )
            for identifier in flatten(structure):
                if identifier is not None and identifier not in _CLASS_SUFFIXES:
                    metrics_module.get(identifier)  # raises the error about an unknown name
        self._names = names
        #: None before the first batch.
        self._requests: list[_Request] | None = None
        self._used: list[int] = []
        self._output_metrics: list[_OutputMetric] = []

    @property
    def metrics(self) -> list[Metric]:
        """All metrics; there are none before the first batch."""
        return [output_metric.metric for output_metric in self._output_metrics]

    @property
    def variables(self) -> list[Variable]:
        """The state of all metrics."""
        return [variable for metric in self.metrics for variable in metric.variables]

    def _build(self, requests: list[_Request], targets: list[Any], y_pred: Tensors) -> None:
        """Make the metrics, and name their results."""
        outputs, labels = flatten(y_pred), self._labels(y_pred)
        counts: Counter[str] = Counter()
        for request in requests:
            index = request.index
            metric = _make_metric(request.identifier, targets[index], outputs[index])
            prefix = "" if labels is None else f"{labels[index]}_"
            name = prefix + metric.name
            if request.is_weighted and counts[name]:
                name = f"{prefix}weighted_{metric.name}"
            counts[name] += 1
            unique_name = name if counts[name] == 1 else f"{name}_{counts[name] - 1}"
            self._output_metrics.append(
                _OutputMetric(index, metric, unique_name, request.is_weighted)
            )

    def _requests_for(self, y_pred: Tensors) -> list[_Request]:
        requests = []
        for argument, structure in self._identifiers.items():
            by_output = _metrics_by_output(argument, structure, y_pred, self._names)
            requests += [
                _Request(index, identifier, argument == "weighted_metrics")
                for index in self._output_order(y_pred)
                for identifier in by_output[index]
            ]
        return requests

    def _labels(self, y_pred: Tensors) -> Sequence[str] | None:
        """Return the prefixes of results' names: keys or names of the outputs."""
        count = len(flatten(y_pred))
        if count == 1:
            return None
        if isinstance(y_pred, Mapping) and count == len(y_pred):
            return [str(key) for key in keys(y_pred)]
        return self._names if self._names is not None and len(self._names) == count else None

    def _output_order(self, y_pred: Tensors) -> list[int]:
        """Return the indices of the outputs, in the order of their names if they have names."""
        if isinstance(y_pred, Mapping) and self._names and set(self._names) == set(y_pred):
            indices = {key: index for index, key in enumerate(keys(y_pred))}
            return [indices[name] for name in self._names]
        return list(range(len(flatten(y_pred))))

    def update_state(
        self,
        y_true: Tensors,
        y_pred: Tensors,
        sample_weight: Tensors = None,
    ) -> None:
        """Update all metrics by a batch."""
        if self._requests is None:
            self._requests = self._requests_for(y_pred)
            self._used = sorted({request.index for request in self._requests})
        targets = parts_of_outputs("y", y_true, y_pred, self._names, self._used)
        weights = parts_of_outputs("sample_weight", sample_weight, y_pred, self._names, self._used)
        if not self._output_metrics:
            self._build(self._requests, targets, y_pred)
        outputs = flatten(y_pred)
        for output_metric in self._output_metrics:
            index = output_metric.index
            weight = weights[index] if output_metric.is_weighted else None
            output_metric.metric.update_state(targets[index], outputs[index], sample_weight=weight)

    def reset_state(self) -> None:
        """Reset the state of all metrics."""
        for metric in self.metrics:
            metric.reset_state()

    def result(self) -> dict[str, Any]:
        """Return the results of all metrics by name."""
        results: dict[str, Any] = {}
        for output_metric in self._output_metrics:
            result = output_metric.metric.result()
            results.update(result if isinstance(result, Mapping) else {output_metric.name: result})
        return results


def _metrics_by_output(
    argument: str, structure: MetricLike, outputs: Tensors, names: Sequence[str] | None
) -> list[list[Any]]:
    """Return the metrics of each output."""
    count = len(flatten(outputs))
    if not structure:
        return [[]] * count
    if count == 1:
        if None in flatten(structure):
            raise ValueError(
                f"{argument} has None among the metrics of the only output: {structure}"
            )
        return [flatten(structure)]
    if isinstance(structure, Mapping) and not isinstance(outputs, Mapping):
        check_names(argument, structure, names or ())
        return [_without_none(structure.get(name)) for name in names or ()]
    is_flat = isinstance(outputs, Mapping) and len(outputs) == count
    if is_flat and isinstance(structure, (list, tuple)) and len(structure) == count:
        return [_without_none(metrics) for metrics in structure]
    return _metrics_by_structure(argument, structure, outputs)


def _without_none(structure: MetricLike) -> list[Any]:
    """Return the metrics in a structure."""
    return [identifier for identifier in flatten(structure) if identifier is not None]


def _metrics_by_structure(
    argument: str, structure: MetricLike, outputs: Tensors
) -> list[list[Any]]:
    """Return the metrics of each output, from a structure like that of the outputs."""
    if not is_nested(outputs):
        return [_without_none(structure)]
    if structure is None:
        return [[]] * len(flatten(outputs))
    if isinstance(outputs, Mapping) and isinstance(structure, Mapping):
        check_names(argument, structure, outputs)
        pairs = [(structure.get(key), outputs[key]) for key in keys(outputs)]
    elif (
        isinstance(outputs, (list, tuple))
        and isinstance(structure, (list, tuple))
        and len(structure) == len(outputs)
    ):
        pairs = list(zip(structure, outputs, strict=True))
    else:
        raise ValueError(
            f"{argument} must have as many entries as there are outputs, {len(outputs)}, each a "
            f"metric, a list of some or None, but is {structure!r}"
        )
    return [metrics for pair in pairs for metrics in _metrics_by_structure(argument, *pair)]


#: What follows the encoding in the class's name, for names that depend on the encoding of classes.
_CLASS_SUFFIXES = {
    "accuracy": "Accuracy",
    "acc": "Accuracy",
    **dict.fromkeys(CROSSENTROPIES, "Crossentropy"),
}


def _make_metric(identifier: MetricIdentifier, y_true: Tensor, y_pred: Tensor) -> Metric:
    metric: Metric | Callable[..., Tensor]
    if isinstance(identifier, str) and identifier in _CLASS_SUFFIXES:
        class_name = class_encoding(y_true, y_pred) + _CLASS_SUFFIXES[identifier]
        metric = getattr(metrics_module, class_name)()
    else:
        metric = metrics_module.get(identifier)
    if not isinstance(metric, Metric):
        metric = metrics_module.MeanMetricWrapper(metric, name=name_of(metric))
    if isinstance(identifier, str):
        metric.name = identifier
    return metric
