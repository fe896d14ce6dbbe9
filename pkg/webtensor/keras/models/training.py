"""Training: ``compile``, ``fit``, ``evaluate``, ``predict`` and their asynchronous forms."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from inspect import Parameter, signature
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar
from warnings import warn

from webtensor import keras
from webtensor.engine import Tensor, TensorLike
from webtensor.explanation import explained
from webtensor.keras import models
from webtensor.keras.arguments import check_positive
from webtensor.keras.array_results import as_array
from webtensor.keras.batch_parts import unpack_x_y_sample_weight
from webtensor.keras.layers import Layer
from webtensor.keras.logging import is_interactive_logging_enabled
from webtensor.keras.models.awaitables import Breather, Loop, forms_of
from webtensor.keras.models.batches import (
    AsyncBatches,
    Batch,
    Batches,
    ClassWeight,
    DataLike,
    batches_of,
    split_off,
)
from webtensor.keras.models.capturing import (
    CapturedStep,
    CaptureMode,
    capture_mode,
    numbers_of,
)
from webtensor.keras.models.train_steps import (
    LazyResults,
    Logs,
    Results,
    as_logs,
    concatenated,
    is_validation_due,
    limit_epochs,
    limit_steps,
    next_batches,
    round_up,
    wait_for_callbacks,
    wait_for_results,
    warn_of_missing_batches,
)
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.stateless_scopes import StatelessScope
from webtensor.keras.types import Config, Tensors
from webtensor.nest import flatten, map_structure
from webtensor.ops import sum as _sum

if TYPE_CHECKING:
    from webtensor.keras.callbacks import Callback, CallbackList, History
    from webtensor.keras.metrics import Mean, Metric
    from webtensor.keras.models.compiled_losses import CompiledLoss, LossLike, LossWeights
    from webtensor.keras.models.compiled_metrics import CompiledMetrics, MetricLike
    from webtensor.keras.optimizers import Optimizer

__all__ = ["Trainer"]

StepResult = TypeVar("StepResult")
#: Runs the next ``steps_per_execution`` steps on batches of an iterator.
StepsFunction: TypeAlias = Callable[[Iterator[Batch]], Any]
CallbacksLike: TypeAlias = "CallbackList | Iterable[Callback] | Callback | None"


class Trainer(Layer):
    """The part of a model that trains it."""

    stop_training: bool

    # -- compile ------------------------------------------------------------------------------

    @explained
    def compile(
        self,
        optimizer: str | Config | Optimizer | None = "rmsprop",
        loss: LossLike = None,
        loss_weights: LossWeights = None,
        metrics: MetricLike = None,
        weighted_metrics: MetricLike = None,
        run_eagerly: bool = False,
        steps_per_execution: int = 1,
        jit_compile: bool | str = "auto",
        auto_scale_loss: bool = True,
    ) -> None:
        """Set the optimizer, the loss and the metrics of training.

        Args:
            optimizer: an optimizer, its name or its configuration; None is for models that are not
                trained.
            loss: a loss, its name or a function, or for several outputs a structure of these.
            loss_weights: numbers that the losses of the outputs are multiplied by.
            metrics: a list of metrics, or for several outputs a structure of metrics.
            weighted_metrics: metrics that sample weights and class weights apply to.
            run_eagerly: a boolean, whether no step is captured.
            jit_compile: a boolean, whether steps are captured (see ``wt.function``), which is an
                error where they read elements; "auto" captures those that can be captured, if all
                layers, the loss and the metrics are this library's.
            steps_per_execution: an integer, the number of batches between two calls of callbacks.
            auto_scale_loss: a boolean, whether a model with the policy "mixed_float16" scales its
                loss, as in Keras.

        Raises:
            ValueError: a name is unknown, or ``steps_per_execution`` is not a positive integer.
        """
        check_positive("compile", steps_per_execution=steps_per_execution)
        compiled_loss = compiled_metrics = None
        names = getattr(self, "output_names", None)
        if loss is not None:
            compiled_loss = models.compiled_losses.CompiledLoss(loss, loss_weights, names)
        if metrics is not None or weighted_metrics is not None:
            compiled_metrics = models.compiled_metrics.CompiledMetrics(
                metrics, weighted_metrics, names
            )
        inner_optimizer = keras.optimizers.get(optimizer)
        self.optimizer = self._scaling(inner_optimizer) if auto_scale_loss else inner_optimizer
        self.run_eagerly, self.steps_per_execution = run_eagerly, steps_per_execution
        self.jit_compile = jit_compile not in ("auto", False) and not run_eagerly
        self._capture_mode = capture_mode(False if run_eagerly else jit_compile)
        self.train_function = self.test_function = self.predict_function = None
        self.stop_training = False
        self.compiled = True
        # ``Layer.__setattr__`` would track the metrics among these as the layer's own.
        self.__dict__.update(
            loss=loss,
            _loss_tracker=keras.metrics.Mean(name="loss"),
            _compiled_loss=compiled_loss,
            _compiled_metrics=compiled_metrics,
            _compile_arguments={
                "optimizer": inner_optimizer,
                "loss": loss,
                "loss_weights": loss_weights,
                "metrics": metrics,
                "weighted_metrics": weighted_metrics,
                "run_eagerly": run_eagerly,
                "steps_per_execution": steps_per_execution,
                "jit_compile": self.jit_compile,
            },
        )

    def _scaling(self, optimizer: Optimizer | None) -> Optimizer | None:
        """Return an optimizer that scales the loss if the model's policy is "mixed_float16".

        Nothing overflows in float32, but files of such models have the state of the scaling.
        """
        if optimizer is None or self.dtype_policy.name != "mixed_float16":
            return optimizer
        scaling_class = keras.optimizers.LossScaleOptimizer  # imported where a model needs it
        if isinstance(optimizer, scaling_class):
            return optimizer
        return scaling_class(optimizer, name="loss_scale_optimizer")

    compiled = False
    run_eagerly = jit_compile = False
    _capture_mode = CaptureMode.IF_KNOWN
    #: Callbacks set these to end ``evaluate`` and ``predict``, as ``stop_training`` ends ``fit``.
    stop_evaluating = stop_predicting = False
    steps_per_execution: int = 1
    #: The epoch from which a callback continues an interrupted training.
    _initial_epoch: int | None = None
    #: An ``Optimizer``, or None.
    optimizer: Any = None
    loss: LossLike = None
    #: Set by ``fit``.
    history: History
    _loss_tracker: Mean
    _compiled_loss: CompiledLoss | None = None
    _compiled_metrics: CompiledMetrics | None = None
    _compile_arguments: Mapping[str, object]

    def get_compile_config(self) -> Config:
        """Return the arguments of ``compile`` as a configuration."""
        if not self.compiled:
            return {}
        config: Config = serialize_keras_object(self._compile_arguments)
        return config

    def compile_from_config(self, config: Config) -> None:
        """Compile with the arguments in a configuration of ``get_compile_config``.

        ``jit_compile`` is "auto", since files have what it became where they were written.

        A class with its own ``compile`` must override both methods; else this one only warns.
        """
        if type(self).compile is not Trainer.compile:
            warn(
                f"{type(self).__name__}: the model is not compiled as it is loaded, since its "
                "class has a method compile of its own; give it get_compile_config and "
                "compile_from_config, too",
                stacklevel=2,
            )
            return
        arguments = {key: deserialize_keras_object(value) for key, value in config.items()}
        self.compile(
            **{name: value for name, value in arguments.items() if name in _COMPILE_ARGUMENTS}
        )
        if getattr(self, "built", False) and hasattr(self.optimizer, "build"):
            self.optimizer.build(self.trainable_variables)

    def _require_compiled(self, name: str) -> None:
        if not self.compiled:
            raise ValueError(f"{name}: the model must be compiled first, by model.compile(…)")

    @property
    def _compiled_metric_list(self) -> list[Metric]:
        """The mean loss, the metrics of ``compile`` as one metric, and the losses of outputs."""
        if not self.compiled:
            return []
        metrics: list[Metric] = [self._loss_tracker]
        if self._compiled_metrics is not None:
            metrics.append(self._compiled_metrics)
        if self._compiled_loss is not None:
            metrics += self._compiled_loss.metrics
        return metrics

    @property
    def metrics(self) -> list[Metric]:
        """The mean loss, the metrics of ``compile`` as one, the losses of outputs; then layers'."""
        return [*self._compiled_metric_list, *super().metrics]

    @property
    def metrics_names(self) -> list[str]:
        """The names of the metrics."""
        return [metric.name for metric in self.metrics]

    def reset_metrics(self) -> None:
        """Reset the state of all metrics."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self) -> dict[str, Any]:
        """Return the results of the metrics by name, as scalar tensors."""
        results: dict[str, Any] = {}
        for metric in self.metrics:
            result = metric.result()
            results.update(result if isinstance(result, Mapping) else {metric.name: result})
        return results

    # -- one batch ----------------------------------------------------------------------------

    def compute_loss(
        self,
        x: Tensors = None,
        y: Tensors = None,
        y_pred: Tensors = None,
        sample_weight: Tensors = None,
        training: bool = True,
    ) -> Tensor:
        """Return the loss of a batch: the loss of ``compile`` and those that layers added.

        Raises:
            ValueError: there is no loss.
        """
        total: Tensor | None = None
        if self._compiled_loss is not None and y is not None:
            total = self._compiled_loss(y, y_pred, sample_weight)
        for loss in self.losses:
            loss = _sum(loss) if loss.shape else loss
            total = loss if total is None else total + loss
        if total is None:
            raise ValueError(
                "there is no loss: pass a loss to compile and y to fit, or call add_loss in a layer"
            )
        return total

    def stateless_compute_loss(
        self,
        trainable_variables: Iterable[TensorLike],
        non_trainable_variables: Iterable[TensorLike],
        metrics_variables: Iterable[TensorLike],
        x: Tensors = None,
        y: Tensors = None,
        y_pred: Tensors = None,
        sample_weight: Tensors = None,
        training: bool = True,
    ) -> tuple[Tensor, tuple[list[TensorLike], list[TensorLike], list[TensorLike]]]:
        """Return ``compute_loss`` for other values of the variables, which do not change.

        As in Keras, the result has the loss and ``(trainable_variables, non_trainable_variables,
        metrics_variables)``, the values afterwards.
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
        self,
        x: Tensors,
        y: Tensors,
        y_pred: Tensors,
        sample_weight: Tensors = None,
    ) -> Results:
        """Update the metrics by a batch, and return their results."""
        if self._compiled_metrics is not None and y is not None:
            self._compiled_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def _loss_of(
        self,
        x: Tensors,
        y: Tensors,
        y_pred: Tensors,
        sample_weight: Tensors,
        training: bool,
    ) -> Tensor:
        """Call ``compute_loss``; a user's may not accept ``training``."""
        mode = {"training": training} if _accepts_training(type(self).compute_loss) else {}
        return self.compute_loss(x, y, y_pred, sample_weight, **mode)

    def train_step(self, data: Batch) -> Results:
        """Train on a batch, and return scalars by name.

        A model with its own step overrides this. It updates variables, for instance by
        ``self.optimizer.minimize(function, self.trainable_variables)``.
        """
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        outputs: list[Tensors] = []

        def loss() -> Tensor:
            outputs.append(self._outputs_of(x, training=True))
            return self._loss_of(x, y, outputs[0], sample_weight, training=True)

        variables = self.trainable_variables
        if variables:
            # ``minimize`` would build it only for the variables that the loss depends on.
            if not getattr(self.optimizer, "built", True):
                self.optimizer.build(variables)
            value = self.optimizer.minimize(loss, variables)
        else:
            warn(f"model {self.name!r} has no trainable weights", stacklevel=2)
            value = loss()
        self._loss_tracker.update_state(value, sample_weight=_batch_size(x))
        return self._metrics_of(x, y, outputs[0], sample_weight)

    def test_step(self, data: Batch) -> Results:
        """Evaluate a batch, and return scalars by name; a model with its own step overrides it."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        y_pred = self._outputs_of(x, training=False)
        value = self._loss_of(x, y, y_pred, sample_weight, training=False)
        self._loss_tracker.update_state(value, sample_weight=_batch_size(x))
        return self._metrics_of(x, y, y_pred, sample_weight)

    def _metrics_of(
        self,
        x: Tensors,
        y: Tensors,
        y_pred: Tensors,
        sample_weight: Tensors,
    ) -> Results:
        """Call ``compute_metrics``; unless it is overridden, compute results when they are read."""
        if any(getattr(type(self), name) is not getattr(Trainer, name) for name in _STEP_METHODS):
            return self.compute_metrics(x, y, y_pred, sample_weight)
        if self._compiled_metrics is not None and y is not None:
            self._compiled_metrics.update_state(y, y_pred, sample_weight)
        return LazyResults(self)

    def predict_step(self, data: Batch) -> Any:
        """Return the outputs for a batch; a model with its own step overrides this."""
        x, _, _ = unpack_x_y_sample_weight(data)
        return self._infer(x)

    def _infer(self, x: Tensors) -> Any:
        """Return the outputs for inputs, in inference."""
        return self._outputs_of(x, training=False)

    def _outputs_of(self, x: Tensors, training: bool) -> Any:
        """Call the model; in Keras, too, only a ``call`` with this argument learns ``training``."""
        return self(x, training=training) if self._call_has_training_arg else self(x)

    # -- several batches ----------------------------------------------------------------------

    #: ``fit``, ``evaluate`` and ``predict`` call these with an iterator of batches. They return the
    #: result of the last step; ``predict_function`` returns the outputs of all steps.
    train_function: StepsFunction | None = None
    test_function: StepsFunction | None = None
    predict_function: StepsFunction | None = None

    def make_train_function(self, force: bool = False) -> StepsFunction:
        """Return ``train_function``, and make it if necessary; models may override this.

        It takes an iterator of batches and trains on ``steps_per_execution`` of them.
        """
        if self.train_function is None or force:
            reads_gradients = getattr(self.optimizer, "_reads_gradients", False)
            mode = CaptureMode.NEVER if reads_gradients else self._capture_mode
            step = CapturedStep(self, self.train_step, mode)
            self.train_function = lambda batches: self._steps(step, batches)[-1]
        return self.train_function

    def make_test_function(self, force: bool = False) -> StepsFunction:
        """Return ``test_function``, as ``make_train_function`` does."""
        if self.test_function is None or force:
            step = CapturedStep(self, self.test_step, self._capture_mode)
            self.test_function = lambda batches: self._steps(step, batches)[-1]
        return self.test_function

    def make_predict_function(self, force: bool = False) -> StepsFunction:
        """Return ``predict_function``, as ``make_train_function`` does."""
        if self.predict_function is None or force:
            self.predict_function = lambda batches: concatenated(
                self._steps(self.predict_step, batches)
            )
        return self.predict_function

    def _parts_of_steps(self) -> list[object]:
        """Return the objects whose code is a part of steps."""
        losses = () if self._compiled_loss is None else self._compiled_loss.losses
        metrics = () if self._compiled_metrics is None else self._compiled_metrics.metrics
        optimizer = () if self.optimizer is None else (self.optimizer,)
        return [*self._flatten_layers(), *optimizer, *losses, *metrics, *self.metrics]

    def _numbers_of_steps(self) -> tuple[object, ...]:
        return () if self.optimizer is None else numbers_of(self.optimizer)

    def _steps(
        self, step: Callable[[Batch], StepResult], batches: Iterator[Batch]
    ) -> list[StepResult]:
        """Return the results of a step for each of the next batches.

        Raises:
            StopIteration: there are no more batches.
        """
        results = [step(next(batches))]
        results += [step(batch) for batch in islice(batches, self.steps_per_execution - 1)]
        return results

    # -- fit ----------------------------------------------------------------------------------

    def _fit(
        self,
        x: DataLike | None = None,
        y: DataLike | None = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int | str = "auto",
        callbacks: CallbacksLike = None,
        validation_split: float = 0.0,
        validation_data: DataLike | None = None,
        shuffle: bool = True,
        class_weight: ClassWeight | None = None,
        sample_weight: DataLike | None = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: int | Container[int] = 1,
    ) -> Loop[History]:
        """Train the model for a number of epochs, and return the ``History``.

        The arguments are Keras's. In a page, ``fit`` lets the page paint meanwhile if the browser
        can suspend Python; ``fit_async`` does so in all browsers.

        Raises:
            ValueError: the model is not compiled, or shapes of the data do not match each other or
                the model.
        """
        self._require_compiled("fit")
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = split_off(
                validation_split, x, y, sample_weight
            )
        data = batches_of(
            x, y, sample_weight, batch_size, shuffle, class_weight, steps=steps_per_epoch
        )
        validation = None
        if validation_data is not None:
            validation = _validation_batches(
                validation_data, validation_batch_size or batch_size, validation_steps
            )
        epochs = limit_epochs(epochs)
        steps_per_epoch = limit_steps(steps_per_epoch, data)
        steps = steps_per_epoch or data.steps
        callback_list = self._callback_list(callbacks, verbose, epochs, steps, add_history=True)

        def validate(epoch: int) -> Loop[Logs]:
            if validation is None or not is_validation_due(epoch, validation_freq):
                return {}
            logs = yield from self._evaluate_batches(validation, validation_steps, callback_list)
            return {f"val_{name}": value for name, value in logs.items()}

        yield from self._train(
            range(initial_epoch, epochs), data, steps_per_epoch, validate, callback_list
        )
        history: History = vars(self).get("history")  # type: ignore[assignment]
        return history

    fit, fit_async = forms_of(_fit)

    def _train(
        self,
        epochs: range,
        data: Batches,
        steps: int | None,
        validate: Callable[[int], Loop[Logs]],
        callbacks: CallbackList,
    ) -> Loop[None]:
        """Train from the beginning to the end that callbacks are called for."""
        self.stop_training = False
        self._initial_epoch = None
        callbacks.on_train_begin()
        first_epoch = epochs.start if self._initial_epoch is None else self._initial_epoch
        epochs = range(first_epoch, epochs.stop)
        try:
            logs = yield from self._train_epochs(epochs, data, steps, validate, callbacks)
            if hasattr(self.optimizer, "finalize_variable_values"):
                self.optimizer.finalize_variable_values(self.trainable_variables)
            callbacks.on_train_end(logs)
            yield from wait_for_callbacks(callbacks)
        finally:
            callbacks.close()

    def _train_epochs(
        self,
        epochs: range,
        data: Batches,
        steps: int | None,
        validate: Callable[[int], Loop[Logs]],
        callbacks: CallbackList,
    ) -> Loop[Logs]:
        """Train for epochs until one has no batches or a callback stops; return the last logs."""
        train, breather = self.make_train_function(), Breather()
        logs: Logs = {}
        for epoch in epochs:
            self.reset_metrics()
            callbacks.on_epoch_begin(epoch)
            source = data.epoch(round_up(steps, self.steps_per_execution))
            count, results = yield from self._run_steps("train", source, train, callbacks, breather)
            if not count and epoch == epochs.start:
                raise ValueError("fit: x made no batches")
            if not count:
                warn(f"fit: x made no batches for epoch {epoch + 1}: training ends", stacklevel=3)
                break
            if not self.stop_training:
                warn_of_missing_batches("fit", count, steps)
            yield from wait_for_results(results)
            logs = as_logs(results)
            data.end_epoch()
            logs.update((yield from validate(epoch)))
            logs = dict(sorted(logs.items()))
            callbacks.on_epoch_end(epoch, dict(logs))
            yield from wait_for_callbacks(callbacks)
            if self.stop_training:
                break
        return logs

    def _run_steps(
        self,
        kind: Literal["train", "test"],
        source: Iterator[Batch] | AsyncBatches,
        run_step: StepsFunction,
        callbacks: CallbackList,
        breather: Breather,
    ) -> Loop[tuple[int, Results]]:
        """Train or test on batches; return how many there were, and the last results."""
        count, size = 0, self.steps_per_execution
        results: Results = {}
        while batches := (yield from next_batches(source, size)):
            getattr(callbacks, f"on_{kind}_batch_begin")(count)
            while batches:
                batch = batches.pop(0)
                if kind == "train" and not count:
                    self._build_for(batch)
                results = run_step(iter((batch,)))
                del batch
                yield from breather.after(self._last_result())
            count += size
            logs = None
            if callbacks.needs_batch_logs(count - 1, kind):
                yield from wait_for_results(results)
                logs = as_logs(results)
            getattr(callbacks, f"on_{kind}_batch_end")(count - 1, logs)
            yield from wait_for_callbacks(callbacks)
            if self.stop_training if kind == "train" else self.stop_evaluating:
                break
        return count, results

    def _callback_list(
        self,
        callbacks: CallbacksLike,
        verbose: int | str,
        epochs: int,
        steps: int | None,
        *,
        add_history: bool = False,
    ) -> CallbackList:
        """Return the callbacks of a loop as a list that calls them."""
        if isinstance(callbacks, keras.callbacks.CallbackList):
            return callbacks
        return keras.callbacks.CallbackList(
            callbacks,
            add_history=add_history,
            add_progbar=verbose not in (0, "0"),
            model=self,
            verbose=_default_verbosity() if verbose == "auto" else verbose,
            epochs=epochs,
            steps=steps,
        )

    def _build_for(self, batch: Batch) -> None:
        """Make the variables that a step may need before it calls the model.

        A user's own step may use the batch in another way than calling the model with its inputs.
        """
        is_ready = self.built and self.trainable_variables
        if not is_ready and type(self).call is not Layer.call:
            ignored = () if type(self).train_step is Trainer.train_step else (Exception,)
            with suppress(*ignored), StatelessScope():  # the call only makes variables
                self(unpack_x_y_sample_weight(batch)[0])

    def _last_result(self) -> Tensor | None:
        """Return a tensor that the last step computed."""
        variables = self._loss_tracker.variables
        return variables[0].value if variables else None

    # -- evaluate -----------------------------------------------------------------------------

    def _evaluate(
        self,
        x: DataLike | None = None,
        y: DataLike | None = None,
        batch_size: int | None = None,
        verbose: int | str = "auto",
        sample_weight: DataLike | None = None,
        steps: int | None = None,
        callbacks: CallbacksLike = None,
        return_dict: bool = False,
    ) -> Loop[float | list[float] | Logs]:
        """Return the loss and the metrics of data, as a list or, with ``return_dict``, by name.

        A list of only one number is returned as a number. The arguments are Keras's.

        Raises:
            ValueError: the model is not compiled, or shapes of the data do not match each other or
                the model.
        """
        self._require_compiled("evaluate")
        data = batches_of(x, y, sample_weight, batch_size, steps=steps)
        steps = limit_steps(steps, data)
        callback_list = self._callback_list(callbacks, verbose, 1, steps or data.steps)
        try:
            logs = yield from self._evaluate_batches(data, steps, callback_list)
        finally:
            callback_list.close()
        return logs if return_dict else self._as_list(logs)

    evaluate, evaluate_async = forms_of(_evaluate)

    def _as_list(self, logs: Logs) -> float | list[float]:
        """Return logs in the order of the metrics, then others; a single one without a list."""
        names: list[str] = []
        for metric in self.metrics:
            names += [inner.name for inner in getattr(metric, "metrics", [metric])]
        order = dict.fromkeys([*names, *logs])
        values = [logs[name] for name in order if name in logs]
        return values[0] if len(values) == 1 else values

    def _evaluate_batches(
        self, data: Batches, steps: int | None, callbacks: CallbackList
    ) -> Loop[Logs]:
        """Evaluate batches of data, at most ``steps`` unless it is None; return the logs."""
        self.reset_metrics()
        test = self.make_test_function()
        self.stop_evaluating = False
        callbacks.on_test_begin()
        steps = limit_steps(steps, data)
        data.restart()
        source = data.epoch(round_up(steps, self.steps_per_execution))
        count, results = yield from self._run_steps("test", source, test, callbacks, Breather())
        if not count:
            raise ValueError("evaluate: x made no batches")
        if not self.stop_evaluating:
            warn_of_missing_batches("evaluate", count, steps)
        data.end_epoch()
        yield from wait_for_results(results)
        logs = as_logs(results)
        callbacks.on_test_end(logs)
        yield from wait_for_callbacks(callbacks)
        return logs

    # -- predict ------------------------------------------------------------------------------

    def _predict(
        self,
        x: DataLike,
        batch_size: int | None = None,
        verbose: int | str = "auto",
        steps: int | None = None,
        callbacks: CallbacksLike = None,
    ) -> Loop[Any]:
        """Return the outputs for data, computed in batches.

        The arguments are Keras's. The outputs are NumPy arrays if NumPy is installed, else tensors.

        Raises:
            ValueError: shapes of the data do not match each other or the model.
        """
        data = batches_of(x, None, None, batch_size, steps=steps)
        steps = limit_steps(steps, data)
        callback_list = self._callback_list(callbacks, verbose, 1, steps or data.steps)
        try:
            outputs = yield from self._predict_batches(data, steps, callback_list)
        finally:
            callback_list.close()
        if not outputs:
            raise ValueError("predict: x made no batches")
        all_outputs = concatenated(outputs)
        for output in flatten(all_outputs):
            yield output.data
        return map_structure(as_array, all_outputs)

    predict, predict_async = forms_of(_predict)

    def _predict_batches(
        self, data: Batches, steps: int | None, callbacks: CallbackList
    ) -> Loop[list[Tensors]]:
        """Return the outputs for each of the batches, at most ``steps`` unless it is None."""
        breather = Breather()
        predict = self.make_predict_function()
        self.stop_predicting = False
        outputs: list[Tensors] = []
        count, size = 0, self.steps_per_execution
        callbacks.on_predict_begin()
        source = data.epoch(round_up(steps, size))
        while batches := (yield from next_batches(source, size)):
            callbacks.on_predict_batch_begin(count)
            while batches:
                outputs.append(predict(iter((batches.pop(0),))))
                yield from breather.after(flatten(outputs[-1])[0])
            new_outputs = outputs[count:]
            count += size
            callbacks.on_predict_batch_end(count - 1, {"outputs": concatenated(new_outputs)})
            yield from wait_for_callbacks(callbacks)
            if self.stop_predicting:
                break
        else:
            warn_of_missing_batches("predict", count, steps)
        data.end_epoch()
        callbacks.on_predict_end()
        yield from wait_for_callbacks(callbacks)
        return outputs

    # -- on one batch -------------------------------------------------------------------------

    def train_on_batch(
        self,
        x: DataLike,
        y: DataLike | None = None,
        sample_weight: DataLike | None = None,
        class_weight: ClassWeight | None = None,
        return_dict: bool = False,
    ) -> float | list[float] | Logs:
        """Train on one batch, and return the loss and the metrics."""
        self._require_compiled("train_on_batch")
        batch = _whole_batch(x, y, sample_weight, class_weight)
        self._build_for(batch)
        self.reset_metrics()
        return self._returned(self.make_train_function()(iter((batch,))), return_dict)

    def test_on_batch(
        self,
        x: DataLike,
        y: DataLike | None = None,
        sample_weight: DataLike | None = None,
        return_dict: bool = False,
    ) -> float | list[float] | Logs:
        """Evaluate one batch, and return the loss and the metrics."""
        self._require_compiled("test_on_batch")
        self.reset_metrics()
        batch = _whole_batch(x, y, sample_weight)
        return self._returned(self.make_test_function()(iter((batch,))), return_dict)

    def predict_on_batch(self, x: DataLike) -> Any:
        """Return the outputs for one batch."""
        batch = _whole_batch(x)
        return map_structure(as_array, self.make_predict_function()(iter((batch,))))

    def _returned(self, results: Results, return_dict: bool) -> float | list[float] | Logs:
        logs = as_logs(results)
        return logs if return_dict else self._as_list(logs)


#: Methods of users that may read results before the loop does.
_STEP_METHODS = ("train_step", "test_step", "compute_metrics")

_COMPILE_ARGUMENTS = frozenset(
    {
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
def _accepts_training(function: Callable[..., object]) -> bool:
    return any(
        parameter.name == "training" or parameter.kind is Parameter.VAR_KEYWORD
        for parameter in signature(function).parameters.values()
    )


def _default_verbosity() -> int:
    """Return what ``verbose="auto"`` is: 1 for a bar, without interactive logging 2 for a line."""
    return 1 if is_interactive_logging_enabled() else 2


def _batch_size(x: Tensors) -> int:
    return int(next(leaf for leaf in flatten(x) if leaf is not None).shape[0])


def _validation_batches(data: DataLike, batch_size: int | None, steps: int | None) -> Batches:
    x, y, sample_weight = unpack_x_y_sample_weight(data)
    return batches_of(x, y, sample_weight, batch_size, steps=steps)


def _whole_batch(
    x: DataLike,
    y: DataLike | None = None,
    sample_weight: DataLike | None = None,
    class_weight: ClassWeight | None = None,
) -> Batch:
    """Return all samples as one batch."""
    data = batches_of(x, y, sample_weight, class_weight=class_weight, whole=True)
    return next(iter(data.make()))
