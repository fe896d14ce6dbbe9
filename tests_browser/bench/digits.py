"""The digits page's network as a workload; `digits.js` beside the page is the same for the peer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import webtensor as wt
from tests_browser.bench import training
from tests_browser.bench.training import weights_of
from tests_browser.bench.workload import Input
from web.digits.model import digits_network
from webtensor import keras

__all__ = ["IMAGES", "STEP_INPUTS", "WEIGHTS", "make_step", "network_of"]

IMAGES = Input((64, 8, 8, 1), 0.0, 16.0)
WEIGHTS: Mapping[str, Input] = {
    "filter1": weights_of((3, 3, 1, 16), 9),
    "bias1": Input((16,), -0.1, 0.1),
    "filter2": weights_of((3, 3, 16, 32), 144),
    "bias2": Input((32,), -0.1, 0.1),
    "weights3": weights_of((512, 64), 512),
    "bias3": Input((64,), -0.1, 0.1),
    "weights4": weights_of((64, 10), 64),
    "bias4": Input((10,), -0.1, 0.1),
}
STEP_INPUTS = training.step_inputs(IMAGES, WEIGHTS)


def network_of(**weights: wt.Tensor) -> keras.Sequential:
    """Return the network with these weights."""
    network = digits_network()
    network.set_weights(weights.values())
    return network


def make_step(
    images: wt.Tensor, classes: wt.Tensor, **weights: wt.Tensor
) -> Callable[[], wt.Tensor]:
    """Return a function that takes one step of training and returns its loss."""
    return training.make_step(network_of(**weights), images, classes)
