"""The Ops API: what users call. One module per family; most compose primitives.

``unary``, ``binary`` and ``ternary`` are the elementwise table, whose machinery is ``rows``;
``reduction``, ``movement``, ``broadcasting``, ``casting``, ``contraction``, ``pooling`` and ``nn``
hold the other primitives with their gradients; ``creation`` and ``random`` make tensors;
``indexing`` and ``methods`` give tensors their subscripts, operators and methods.
"""

from webtensor.ops import methods as methods
from webtensor.ops.binary import *
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.casting import astype
from webtensor.ops.contraction import *
from webtensor.ops.creation import *
from webtensor.ops.indexing import boolean_mask
from webtensor.ops.movement import (
    clone,
    concat,
    expand_dims,
    flatten,
    flip,
    gather,
    pad,
    permute_dims,
    reshape,
    slice,
    split,
    squeeze,
    stack,
    take,
    tile,
    transpose,
    unstack,
)
from webtensor.ops.nn import *
from webtensor.ops.pooling import *
from webtensor.ops.random import *
from webtensor.ops.reduction import *
from webtensor.ops.ternary import *
from webtensor.ops.unary import *
