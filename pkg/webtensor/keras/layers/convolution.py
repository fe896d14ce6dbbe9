"""Convolutions: of all channels together, of each by itself, of both in turn, and transposed.

A family is one class; its members for one to three spatial dimensions differ only in ``rank``.
``webtensor.keras.sliding_windows`` computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from webtensor.engine import Tensor
from webtensor.keras import sliding_windows
from webtensor.keras.arguments import NEVER, check_positive, forwards_arguments
from webtensor.keras.data_formats import channels_of
from webtensor.keras.layers.fused_activation import Product, ending
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.lora import Adaptable
from webtensor.keras.layers.spatial_arguments import WindowArguments, as_integers
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.sliding_windows import SizesLike, Sliding
from webtensor.keras.types import (
    ActivationLike,
    ConstraintLike,
    InitializerLike,
    RegularizerLike,
    Shape,
)
from webtensor.keras.variables import Variable
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


class BaseConvolution(WindowArguments, Weighted):
    """What all convolutions share: a window that slides, a bias, an activation.

    Args:
        filters: a positive integer, the number of channels of the output.
        kernel_size: an integer or one per spatial dimension, the size of the window.
        strides: an integer or one per spatial dimension, the distance of neighbouring windows.
        padding: ``"valid"``, for windows that fit in the inputs, or ``"same"``, for zeros around
            the inputs, such that strides of 1 keep the sizes of the spatial dimensions.
        dilation_rate: an integer or one per spatial dimension, the distance of neighbouring
            elements of a window.
        depth_multiplier: a positive integer, the number of filters of each channel.
        depthwise_initializer: an initializer, or its name: what the depthwise kernel starts with.
        depthwise_regularizer: a regularizer, its name or None: a penalty on the depthwise kernel.
        depthwise_constraint: a constraint, its name or None: what the depthwise kernel is kept to.
        pointwise_initializer: an initializer, or its name: what the pointwise kernel starts with.
        pointwise_regularizer: a regularizer, its name or None: a penalty on the pointwise kernel.
        pointwise_constraint: a constraint, its name or None: what the pointwise kernel is kept to.
    """

    _config_omits: ClassVar = {"activity_regularizer": NEVER}
    #: Names of ``padding`` besides "valid" and "same".
    _paddings: ClassVar[tuple[str, ...]] = ()
    kernel: Any  # a variable; a tensor in layers with low-rank adaptation
    bias: Variable | None
    filters: int
    depth_multiplier: int
    activation: Callable[..., Tensor]
    use_bias: bool

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._check_window(type(self).__name__, *self._paddings)
        self.input_spec = InputSpec(min_ndim=self.rank + 2)

    @property
    def _sliding(self) -> Sliding:
        return Sliding(self.strides, self.padding, self.data_format, self.dilation_rate)

    def _channels_of(self, input_shape: Shape) -> int:
        channels = channels_of(input_shape, self.data_format)
        if channels is None:
            raise ValueError(
                f"{type(self).__name__}: the number of channels must be known, but inputs have "
                f"shape {tuple(input_shape)}"
            )
        return channels

    def _fix_channels(self, input_shape: Shape) -> int:
        """Return the number of channels, which inputs must have from now on."""
        channels = self._channels_of(input_shape)
        axis = -1 if self.data_format == "channels_last" else 1
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={axis: channels})
        return channels

    def _add_bias(self, channels: int) -> None:
        self.bias = self._make_weight("bias", (channels,)) if self.use_bias else None

    def _bias_value(self) -> Tensor | None:
        return None if self.bias is None else self.bias.value

    def call(self, inputs: Tensor) -> Tensor:
        """Convolve."""
        epilogue, rest = ending(self.activation)
        return rest(self._convolve(inputs, self._kernel_value(), self._bias_value(), epilogue))

    def _kernel_value(self) -> Tensor:
        value: Tensor = self.kernel.value
        return value

    def product(self) -> Product | None:
        """Return the computation before the activation; None where it has two kernels."""
        is_last = self.data_format == "channels_last"
        return Product(self.kernel, self.bias, self._convolve, self._with_factors, is_last)

    def _convolve(
        self, inputs: Tensor, kernel: Tensor, bias: Tensor | None, epilogue: str
    ) -> Tensor:
        """Convolve with a kernel, add a bias, and apply the activation of the epilogue's name."""
        raise NotImplementedError

    def _with_factors(self, kernel: Tensor, factors: Tensor) -> Tensor:
        """Multiply the kernel of each output channel by a factor."""
        return multiply(kernel, factors)

    def _convolved_shape(self, input_shape: Shape, channels: int) -> Shape:
        return sliding_windows.conv_output_shape(
            type(self).__name__, input_shape, channels, self.kernel_size, self._sliding
        )


# -- all channels together ---------------------------------------------------------------------


class AdaptableConvolution(Adaptable, BaseConvolution):
    """A convolution whose kernel ``enable_lora`` adapts."""

    def __init__(
        self, *, lora_rank: int | None = None, lora_alpha: float | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._take_lora(lora_rank, lora_alpha)


class Conv(AdaptableConvolution):
    """Convolution (cross-correlation) of all channels, or of each of ``groups`` of them.

    The keywords ``lora_rank`` and ``lora_alpha`` enable low-rank adaptation: see ``enable_lora``.

    Args:
        groups: a positive integer, the number of groups of channels, each with filters of its own.

    Raises:
        ValueError: an argument is out of range, ``filters`` is no multiple of ``groups``, or
            strides and dilation rate are both greater than 1.
    """

    groups: int

    @forwards_arguments
    def __init__(
        self,
        filters: int,
        kernel_size: SizesLike,
        strides: SizesLike = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: SizesLike = 1,
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
        name = type(self).__name__
        check_positive(name, filters=filters, groups=groups)
        if filters % groups:
            raise ValueError(
                f"{name}: filters must be a multiple of groups, but got filters={filters} and "
                f"groups={groups}"
            )
        sliding_windows.check_strides_and_dilation(name, self.strides, self.dilation_rate)

    def build(self, input_shape: Shape) -> None:
        """Add the kernel and the bias."""
        channels = self._fix_channels(input_shape)
        if channels % self.groups:
            raise ValueError(
                f"{type(self).__name__}: the number of channels must be a multiple of "
                f"groups={self.groups}, but inputs have shape {tuple(input_shape)}"
            )
        self.compute_output_shape(input_shape)  # refuses inputs that the window does not fit
        shape = (*self.kernel_size, channels // self.groups, self.filters)
        self._kernel = self._make_weight("kernel", shape)
        self._add_bias(self.filters)
        self._build_lora()

    @property
    def kernel(self) -> Any:
        """The kernel: a variable, or a sum after ``enable_lora``."""
        return self._adapted_value() if self.lora_enabled else self._kernel

    def _kernel_value(self) -> Tensor:
        return self._adapted_value()

    def call(self, inputs: Tensor) -> Tensor:
        """Convolve."""
        if not self._overrides_convolution_op():
            return super().call(inputs)
        outputs = self.convolution_op(inputs, self._kernel_value())
        if self.bias is not None:
            ones = () if self.data_format == "channels_last" else (1,) * self.rank
            outputs = add(outputs, reshape(self.bias.value, (-1, *ones)))
        return self.activation(outputs)

    def convolution_op(self, inputs: Tensor, kernel: Tensor) -> Tensor:
        """Convolve, before bias and activation; a subclass may override it."""
        return self._convolve(inputs, kernel, None, "linear")

    def _overrides_convolution_op(self) -> bool:
        return type(self).convolution_op is not Conv.convolution_op

    def product(self) -> Product | None:
        """Return the computation before the activation; None where it is more than a product."""
        if self.lora_enabled or self._overrides_convolution_op():
            return None
        return super().product()

    def _convolve(
        self, inputs: Tensor, kernel: Tensor, bias: Tensor | None, epilogue: str
    ) -> Tensor:
        return sliding_windows.conv(inputs, kernel, self._sliding, bias, epilogue)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape with ``filters`` channels and as many elements as windows."""
        return self._convolved_shape(input_shape, self.filters)


class Conv1D(Conv):
    """Convolution of sequences.

    Input shape: (batch, steps, channels), or with the channels first.
    Output shape: (batch, new_steps, filters), or with the channels first.

    Args:
        padding: ``"valid"``, ``"same"`` or ``"causal"``, with which a step of the output depends
            on no later steps of the input.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.Conv1D(1, 2, kernel_initializer="ones")
        >>> layer([[[1.0], [2.0], [3.0]]]).tolist()
        [[[3.0], [5.0]]]
    """

    rank = 1
    _paddings = ("causal",)


class Conv2D(Conv):
    """Convolution of images.

    Input shape: (batch, height, width, channels), or with the channels first.
    Output shape: (batch, new_height, new_width, filters), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Conv2D(8, 3, strides=2)(keras.Input((28, 28, 1))).shape
        (None, 13, 13, 8)
    """

    rank = 2


class Conv3D(Conv):
    """Convolution of volumes.

    Input shape: (batch, depth, height, width, channels), or with the channels first.
    Output shape: (batch, new_depth, new_height, new_width, filters), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Conv3D(8, 3, padding="same")(keras.Input((9, 9, 9, 1))).shape
        (None, 9, 9, 9, 8)
    """

    rank = 3


# -- transposed --------------------------------------------------------------------------------


class ConvTranspose(BaseConvolution):
    """Transposed convolution, which enlarges by ``strides``.

    It is the gradient of a convolution with respect to the inputs of that.

    Args:
        strides: an integer or one per spatial dimension, the factor by which the output is larger.
        output_padding: an integer or one per spatial dimension, less than the strides: how many
            elements are added at the end of the output; None chooses them by ``padding``.

    Raises:
        ValueError: an argument is out of range, or strides and dilation rate are both greater
            than 1.
    """

    @forwards_arguments
    def __init__(
        self,
        filters: int,
        kernel_size: SizesLike,
        strides: SizesLike = 1,
        padding: str = "valid",
        output_padding: SizesLike | None = None,
        data_format: str | None = None,
        dilation_rate: SizesLike = 1,
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
        name = type(self).__name__
        check_positive(name, filters=filters)
        sliding_windows.check_strides_and_dilation(name, self.strides, self.dilation_rate)
        self.output_padding = None
        if output_padding is not None:
            sizes = as_integers(name, "output_padding", output_padding, self.rank, minimum=0)
            if any(size >= stride for size, stride in zip(sizes, self.strides, strict=True)):
                raise ValueError(
                    f"{name}: output_padding must be less than strides, but got "
                    f"output_padding={sizes} and strides={self.strides}"
                )
            self.output_padding = sizes

    def build(self, input_shape: Shape) -> None:
        """Add the kernel and the bias."""
        self.compute_output_shape(input_shape)
        shape = (*self.kernel_size, self.filters, self._fix_channels(input_shape))
        self.kernel = self._make_weight("kernel", shape)
        self._add_bias(self.filters)

    def _convolve(
        self, inputs: Tensor, kernel: Tensor, bias: Tensor | None, epilogue: str
    ) -> Tensor:
        return sliding_windows.conv_transpose(
            inputs, kernel, self._sliding, self.output_padding, bias, epilogue
        )

    def _with_factors(self, kernel: Tensor, factors: Tensor) -> Tensor:
        return multiply(kernel, reshape(factors, (-1, 1)))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the enlarged shape, with ``filters`` channels."""
        return sliding_windows.conv_transpose_output_shape(
            type(self).__name__,
            input_shape,
            self.filters,
            self.kernel_size,
            self._sliding,
            self.output_padding,
        )


class Conv1DTranspose(ConvTranspose):
    """Transposed convolution of sequences.

    Input shape: (batch, steps, channels), or with the channels first.
    Output shape: (batch, new_steps, filters), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.Conv1DTranspose(1, 2, strides=2, kernel_initializer="ones")
        >>> layer([[[1.0], [2.0]]]).tolist()
        [[[1.0], [1.0], [2.0], [2.0]]]
    """

    rank = 1


class Conv2DTranspose(ConvTranspose):
    """Transposed convolution of images.

    Input shape: (batch, height, width, channels), or with the channels first.
    Output shape: (batch, new_height, new_width, filters), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Conv2DTranspose(8, 3, strides=2)(keras.Input((14, 14, 1))).shape
        (None, 29, 29, 8)
    """

    rank = 2


class Conv3DTranspose(ConvTranspose):
    """Transposed convolution of volumes.

    Input shape: (batch, depth, height, width, channels), or with the channels first.
    Output shape: (batch, new_depth, new_height, new_width, filters), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Conv3DTranspose(8, 3)(keras.Input((9, 9, 9, 1))).shape
        (None, 11, 11, 11, 8)
    """

    rank = 3

    # In Keras, data_format comes before output_padding in this class alone.
    @forwards_arguments
    def __init__(
        self,
        filters: int,
        kernel_size: SizesLike,
        strides: SizesLike = 1,
        padding: str = "valid",
        data_format: str | None = None,
        output_padding: SizesLike | None = None,
        dilation_rate: SizesLike = 1,
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
    ) -> None: ...


# -- each channel by itself --------------------------------------------------------------------


class DepthwiseConv(BaseConvolution):
    """Convolution of each channel with ``depth_multiplier`` filters of its own.

    Raises:
        ValueError: an argument is out of range.
    """

    @forwards_arguments
    def __init__(
        self,
        kernel_size: SizesLike,
        strides: SizesLike = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: SizesLike = 1,
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
        check_positive(type(self).__name__, depth_multiplier=depth_multiplier)

    def build(self, input_shape: Shape) -> None:
        """Add the kernel and the bias."""
        channels = self._fix_channels(input_shape)
        self.compute_output_shape(input_shape)
        shape = (*self.kernel_size, channels, self.depth_multiplier)
        self.kernel = self._make_weight("depthwise", shape, "kernel")
        self._add_bias(channels * self.depth_multiplier)

    def _convolve(
        self, inputs: Tensor, kernel: Tensor, bias: Tensor | None, epilogue: str
    ) -> Tensor:
        return sliding_windows.depthwise_conv(inputs, kernel, self._sliding, bias, epilogue)

    def _with_factors(self, kernel: Tensor, factors: Tensor) -> Tensor:
        return multiply(kernel, reshape(factors, kernel.shape[-2:]))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape with ``depth_multiplier`` times the channels, an element per window."""
        channels = self._channels_of(input_shape)
        return self._convolved_shape(input_shape, self.depth_multiplier * channels)


class DepthwiseConv1D(DepthwiseConv):
    """Depthwise convolution of sequences.

    Input shape: (batch, steps, channels), or with the channels first.
    Output shape: (batch, new_steps, channels * depth_multiplier), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.DepthwiseConv1D(2, depthwise_initializer="ones")
        >>> layer([[[1.0, 4.0], [2.0, 5.0]]]).tolist()
        [[[3.0, 9.0]]]
    """

    rank = 1


class DepthwiseConv2D(DepthwiseConv):
    """Depthwise convolution of images.

    Input shape: (batch, height, width, channels), or with the channels first.
    Output shape: (batch, new_height, new_width, channels * depth_multiplier), or with the channels
    first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.DepthwiseConv2D(3, depth_multiplier=2)(keras.Input((9, 9, 4))).shape
        (None, 7, 7, 8)
    """

    rank = 2


# -- both in turn ------------------------------------------------------------------------------


class SeparableConv(BaseConvolution):
    """Depthwise convolution, then one that mixes the channels of each element (Chollet, 2017).

    Raises:
        ValueError: an argument is out of range.
    """

    @forwards_arguments
    def __init__(
        self,
        filters: int,
        kernel_size: SizesLike,
        strides: SizesLike = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: SizesLike = 1,
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
        check_positive(type(self).__name__, filters=filters, depth_multiplier=depth_multiplier)

    def build(self, input_shape: Shape) -> None:
        """Add the kernels and the bias."""
        channels = self._fix_channels(input_shape)
        self.compute_output_shape(input_shape)
        depthwise = (*self.kernel_size, channels, self.depth_multiplier)
        pointwise = (*[1] * self.rank, channels * self.depth_multiplier, self.filters)
        self.depthwise_kernel = self._make_weight("depthwise", depthwise, "depthwise_kernel")
        self.pointwise_kernel = self._make_weight("pointwise", pointwise, "pointwise_kernel")
        self._add_bias(self.filters)

    def product(self) -> None:
        """Return None, as there are two kernels."""

    def call(self, inputs: Tensor) -> Tensor:
        """Convolve each channel, then mix them."""
        epilogue, rest = ending(self.activation)
        return rest(
            sliding_windows.separable_conv(
                inputs,
                self.depthwise_kernel.value,
                self.pointwise_kernel.value,
                self._sliding,
                self._bias_value(),
                epilogue,
            )
        )

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape with ``filters`` channels and as many elements as windows."""
        return self._convolved_shape(input_shape, self.filters)


class SeparableConv1D(SeparableConv):
    """Separable convolution of sequences.

    Input shape: (batch, steps, channels), or with the channels first.
    Output shape: (batch, new_steps, filters), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.SeparableConv1D(8, 3)(keras.Input((9, 4))).shape
        (None, 7, 8)
    """

    rank = 1


class SeparableConv2D(SeparableConv):
    """Separable convolution of images.

    Input shape: (batch, height, width, channels), or with the channels first.
    Output shape: (batch, new_height, new_width, filters), or with the channels first.

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
