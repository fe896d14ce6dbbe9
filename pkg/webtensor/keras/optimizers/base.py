"""What all optimizers share: arguments, state for each variable, and the course of a step.

An optimizer names the tensors that it remembers for each variable (``slot_groups``) and says how
one variable moves (``update_step``). What Keras does around that is here: weight decay, clipping,
averages of the weights, gradients that are added up over several steps, constraints.

Numbers of a step, such as the learning rate and corrections for the number of steps, are Python's:
nothing is read from a device. All of a weight's arithmetic is in the rows of
``ops/optimizer_updates.py``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from webtensor.autodiff import variable_gradients
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, Variable
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.names import auto_name, to_snake_case
from webtensor.keras.optimizers.arguments import (
    Options,
    Rate,
    SpelledOut,
    is_number,
    not_negative,
    number_or_none,
)
from webtensor.keras.optimizers.clipping import (
    clipped_each,
    clipped_together,
    clipped_values,
    without_missing,
)
from webtensor.keras.optimizers.optimizer_variables import Memory
from webtensor.keras.optimizers.schedules import LearningRateSchedule, rate_of
from webtensor.keras.optimizers.slots import HostNumber, Slot
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.stateless import lent, values_of
from webtensor.keras.types import Config
from webtensor.ops import maximum, zeros_like
from webtensor.ops.optimizer_updates import moved_against, moved_towards, weighted_sum

__all__ = ["Optimizer", "Options", "Rate"]


class Optimizer(Memory):
    """Changes variables so that a loss falls; the base class of all optimizers.

    Others' optimizers override ``build``, which makes what they remember with
    ``add_variable_from_reference``, and ``update_step``; and ``get_config``, to be saved.

    - ``learning_rate``: a number, a schedule, or a function that returns a number.
    - ``weight_decay``: each weight loses this share of itself, times the learning rate.
    - ``clipnorm``, ``clipvalue``, ``global_clipnorm``: the greatest length of a gradient, the
      greatest absolute value of its elements, the greatest length of all gradients together. Only
      one of them can be set.
    - ``use_ema``: keep an average of each weight, which decays by ``ema_momentum``. Weights become
      their averages every ``ema_overwrite_frequency`` steps, or in ``finalize_variable_values``.
    - ``loss_scale_factor``: gradients are those of the loss times this factor.
    - ``gradient_accumulation_steps``: move only every so many steps, along the mean gradient.
    """

    _refuses_unknown = False

    #: Names of the tensors that are remembered for each variable. Those of a group are made
    #: variable by variable, one group after the other: this is the order in saved files.
    slot_groups: Sequence[Sequence[str]] = ()

    def __init__(
        self,
        learning_rate: Rate,
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
        **kwargs: Any,
    ) -> None:
        kind = type(self).__name__
        if kwargs.pop("decay", None) is not None:
            warnings.warn(f"{kind}: decay is no longer supported and is ignored", stacklevel=3)
        if kwargs:
            raise ValueError(f"{kind}: argument(s) not recognized: {kwargs}")
        super().__init__(name or auto_name(to_snake_case(kind)))
        self.weight_decay = number_or_none(kind, "weight_decay", weight_decay)
        self.clipnorm = number_or_none(kind, "clipnorm", clipnorm)
        self.clipvalue = number_or_none(kind, "clipvalue", clipvalue)
        self.global_clipnorm = number_or_none(kind, "global_clipnorm", global_clipnorm)
        self.use_ema = use_ema
        self.ema_momentum = ema_momentum
        self.ema_overwrite_frequency = ema_overwrite_frequency
        self.loss_scale_factor = number_or_none(kind, "loss_scale_factor", loss_scale_factor)
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self._check_options()

        self._trainable_variables: list[Variable] = []
        #: By the identity of variables: their places, slots, averages and sums of gradients.
        self._places: dict[int, int] = {}
        self._slots: dict[int, list[Slot]] = {}
        self._averages: dict[int, Slot] = {}
        self._sums: dict[int, Slot] = {}
        #: Variables whose gradient is their next value, and those that keep their weight.
        self._overwritten: dict[int, Variable] = {}
        self._without_decay: dict[int, Variable] = {}
        self._names_without_decay: re.Pattern[str] | None = None
        self._iterations = self._add_number("iteration", 0, int32)
        self._learning_rate: HostNumber | LearningRateSchedule | Callable[[], Any]
        if callable(learning_rate):
            self._learning_rate = learning_rate
        else:
            rate = self._not_negative("learning_rate", learning_rate)
            self._learning_rate = self._add_number("learning_rate", rate, float32)

    __signature__ = SpelledOut(__init__)

    #: Attributes whose keys are the identities of variables, which copies do not share.
    keyed_by_variable: tuple[str, ...] = (
        "_places",
        "_slots",
        "_averages",
        "_sums",
        "_overwritten",
        "_without_decay",
    )

    # -- arguments -----------------------------------------------------------------------------

    def _not_negative(self, argument: str, value: float) -> float:
        """Return a number among the optimizer's arguments."""
        return not_negative(type(self).__name__, argument, value)

    def _check_options(self) -> None:
        kind = type(self).__name__
        clips = {
            name: value
            for name in ("clipnorm", "clipvalue", "global_clipnorm")
            if (value := getattr(self, name)) is not None
        }
        if len(clips) > 1:
            raise ValueError(
                f"{kind}: only one of clipnorm, clipvalue and global_clipnorm can be set, but got "
                f"{clips}"
            )
        steps = self.gradient_accumulation_steps
        if steps and not (isinstance(steps, int) and steps >= 2):
            raise ValueError(
                f"{kind}: gradient_accumulation_steps must be an integer >= 2, but got {steps!r}"
            )
        if not self.use_ema:
            return
        momentum, frequency = self.ema_momentum, self.ema_overwrite_frequency
        if not is_number(momentum) or not 0 <= momentum <= 1:
            raise ValueError(f"{kind}: ema_momentum must be in [0, 1], but got {momentum!r}")
        if frequency and not (isinstance(frequency, int) and frequency >= 1):
            raise ValueError(
                f"{kind}: ema_overwrite_frequency must be an integer >= 1 or None, but got "
                f"{frequency!r}"
            )

    # -- what is remembered --------------------------------------------------------------------

    def build(self, variables: Iterable[Variable]) -> None:
        """Make what is remembered for the variables that the optimizer is for."""
        if not self.built:
            self._track(list(variables))
            self.built = True

    def _track(self, variables: Sequence[Variable]) -> None:
        """Make what is remembered for more variables."""
        for variable in variables:
            if variable.dtype is not float32:
                raise TypeError(
                    f"{type(self).__name__}: variable {variable.name!r} must be float32, but is "
                    f"{variable.dtype}"
                )
        for variable in variables:
            self._places[id(variable)] = len(self._trainable_variables)
            self._trainable_variables.append(variable)
            self._slots[id(variable)] = []
            # The engine's own variables have no such mark, and take long to say so.
            if type(variable) is not Variable and getattr(
                variable, "overwrite_with_gradient", False
            ):
                self._overwritten[id(variable)] = variable
        followed = self._moved_among(variables)
        if self.use_ema:
            self._averages.update(
                (id(one), self.add_variable_from_reference(one, "average")) for one in followed
            )
        if self.gradient_accumulation_steps:
            self._sums.update(
                (id(one), self.add_variable_from_reference(one, "gradient_accumulator"))
                for one in variables
            )
        for group in self.slot_groups:
            for variable in followed:
                self._slots[id(variable)] += [
                    self.add_variable_from_reference(variable, name, self.initial_value(name))
                    for name in group
                ]

    def _moved_among(self, variables: Iterable[Variable]) -> list[Variable]:
        """Those of variables that steps move, whose gradients are no values for them."""
        return [one for one in variables if id(one) not in self._overwritten]

    def initial_value(self, slot: str) -> float:
        """Return what all elements of a slot start with."""
        return 0.0

    def slots_of(self, variable: Variable) -> list[Slot]:
        """Return what is remembered for a variable, in the order of ``slot_groups``."""
        return self._slots[id(variable)]

    def _get_variable_index(self, variable: Variable) -> int:
        return self._places[id(variable)]

    # -- the learning rate and the number of steps ---------------------------------------------

    @property
    def iterations(self) -> Any:
        """Number of steps taken; of moves, where gradients are added up over several steps."""
        return self.moves if self.gradient_accumulation_steps else self._iterations

    @iterations.setter
    def iterations(self, value: Any) -> None:
        self._iterations.assign(value)

    @property
    def moves(self) -> int:
        """``iterations`` as an integer of the host."""
        return int(self._iterations.number) // (self.gradient_accumulation_steps or 1)

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the next step. It may be assigned, unless it is computed."""
        rate = self._learning_rate
        if isinstance(rate, HostNumber):
            return rate
        return rate(self._iterations) if isinstance(rate, LearningRateSchedule) else rate()

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        held = self._learning_rate
        if callable(learning_rate):
            self._variables = [one for one in self._variables if one is not held]
            self._learning_rate = learning_rate
        elif isinstance(held, HostNumber):
            held.assign(learning_rate)
        else:
            raise TypeError(
                f"{type(self).__name__}: learning_rate is a schedule or a function, so it cannot "
                "be set to a number; make the optimizer with a number"
            )

    def _rate(self) -> float:
        """The learning rate of the next step."""
        rate = self._learning_rate
        if isinstance(rate, HostNumber):
            return rate.number
        if isinstance(rate, LearningRateSchedule):
            return rate_of(rate, self._iterations)
        return float(rate())

    # -- steps ---------------------------------------------------------------------------------

    def minimize(
        self, function: Callable[[], Tensor], variables: Iterable[Variable] | None = None
    ) -> Tensor:
        """Take one step that lowers the scalar that ``function`` returns; returns that scalar.

        ``variables`` are those to change: by default every trainable one that ``function`` reads.

        Raises:
            ValueError: the result is not a float scalar, or depends on no trainable variable.
        """
        scale = self._loss_scale()
        if scale is None:
            loss, pairs = variable_gradients("minimize", function, variables)
        else:
            scaled, pairs = variable_gradients("minimize", lambda: function() * scale, variables)
            loss = scaled / scale
        met = [variable for variable, _ in pairs]
        if self.built and type(self).build is Optimizer.build:
            self._track([one for one in met if id(one) not in self._places])
        self.apply([gradient for _, gradient in pairs], met)
        return loss

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Tensor | None, Variable]]
    ) -> HostNumber:
        """Take one step along gradients, each given with its variable; returns ``iterations``."""
        pairs = list(grads_and_vars)
        self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])
        return self._iterations

    def apply(
        self,
        grads: Iterable[Tensor | None],
        trainable_variables: Iterable[Variable] | None = None,
    ) -> None:
        """Take one step along gradients of variables, or else of those it was built with.

        Raises:
            ValueError: all gradients are None, one's shape differs from its variable's, or the
                optimizer was built without one of the variables.
        """
        grads = list(grads)
        if not grads:
            return
        variables = self._variables_of(grads, trainable_variables)
        found, variables = without_missing(grads, variables)
        with outside_scopes():
            if self._overwritten:
                found, variables = self._overwrite(found, variables)
            if found:
                self._learn(found, variables)
        self._iterations.number += 1

    def stateless_apply(
        self,
        optimizer_variables: Sequence[Any],
        grads: Iterable[Tensor | None],
        trainable_variables: Sequence[Any],
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return what a step would make of the variables, and of what the optimizer remembers.

        ``trainable_variables`` and ``optimizer_variables`` are values, for the variables that it
        was built with and for ``variables``. Nothing is changed.

        Raises:
            ValueError: the optimizer is not built, or values are too many or too few.
        """
        if not self.built:
            raise ValueError(
                "stateless_apply: the optimizer is not built; call build(trainable_variables) first"
            )
        memory = self.variables
        with (
            lent("trainable_variables", self._trainable_variables, trainable_variables),
            lent("optimizer_variables", memory, optimizer_variables),
        ):
            self.apply(grads)
            return values_of(self._trainable_variables), values_of(memory)

    def _overwrite(
        self, grads: list[Tensor], variables: list[Variable]
    ) -> tuple[list[Tensor], list[Variable]]:
        """Give variables that are marked so their gradients as values; return what is left.

        Where gradients are added up over several steps, it is the greatest of these.
        """
        steps = self.gradient_accumulation_steps
        rest = []
        for gradient, variable in zip(grads, variables, strict=True):
            if id(variable) not in self._overwritten:
                rest.append((gradient, variable))
                continue
            if steps:
                held = self._sums[id(variable)]
                gradient = maximum(gradient, held.value)
                if (self._iterations.number + 1) % steps:
                    held.assign(gradient)
                    continue
                held.assign(zeros_like(gradient))
            variable.assign(gradient)
        return [gradient for gradient, _ in rest], [variable for _, variable in rest]

    def _learn(self, grads: list[Tensor], variables: list[Variable]) -> None:
        """Move variables along gradients, and all that follows from it."""
        if self.loss_scale_factor is not None:
            grads = [gradient / self.loss_scale_factor for gradient in grads]
        self._accumulate(grads, variables)
        if self.use_ema:
            self._follow_with_averages()
        for variable in variables:
            if type(variable) is not Variable:  # the engine's own have no constraints
                constraint = getattr(variable, "constraint", None)
                if constraint is not None:
                    variable.assign(constraint(variable.value))

    def _variables_of(
        self, grads: Sequence[Tensor | None], given: Iterable[Variable] | None
    ) -> list[Variable]:
        """Return the variables of gradients, after building for them if need be."""
        if given is None:
            if not self.built:
                raise ValueError(
                    "apply: trainable_variables is missing, and the optimizer is not built; call "
                    "build(trainable_variables) first"
                )
            variables = self._trainable_variables
        else:
            variables = list(given)
            if not self.built:
                self.build(variables)
                self.built = True
        if len(variables) != len(grads):
            raise ValueError(
                f"apply: grads must be one for each variable, but there are {len(grads)} gradients "
                f"and {len(variables)} variables"
            )
        for variable in variables:
            if id(variable) not in self._places:
                raise ValueError(
                    f"apply: unknown variable {variable.name!r}; the optimizer can only change "
                    "those that it was built with, so make another one for others"
                )
        return variables

    def _accumulate(self, grads: list[Tensor], variables: list[Variable]) -> None:
        """Move variables, or add gradients up until it is time to."""
        steps = self.gradient_accumulation_steps
        if not steps:
            self._move(grads, variables)
            return
        sums = [self._sums[id(variable)] for variable in variables]
        if (self._iterations.number + 1) % steps:
            for total, gradient in zip(sums, grads, strict=True):
                total.assign(total.value + gradient)
            return
        share = 1 / steps
        self._move(
            [
                weighted_sum(total.value, gradient, share, share)
                for total, gradient in zip(sums, grads, strict=True)
            ],
            variables,
        )
        for total in sums:
            total.assign(zeros_like(total.value))

    def _move(self, grads: list[Tensor], variables: list[Variable]) -> None:
        """Move variables along gradients."""
        if self.clipnorm and self.clipnorm > 0:
            grads = clipped_each(grads, self.clipnorm)
        elif self.global_clipnorm and self.global_clipnorm > 0:
            grads = clipped_together(grads, self.global_clipnorm)
        elif self.clipvalue and self.clipvalue > 0:
            grads = clipped_values(grads, self.clipvalue)
        self._apply_weight_decay(variables)
        self._update_all(grads, variables, self._rate())

    def _update_all(
        self, grads: Sequence[Tensor], variables: Sequence[Variable], learning_rate: float
    ) -> None:
        for gradient, variable in zip(grads, variables, strict=True):
            self.update_step(gradient, variable, learning_rate)

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        """Change one variable, and what is remembered for it."""
        raise NotImplementedError(f"{type(self).__name__} must override update_step")

    def assign(self, variable: Variable, value: Any) -> None:
        """Give a variable another value; for others' optimizers."""
        variable.assign(value)

    def assign_add(self, variable: Variable, value: Any) -> None:
        """Add to a variable."""
        variable.assign(variable.value + value)

    def assign_sub(self, variable: Variable, value: Any) -> None:
        """Subtract from a variable."""
        variable.assign(variable.value - value)

    # -- around a step -------------------------------------------------------------------------

    def scale_loss(self, loss: Any) -> Any:
        """Return the loss whose gradients ``apply`` expects."""
        scale = self._loss_scale()
        return loss if scale is None else loss * scale

    def _loss_scale(self) -> float | None:
        return self.loss_scale_factor

    def exclude_from_weight_decay(
        self,
        var_list: Iterable[Variable] | None = None,
        var_names: Iterable[str] | None = None,
    ) -> None:
        """Let variables keep their weight: those given, and those with such a text in their name.

        Call it before the first step.
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
        """Return the weight decay of a variable that is not excluded from it."""
        return self.weight_decay

    def _apply_weight_decay(self, variables: Iterable[Variable]) -> None:
        rate = self._rate()
        for variable in variables:
            decay = self._weight_decay_of(variable)
            if decay is not None and self._use_weight_decay(variable):
                value = variable.value
                variable.assign(moved_against(value, value, decay * rate))

    def _follow_with_averages(self) -> None:
        """Move averages towards weights; now and then give them to the weights."""
        moves, frequency = self.moves, self.ema_overwrite_frequency
        for variable in self._trainable_variables:
            average = self._averages.get(id(variable))
            if average is None:
                continue
            if moves:
                share = 1 - self.ema_momentum
                average.assign(moved_towards(average.value, variable.value, share))
            else:
                average.assign(variable.value)
        if frequency and (moves + 1) % frequency == 0:
            self.finalize_variable_values(self._trainable_variables)

    def finalize_variable_values(self, var_list: Sequence[Variable]) -> None:
        """Give the variables of a model their final values: their averages, with ``use_ema``."""
        if not self.use_ema:
            return
        if len(var_list) != len(self._trainable_variables):
            raise ValueError(
                f"finalize_variable_values: var_list has {len(var_list)} variables, but the "
                f"optimizer was built with {len(self._trainable_variables)}"
            )
        for variable, known in zip(var_list, self._trainable_variables, strict=True):
            if id(known) in self._averages:
                variable.assign(self._averages[id(known)].value)

    # -- copies and pickles --------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        variables = {id(variable): variable for variable in self._trainable_variables}
        variables.update(self._without_decay)
        state = self.__dict__.copy()
        for attribute in self.keyed_by_variable:
            by_identity = state[attribute]
            state[attribute] = [(variables[key], value) for key, value in by_identity.items()]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for attribute in self.keyed_by_variable:
            pairs = state[attribute]
            self.__dict__[attribute] = {id(variable): value for variable, value in pairs}

    # -- saving --------------------------------------------------------------------------------

    def _config_value(self, name: str) -> Any:
        if name != "learning_rate":
            return super()._config_value(name)
        rate = self._learning_rate
        return rate.number if isinstance(rate, HostNumber) else serialize_keras_object(rate)

    @classmethod
    def from_config(cls, config: Config, custom_objects: dict[str, Any] | None = None) -> Self:
        """Make an optimizer from what ``get_config`` returns."""
        config = dict(config)
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = deserialize_keras_object(
                config["learning_rate"], custom_objects
            )
        return cls(**config)
