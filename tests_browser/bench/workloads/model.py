"""Predictions of whole networks, layer by layer in fused ops; `models.js` is the peer's side."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import webtensor as wt
from tests_browser.bench.models import MODELS
from tests_browser.bench.network import Layer, Model
from tests_browser.bench.workload import (
    AND_ONNXRUNTIME,
    ON_THREADS,
    Workload,
)

__all__ = ["PREDICTIONS"]

Parameters = Sequence[wt.Tensor]

ACTIVATIONS: dict[str, Callable[..., wt.Tensor]] = {"relu": wt.relu, "prelu": wt.prelu}


def convolution(layer: Layer, parameters: Parameters) -> Callable[..., wt.Tensor]:
    """Return a convolution with its bias and activation."""
    filter, bias, *slopes = parameters
    convolve = partial(
        getattr(wt.fused, layer.op),
        filter=filter,
        strides=layer.stride,
        pad=layer.padding,
        dilations=layer.dilation,
        bias=bias,
        activation=layer.activation,
        prelu_activation_weights=slopes[0] if slopes else None,
    )
    if len(layer.x) == 1:
        return convolve
    return lambda x, other: convolve(x, residual=other)


def sum_of_two(layer: Layer, parameters: Parameters) -> Callable[..., wt.Tensor]:
    """Return the addition, with its activation."""
    if layer.activation == "linear":
        return wt.add
    activate = ACTIVATIONS[layer.activation]
    return lambda x, other: activate(wt.add(x, other), *parameters)


#: A layer's op: a function of results.
OPS: dict[str, Callable[[Layer, Parameters], Callable[..., wt.Tensor]]] = {
    "conv2d": convolution,
    "depthwise_conv2d": convolution,
    "max_pool": lambda layer, _: partial(wt.max_pool, filter_size=2, strides=2, pad="valid"),
    "pad_channels": lambda layer, _: partial(
        wt.pad, paddings=((0, 0), (0, 0), (0, 0), (0, layer.more_channels))
    ),
    "add": sum_of_two,
    "mean": lambda layer, _: partial(wt.mean, axis=(1, 2)),
    "dense": lambda layer, parameters: partial(
        wt.fused.mat_mul, b=parameters[0], bias=parameters[1]
    ),
}


def joined(model: Model) -> Iterator[tuple[int, Layer, tuple[int, ...]]]:
    """Yield layers with their numbers, and the numbers of those whose parameters they take.

    An addition right after a convolution without activation is done by the convolution.
    """
    layers = dict(enumerate(model.layers, 1))
    for number, layer in layers.items():
        following = layers.get(number + 1)
        if following is not None and _is_added(number, layer, following):
            continue
        before = layers.get(number - 1)
        if before is None or not _is_added(number - 1, before, layer):
            yield number, layer, (number,)
            continue
        (other,) = (x for x in layer.x if x != number - 1)
        frees = tuple(x for x in (*before.frees, *layer.frees) if x != number - 1)
        x = (*before.x, other)
        fused = replace(before, x=x, activation=layer.activation, frees=frees)
        yield number, fused, (number - 1, number)


def _is_added(number: int, layer: Layer, following: Layer) -> bool:
    is_plain = layer.op in ("conv2d", "depthwise_conv2d") and layer.activation == "linear"
    return following.op == "add" and is_plain and number in following.frees


def make_step(model: Model, image: wt.Tensor, **parameters: wt.Tensor) -> Callable[[], wt.Tensor]:
    """Return a function that predicts; the network is captured."""
    parameters_of = {
        number: [parameters[name] for name in layer.parameters(number)]
        for number, layer in enumerate(model.layers, 1)
    }
    steps = [
        (
            number,
            OPS[layer.op](layer, [tensor for index in indices for tensor in parameters_of[index]]),
            layer,
        )
        for number, layer, indices in joined(model)
    ]

    @wt.function
    def predict(image: wt.Tensor) -> wt.Tensor:
        results = {0: image}
        for number, op, layer in steps:
            results[number] = op(*[results[x] for x in layer.x])
            for x in layer.frees:
                del results[x]
        return wt.concat([wt.reshape(results[output], (-1,)) for output in model.outputs])

    return partial(predict, image)


def prediction(model: Model, threads: int, peers: Mapping[str, tuple[str, ...]]) -> Workload:
    """Time the prediction for one image."""
    parameters = ", ".join(model.inputs)
    return Workload(
        f"model.{model.name}",
        partial(make_step, model),
        f"models.makeStep(tf, {json.dumps(model.plain())}, {{ {parameters} }})",
        model.inputs,
        described=model.described,
        peers=peers,
        onnx=model.name,
        threads=threads,
        multiplications=model.multiplications,
        makes_step=True,
        watches_tasks=True,
    )


PREDICTIONS = [
    *(prediction(model, 1, AND_ONNXRUNTIME) for model in MODELS.values()),
    *(prediction(model, 2, ON_THREADS) for model in MODELS.values()),
]
