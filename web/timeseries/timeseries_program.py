"""A network learns to forecast a column of a table, and is compared with a naive guess."""

from statistics import fmean, pstdev

from forecast_stage import Stage, chosen_network, read_column
from program import frames

import webtensor as wt
from webtensor import keras

PAST = 28  # the rows that a forecast is made from
AHEAD = 28  # the rows after the table's end that are forecast
EPOCHS = 50

values = await read_column()
held_out = len(values) // 5  # the network does not learn from these
mean, scale = fmean(values[:-held_out]), pstdev(values[:-held_out]) or 1.0
series = wt.tensor([(value - mean) / scale for value in values])


def windows(rows, **options):
    """Return a data set of PAST rows and the one after them."""
    return keras.utils.timeseries_dataset_from_array(rows[:-1], rows[PAST:], PAST, **options)


def changes(past, following):
    """Count from the last row of the past, so that the level of the numbers is no matter."""
    return past - past[:, -1:], following - past[:, -1]


layers = keras.layers
sequence = layers.Reshape((PAST, 1))
networks = {
    "Dense": [layers.Dense(64, "relu")],
    "Conv1D": [sequence, layers.Conv1D(16, 7, activation="relu"), layers.Flatten()],
    "GRU": [sequence, layers.GRU(24)],
}
keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((PAST,)), *networks[chosen_network()], layers.Dense(1)])
model.compile(keras.optimizers.Adam(0.003), "mae")


def next_rows(past):
    """Return the row after each past, as a column."""
    return past[:, -1:] + model(past - past[:, -1:])


examples = windows(series[:-held_out], batch_size=32, shuffle=True, seed=1).map(changes)
[(pasts, _)] = windows(series[-held_out - PAST :], batch_size=held_out)
stage = Stage(values, held_out)
async for epoch in frames():
    history = await model.fit_async(examples, epochs=1, verbose=0)
    loss = history.history["loss"][0] * scale
    fit = next_rows(pasts)[:, 0] * scale + mean
    future = series[None, -PAST:]
    for _ in range(AHEAD):
        future = wt.concat([future[:, 1:], next_rows(future)], axis=1)
    await stage.show(epoch + 1, loss, fit, future[0, -AHEAD:] * scale + mean)
    if epoch + 1 == EPOCHS:
        break
