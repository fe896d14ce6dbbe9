"""Automatic differentiation: ``tape`` records and walks back.

``functions`` and ``gradient_tape`` are what users call, in TensorFlow.js's and TensorFlow's names.
"""

from typing import TYPE_CHECKING

from webtensor.autodiff.functions import (
    custom_grad,
    grad,
    grads,
    value_and_grad,
    value_and_grads,
    variable_gradients,
    variable_grads,
)
from webtensor.autodiff.tape import Gathered, Tape, is_recording, note_constant, paused
from webtensor.lazy_contents import lazy_contents

__all__ = [
    "Gathered",
    "GradientTape",
    "Tape",
    "custom_grad",
    "grad",
    "grads",
    "is_recording",
    "note_constant",
    "paused",
    "value_and_grad",
    "value_and_grads",
    "variable_gradients",
    "variable_grads",
]

if TYPE_CHECKING:
    from webtensor.autodiff.gradient_tape import GradientTape
else:
    __getattr__, __dir__ = lazy_contents(__name__, {"gradient_tape": ["GradientTape"]})
