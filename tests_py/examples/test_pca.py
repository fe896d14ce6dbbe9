"""Principal component analysis against scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA

import webtensor as wt
from docs.examples import pca

pytestmark = pytest.mark.usefixtures("backend")


def test_the_program_draws_a_chart(capsys: pytest.CaptureFixture[str]) -> None:
    chart = pca.main()
    assert chart.svg.startswith("<svg")
    assert "error of two components: 0.019" in capsys.readouterr().out


@pytest.mark.parametrize("count", [1, 2, 4])
def test_against_scikit_learn(count: int) -> None:
    x = load_iris().data.astype(np.float32)
    expected = PCA(count).fit(x)
    actual = pca.fit(wt.tensor(x), count)
    directions = actual.directions.numpy()
    signs = np.sign(np.sum(directions * expected.components_, axis=1))
    assert np.allclose(signs[:, None] * directions, expected.components_, atol=1e-4)
    assert np.allclose(actual.variances.numpy(), expected.explained_variance_, rtol=1e-4)
    coordinates = pca.project(wt.tensor(x), actual)
    assert np.allclose(signs * coordinates.numpy(), expected.transform(x), atol=1e-4)
    again = expected.inverse_transform(expected.transform(x))
    assert np.allclose(pca.reconstruct(coordinates, actual).numpy(), again, atol=1e-4)
