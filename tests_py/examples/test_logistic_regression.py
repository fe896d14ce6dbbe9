"""Logistic regression against scikit-learn."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import webtensor as wt
from docs.examples import logistic_regression

pytestmark = pytest.mark.usefixtures("backend")


def test_the_program_draws_a_chart(capsys: pytest.CaptureFixture[str]) -> None:
    chart = logistic_regression.main()
    assert chart.svg.startswith("<svg")
    assert "accuracy 0.850" in capsys.readouterr().out


@pytest.mark.parametrize("penalty", [0.01, 0.1])
def test_against_scikit_learn(penalty: float) -> None:
    x = load_iris().data.astype(np.float32)[50:]
    x = (x - x.mean(0)) / x.std(0)
    y = load_iris().target[50:] - 1
    expected = LogisticRegression(C=1 / (penalty * len(x)), tol=1e-8).fit(x, y)
    actual = logistic_regression.fit(wt.tensor(x), wt.tensor(y, dtype="float32"), penalty)
    assert np.allclose(actual.weights.numpy(), expected.coef_[0], atol=2e-3)
    assert math.isclose(actual.bias.item(), expected.intercept_[0], abs_tol=2e-3)
    probabilities = logistic_regression.probabilities(wt.tensor(x), actual).numpy()
    assert np.allclose(probabilities, expected.predict_proba(x)[:, 1], atol=1e-3)
    assert actual.losses[-1] < actual.losses[0] == pytest.approx(math.log(2))
