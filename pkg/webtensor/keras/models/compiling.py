"""What ``compile`` is told: losses, metrics and weights, for one output or for many.

Outputs may be nested, and so may be losses and metrics. Which metric "accuracy" means depends on
what it compares, so losses and metrics are settled at their first use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webtensor.keras import losses, metrics
from webtensor.keras.losses.base import LossFunctionWrapper
from webtensor.keras.names import name_scope, nearest, to_snake_case
from webtensor.keras.nest import flatten, is_nested, keys

__all__ = ["CompiledLoss", "CompiledMetrics"]

#: Where something is in a structure.
Path = tuple[Any, ...]


def _paths(structure: Any, as_written: bool = False, start: Path = ()) -> Iterator[Path]:
    """Where things are in a structure, in the order of keys, or in that of the text."""
    if not is_nested(structure):
        yield start
        return
    is_dictionary = isinstance(structure, dict)
    for key in structure if as_written and is_dictionary else keys(structure):
        yield from _paths(structure[key], as_written, (*start, key))


def _told(path: Path) -> str:
    return "/".join(str(one) for one in path)


def _require_known(argument: str, given: Iterable[Any], known: Iterable[Any]) -> None:
    choices = list(known)
    for name in given:
        if name not in choices:
            raise ValueError(
                f"{argument} names {name!r}, which is no output{nearest(name, choices)}; the "
                f"outputs are {choices}"
            )


def _parted(
    argument: str, values: Any, outputs: Any, names: Sequence[str] | None, used: Sequence[int]
) -> list[Any]:
    """Targets or weights for each output; ``used`` are the places of those in use.

    Raises:
        ValueError: there are other ones, or too few.
    """
    if not is_nested(outputs) and not is_nested(values):
        return [values]
    count = len(flatten(outputs))
    if values is None or (argument == "sample_weight" and not is_nested(values)):
        return [values] * count
    parts: list[Any] = flatten(values)
    if isinstance(values, Mapping) and isinstance(outputs, Mapping):
        found = _by_key(argument, values, outputs)
    elif isinstance(values, Mapping) and is_nested(outputs):
        outputs = dict(zip(names or (), range(count), strict=False))
        _require_known(argument, values, outputs)
        found = [values.get(name) for name in outputs]
    elif len(parts) == count:
        found = parts
    elif len(parts) == len(used):
        placed = dict(zip(used, parts, strict=True))
        found = [placed.get(place) for place in range(count)]
    else:
        raise ValueError(f"{argument} has {len(parts)} parts, but there are {count} outputs")
    lacking = [place for place in used if found[place] is None]
    if lacking and argument == "y":
        lacks = names[lacking[0]] if names else lacking[0]
        raise ValueError(f"y has nothing for output {lacks!r}, which has a loss or a metric")
    return found


def _by_key(argument: str, values: Any, outputs: Any) -> list[Any]:
    """Values for each output of a structure; None where there is none."""
    if values is None:
        return [None] * len(flatten(outputs))
    if isinstance(outputs, Mapping) and isinstance(values, Mapping):
        _require_known(argument, values, outputs)
        rows = [_by_key(argument, values.get(key), outputs[key]) for key in keys(outputs)]
        return [one for row in rows for one in row]
    found, count = flatten(values), len(flatten(outputs))
    if len(found) != count:
        raise ValueError(f"{argument} has {len(found)} parts where there are {count} outputs")
    return found


# -- losses ------------------------------------------------------------------------------------


@dataclass
class _Row:
    """The loss of the output at a place."""

    place: int
    loss: Any
    factor: Any
    label: str
    mean: Any = None


class CompiledLoss:
    """The loss of all outputs together, and a running mean of each one's.

    ``names`` are those of the outputs, where they have some.
    """

    def __init__(self, loss: Any, weights: Any = None, names: Sequence[str] | None = None) -> None:
        for one in flatten(loss):
            if one not in _CROSSENTROPIES:
                losses.get(one)  # an unknown name is told at once
        if weights is not None and not isinstance(weights, (float, list, tuple, dict)):
            raise ValueError(
                "loss_weights must be a float, for one output, or a list, a tuple or a dictionary "
                f"of numbers, but is {weights!r}"
            )
        self._given, self._weights, self._names = loss, weights, names
        #: In the order in which losses were given.
        self._rows: list[_Row] | None = None

    def _settle(self, outputs: Any) -> list[_Row]:
        paths = list(_paths(outputs))
        if is_nested(self._given):
            places, given = self._places(paths, outputs), flatten(self._given)
            written = list(_paths(self._given, as_written=True))
            ranks = [written.index(path) for path in _paths(self._given)]
        else:
            places, given = list(range(len(paths))), [self._given] * len(paths)
            ranks = places
        found = zip(ranks, places, given, self._factors(len(given)), strict=True)
        known = self._names is not None and len(self._names) == len(paths)
        names = list(self._names or ()) if known else [None] * len(paths)
        rows = [
            _Row(place, _loss(one), factor, _label(paths[place], names[place], one))
            for _, place, one, factor in sorted(found, key=lambda row: row[0])
            if one is not None
        ]
        if len(rows) > 1:
            with name_scope("compile_loss"):
                for row in rows:
                    row.mean = metrics.Mean(name=f"{row.label}_loss")
        self._rows = rows
        return rows

    def _places(self, paths: list[Path], outputs: Any) -> list[int]:
        """The places of the outputs that losses are for."""
        given = self._given
        wanted = list(_paths(given))
        if isinstance(given, Mapping) and not isinstance(outputs, Mapping):
            names = list(self._names or ())
            if set(names) != set(given):
                raise ValueError(
                    f"loss must have one loss for each of the outputs {names}, but names "
                    f"{list(given)}"
                )
            return [names.index(path[0]) for path in wanted]
        if not isinstance(given, Mapping) and len(wanted) == len(paths):
            return list(range(len(paths)))
        places = []
        for path in wanted:
            # Several losses may be given for an output, in a list.
            ends = [path, path[:-1]] if path and isinstance(path[-1], int) else [path]
            place = next((one for one in ends if one in paths), None)
            if place is None:
                raise KeyError(
                    f"loss names {_told(path)!r}, which is no output; the outputs are "
                    f"{[_told(one) for one in paths]}"
                )
            places.append(paths.index(place))
        return places

    def _factors(self, count: int) -> list[Any]:
        """The factor of each loss."""
        if self._weights is None or isinstance(self._weights, float):
            return [self._weights] * count
        factors, wanted = flatten(self._weights), len(flatten(self._given))
        if len(factors) != wanted:
            raise ValueError(
                f"loss_weights must have a number for each of {wanted} losses, but has "
                f"{len(factors)}"
            )
        return factors if wanted == count else factors * count

    def __call__(self, truths: Any, outputs: Any, sample_weights: Any = None) -> Any:
        rows = self._settle(outputs) if self._rows is None else self._rows
        used = sorted(row.place for row in rows)
        parts = _parted("y", truths, outputs, self._names, used)
        weights = _parted("sample_weight", sample_weights, outputs, self._names, used)
        flat = flatten(outputs)
        total = None
        for row in rows:
            truth, output = parts[row.place], flat[row.place]
            value = row.loss(truth, output, sample_weight=weights[row.place])
            if row.mean is not None:
                row.mean.update_state(value, sample_weight=output.shape[0])
            if row.factor is not None and row.factor != 1:
                value = value * float(row.factor)
            total = value if total is None else total + value
        return total

    @property
    def metrics(self) -> list[Any]:
        """The running means, once they are settled."""
        return [row.mean for row in self._rows or () if row.mean is not None]


def _label(path: Path, name: str | None, loss: Any) -> str:
    """What results call an output: its key, its name, or the name of its loss."""
    if path and isinstance(path[-1], str):
        return _told(path)
    return _told((*path[:-1], name or _name_of(loss)))


def _name_of(given: Any) -> str:
    """The name of a loss or a metric, or of a function."""
    if isinstance(given, str):
        return given
    if getattr(given, "name", None):
        return str(given.name)
    return to_snake_case(getattr(given, "__name__", type(given).__name__))


#: Names whose loss depends on what is compared.
_CROSSENTROPIES = ("crossentropy", "ce")


def _kind(truth: Any, output: Any) -> int:
    """0 where two classes are compared, 1 with numbers of classes, 2 with one-hot rows."""
    last, of_truth = output.shape[-1:], truth.shape[-1:]
    if last == (1,):
        return 0
    return 1 if len(truth.shape) < len(output.shape) or of_truth == (1,) else 2


def _crossentropy(truth: Any, output: Any) -> Any:
    functions = (
        losses.binary_crossentropy,
        losses.sparse_categorical_crossentropy,
        losses.categorical_crossentropy,
    )
    return functions[_kind(truth, output)](truth, output)


def _loss(given: Any) -> Any:
    found = _crossentropy if given in _CROSSENTROPIES else losses.get(given)
    if isinstance(found, losses.Loss):
        return found
    return LossFunctionWrapper(found, name=_name_of(found))


# -- metrics -----------------------------------------------------------------------------------


class CompiledMetrics(metrics.Metric):
    """The metrics of all outputs, as one metric whose result is a dictionary.

    ``names`` are those of the outputs, where they have some.
    """

    def __init__(
        self, given: Any, weighted: Any = None, names: Sequence[str] | None = None
    ) -> None:
        super().__init__(name="compile_metrics")
        for argument, metrics_given in (("metrics", given), ("weighted_metrics", weighted)):
            if not isinstance(metrics_given, (list, tuple, dict, type(None))):
                raise ValueError(
                    f"{argument} must be a list, a tuple or a dictionary, but is {metrics_given!r}"
                )
            for one in flatten(metrics_given):
                if one is not None and one not in _BY_SHAPE:
                    metrics.get(one)
        self._given, self._weighted, self._names = given, weighted, names
        #: Place of an output, what was given for it, whether samples are weighted; those places.
        self._chosen: list[tuple[int, Any, bool]] | None = None
        self._used: list[int] = []
        #: Name of the result, metric, place of its output, whether samples are weighted.
        self._rows: list[tuple[str, Any, int, bool]] = []

    @property
    def metrics(self) -> list[Any]:
        """All metrics, once they are settled."""
        return [row[1] for row in self._rows]

    @property
    def variables(self) -> list[Any]:
        """The state of all metrics."""
        return [variable for one in self.metrics for variable in one.variables]

    def _settle(self, truths: list[Any], outputs: Any) -> None:
        """Make the metrics, and name their results."""
        flat, labels = flatten(outputs), self._labels(outputs)
        taken: Counter[str] = Counter()
        for place, given, is_weighted in self._chosen or ():
            metric = _metric(given, truths[place], flat[place])
            start = "" if labels is None else f"{labels[place]}_"
            name = start + metric.name
            if is_weighted and taken[name]:
                name = f"{start}weighted_{metric.name}"
            taken[name] += 1
            unique = name if taken[name] == 1 else f"{name}_{taken[name] - 1}"
            self._rows.append((unique, metric, place, is_weighted))

    def _choices(self, outputs: Any) -> list[tuple[int, Any, bool]]:
        found = []
        for argument, given in (("metrics", self._given), ("weighted_metrics", self._weighted)):
            chosen = _per_output(argument, given, outputs, self._names)
            found += [
                (place, one, argument == "weighted_metrics")
                for place in self._order(outputs)
                for one in chosen[place]
            ]
        return found

    def _labels(self, outputs: Any) -> Sequence[str] | None:
        """What names of results begin with: keys of outputs, or their names."""
        count = len(flatten(outputs))
        if count == 1:
            return None
        if isinstance(outputs, Mapping) and count == len(outputs):
            return [str(key) for key in keys(outputs)]
        return self._names if self._names is not None and len(self._names) == count else None

    def _order(self, outputs: Any) -> list[int]:
        """The places of outputs, in the order of the names that these have, if they have some."""
        if isinstance(outputs, Mapping) and self._names and set(self._names) == set(outputs):
            places = {key: place for place, key in enumerate(keys(outputs))}
            return [places[name] for name in self._names]
        return list(range(len(flatten(outputs))))

    def update_state(self, truths: Any, outputs: Any, sample_weights: Any = None) -> None:
        """Let all metrics see a batch."""
        if self._chosen is None:
            self._chosen = self._choices(outputs)
            self._used = sorted({place for place, _, _ in self._chosen})
        used = self._used
        parts = _parted("y", truths, outputs, self._names, used)
        weights = _parted("sample_weight", sample_weights, outputs, self._names, used)
        if not self._rows:
            self._settle(parts, outputs)
        flat = flatten(outputs)
        for _, metric, place, is_weighted in self._rows:
            weight = weights[place] if is_weighted else None
            metric.update_state(parts[place], flat[place], sample_weight=weight)

    def reset_state(self) -> None:
        """Let all metrics begin anew."""
        for metric in self.metrics:
            metric.reset_state()

    def result(self) -> dict[str, Any]:
        """Return what all metrics have come to, by name."""
        found: dict[str, Any] = {}
        for name, metric, _, _ in self._rows:
            result = metric.result()
            found.update(result if isinstance(result, Mapping) else {name: result})
        return found


def _per_output(
    argument: str, given: Any, outputs: Any, names: Sequence[str] | None
) -> list[list[Any]]:
    """The metrics of each output."""
    count = len(flatten(outputs))
    if not given:
        return [[]] * count
    if count == 1:
        if None in flatten(given):
            raise ValueError(f"{argument} has None among the metrics of the only output: {given}")
        return [flatten(given)]
    if isinstance(given, Mapping) and not isinstance(outputs, Mapping):
        _require_known(argument, given, names or ())
        return [_alone(given.get(name)) for name in names or ()]
    is_flat = isinstance(outputs, Mapping) and len(outputs) == count
    if is_flat and not isinstance(given, Mapping) and len(given) == count:
        return [_alone(one) for one in given]
    return _along(argument, given, outputs)


def _alone(given: Any) -> list[Any]:
    """The metrics of one output."""
    return [one for one in flatten(given) if one is not None]


def _along(argument: str, given: Any, outputs: Any) -> list[list[Any]]:
    """The metrics of each output of a structure, which were given in one like it."""
    if not is_nested(outputs):
        return [_alone(given)]
    if given is None:
        return [[]] * len(flatten(outputs))
    if isinstance(outputs, Mapping) and isinstance(given, Mapping):
        _require_known(argument, given, outputs)
        rows = [_along(argument, given.get(key), outputs[key]) for key in keys(outputs)]
    elif isinstance(outputs, Mapping) or isinstance(given, Mapping) or len(given) != len(outputs):
        raise ValueError(
            f"{argument} must have as many entries as there are outputs, {len(outputs)}, each a "
            f"metric, a list of some or None, but is {given!r}"
        )
    else:
        rows = [_along(argument, one, part) for one, part in zip(given, outputs, strict=True)]
    return [one for row in rows for one in row]


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
            _CROSSENTROPIES,
            ("BinaryCrossentropy", "SparseCategoricalCrossentropy", "CategoricalCrossentropy"),
        ),
    )
    for name in names
}


def _metric(given: Any, truth: Any, output: Any) -> Any:
    if isinstance(given, str) and given in _BY_SHAPE:
        found = getattr(metrics, _BY_SHAPE[given][_kind(truth, output)])()
    else:
        found = metrics.get(given)
    if not isinstance(found, metrics.Metric):
        found = metrics.MeanMetricWrapper(found, name=_name_of(found))
    if isinstance(given, str):
        found.name = given
    return found
