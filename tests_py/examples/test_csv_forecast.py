"""Forecasts of a table against least squares and the noise of the data."""

from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import webtensor as wt
from docs.examples import csv_forecast

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(autouse=True)
def single_thread() -> Iterator[None]:
    """Compute in one thread: for matrices this small, threads only wait for each other."""
    with threadpool_limits(1):
        yield


def test_the_program_draws_a_chart(capsys: pytest.CaptureFixture[str]) -> None:
    chart = csv_forecast.main()
    assert "of the day before 1.20" in capsys.readouterr().out
    assert [len(series.points) for series in chart.series] == [60, 60]


def test_windows_are_followed_by_the_next_day() -> None:
    pairs = csv_forecast.windows(wt.data.Dataset.range(17)).to_list()
    assert [(past.tolist(), following.tolist()) for past, following in pairs] == [
        (list(range(start, start + 14)), [start + 14]) for start in range(3)
    ]


def test_forecasts_are_nearly_as_good_as_of_linear_regression() -> None:
    table = csv_forecast.write_table(700)
    values = np.array([float(row.split(b",")[1]) for row in table.splitlines()[1:]])
    past = np.lib.stride_tricks.sliding_window_view(values[:-1], csv_forecast.PAST)
    past = np.column_stack([past, np.ones(len(past))])
    following = values[csv_forecast.PAST :]
    first = csv_forecast.TRAINING_DAYS - csv_forecast.PAST
    weights = np.linalg.lstsq(past[:first], following[:first])[0]
    linear = np.mean(np.abs(past[first:] @ weights - following[first:]))

    measured, predicted = csv_forecast.train(table)
    assert np.allclose(measured, following[first:], atol=1e-4)
    error = np.mean(np.abs(np.subtract(measured, predicted)))
    assert error < 1.2 * linear
