"""Functions of functions: derivatives of all kinds, functions of batches, loops and branches.

``derivatives`` goes along directions and has results with several elements; ``vectorization`` has
``vmap``, and ``batching_rules`` what primitives do with a batch; ``control_flow`` has ``cond``,
``while_loop`` and ``scan``.
"""

from webtensor.transforms.control_flow import cond, scan, while_loop
from webtensor.transforms.derivatives import hessian, jacobian, jvp
from webtensor.transforms.vectorization import vmap

__all__ = ["cond", "hessian", "jacobian", "jvp", "scan", "vmap", "while_loop"]
