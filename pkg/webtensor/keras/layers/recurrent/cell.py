"""The cells of simple, gated and long short-term memory networks: what they have in common.

A step of such a cell has two parts. ``project_inputs`` multiplies the inputs by the kernel, which
needs no state, so it is computed for all steps of a sequence at once. ``next_state`` adds what the
state contributes, and applies the gates. A state is one tensor here; cells whose users see several
tensors convert by ``pack_state`` and ``unpack_state``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.engine.scopes import outside_scopes
from webtensor.keras import random
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.seeds import SeedGenerator
from webtensor.keras.types import DTypeLike, Shape
from webtensor.keras.variables import Variable
from webtensor.ops.movement import part

__all__ = ["Constants", "GatedCell", "RecurrentArguments"]


class Constants(NamedTuple):
    """What all steps of a sequence share.

    The recurrent kernel, whole or one per gate; a bias for the product with it; whether training
    drops elements of states.
    """

    kernels: list[Tensor]
    bias: Tensor
    drops_states: bool


class RecurrentArguments:
    """The arguments that a recurrent layer hands on to its cell.

    Args:
        units: a positive integer, the size of the output.
        activation: an activation, its name or None, applied to the candidate for the new state.
        recurrent_activation: an activation, its name or None, applied to the gates.
        kernel_initializer: an initializer, or its name: what the kernel of the inputs starts with.
        recurrent_initializer: an initializer, or its name: what the kernel of states starts with.
        unit_forget_bias: a boolean, whether the bias of the forget gate starts with ones.
        recurrent_regularizer: a regularizer, its name or None: a penalty on the kernel of states.
        recurrent_constraint: a constraint, its name or None: what the kernel of states is kept to.
        dropout: a number from 0 to 1, the fraction of the inputs that training drops.
        recurrent_dropout: a number from 0 to 1, the fraction of the states that training drops.
        reset_after: a boolean, whether the reset gate is applied after the product of the state
            with the kernel, or to the state before it.
    """

    units: int
    activation: Callable[..., Tensor]
    recurrent_activation: Callable[..., Tensor]
    use_bias: bool
    kernel_initializer: Callable[..., Tensor]
    recurrent_initializer: Callable[..., Tensor]
    bias_initializer: Callable[..., Tensor]
    dropout: float
    recurrent_dropout: float
    seed: int | None


class GatedCell(RecurrentArguments, Weighted):
    """A cell whose gates are products of inputs and state with kernels.

    Args:
        implementation: 1 or 2; with 1, dropout draws a mask for each gate, otherwise one for all.
    """

    _config_omits: ClassVar = {"implementation": ALWAYS}
    #: The number of gates.
    _gates: ClassVar[int]
    #: The number of tensors that a state consists of.
    _states: ClassVar[int] = 1
    unit_forget_bias = False
    bias: Variable | None
    _dropout_mask: Tensor | list[Tensor] | None
    _recurrent_dropout_mask: Tensor | list[Tensor] | None

    def __init__(self, *, implementation: int = 2, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.dropout = min(1.0, max(0.0, self.dropout))
        self.recurrent_dropout = min(1.0, max(0.0, self.recurrent_dropout))
        self.implementation = 1 if self.recurrent_dropout else implementation
        self.seed_generator = SeedGenerator(self.seed)
        self.reset_masks()

    # -- variables ----------------------------------------------------------------------------

    def build(self, input_shape: Shape) -> None:
        """Add the kernels and the bias."""
        self._add_weights(input_shape[-1:], (self.units,), self.units)

    def _add_weights(self, input_sizes: Shape, state_sizes: Sequence[int], units: int) -> None:
        """Add both kernels, whose last dimension is ``units`` for each gate, and the bias."""
        columns = self._gates * units
        self.kernel = self._make_weight("kernel", (*input_sizes, columns))
        shape = (*state_sizes, columns)
        self.recurrent_kernel = self._make_weight("recurrent", shape, "recurrent_kernel")
        self.bias = None
        if self.use_bias:
            initializer = self._initial_bias if self.unit_forget_bias else None
            self.bias = self._make_weight(
                "bias", self._bias_shape(columns), initializer=initializer
            )
        with outside_scopes():  # on the host, so that it outlives a device
            self._zero_bias = wt.tensor([0.0] * columns)

    def _bias_shape(self, columns: int) -> tuple[int, ...]:
        return (columns,)

    def _initial_bias(self, shape: Sequence[int], dtype: DTypeLike = None) -> Tensor:
        """Return a bias with ones for the forget gate, the second of four."""
        units = shape[0] // 4
        input_gate = self.bias_initializer((units,), dtype=dtype)
        forget_gate = wt.ones((units,))
        other_gates = self.bias_initializer((2 * units,), dtype=dtype)
        return wt.concat([input_gate, forget_gate, other_gates])

    # -- dropout ------------------------------------------------------------------------------

    @property
    def _has_mask_per_gate(self) -> bool:
        return self.implementation == 1

    def get_dropout_mask(self, step_input: Tensor) -> Tensor | list[Tensor] | None:
        """Return the factors of inputs in training; they stay the same until they are reset."""
        if self._dropout_mask is None and self.dropout > 0:
            self._dropout_mask = self._new_mask(step_input.shape, self.dropout)
        return self._dropout_mask

    def get_recurrent_dropout_mask(self, step_input: Tensor) -> Tensor | list[Tensor] | None:
        """Return the factors of states in training; they stay the same until they are reset."""
        if self._recurrent_dropout_mask is None and self.recurrent_dropout > 0:
            self._recurrent_dropout_mask = self._new_mask(step_input.shape, self.recurrent_dropout)
        return self._recurrent_dropout_mask

    def _new_mask(self, shape: Sequence[int], rate: float) -> Tensor | list[Tensor]:
        def mask() -> Tensor:
            return random.dropout(wt.ones(shape), rate, seed=self.seed_generator)

        return [mask() for _ in range(self._gates)] if self._has_mask_per_gate else mask()

    def reset_dropout_mask(self) -> None:
        """Forget the mask of inputs."""
        self._dropout_mask = None

    def reset_recurrent_dropout_mask(self) -> None:
        """Forget the mask of states."""
        self._recurrent_dropout_mask = None

    def reset_masks(self) -> None:
        """Forget both masks."""
        self.reset_dropout_mask()
        self.reset_recurrent_dropout_mask()

    # -- the two parts of a step --------------------------------------------------------------

    def _product(self, inputs: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
        """Multiply inputs by a kernel, along their last axis."""
        if len(inputs.shape) == 2:
            return wt.fused.mat_mul(inputs, kernel, bias=bias)
        rows = wt.reshape(inputs, (-1, inputs.shape[-1]))
        product = wt.fused.mat_mul(rows, kernel, bias=bias)
        return wt.reshape(product, (*inputs.shape[:-1], kernel.shape[-1]))

    def _input_bias(self) -> Tensor | None:
        return None if self.bias is None else self.bias.value

    def project_inputs(self, inputs: Tensor, training: bool, has_steps: bool) -> Tensor:
        """Return what inputs contribute to the gates; with ``has_steps``, axis 0 is the steps."""
        kernel, bias = self.kernel.value, self._input_bias()
        if not (training and 0 < self.dropout < 1):
            return self._product(inputs, kernel, bias)
        masks = self.get_dropout_mask(part(inputs, 0, 0) if has_steps else inputs)
        assert masks is not None
        if not isinstance(masks, list):
            return self._product(inputs * masks, kernel, bias)
        kernels = wt.split(kernel, self._gates, -1)
        products = [
            self._product(inputs * mask, gate_kernel, None)
            for mask, gate_kernel in zip(masks, kernels, strict=True)
        ]
        gates = wt.concat(products, -1)
        return gates if bias is None else gates + bias

    def constants(self, training: bool) -> Constants:
        """Return what all steps of a sequence share."""
        kernel = self.recurrent_kernel.value
        drops_states = training and 0 < self.recurrent_dropout < 1
        is_split = drops_states and self._has_mask_per_gate
        kernels = wt.split(kernel, self._gates, -1) if is_split else [kernel]
        return Constants(kernels, self._zero_bias, drops_states)

    def _gate_sums(self, output: Tensor, projected: Tensor, constants: Constants) -> Tensor:
        """Add the product of the previous output with the kernel to that of the inputs."""
        if constants.drops_states:
            return projected + self._masked_product(output, constants.kernels)
        return wt.fused.mat_mul(
            output, constants.kernels[0], bias=constants.bias, residual=projected
        )

    def _masked_product(self, output: Tensor, kernels: Sequence[Tensor]) -> Tensor:
        """Multiply the previous output, less what dropout takes, by each of the kernels."""
        masks = self.get_recurrent_dropout_mask(output)
        assert masks is not None
        if not isinstance(masks, list):
            return wt.matmul(output * masks, kernels[0])
        pairs = zip(masks, kernels, strict=False)
        return wt.concat([wt.matmul(output * mask, kernel) for mask, kernel in pairs], -1)

    def next_state(
        self, projected: Tensor, state: Tensor, output: Tensor, constants: Constants
    ) -> Tensor:
        """Return the state after a step.

        ``projected`` is what the inputs of the step contribute to the gates, ``output`` is the
        output of the step before.
        """
        raise NotImplementedError

    # -- states -------------------------------------------------------------------------------

    def pack_state(self, states: Sequence[Tensor]) -> Tensor:
        """Return the tensors of a state as one tensor."""
        return states[0]

    def unpack_state(self, state: Tensor) -> list[Tensor]:
        """Return the tensors of a state that users see."""
        return [state]

    def output_of(self, state: Tensor) -> Tensor:
        """Return the part of a state that is the output."""
        return state

    def in_data_format(self, outputs: Tensor) -> Tensor:
        """Return outputs with the channels where the user's data format has them."""
        return outputs

    def get_initial_state(self, batch_size: int | None = None) -> list[Tensor]:
        """Return zeros."""
        sizes = self.state_size if isinstance(self.state_size, list) else [self.state_size]
        return [wt.zeros((1 if batch_size is None else batch_size, size)) for size in sizes]

    @property
    def state_size(self) -> int | list[int]:
        """The size of a state, or of each of its tensors."""
        units = int(self.units)
        return units if self._states == 1 else [units] * self._states

    @property
    def output_size(self) -> int:
        """The size of an output."""
        return self.units

    # -- as a layer ---------------------------------------------------------------------------

    def call(
        self,
        inputs: Tensor,
        states: Tensor | Sequence[Tensor],
        training: bool | None = False,
    ) -> tuple[Tensor, Tensor | list[Tensor]]:
        """Compute one step, and return the output and the new states."""
        is_list = not isinstance(states, Tensor)
        state = self.pack_state([states] if isinstance(states, Tensor) else states)
        projected = self.project_inputs(inputs, bool(training), has_steps=False)
        constants = self.constants(bool(training))
        state = self.next_state(projected, state, self.output_of(state), constants)
        new_states = self.unpack_state(state)
        return new_states[0], new_states if is_list else new_states[0]
