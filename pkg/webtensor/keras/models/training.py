"""Training: ``compile``, ``fit``, ``evaluate``, ``predict`` and their asynchronous forms."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, MutableMapping
from functools import cache
from inspect import Parameter, signature
from itertools import islice
from typing import Any
from warnings import warn

from webtensor.engine import Tensor
from webtensor.keras.layers import Layer
from webtensor.keras.models.awaitables import Breather, Wait, finish, finish_async
from webtensor.keras.models.batches import Batches, batches_of, split_off
from webtensor.keras.models.train_steps import (
    Logs,
    Results,
    callbacks_done,
    floats,
    is_due,
    joined,
    limited_epochs,
    limited_steps,
    next_batches,
    reading,
    rounded,
    warn_of_too_few,
)
from webtensor.keras.nest import flatten, map_structure
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.stateless_scopes import StatelessScope
from webtensor.keras.types import Config
from webtensor.keras.utils.datasets import unpack_x_y_sample_weight
from webtensor.keras.utils.labels import as_array
from webtensor.ops import sum as _sum

__all__ = ["Trainer"]

Loop = Generator[Wait, Any, Any]


class Trainer:
    """What makes a layer a model: it learns from data."""

    stop_training: bool
    built: bool
    call: Any
    losses: Any
    trainable_variables: Any
    non_trainable_variables: Any
    dtype_policy: Any
    name: str
    _flatten_layers: Any

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

        Callbacks are called once for each ``steps_per_execution`` batches. ``run_eagerly`` and
        ``jit_compile`` are kept as attributes for scripts of Keras, but everything is eager. With
        ``auto_scale_loss`` the optimizer of a model whose policy is "mixed_float16" scales its
        loss, as in Keras.

        Raises:
            ValueError: a name is unknown.
        """
        from webtensor.keras import metrics as metrics_module, optimizers
        from webtensor.keras.models.compiling import CompiledLoss, CompiledMetrics

        compiled_loss = compiled_metrics = None
        names = getattr(self, "output_names", None)
        if loss is not None:
            compiled_loss = CompiledLoss(loss, loss_weights, names)
        if metrics is not None or weighted_metrics is not None:
            compiled_metrics = CompiledMetrics(metrics, weighted_metrics, names)
        given = self.optimizer = optimizers.get(optimizer)
        if auto_scale_loss and given is not None and self.dtype_policy.name == "mixed_float16":
            # Nothing overflows in float32, but files of such models have the state of the scaling.
            scaling = optimizers.LossScaleOptimizer
            if not isinstance(given, scaling):
                self.optimizer = scaling(given, name="loss_scale_optimizer")
        self.run_eagerly, self.steps_per_execution = run_eagerly, steps_per_execution
        self.jit_compile = jit_compile not in ("auto", False) and not run_eagerly
        self.stop_training = False
        self.compiled = True
        # Not by ``setattr`` of layers, which would take metrics among these for the layer's own.
        kept = self.__dict__
        kept["loss"], kept["_loss_tracker"] = loss, metrics_module.Mean(name="loss")
        kept["_compiled_loss"], kept["_compiled_metrics"] = compiled_loss, compiled_metrics
        kept["_compile_arguments"] = {
            "optimizer": given,
            "loss": loss,
            "loss_weights": loss_weights,
            "metrics": metrics,
            "weighted_metrics": weighted_metrics,
            "run_eagerly": run_eagerly,
            "steps_per_execution": steps_per_execution,
            "jit_compile": self.jit_compile,
        }

    compiled = False
    #: As ``compile`` was told; nothing depends on them.
    run_eagerly = jit_compile = False
    #: Set by callbacks to end ``evaluate`` and ``predict``, as ``stop_training`` ends ``fit``.
    stop_evaluating = stop_predicting = False
    steps_per_execution: int = 1
    #: Set by a callback that takes up training from an epoch.
    _initial_epoch: int | None = None
    optimizer: Any = None
    loss: Any = None
    _loss_tracker: Any
    _compiled_loss: Any = None
    _compiled_metrics: Any = None
    _compile_arguments: Mapping[str, Any]

    def get_compile_config(self) -> Config:
        """Return what ``compile`` was told."""
        if not self.compiled:
            return {}
        config: Config = serialize_keras_object(self._compile_arguments)
        return config

    def compile_from_config(self, config: Mapping[str, Any]) -> None:
        """Compile as ``get_compile_config`` said.

        What a ``compile`` of one's own takes, this method does not know: it then warns instead.
        """
        if type(self).compile is not Trainer.compile:
            warn(
                f"{type(self).__name__}: the model is not compiled as it is loaded, since its "
                "class has a method compile of its own; give it get_compile_config and "
                "compile_from_config, too",
                stacklevel=2,
            )
            return
        known = {key: deserialize_keras_object(value) for key, value in config.items()}
        self.compile(**{key: value for key, value in known.items() if key in _COMPILE_ARGUMENTS})
        if getattr(self, "built", False) and hasattr(self.optimizer, "build"):
            self.optimizer.build(self.trainable_variables)

    def _require_compiled(self, name: str) -> None:
        if not self.compiled:
            raise ValueError(f"{name}: the model must be compiled first, by model.compile(…)")

    @property
    def _own_metrics(self) -> list[Any]:
        """The running loss, and the metrics that ``compile`` was told of."""
        if not self.compiled:
            return []
        found = [self._loss_tracker]
        if self._compiled_metrics is not None:
            found.append(self._compiled_metrics)
        if self._compiled_loss is not None:
            found += self._compiled_loss.metrics
        return found

    @property
    def metrics(self) -> list[Any]:
        """The running loss, the metrics of ``compile`` as one, losses of outputs; then layers'."""
        return [
            *self._own_metrics,
            *(one for layer in self._flatten_layers() for one in layer._metrics),
        ]

    @property
    def metrics_variables(self) -> list[Any]:
        """The state of the metrics."""
        return [variable for metric in self.metrics for variable in metric.variables]

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

    def stateless_compute_loss(
        self,
        trainable_variables: Iterable[Any],
        non_trainable_variables: Iterable[Any],
        metrics_variables: Iterable[Any],
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> tuple[Any, tuple[Any, Any, Any]]:
        """Return ``compute_loss`` with other values of the variables, which stay what they are.

        Beside the loss it returns ``(trainable_variables, non_trainable_variables,
        metrics_variables)``, the values after it, as in Keras.
        """
        trainable_variables = list(trainable_variables)
        own = (self.trainable_variables, self.non_trainable_variables, self.metrics_variables)
        values = (trainable_variables, non_trainable_variables, metrics_variables)
        pairs = [
            pair for group in zip(own, values, strict=True) for pair in zip(*group, strict=True)
        ]
        with StatelessScope(pairs) as scope:
            loss = self._loss_of(x, y, y_pred, sample_weight, training)
        state, metrics_state = (
            [scope.get_current_value(variable) for variable in group] for group in own[1:]
        )
        return loss, (trainable_variables, state, metrics_state)

    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> dict[str, Any]:
        """Let the metrics see a batch, and return what they have come to."""
        if self._compiled_metrics is not None and y is not None:
            self._compiled_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def _loss_of(self, x: Any, y: Any, output: Any, sample_weight: Any, training: bool) -> Tensor:
        """``compute_loss``, which may be one of the user's that does not take ``training``."""
        mode = {"training": training} if _takes_training(type(self).compute_loss) else {}
        found: Tensor = self.compute_loss(x, y, output, sample_weight, **mode)
        return found

    def train_step(self, data: Any) -> MutableMapping[str, Any]:
        """Learn from a batch; models with steps of their own override this.

        They return scalars by name, and change variables, for instance by
        ``self.optimizer.minimize(function, self.trainable_variables)``.
        """
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        outputs: list[Any] = []

        def loss() -> Tensor:
            outputs.append(self(x, training=True))  # type: ignore[operator]
            return self._loss_of(x, y, outputs[0], sample_weight, training=True)

        variables = self.trainable_variables
        if variables:
            # Also for weights that the loss does not depend on, as files have them all.
            if not getattr(self.optimizer, "built", True):
                self.optimizer.build(variables)
            value = self.optimizer.minimize(loss, variables)
        else:
            warn(f"model {self.name!r} has no trainable weights", stacklevel=2)
            value = loss()
        self._loss_tracker.update_state(value, sample_weight=_batch_size(x))
        return self._seen(x, y, outputs[0], sample_weight)

    def test_step(self, data: Any) -> MutableMapping[str, Any]:
        """Evaluate a batch; models with steps of their own override this."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        output = self(x, training=False)  # type: ignore[operator]
        value = self._loss_of(x, y, output, sample_weight, training=False)
        self._loss_tracker.update_state(value, sample_weight=_batch_size(x))
        return self._seen(x, y, output, sample_weight)

    def _seen(self, x: Any, y: Any, output: Any, sample_weight: Any) -> MutableMapping[str, Any]:
        """``compute_metrics``; results are computed only when they are asked for."""
        if any(getattr(type(self), name) is not getattr(Trainer, name) for name in _STEPS):
            return self.compute_metrics(x, y, output, sample_weight)
        if self._compiled_metrics is not None and y is not None:
            self._compiled_metrics.update_state(y, output, sample_weight)
        return Results(self)

    def predict_step(self, data: Any) -> Any:
        """Return the outputs for a batch; models with steps of their own override this."""
        x, _, _ = unpack_x_y_sample_weight(data)
        return self._inferred(x)

    def _inferred(self, x: Any) -> Any:
        """The outputs for inputs, when nothing is learnt."""
        return self(x, training=False)  # type: ignore[operator]

    # -- several batches ----------------------------------------------------------------------

    #: What ``fit``, ``evaluate`` and ``predict`` call with an iterator of batches. Each returns
    #: what the last step did; ``predict_function``, the outputs of all.
    train_function: Any = None
    test_function: Any = None
    predict_function: Any = None

    def make_train_function(self, force: bool = False) -> Any:
        """Make and return ``train_function``, unless it is there; models may override this.

        It takes an iterator of batches and learns from ``steps_per_execution`` of them.
        """
        if self.train_function is None or force:
            self.train_function = lambda batches: self._steps(self.train_step, batches)[-1]
        return self.train_function

    def make_test_function(self, force: bool = False) -> Any:
        """Make and return ``test_function``, as ``make_train_function`` does."""
        if self.test_function is None or force:
            self.test_function = lambda batches: self._steps(self.test_step, batches)[-1]
        return self.test_function

    def make_predict_function(self, force: bool = False) -> Any:
        """Make and return ``predict_function``, as ``make_train_function`` does."""
        if self.predict_function is None or force:
            self.predict_function = lambda batches: joined(self._steps(self.predict_step, batches))
        return self.predict_function

    def _steps(self, step: Any, batches: Iterator[Any]) -> list[Any]:
        """The results of a step for each of the next batches; StopIteration where there is none."""
        results = [step(next(batches))]
        results += [step(batch) for batch in islice(batches, self.steps_per_execution - 1)]
        return results

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
        epochs = limited_epochs(epochs)
        steps_per_epoch = limited_steps(steps_per_epoch, data)
        steps = steps_per_epoch or data.steps
        notes = self._notes(callbacks, verbose, epochs, steps, add_history=True)
        self.stop_training = False
        size = self.steps_per_execution
        self.make_train_function()
        breather = Breather()
        self._initial_epoch = None
        notes.on_train_begin()
        first = initial_epoch if self._initial_epoch is None else self._initial_epoch
        logs: Logs = {}
        try:
            for epoch in range(first, epochs):
                self.reset_metrics()
                notes.on_epoch_begin(epoch)
                results: Any = {}
                count = 0
                source = data.epoch(rounded(steps_per_epoch, size))
                while batches := (yield from next_batches(source, size)):
                    notes.on_train_batch_begin(count)
                    while batches:
                        batch = batches.pop(0)
                        if not count:
                            self._build_for(batch)
                        results = self.train_function(iter((batch,)))
                        del batch
                        yield from breather.after(self._latest())
                    count += size
                    if notes.needs_batch_logs(count - 1):
                        yield from reading(results)
                        notes.on_train_batch_end(count - 1, floats(results))
                    else:
                        notes.on_train_batch_end(count - 1, None)
                    yield from callbacks_done(notes)
                    if self.stop_training:
                        break
                if not count and epoch == first:
                    raise ValueError("fit: x made no batches")
                if not count:
                    warn(
                        f"fit: x made no batches for epoch {epoch + 1}: training ends", stacklevel=2
                    )
                    break
                if not self.stop_training:
                    warn_of_too_few("fit", count, steps_per_epoch)
                yield from reading(results)
                logs = floats(results)
                if checked is not None and is_due(epoch, validation_freq):
                    found = yield from self._evaluate(checked, validation_steps, notes, breather)
                    logs.update({f"val_{name}": value for name, value in found.items()})
                data.end_epoch()
                notes.on_epoch_end(epoch, logs)
                yield from callbacks_done(notes)
                if self.stop_training:
                    break
            if hasattr(self.optimizer, "finalize_variable_values"):
                self.optimizer.finalize_variable_values(self.trainable_variables)
            notes.on_train_end(logs)
            yield from callbacks_done(notes)
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
            verbose=_shown() if verbose == "auto" else verbose,
            epochs=epochs,
            steps=steps,
        )

    def _build_for(self, batch: Any) -> None:
        """Make the variables that a step may ask for before it calls the model."""
        is_ready = self.built and self.trainable_variables
        if not is_ready and type(self).call is not Layer.call:
            with StatelessScope():  # the call only makes variables
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
        steps = limited_steps(steps, data)
        notes = self._notes(callbacks, verbose, 1, steps or data.steps)
        try:
            logs = yield from self._evaluate(data, steps, notes, Breather())
        finally:
            notes.close()
        if return_dict:
            return logs
        return self._as_list(logs)

    def _as_list(self, logs: Logs) -> Any:
        """Results in the order of the metrics, then others; without a list where it is one."""
        names: list[str] = []
        for metric in self.metrics:
            names += [one.name for one in getattr(metric, "metrics", [metric])]
        order = dict.fromkeys([*names, *logs])
        values = [logs[name] for name in order if name in logs]
        return values[0] if len(values) == 1 else values

    def _evaluate(
        self, data: Batches, steps: int | None, notes: Any, breather: Breather
    ) -> Generator[Wait, Any, Logs]:
        self.reset_metrics()
        self.make_test_function()
        self.stop_evaluating = False
        notes.on_test_begin()
        results: Any = {}
        count, size = 0, self.steps_per_execution
        steps = limited_steps(steps, data)
        source = data.epoch(rounded(steps, size))
        while batches := (yield from next_batches(source, size)):
            notes.on_test_batch_begin(count)
            while batches:
                results = self.test_function(iter((batches.pop(0),)))
                yield from breather.after(self._latest())
            count += size
            if notes.needs_batch_logs(count - 1, "test"):
                yield from reading(results)
                notes.on_test_batch_end(count - 1, floats(results))
            else:
                notes.on_test_batch_end(count - 1, None)
            if self.stop_evaluating:
                break
        else:
            warn_of_too_few("evaluate", count, steps)
        if not count:
            raise ValueError("evaluate: x made no batches")
        yield from reading(results)
        logs = floats(results)
        notes.on_test_end(logs)
        yield from callbacks_done(notes)
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
        steps = limited_steps(steps, data)
        notes = self._notes(callbacks, verbose, 1, steps or data.steps)
        breather = Breather()
        self.make_predict_function()
        self.stop_predicting = False
        found: list[Any] = []
        count, size = 0, self.steps_per_execution
        try:
            notes.on_predict_begin()
            source = data.epoch(rounded(steps, size))
            while batches := (yield from next_batches(source, size)):
                notes.on_predict_batch_begin(count)
                made = []
                while batches:
                    made.append(self.predict_function(iter((batches.pop(0),))))
                    yield from breather.after(flatten(made[-1])[0])
                found += made
                count += size
                notes.on_predict_batch_end(count - 1, {"outputs": joined(made)})
                if self.stop_predicting:
                    break
            else:
                warn_of_too_few("predict", count, steps)
            notes.on_predict_end()
        finally:
            notes.close()
        if not found:
            raise ValueError("predict: x made no batches")
        outputs = joined(found)
        for one in flatten(outputs):
            yield one.data
        return map_structure(as_array, outputs)

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
        self._build_for(batch)
        self.reset_metrics()
        return self._returned(self.make_train_function()(iter((batch,))), return_dict)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """Evaluate one batch; return the loss and the metrics."""
        self._require_compiled("test_on_batch")
        self.reset_metrics()
        batch = _one_batch(x, y, sample_weight, None)
        return self._returned(self.make_test_function()(iter((batch,))), return_dict)

    def predict_on_batch(self, x: Any) -> Any:
        """Return the outputs for one batch."""
        batch = _one_batch(x, None, None, None)
        return map_structure(as_array, self.make_predict_function()(iter((batch,))))

    def _returned(self, results: Any, return_dict: bool) -> Any:
        logs = floats(results)
        return logs if return_dict else self._as_list(logs)


#: What may look at results before the loop does.
_STEPS = ("train_step", "test_step", "compute_metrics")

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


@cache
def _takes_training(function: Any) -> bool:
    parameters = signature(function).parameters.values()
    return any(one.name == "training" or one.kind is Parameter.VAR_KEYWORD for one in parameters)


def _shown() -> int:
    """Whether a bar is shown, or only a line for each epoch, where ``verbose`` is "auto"."""
    from webtensor.keras.utils.logging import is_interactive_logging_enabled

    return 1 if is_interactive_logging_enabled() else 2


def _batch_size(x: Any) -> int:
    return int(next(one for one in flatten(x) if one is not None).shape[0])


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
