"""Functions of functions: derivatives of all kinds, and functions that are applied to batches.

``derivatives`` goes along directions and has results with several elements; ``vectorization`` has
``vmap``, and ``batching_rules`` what primitives do with a batch.
"""

from webtensor.transforms.derivatives import hessian, jacobian, jvp
from webtensor.transforms.vectorization import vmap

__all__ = ["hessian", "jacobian", "jvp", "vmap"]
