"""The base class of callbacks, the list that a loop calls, and the simplest callbacks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

from webtensor import keras
from webtensor.keras.arguments import Declared

if TYPE_CHECKING:
    from webtensor.keras.models import Model

__all__ = ["Callback", "CallbackList", "History", "LambdaCallback", "LoopParams"]

#: The results of a batch or epoch by their names: the loss and the metrics.
Logs: TypeAlias = dict[str, float] | None


class LoopParams(TypedDict, total=False):
    """The facts about a loop that callbacks have as ``params``."""

    epochs: int
    steps: int | None
    verbose: int | str


class Callback(Declared):
    """The base class of callbacks. ``fit``, ``evaluate`` and ``predict`` call its methods.

    ``self.model`` is the model, and ``self.params`` has ``epochs``, ``steps`` and ``verbose``. A
    method may be a coroutine function, which the asynchronous loops, such as ``fit_async``, await.

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
        self.params: LoopParams = {}
        self._model: Model | None = None

    def set_params(self, params: LoopParams) -> None:
        """Set ``params``."""
        self.params = params

    def set_model(self, model: Model) -> None:
        """Set ``model``."""
        self._model = model

    @property
    def model(self) -> Model:
        """The model that the loop runs; None before ``set_model``."""
        # A subclass may not call super().__init__().
        model: Model = vars(self).get("_model", None)  # type: ignore[assignment]
        return model

    def needs_logs(self, batch: int) -> bool:
        """Whether the methods for the end of a batch read ``logs``.

        Where no callback reads them, the loop does not wait for the device at the end of a batch.
        """
        return True

    def on_batch_begin(self, batch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Called by ``on_train_batch_begin``, under its older name."""

    def on_batch_end(self, batch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Called by ``on_train_batch_end``, under its older name."""

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Called when an epoch begins."""

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Called when an epoch, including its validation, has ended."""

    def on_train_batch_begin(self, batch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Called when a batch of training begins."""
        return self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Called when a batch of training has ended."""
        return self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Called when a batch of evaluation begins."""

    def on_test_batch_end(self, batch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Called when a batch of evaluation has ended."""

    def on_predict_batch_begin(self, batch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Called when a batch of prediction begins."""

    def on_predict_batch_end(self, batch: int, logs: Logs = None) -> Awaitable[object] | None:
        """Called when a batch of prediction has ended."""

    def on_train_begin(self, logs: Logs = None) -> Awaitable[object] | None:
        """Called when training begins."""

    def on_train_end(self, logs: Logs = None) -> Awaitable[object] | None:
        """Called when training has ended."""

    def on_test_begin(self, logs: Logs = None) -> Awaitable[object] | None:
        """Called when evaluation begins."""

    def on_test_end(self, logs: Logs = None) -> Awaitable[object] | None:
        """Called when evaluation has ended."""

    def on_predict_begin(self, logs: Logs = None) -> Awaitable[object] | None:
        """Called when prediction begins."""

    def on_predict_end(self, logs: Logs = None) -> Awaitable[object] | None:
        """Called when prediction has ended."""

    def close(self) -> None:
        """Called after the loop, also if it ended by an error."""


def _overrides(callback: Callback, name: str) -> bool:
    """Whether a callback has a method of its own with this name."""
    return name in vars(callback) or getattr(type(callback), name) is not getattr(Callback, name)


def _method_for_all(name: str) -> Callable[..., None]:
    """Return a method that calls the method ``name`` of all callbacks.

    Callbacks get an empty dictionary for missing logs.
    """
    method: Callable[..., None]
    if "_epoch_" in name:

        def call_with_epoch(self: CallbackList, epoch: int, logs: Logs = None) -> None:
            self._call(name, epoch, {} if logs is None else logs)

        method = call_with_epoch
    elif "_batch_" in name:

        def call_with_batch(self: CallbackList, batch: int, logs: Logs = None) -> None:
            self._call(name, batch, logs={} if logs is None else logs)

        method = call_with_batch
    else:

        def call(self: CallbackList, logs: Logs = None) -> None:
            self._call(name, {} if logs is None else logs)

        method = call
    method.__name__ = name
    method.__doc__ = f"Call ``{name}`` of all callbacks."
    return method


class CallbackList(Declared):
    """The callbacks of a loop. Each of its methods calls the method of that name of all callbacks.

    Args:
        callbacks: a callback, several, or None.
        add_history: a boolean, whether to add a ``History`` unless there is one.
        add_progbar: a boolean, whether to add a ``ProgbarLogger`` unless there is one.
        model: the model that the loop runs.
        params: what the callbacks have as ``params``.

    Raises:
        TypeError: one of ``callbacks`` is not a callback.
    """

    def __init__(
        self,
        callbacks: Iterable[Callback] | Callback | None = None,
        add_history: bool = False,
        add_progbar: bool = False,
        model: Any = None,
        **params: Unpack[LoopParams],
    ) -> None:
        self.callbacks = [callbacks] if isinstance(callbacks, Callback) else list(callbacks or ())
        for callback in self.callbacks:
            if not isinstance(callback, Callback):
                raise TypeError(f"callbacks must be callbacks, but there is {callback!r}")
        if add_progbar and not self._has(keras.callbacks.ProgbarLogger):
            self.callbacks.append(keras.callbacks.ProgbarLogger())
        if add_history and not self._has(History):
            self.callbacks.append(History())
        #: The awaitables that asynchronous callbacks returned, for the loop to wait for.
        self.awaited: list[Awaitable[object]] = []
        self.set_params(params)
        if model is not None:
            self.set_model(model)
        self._batch_callbacks = {
            kind: [
                callback
                for callback in self.callbacks
                if any(_overrides(callback, name) for name in names)
            ]
            for kind, names in (
                ("train", ("on_train_batch_end", "on_batch_end")),
                ("test", ("on_test_batch_end",)),
            )
        }

    def set_params(self, params: LoopParams) -> None:
        """Set ``params`` of all callbacks."""
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model: Any) -> None:
        """Set the model of all callbacks, and its history where there is a ``History``."""
        for callback in self.callbacks:
            callback.set_model(model)
            if isinstance(callback, History):
                model.history = callback

    def needs_batch_logs(self, batch: int, kind: str = "train") -> bool:
        """Whether a callback reads the logs at the end of a batch."""
        return any(callback.needs_logs(batch) for callback in self._batch_callbacks[kind])

    def close(self) -> None:
        """Call ``close`` of all callbacks."""
        for callback in self.callbacks:
            callback.close()

    def _has(self, cls: type[Callback]) -> bool:
        return any(isinstance(callback, cls) for callback in self.callbacks)

    def _call(self, name: str, *arguments: object, **keywords: object) -> None:
        for callback in self.callbacks:
            result = getattr(callback, name)(*arguments, **keywords)
            if isinstance(result, Awaitable):
                self.awaited.append(result)

    on_batch_begin = _method_for_all("on_batch_begin")
    on_batch_end = _method_for_all("on_batch_end")
    on_epoch_begin = _method_for_all("on_epoch_begin")
    on_epoch_end = _method_for_all("on_epoch_end")
    on_train_batch_begin = _method_for_all("on_train_batch_begin")
    on_train_batch_end = _method_for_all("on_train_batch_end")
    on_test_batch_begin = _method_for_all("on_test_batch_begin")
    on_test_batch_end = _method_for_all("on_test_batch_end")
    on_predict_batch_begin = _method_for_all("on_predict_batch_begin")
    on_predict_batch_end = _method_for_all("on_predict_batch_end")
    on_train_begin = _method_for_all("on_train_begin")
    on_train_end = _method_for_all("on_train_end")
    on_test_begin = _method_for_all("on_test_begin")
    on_test_end = _method_for_all("on_test_end")
    on_predict_begin = _method_for_all("on_predict_begin")
    on_predict_end = _method_for_all("on_predict_end")


class History(Callback):
    """Records the logs of each epoch as lists, in ``history``; ``fit`` returns it."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[float]] = {}
        self.epoch: list[int] = []

    def on_train_begin(self, logs: Logs = None) -> None:
        """Clear the history."""
        self.epoch, self.history = [], {}

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Append the logs of an epoch."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)

    def _repr_html_(self) -> str:
        from webtensor.charts.trainings import curves_of_epochs, training_curves

        curves = curves_of_epochs(self.history, self.epoch)
        return training_curves(curves, width=300, height=180).html()

    def __repr__(self) -> str:
        last = {name: values[-1] for name, values in self.history.items()}
        logs = "".join(f", {name}={value:.4g}" for name, value in last.items())
        return f"<History epochs={len(self.epoch)}{logs}>"


class LambdaCallback(Callback):
    """A callback whose methods are functions, passed as keywords such as ``on_epoch_end``.

    Other keywords become attributes, too.

    Example:
        >>> from webtensor import keras
        >>> keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: None).params
        {}
    """

    _refuses_unknown = False

    def __init__(self, **functions: Callable[..., object] | None) -> None:
        super().__init__()
        for name, function in functions.items():
            if function is not None:
                setattr(self, name, function)
