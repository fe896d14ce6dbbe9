"""Cells with gates: what those of simple, gated and long short-term memory networks share.

A step of such a cell has two parts. ``share`` is what the inputs add to the gates, which needs no
state, so it is computed for all steps of a sequence at once. ``advance`` goes from one state to
the next. A state is one tensor, of which ``shown`` is the output; where users see several tensors,
``packed`` and ``unpacked`` convert.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.engine.scopes import outside_scopes
from webtensor.keras import activations, constraints, initializers, random, regularizers
from webtensor.keras.layers.layer import Layer
from webtensor.keras.types import Config, DTypeLike, InitializerLike
from webtensor.ops.movement import part

__all__ = ["Constants", "GatedCell", "serialized"]

#: What the last word of an argument's name says of its values.
_KINDS = {
    "activation": activations,
    "constraint": constraints,
    "initializer": initializers,
    "regularizer": regularizers,
}


def _standardized(name: str, value: Any) -> Any:
    """Return what an argument stands for: a name for an initializer, and so on."""
    kind: Any = _KINDS.get(name.rpartition("_")[2])
    if kind is not None:
        return kind.get(value)
    return min(1.0, max(0.0, value)) if name.endswith("dropout") else value


def serialized(name: str, value: Any) -> Any:
    """Return a configuration of an argument's value."""
    kind: Any = _KINDS.get(name.rpartition("_")[2])
    return value if kind is None else kind.serialize(value)


class Constants(NamedTuple):
    """The kernels for states, a bias for their product, and whether states are dropped out."""

    kernels: list[Tensor]
    bias: Tensor
    dropped: bool


class GatedCell(Layer):
    """A cell whose gates, of ``units`` numbers each, are a product of inputs and one of a state.

    ``_options`` are the names of the arguments that a configuration has, ``_gates`` is the number
    of gates, and ``_states`` that of tensors in a state.
    """

    _options: tuple[str, ...]
    _gates: int
    _states = 1

    #: Attributes that ``_options`` name, as far as all cells have them.
    units: int
    activation: Callable[..., Tensor]
    use_bias: bool
    bias_initializer: InitializerLike
    unit_forget_bias = False
    dropout: float
    recurrent_dropout: float
    seed: int | None

    def __init__(self, implementation: int = 2, **arguments: Any) -> None:
        own = {name: arguments.pop(name) for name in self._options}
        super().__init__(**arguments)
        for name, value in own.items():
            setattr(self, name, _standardized(name, value))
        self.implementation = 1 if self.recurrent_dropout else implementation
        self.seed_generator = random.SeedGenerator(self.seed)
        self._dropout_mask: Any = None
        self._recurrent_dropout_mask: Any = None

    # -- variables ----------------------------------------------------------------------------

    def _add_weights(self, inputs: Sequence[int], states: Sequence[int], units: int) -> None:
        """Make a kernel for inputs, one for states, whose shapes lack the gates, and a bias."""
        columns = self._gates * units
        self.kernel = self._add("kernel", (*inputs, columns))
        self.recurrent_kernel = self._add("recurrent_kernel", (*states, columns), "recurrent")
        self.bias = None
        if self.use_bias:
            begin = self._with_ones_for_forgetting if self.unit_forget_bias else None
            self.bias = self._add("bias", self._bias_shape(columns), "bias", begin)
        with outside_scopes():  # known to the host, so that it outlives a device
            self._no_bias = wt.tensor([0.0] * columns)

    def _add(
        self,
        name: str,
        shape: Sequence[int],
        prefix: str = "kernel",
        initializer: InitializerLike = None,
    ) -> Any:
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=initializer or getattr(self, f"{prefix}_initializer"),
            regularizer=getattr(self, f"{prefix}_regularizer"),
            constraint=getattr(self, f"{prefix}_constraint"),
        )

    def _bias_shape(self, columns: int) -> tuple[int, ...]:
        return (columns,)

    def _with_ones_for_forgetting(self, shape: Sequence[int], dtype: DTypeLike = None) -> Tensor:
        """Begin a bias with ones for the second of four gates."""
        units = shape[0] // 4
        begin = self.bias_initializer
        parts = [begin((units,), dtype=dtype), wt.ones((units,)), begin((2 * units,), dtype=dtype)]
        return wt.concat(parts)

    # -- dropout ------------------------------------------------------------------------------

    @property
    def _masks(self) -> int | None:
        """How many masks dropout has; None for one for all gates."""
        return self._gates if self.implementation == 1 else None

    def get_dropout_mask(self, step_input: Tensor) -> Any:
        """Return what inputs are multiplied with in training, the same until it is reset."""
        if self._dropout_mask is None and self.dropout > 0:
            self._dropout_mask = self._new_mask(step_input.shape, self.dropout)
        return self._dropout_mask

    def get_recurrent_dropout_mask(self, step_input: Tensor) -> Any:
        """Return what states are multiplied with in training, the same until it is reset."""
        if self._recurrent_dropout_mask is None and self.recurrent_dropout > 0:
            self._recurrent_dropout_mask = self._new_mask(step_input.shape, self.recurrent_dropout)
        return self._recurrent_dropout_mask

    def _new_mask(self, shape: Sequence[int], rate: float) -> Any:
        def mask() -> Tensor:
            return random.dropout(wt.ones(shape), rate, seed=self.seed_generator)

        return mask() if self._masks is None else [mask() for _ in range(self._masks)]

    def reset_dropout_mask(self) -> None:
        """Forget the mask for inputs."""
        self._dropout_mask = None

    def reset_recurrent_dropout_mask(self) -> None:
        """Forget the mask for states."""
        self._recurrent_dropout_mask = None

    def reset_masks(self) -> None:
        """Forget both masks."""
        self.reset_dropout_mask()
        self.reset_recurrent_dropout_mask()

    # -- the two parts of a step --------------------------------------------------------------

    def _product(self, inputs: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
        """Multiply inputs, along their last axis, with a kernel."""
        if len(inputs.shape) == 2:
            return wt.fused.mat_mul(inputs, kernel, bias=bias)
        rows = wt.reshape(inputs, (-1, inputs.shape[-1]))
        made = wt.fused.mat_mul(rows, kernel, bias=bias)
        return wt.reshape(made, (*inputs.shape[:-1], kernel.shape[-1]))

    def _input_bias(self) -> Tensor | None:
        return None if self.bias is None else self.bias.value

    def share(self, inputs: Tensor, training: bool, steps: bool) -> Tensor:
        """Return what inputs, of one step or of all (along axis 1), add to the gates."""
        kernel, bias = self.kernel.value, self._input_bias()
        if not (training and 0 < self.dropout < 1):
            return self._product(inputs, kernel, bias)
        masks = self.get_dropout_mask(part(inputs, 1, 0) if steps else inputs)

        def masked(mask: Tensor) -> Tensor:
            return inputs * (wt.expand_dims(mask, 1) if steps else mask)

        if not isinstance(masks, list):
            return self._product(masked(masks), kernel, bias)
        kernels = wt.split(kernel, self._gates, -1)
        parts = [
            self._product(masked(mask), one, None) for mask, one in zip(masks, kernels, strict=True)
        ]
        whole = wt.concat(parts, -1)
        return whole if bias is None else whole + bias

    def constants(self, training: bool) -> Constants:
        """Return what all steps of a sequence have in common."""
        kernel = self.recurrent_kernel.value
        dropped = training and 0 < self.recurrent_dropout < 1
        kernels = wt.split(kernel, self._gates, -1) if dropped and self._masks else [kernel]
        return Constants(kernels, self._no_bias, dropped)

    def _own(self, shown: Tensor, share: Tensor, constants: Constants) -> Tensor:
        """Add what a state adds to the gates to the inputs' share."""
        if constants.dropped:
            return share + self._masked_own(shown, constants.kernels)
        return wt.fused.mat_mul(shown, constants.kernels[0], bias=constants.bias, residual=share)

    def _masked_own(self, shown: Tensor, kernels: Sequence[Tensor]) -> Tensor:
        masks = self.get_recurrent_dropout_mask(shown)
        if not isinstance(masks, list):
            return wt.matmul(shown * masks, kernels[0])
        products = [wt.matmul(shown * mask, one) for mask, one in zip(masks, kernels, strict=False)]
        return wt.concat(products, -1)

    def advance(self, share: Tensor, state: Tensor, shown: Tensor, constants: Constants) -> Tensor:
        """Return the next state, given the inputs' share of the gates."""
        raise NotImplementedError

    # -- states -------------------------------------------------------------------------------

    def packed(self, states: Sequence[Tensor]) -> Tensor:
        """Put what users see of a state together."""
        return states[0]

    def unpacked(self, state: Tensor) -> list[Tensor]:
        """Take a state apart into what users see of it."""
        return [state]

    def shown(self, state: Tensor) -> Tensor:
        """Return the output."""
        return state

    def arranged(self, outputs: Tensor) -> Tensor:
        """Put the axes of outputs in the order in which users see them."""
        return outputs

    def get_initial_state(self, batch_size: int | None = None) -> list[Tensor]:
        """Return zeros."""
        sizes = self.state_size if isinstance(self.state_size, list) else [self.state_size]
        return [wt.zeros((1 if batch_size is None else batch_size, size)) for size in sizes]

    @property
    def state_size(self) -> Any:
        """How many numbers a state is, or each of its tensors."""
        return self.units if self._states == 1 else [self.units] * self._states

    @property
    def output_size(self) -> int:
        """How many numbers an output is."""
        return self.units

    # -- as a layer ---------------------------------------------------------------------------

    def call(self, inputs: Any, states: Any, training: bool | None = False) -> Any:
        """Compute one step: the output, and the new states."""
        nested = isinstance(states, (list, tuple))
        state = self.packed(states if nested else [states])
        share = self.share(inputs, bool(training), steps=False)
        state = self.advance(share, state, self.shown(state), self.constants(bool(training)))
        made = self.unpacked(state)
        return made[0], made if nested else made[0]

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        own = {name: serialized(name, getattr(self, name)) for name in self._options}
        return {**super().get_config(), **own}
