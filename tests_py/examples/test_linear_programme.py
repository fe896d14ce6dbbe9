"""Linear programmes against SciPy."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import webtensor as wt
from docs.examples import linear_programme

pytestmark = pytest.mark.usefixtures("backend")


def test_the_program_draws_a_chart(capsys: pytest.CaptureFixture[str]) -> None:
    chart = linear_programme.main()
    assert chart.svg.startswith("<svg")
    assert "profit 36.00" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(3))
def test_against_scipy(seed: int) -> None:
    generator = np.random.default_rng(seed)
    a = generator.uniform(0.1, 1, (6, 4)).astype(np.float32)
    b = generator.uniform(1, 2, 6).astype(np.float32)
    c = -generator.uniform(0.5, 1, 4).astype(np.float32)
    expected = linprog(c, A_ub=a, b_ub=b)
    x, y, errors = linear_programme.solve(wt.tensor(a), wt.tensor(b), wt.tensor(c))
    assert errors[-1] < 1e-4
    assert math.isclose(float(c @ x.numpy()), expected.fun, abs_tol=1e-3)
    assert math.isclose(float(-b @ y.numpy()), expected.fun, abs_tol=1e-3)
    assert np.all(a @ x.numpy() <= b + 1e-3)
