"""The distinct convolutions of MobileNet v1 and v2, with their biases and activations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial

import webtensor as wt
from tests_browser.bench.models import MODELS
from tests_browser.bench.network import Layer
from tests_browser.bench.workload import Input, Shape, Workload
from tests_browser.bench.workloads.model import convolution

__all__ = ["LAYERS"]


def convolutions(*names: str) -> Iterator[tuple[Shape, Layer]]:
    """Yield the shape of what is convolved and the layer, wherever in a network it stands."""
    for model in map(MODELS.__getitem__, names):
        for layer in model.layers:
            if layer.op in ("conv2d", "depthwise_conv2d"):
                yield model.shape_of(layer.x[0]), replace(layer, x=(0,), frees=())


def make_step(
    layer: Layer, image: wt.Tensor, weights: wt.Tensor, bias: wt.Tensor
) -> Callable[[], wt.Tensor]:
    """Return a function that convolves the image."""
    return partial(convolution(layer, [weights, bias]), image)


def single(shape: Shape, layer: Layer) -> Workload:
    """Time a layer."""
    image = Input((1, *shape))
    weights, bias = layer.parameters(1).values()
    return Workload(
        f"layer.{layer.op}",
        partial(make_step, layer),
        f"models.makeLayer(tf, {json.dumps(asdict(layer))}, image, weights, bias)",
        {"image": image, "weights": weights, "bias": bias},
        described=f"{image} {weights} stride {layer.stride} {layer.activation}",
        makes_step=True,
        multiplications=layer.multiplications,
    )


DISTINCT = dict.fromkeys(convolutions("mobilenet_v1", "mobilenet_v2"))
LAYERS = [single(*layer) for layer in DISTINCT]
