"""``wt.linalg``: the array API standard's linear algebra, and TensorFlow.js's ``band_part`` and
``gram_schmidt``.

Functions take stacks of matrices, (..., rows, columns). ``factorizations`` and ``solving`` have
the primitives with their gradients, which are computed in double precision; ``matrices``, ``norms``
and ``rank`` compose other ops; ``stacks`` converts between tensors and kernels' operands.
"""

from webtensor.ops.contraction import matmul as matmul
from webtensor.ops.linalg.factorizations import (
    cholesky as cholesky,
    eigh as eigh,
    eigvalsh as eigvalsh,
    gram_schmidt as gram_schmidt,
    qr as qr,
    svd as svd,
    svdvals as svdvals,
)
from webtensor.ops.linalg.matrices import (
    band_part as band_part,
    cross as cross,
    diagonal as diagonal,
    outer as outer,
    trace as trace,
)
from webtensor.ops.linalg.norms import matrix_norm as matrix_norm, vector_norm as vector_norm
from webtensor.ops.linalg.rank import matrix_rank as matrix_rank, pinv as pinv
from webtensor.ops.linalg.solving import (
    det as det,
    inv as inv,
    matrix_power as matrix_power,
    slogdet as slogdet,
    solve as solve,
)
from webtensor.ops.vector_products import (
    matrix_transpose as matrix_transpose,
    tensordot as tensordot,
    vecdot as vecdot,
)
