"""Activations that are fused into the kernels of matrix products and convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from webtensor.backends.fused_activations import FUSED_ACTIVATIONS
from webtensor.engine import Tensor
from webtensor.keras import activations
from webtensor.keras.variables import Variable

__all__ = ["Product", "ending"]


class Product(NamedTuple):
    """What a layer computes before its activation; it can be computed with other weights."""

    kernel: Variable
    bias: Variable | None
    #: Takes the inputs, a kernel, a bias or None, and the name of a fused activation.
    compute: Callable[[Tensor, Tensor, Tensor | None, str], Tensor]
    #: Multiplies the kernel of each output channel by a factor.
    scaled: Callable[[Tensor, Tensor], Tensor]
    has_channels_last: bool = True


#: The names that ``wt.fused`` has for Keras's activations, with the same default parameters; Keras
#: has no function for PReLU.
_FUSED_NAMES: dict[int, str] = {id(None): "linear"} | {
    id(getattr(activations, row or name)): name
    for name, row, _ in FUSED_ACTIVATIONS
    if name != "prelu"
}


def ending(activation: Callable[..., Tensor]) -> tuple[str, Callable[[Tensor], Tensor]]:
    """Return the activation that a kernel applies, and the one to apply to its result.

    One of the two is linear.

    Example:
        >>> from webtensor import keras
        >>> from webtensor.keras.layers.fused_activation import ending
        >>> ending(keras.activations.relu) == ("relu", keras.activations.linear)
        True
    """
    name = _FUSED_NAMES.get(id(activation))
    return ("linear", activation) if name is None else (name, activations.linear)
