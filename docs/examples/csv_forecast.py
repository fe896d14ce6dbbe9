"""Forecasting from a table: its rows become windows, a model learns them, a chart compares.

The model predicts the temperature of the next day from those of the last two weeks.
"""

import math
from typing import NamedTuple

import webtensor as wt
from webtensor import keras
from webtensor.charts import LineChart

PAST = 14
TRAINING_DAYS = 500
#: Of the temperatures, roughly; models learn best from numbers near 0.
MEAN, SCALE = 10.0, 5.0


class Forecast(NamedTuple):
    """Temperatures of the days after the training, as measured and as predicted the day before."""

    measured: list[float]
    predicted: list[float]


def write_table(days: int) -> bytes:
    """Make up a table: the temperature has a slow and a weekly wave, and noise."""
    noise = wt.random_normal((days,), stddev=0.5, seed=1).tolist()
    rows = ["day,temperature"]
    for day in range(days):
        waves = 6.0 * math.sin(2 * math.pi * day / 90) + 2.0 * math.sin(2 * math.pi * day / 7)
        rows.append(f"{day},{MEAN + waves + noise[day]:.2f}")
    return "\n".join(rows).encode()


def windows(temperatures: wt.data.Dataset) -> wt.data.Dataset:
    """Return pairs: the temperatures of some days, and that of the next day."""
    days = temperatures.window(PAST + 1, shift=1, drop_remainder=True)
    batches = days.flat_map(lambda window: window.batch(PAST + 1))
    return batches.map(lambda window: (window[:PAST], window[PAST:]))


def train(table: bytes, epochs: int = 30) -> Forecast:
    """Learn from the first days of the table, and predict each of the others."""
    rows = wt.data.csv(table)
    temperatures = rows.map(lambda row: (row["temperature"] - MEAN) / SCALE).cache()
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.Input((PAST,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)]
    )
    model.compile(keras.optimizers.Adam(0.005), "mse")
    examples = windows(temperatures.take(TRAINING_DAYS)).cache()
    model.fit(examples.shuffle(TRAINING_DAYS, seed=1).batch(32), epochs=epochs, verbose=0)
    later = windows(temperatures.skip(TRAINING_DAYS - PAST))
    predicted = wt.tensor(model.predict(later.batch(64), verbose=0))
    measured = wt.stack([target[0] for _, target in later])
    return Forecast((measured * SCALE + MEAN).tolist(), (predicted[:, 0] * SCALE + MEAN).tolist())


def main() -> LineChart:
    """Compare with the guess that each day is like the day before, and draw the first 60 days."""
    measured, predicted = train(write_table(700))
    actual = wt.tensor(measured)
    error = wt.mean(wt.abs(actual - wt.tensor(predicted))).item()
    naive = wt.mean(wt.abs(wt.diff(actual))).item()
    print(f"mean error {error:.2f}; of the day before {naive:.2f}")
    return wt.visor.render.line_chart(
        {"measured": measured[:60], "predicted": predicted[:60]},
        title="Temperature",
        x_label="day",
    )


if __name__ == "__main__":
    print(main())
