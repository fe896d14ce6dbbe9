"""Training and prediction beside a page that stays live.

`fit_async` gives the page its turn while it waits for the device; a live guess meanwhile calls the
network as it is, which only enqueues work, and awaits the result.
"""

from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

from data import Digits
from model import digits_network

import webtensor as wt
from webtensor import keras

BATCH = 64
EPOCHS = 12
LEARNING_RATE = 0.008
SHUFFLE_SEED = 1


class Step(NamedTuple):
    """What one step of training did."""

    number: int  # from 1
    of: int
    loss: float


class StepReports(keras.callbacks.Callback):
    """Reports each step; training ends where the report says so by returning True."""

    def __init__(self, report: Callable[[Step], bool | None], digits: int, steps: int) -> None:
        """Call `report`; `digits` is the size of an epoch, `steps` the number of steps of all."""
        super().__init__()
        self.report = report
        self.digits = digits
        self.steps = steps
        self.number = 0
        self.loss_sum = 0.0  # of the epoch's digits

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        """Begin a new mean."""
        self.loss_sum = 0.0

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
        """Report the step; its loss is what it added to the mean of the epoch's steps."""
        assert logs is not None
        self.number += 1
        count = min((batch + 1) * BATCH, self.digits)
        total = logs["loss"] * count
        loss = (total - self.loss_sum) / (count - batch * BATCH)
        self.loss_sum = total
        if self.report(Step(self.number, self.steps, loss)):
            self.model.stop_training = True


async def train(
    network: keras.Sequential,
    digits: Digits,
    epochs: int,
    report: Callable[[Step], bool | None] = lambda step: None,
) -> AsyncIterator[int]:
    """Fit the network by Adam, and yield the number of each finished epoch, from 1."""
    total = epochs * -(-len(digits) // BATCH)
    network.compile(
        keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(LEARNING_RATE, total)),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    reports = StepReports(report, len(digits), total)
    keras.utils.set_random_seed(SHUFFLE_SEED)
    for epoch in range(epochs):
        await network.fit_async(
            digits.images,
            wt.tensor(digits.labels),
            batch_size=BATCH,
            initial_epoch=epoch,
            epochs=epoch + 1,
            verbose=0,
            callbacks=[reports],
        )
        if network.stop_training:
            return
        yield epoch + 1


async def warm_up(digits: Digits) -> None:
    """Train another network for one step, so that a GPU's shaders are compiled before Start."""
    batch = Digits(*(part[:BATCH] for part in digits))
    async for _ in train(digits_network(), batch, epochs=1):
        pass


async def predict(network: keras.Sequential, images: wt.Tensor) -> list[int]:
    """Return the most likely class of each image."""
    logits = await network.predict_async(images, batch_size=BATCH, verbose=0)
    return list(await keras.ops.argmax(logits, axis=1).data())


async def probabilities(network: keras.Sequential, image: wt.Tensor) -> list[float]:
    """Return the probability of each class for one image of shape (1, 8, 8, 1)."""
    return list(await keras.ops.softmax(network(image)).data())
