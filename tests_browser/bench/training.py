"""A step of training a classifier; `training.js` beside the page is the same for the peer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import webtensor as wt
from tests_browser.bench.workload import Input, Shape

__all__ = ["CLASSES", "make_step", "step_inputs", "weights_of"]

LEARNING_RATE = 0.005  # also in training.js
CLASSES = 10  # likewise


def weights_of(shape: Shape, inputs: int) -> Input:
    """Weights small enough that the sums of `inputs` products stay near one."""
    return Input(shape, -((3 / inputs) ** 0.5), (3 / inputs) ** 0.5)


def step_inputs(images: Input, weights: Mapping[str, Input]) -> Mapping[str, Input]:
    """Return what `make_step` takes."""
    classes = Input(images.shape[:1], 0.0, float(CLASSES))  # their integer part counts
    return {"images": images, "classes": classes, **weights}


def make_step(
    network: Callable[[wt.Tensor], wt.Tensor], images: wt.Tensor, classes: wt.Tensor
) -> Callable[[], wt.Tensor]:
    """Return a function that takes one step of Adam on a batch and returns its loss."""
    labels = wt.one_hot(wt.astype(wt.floor(classes), wt.int32), CLASSES)
    optimizer = wt.optimizers.Adam(LEARNING_RATE)

    def loss() -> wt.Tensor:
        return wt.softmax_cross_entropy(labels, network(images))

    return lambda: optimizer.minimize(loss)
