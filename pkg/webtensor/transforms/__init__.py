"""Functions of functions: derivatives of all kinds, functions of batches, loops and branches.

``derivatives`` goes along directions and has results with several elements; ``vectorization`` has
``vmap``, and ``batching_rules`` what primitives do with a batch; ``control_flow`` has ``cond``,
``while_loop`` and ``scan``. Models ask ``loop_recording`` whether an observer records a loop as one
step, as the converter does.
"""

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

_CONTENTS = contents(
    """
    control_flow: cond scan while_loop
    derivatives: hessian jacobian jvp vjp
    vectorization: vmap
    """
)

if TYPE_CHECKING:
    from webtensor.transforms.control_flow import (
        cond as cond,
        scan as scan,
        while_loop as while_loop,
    )
    from webtensor.transforms.derivatives import (
        hessian as hessian,
        jacobian as jacobian,
        jvp as jvp,
        vjp as vjp,
    )
    from webtensor.transforms.vectorization import vmap as vmap
else:
    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS)
