"""A model forecasts a noisy wave from its last values; training ends when it gets no better."""

import math

from webtensor import keras
from webtensor.keras import layers, ops

PAST = 24


def windows(count, start):
    """Stretches of a wave with two periods, and the values after them."""
    times = ops.arange(start, start + count + PAST, dtype="float32")
    wave = ops.sin(times * (2 * math.pi / 24)) + 0.5 * ops.sin(times * (2 * math.pi / 7))
    places = ops.expand_dims(ops.arange(count), 1) + ops.arange(PAST)
    return ops.expand_dims(ops.take(wave, places, axis=0), -1), wave[PAST:]


def main(samples=1000, epochs=10, batch_size=64):
    """Train, and return the mean error on what comes later."""
    keras.utils.set_random_seed(1)
    inputs = keras.Input((PAST, 1))
    x = layers.LSTM(16)(inputs)
    model = keras.Model(inputs, layers.Dense(1)(x))
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
    stop = keras.callbacks.EarlyStopping(
        monitor="val_loss", min_delta=0, patience=3, restore_best_weights=True
    )
    model.fit(
        *windows(samples, 0),
        epochs=epochs,
        batch_size=batch_size,
        validation_data=windows(samples // 4, samples),
        callbacks=[stop],
        verbose=2,
    )
    return model.evaluate(*windows(samples // 4, 2 * samples), verbose=0)[1]


if __name__ == "__main__":
    print(main())
