"""Regression with a Gaussian process (Rasmussen and Williams, 2006, algorithm 2.1)."""

import math
from typing import NamedTuple

import webtensor as wt
from webtensor.charts import LineChart


class Kernel(NamedTuple):
    """The squared exponential kernel: its length scale, and the variances of signal and noise."""

    length: wt.Tensor
    variance: wt.Tensor
    noise: wt.Tensor


class Posterior(NamedTuple):
    """Means and standard deviations of the function, both of shape ``(points,)``."""

    mean: wt.Tensor
    deviation: wt.Tensor


def covariance(a: wt.Tensor, b: wt.Tensor, kernel: Kernel) -> wt.Tensor:
    """Return the covariances of the function's values at ``a`` and ``b``, numbers on a line."""
    return kernel.variance * wt.exp(-0.5 * ((wt.expand_dims(a, 1) - b) / kernel.length) ** 2)


def factorize(x: wt.Tensor, kernel: Kernel) -> wt.Tensor:
    """Return the Cholesky factor of the covariances of noisy observations at ``x``."""
    return wt.linalg.cholesky(covariance(x, x, kernel) + kernel.noise * wt.eye(x.shape[0]))


def predict(x: wt.Tensor, y: wt.Tensor, points: wt.Tensor, kernel: Kernel) -> Posterior:
    """Return what observations ``y`` at ``x`` say about the function at other points."""
    factor = factorize(x, kernel)
    cross = wt.linalg.solve(factor, covariance(x, points, kernel))
    whitened = wt.linalg.solve(factor, y)
    variance = kernel.variance - wt.sum(cross**2, axis=0)
    return Posterior(wt.matmul(whitened, cross), wt.sqrt(wt.maximum(variance, 0.0)))


def log_likelihood(logarithms: wt.Tensor, x: wt.Tensor, y: wt.Tensor) -> wt.Tensor:
    """Return log p(y | x) for the logarithms of the kernel's three parameters."""
    factor = factorize(x, Kernel(*wt.unstack(wt.exp(logarithms))))
    whitened = wt.linalg.solve(factor, y)
    log_determinant = 2.0 * wt.sum(wt.log(wt.linalg.diagonal(factor)))
    return -0.5 * (wt.sum(whitened**2) + log_determinant + x.shape[0] * math.log(2 * math.pi))


def fit(x: wt.Tensor, y: wt.Tensor, steps: int = 150) -> Kernel:
    """Find the kernel with the maximum likelihood by Adam on the logarithms of its parameters."""
    logarithms = wt.Variable(wt.log(wt.tensor([1.0, 1.0, 0.1])))
    optimizer = wt.optimizers.Adam(0.05)
    for _ in range(steps):
        optimizer.minimize(lambda: -log_likelihood(logarithms.value, x, y), [logarithms])
    return Kernel(*wt.unstack(wt.exp(logarithms.value)))


def main() -> LineChart:
    """Fit noisy values of a sine with a gap, and draw two standard deviations around the mean."""
    x = wt.concat([wt.linspace(-5.0, -1.0, 12), wt.linspace(2.0, 5.0, 8)])
    y = wt.sin(x) + wt.random_normal(x.shape, stddev=0.1, seed=3)
    kernel = fit(x, y)
    points = wt.linspace(-6.0, 6.0, 121)
    mean, deviation = predict(x, y, points, kernel)
    print(f"length scale {kernel.length.item():.2f}, noise {math.sqrt(kernel.noise.item()):.2f}")
    within = wt.abs(wt.sin(points) - mean) < 2.0 * deviation
    print(f"the sine is within the band at {wt.mean(wt.astype(within, 'float32')).item():.0%}")
    lines = {
        "mean": mean,
        "upper": mean + 2.0 * deviation,
        "lower": mean - 2.0 * deviation,
        "sine": wt.sin(points),
    }
    return wt.visor.render.line_chart(
        {
            name: list(zip(points.tolist(), values.tolist(), strict=True))
            for name, values in lines.items()
        },
        title="Gaussian process",
    )


if __name__ == "__main__":
    print(main())
