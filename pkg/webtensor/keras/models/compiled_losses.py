"""The losses that ``compile`` accepts, for one output or a structure of outputs.

Outputs can be nested, and losses like them. Losses are made when the first batch is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from webtensor.engine import Tensor
from webtensor.keras import losses
from webtensor.keras.losses import Loss
from webtensor.keras.losses.base import LossFunctionWrapper
from webtensor.keras.metrics import Mean, Metric
from webtensor.keras.models.output_parts import (
    CROSSENTROPIES,
    class_encoding,
    name_of,
    parts_of_outputs,
)
from webtensor.keras.names import name_scope, to_snake_case
from webtensor.keras.types import Config, Tensors
from webtensor.nest import flatten, is_nested, keys

__all__ = ["CompiledLoss", "LossLike", "LossWeights"]

#: A loss, its name, its configuration or a function.
LossIdentifier: TypeAlias = "str | Config | Loss | Callable[..., Any] | None"
#: A loss, or a structure of losses.
LossLike: TypeAlias = "LossIdentifier | Sequence[LossLike] | Mapping[str, LossLike]"
#: Factors of the losses.
LossWeights: TypeAlias = "float | Sequence[LossWeights] | Mapping[str, LossWeights] | None"
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
            if identifier not in CROSSENTROPIES:
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
        targets = parts_of_outputs("y", y_true, y_pred, self._names, used)
        weights = parts_of_outputs("sample_weight", sample_weight, y_pred, self._names, used)
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
    return _joined((*path[:-1], name or name_of(loss)))


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


def _crossentropy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """The crossentropy of targets in any encoding, such as ``sparse_categorical_crossentropy``."""
    encoding = to_snake_case(class_encoding(y_true, y_pred))
    function: Callable[..., Tensor] = getattr(losses, f"{encoding}_crossentropy")
    return function(y_true, y_pred)


def _make_loss(identifier: LossIdentifier) -> Loss:
    loss = _crossentropy if identifier in CROSSENTROPIES else losses.get(identifier)
    return loss if isinstance(loss, Loss) else LossFunctionWrapper(loss, name=name_of(loss))
