"""How a network is described: a plain list of layers, the same for everyone who runs it.

`workloads/model.py` runs one with webtensor and `pages/bench/models.js` with TensorFlow.js;
`onnx_models.py` writes it into a file for onnxruntime-web. Batch norms are folded: a convolution
has a bias and an activation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from math import prod
from typing import Any

from tests_browser.bench.workload import Input, Shape

__all__ = ["Layer", "Model", "Sketch"]

BIAS = 0.1
LARGEST_SLOPE = 0.5


@dataclass(frozen=True)
class Layer:
    """One step of a network. Results are numbered as the layers are, from 1; 0 is the image."""

    op: str
    #: The numbers of the results that it takes.
    x: tuple[int, ...]
    #: The result's: (height, width, channels), or (units,).
    shape: Shape
    #: (height, width, channels, new channels or 1), or (units, new units).
    filter: Shape = ()
    stride: int = 1
    dilation: int = 1
    padding: str = "same"
    activation: str = "linear"
    #: How many channels of zeros are appended.
    more_channels: int = 0
    #: The numbers of the results that no later layer takes.
    frees: tuple[int, ...] = ()

    @property
    def multiplications(self) -> int:
        """How many products the result is the sums of: each weight's, once at each pixel."""
        return prod(self.shape[:-1]) * prod(self.filter) if self.filter else 0

    def parameters(self, number: int) -> dict[str, Input]:
        """Return the layer's weights, bias and slopes, drawn so that results stay near one."""
        arrays = {}
        if self.filter:
            summed = prod(self.filter[:2] if self.op == "depthwise_conv2d" else self.filter[:-1])
            variance = (1 if self.activation == "linear" else 2) / summed
            bound = (3 * variance) ** 0.5
            arrays[f"weights{number}"] = Input(self.filter, -bound, bound)
            arrays[f"bias{number}"] = Input(self.shape[-1:], -BIAS, BIAS)
        if self.activation == "prelu":
            arrays[f"slopes{number}"] = Input(self.shape[-1:], 0.0, LARGEST_SLOPE)
        return arrays


@dataclass(frozen=True)
class Model:
    """A network: what it predicts are the `outputs`, flattened and joined."""

    name: str
    described: str
    image: Input
    layers: tuple[Layer, ...]
    #: Numbers of results.
    outputs: tuple[int, ...]

    @property
    def inputs(self) -> dict[str, Input]:
        """What a prediction depends on: the image, then each layer's parameters."""
        tensors = {"image": self.image}
        for number, layer in enumerate(self.layers, 1):
            tensors.update(layer.parameters(number))
        return tensors

    def shape_of(self, number: int) -> Shape:
        """Return the shape of a result: (height, width, channels), or (units,)."""
        return self.layers[number - 1].shape if number else self.image.shape[1:]

    @property
    def multiplications(self) -> int:
        """How many products all layers need."""
        return sum(layer.multiplications for layer in self.layers)

    def plain(self) -> dict[str, Any]:
        """Return what JavaScript needs to know, as JSON's values."""
        return {"layers": [asdict(layer) for layer in self.layers], "outputs": self.outputs}


class Sketch:
    """A network being drawn up: each method appends a layer and returns its number."""

    def __init__(self, size: int) -> None:
        """Begin with a square image of three channels."""
        self.layers: list[Layer] = []
        self.shapes: list[Shape] = [(size, size, 3)]

    def conv2d(
        self, x: int, channels: int, activation: str = "linear", size: int = 1, stride: int = 1
    ) -> int:
        """Convolve with padding."""
        return self._append(
            "conv2d",
            (x,),
            (*self._strided(x, stride), channels),
            filter=(size, size, self.channels(x), channels),
            stride=stride,
            activation=activation,
        )

    def conv2d_of_all(self, x: int, channels: int) -> int:
        """Convolve with a filter that covers height and width."""
        height, width, before = self.shapes[x]
        filter = (height, width, before, channels)
        return self._append("conv2d", (x,), (1, 1, channels), filter=filter, padding="valid")

    def depthwise_conv2d(
        self, x: int, activation: str = "linear", stride: int = 1, dilation: int = 1
    ) -> int:
        """Convolve each channel with 3×3 weights, with padding."""
        return self._append(
            "depthwise_conv2d",
            (x,),
            (*self._strided(x, stride), self.channels(x)),
            filter=(3, 3, self.channels(x), 1),
            stride=stride,
            dilation=dilation,
            activation=activation,
        )

    def max_pool(self, x: int) -> int:
        """Take the maximum of each 2×2 pixels."""
        return self._append("max_pool", (x,), (*self._strided(x, 2), self.channels(x)))

    def pad_channels(self, x: int, more: int) -> int:
        """Append channels of zeros."""
        shape = (*self.shapes[x][:-1], self.channels(x) + more)
        return self._append("pad_channels", (x,), shape, more_channels=more)

    def add(self, x: int, other: int, activation: str = "linear") -> int:
        """Add two results."""
        return self._append("add", (x, other), self.shapes[x], activation=activation)

    def mean(self, x: int) -> int:
        """Average over height and width."""
        return self._append("mean", (x,), (self.channels(x),))

    def dense(self, x: int, units: int) -> int:
        """Multiply by a matrix."""
        return self._append("dense", (x,), (units,), filter=(*self.shapes[x], units))

    def channels(self, x: int) -> int:
        """How many channels a result has."""
        return self.shapes[x][-1]

    def model(self, name: str, described: str, outputs: Iterable[int]) -> Model:
        """Finish: now it is known which layer is the last that takes a result."""
        kept = {0, *outputs}
        last = {x: number for number, layer in enumerate(self.layers, 1) for x in layer.x}
        layers = tuple(
            replace(layer, frees=tuple(x for x in last if last[x] == number and x not in kept))
            for number, layer in enumerate(self.layers, 1)
        )
        return Model(name, described, Input((1, *self.shapes[0])), layers, tuple(outputs))

    def _strided(self, x: int, stride: int) -> Shape:
        return tuple(-(-length // stride) for length in self.shapes[x][:-1])

    def _append(self, op: str, x: tuple[int, ...], shape: Shape, **options: Any) -> int:
        self.layers.append(Layer(op, x, shape, **options))
        self.shapes.append(shape)
        return len(self.layers)
