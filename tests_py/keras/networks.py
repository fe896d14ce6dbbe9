"""Networks of ``keras.applications`` as Keras builds them, without waiting for its initializers.

Keras on JAX compiles an initializer for each shape, which takes up to half a minute for a network.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import jax
import keras
import numpy as np
from keras.src.backend import Variable

import webtensor as wt
from webtensor import keras as ours, ops

#: Networks that refuse images of 32 x 32 pixels, by the beginning of their names.
_MINIMUM_SHAPES = {"Inception": (75, 75, 3), "Xception": (71, 71, 3)}


def smallest_shape(name: str) -> tuple[int, int, int]:
    """The shape of the smallest images that a network accepts."""
    shapes = (shape for start, shape in _MINIMUM_SHAPES.items() if name.startswith(start))
    return next(shapes, (32, 32, 3))


def described(network: str, /, **arguments: Any) -> Any:
    """Keras's network whose weights have no values."""
    keras.backend.clear_session()
    with keras.StatelessScope(initialize_variables=False):
        return getattr(keras.applications, network)(**arguments)


def built(network: str, /, **arguments: Any) -> Any:
    """Our network, with the numbers in names starting anew."""
    ours.utils.clear_session()
    return getattr(ours.applications, network)(**arguments)


def outlined(network: str, /, **arguments: Any) -> Any:
    """Our network whose kernels are zeros: drawing them takes longer than all else."""

    def zeros(shape: Any, *_: Any) -> wt.Tensor:
        return wt.zeros(shape)

    with patch.multiple(ops, random_normal=zeros, random_uniform=zeros, truncated_normal=zeros):
        return built(network, **arguments)


@contextmanager
def numpy_initializers() -> Iterator[None]:
    """Within the ``with``, NumPy draws kernels; biases and the like begin as Keras says."""
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal(1_000_003, "float32")

    def initialize(variable: Any, initializer: Any) -> None:
        shape = variable._shape
        if len(shape) < 2:
            config = initializer.get_config() if hasattr(initializer, "get_config") else {}
            start = 1.0 if type(initializer).__name__ == "Ones" else config.get("value", 0.0)
            value = np.full(shape, start)
        else:
            is_depthwise = len(shape) == 4 and shape[0] > 1 and shape[3] == 1
            inputs = shape[:2] if is_depthwise else shape[:-1]
            scale = (2 / np.prod(inputs)) ** 0.5
            value = np.resize(numbers[rng.integers(100_000) :], shape) * scale
        variable._initialize(variable._convert_to_tensor(value, variable.dtype))

    with patch.object(Variable, "_initialize_with_initializer", initialize):
        yield


def randomize(model: Any) -> None:
    """Change biases, factors and statistics, which begin as ones and zeros."""
    rng = np.random.default_rng(1)
    for weight in model.weights:
        if weight.path.endswith(("variance", "moving_variance")):
            weight.assign(rng.uniform(0.5, 1.5, weight.shape))
        elif len(weight.shape) == 1:
            weight.assign(np.asarray(weight) + 0.1 * rng.normal(size=weight.shape))
    for layer in model.layers:
        if isinstance(layer, keras.layers.Normalization):
            layer.finalize_state()  # it computes with what this makes of its statistics


def calibrate(model: Any, images: Any) -> None:
    """Give batch normalization images' statistics, so that signals neither fade nor explode.

    The mean of all channels' variances is added to each: channels that hardly vary would be made
    large, and with them what is rounded.
    """
    layers = model._flatten_layers(include_self=False)
    normalizations = [
        layer for layer in layers if isinstance(layer, keras.layers.BatchNormalization)
    ]
    momenta = [layer.momentum for layer in normalizations]
    for layer in normalizations:
        layer.momentum = 0.0
    trained = jax.jit(partial(model.stateless_call, training=True))
    values = [
        [variable.value for variable in variables]
        for variables in (model.trainable_variables, model.non_trainable_variables)
    ]
    _, statistics = trained(*values, images)
    for variable, value in zip(model.non_trainable_variables, statistics, strict=True):
        is_variance = variable.path.endswith("moving_variance")
        variable.assign(value + value.mean() if is_variance else value)
    for layer, momentum in zip(normalizations, momenta, strict=True):
        layer.momentum = momentum
