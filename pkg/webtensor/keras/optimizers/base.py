"""The base class of all optimizers: common arguments, slots of each variable, the order of a step.

A slot is a tensor that an optimizer keeps for a variable, such as its momentum. An optimizer names
its slots (``slot_groups``) and updates one variable at a time (``update_step``). The rest of a step
is here: weight decay, clipping, moving averages of the weights, gradient accumulation, constraints.

The numbers of a step, such as the learning rate and bias corrections, are Python numbers, so that a
step never waits for the device. The formulas on tensors are in ``ops/optimizer_updates.py``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from webtensor.autodiff import loss_and_gradients
from webtensor.autodiff.results import variable_list
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike, Variable
from webtensor.engine.late_numbers import late_number
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.arguments import is_integer, is_number
from webtensor.keras.names import auto_name, to_snake_case
from webtensor.keras.optimizers.common_arguments import (
    CommonArguments,
    CompleteSignature,
    LearningRateLike,
    non_negative,
    number_or_none,
)
from webtensor.keras.optimizers.gradients import without_missing
from webtensor.keras.optimizers.learning_rate_schedule import LearningRateSchedule, rate_of
from webtensor.keras.optimizers.optimizer_variables import OptimizerVariables
from webtensor.keras.optimizers.slots import HostNumber, Slot
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.stateless import lent, values_of
from webtensor.keras.types import Config
from webtensor.ops import maximum, tensor, zeros_like
from webtensor.ops.optimizer_updates import moved_against, moved_towards, weighted_sum

__all__ = ["CommonArguments", "LearningRateLike", "Optimizer"]


class Optimizer(OptimizerVariables):
    """The base class of all optimizers, which update variables so that a loss decreases.

    An optimizer of your own overrides ``build``, which makes its slots with
    ``add_variable_from_reference``, and ``update_step``; to be saved, also ``get_config``.

    Args:
        learning_rate: a number, a schedule, or a function without arguments that returns a number.
        weight_decay: a number, or None for no weight decay. Each step subtracts the weight times
            this number and the learning rate.
        clipnorm: a number, the maximum norm of each gradient, or None. At most one of
            ``clipnorm``, ``clipvalue`` and ``global_clipnorm`` can be set.
        clipvalue: a number, the maximum absolute value of the gradients' elements, or None.
        global_clipnorm: a number, the maximum norm of all gradients together, or None.
        use_ema: a boolean, whether to keep an exponential moving average of each weight.
        ema_momentum: a number in [0, 1], the decay of the moving averages.
        ema_overwrite_frequency: an integer, the number of steps after which the averages replace
            the weights; None replaces them in ``finalize_variable_values`` only.
        loss_scale_factor: a number that the loss is multiplied by, and the gradients are divided
            by, or None.
        gradient_accumulation_steps: an integer, the number of steps whose gradients are averaged
            for one update of the weights; None updates them in each step.
        name: a string; None makes one of the class's name and a number.

    Raises:
        ValueError: an argument is unknown or has an invalid value.
    """

    #: ``__init__`` raises the errors about unknown arguments, as it accepts the former ``decay``.
    _refuses_unknown = False

    #: Names of the slots of each variable, in groups. Slots are made one group after the other, and
    #: variable by variable in each group, which is the order in saved files.
    slot_groups: Sequence[Sequence[str]] = ()

    def __init__(
        self,
        learning_rate: LearningRateLike,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        name: str | None = None,
        **kwargs: object,
    ) -> None:
        class_name = type(self).__name__
        if kwargs.pop("decay", None) is not None:
            warnings.warn(
                f"{class_name}: decay is no longer supported and is ignored", stacklevel=3
            )
        if kwargs:
            raise ValueError(f"{class_name}: argument(s) not recognized: {kwargs}")
        super().__init__(name or auto_name(to_snake_case(class_name)))
        self.weight_decay = number_or_none(class_name, "weight_decay", weight_decay)
        self.clipnorm = number_or_none(class_name, "clipnorm", clipnorm)
        self.clipvalue = number_or_none(class_name, "clipvalue", clipvalue)
        self.global_clipnorm = number_or_none(class_name, "global_clipnorm", global_clipnorm)
        self.use_ema = use_ema
        self.ema_momentum = ema_momentum
        self.ema_overwrite_frequency = ema_overwrite_frequency
        self.loss_scale_factor = number_or_none(class_name, "loss_scale_factor", loss_scale_factor)
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self._check_common_arguments()

        self._trainable_variables: list[Variable] = []
        #: By ``id(variable)``: its index, slots, moving average and accumulated gradient.
        self._indices: dict[int, int] = {}
        self._slots: dict[int, list[Slot]] = {}
        self._averages: dict[int, Slot] = {}
        self._accumulators: dict[int, Slot] = {}
        #: By ``id(variable)``: variables that their gradients overwrite, and without weight decay.
        self._overwritten: dict[int, Variable] = {}
        self._without_decay: dict[int, Variable] = {}
        self._names_without_decay: re.Pattern[str] | None = None
        self._iterations = self._add_number("iteration", 0, int32)
        self._learning_rate: HostNumber | LearningRateSchedule | Callable[[], float | Tensor]
        if callable(learning_rate):
            self._learning_rate = learning_rate
        else:
            rate = self._non_negative("learning_rate", learning_rate)
            self._learning_rate = self._add_number("learning_rate", rate, float32)

    __signature__ = CompleteSignature(__init__)

    #: Attributes that are dictionaries by ``id(variable)``, which differs in copies and pickles.
    keyed_by_variable: tuple[str, ...] = (
        "_indices",
        "_slots",
        "_averages",
        "_accumulators",
        "_overwritten",
        "_without_decay",
    )

    # -- arguments -----------------------------------------------------------------------------

    def _non_negative(self, argument: str, value: float) -> float:
        """Return an argument that must be a non-negative number."""
        return non_negative(type(self).__name__, argument, value)

    def _check_common_arguments(self) -> None:
        class_name = type(self).__name__
        clips = {
            name: value
            for name in ("clipnorm", "clipvalue", "global_clipnorm")
            if (value := getattr(self, name)) is not None
        }
        if len(clips) > 1:
            raise ValueError(
                f"{class_name}: only one of clipnorm, clipvalue and global_clipnorm can be set, "
                f"but got {clips}"
            )
        steps = self.gradient_accumulation_steps
        if steps and not (is_integer(steps) and int(steps) >= 2):
            raise ValueError(
                f"{class_name}: gradient_accumulation_steps must be an integer >= 2, but got "
                f"{steps!r}"
            )
        if not self.use_ema:
            return
        momentum, frequency = self.ema_momentum, self.ema_overwrite_frequency
        if not is_number(momentum) or not 0 <= momentum <= 1:
            raise ValueError(f"{class_name}: ema_momentum must be in [0, 1], but got {momentum!r}")
        if frequency and not (is_integer(frequency) and int(frequency) >= 1):
            raise ValueError(
                f"{class_name}: ema_overwrite_frequency must be an integer >= 1 or None, but got "
                f"{frequency!r}"
            )

    # -- slots ---------------------------------------------------------------------------------

    def build(self, variables: Iterable[Variable]) -> None:
        """Make the slots of the variables that the optimizer will update."""
        if not self.built:
            self._add_variables(list(variables))
            self.built = True

    def _add_variables(self, variables: Sequence[Variable]) -> None:
        """Make the slots of further variables.

        Raises:
            TypeError: a variable is not float32.
        """
        for variable in variables:
            if variable.dtype is not float32:
                raise TypeError(
                    f"{type(self).__name__}: variable {variable.name!r} must be float32, but is "
                    f"{variable.dtype}"
                )
        for variable in variables:
            self._indices[id(variable)] = len(self._trainable_variables)
            self._trainable_variables.append(variable)
            self._slots[id(variable)] = []
            # The engine's own variables lack the attribute, and looking it up there is slow.
            if type(variable) is not Variable and getattr(
                variable, "overwrite_with_gradient", False
            ):
                self._overwritten[id(variable)] = variable
        updated = self._without_overwritten(variables)
        if self.use_ema:
            for variable in updated:
                average = self.add_variable_from_reference(variable, "average")
                self._averages[id(variable)] = average
        if self.gradient_accumulation_steps:
            for variable in variables:
                accumulator = self.add_variable_from_reference(variable, "gradient_accumulator")
                self._accumulators[id(variable)] = accumulator
        for group in self.slot_groups:
            for variable in updated:
                self._slots[id(variable)] += [
                    self.add_variable_from_reference(variable, name, self.initial_value(name))
                    for name in group
                ]

    def _without_overwritten(self, variables: Iterable[Variable]) -> list[Variable]:
        """Return the variables that ``update_step`` updates.

        It does not update those that their gradients overwrite.
        """
        return [variable for variable in variables if id(variable) not in self._overwritten]

    def initial_value(self, slot: str) -> float:
        """Return the initial value of all elements of a slot."""
        return 0.0

    def slots_of(self, variable: Variable) -> list[Slot]:
        """Return the slots of a variable, in the order of ``slot_groups``."""
        return self._slots[id(variable)]

    def _get_variable_index(self, variable: Variable) -> int:
        return self._indices[id(variable)]

    # -- the learning rate and the number of steps ---------------------------------------------

    @property
    def iterations(self) -> HostNumber | Tensor:
        """The number of steps taken; with gradient accumulation, the number of updates."""
        steps = self.gradient_accumulation_steps
        return tensor(self.update_count) if steps else self._iterations

    @iterations.setter
    def iterations(self, value: HostNumber | TensorLike) -> None:
        self._iterations.assign(value)

    @property
    def update_count(self) -> int:
        """The number of updates of the weights so far, as a Python integer."""
        count: int = self._iterations.number // (self.gradient_accumulation_steps or 1)
        return count

    @property
    def learning_rate(self) -> HostNumber | Tensor | float:
        """The learning rate of the next step. A number can be assigned unless it is computed."""
        rate = self._learning_rate
        if isinstance(rate, HostNumber):
            return rate
        return rate(self._iterations) if isinstance(rate, LearningRateSchedule) else rate()

    @learning_rate.setter
    def learning_rate(self, learning_rate: LearningRateLike | TensorLike) -> None:
        previous = self._learning_rate
        if callable(learning_rate):
            self._variables = [variable for variable in self._variables if variable is not previous]
            self._learning_rate = learning_rate
        elif isinstance(previous, HostNumber):
            previous.assign(learning_rate)
        else:
            raise TypeError(
                f"{type(self).__name__}: learning_rate is a schedule or a function, so it cannot "
                "be set to a number; make the optimizer with a number"
            )

    def _current_learning_rate(self) -> float:
        """Return the learning rate of the next step as a Python number."""
        rate = self._learning_rate
        if isinstance(rate, HostNumber):
            number: float = rate.number
            return number
        if isinstance(rate, LearningRateSchedule):
            return rate_of(rate, self._iterations)
        drawn: float = late_number(lambda: float(rate()))
        return drawn

    # -- steps ---------------------------------------------------------------------------------

    def minimize(
        self,
        function: Callable[[], Tensor | Variable],
        variables: Iterable[Variable] | None = None,
    ) -> Tensor:
        """Take one step that decreases the scalar that ``function`` returns, and return the scalar.

        ``variables`` are the variables to update; None are all trainable ones ``function`` reads.

        Raises:
            ValueError: the result is not a float scalar, or depends on no trainable variable.
        """
        loss, pairs = loss_and_gradients("minimize", function, variables, self._loss_scale())
        used = [variable for variable, _ in pairs]
        if self.built and type(self).build is Optimizer.build:
            self._add_variables(
                [variable for variable in used if id(variable) not in self._indices]
            )
        self.apply([gradient for _, gradient in pairs], used)
        return loss

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Tensor | None, Variable]]
    ) -> HostNumber:
        """Take one step, from pairs of gradients and variables, and return ``iterations``.

        Raises:
            TypeError: there is something else than pairs.
        """
        pairs = list(grads_and_vars)
        for pair in pairs:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(
                    "apply_gradients: grads_and_vars must be pairs, such as those of "
                    f"zip(gradients, variables), but has {pair!r}"
                )
        self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])
        return self._iterations

    def apply(
        self,
        grads: Iterable[Tensor | None],
        trainable_variables: Iterable[Variable] | None = None,
    ) -> None:
        """Take one step along the gradients of variables.

        ``trainable_variables`` is None for the variables that the optimizer was built with.

        Raises:
            ValueError: all gradients are None, a gradient's shape differs from its variable's, or
                the optimizer was built without one of the variables.
        """
        grads = list(grads)
        if not grads:
            return
        variables = self._variables_of(grads, trainable_variables)
        gradients, variables = without_missing(grads, variables)
        with outside_scopes():
            if self._overwritten:
                gradients, variables = self._overwrite(gradients, variables)
            if gradients:
                self._take_step(gradients, variables)
        self._iterations.number += 1

    def stateless_apply(
        self,
        optimizer_variables: Sequence[TensorLike],
        grads: Iterable[Tensor | None],
        trainable_variables: Sequence[TensorLike],
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return the values of the trainable and the optimizer's variables after a step.

        ``trainable_variables`` and ``optimizer_variables`` are the values before it: of the
        variables that the optimizer was built with, and of ``variables``. No variable changes.

        Raises:
            ValueError: the optimizer is not built, or the number of values is wrong.
        """
        if not self.built:
            raise ValueError(
                "stateless_apply: the optimizer is not built; call build(trainable_variables) first"
            )
        own_variables = self.variables
        with (
            lent("trainable_variables", self._trainable_variables, trainable_variables),
            lent("optimizer_variables", own_variables, optimizer_variables),
        ):
            self.apply(grads)
            return values_of(self._trainable_variables), values_of(own_variables)

    def _overwrite(
        self, gradients: list[Tensor], variables: list[Variable]
    ) -> tuple[list[Tensor], list[Variable]]:
        """Assign gradients to the variables that they overwrite; return the other pairs.

        With gradient accumulation, the value assigned is the maximum of the gradients.
        """
        steps = self.gradient_accumulation_steps
        others = []
        for gradient, variable in zip(gradients, variables, strict=True):
            if id(variable) not in self._overwritten:
                others.append((gradient, variable))
                continue
            if steps:
                accumulator = self._accumulators[id(variable)]
                gradient = maximum(gradient, accumulator.value)
                if (self._iterations.number + 1) % steps:
                    accumulator.assign(gradient)
                    continue
                accumulator.assign(zeros_like(gradient))
            variable.assign(gradient)
        return [gradient for gradient, _ in others], [variable for _, variable in others]

    def _take_step(self, gradients: list[Tensor], variables: list[Variable]) -> None:
        """Update variables, their moving averages and slots, and apply constraints."""
        if self.loss_scale_factor is not None:
            gradients = [gradient / self.loss_scale_factor for gradient in gradients]
        self._accumulate_or_update(gradients, variables)
        if self.use_ema:
            self._update_averages()
        for variable in variables:
            if type(variable) is not Variable:  # the engine's own variables have no constraints
                constraint = getattr(variable, "constraint", None)
                if constraint is not None:
                    variable.assign(constraint(variable.value))

    def _variables_of(
        self, gradients: Sequence[Tensor | None], trainable_variables: Iterable[Variable] | None
    ) -> list[Variable]:
        """Return the variables of gradients. An optimizer that is not built is built for them."""
        if trainable_variables is None:
            if not self.built:
                raise ValueError(
                    "apply: trainable_variables is missing, and the optimizer is not built; call "
                    "build(trainable_variables) first"
                )
            variables = self._trainable_variables
        else:
            variables = variable_list("apply", "trainable_variables", trainable_variables)
        if len(variables) != len(gradients):
            raise ValueError(
                f"apply: grads must have a gradient for each variable, but there are "
                f"{len(gradients)} gradients and {len(variables)} variables"
            )
        if not self.built:
            self.build(variables)
            self.built = True
        for variable in variables:
            if id(variable) not in self._indices:
                raise ValueError(
                    f"apply: unknown variable {variable.name!r}; an optimizer can only update the "
                    "variables that it was built with, so make another optimizer for this one"
                )
        return variables

    def _accumulate_or_update(self, gradients: list[Tensor], variables: list[Variable]) -> None:
        """Update variables; with gradient accumulation, only in the last step of a cycle."""
        steps = self.gradient_accumulation_steps
        if not steps:
            self._update(gradients, variables)
            return
        accumulators = [self._accumulators[id(variable)] for variable in variables]
        if (self._iterations.number + 1) % steps:
            for accumulator, gradient in zip(accumulators, gradients, strict=True):
                accumulator.assign(accumulator.value + gradient)
            return
        share = 1 / steps
        means = [
            weighted_sum(accumulator.value, gradient, share, share)
            for accumulator, gradient in zip(accumulators, gradients, strict=True)
        ]
        self._update(means, variables)
        for accumulator in accumulators:
            accumulator.assign(zeros_like(accumulator.value))

    def _update(self, gradients: list[Tensor], variables: list[Variable]) -> None:
        """Clip gradients, apply weight decay, and update each variable."""
        if self.clipnorm or self.global_clipnorm or self.clipvalue:
            from webtensor.keras.optimizers.clipping import clipped

            gradients = clipped(gradients, self.clipnorm, self.global_clipnorm, self.clipvalue)
        self._apply_weight_decay(variables)
        self._update_each(gradients, variables, self._current_learning_rate())

    def _update_each(
        self, gradients: Sequence[Tensor], variables: Sequence[Variable], learning_rate: float
    ) -> None:
        for gradient, variable in zip(gradients, variables, strict=True):
            self.update_step(gradient, variable, learning_rate)

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        """Update a variable and its slots."""
        raise NotImplementedError(f"{type(self).__name__} must override update_step")

    def assign(self, variable: Variable, value: TensorLike) -> None:
        """Assign a value to a variable."""
        variable.assign(value)

    def assign_add(self, variable: Variable, value: TensorLike) -> None:
        """Add a value to a variable."""
        variable.assign(variable.value + value)

    def assign_sub(self, variable: Variable, value: TensorLike) -> None:
        """Subtract a value from a variable."""
        variable.assign(variable.value - value)

    # -- loss scale, weight decay, moving averages ---------------------------------------------

    def scale_loss(self, loss: Tensor) -> Tensor:
        """Return the loss times the loss scale: ``apply`` expects the gradients of the product."""
        scale = self._loss_scale()
        return loss if scale is None else loss * scale

    def _loss_scale(self) -> float | None:
        return self.loss_scale_factor

    def exclude_from_weight_decay(
        self,
        var_list: Iterable[Variable] | None = None,
        var_names: Iterable[str] | None = None,
    ) -> None:
        """Exclude variables from weight decay. Call it before the first step.

        ``var_list`` has variables, ``var_names`` regular expressions of variables' names.
        """
        self._without_decay = {id(variable): variable for variable in var_list or ()}
        names = list(var_names or ())
        self._names_without_decay = re.compile("|".join(names)) if names else None

    def _use_weight_decay(self, variable: Variable) -> bool:
        if id(variable) in self._without_decay:
            return False
        names = self._names_without_decay
        return names is None or names.search(variable.name) is None

    def _weight_decay_of(self, variable: Variable) -> float | None:
        """Return the weight decay of a variable that is not excluded from weight decay."""
        return self.weight_decay

    def _apply_weight_decay(self, variables: Iterable[Variable]) -> None:
        rate = self._current_learning_rate()
        for variable in variables:
            decay = self._weight_decay_of(variable)
            if decay is not None and self._use_weight_decay(variable):
                value = variable.value
                variable.assign(moved_against(value, value, decay * rate))

    def _update_averages(self) -> None:
        """Update the moving averages; every ``ema_overwrite_frequency`` steps, assign them."""
        update_count, frequency = self.update_count, self.ema_overwrite_frequency
        for variable in self._trainable_variables:
            average = self._averages.get(id(variable))
            if average is None:
                continue
            if update_count:
                share = 1 - self.ema_momentum
                average.assign(moved_towards(average.value, variable.value, share))
            else:
                average.assign(variable.value)
        if frequency and (update_count + 1) % frequency == 0:
            self.finalize_variable_values(self._trainable_variables)

    def finalize_variable_values(self, var_list: Sequence[Variable]) -> None:
        """Assign the final values to a model's variables: with ``use_ema``, their averages."""
        if not self.use_ema:
            return
        if len(var_list) != len(self._trainable_variables):
            raise ValueError(
                f"finalize_variable_values: var_list has {len(var_list)} variables, but the "
                f"optimizer was built with {len(self._trainable_variables)}"
            )
        for target, variable in zip(var_list, self._trainable_variables, strict=True):
            if id(variable) in self._averages:
                target.assign(self._averages[id(variable)].value)

    # -- copies and pickles --------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        variables = {id(variable): variable for variable in self._trainable_variables}
        variables.update(self._without_decay)
        state = self.__dict__.copy()
        for attribute in self.keyed_by_variable:
            by_id = state[attribute]
            state[attribute] = [(variables[key], value) for key, value in by_id.items()]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for attribute in self.keyed_by_variable:
            pairs = state[attribute]
            self.__dict__[attribute] = {id(variable): value for variable, value in pairs}

    # -- saving --------------------------------------------------------------------------------

    def get_config(self) -> Config:
        """Return the arguments of ``__init__``, in Keras's order."""
        config = super().get_config()
        # Keras has global_clipnorm before clipvalue here, but after it in the signature.
        first = ("name", "learning_rate", "weight_decay", "clipnorm", "global_clipnorm")
        return {name: config[name] for name in first if name in config} | config

    def _config_value(self, name: str) -> Any:
        if name != "learning_rate":
            return super()._config_value(name)
        rate = self._learning_rate
        return rate.number if isinstance(rate, HostNumber) else serialize_keras_object(rate)

    def __repr__(self) -> str:
        from webtensor.keras.optimizers.call_text import call_text

        return call_text(self, ("name",) if self.use_ema else ("ema_momentum", "name"))

    @classmethod
    def from_config(cls, config: Config, custom_objects: dict[str, Any] | None = None) -> Self:
        """Make an optimizer from a configuration that ``get_config`` returned."""
        config = dict(config)
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = deserialize_keras_object(
                config["learning_rate"], custom_objects
            )
        return cls(**config)
