"""Training and prediction in slices so short that the page stays live.

Ops only enqueue work, and `await tensor.data()` waits for their result without blocking the page.
`await asyncio.sleep(0)` gives the page its turn: it handles the mouse, paints if a frame is due,
and comes back at once. (`await wt.next_frame()` would always wait for the next frame, which halves
the speed where a step takes less than a frame.)
"""

import asyncio
from collections.abc import AsyncIterator
from math import cos, pi
from random import Random
from time import perf_counter
from typing import NamedTuple

from data import CLASSES, Digits
from model import DigitsNetwork

import webtensor as wt

BATCH = 64
EPOCHS = 12
LEARNING_RATE = 0.008
SHUFFLE_SEED = 1


class Step(NamedTuple):
    """What one step of training did."""

    number: int  # from 1
    of: int
    ends_epoch: int | None  # the number of the epoch, from 1, whose last step this is
    loss: float
    milliseconds: float  # for which the step kept the page's thread busy


async def train(network: DigitsNetwork, digits: Digits, epochs: int) -> AsyncIterator[Step]:
    """Fit the network to the digits by Adam, and yield after every step."""
    optimizer = wt.optimizers.Adam()
    random = Random(SHUFFLE_SEED)
    order = list(range(len(digits)))
    per_epoch = len(digits) // BATCH
    total = epochs * per_epoch

    for number in range(total):
        position = number % per_epoch
        if position == 0:
            random.shuffle(order)
        chosen = order[position * BATCH : (position + 1) * BATCH]

        started = perf_counter()
        images = wt.take(digits.images, chosen, axis=0)
        labels = wt.one_hot([digits.labels[index] for index in chosen], CLASSES)
        optimizer.learning_rate = LEARNING_RATE * (1 + cos(pi * number / total)) / 2
        loss = train_on_batch(network, optimizer, images, labels)
        milliseconds = (perf_counter() - started) * 1000

        (value,) = await loss.data()
        ends_epoch = number // per_epoch + 1 if position == per_epoch - 1 else None
        yield Step(number + 1, total, ends_epoch, value, milliseconds)
        await asyncio.sleep(0)


async def warm_up(digits: Digits) -> None:
    """Train another network for one step, so that a GPU's shaders are compiled before Start."""
    batch = Digits(*(part[:BATCH] for part in digits))
    async for _ in train(DigitsNetwork(), batch, epochs=1):
        pass


def train_on_batch(
    network: DigitsNetwork, optimizer: wt.optimizers.Optimizer, images: wt.Tensor, labels: wt.Tensor
) -> wt.Tensor:
    """Take one step along the gradient, and return the loss before it."""
    return optimizer.minimize(lambda: wt.softmax_cross_entropy(labels, network(images)))


async def predict(network: DigitsNetwork, images: wt.Tensor) -> list[int]:
    """Return the most likely class of each image."""
    predictions: list[int] = []
    for start in range(0, len(images), BATCH):
        logits = network(images[start : start + BATCH])
        predictions += await wt.argmax(logits, axis=1).data()
        await asyncio.sleep(0)
    return predictions


async def probabilities(network: DigitsNetwork, image: wt.Tensor) -> list[float]:
    """Return the probability of each class for one image of shape (1, 8, 8, 1)."""
    return list(await wt.softmax(network(image)).data())
