"""The steps of a loop: which batches they take, and what they come to."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Generator, Mapping, Sequence
from typing import Any
from warnings import warn

from webtensor.engine import Tensor
from webtensor.keras.config import max_epochs, max_steps_per_epoch
from webtensor.keras.models.awaitables import Wait, needed
from webtensor.keras.models.batches import Batches
from webtensor.keras.nest import flatten, pack
from webtensor.ops import concat

__all__ = [
    "Logs",
    "Results",
    "callbacks_done",
    "floats",
    "is_due",
    "joined",
    "limited_epochs",
    "limited_steps",
    "next_batches",
    "reading",
    "rounded",
    "warn_of_too_few",
]

Logs = dict[str, float]

# -- results -----------------------------------------------------------------------------------


class Results(UserDict[str, Any]):
    """What metrics have come to, by name; computed when it is first looked at."""

    def __init__(self, model: Any) -> None:
        self._model: Any = model
        self._values: dict[str, Any] = {}

    @property
    def data(self) -> dict[str, Any]:  # type: ignore[override]
        """The results, as UserDict's methods see them."""
        if self._model is not None:
            self._values = self._model.get_metrics_result()
            self._model = None
        return self._values


def reading(results: Any) -> Generator[Wait, Any, None]:
    """Wait for scalars, which the host then knows."""
    for value in flatten(list(results.values())):
        if isinstance(value, Tensor):
            yield value.data


def floats(results: Any) -> Logs:
    """Scalars by name, in the order of the names, as Keras has them; those in a mapping, too."""
    logs: Logs = {}
    for name, value in sorted(results.items()):
        if isinstance(value, Mapping):
            logs.update(floats(value))
        else:
            logs[name] = value.tolist() if hasattr(value, "tolist") else float(value)
    return logs


# -- batches -----------------------------------------------------------------------------------


def joined(outputs: Sequence[Any]) -> Any:
    """Outputs of batches as those of all their samples."""
    if len(outputs) == 1:
        return outputs[0]
    columns = zip(*(flatten(one) for one in outputs), strict=True)
    return pack(outputs[0], [concat(list(column), axis=0) for column in columns])


def rounded(steps: int | None, size: int) -> int | None:
    """A number of steps as one of whole executions."""
    return None if steps is None else -(-steps // size) * size


def limited_epochs(epochs: int) -> int:
    """As many epochs as ``keras.config`` allows."""
    most = max_epochs()
    return epochs if most is None else min(epochs, most)


def limited_steps(steps: int | None, data: Batches) -> int | None:
    """As many batches an epoch as ``keras.config`` allows; None is all."""
    most = max_steps_per_epoch()
    wanted = steps or data.steps
    return steps if most is None or (wanted is not None and wanted <= most) else most


def warn_of_too_few(name: str, count: int, wanted: int | None) -> None:
    if wanted is not None and 0 < count < wanted:
        warn(f"{name}: x made {count} batches, but {wanted} are wanted", stacklevel=2)


def next_batches(source: Any, size: int) -> Generator[Wait, Any, list[Any]]:
    """The next batches, as many as given, or those that are left."""
    found: list[Any] = []
    while len(found) < size and (batch := (yield from _next(source))) is not None:
        found.append(batch)
    return found


def _next(source: Any) -> Generator[Wait, Any, Any]:
    """The next batch, or None."""
    if not hasattr(source, "__anext__"):
        return next(source, None)

    async def awaited() -> Any:
        try:
            return await source.__anext__()
        except StopAsyncIteration:
            return None

    return (
        yield needed(
            awaited,
            "x is an asynchronous iterator, which needs fit_async, evaluate_async or predict_async",
        )
    )


def callbacks_done(notes: Any) -> Generator[Wait, Any, None]:
    """Wait for callbacks that are asynchronous."""
    while notes.awaited:
        waiting = notes.awaited.pop(0)
        yield needed(
            lambda waiting=waiting: waiting,  # type: ignore[misc]
            "a callback is asynchronous, which needs fit_async",
        )


def is_due(epoch: int, frequency: Any) -> bool:
    if isinstance(frequency, int):
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency
