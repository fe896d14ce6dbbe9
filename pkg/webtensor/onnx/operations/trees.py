"""Paths through decision trees."""

from __future__ import annotations

from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator

__all__ = ["ROWS", "TESTS"]

#: The comparisons of nodes, by their modes in the order of the modes' numbers.
TESTS = {
    "BRANCH_LEQ": ops.less_equal,
    "BRANCH_LT": ops.less,
    "BRANCH_GTE": ops.greater_equal,
    "BRANCH_GT": ops.greater,
    "BRANCH_EQ": ops.equal,
    "BRANCH_NEQ": ops.not_equal,
}


def leaves(
    x: Tensor,
    roots: Tensor,
    mode: Tensor,
    feature: Tensor,
    value: Tensor,
    if_true: Tensor,
    if_false: Tensor,
    if_missing: Tensor | None = None,
    members: Tensor | None = None,
    *,
    depth: int,
    modes: list[str],
) -> Tensor:
    """Return the position of the leaf that each row of ``x`` reaches in each tree.

    Args:
        x: of shape (batch, features).
        roots: the positions of roots.
        mode: for each node, the index of its test in ``modes``.
        feature: the feature that it tests.
        value: what the feature is compared with.
        if_true: the position of the next node if the test is passed; leaves have themselves.
        if_false: the position of the next node if it is not.
        if_missing: whether the test is passed by NaN.
        members: the numbers that pass a test for members, of shape (nodes, numbers).
        depth: the length of the longest path.
        modes: the tests.
    """
    at = ops.broadcast_to(roots, (x.shape[0], roots.shape[0]))
    for _ in range(depth):
        values = ops.take_along_axis(x, ops.gather(feature, at), 1)
        passes: Any = None
        for number, name in enumerate(modes):
            if name in TESTS:
                test = TESTS[name](values, ops.gather(value, at))
            elif members is not None:
                test = ops.any(ops.equal(ops.expand_dims(values, -1), ops.gather(members, at)), -1)
            else:
                raise ValueError(f"the mode {name!r:.200} is unknown")
            if passes is None:
                passes = test
            else:
                passes = ops.where(ops.equal(ops.gather(mode, at), number), test, passes)
        if if_missing is not None:
            is_true = ops.not_equal(ops.gather(if_missing, at), 0)
            passes = ops.logical_or(passes, ops.logical_and(ops.isnan(values), is_true))
        at = ops.where(passes, ops.gather(if_true, at), ops.gather(if_false, at))
    return at


ROWS: dict[str, Row] = {"ai.onnx.ml.TreeLeaves-1": Operator(leaves)}
