"""Convolutional long short-term memory: convolutions instead of products with matrices.

Cells compute with the channels last, whatever the user's data format.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import sliding_windows
from webtensor.keras.arguments import ALWAYS, check_positive, forwards_arguments
from webtensor.keras.data_formats import channels_of, spatial_shape_of
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.recurrent.cell import Constants, GatedCell
from webtensor.keras.layers.recurrent.lstm import MemoryCell
from webtensor.keras.layers.recurrent.rnn import CellLayer
from webtensor.keras.layers.recurrent.stacked import StateShape
from webtensor.keras.layers.spatial_arguments import WindowArguments
from webtensor.keras.sliding_windows import SizesLike, Sliding, check_strides_and_dilation
from webtensor.keras.types import (
    ActivationLike,
    ConstraintLike,
    InitializerLike,
    RegularizerLike,
    Shape,
)

__all__ = ["ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"]


class ConvLSTMCell(WindowArguments, MemoryCell):
    """One step of convolutional long short-term memory (Shi et al., 2015): see ``LSTMCell``.

    The product with the inputs is a convolution as the arguments say; that with the previous output
    is a convolution with a kernel of the same size that keeps the spatial dimensions.
    """

    _config_omits: ClassVar = {"rank": ALWAYS}
    filters: int

    @forwards_arguments
    def __init__(
        self,
        rank: int,
        filters: int,
        kernel_size: SizesLike,
        strides: SizesLike,
        padding: str,
        data_format: str | None,
        dilation_rate: SizesLike,
        activation: ActivationLike,
        recurrent_activation: ActivationLike,
        use_bias: bool,
        kernel_initializer: InitializerLike,
        recurrent_initializer: InitializerLike,
        bias_initializer: InitializerLike,
        unit_forget_bias: bool,
        kernel_regularizer: RegularizerLike,
        recurrent_regularizer: RegularizerLike,
        bias_regularizer: RegularizerLike,
        kernel_constraint: ConstraintLike,
        recurrent_constraint: ConstraintLike,
        bias_constraint: ConstraintLike,
        dropout: float,
        recurrent_dropout: float,
        seed: int | None,
        **kwargs: Any,
    ) -> None:
        name = f"ConvLSTM{rank}D"
        check_positive(name, filters=filters)
        self._check_window(name)
        check_strides_and_dilation(name, self.strides, self.dilation_rate)
        self.input_spec = InputSpec(ndim=rank + 2)

    @property
    def _has_mask_per_gate(self) -> bool:
        return True

    # -- shapes -------------------------------------------------------------------------------

    @property
    def state_size(self) -> list[int]:
        """Two tensors, whose sizes depend on those of the inputs."""
        return [-1, -1]

    @property
    def output_size(self) -> int:
        """The number of channels of an output."""
        return self.filters

    def build(self, inputs_shape: Shape, states_shape: StateShape | None = None) -> None:
        """Add the kernels and the bias."""
        channels = channels_of(inputs_shape, self.data_format)
        if channels is None or None in spatial_shape_of(inputs_shape, self.data_format):
            raise ValueError(
                f"layer {self.name!r}: the size of images and the number of channels must be "
                f"known, but inputs have shape {tuple(inputs_shape)}"
            )
        self._step_shape = tuple(inputs_shape[1:])
        self._add_weights(
            (*self.kernel_size, channels), (*self.kernel_size, self.filters), self.filters
        )

    def _output_shape(self, inputs_shape: Shape) -> Shape:
        return sliding_windows.conv_output_shape(
            f"ConvLSTM{self.rank}D",
            inputs_shape,
            self.filters,
            self.kernel_size,
            Sliding(self.strides, self.padding, self.data_format, self.dilation_rate),
        )

    def compute_output_shape(
        self, inputs_shape: Shape, states_shape: StateShape | None = None
    ) -> tuple[Shape, list[Shape]]:
        """Return the shape of the output, and those of a state's two tensors."""
        shape = self._output_shape(inputs_shape)
        return shape, [shape, shape]

    def get_initial_state(self, batch_size: int | None = None) -> list[Tensor]:
        """Return zeros."""
        shape = self._output_shape((1 if batch_size is None else batch_size, *self._step_shape))
        sizes = [size for size in shape if size is not None]  # all of them are known
        return [wt.zeros(sizes), wt.zeros(sizes)]

    # -- the two parts of a step --------------------------------------------------------------

    def _with_channels_last(self, x: Tensor) -> Tensor:
        return x if self.data_format == "channels_last" else wt.moveaxis(x, -self.rank - 1, -1)

    def in_data_format(self, outputs: Tensor) -> Tensor:
        """Return outputs with the channels where the user's data format has them."""
        is_last = self.data_format == "channels_last"
        return outputs if is_last else wt.moveaxis(outputs, -1, -self.rank - 1)

    def project_inputs(self, inputs: Tensor, training: bool, has_steps: bool) -> Tensor:
        """Return what inputs contribute to the gates; with ``has_steps``, axis 0 is the steps."""
        return super().project_inputs(self._with_channels_last(inputs), training, has_steps)

    def _product(self, inputs: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
        """Convolve the inputs of a step, or of all steps at once."""
        outer = inputs.shape[: -self.rank - 1]
        images = wt.reshape(inputs, (-1, *inputs.shape[-self.rank - 1 :]))
        sliding = Sliding(self.strides, self.padding, "channels_last", self.dilation_rate)
        convolved = sliding_windows.conv(images, kernel, sliding, bias)
        return wt.reshape(convolved, (*outer, *convolved.shape[1:]))

    def _gate_sums(self, output: Tensor, projected: Tensor, constants: Constants) -> Tensor:
        """Add the convolution of the previous output to that of the inputs."""
        kernels = constants.kernels
        if not constants.drops_states:
            return projected + self._recurrent_convolution(output, kernels[0])
        masks = self.get_recurrent_dropout_mask(output)
        assert isinstance(masks, list)
        gates = [
            self._recurrent_convolution(output * mask, kernel)
            for mask, kernel in zip(masks, kernels, strict=True)
        ]
        return projected + wt.concat(gates, -1)

    def _recurrent_convolution(self, output: Tensor, kernel: Tensor) -> Tensor:
        ones = (1,) * self.rank
        return sliding_windows.conv(output, kernel, Sliding(ones, "same", "channels_last", ones))

    # -- states -------------------------------------------------------------------------------

    def pack_state(self, states: Sequence[Tensor]) -> Tensor:
        """Return the output and the memory side by side, with the channels last."""
        return super().pack_state([self._with_channels_last(state) for state in states])

    def unpack_state(self, state: Tensor) -> list[Tensor]:
        """Return the output and the memory in the user's data format."""
        return [self.in_data_format(tensor) for tensor in super().unpack_state(state)]


class ConvLSTM(CellLayer):
    """Convolutional long short-term memory of any number of spatial dimensions.

    Args:
        filters: a positive integer, the number of channels of the output.
        kernel_size: an integer or one per spatial dimension, the size of both kernels.
        strides: an integer or one per spatial dimension, the step of the input's convolution.
        padding: ``"valid"`` or ``"same"``, of the input's convolution.
        data_format: ``"channels_last"`` or ``"channels_first"``; None is ``keras.config``'s.
        dilation_rate: an integer or one per spatial dimension, the distance of elements that the
            kernel is applied to.

    Raises:
        ValueError: an argument is out of range, or strides and dilation rate are both above 1.
    """

    rank: ClassVar[int]
    filters: int
    _cell = ConvLSTMCell
    _cell_name = "conv_lstm_cell"

    @forwards_arguments
    def __init__(
        self,
        filters: int,
        kernel_size: SizesLike,
        strides: SizesLike = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: SizesLike = 1,
        activation: ActivationLike = "tanh",
        recurrent_activation: ActivationLike = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: InitializerLike = "glorot_uniform",
        recurrent_initializer: InitializerLike = "orthogonal",
        bias_initializer: InitializerLike = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: RegularizerLike = None,
        recurrent_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        activity_regularizer: RegularizerLike = None,
        kernel_constraint: ConstraintLike = None,
        recurrent_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ) -> None:
        self.input_spec = InputSpec(ndim=self.rank + 3)

    def _new_cell(self, **arguments: Any) -> GatedCell:
        return ConvLSTMCell(rank=self.rank, **arguments)

    def compute_output_shape(
        self, sequences_shape: Shape, initial_state_shape: StateShape | None = None
    ) -> Any:
        """Return the shape of the output and, if the state is returned, of its tensors."""
        batch, steps, *step_shape = sequences_shape
        assert isinstance(self.cell, ConvLSTMCell)
        state = self.cell._output_shape((batch, *step_shape))
        output = (batch, steps, *state[1:]) if self.return_sequences else state
        return (output, state, state) if self.return_state else output


class ConvLSTM1D(ConvLSTM):
    """Convolutional long short-term memory of sequences of sequences.

    Input shape: (batch, steps, length, channels), or with the channels after the steps.
    Output shape: as the inputs, with ``filters`` channels, and without the steps unless
    ``return_sequences`` is True; with ``return_state`` a list, which goes on with the state.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ConvLSTM1D(2, 3)(keras.ops.ones((1, 4, 8, 3))).shape
        (1, 6, 2)
    """

    rank = 1


class ConvLSTM2D(ConvLSTM):
    """Convolutional long short-term memory of sequences of images.

    Input shape: (batch, steps, height, width, channels), or with the channels after the steps.
    Output shape: as the inputs, with ``filters`` channels, and without the steps unless
    ``return_sequences`` is True; with ``return_state`` a list, which goes on with the state.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ConvLSTM2D(2, 3)(keras.ops.ones((1, 4, 8, 8, 3))).shape
        (1, 6, 6, 2)
    """

    rank = 2


class ConvLSTM3D(ConvLSTM):
    """Convolutional long short-term memory of sequences of volumes.

    Input shape: (batch, steps, depth, height, width, channels), or with the channels after the
    steps.
    Output shape: as the inputs, with ``filters`` channels, and without the steps unless
    ``return_sequences`` is True; with ``return_state`` a list, which goes on with the state.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ConvLSTM3D(2, 3)(keras.ops.ones((1, 2, 4, 4, 4, 3))).shape
        (1, 2, 2, 2, 2)
    """

    rank = 3
