"""Principal component analysis (Pearson, 1901) by the singular value decomposition."""

from typing import NamedTuple

import webtensor as wt
from webtensor.charts import LineChart


class Components(NamedTuple):
    """Mean ``(features,)``, directions ``(count, features)``, and the variance along each."""

    mean: wt.Tensor
    directions: wt.Tensor
    variances: wt.Tensor


def fit(x: wt.Tensor, count: int) -> Components:
    """Find the orthogonal directions along which ``x``, ``(samples, features)``, varies most."""
    mean = wt.mean(x, axis=0)
    _, scales, directions = wt.linalg.svd(x - mean, full_matrices=False)
    return Components(mean, directions[:count], scales[:count] ** 2 / (x.shape[0] - 1))


def project(x: wt.Tensor, components: Components) -> wt.Tensor:
    """Return the coordinates of samples along the directions, ``(samples, count)``."""
    return wt.matmul(x - components.mean, wt.transpose(components.directions))


def reconstruct(coordinates: wt.Tensor, components: Components) -> wt.Tensor:
    """Return the samples that have these coordinates."""
    return wt.matmul(coordinates, components.directions) + components.mean


def spectra(samples: int) -> wt.Tensor:
    """Mix two peaks of 40 channels in random amounts, and add noise."""
    channels = wt.arange(40, dtype="float32")
    peaks = wt.stack([wt.exp(-(((channels - centre) / 4.0) ** 2)) for centre in (12.0, 26.0)])
    amounts = wt.random_uniform((samples, 2), seed=1)
    return wt.matmul(amounts, peaks) + wt.random_normal((samples, 40), stddev=0.02, seed=2)


def main() -> LineChart:
    """Find the two substances behind 200 spectra, and draw the first two directions."""
    x = spectra(200)
    components = fit(x, 5)
    total = wt.sum(wt.var(x, axis=0)) * 200 / 199
    shares = components.variances / total
    print("shares of the variance:", [round(share, 3) for share in shares.tolist()])
    first_two = fit(x, 2)
    error = x - reconstruct(project(x, first_two), first_two)
    print(f"error of two components: {wt.sqrt(wt.mean(error**2)).item():.3f}")
    return wt.visor.render.line_chart(
        {"first": first_two.directions[0], "second": first_two.directions[1]},
        title="Principal directions",
        x_label="channel",
    )


if __name__ == "__main__":
    print(main())
