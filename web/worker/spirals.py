"""Two spirals, and a network that learns which of them a place belongs to.

The same file runs in the page and in the worker: what differs is the canvas that it gets.
"""

import asyncio
from collections.abc import Callable
from math import cos, pi, sin
from time import perf_counter
from typing import Any

import webtensor as wt
from webtensor import keras
from webtensor.keras import layers

POINTS = 128  # of each spiral
TURNS = 1
EPOCHS = 60
SHOWN_EVERY = 5  # epochs
SIDE = 96  # pixels of the picture
COLOURS = ((0.04, 0.39, 0.81), (0.95, 0.55, 0.2))


def spirals() -> tuple[wt.Tensor, wt.Tensor]:
    """Return places of shape (256, 2) within the unit circle, and 0 or 1 for each."""
    places, labels = [], []
    for label in (0, 1):
        for point in range(POINTS):
            radius = 0.1 + 0.9 * point / POINTS
            angle = TURNS * 2 * pi * point / POINTS + label * pi
            places.append([radius * cos(angle), radius * sin(angle)])
            labels.append([float(label)])
    return wt.tensor(places), wt.tensor(labels)


def grid() -> wt.Tensor:
    """Return the places of the picture's pixels, row by row."""
    steps = wt.linspace(-1, 1, SIDE)
    columns, rows = wt.meshgrid(steps, steps)
    return wt.stack([wt.reshape(columns, (-1,)), wt.reshape(rows, (-1,))], axis=1)


def picture(network: keras.Model, places: wt.Tensor) -> wt.Tensor:
    """Return an image of what the network says of each place: one colour, the other, or between."""
    share = wt.reshape(network(places), (SIDE, SIDE, 1))
    first, second = (wt.tensor(colour) for colour in COLOURS)
    return share * second + (1 - share) * first


async def learn(backend: str, canvas: Any, report: Callable[[int, float, float], None]) -> None:
    """Learn, and draw what was learnt; `report` hears of epochs, accuracy and seconds."""
    wt.set_backend(backend)
    await wt.ready()
    keras.utils.set_random_seed(1)
    network = keras.Sequential(
        [
            keras.Input((2,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    network.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
    x, y = spirals()
    places = grid()
    began = perf_counter()
    for epoch in range(0, EPOCHS, SHOWN_EVERY):
        history = await network.fit_async(
            x, y, batch_size=64, initial_epoch=epoch, epochs=epoch + SHOWN_EVERY, verbose=0
        )
        wt.browser.draw(picture(network, places), canvas)
        accuracy = history.history["accuracy"][-1]
        report(epoch + SHOWN_EVERY, accuracy, perf_counter() - began)
        await asyncio.sleep(0)
