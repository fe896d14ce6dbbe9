"""Linear programmes by the primal-dual hybrid gradient method (Chambolle and Pock, 2011).

The programme is: minimize ``c · x`` subject to ``A x ≤ b`` and ``x ≥ 0``. Its dual is: maximize
``-b · y`` subject to ``Aᵀ y ≥ -c`` and ``y ≥ 0``.
"""

from typing import Any, NamedTuple

import webtensor as wt
from webtensor.charts import LineChart


class Solution(NamedTuple):
    """Solutions of the programme and of its dual, and the errors after each round of steps."""

    x: wt.Tensor
    y: wt.Tensor
    errors: list[float]


def error(a: wt.Tensor, b: wt.Tensor, c: wt.Tensor, x: wt.Tensor, y: wt.Tensor) -> wt.Tensor:
    """Return the maximum of the duality gap and the violations; it is 0 at the optimum alone."""
    gap = wt.abs(wt.sum(c * x) + wt.sum(b * y))
    primal = wt.max(wt.matmul(a, x) - b)
    dual = wt.max(-c - wt.matmul(y, a))
    return wt.maximum(gap, wt.maximum(primal, dual))


def solve(
    a: wt.Tensor, b: wt.Tensor, c: wt.Tensor, tolerance: float = 1e-4, rounds: int = 200
) -> Solution:
    """Take rounds of 50 steps until the error is below the tolerance."""
    size = 0.9 / wt.linalg.svdvals(a)[0]

    @wt.function
    def advance(x: wt.Tensor, y: wt.Tensor) -> Any:
        for _ in range(50):
            previous, x = x, wt.relu(x - size * (c + wt.matmul(y, a)))
            y = wt.relu(y + size * (wt.matmul(a, 2.0 * x - previous) - b))
        return x, y, error(a, b, c, x, y)

    x, y = wt.zeros_like(c), wt.zeros_like(b)
    errors: list[float] = []
    while len(errors) < rounds and (not errors or errors[-1] > tolerance):
        x, y, latest = advance(x, y)
        errors.append(latest.item())
    return Solution(x, y, errors)


def main() -> LineChart:
    """Plan the production of two goods in three plants, and draw how the error falls.

    A batch of the goods earns 3 and 5. The optimum is 2 batches of the first and 6 of the second
    (Hillier and Lieberman, Introduction to Operations Research).
    """
    hours = wt.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 2.0]])
    available = wt.tensor([4.0, 12.0, 18.0])
    profits = wt.tensor([3.0, 5.0])
    x, y, errors = solve(hours, available, -profits)
    print("batches", [round(amount, 2) for amount in x.tolist()])
    print(f"profit {wt.sum(profits * x).item():.2f}")
    print("worth of an hour in each plant", [round(price, 2) for price in y.tolist()])
    steps = range(50, 50 * len(errors) + 1, 50)
    return wt.visor.render.line_chart(
        list(zip(steps, errors, strict=True)), title="Error", x_label="step", log_y=True
    )


if __name__ == "__main__":
    print(main())
