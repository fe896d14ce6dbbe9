"""Automatic differentiation: ``tape`` records and walks back.

The other modules have what users call: ``functions`` for gradients by arguments,
``variable_gradients`` for those by variables, ``custom_gradients``, and ``gradient_tape`` in
TensorFlow's manner. ``results`` has the checks that they share.
"""

from typing import TYPE_CHECKING

from webtensor.autodiff.tape import (
    Gathered as Gathered,
    Tape as Tape,
    is_recording as is_recording,
    note_constant as note_constant,
    paused as paused,
)
from webtensor.lazy_contents import contents, lazy_contents

_CONTENTS = contents(
    """
    custom_gradients: custom_grad
    functions: grad grads value_and_grad value_and_grads
    gradient_tape: GradientTape
    variable_gradients: loss_and_gradients variable_grads
    """
)

if TYPE_CHECKING:
    from webtensor.autodiff.custom_gradients import custom_grad as custom_grad
    from webtensor.autodiff.functions import (
        grad as grad,
        grads as grads,
        value_and_grad as value_and_grad,
        value_and_grads as value_and_grads,
    )
    from webtensor.autodiff.gradient_tape import GradientTape as GradientTape
    from webtensor.autodiff.variable_gradients import (
        loss_and_gradients as loss_and_gradients,
        variable_grads as variable_grads,
    )
else:
    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS)
