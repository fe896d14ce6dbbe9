"""k-means by Lloyd (1982), with the starts of k-means++ (Arthur and Vassilvitskii, 2007)."""

from typing import NamedTuple

import webtensor as wt
from webtensor.charts import ScatterPlot


class Clusters(NamedTuple):
    """Centres ``(count, features)``, the index of each point's centre, and the inertia."""

    centres: wt.Tensor
    labels: wt.Tensor
    inertia: float


def squared_distances(points: wt.Tensor, centres: wt.Tensor) -> wt.Tensor:
    """Return the squared distances, of shape ``(points, centres)``."""
    return wt.sum((wt.expand_dims(points, 1) - centres) ** 2, axis=2)


def start(points: wt.Tensor, count: int, seed: int) -> wt.Tensor:
    """Draw centres among the points.

    The probability of a point is proportional to its squared distance to the nearest centre so far.
    """
    draws = wt.random_uniform((count,), seed=seed)
    weights = wt.ones((points.shape[0],))
    centres = points[:0]
    for step in range(count):
        sums = wt.cumsum(weights)
        index = wt.searchsorted(sums, draws[step : step + 1] * sums[-1])
        centres = wt.concat([centres, wt.gather(points, index)])
        weights = wt.min(squared_distances(points, centres), axis=1)
    return centres


def move(points: wt.Tensor, centres: wt.Tensor) -> wt.Tensor:
    """Move each centre to the mean of its points; a centre without points stays."""
    nearest = wt.argmin(squared_distances(points, centres), axis=1)
    members = wt.one_hot(nearest, centres.shape[0], dtype="float32")
    counts = wt.expand_dims(wt.sum(members, axis=0), 1)
    means = wt.matmul(wt.transpose(members), points) / wt.maximum(counts, 1.0)
    return wt.where(counts > 0, means, centres)


def cluster(points: wt.Tensor, count: int, seed: int = 0, steps: int = 100) -> Clusters:
    """Find ``count`` clusters; stop when no centre moves."""
    centres = start(points, count, seed)
    for _ in range(steps):
        previous, centres = centres, move(points, centres)
        if wt.all(centres == previous).item():
            break
    distances = squared_distances(points, centres)
    inertia = wt.sum(wt.min(distances, axis=1)).item()
    return Clusters(centres, wt.argmin(distances, axis=1), inertia)


def main() -> ScatterPlot:
    """Cluster four groups of points, and draw each cluster in a colour."""
    groups = wt.tensor([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0]])
    points = wt.repeat(groups, 50, axis=0) + wt.random_normal((200, 2), stddev=0.6, seed=1)
    centres, labels, inertia = cluster(points, 4)
    print(f"inertia {inertia:.1f}")
    series: dict[str, list[tuple[float, float]]] = {}
    for label, (x, y) in enumerate(centres.tolist()):
        print(f"centre ({x:.1f}, {y:.1f})")
        series[f"cluster {label + 1}"] = []
    for (x, y), label in zip(points.tolist(), labels.tolist(), strict=True):
        series[f"cluster {label + 1}"].append((x, y))
    return wt.visor.render.scatter_plot(series, title="k-means")


if __name__ == "__main__":
    print(main())
