"""Functions that NumPy has, too.

``elementwise`` has those of corresponding elements, ``reductions`` those along axes, ``movement``
what moves elements, ``products`` sums of products, and ``creation`` what makes tensors.
"""

from __future__ import annotations

from typing import Any

from webtensor.keras.ops import creation, elementwise, movement, reductions, vector_products
from webtensor.keras.ops.operations import Table

__all__ = ["TABLE"]

TABLE = Table(
    "keras.src.ops.numpy",
    elementwise.ROWS | reductions.ROWS | movement.ROWS | vector_products.ROWS | creation.ROWS,
)


def __getattr__(name: str) -> Any:
    return TABLE.function(name)
