"""Two spirals, and a network that learns which of them a point belongs to.

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


def spiral(label: int) -> list[tuple[float, float]]:
    """Return the points of one of the spirals, all well within the unit circle."""
    points = []
    for index in range(POINTS):
        radius = 0.1 + 0.85 * index / POINTS
        angle = TURNS * 2 * pi * index / POINTS + label * pi
        points.append((radius * cos(angle), radius * sin(angle)))
    return points


def data_set() -> tuple[wt.Tensor, wt.Tensor]:
    """Return the points of both spirals, of shape (256, 2), and 0 or 1 for each."""
    points = [*spiral(0), *spiral(1)]
    labels = [[float(index >= POINTS)] for index in range(len(points))]
    return wt.tensor(points), wt.tensor(labels)


def grid() -> wt.Tensor:
    """Return the points that the picture's pixels stand for, row by row."""
    steps = wt.linspace(-1, 1, SIDE)
    columns, rows = wt.meshgrid(steps, steps)
    return wt.stack([wt.reshape(columns, (-1,)), wt.reshape(rows, (-1,))], axis=1)


def picture(network: keras.Model, points: wt.Tensor) -> wt.Tensor:
    """Return an image of what the network says of each point: one colour, the other, or between."""
    share = wt.reshape(network(points), (SIDE, SIDE, 1))
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
    x, y = data_set()
    pixels = grid()
    began = perf_counter()
    for epoch in range(0, EPOCHS, SHOWN_EVERY):
        history = await network.fit_async(
            x, y, batch_size=64, initial_epoch=epoch, epochs=epoch + SHOWN_EVERY, verbose=0
        )
        wt.browser.draw(picture(network, pixels), canvas)
        accuracy = history.history["accuracy"][-1]
        report(epoch + SHOWN_EVERY, accuracy, perf_counter() - began)
        await asyncio.sleep(0)
