"""Dense layers over any axes, which an equation names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from webtensor import ops as wt
from webtensor.keras import activations
from webtensor.keras.arguments import ALWAYS, NEVER
from webtensor.keras.initializers import VarianceScaling
from webtensor.keras.layers.fused_activation import ending
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.lora import Adaptable
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.types import ActivationLike, ConstraintLike, InitializerLike, RegularizerLike
from webtensor.ops import fused
from webtensor.shapes import prod

__all__ = ["EinsumDense"]

_EQUATION = re.compile(
    r"(?P<left>\.\.\.)?(?P<inputs>[a-zA-Z]+)(?P<right>\.\.\.)?,(?P<kernel>[a-zA-Z]+)->"
    r"(?(left)\.\.\.)(?P<outputs>[a-zA-Z]+)(?(right)\.\.\.)"
)


class _Equation(NamedTuple):
    """Letters of an equation's axes; ``...`` may be at the left or at the right."""

    inputs: str
    kernel: str
    outputs: str
    is_left: bool
    is_right: bool

    def contracted(self) -> int:
        """How many axes a plain product sums over: the inputs' last, the kernel's first.

        0 where it is another sum, or where there are axes at the right.
        """
        for count in range(1, len(self.kernel)):
            shared, others = self.kernel[:count], self.kernel[count:]
            kept = self.inputs.removesuffix(shared)
            if kept != self.inputs and self.outputs == kept + others:
                is_plain = len({*kept, *self.kernel}) == len(kept) + len(self.kernel)
                return count if is_plain and not self.is_right else 0
        return 0


class _Shapes(NamedTuple):
    """What an equation makes of the shape of the inputs."""

    kernel: list[Any]
    bias: list[Any] | None
    outputs: tuple[Any, ...]
    input_axes: list[int]
    output_axes: list[int]


def _parsed(equation: str) -> _Equation:
    found = _EQUATION.fullmatch(equation) if isinstance(equation, str) else None
    if found is None or (found["left"] and found["right"]):
        raise ValueError(
            "EinsumDense: equation must be like 'ab,bc->ac', '...a,ab->...b' or 'ab...,bc->ac...', "
            f"but got {equation!r}"
        )
    return _Equation(
        found["inputs"],
        found["kernel"],
        found["outputs"],
        bool(found["left"]),
        bool(found["right"]),
    )


def _shapes(
    equation: _Equation, bias_axes: str | None, shape: Sequence[Any], partial: Sequence[Any]
) -> _Shapes:
    """Work the shapes out, as the equation's letters tell.

    Raises:
        ValueError: lengths of a letter differ, or a letter is neither the inputs' nor the kernel's.
    """
    inputs, kernel, outputs = equation[:3]
    elided = len(shape) - len(inputs)
    given = [shape[0], *partial]
    start = 0
    if elided > 0 and equation.is_left:
        given[1:1] = shape[1:elided]
        start = elided
    elif elided > 0:
        given += shape[len(inputs) :]
    if (
        elided < 0
        or (elided and not (equation.is_left or equation.is_right))
        or len(given) != (len(outputs) + elided)
    ):
        raise ValueError(
            f"EinsumDense: the letters of the equation {'->'.join((inputs, outputs))} do not fit "
            f"inputs of shape {tuple(shape)} and output_shape={tuple(partial)}"
        )
    lengths = {letter: shape[start + place] for place, letter in enumerate(inputs)}
    wanted = {letter: given[start + place] for place, letter in enumerate(outputs)}
    for letter, length in lengths.items():
        if wanted.get(letter) not in (None, length):
            raise ValueError(
                f"EinsumDense: axis {letter!r} has length {length} in the inputs, but "
                f"{wanted[letter]} in output_shape"
            )
    for letter in outputs:
        if letter not in lengths and letter not in kernel:
            raise ValueError(
                f"EinsumDense: axis {letter!r} of the result is neither one of the inputs nor one "
                "of the kernel"
            )
    return _Shapes(
        [wanted.get(letter, lengths.get(letter)) for letter in kernel],
        _bias_shape(equation, bias_axes, wanted, elided),
        tuple(given),
        [place for place, letter in enumerate(kernel) if letter not in wanted],
        [place for place, letter in enumerate(kernel) if letter in wanted],
    )


def _bias_shape(
    equation: _Equation, bias_axes: str | None, lengths: dict[str, Any], elided: int
) -> list[Any] | None:
    """Lengths of the bias from its first axis on, 1 where it has none."""
    if bias_axes is None:
        return None
    for letter in bias_axes:
        if letter not in lengths:
            raise ValueError(
                f"EinsumDense: bias_axes has axis {letter!r}, which the result, "
                f"{equation.outputs!r}, has not"
            )
    first = min(equation.outputs.index(letter) for letter in bias_axes)
    found = [lengths[one] if one in bias_axes else 1 for one in equation.outputs[first:]]
    return found if equation.is_left else [*found, *[1] * elided]


class EinsumDense(Adaptable, Weighted):
    """``activation(einsum(equation, x, kernel) + bias)``.

    ``output_shape`` is that of the result without batch, and without axes that ``...`` stands for;
    None is any length. ``bias_axes`` are the axes that the bias has.

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
    bias: Any

    def __init__(
        self,
        equation: str,
        output_shape: Any,
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
        quantization_config: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if gptq_unpacked_column_size or quantization_config:
            raise ValueError("EinsumDense: there is no quantization")
        self._take_lora(lora_rank, lora_alpha)
        self.equation = equation
        self._letters = _parsed(equation)
        is_one = isinstance(output_shape, int)
        self.partial_output_shape = (output_shape,) if is_one else tuple(output_shape)
        self.bias_axes = bias_axes
        self.activation = activations.get(activation)
        self._take_weights(
            kernel=(kernel_initializer, kernel_regularizer, kernel_constraint),
            bias=(bias_initializer, bias_regularizer, bias_constraint),
        )

    def _shapes(self, input_shape: Any) -> _Shapes:
        return _shapes(self._letters, self.bias_axes, input_shape, self.partial_output_shape)

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        shapes = self._shapes(input_shape)
        if None in shapes.kernel:
            raise ValueError(
                f"EinsumDense: the lengths of the kernel, {shapes.kernel}, must be known; inputs "
                f"have shape {tuple(input_shape)}, and output_shape={self.partial_output_shape}"
            )
        self.input_spec = InputSpec(ndim=len(input_shape))
        first = self.kernel_initializer  # type: ignore[attr-defined]
        if isinstance(first, VarianceScaling) and None in (first.input_axes, first.output_axes):
            axes = {"input_axes": shapes.input_axes, "output_axes": shapes.output_axes}
            first = type(first).from_config({**first.get_config(), "seed": first.seed, **axes})
        self._kernel = self._make_weight("kernel", shapes.kernel, initializer=first)
        self.bias = None if shapes.bias is None else self._make_weight("bias", shapes.bias)
        self._contracted = self._letters.contracted()
        self._build_lora()

    @property
    def kernel(self) -> Any:
        """The kernel: a variable, or a sum where ``enable_lora`` was called."""
        return self._adapted_value() if self.lora_enabled else self._kernel

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Sum up, as a product of matrices where the equation is one."""
        bias = None if self.bias is None else self.bias.value
        name, rest = ending(self.activation)
        count = self._contracted
        kernel = self._adapted_value()
        columns = kernel.shape[count:]
        if not count or (bias is not None and bias.shape != columns):
            sums = wt.einsum(self.equation, inputs, kernel)
            return self.activation(sums if bias is None else wt.add(sums, bias))
        kept, summed = inputs.shape[:-count], prod(inputs.shape[-count:])
        made = fused.mat_mul(
            wt.reshape(inputs, (prod(kept), summed)),
            wt.reshape(kernel, (summed, prod(columns))),
            False,
            False,
            None if bias is None else wt.reshape(bias, (prod(columns),)),
            name,
        )
        return rest(wt.reshape(made, (*kept, *columns)))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return ``output_shape`` with the batch, and with the axes of ``...``."""
        return self._shapes(input_shape).outputs

    def _config_value(self, name: str) -> Any:
        return self.partial_output_shape if name == "output_shape" else super()._config_value(name)
