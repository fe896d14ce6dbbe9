"""Dense layers along any axes, which an equation names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.arguments import ALWAYS, NEVER, forwards_arguments, refuse_quantization
from webtensor.keras.initializers import VarianceScaling
from webtensor.keras.layers.fused_activation import ending
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.lora import Adaptable
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.types import (
    ActivationLike,
    ConstraintLike,
    InitializerLike,
    RegularizerLike,
    Shape,
)
from webtensor.keras.variables import Variable
from webtensor.ops import fused
from webtensor.shapes import prod

__all__ = ["EinsumDense"]

_EQUATION = re.compile(
    r"(?P<left>\.\.\.)?(?P<inputs>[a-zA-Z]+)(?P<right>\.\.\.)?,(?P<kernel>[a-zA-Z]+)->"
    r"(?(left)\.\.\.)(?P<outputs>[a-zA-Z]+)(?(right)\.\.\.)"
)


class _Equation(NamedTuple):
    """The letters of an equation's axes; ``...`` may be at the left or at the right."""

    inputs: str
    kernel: str
    outputs: str
    is_left: bool
    is_right: bool

    def contracted(self) -> int:
        """Return how many axes are summed over: the last of the inputs, the first of the kernel.

        0 where the equation is no product of matrices, or where there are axes at the right.
        """
        for count in range(1, len(self.kernel)):
            shared, others = self.kernel[:count], self.kernel[count:]
            batch = self.inputs.removesuffix(shared)
            if batch != self.inputs and self.outputs == batch + others:
                is_product = len({*batch, *self.kernel}) == len(batch) + len(self.kernel)
                return count if is_product and not self.is_right else 0
        return 0


class _Shapes(NamedTuple):
    """The shapes and axes that follow from an equation and the shape of the inputs."""

    kernel: Shape
    bias: Shape | None
    outputs: Shape
    input_axes: list[int]
    output_axes: list[int]


def _parsed(equation: str) -> _Equation:
    match = _EQUATION.fullmatch(equation) if isinstance(equation, str) else None
    if match is None or (match["left"] and match["right"]):
        raise ValueError(
            "EinsumDense: equation must be like 'ab,bc->ac', '...a,ab->...b' or 'ab...,bc->ac...', "
            f"but got {equation!r}"
        )
    return _Equation(
        match["inputs"],
        match["kernel"],
        match["outputs"],
        bool(match["left"]),
        bool(match["right"]),
    )


def _shapes(equation: _Equation, bias_axes: str | None, shape: Shape, partial: Shape) -> _Shapes:
    """Infer the shapes of weights and outputs from those of the inputs and of ``output_shape``.

    Raises:
        ValueError: sizes of a letter differ, or a letter is neither the inputs' nor the kernel's.
    """
    inputs, kernel, outputs = equation[:3]
    elided = len(shape) - len(inputs)
    output_shape = [shape[0], *partial]
    start = 0
    if elided > 0 and equation.is_left:
        output_shape[1:1] = shape[1:elided]
        start = elided
    elif elided > 0:
        output_shape += shape[len(inputs) :]
    if (
        elided < 0
        or (elided and not (equation.is_left or equation.is_right))
        or len(output_shape) != (len(outputs) + elided)
    ):
        raise ValueError(
            f"EinsumDense: the letters of the equation {'->'.join((inputs, outputs))} do not fit "
            f"inputs of shape {tuple(shape)} and output_shape={tuple(partial)}"
        )
    input_sizes = dict(zip(inputs, shape[start:], strict=False))
    output_sizes = dict(zip(outputs, output_shape[start:], strict=False))
    _check_letters(kernel, outputs, input_sizes, output_sizes)
    return _Shapes(
        tuple([output_sizes.get(letter, input_sizes.get(letter)) for letter in kernel]),
        _bias_shape(equation, bias_axes, output_sizes, elided),
        tuple(output_shape),
        [axis for axis, letter in enumerate(kernel) if letter not in output_sizes],
        [axis for axis, letter in enumerate(kernel) if letter in output_sizes],
    )


def _check_letters(
    kernel: str,
    outputs: str,
    input_sizes: Mapping[str, int | None],
    output_sizes: Mapping[str, int | None],
) -> None:
    for letter, size in input_sizes.items():
        if output_sizes.get(letter) not in (None, size):
            raise ValueError(
                f"EinsumDense: axis {letter!r} has size {size} in the inputs, but "
                f"{output_sizes[letter]} in output_shape"
            )
    for letter in outputs:
        if letter not in input_sizes and letter not in kernel:
            raise ValueError(
                f"EinsumDense: axis {letter!r} of the result is neither one of the inputs nor one "
                "of the kernel"
            )


def _bias_shape(
    equation: _Equation, bias_axes: str | None, sizes: dict[str, int | None], elided: int
) -> Shape | None:
    """Return the shape of the bias from its first axis on, with 1 for missing axes."""
    if bias_axes is None:
        return None
    for letter in bias_axes:
        if letter not in sizes:
            raise ValueError(
                f"EinsumDense: bias_axes has axis {letter!r}, which the result, "
                f"{equation.outputs!r}, has not"
            )
    first = min(equation.outputs.index(letter) for letter in bias_axes)
    letters = equation.outputs[first:]
    shape = tuple([sizes[letter] if letter in bias_axes else 1 for letter in letters])
    return shape if equation.is_left else (*shape, *[1] * elided)


class EinsumDense(Adaptable, Weighted):
    """``activation(einsum(equation, x, kernel) + bias)``.

    Args:
        equation: an equation of ``einsum`` for the inputs and the kernel, such as
            ``"abc,cd->abd"``; ``...`` at the left or the right stands for any axes.
        output_shape: the shape of the outputs without the batch and without the axes that ``...``
            stands for, or an integer; None in it is any size.
        bias_axes: letters of the outputs' axes that the bias has; None for no bias.
        gptq_unpacked_column_size: None, as weights are not quantized.

    Raises:
        ValueError: ``equation`` is no such equation, or an argument of quantization is not None.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.EinsumDense("abc,cd->abd", (32, 64), bias_axes="d")
        >>> layer(keras.Input((32, 128))).shape
        (None, 32, 64)
    """

    _config_omits: ClassVar = {
        "activity_regularizer": NEVER,
        "gptq_unpacked_column_size": ALWAYS,
    }
    _attribute_names: ClassVar = {"output_shape": "partial_output_shape"}
    equation: str
    activation: Callable[..., Tensor]
    bias_axes: str | None
    bias: Variable | None
    kernel_initializer: InitializerLike

    @forwards_arguments
    def __init__(
        self,
        equation: str,
        output_shape: int | Sequence[int | None],
        activation: ActivationLike = None,
        bias_axes: str | None = None,
        kernel_initializer: InitializerLike = "glorot_uniform",
        bias_initializer: InitializerLike = "zeros",
        kernel_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        kernel_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        lora_rank: int | None = None,
        lora_alpha: float | None = None,
        gptq_unpacked_column_size: int | None = None,
        quantization_config: None = None,
        **kwargs: Any,
    ) -> None:
        refuse_quantization(
            "EinsumDense",
            gptq_unpacked_column_size=gptq_unpacked_column_size,
            quantization_config=quantization_config,
        )
        self._take_lora(lora_rank, lora_alpha)
        self._letters = _parsed(equation)
        self.partial_output_shape = (
            (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)
        )

    def _shapes(self, input_shape: Shape) -> _Shapes:
        return _shapes(self._letters, self.bias_axes, input_shape, self.partial_output_shape)

    def build(self, input_shape: Shape) -> None:
        """Make the kernel and the bias."""
        shapes = self._shapes(input_shape)
        if None in shapes.kernel:
            raise ValueError(
                f"EinsumDense: the sizes of the kernel, {[*shapes.kernel]}, must be known; "
                f"inputs have shape {tuple(input_shape)}, output_shape={self.partial_output_shape}"
            )
        self.input_spec = InputSpec(ndim=len(input_shape))
        initializer = self.kernel_initializer
        if isinstance(initializer, VarianceScaling) and None in (
            initializer.input_axes,
            initializer.output_axes,
        ):
            axes = {"input_axes": shapes.input_axes, "output_axes": shapes.output_axes}
            config = {**initializer.get_config(), "seed": initializer.seed, **axes}
            initializer = type(initializer).from_config(config)
        self._kernel = self._make_weight("kernel", shapes.kernel, initializer=initializer)
        self.bias = None if shapes.bias is None else self._make_weight("bias", shapes.bias)
        self._contracted = self._letters.contracted()
        self._build_lora()

    @property
    def kernel(self) -> Variable | Tensor:
        """The kernel: a variable, or a sum where ``enable_lora`` was called."""
        return self._adapted_value() if self.lora_enabled else self._kernel

    def _dequantized(self, kernel: Tensor, scales: Tensor) -> Tensor:
        axes = self._letters.kernel  # scales have those of the outputs
        return wt.einsum(f"{axes},{self._letters.outputs}->{axes}", kernel, wt.reciprocal(scales))

    def call(self, inputs: Tensor, training: bool | None = None) -> Tensor:
        """Compute the sums, as a product of matrices where the equation is one."""
        bias = None if self.bias is None else self.bias.value
        fused_name, activation = ending(self.activation)
        count = self._contracted
        kernel = self._adapted_value()
        columns = kernel.shape[count:]
        if not count or (bias is not None and bias.shape != columns):
            sums = wt.einsum(self.equation, inputs, kernel)
            return self.activation(sums if bias is None else wt.add(sums, bias))
        batch, features = inputs.shape[:-count], prod(inputs.shape[-count:])
        product = fused.mat_mul(
            wt.reshape(inputs, (prod(batch), features)),
            wt.reshape(kernel, (features, prod(columns))),
            False,
            False,
            None if bias is None else wt.reshape(bias, (prod(columns),)),
            fused_name,
        )
        return activation(wt.reshape(product, (*batch, *columns)))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return ``output_shape`` with the batch, and with the axes of ``...``."""
        return self._shapes(input_shape).outputs
