"""The network of Keras's MNIST example, without its dropout; `mnist.js` is the peer's side."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import webtensor as wt
from tests_browser.bench import training
from tests_browser.bench.training import weights_of
from tests_browser.bench.workload import Input

__all__ = ["IMAGES", "STEP_INPUTS", "make_step"]

IMAGES = Input((128, 28, 28, 1), 0.0, 1.0)
FEATURES = 5 * 5 * 64
WEIGHTS: Mapping[str, Input] = {
    "filter1": weights_of((3, 3, 1, 32), 9),
    "bias1": Input((32,), -0.1, 0.1),
    "filter2": weights_of((3, 3, 32, 64), 288),
    "bias2": Input((64,), -0.1, 0.1),
    "weights3": weights_of((FEATURES, 10), FEATURES),
    "bias3": Input((10,), -0.1, 0.1),
}
STEP_INPUTS = training.step_inputs(IMAGES, WEIGHTS)


def make_step(
    images: wt.Tensor, classes: wt.Tensor, **weights: wt.Tensor
) -> Callable[[], wt.Tensor]:
    """Return a function that takes one step of training and returns its loss."""
    filter1, bias1, filter2, bias2, weights3, bias3 = map(wt.Variable, weights.values())

    def network(images: wt.Tensor) -> wt.Tensor:
        x = wt.relu(wt.conv2d(images, filter1, strides=1, pad="valid") + bias1)
        x = wt.max_pool(x, 2)
        x = wt.relu(wt.conv2d(x, filter2, strides=1, pad="valid") + bias2)
        x = wt.max_pool(x, 2)
        return wt.reshape(x, (-1, FEATURES)) @ weights3 + bias3

    return training.make_step(network, images, classes)
