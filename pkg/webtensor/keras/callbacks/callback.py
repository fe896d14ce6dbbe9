"""The base of callbacks, the list that a loop calls, and the simplest ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

__all__ = ["Callback", "CallbackList", "History", "LambdaCallback"]

Logs = Mapping[str, Any] | None


class Callback:
    """Something that a loop calls, at moments named by its methods.

    ``self.model`` is the model and ``self.params`` has ``epochs``, ``steps`` and ``verbose``. A
    method may be a coroutine function: ``fit_async`` then awaits it.

    Example:
        >>> from webtensor import keras
        >>> class Loud(keras.callbacks.Callback):
        ...     def on_epoch_end(self, epoch, logs=None):
        ...         print(epoch, logs["loss"] < 100)
        >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        >>> model.compile(loss="mse")
        >>> _ = model.fit([[1.0]], [[2.0]], epochs=2, verbose=0, callbacks=[Loud()])
        0 True
        1 True
    """

    def __init__(self) -> None:
        self.params: dict[str, Any] = {}
        self._model: Any = None

    def set_params(self, params: dict[str, Any]) -> None:
        """Be told of the loop."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Be told of the model."""
        self._model = model

    @property
    def model(self) -> Any:
        """The model that the loop is about."""
        return self.__dict__.get("_model")

    def needs_logs(self, batch: int) -> bool:
        """Whether logs are wanted at a batch's end; without, they need not be read."""
        return True

    def on_batch_begin(self, batch: int, logs: Logs = None) -> Any:
        """Another name of ``on_train_batch_begin``."""

    def on_batch_end(self, batch: int, logs: Logs = None) -> Any:
        """Another name of ``on_train_batch_end``."""

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> Any:
        """An epoch begins."""

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> Any:
        """An epoch has ended, its validation included."""

    def on_train_batch_begin(self, batch: int, logs: Logs = None) -> Any:
        """A batch of training begins."""
        return self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> Any:
        """A batch of training has ended."""
        return self.on_batch_end(batch, logs)

    def on_test_batch_begin(self, batch: int, logs: Logs = None) -> Any:
        """A batch of evaluation begins."""

    def on_test_batch_end(self, batch: int, logs: Logs = None) -> Any:
        """A batch of evaluation has ended."""

    def on_predict_batch_begin(self, batch: int, logs: Logs = None) -> Any:
        """A batch of prediction begins."""

    def on_predict_batch_end(self, batch: int, logs: Logs = None) -> Any:
        """A batch of prediction has ended."""

    def on_train_begin(self, logs: Logs = None) -> Any:
        """Training begins."""

    def on_train_end(self, logs: Logs = None) -> Any:
        """Training has ended."""

    def on_test_begin(self, logs: Logs = None) -> Any:
        """Evaluation begins."""

    def on_test_end(self, logs: Logs = None) -> Any:
        """Evaluation has ended."""

    def on_predict_begin(self, logs: Logs = None) -> Any:
        """Prediction begins."""

    def on_predict_end(self, logs: Logs = None) -> Any:
        """Prediction has ended."""

    def close(self) -> None:
        """Be told that the loop is over, perhaps by an error."""


def _overrides(callback: Callback, name: str) -> bool:
    """Whether a callback does something at a moment."""
    return name in vars(callback) or getattr(type(callback), name) is not getattr(Callback, name)


class CallbackList:
    """The callbacks of a loop."""

    def __init__(
        self,
        callbacks: Iterable[Any] | Callback | None = None,
        add_history: bool = False,
        add_progbar: bool = False,
        model: Any = None,
        **params: Any,
    ) -> None:
        from webtensor.keras.callbacks.progress import ProgbarLogger

        given = [callbacks] if isinstance(callbacks, Callback) else list(callbacks or ())
        for one in given:
            if not isinstance(one, Callback):
                raise TypeError(f"callbacks must be callbacks, but there is {one!r}")
        if add_progbar and not any(isinstance(one, ProgbarLogger) for one in given):
            given.append(ProgbarLogger())
        history = next((one for one in given if isinstance(one, History)), None)
        if add_history and history is None:
            history = History()
            given.append(history)
        self.callbacks: list[Any] = given
        self.awaited: list[Awaitable[Any]] = []
        for one in given:
            one.set_params(params)
            one.set_model(model)
        if add_history:
            model.history = history
        self._batch_callbacks = {
            kind: [one for one in given if any(_overrides(one, name) for name in names)]
            for kind, names in (
                ("train", ("on_train_batch_end", "on_batch_end")),
                ("test", ("on_test_batch_end",)),
            )
        }

    def needs_batch_logs(self, batch: int, kind: str = "train") -> bool:
        """Whether some callback wants logs at a batch's end."""
        return any(one.needs_logs(batch) for one in self._batch_callbacks[kind])

    def close(self) -> None:
        """Tell all that the loop is over."""
        for one in self.callbacks:
            one.close()

    def _tell(self, moment: str, *arguments: Any) -> None:
        for one in self.callbacks:
            result = getattr(one, moment)(*arguments)
            if isinstance(result, Awaitable):
                self.awaited.append(result)


def _teller(moment: str) -> Callable[..., None]:
    """A method that calls all; they always get logs, though there may be nothing in them."""
    if "_epoch_" in moment or "_batch_" in moment:

        def tell_of(self: CallbackList, number: int, logs: Logs = None) -> None:
            self._tell(moment, number, {} if logs is None else logs)

        tell: Callable[..., None] = tell_of
    else:

        def tell_all(self: CallbackList, logs: Logs = None) -> None:
            self._tell(moment, {} if logs is None else logs)

        tell = tell_all
    tell.__name__ = moment
    tell.__doc__ = f"Call ``{moment}`` of all."
    return tell


for _moment in [name for name in vars(Callback) if name.startswith("on_")]:
    setattr(CallbackList, _moment, _teller(_moment))


class History(Callback):
    """What each epoch came to, in ``history``, by name; ``fit`` returns it."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}
        self.epoch: list[int] = []

    def on_train_begin(self, logs: Logs = None) -> None:
        """Begin anew."""
        self.epoch, self.history = [], {}

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Append what the epoch came to."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """A callback of functions, given by the names of moments; others become attributes, too.

    Example:
        >>> from webtensor import keras
        >>> keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: None).params
        {}
    """

    def __init__(self, **functions: Callable[..., Any] | None) -> None:
        super().__init__()
        for moment, function in functions.items():
            if function is not None:
                setattr(self, moment, function)
