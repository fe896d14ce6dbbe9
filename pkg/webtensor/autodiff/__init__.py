"""Automatic differentiation: ``tape`` records and walks back; ``functions`` is what users call."""

from webtensor.autodiff.functions import (
    custom_grad,
    grad,
    grads,
    value_and_grad,
    value_and_grads,
    variable_gradients,
    variable_grads,
)
from webtensor.autodiff.tape import Gathered, Tape

__all__ = [
    "Gathered",
    "Tape",
    "custom_grad",
    "grad",
    "grads",
    "value_and_grad",
    "value_and_grads",
    "variable_gradients",
    "variable_grads",
]
