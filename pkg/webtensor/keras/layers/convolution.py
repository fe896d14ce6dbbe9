"""Convolutions: of all channels together, of each by itself, of both in turn, and transposed.

A family is a class whose ``rank`` is how many axes of places there are; its members for one, two
and three differ in nothing else. ``webtensor.keras.sliding_windows`` computes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from webtensor.keras import activations, regularizers, sliding_windows
from webtensor.keras.data_formats import as_data_format, channels_of
from webtensor.keras.layers.argument_checks import as_integers, as_padding, check_positive, given
from webtensor.keras.layers.fused_activation import Product, ending
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.lora import Adaptable
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.types import (
    ActivationLike,
    Config,
    ConstraintLike,
    InitializerLike,
    RegularizerLike,
)
from webtensor.ops import add, multiply, reshape

__all__ = [
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "Convolution1D",
    "Convolution1DTranspose",
    "Convolution2D",
    "Convolution2DTranspose",
    "Convolution3D",
    "Convolution3DTranspose",
    "DepthwiseConv1D",
    "DepthwiseConv2D",
    "SeparableConv1D",
    "SeparableConv2D",
    "SeparableConvolution1D",
    "SeparableConvolution2D",
]


class Convolving(Weighted):
    """What all convolutions share: a window that slides, a bias, an activation."""

    rank: ClassVar[int]
    kernel: Any
    bias: Any

    def _take(
        self,
        kernel_size: Any,
        strides: Any,
        padding: Any,
        data_format: Any,
        dilation_rate: Any,
        activation: ActivationLike,
        use_bias: bool,
        *paddings: str,
    ) -> None:
        """Keep the arguments that all have; ``paddings`` are words beside "valid" and "same"."""
        name, rank = type(self).__name__, self.rank
        self.kernel_size = as_integers(name, "kernel_size", kernel_size, rank)
        self.strides = as_integers(name, "strides", strides, rank)
        self.dilation_rate = as_integers(name, "dilation_rate", dilation_rate, rank)
        self.padding = as_padding(name, padding, *paddings)
        self.data_format = as_data_format(name, data_format)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.input_spec = InputSpec(min_ndim=rank + 2)

    def _refuse_strides_with_dilation(self) -> None:
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                f"{type(self).__name__}: strides and dilation_rate cannot both be greater than 1, "
                f"but got strides={self.strides} and dilation_rate={self.dilation_rate}"
            )

    def _channels(self, input_shape: Any) -> int:
        """Number of channels of the inputs, which is asked for from now on."""
        channels = channels_of(input_shape, self.data_format)
        if channels is None:
            raise ValueError(
                f"{type(self).__name__}: the number of channels must be known, but inputs have "
                f"shape {tuple(input_shape)}"
            )
        axis = -1 if self.data_format == "channels_last" else 1
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={axis: channels})
        return int(channels)

    def _make_bias(self, channels: int) -> None:
        self.bias = self._make_weight("bias", (channels,)) if self.use_bias else None

    def _bias(self) -> Any:
        return None if self.bias is None else self.bias.value

    def call(self, inputs: Any) -> Any:
        """Convolve."""
        name, rest = ending(self.activation)
        return rest(self._slid(inputs, self._kernel_value(), self._bias(), name))

    def _kernel_value(self) -> Any:
        return self.kernel.value

    def product(self) -> Product | None:
        """Return what is computed before the activation; None where it has two kernels."""
        is_last = self.data_format == "channels_last"
        return Product(self.kernel, self.bias, self._slid, self._scaled, is_last)

    def _slid(self, inputs: Any, kernel: Any, bias: Any, ending: str) -> Any:
        """Slide a kernel over the inputs."""
        raise NotImplementedError

    def _scaled(self, kernel: Any, factors: Any) -> Any:
        """Multiply the kernel of each output channel."""
        return multiply(kernel, factors)

    def _slid_shape(self, input_shape: Any, channels: int) -> tuple[Any, ...]:
        return sliding_windows.conv_output_shape(
            type(self).__name__,
            input_shape,
            channels,
            self.kernel_size,
            self.strides,
            self.padding,
            self.data_format,
            self.dilation_rate,
        )

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        return {
            **super().get_config(),
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "dilation_rate": self.dilation_rate,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
        }


# -- all channels together ---------------------------------------------------------------------


class Conv(Adaptable, Convolving):
    """Convolution (cross-correlation) of all channels, or of ``groups`` of them.

    ``lora_rank`` and ``lora_alpha`` may be given by name: see ``enable_lora``.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        groups: int = 1,
        activation: ActivationLike = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike = "glorot_uniform",
        bias_initializer: InitializerLike = "zeros",
        kernel_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        activity_regularizer: RegularizerLike = None,
        kernel_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        **kwargs: Any,
    ) -> None:
        lora = kwargs.pop("lora_rank", None), kwargs.pop("lora_alpha", None)
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._take_lora(*lora)
        name = type(self).__name__
        check_positive(name, filters=filters, groups=groups)
        if filters % groups:
            raise ValueError(
                f"{name}: filters must be a multiple of groups, but got filters={filters} and "
                f"groups={groups}"
            )
        self.filters, self.groups = filters, groups
        words = ("causal",) if self.rank == 1 else ()
        self._take(
            kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, *words
        )
        self._refuse_strides_with_dilation()
        self._take_weights(
            kernel=(kernel_initializer, kernel_regularizer, kernel_constraint),
            bias=(bias_initializer, bias_regularizer, bias_constraint),
        )

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        channels = self._channels(input_shape)
        if channels % self.groups:
            raise ValueError(
                f"{type(self).__name__}: the number of channels must be a multiple of "
                f"groups={self.groups}, but inputs have shape {tuple(input_shape)}"
            )
        self.compute_output_shape(input_shape)
        shape = (*self.kernel_size, channels // self.groups, self.filters)
        self._kernel = self._make_weight("kernel", shape)
        self._make_bias(self.filters)
        self._build_lora()

    @property
    def kernel(self) -> Any:
        """The kernel: a variable, or a sum where ``enable_lora`` was called."""
        return self._adapted_value() if self.lora_enabled else self._kernel

    def _kernel_value(self) -> Any:
        return self._adapted_value()

    def call(self, inputs: Any) -> Any:
        """Convolve."""
        if not self._has_own_op():
            return super().call(inputs)
        made = self.convolution_op(inputs, self._kernel_value())
        if self.bias is not None:
            places = () if self.data_format == "channels_last" else (1,) * self.rank
            made = add(made, reshape(self.bias.value, (-1, *places)))
        return self.activation(made)

    def convolution_op(self, inputs: Any, kernel: Any) -> Any:
        """Convolve, before bias and activation; subclasses may do it in their own way."""
        return self._slid(inputs, kernel, None, "linear")

    def _has_own_op(self) -> bool:
        return type(self).convolution_op is not Conv.convolution_op

    def product(self) -> Product | None:
        """Return what is computed before the activation; None where it is more than a product."""
        return None if self.lora_enabled or self._has_own_op() else super().product()

    def _slid(self, inputs: Any, kernel: Any, bias: Any, ending: str) -> Any:
        return sliding_windows.conv(
            inputs,
            kernel,
            self.strides,
            self.padding,
            self.data_format,
            self.dilation_rate,
            bias,
            ending,
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with as many places as windows, and ``filters`` channels."""
        return self._slid_shape(input_shape, self.filters)


class Conv1D(Conv):
    """Convolution of sequences: (batch, steps, channels).

    With the padding "causal", a step depends on none that come after it.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.Conv1D(1, 2, kernel_initializer="ones")
        >>> layer([[[1.0], [2.0], [3.0]]]).tolist()
        [[[3.0], [5.0]]]
    """

    rank = 1


class Conv2D(Conv):
    """Convolution of images: (batch, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Conv2D(8, 3, strides=2)(keras.Input((28, 28, 1))).shape
        (None, 13, 13, 8)
    """

    rank = 2


class Conv3D(Conv):
    """Convolution of volumes: (batch, depth, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Conv3D(8, 3, padding="same")(keras.Input((9, 9, 9, 1))).shape
        (None, 9, 9, 9, 8)
    """

    rank = 3


# -- transposed --------------------------------------------------------------------------------


class ConvTranspose(Convolving):
    """What the gradient of a convolution does to its input: it enlarges by ``strides``."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: ActivationLike = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike = "glorot_uniform",
        bias_initializer: InitializerLike = "zeros",
        kernel_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        activity_regularizer: RegularizerLike = None,
        kernel_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        name = type(self).__name__
        check_positive(name, filters=filters)
        self.filters = filters
        self._take(kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias)
        self._refuse_strides_with_dilation()
        self.output_padding = None
        if output_padding is not None:
            more = as_integers(name, "output_padding", output_padding, self.rank, minimum=0)
            if any(one >= stride for one, stride in zip(more, self.strides, strict=True)):
                raise ValueError(
                    f"{name}: output_padding must be less than strides, but got "
                    f"output_padding={more} and strides={self.strides}"
                )
            self.output_padding = more
        self._take_weights(
            kernel=(kernel_initializer, kernel_regularizer, kernel_constraint),
            bias=(bias_initializer, bias_regularizer, bias_constraint),
        )

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        self.compute_output_shape(input_shape)
        shape = (*self.kernel_size, self.filters, self._channels(input_shape))
        self.kernel = self._make_weight("kernel", shape)
        self._make_bias(self.filters)

    def _slid(self, inputs: Any, kernel: Any, bias: Any, ending: str) -> Any:
        return sliding_windows.conv_transpose(
            inputs,
            kernel,
            self.strides,
            self.padding,
            self.output_padding,
            self.data_format,
            self.dilation_rate,
            bias,
            ending,
        )

    def _scaled(self, kernel: Any, factors: Any) -> Any:
        return multiply(kernel, reshape(factors, (-1, 1)))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the enlarged shape, with ``filters`` channels."""
        return sliding_windows.conv_transpose_output_shape(
            type(self).__name__,
            input_shape,
            self.filters,
            self.kernel_size,
            self.strides,
            self.padding,
            self.output_padding,
            self.data_format,
            self.dilation_rate,
        )


class Conv1DTranspose(ConvTranspose):
    """Transposed convolution of sequences: (batch, steps, channels).

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.Conv1DTranspose(1, 2, strides=2, kernel_initializer="ones")
        >>> layer([[[1.0], [2.0]]]).tolist()
        [[[1.0], [1.0], [2.0], [2.0]]]
    """

    rank = 1


class Conv2DTranspose(ConvTranspose):
    """Transposed convolution of images: (batch, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Conv2DTranspose(8, 3, strides=2)(keras.Input((14, 14, 1))).shape
        (None, 29, 29, 8)
    """

    rank = 2


class Conv3DTranspose(ConvTranspose):
    """Transposed convolution of volumes: (batch, depth, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Conv3DTranspose(8, 3)(keras.Input((9, 9, 9, 1))).shape
        (None, 11, 11, 11, 8)
    """

    rank = 3

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        output_padding: Any = None,
        dilation_rate: Any = 1,
        activation: ActivationLike = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike = "glorot_uniform",
        bias_initializer: InitializerLike = "zeros",
        kernel_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        activity_regularizer: RegularizerLike = None,
        kernel_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        **kwargs: Any,
    ) -> None:
        # Keras has data_format and output_padding the other way round here.
        super().__init__(**given(locals()))


# -- each channel by itself --------------------------------------------------------------------


class DepthwiseConv(Convolving):
    """Convolution of each channel with ``depth_multiplier`` filters of its own."""

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: ActivationLike = None,
        use_bias: bool = True,
        depthwise_initializer: InitializerLike = "glorot_uniform",
        bias_initializer: InitializerLike = "zeros",
        depthwise_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        activity_regularizer: RegularizerLike = None,
        depthwise_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        check_positive(type(self).__name__, depth_multiplier=depth_multiplier)
        self.depth_multiplier = depth_multiplier
        self._take(kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias)
        self._take_weights(
            depthwise=(depthwise_initializer, depthwise_regularizer, depthwise_constraint),
            bias=(bias_initializer, bias_regularizer, bias_constraint),
        )

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        channels = self._channels(input_shape)
        self.compute_output_shape(input_shape)
        shape = (*self.kernel_size, channels, self.depth_multiplier)
        self.kernel = self._make_weight("depthwise", shape, "kernel")
        self._make_bias(channels * self.depth_multiplier)

    def _slid(self, inputs: Any, kernel: Any, bias: Any, ending: str) -> Any:
        return sliding_windows.depthwise_conv(
            inputs,
            kernel,
            self.strides,
            self.padding,
            self.data_format,
            self.dilation_rate,
            bias,
            ending,
        )

    def _scaled(self, kernel: Any, factors: Any) -> Any:
        return multiply(kernel, reshape(factors, kernel.shape[-2:]))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with as many places as windows, and ``depth_multiplier`` times as many
        channels.
        """
        channels = channels_of(input_shape, self.data_format)
        return self._slid_shape(input_shape, self.depth_multiplier * channels)


class DepthwiseConv1D(DepthwiseConv):
    """Depthwise convolution of sequences: (batch, steps, channels).

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.DepthwiseConv1D(2, depthwise_initializer="ones")
        >>> layer([[[1.0, 4.0], [2.0, 5.0]]]).tolist()
        [[[3.0, 9.0]]]
    """

    rank = 1


class DepthwiseConv2D(DepthwiseConv):
    """Depthwise convolution of images: (batch, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.DepthwiseConv2D(3, depth_multiplier=2)(keras.Input((9, 9, 4))).shape
        (None, 7, 7, 8)
    """

    rank = 2


# -- both in turn ------------------------------------------------------------------------------


class SeparableConv(Convolving):
    """Depthwise convolution, then one that mixes channels at each place (Chollet, 2017)."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: ActivationLike = None,
        use_bias: bool = True,
        depthwise_initializer: InitializerLike = "glorot_uniform",
        pointwise_initializer: InitializerLike = "glorot_uniform",
        bias_initializer: InitializerLike = "zeros",
        depthwise_regularizer: RegularizerLike = None,
        pointwise_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        activity_regularizer: RegularizerLike = None,
        depthwise_constraint: ConstraintLike = None,
        pointwise_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        name = type(self).__name__
        check_positive(name, filters=filters, depth_multiplier=depth_multiplier)
        self.filters, self.depth_multiplier = filters, depth_multiplier
        self._take(kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias)
        self._take_weights(
            depthwise=(depthwise_initializer, depthwise_regularizer, depthwise_constraint),
            pointwise=(pointwise_initializer, pointwise_regularizer, pointwise_constraint),
            bias=(bias_initializer, bias_regularizer, bias_constraint),
        )

    def build(self, input_shape: Any) -> None:
        """Make the kernels and the bias."""
        channels = self._channels(input_shape)
        self.compute_output_shape(input_shape)
        depthwise = (*self.kernel_size, channels, self.depth_multiplier)
        pointwise = (*[1] * self.rank, channels * self.depth_multiplier, self.filters)
        self.depthwise_kernel = self._make_weight("depthwise", depthwise, "depthwise_kernel")
        self.pointwise_kernel = self._make_weight("pointwise", pointwise, "pointwise_kernel")
        self._make_bias(self.filters)

    def product(self) -> None:
        """Return nothing, as there are two kernels."""

    def call(self, inputs: Any) -> Any:
        """Convolve each channel, then mix them."""
        name, rest = ending(self.activation)
        return rest(
            sliding_windows.separable_conv(
                inputs,
                self.depthwise_kernel.value,
                self.pointwise_kernel.value,
                self.strides,
                self.padding,
                self.data_format,
                self.dilation_rate,
                self._bias(),
                name,
            )
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with as many places as windows, and ``filters`` channels."""
        return self._slid_shape(input_shape, self.filters)


class SeparableConv1D(SeparableConv):
    """Separable convolution of sequences: (batch, steps, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.SeparableConv1D(8, 3)(keras.Input((9, 4))).shape
        (None, 7, 8)
    """

    rank = 1


class SeparableConv2D(SeparableConv):
    """Separable convolution of images: (batch, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.SeparableConv2D(8, 3, padding="same")(keras.Input((9, 9, 4))).shape
        (None, 9, 9, 8)
    """

    rank = 2


# -- other names -------------------------------------------------------------------------------

Convolution1D = Conv1D
Convolution2D = Conv2D
Convolution3D = Conv3D
Convolution1DTranspose = Conv1DTranspose
Convolution2DTranspose = Conv2DTranspose
Convolution3DTranspose = Conv3DTranspose
SeparableConvolution1D = SeparableConv1D
SeparableConvolution2D = SeparableConv2D
