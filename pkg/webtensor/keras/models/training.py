"""Training: ``compile``, ``fit``, ``evaluate``, ``predict`` and their asynchronous forms."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from webtensor.engine import Tensor
from webtensor.keras.layers import Layer
from webtensor.keras.models.batches import Batches, batches_of, split_off
from webtensor.keras.models.waiting import Breather, Wait, finish, finish_async, needed
from webtensor.keras.nest import flatten, map_structure, pack
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.utils.arrays import as_array
from webtensor.keras.utils.datasets import unpack_x_y_sample_weight
from webtensor.ops import concat, sum as _sum

__all__ = ["Trainer"]

Logs = dict[str, float]
Loop = Generator[Wait, Any, Any]


class Trainer:
    """What makes a layer a model: it learns from data."""

    stop_training: bool
    built: bool
    call: Any
    losses: Any
    trainable_variables: Any
    metrics: Any

    # -- compile ------------------------------------------------------------------------------

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        loss_weights: Any = None,
        metrics: Any = None,
        weighted_metrics: Any = None,
        run_eagerly: bool = False,
        steps_per_execution: int = 1,
        jit_compile: Any = "auto",
        auto_scale_loss: bool = True,
    ) -> None:
        """Say how the model learns.

        ``run_eagerly``, ``steps_per_execution``, ``jit_compile`` and ``auto_scale_loss`` are for
        scripts of Keras: everything is eager.

        Raises:
            ValueError: a name is unknown.
        """
        from webtensor.keras import metrics as metrics_module, optimizers
        from webtensor.keras.models.compiling import CompiledLoss, CompiledMetrics

        compiled_loss = compiled_metrics = None
        if loss is not None:
            compiled_loss = CompiledLoss(loss, loss_weights, self._names_of)
        if metrics is not None or weighted_metrics is not None:
            compiled_metrics = CompiledMetrics(metrics, weighted_metrics, self._names_of)
        self.optimizer = optimizers.get(optimizer)
        self.run_eagerly, self.steps_per_execution = run_eagerly, steps_per_execution
        self.jit_compile = jit_compile
        self.stop_training = False
        self.compiled = True
        # Not by ``setattr`` of layers, which would take metrics among these for the layer's own.
        kept = self.__dict__
        kept["loss"], kept["_loss_tracker"] = loss, metrics_module.Mean(name="loss")
        kept["_compiled_loss"], kept["_compiled_metrics"] = compiled_loss, compiled_metrics
        kept["_compile_arguments"] = {
            "optimizer": self.optimizer,
            "loss": loss,
            "loss_weights": loss_weights,
            "metrics": metrics,
            "weighted_metrics": weighted_metrics,
            "run_eagerly": run_eagerly,
            "steps_per_execution": steps_per_execution,
            "jit_compile": jit_compile,
        }

    compiled = False
    optimizer: Any = None
    loss: Any = None
    _loss_tracker: Any
    _compiled_loss: Any = None
    _compiled_metrics: Any = None
    _compile_arguments: Mapping[str, Any]

    def get_compile_config(self) -> dict[str, Any]:
        """Return what ``compile`` was told."""
        if not self.compiled:
            return {}
        found: dict[str, Any] = serialize_keras_object(self._compile_arguments)
        found["jit_compile"] = self.jit_compile not in ("auto", False)
        return found

    def compile_from_config(self, config: Mapping[str, Any]) -> None:
        """Compile as ``get_compile_config`` said."""
        known = {key: deserialize_keras_object(value) for key, value in config.items()}
        self.compile(**{key: value for key, value in known.items() if key in _COMPILE_ARGUMENTS})
        if getattr(self, "built", False) and hasattr(self.optimizer, "build"):
            self.optimizer.build(self.trainable_variables)

    def _names_of(self, outputs: Any) -> Sequence[str]:
        """Names of the outputs."""
        if isinstance(outputs, Mapping):
            return sorted(outputs)
        count = len(flatten(outputs))
        names = getattr(self, "output_names", None) or ()
        return names if len(names) == count else [f"output_{index}" for index in range(count)]

    def _require_compiled(self, name: str) -> None:
        if not self.compiled:
            raise ValueError(f"{name}: the model must be compiled first, by model.compile(…)")

    @property
    def _own_metrics(self) -> list[Any]:
        """The running loss, and the metrics that ``compile`` was told of."""
        if not self.compiled:
            return []
        found = [self._loss_tracker]
        if self._compiled_loss is not None:
            found += self._compiled_loss.own_metrics
        if self._compiled_metrics is not None:
            found += self._compiled_metrics.metrics
        return found

    @property
    def metrics_names(self) -> list[str]:
        """Names of the metrics."""
        return [one.name for one in self.metrics]

    def reset_metrics(self) -> None:
        """Let all metrics begin anew."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self) -> dict[str, Any]:
        """Return what the metrics have come to, as scalar tensors."""
        found: dict[str, Any] = {}
        for metric in self.metrics:
            result = metric.result()
            if isinstance(result, Mapping):
                found.update(result)
            else:
                found[metric.name] = result
        return found

    # -- one batch ----------------------------------------------------------------------------

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Any:
        """Return the loss of a batch: that of ``compile``, and those that layers added.

        Raises:
            ValueError: there is none.
        """
        total = None
        if self._compiled_loss is not None and y is not None:
            total = self._compiled_loss(y, y_pred, sample_weight)
        for added in self.losses:
            added = _sum(added) if added.shape else added
            total = added if total is None else total + added
        if total is None:
            raise ValueError(
                "there is no loss to lower: give compile a loss and fit a y, or let a layer call "
                "add_loss"
            )
        return total

    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> dict[str, Any]:
        """Let the metrics see a batch, and return what they have come to."""
        if self._compiled_metrics is not None and y is not None:
            self._compiled_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def train_step(self, data: Any) -> dict[str, Any]:
        """Learn from a batch; models with steps of their own override this.

        They return scalars by name, and change variables, for instance by
        ``self.optimizer.minimize(function, self.trainable_variables)``.
        """
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        outputs: list[Any] = []

        def loss() -> Tensor:
            outputs.append(self(x, training=True))  # type: ignore[operator]
            found: Tensor = self.compute_loss(x, y, outputs[0], sample_weight, training=True)
            return found

        value = self.optimizer.minimize(loss, self.trainable_variables)
        self._loss_tracker.update_state(value, sample_weight=_batch_size(x))
        return self._seen(x, y, outputs[0], sample_weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        """Evaluate a batch; models with steps of their own override this."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        output = self(x, training=False)  # type: ignore[operator]
        value = self.compute_loss(x, y, output, sample_weight, training=False)
        self._loss_tracker.update_state(value, sample_weight=_batch_size(x))
        return self._seen(x, y, output, sample_weight)

    def _seen(self, x: Any, y: Any, output: Any, sample_weight: Any) -> dict[str, Any]:
        """``compute_metrics``; results are computed only when they are asked for."""
        if type(self).compute_metrics is not Trainer.compute_metrics:
            return self.compute_metrics(x, y, output, sample_weight)
        if self._compiled_metrics is not None and y is not None:
            self._compiled_metrics.update_state(y, output, sample_weight)
        return _Results(self)

    def predict_step(self, data: Any) -> Any:
        """Return the outputs for a batch; models with steps of their own override this."""
        x, _, _ = unpack_x_y_sample_weight(data)
        return self._inferred(x)

    def _inferred(self, x: Any) -> Any:
        """The outputs for inputs, when nothing is learnt."""
        return self(x, training=False)  # type: ignore[operator]

    # -- fit ----------------------------------------------------------------------------------

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Learn from data for a number of epochs; return the History.

        The arguments are ``x, y, batch_size, epochs, verbose, callbacks, validation_split,
        validation_data, shuffle, class_weight, sample_weight, initial_epoch, steps_per_epoch,
        validation_steps, validation_batch_size, validation_freq``, as in Keras. In a page it lets
        the page paint meanwhile, where the browser can suspend Python; ``fit_async`` does so
        everywhere.

        Raises:
            ValueError: the model is not compiled, or data do not fit each other or the model.
        """
        return finish(self._fit(*args, **kwargs))

    async def fit_async(self, *args: Any, **kwargs: Any) -> Any:
        """``fit`` that never blocks the page."""
        return await finish_async(self._fit(*args, **kwargs))

    def _fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: Mapping[int, float] | None = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
    ) -> Loop:
        self._require_compiled("fit")
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = split_off(
                validation_split, x, y, sample_weight
            )
        data = batches_of(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight)
        checked = None
        if validation_data is not None:
            checked = _validation_batches(validation_data, validation_batch_size or batch_size)
        steps = steps_per_epoch or data.steps
        notes = self._notes(callbacks, verbose, epochs, steps, add_history=True)
        self.stop_training = False
        breather = Breather()
        notes.on_train_begin()
        logs: Logs = {}
        try:
            for epoch in range(initial_epoch, epochs):
                self.reset_metrics()
                notes.on_epoch_begin(epoch)
                results: Any = {}
                count = 0
                source = data.epoch(steps_per_epoch)
                while (batch := (yield from _next(source))) is not None:
                    notes.on_train_batch_begin(count)
                    self._build_for(batch)
                    results = self.train_step(batch)
                    del batch
                    if notes.needs_batch_logs(count):
                        yield from _reading(results)
                        notes.on_train_batch_end(count, _floats(results))
                    else:
                        notes.on_train_batch_end(count, None)
                    count += 1
                    yield from _awaited(notes)
                    yield from breather.after(self._latest())
                    if self.stop_training:
                        break
                if not count:
                    raise ValueError(f"fit: x made no batches in epoch {epoch}")
                yield from _reading(results)
                logs = _floats(results)
                if checked is not None and _is_due(epoch, validation_freq):
                    found = yield from self._evaluate(checked, validation_steps, notes, breather)
                    logs.update({f"val_{name}": value for name, value in found.items()})
                data.end_epoch()
                notes.on_epoch_end(epoch, logs)
                yield from _awaited(notes)
                if self.stop_training:
                    break
            if hasattr(self.optimizer, "finalize_variable_values"):
                self.optimizer.finalize_variable_values(self.trainable_variables)
            notes.on_train_end(logs)
            yield from _awaited(notes)
        finally:
            notes.close()
        return getattr(self, "history", None)

    def _notes(
        self,
        callbacks: Any,
        verbose: Any,
        epochs: int,
        steps: int | None,
        *,
        add_history: bool = False,
    ) -> Any:
        """The callbacks of a loop: a list that was given, or one of those that were given."""
        from webtensor.keras.callbacks import CallbackList

        if isinstance(callbacks, CallbackList):
            return callbacks
        return CallbackList(
            callbacks,
            add_history=add_history,
            add_progbar=verbose not in (0, "0"),
            model=self,
            verbose=1 if verbose == "auto" else verbose,
            epochs=epochs,
            steps=steps,
        )

    def _build_for(self, batch: Any) -> None:
        """Make the variables that a step of one's own may ask for before it calls the model."""
        has_own_step = type(self).train_step is not Trainer.train_step
        if has_own_step and not self.built and type(self).call is not Layer.call:
            self(unpack_x_y_sample_weight(batch)[0])  # type: ignore[operator]

    def _latest(self) -> Tensor | None:
        """A tensor that the last step computed."""
        found = self._loss_tracker.variables
        return found[0].value if found else None

    # -- evaluate -----------------------------------------------------------------------------

    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """Return the loss and the metrics of data, as a list or, with ``return_dict``, by name.

        The arguments are ``x, y, batch_size, verbose, sample_weight, steps, callbacks,
        return_dict``, as in Keras.

        Raises:
            ValueError: the model is not compiled, or data do not fit each other or the model.
        """
        return finish(self._evaluated(*args, **kwargs))

    async def evaluate_async(self, *args: Any, **kwargs: Any) -> Any:
        """``evaluate`` that never blocks the page."""
        return await finish_async(self._evaluated(*args, **kwargs))

    def _evaluated(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
    ) -> Loop:
        self._require_compiled("evaluate")
        data = batches_of(x, y, sample_weight, batch_size, steps)
        notes = self._notes(callbacks, verbose, 1, steps or data.steps)
        try:
            logs = yield from self._evaluate(data, steps, notes, Breather())
        finally:
            notes.close()
        if return_dict:
            return logs
        values = [logs[name] for name in self._result_order(logs)]
        return values[0] if len(values) == 1 else values

    def _result_order(self, logs: Logs) -> list[str]:
        known = [name for name in self.metrics_names if name in logs]
        return known + [name for name in logs if name not in known]

    def _evaluate(
        self, data: Batches, steps: int | None, notes: Any, breather: Breather
    ) -> Generator[Wait, Any, Logs]:
        self.reset_metrics()
        notes.on_test_begin()
        results: Any = {}
        count = 0
        source = data.epoch(steps)
        while (batch := (yield from _next(source))) is not None:
            notes.on_test_batch_begin(count)
            results = self.test_step(batch)
            del batch
            if notes.needs_batch_logs(count, "test"):
                yield from _reading(results)
                notes.on_test_batch_end(count, _floats(results))
            else:
                notes.on_test_batch_end(count, None)
            count += 1
            yield from breather.after(self._latest())
        if not count:
            raise ValueError("evaluate: x made no batches")
        yield from _reading(results)
        logs = _floats(results)
        notes.on_test_end(logs)
        yield from _awaited(notes)
        return logs

    # -- predict ------------------------------------------------------------------------------

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """Return the outputs for data, computed in batches.

        The arguments are ``x, batch_size, verbose, steps, callbacks``, as in Keras. They are NumPy
        arrays where NumPy is there, else tensors.

        Raises:
            ValueError: data do not fit each other or the model.
        """
        return finish(self._predict(*args, **kwargs))

    async def predict_async(self, *args: Any, **kwargs: Any) -> Any:
        """``predict`` that never blocks the page."""
        return await finish_async(self._predict(*args, **kwargs))

    def _predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Loop:
        data = batches_of(x, None, None, batch_size, steps)
        notes = self._notes(callbacks, verbose, 1, steps or data.steps)
        breather = Breather()
        found: list[Any] = []
        try:
            notes.on_predict_begin()
            source = data.epoch(steps)
            while (batch := (yield from _next(source))) is not None:
                notes.on_predict_batch_begin(len(found))
                found.append(self.predict_step(batch))
                notes.on_predict_batch_end(len(found) - 1, {"outputs": found[-1]})
                yield from breather.after(flatten(found[-1])[0])
            notes.on_predict_end()
        finally:
            notes.close()
        if not found:
            raise ValueError("predict: x made no batches")
        columns = zip(*(flatten(one) for one in found), strict=True)
        joined = [
            column[0] if len(column) == 1 else concat(list(column), axis=0) for column in columns
        ]
        for one in joined:
            yield one.data
        return pack(found[0], [as_array(one) for one in joined])

    # -- on one batch -------------------------------------------------------------------------

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Mapping[int, float] | None = None,
        return_dict: bool = False,
    ) -> Any:
        """Learn from one batch; return the loss and the metrics."""
        self._require_compiled("train_on_batch")
        batch = _one_batch(x, y, sample_weight, class_weight)
        self.reset_metrics()
        return self._returned(self.train_step(batch), return_dict)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """Evaluate one batch; return the loss and the metrics."""
        self._require_compiled("test_on_batch")
        self.reset_metrics()
        return self._returned(self.test_step(_one_batch(x, y, sample_weight, None)), return_dict)

    def predict_on_batch(self, x: Any) -> Any:
        """Return the outputs for one batch."""
        found = self.predict_step(_one_batch(x, None, None, None))
        return map_structure(as_array, found)

    def _returned(self, results: Any, return_dict: bool) -> Any:
        logs = _floats(results)
        if return_dict:
            return logs
        values = [logs[name] for name in self._result_order(logs)]
        return values[0] if len(values) == 1 else values


_COMPILE_ARGUMENTS = frozenset(
    {
        "jit_compile",
        "loss",
        "loss_weights",
        "metrics",
        "optimizer",
        "run_eagerly",
        "steps_per_execution",
        "weighted_metrics",
    }
)


class _Results(dict[str, Any]):
    """What metrics have come to; computed when it is asked for."""

    def __init__(self, model: Trainer) -> None:
        super().__init__()
        self._model: Trainer | None = model

    def settle(self) -> dict[str, Any]:
        """Compute the results, once."""
        if self._model is not None:
            self.update(self._model.get_metrics_result())
            self._model = None
        return self


def _settled(results: Any) -> dict[str, Any]:
    found: dict[str, Any] = results.settle() if isinstance(results, _Results) else results
    return found


def _reading(results: Any) -> Generator[Wait, Any, None]:
    """Wait for scalars, which the host then knows."""
    for value in _settled(results).values():
        if isinstance(value, Tensor):
            yield value.data


def _floats(results: Any) -> Logs:
    """Scalars by name, in the order of the names, as Keras has them."""
    found = _settled(results)
    return {
        name: found[name].tolist() if hasattr(found[name], "tolist") else float(found[name])
        for name in sorted(found)
    }


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


def _awaited(notes: Any) -> Generator[Wait, Any, None]:
    """Wait for callbacks that are asynchronous."""
    while notes.awaited:
        waiting = notes.awaited.pop(0)
        yield needed(
            lambda waiting=waiting: waiting,  # type: ignore[misc]
            "a callback is asynchronous, which needs fit_async",
        )


def _is_due(epoch: int, frequency: Any) -> bool:
    if isinstance(frequency, int):
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency


def _batch_size(x: Any) -> int:
    return int(flatten(x)[0].shape[0])


def _validation_batches(data: Any, batch_size: int | None) -> Batches:
    if isinstance(data, (tuple, list)):
        if not 2 <= len(data) <= 3:
            raise ValueError(
                f"validation_data must be (x, y) or (x, y, sample_weight), but has {len(data)} "
                "parts"
            )
        x, y, *rest = data
        return batches_of(x, y, rest[0] if rest else None, batch_size)
    return batches_of(data)


def _one_batch(x: Any, y: Any, sample_weight: Any, class_weight: Mapping[int, float] | None) -> Any:
    size = 2**31 - 1
    source: Iterator[Any] = batches_of(x, y, sample_weight, size, None, False, class_weight).epoch(
        None
    )
    return next(source)
