"""A table of graphs of one operation each.

Operations whose results are no tensors are in ``tests_py.graph.flows``, and those of random numbers
in ``tests_py.graph.test_random_numbers``.
"""

from __future__ import annotations

from tests_py.graph.cases import (
    arrays,
    elementwise,
    further,
    gradients,
    others,
    products,
    selection,
)
from tests_py.graph.cases.case import Case

__all__ = ["CASES", "Case"]

CASES: list[Case] = [
    row
    for family in (arrays, elementwise, further, gradients, others, products, selection)
    for row in family.CASES
]
