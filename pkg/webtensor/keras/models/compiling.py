"""What ``compile`` is told: losses, metrics and weights, for one output or for many.

Which metric "accuracy" means depends on what it compares, so losses and metrics are settled at
their first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from webtensor.keras import losses, metrics
from webtensor.keras.losses.base import LossFunctionWrapper
from webtensor.keras.names import nearest
from webtensor.keras.nest import flatten, is_nested

__all__ = ["CompiledLoss", "CompiledMetrics", "aligned"]


def aligned(argument: str, given: Any, outputs: Any, names: Sequence[str]) -> list[Any]:
    """Return what was given for each output: one thing for all, a list, or some by name.

    Raises:
        ValueError: there are more or fewer than outputs, or a name is unknown.
    """
    count = len(flatten(outputs))
    if isinstance(given, Mapping):
        keys = sorted(outputs) if isinstance(outputs, Mapping) else list(names)
        for name in given:
            if name not in keys:
                raise ValueError(
                    f"{argument} names {name!r}, which is no output{nearest(name, keys)}; the "
                    f"outputs are {keys}"
                )
        return [given.get(name) for name in keys]
    if isinstance(given, (list, tuple)):
        if len(given) != count:
            raise ValueError(f"{argument} has {len(given)} entries, but there are {count} outputs")
        return list(given)
    return [given] * count


def parted(argument: str, values: Any, outputs: Any, names: Sequence[str]) -> list[Any]:
    """Return targets or weights for each output."""
    if values is None:
        return [None] * len(flatten(outputs))
    if isinstance(values, Mapping):
        return aligned(argument, values, outputs, names)
    found = flatten(values) if is_nested(values) else [values]
    count = len(flatten(outputs))
    if len(found) == 1 < count and argument == "sample_weight":
        return found * count
    if len(found) != count:
        raise ValueError(f"{argument} has {len(found)} parts, but there are {count} outputs")
    return found


class CompiledLoss:
    """The loss of all outputs together, and a running mean of each one's."""

    def __init__(self, loss: Any, weights: Any, names: Callable[[Any], Sequence[str]]) -> None:
        for one in flatten(loss):
            losses.get(one)  # an unknown name is told at once
        self._given, self._weights, self._names = loss, weights, names
        self._losses: list[Any] | None = None
        self._scales: list[Any] = []
        self.metrics: list[Any] = []

    def _settle(self, outputs: Any) -> list[Any]:
        names = self._names(outputs)
        found = [_loss(one) for one in aligned("loss", self._given, outputs, names)]
        self._scales = aligned("loss_weights", self._weights, outputs, names)
        if sum(one is not None for one in found) > 1:
            self.metrics = [
                None if one is None else metrics.Mean(name=f"{name}_loss")
                for one, name in zip(found, names, strict=True)
            ]
        self._losses = found
        return found

    def __call__(self, truths: Any, outputs: Any, sample_weights: Any = None) -> Any:
        found = self._losses or self._settle(outputs)
        names = self._names(outputs)
        rows = zip(
            found,
            self._scales,
            self.metrics or [None] * len(found),
            parted("y", truths, outputs, names),
            flatten(outputs),
            parted("sample_weight", sample_weights, outputs, names),
            strict=True,
        )
        total = None
        for loss, scale, metric, truth, output, weight in rows:
            if loss is None or truth is None:
                continue
            value = loss(truth, output, sample_weight=weight)
            if metric is not None:
                metric.update_state(value, sample_weight=output.shape[0])
            if scale is not None and scale != 1:
                value = value * float(scale)
            total = value if total is None else total + value
        return total

    @property
    def own_metrics(self) -> list[Any]:
        """The running means, in the order in which losses were given."""
        found = [one for one in self.metrics if one is not None]
        if isinstance(self._given, Mapping):
            order = [f"{name}_loss" for name in self._given]
            found.sort(key=lambda one: order.index(one.name))
        return found


def _loss(given: Any) -> Any:
    found = losses.get(given)
    if found is None or isinstance(found, losses.Loss):
        return found
    return LossFunctionWrapper(found, name=getattr(found, "__name__", None))


class CompiledMetrics:
    """The metrics of all outputs."""

    def __init__(self, given: Any, weighted: Any, names: Callable[[Any], Sequence[str]]) -> None:
        for one in (*flatten(given), *flatten(weighted)):
            if one is not None and one not in _BY_SHAPE:
                metrics.get(one)
        self._given, self._weighted, self._names = given, weighted, names
        #: Metric, place of its output, whether samples are weighted.
        self._rows: list[tuple[Any, int, bool]] | None = None

    @property
    def metrics(self) -> list[Any]:
        """All metrics, once they are settled."""
        return [row[0] for row in self._rows or ()]

    def _settle(self, truths: list[Any], outputs: Any, names: Sequence[str]) -> None:
        flat = flatten(outputs)
        rows: list[tuple[Any, int, bool]] = []
        for argument, given, is_weighted in (
            ("metrics", self._given, False),
            ("weighted_metrics", self._weighted, True),
        ):
            for place, chosen in enumerate(_per_output(argument, given, outputs, names)):
                for one in chosen:
                    metric = _metric(one, truths[place], flat[place])
                    if len(flat) > 1:
                        metric.name = f"{names[place]}_{metric.name}"
                    rows.append((metric, place, is_weighted))
        taken: set[str] = set()
        for metric, _, _ in rows:
            name, number = metric.name, 1
            while metric.name in taken:
                metric.name, number = f"{name}_{number}", number + 1
            taken.add(metric.name)
        self._rows = rows

    def update_state(self, truths: Any, outputs: Any, sample_weights: Any = None) -> None:
        """Let all metrics see a batch."""
        names = self._names(outputs)
        parts = parted("y", truths, outputs, names)
        weights = parted("sample_weight", sample_weights, outputs, names)
        if self._rows is None:
            self._settle(parts, outputs, names)
        flat = flatten(outputs)
        for metric, place, is_weighted in self._rows or ():
            if parts[place] is not None:
                weight = weights[place] if is_weighted else None
                metric.update_state(parts[place], flat[place], sample_weight=weight)


def _per_output(argument: str, given: Any, outputs: Any, names: Sequence[str]) -> list[list[Any]]:
    """The metrics of each output."""
    count = len(flatten(outputs))
    if given is None:
        return [[]] * count
    if isinstance(given, Mapping):
        rows = aligned(argument, given, outputs, names)
    elif count == 1:
        rows = [flatten(given)]
    elif isinstance(given, (list, tuple)) and any(is_nested(one) for one in given):
        rows = aligned(argument, list(given), outputs, names)
    elif isinstance(given, (list, tuple)) and len(given) == count:
        rows = list(given)
    else:
        rows = [given] * count
    return [[one for one in flatten(row) if one is not None] for row in rows]


#: Names whose metric depends on what is compared: of two classes, of numbers of classes, of one-hot
#: rows.
_BY_SHAPE = {
    name: kinds
    for names, kinds in (
        (
            ("accuracy", "acc"),
            ("BinaryAccuracy", "SparseCategoricalAccuracy", "CategoricalAccuracy"),
        ),
        (
            ("crossentropy", "ce"),
            ("BinaryCrossentropy", "SparseCategoricalCrossentropy", "CategoricalCrossentropy"),
        ),
    )
    for name in names
}


def _metric(given: Any, truth: Any, output: Any) -> Any:
    if isinstance(given, str) and given in _BY_SHAPE:
        last, of_truth = output.shape[-1:], truth.shape[-1:]
        is_binary = last == (1,)
        is_sparse = len(truth.shape) < len(output.shape) or (of_truth == (1,) and last != (1,))
        kind = _BY_SHAPE[given][0 if is_binary else 1 if is_sparse else 2]
        found = getattr(metrics, kind)()
    else:
        found = metrics.get(given)
    if not isinstance(found, metrics.Metric):
        found = metrics.MeanMetricWrapper(found, name=getattr(found, "__name__", None))
    if isinstance(given, str):
        found.name = given
    return found
