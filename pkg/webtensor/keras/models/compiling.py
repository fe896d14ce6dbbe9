"""The losses and metrics that ``compile`` accepts, for one output or a structure of outputs.

Outputs can be nested, and losses and metrics like them. The shapes of targets and outputs decide
which metric "accuracy" is, so losses and metrics are made when the first batch is seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from webtensor.engine import Tensor
from webtensor.keras import losses, metrics as metrics_module
from webtensor.keras.losses import Loss
from webtensor.keras.losses.base import LossFunctionWrapper
from webtensor.keras.metrics import Mean, Metric
from webtensor.keras.names import name_scope, nearest, to_snake_case
from webtensor.keras.types import Config, Tensors
from webtensor.keras.variables import Variable
from webtensor.nest import flatten, is_nested, keys

__all__ = ["CompiledLoss", "CompiledMetrics", "LossLike", "LossWeights", "MetricLike"]

#: A loss, its name, its configuration or a function.
LossIdentifier: TypeAlias = "str | Config | Loss | Callable[..., Any] | None"
#: A loss, or a structure of losses.
LossLike: TypeAlias = "LossIdentifier | Sequence[LossLike] | Mapping[str, LossLike]"
#: Factors of the losses.
LossWeights: TypeAlias = "float | Sequence[LossWeights] | Mapping[str, LossWeights] | None"
#: A metric, its name, its configuration or a function.
MetricIdentifier: TypeAlias = "str | Config | Metric | Callable[..., Any] | None"
#: A metric, or a structure of metrics.
MetricLike: TypeAlias = "MetricIdentifier | Sequence[MetricLike] | Mapping[str, MetricLike]"
#: The keys and indices that lead to an item of a structure.
Path: TypeAlias = tuple[str | int, ...]


def _paths(structure: object, keeps_order: bool = False, prefix: Path = ()) -> Iterator[Path]:
    """Yield the paths of a structure's leaves; dictionaries are sorted, or keep their order."""
    if not is_nested(structure):
        yield prefix
        return
    is_unsorted = keeps_order and isinstance(structure, dict)
    for key in structure if is_unsorted else keys(structure):
        yield from _paths(structure[key], keeps_order, (*prefix, key))


def _joined(path: Path) -> str:
    return "/".join(str(key) for key in path)


def _check_names(argument: str, names: Iterable[str], output_names: Iterable[str]) -> None:
    choices = list(output_names)
    for name in names:
        if name not in choices:
            raise ValueError(
                f"{argument} names {name!r}, which is no output{nearest(name, choices)}; the "
                f"outputs are {choices}"
            )


def _parts_of(
    argument: str,
    values: Tensors,
    outputs: Tensors,
    names: Sequence[str] | None,
    used: Sequence[int],
) -> list[Any]:
    """Return the targets or weights of each output.

    ``used`` are the indices of the outputs that have a loss or a metric.

    Raises:
        ValueError: the structure of ``values`` is not that of the outputs, or a target is missing.
    """
    if not is_nested(outputs) and not is_nested(values):
        return [values]
    count = len(flatten(outputs))
    if values is None or (argument == "sample_weight" and not is_nested(values)):
        return [values] * count
    leaves = flatten(values)
    if isinstance(values, Mapping) and isinstance(outputs, Mapping):
        parts = _values_by_key(argument, values, outputs)
    elif isinstance(values, Mapping) and is_nested(outputs):
        output_names = list(names or ())[:count]
        _check_names(argument, values, output_names)
        parts = [values.get(name) for name in output_names]
    elif len(leaves) == count:
        parts = leaves
    elif len(leaves) == len(used):
        by_index = dict(zip(used, leaves, strict=True))
        parts = [by_index.get(index) for index in range(count)]
    else:
        raise ValueError(f"{argument} has {len(leaves)} parts, but there are {count} outputs")
    missing = [index for index in used if parts[index] is None]
    if missing and argument == "y":
        output = names[missing[0]] if names else missing[0]
        raise ValueError(f"y has nothing for output {output!r}, which has a loss or a metric")
    return parts


def _values_by_key(argument: str, values: Tensors, outputs: Tensors) -> list[Any]:
    """Return the value of each output in a structure, or None for an output without a value."""
    if values is None:
        return [None] * len(flatten(outputs))
    if isinstance(outputs, Mapping) and isinstance(values, Mapping):
        _check_names(argument, values, outputs)
        return [
            value
            for key in keys(outputs)
            for value in _values_by_key(argument, values.get(key), outputs[key])
        ]
    leaves, count = flatten(values), len(flatten(outputs))
    if len(leaves) != count:
        raise ValueError(f"{argument} has {len(leaves)} parts where there are {count} outputs")
    return leaves


# -- losses ------------------------------------------------------------------------------------


@dataclass
class _OutputLoss:
    """The loss of an output, with the output's index and the name of its results."""

    index: int
    loss: Loss
    factor: float | None
    label: str
    #: The mean of the loss over batches, if there are several losses.
    mean: Mean | None = None


class CompiledLoss:
    """The sum of the losses of all outputs, and the mean of each one over batches.

    Args:
        loss: a loss, or a structure of losses like the outputs.
        weights: a factor, or a structure of factors like the losses.
        names: the names of the outputs, if they have names.

    Raises:
        ValueError: a loss is unknown, or ``weights`` is not a float or a structure.
    """

    def __init__(
        self, loss: LossLike, weights: LossWeights = None, names: Sequence[str] | None = None
    ) -> None:
        for identifier in flatten(loss):
            if identifier not in _CROSSENTROPIES:
                losses.get(identifier)  # raises the error about an unknown name
        if weights is not None and not isinstance(weights, (float, list, tuple, dict)):
            raise ValueError(
                "loss_weights must be a float, for one output, or a list, a tuple or a dictionary "
                f"of numbers, but is {weights!r}"
            )
        self._loss, self._weights, self._names = loss, weights, names
        #: In the order in which the losses were passed; None before the first batch.
        self._output_losses: list[_OutputLoss] | None = None

    @property
    def losses(self) -> list[Loss]:
        """The losses of all outputs; there are none before the first batch."""
        return [output_loss.loss for output_loss in self._output_losses or ()]

    def _build(self, outputs: Tensors) -> list[_OutputLoss]:
        """Make the losses for the structure of the outputs."""
        paths = list(_paths(outputs))
        if is_nested(self._loss):
            indices, identifiers = self._output_indices(paths, outputs), flatten(self._loss)
            insertion_order = list(_paths(self._loss, keeps_order=True))
            ranks = [insertion_order.index(path) for path in _paths(self._loss)]
        else:
            indices, identifiers = list(range(len(paths))), [self._loss] * len(paths)
            ranks = indices
        has_names = self._names is not None and len(self._names) == len(paths)
        names = _unique_names(self._names or ()) if has_names else [None] * len(paths)
        rows = zip(ranks, indices, identifiers, self._factors(len(identifiers)), strict=True)
        output_losses = [
            _OutputLoss(
                index,
                _make_loss(identifier),
                factor,
                _label(paths[index], names[index], identifier),
            )
            for _, index, identifier, factor in sorted(rows, key=lambda row: row[0])
            if identifier is not None
        ]
        if len(output_losses) > 1:
            with name_scope("compile_loss"):
                for output_loss in output_losses:
                    output_loss.mean = Mean(name=f"{output_loss.label}_loss")
        self._output_losses = output_losses
        return output_losses

    def _output_indices(self, output_paths: list[Path], outputs: Tensors) -> list[int]:
        """Return the index of the output that each loss is for.

        Raises:
            ValueError: the names of losses are not those of the outputs.
            KeyError: there is no output at the path of a loss.
        """
        loss_paths = list(_paths(self._loss))
        if isinstance(self._loss, Mapping) and not isinstance(outputs, Mapping):
            names = list(self._names or ())
            if set(names) != set(self._loss):
                raise ValueError(
                    f"loss must have one loss for each of the outputs {names}, but names "
                    f"{list(self._loss)}"
                )
            return [names.index(str(path[0])) for path in loss_paths]
        if not isinstance(self._loss, Mapping) and len(loss_paths) == len(output_paths):
            return list(range(len(output_paths)))
        indices = []
        for path in loss_paths:
            # An output can have several losses, in a list.
            candidates = [path, path[:-1]] if path and isinstance(path[-1], int) else [path]
            output_path = next((path for path in candidates if path in output_paths), None)
            if output_path is None:
                raise KeyError(
                    f"loss names {_joined(path)!r}, which is no output; the outputs are "
                    f"{[_joined(output_path) for output_path in output_paths]}"
                )
            indices.append(output_paths.index(output_path))
        return indices

    def _factors(self, count: int) -> list[float | None]:
        """Return the factor of each loss."""
        if self._weights is None or isinstance(self._weights, float):
            return [self._weights] * count
        factors, loss_count = flatten(self._weights), len(flatten(self._loss))
        if len(factors) != loss_count:
            raise ValueError(
                f"loss_weights must have a number for each of {loss_count} losses, but has "
                f"{len(factors)}"
            )
        return factors if loss_count == count else factors * count

    def __call__(
        self,
        y_true: Tensors,
        y_pred: Tensors,
        sample_weight: Tensors = None,
    ) -> Tensor | None:
        output_losses = self._output_losses
        if output_losses is None:
            output_losses = self._build(y_pred)
        used = sorted(output_loss.index for output_loss in output_losses)
        targets = _parts_of("y", y_true, y_pred, self._names, used)
        weights = _parts_of("sample_weight", sample_weight, y_pred, self._names, used)
        outputs = flatten(y_pred)
        total: Tensor | None = None
        for output_loss in output_losses:
            index = output_loss.index
            value = output_loss.loss(targets[index], outputs[index], sample_weight=weights[index])
            if output_loss.mean is not None:
                output_loss.mean.update_state(value, sample_weight=outputs[index].shape[0])
            if output_loss.factor is not None and output_loss.factor != 1:
                value = value * float(output_loss.factor)
            total = value if total is None else total + value
        return total

    @property
    def metrics(self) -> list[Metric]:
        """The means of the losses; there are none before the first batch."""
        return [
            output_loss.mean
            for output_loss in self._output_losses or ()
            if output_loss.mean is not None
        ]


def _label(path: Path, name: str | None, loss: LossLike) -> str:
    """Return an output's label in results: its key, its name, or the name of its loss."""
    if path and isinstance(path[-1], str):
        return _joined(path)
    return _joined((*path[:-1], name or _name_of(loss)))


def _unique_names(names: Iterable[str]) -> list[str | None]:
    """Return the names of outputs, with a number for each that an earlier output has.

    The outputs of an inner model all have its name.
    """
    unique: list[str | None] = []
    for name in names:
        unique_name, number = name, 0
        while unique_name in unique:
            number += 1
            unique_name = f"{name}_{number}"
        unique.append(unique_name)
    return unique


def _name_of(identifier: Any) -> str:
    """Return the name of a loss, a metric or a function."""
    if isinstance(identifier, str):
        return identifier
    if getattr(identifier, "name", None):
        return str(identifier.name)
    return to_snake_case(getattr(identifier, "__name__", type(identifier).__name__))


#: Names whose loss depends on the shapes of targets and outputs.
_CROSSENTROPIES = ("crossentropy", "ce")


def _comparison(y_true: Tensor, y_pred: Tensor) -> int:
    """Return 0 for two classes, 1 for integer classes, 2 for one-hot classes."""
    if y_pred.shape[-1:] == (1,):
        return 0
    is_sparse = len(y_true.shape) < len(y_pred.shape) or y_true.shape[-1:] == (1,)
    return 1 if is_sparse else 2


def _crossentropy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    functions: tuple[Callable[..., Tensor], ...] = (
        losses.binary_crossentropy,
        losses.sparse_categorical_crossentropy,
        losses.categorical_crossentropy,
    )
    return functions[_comparison(y_true, y_pred)](y_true, y_pred)


def _make_loss(identifier: LossIdentifier) -> Loss:
    loss = _crossentropy if identifier in _CROSSENTROPIES else losses.get(identifier)
    return loss if isinstance(loss, Loss) else LossFunctionWrapper(loss, name=_name_of(loss))


# -- metrics -----------------------------------------------------------------------------------


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
                if identifier is not None and identifier not in _CLASSES_BY_COMPARISON:
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
        targets = _parts_of("y", y_true, y_pred, self._names, self._used)
        weights = _parts_of("sample_weight", sample_weight, y_pred, self._names, self._used)
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
        _check_names(argument, structure, names or ())
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
        _check_names(argument, structure, outputs)
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


#: Names of metrics for two classes, integer classes and one-hot classes.
_ACCURACIES = ("BinaryAccuracy", "SparseCategoricalAccuracy", "CategoricalAccuracy")
_CROSSENTROPY_METRICS = (
    "BinaryCrossentropy",
    "SparseCategoricalCrossentropy",
    "CategoricalCrossentropy",
)
#: Names whose metric depends on the shapes of targets and outputs.
_CLASSES_BY_COMPARISON = {
    **dict.fromkeys(("accuracy", "acc"), _ACCURACIES),
    **dict.fromkeys(_CROSSENTROPIES, _CROSSENTROPY_METRICS),
}


def _make_metric(identifier: MetricIdentifier, y_true: Tensor, y_pred: Tensor) -> Metric:
    metric: Metric | Callable[..., Tensor]
    if isinstance(identifier, str) and identifier in _CLASSES_BY_COMPARISON:
        class_name = _CLASSES_BY_COMPARISON[identifier][_comparison(y_true, y_pred)]
        metric = getattr(metrics_module, class_name)()
    else:
        metric = metrics_module.get(identifier)
    if not isinstance(metric, Metric):
        metric = metrics_module.MeanMetricWrapper(metric, name=_name_of(metric))
    if isinstance(identifier, str):
        metric.name = identifier
    return metric
