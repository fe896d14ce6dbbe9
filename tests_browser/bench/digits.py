"""The digits page's network as a workload; `digits.js` beside the page is the same for the peer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import webtensor as wt
from tests_browser.bench.workload import Input, Shape
from web.digits.model import DigitsNetwork

__all__ = ["IMAGES", "STEP_INPUTS", "WEIGHTS", "make_step", "network_of"]

LEARNING_RATE = 0.005  # also in digits.js
BATCH = 64


def _weights(shape: Shape, inputs: int) -> Input:
    """Weights small enough that the sums of `inputs` products stay near one."""
    return Input(shape, -((3 / inputs) ** 0.5), (3 / inputs) ** 0.5)


IMAGES = Input((BATCH, 8, 8, 1), 0.0, 16.0)
WEIGHTS: Mapping[str, Input] = {
    "filter1": _weights((3, 3, 1, 16), 9),
    "bias1": Input((16,), -0.1, 0.1),
    "filter2": _weights((3, 3, 16, 32), 144),
    "bias2": Input((32,), -0.1, 0.1),
    "weights3": _weights((512, 64), 512),
    "bias3": Input((64,), -0.1, 0.1),
    "weights4": _weights((64, 10), 64),
    "bias4": Input((10,), -0.1, 0.1),
}
STEP_INPUTS: Mapping[str, Input] = {
    "images": IMAGES,
    "classes": Input((BATCH,), 0.0, 10.0),  # their integer part counts
    **WEIGHTS,
}


def network_of(**weights: wt.Tensor) -> DigitsNetwork:
    """Return the network with these weights, without drawing random ones first."""
    network = object.__new__(DigitsNetwork)
    vars(network).update((name, wt.Variable(value)) for name, value in weights.items())
    return network


def make_step(
    images: wt.Tensor, classes: wt.Tensor, **weights: wt.Tensor
) -> Callable[[], wt.Tensor]:
    """Return a function that takes one step of Adam on a batch and returns its loss."""
    network = network_of(**weights)
    labels = wt.one_hot(wt.astype(wt.floor(classes), wt.int32), 10)
    optimizer = wt.optimizers.Adam(LEARNING_RATE)

    def loss() -> wt.Tensor:
        return wt.softmax_cross_entropy(labels, network(images))

    return lambda: optimizer.minimize(loss)
