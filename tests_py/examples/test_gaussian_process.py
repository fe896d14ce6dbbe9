"""Gaussian processes against scikit-learn."""

import math

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import webtensor as wt
from docs.examples import gaussian_process

pytestmark = pytest.mark.usefixtures("backend")


def test_the_program_draws_a_chart(capsys: pytest.CaptureFixture[str]) -> None:
    chart = gaussian_process.main()
    assert chart.svg.startswith("<svg")
    assert "the sine is within the band at 97%" in capsys.readouterr().out


@pytest.mark.parametrize("length, variance, noise", [(1.0, 1.0, 0.1), (0.5, 2.0, 0.01)])
def test_against_scikit_learn(length: float, variance: float, noise: float) -> None:
    x = np.linspace(-3, 3, 15, dtype=np.float32)
    y = np.sin(2 * x)
    points = np.linspace(-5, 5, 31, dtype=np.float32)
    signal = ConstantKernel(variance) * RBF(length)
    expected = GaussianProcessRegressor(signal, alpha=noise, optimizer=None).fit(x[:, None], y)
    mean, deviation = expected.predict(points[:, None], return_std=True)
    parameters = wt.tensor([length, variance, noise])
    kernel = gaussian_process.Kernel(*wt.unstack(parameters))
    actual = gaussian_process.predict(wt.tensor(x), wt.tensor(y), wt.tensor(points), kernel)
    assert np.allclose(actual.mean.numpy(), mean, atol=1e-4)
    assert np.allclose(actual.deviation.numpy(), deviation, atol=1e-3)
    likelihood = gaussian_process.log_likelihood(wt.log(parameters), wt.tensor(x), wt.tensor(y))
    assert math.isclose(likelihood.item(), expected.log_marginal_likelihood_value_, abs_tol=2e-3)


def test_fit_finds_the_likeliest_kernel() -> None:
    x = np.linspace(-5, 5, 30, dtype=np.float32)
    y = (np.sin(x) + np.random.default_rng(1).normal(0, 0.2, x.shape)).astype(np.float32)
    signal = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.1)
    best = GaussianProcessRegressor(signal, alpha=0.0).fit(x[:, None], y)
    kernel = gaussian_process.fit(wt.tensor(x), wt.tensor(y))
    logarithms = wt.log(wt.stack(list(kernel)))
    likelihood = gaussian_process.log_likelihood(logarithms, wt.tensor(x), wt.tensor(y)).item()
    assert math.isclose(likelihood, best.log_marginal_likelihood_value_, abs_tol=0.01)
