"""Long short-term memory of images: its products are convolutions.

Cells compute with the channels last, whatever users have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import sliding_windows
from webtensor.keras.data_formats import as_data_format, channels_of, places_of
from webtensor.keras.layers.argument_checks import as_integers, as_padding, check_positive, given
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.recurrent.cell import Constants, GatedCell
from webtensor.keras.layers.recurrent.lstm import MemoryCell
from webtensor.keras.layers.recurrent.rnn import CellLayer
from webtensor.keras.types import ActivationLike, ConstraintLike, InitializerLike, RegularizerLike

__all__ = ["ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"]

_OPTIONS = (
    "filters",
    "kernel_size",
    "strides",
    "padding",
    "data_format",
    "dilation_rate",
    "activation",
    "recurrent_activation",
    "use_bias",
    "kernel_initializer",
    "recurrent_initializer",
    "bias_initializer",
    "unit_forget_bias",
    "kernel_regularizer",
    "recurrent_regularizer",
    "bias_regularizer",
    "kernel_constraint",
    "recurrent_constraint",
    "bias_constraint",
    "dropout",
    "recurrent_dropout",
    "seed",
)


class ConvLSTMCell(MemoryCell):
    """One step of convolutional long short-term memory (Shi et al., 2015): see ``LSTMCell``.

    The product with inputs is a convolution with the given options, that with the output before is
    one with a kernel of the same size that keeps the number of places.
    """

    filters: int
    kernel_size: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str
    data_format: str
    dilation_rate: tuple[int, ...]
    _options = _OPTIONS

    def __init__(self, rank: int, **arguments: Any) -> None:
        name = f"ConvLSTM{rank}D"
        check_positive(name, filters=arguments["filters"])
        for option in ("kernel_size", "strides", "dilation_rate"):
            arguments[option] = as_integers(name, option, arguments[option], rank)
        arguments["padding"] = as_padding(name, arguments["padding"])
        arguments["data_format"] = as_data_format(name, arguments["data_format"])
        super().__init__(**arguments)
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                f"{name}: strides and dilation_rate cannot both be greater than 1, but got "
                f"strides={self.strides} and dilation_rate={self.dilation_rate}"
            )
        self.rank = rank
        self.input_spec = InputSpec(ndim=rank + 2)

    @property
    def _masks(self) -> int | None:
        return self._gates

    # -- shapes -------------------------------------------------------------------------------

    @property
    def state_size(self) -> list[int]:
        """Two tensors, whose sizes depend on that of the images."""
        return [-1, -1]

    @property
    def output_size(self) -> int:
        """The number of channels."""
        return self.filters

    def build(self, inputs_shape: Any, states_shape: Any = None) -> None:
        """Make the kernels and the bias."""
        channels = channels_of(inputs_shape, self.data_format)
        places = places_of(inputs_shape, self.data_format)
        if None in (channels, *places):
            raise ValueError(
                f"layer {self.name!r}: the size of images and the number of channels must be "
                f"known, but inputs have shape {tuple(inputs_shape)}"
            )
        self._built_for = tuple(inputs_shape[1:])
        self._add_weights(
            (*self.kernel_size, channels), (*self.kernel_size, self.filters), self.filters
        )

    def _output_shape(self, inputs_shape: Any) -> tuple[Any, ...]:
        return sliding_windows.conv_output_shape(
            f"ConvLSTM{self.rank}D",
            inputs_shape,
            self.filters,
            self.kernel_size,
            self.strides,
            self.padding,
            self.data_format,
            self.dilation_rate,
        )

    def compute_output_shape(self, inputs_shape: Any, states_shape: Any = None) -> Any:
        """Return the shapes of the output, and of a state's two tensors."""
        shape = self._output_shape(inputs_shape)
        return shape, [shape, shape]

    def get_initial_state(self, batch_size: int | None = None) -> list[Tensor]:
        """Return zeros."""
        shape = self._output_shape((1 if batch_size is None else batch_size, *self._built_for))
        return [wt.zeros(shape), wt.zeros(shape)]

    # -- the two parts of a step --------------------------------------------------------------

    def _moved(self, x: Tensor, *, first: bool) -> Tensor:
        """Move the channels, which are last or, with ``first``, are to be before the places."""
        if self.data_format == "channels_last":
            return x
        rank, places = len(x.shape), self.rank
        batch = range(rank - places - 1)
        if first:
            return wt.permute_dims(x, (*batch, rank - 1, *range(rank - places - 1, rank - 1)))
        return wt.permute_dims(x, (*batch, *range(rank - places, rank), rank - places - 1))

    def share(self, inputs: Tensor, training: bool, steps: bool) -> Tensor:
        """Return what inputs, of one step or of all (along axis 1), add to the gates."""
        return super().share(self._moved(inputs, first=False), training, steps)

    def _product(self, inputs: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
        """Convolve images, also those of all steps at once."""
        lengths = inputs.shape[: -self.rank - 1]
        images = wt.reshape(inputs, (-1, *inputs.shape[-self.rank - 1 :]))
        options = (self.strides, self.padding, "channels_last", self.dilation_rate)
        made = sliding_windows.conv(images, kernel, *options, bias)
        return wt.reshape(made, (*lengths, *made.shape[1:]))

    def _own(self, shown: Tensor, share: Tensor, constants: Constants) -> Tensor:
        """Add what a state adds to the gates to the inputs' share."""
        kernels = constants.kernels
        if not constants.dropped:
            return share + self._convolved(shown, kernels[0])
        masks = self.get_recurrent_dropout_mask(shown)
        pairs = zip(masks, kernels, strict=True)
        return share + wt.concat([self._convolved(shown * mask, one) for mask, one in pairs], -1)

    def _convolved(self, shown: Tensor, kernel: Tensor) -> Tensor:
        ones = (1,) * self.rank
        return sliding_windows.conv(shown, kernel, ones, "same", "channels_last", ones)

    # -- states -------------------------------------------------------------------------------

    def packed(self, states: Sequence[Tensor]) -> Tensor:
        """Put what is shown and the memory side by side."""
        return super().packed([self._moved(one, first=False) for one in states])

    def unpacked(self, state: Tensor) -> list[Tensor]:
        """Return what is shown, and the memory."""
        return [self._moved(one, first=True) for one in super().unpacked(state)]

    def arranged(self, outputs: Tensor) -> Tensor:
        """Put the axes of outputs in the order in which users see them."""
        return self._moved(outputs, first=True)


class ConvLSTM(CellLayer):
    """What layers of one to three axes of places share."""

    rank: ClassVar[int]
    _cell = ConvLSTMCell
    _cell_name = "conv_lstm_cell"

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
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
        super().__init__(**given(locals()))
        self.input_spec = InputSpec(ndim=self.rank + 3)

    def _make_cell(self, **arguments: Any) -> GatedCell:
        return ConvLSTMCell(self.rank, **arguments)

    def compute_output_shape(self, sequences_shape: Any, initial_state_shape: Any = None) -> Any:
        """Return the shapes of the output and, if they are returned, of the states."""
        batch, steps, *image = sequences_shape
        assert isinstance(self.cell, ConvLSTMCell)
        state = self.cell._output_shape((batch, *image))
        output = (batch, steps, *state[1:]) if self.return_sequences else state
        return (output, state, state) if self.return_state else output


class ConvLSTM1D(ConvLSTM):
    """Convolutional long short-term memory of sequences of sequences.

    Inputs are (batch, steps, places, channels), or with the channels before the places.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ConvLSTM1D(2, 3)(keras.ops.ones((1, 4, 8, 3))).shape
        (1, 6, 2)
    """

    rank = 1


class ConvLSTM2D(ConvLSTM):
    """Convolutional long short-term memory of sequences of images.

    Inputs are (batch, steps, height, width, channels), or with the channels before the places.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ConvLSTM2D(2, 3)(keras.ops.ones((1, 4, 8, 8, 3))).shape
        (1, 6, 6, 2)
    """

    rank = 2


class ConvLSTM3D(ConvLSTM):
    """Convolutional long short-term memory of sequences of volumes.

    Inputs are (batch, steps, depth, height, width, channels), or with the channels before the
    places.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ConvLSTM3D(2, 3)(keras.ops.ones((1, 2, 4, 4, 4, 3))).shape
        (1, 2, 2, 2, 2)
    """

    rank = 3
