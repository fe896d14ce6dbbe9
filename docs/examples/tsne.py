"""t-SNE: points of many features on a plane, so that neighbours stay neighbours.

After van der Maaten and Hinton, "Visualizing Data using t-SNE" (2008), with exact gradients; the
rate of learning and the duration of the exaggeration are those of Belkina et al. (2019).
"""

from collections.abc import Callable, Iterator

import webtensor as wt
from webtensor.charts import ScatterPlot

#: Factor of the affinities in the first quarter of the steps.
EXAGGERATION = 12.0


def squared_distances(x: wt.Tensor) -> wt.Tensor:
    """Return the squared distances of all pairs of rows.

    They are |a|² - 2 a·b + |b|², all of which one product of matrices adds up.
    """
    squares = wt.sum(x**2, axis=1, keepdims=True)
    ones = wt.ones_like(squares)
    left = wt.concat([-2.0 * x, squares, ones], axis=1)
    right = wt.concat([x, ones, squares], axis=1)
    return wt.maximum(wt.matmul(left, right, transpose_b=True), 0.0)


def neighbour_probabilities(distances: wt.Tensor, perplexity: float) -> wt.Tensor:
    """Return the probabilities ``(points, points)`` that a point would choose as its neighbours.

    They follow a Gaussian around the point, whose precision is found by bisection of its logarithm,
    so that the entropy of each row is the logarithm of the perplexity.
    """
    points = distances.shape[0]
    others = 1.0 - wt.eye(points)
    distances = wt.divide_no_nan(distances, wt.mean(distances))
    nearest = wt.min(distances + 1e9 * wt.eye(points), axis=1, keepdims=True)
    distances = (distances - nearest) * others
    target = wt.log(wt.tensor(perplexity))

    def weigh(middle: wt.Tensor) -> tuple[wt.Tensor, wt.Tensor, wt.Tensor]:
        precision = wt.exp(middle)
        weights = wt.exp(-precision * distances) * others
        return precision, weights, wt.sum(weights, axis=1, keepdims=True)

    @wt.function
    def halve(lower: wt.Tensor, upper: wt.Tensor) -> tuple[wt.Tensor, wt.Tensor]:
        middle = 0.5 * (lower + upper)
        precision, weights, total = weigh(middle)
        spread = precision * wt.sum(weights * distances, axis=1, keepdims=True) / total
        too_wide = wt.log(total) + spread > target
        return wt.where(too_wide, middle, lower), wt.where(too_wide, upper, middle)

    lower, upper = wt.full((points, 1), -20.0), wt.full((points, 1), 20.0)
    for _ in range(30):
        lower, upper = halve(lower, upper)
    _, weights, total = weigh(0.5 * (lower + upper))
    return weights / total


def affinities(x: wt.Tensor, perplexity: float) -> wt.Tensor:
    """Return the symmetric joint probabilities of all pairs of points."""
    distances = squared_distances(x - wt.mean(x, axis=0))
    conditional = neighbour_probabilities(distances, perplexity)
    return (conditional + wt.transpose(conditional)) / (2.0 * x.shape[0])


def gradient(p: wt.Tensor, positions: wt.Tensor, exaggeration: float = 1.0) -> wt.Tensor:
    """Return the gradient of the Kullback-Leibler divergence of the positions from ``p``."""
    coordinates = wt.split(positions, 2, axis=1)
    squares = (wt.squared_difference(x, wt.transpose(x)) for x in coordinates)
    similarities = 1.0 / sum(squares, start=1.0)
    total = exaggeration * (wt.sum(similarities) - positions.shape[0])
    forces = (p - similarities * (1.0 / total)) * similarities
    ones = wt.ones((positions.shape[0], 1))
    sums = wt.matmul(forces, wt.concat([positions, ones], axis=1))  # the last sums forces alone
    return 4.0 * exaggeration * (sums[:, -1:] * positions - sums[:, :-1])


def descend(
    x: wt.Tensor, perplexity: float = 30.0, steps: int = 1000, seed: int = 0
) -> Iterator[wt.Tensor]:
    """Yield the positions ``(points, 2)`` after each step of gradient descent.

    Each coordinate has a gain, which grows while its gradient keeps its sign (Jacobs, 1988). A page
    awaits ``wt.next_frame()`` between steps.
    """
    points = x.shape[0]
    if not 1.0 <= perplexity < points - 1:
        raise ValueError(
            f"tsne: perplexity must be at least 1 and less than the number of other points, "
            f"{points - 1}, but got {perplexity}"
        )
    p = affinities(x, perplexity)
    rate = max(points / (4.0 * EXAGGERATION), 50.0)

    @wt.function
    def advance(
        positions: wt.Tensor,
        velocities: wt.Tensor,
        gains: wt.Tensor,
        exaggeration: float,
        momentum: float,
    ) -> tuple[wt.Tensor, wt.Tensor, wt.Tensor]:
        slopes = gradient(p, positions, exaggeration)
        gains = wt.where(slopes * velocities < 0.0, gains + 0.2, wt.maximum(gains * 0.8, 0.01))
        velocities = momentum * velocities - rate * gains * slopes
        positions = positions + velocities
        return positions - wt.mean(positions, axis=0), velocities, gains

    positions = wt.random_normal((points, 2), stddev=1e-4, seed=seed)
    velocities, gains = wt.zeros_like(positions), wt.ones_like(positions)
    for step in range(steps):
        exaggeration, momentum = (EXAGGERATION, 0.5) if step < steps // 4 else (1.0, 0.8)
        positions, velocities, gains = advance(positions, velocities, gains, exaggeration, momentum)
        yield positions


def embed(
    x: wt.Tensor,
    perplexity: float = 30.0,
    steps: int = 1000,
    on_step: Callable[[int, wt.Tensor], object] | None = None,
    seed: int = 0,
) -> wt.Tensor:
    """Return positions ``(points, 2)`` of the rows of ``x``.

    Args:
        x: float32, ``(points, features)``.
        perplexity: how many neighbours each point has, roughly.
        steps: the number of steps.
        on_step: called with the number of each step, from 1, and the positions after it.
        seed: the seed of the first positions.
    """
    positions = wt.zeros((x.shape[0], 2))
    for step, positions in enumerate(descend(x, perplexity, steps, seed), 1):
        if on_step is not None:
            on_step(step, positions)
    return positions


def main() -> ScatterPlot:
    """Draw five groups of points of 20 features on a plane."""
    centres = 3.0 * wt.random_normal((5, 20), seed=1)
    x = wt.repeat(centres, 40, axis=0) + wt.random_normal((200, 20), seed=2)
    positions = embed(x, perplexity=20, steps=300).tolist()
    groups = {
        f"group {group + 1}": [(a, b) for a, b in positions[40 * group : 40 * group + 40]]
        for group in range(5)
    }
    return wt.visor.render.scatter_plot(groups, title="t-SNE")


if __name__ == "__main__":
    print(main())
