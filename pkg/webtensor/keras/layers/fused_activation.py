"""Activations that the kernels of products and convolutions apply themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from webtensor.backends.fused_activations import FUSED_ACTIVATIONS
from webtensor.engine import Tensor
from webtensor.keras import activations

__all__ = ["Product", "ending"]


class Product(NamedTuple):
    """What a layer computes before its activation, for those who put other weights in.

    ``compute`` takes the inputs, a kernel, a bias or None, and the name of an activation;
    ``scaled`` multiplies the kernel of each output channel by a factor.
    """

    kernel: Any
    bias: Any
    compute: Callable[[Tensor, Tensor, Tensor | None, str], Tensor]
    scaled: Callable[[Tensor, Tensor], Tensor]
    has_channels_last: bool = True


#: The names that ``wt.fused`` has for Keras's activations, with the same default parameters; Keras
#: has no function for PReLU.
_IN_KERNELS: dict[int, str] = {id(None): "linear"} | {
    id(getattr(activations, row or name)): name
    for name, row, _ in FUSED_ACTIVATIONS
    if name != "prelu"
}


def ending(activation: Callable[..., Tensor]) -> tuple[str, Callable[[Tensor], Tensor]]:
    """Return what a kernel ends with to apply an activation, and what is to be done after it.

    Example:
        >>> from webtensor import keras
        >>> from webtensor.keras.layers.fused_activation import ending
        >>> ending(keras.activations.relu) == ("relu", keras.activations.linear)
        True
    """
    name = _IN_KERNELS.get(id(activation))
    return ("linear", activation) if name is None else (name, activations.linear)
