"""Parts of the loops of ``fit``, ``evaluate`` and ``predict``: taking batches, reading results."""

from __future__ import annotations

from collections import UserDict
from collections.abc import (
    Awaitable,
    Container,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from typing import TYPE_CHECKING, Any, TypeAlias
from warnings import warn

from webtensor.engine import Tensor
from webtensor.keras.models.awaitables import Wait, required
from webtensor.keras.models.batches import AsyncBatches, Batch, Batches
from webtensor.keras.settings import max_epochs, max_steps_per_epoch
from webtensor.keras.types import Tensors
from webtensor.nest import flatten, pack
from webtensor.ops import concat

if TYPE_CHECKING:
    from webtensor.keras.callbacks import CallbackList
    from webtensor.keras.models.training import Trainer

__all__ = [
    "LazyResults",
    "Logs",
    "Results",
    "as_logs",
    "concatenated",
    "is_validation_due",
    "limit_epochs",
    "limit_steps",
    "next_batches",
    "round_up",
    "wait_for_callbacks",
    "wait_for_results",
    "warn_of_missing_batches",
]

#: The loss and the metrics by name, as Python numbers.
Logs: TypeAlias = dict[str, float]
#: The loss and the metrics by name, as scalar tensors or numbers, or dictionaries of these.
Results: TypeAlias = Mapping[str, "Tensor | float | Results"]

# -- results -----------------------------------------------------------------------------------


class LazyResults(UserDict[str, Any]):
    """The results of a model's metrics, computed when they are first read."""

    def __init__(self, model: Trainer) -> None:
        self._model: Trainer | None = model
        self._values: dict[str, Any] = {}

    @property
    def data(self) -> dict[str, Any]:  # type: ignore[override]
        """The results, for the methods of UserDict."""
        if self._model is not None:
            self._values = self._model.get_metrics_result()
            self._model = None
        return self._values


def wait_for_results(results: Results) -> Generator[Wait, object, None]:
    """Wait until the host has the values of results."""
    for value in flatten(list(results.values())):
        if isinstance(value, Tensor):
            yield value.data


def as_logs(results: Results) -> Logs:
    """Return results as numbers, sorted by name as in Keras, without nested dictionaries."""
    logs: Logs = {}
    for name, value in sorted(results.items()):
        if isinstance(value, Mapping):
            logs.update(as_logs(value))
        else:
            logs[name] = value.tolist() if hasattr(value, "tolist") else float(value)
    return logs


# -- batches -----------------------------------------------------------------------------------


def concatenated(outputs: Sequence[Tensors]) -> Tensors:
    """Return the outputs of several batches as those of one batch."""
    if len(outputs) == 1:
        return outputs[0]
    columns = zip(*(flatten(output) for output in outputs), strict=True)
    structure: Tensors = pack(outputs[0], [concat(list(column), axis=0) for column in columns])
    return structure


def round_up(steps: int | None, multiple: int) -> int | None:
    """Return a number of steps, rounded up to whole executions of ``multiple`` steps."""
    return None if steps is None else -(-steps // multiple) * multiple


def limit_epochs(epochs: int) -> int:
    """Return a number of epochs, limited by ``keras.config``."""
    maximum = max_epochs()
    return epochs if maximum is None else min(epochs, maximum)


def limit_steps(steps: int | None, data: Batches) -> int | None:
    """Return a number of batches per epoch, limited by ``keras.config``; None is all."""
    maximum = max_steps_per_epoch()
    requested = steps or data.steps
    if maximum is None or (requested is not None and requested <= maximum):
        return steps
    return maximum


def warn_of_missing_batches(name: str, count: int, requested: int | None) -> None:
    """Warn if there were fewer batches than requested."""
    if requested is not None and 0 < count < requested:
        warn(f"{name}: x made {count} batches, but {requested} are wanted", stacklevel=2)


def next_batches(
    source: Iterator[Batch] | AsyncBatches, size: int
) -> Generator[Wait, Any, list[Batch]]:
    """Return the next ``size`` batches, or all that are left."""
    batches: list[Batch] = []
    while len(batches) < size and (batch := (yield from _next(source))) is not None:
        batches.append(batch)
    return batches


def _next(
    source: Iterator[Batch] | AsyncBatches,
) -> Generator[Wait, Any, Batch | None]:
    if not isinstance(source, AsyncBatches):
        return next(source, None)

    async def next_or_none() -> Batch | None:
        try:
            batch: Batch = await source.__anext__()
        except StopAsyncIteration:
            return None
        return batch

    batch: Batch | None = yield required(
        next_or_none,
        "x is an asynchronous iterator, which needs fit_async, evaluate_async or predict_async",
    )
    return batch


def wait_for_callbacks(callbacks: CallbackList) -> Generator[Wait, object, None]:
    """Wait for asynchronous callbacks."""
    while callbacks.awaited:
        awaitable = callbacks.awaited.pop(0)

        def wait(awaitable: Awaitable[object] = awaitable) -> Awaitable[object]:
            return awaitable

        yield required(
            wait,
            "a callback is asynchronous, which needs fit_async, evaluate_async or predict_async",
        )


def is_validation_due(epoch: int, frequency: int | Container[int]) -> bool:
    """Whether to validate after an epoch, counted from 0: ``frequency`` is ``validation_freq``."""
    if isinstance(frequency, int):
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency
