"""Quantized numbers: integers that stand for ``(integer - zero_point) * scale``.

Inside a model they are float32 numbers that are multiples of the scale. The inputs and outputs of
a model, and operators that look at the integers themselves, convert.
"""

from __future__ import annotations

from typing import NamedTuple

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats import tflite as format_
from webtensor.graph.operations import Row
from webtensor.graph.operations.arguments import attribute
from webtensor.ops.quantization import rounded_steps

__all__ = ["RANGES", "ROWS", "Grid", "grid_of", "quantization_of", "rounded"]

#: The integers of each dtype that can be quantized.
RANGES = {
    "int4": (-8, 7),
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
    "int32": (-(2**31), 2**31 - 1),
}


class Grid(NamedTuple):
    """The numbers that a quantized tensor can have: multiples of a scale between two bounds.

    Attributes:
        scale: the scale.
        low: the smallest multiple.
        high: the largest multiple.
        zero_point: the integer that stands for zero.
    """

    scale: float
    low: float
    high: float
    zero_point: int


def quantization_of(tensor: format_.Tensor) -> format_.Quantization | None:
    """Return how a tensor's integers stand for numbers, and None for other tensors."""
    return tensor.quantization if tensor.dtype in RANGES else None


def grid_of(tensor: format_.Tensor, where: str) -> Grid | None:
    """Return the grid of a quantized tensor that is computed, and None for others.

    Raises:
        ModelFormatError: it has several scales, one that is not positive, or a zero point that its
            dtype does not have.
    """
    quantization = quantization_of(tensor)
    if quantization is None:
        return None
    (scale, *others), zero_point = quantization.scales, quantization.zero_points[0]
    low, high = RANGES[tensor.dtype]
    if others or not 0 < scale < float("inf") or not low <= zero_point <= high:
        raise ModelFormatError(
            f"{where}: tensor {tensor.name!r:.200} is computed, but has the scales "
            f"{quantization.scales!s:.100} and the zero point {zero_point}"
        )
    return Grid(scale, float(low - zero_point), float(high - zero_point), zero_point)


def rounded(x: Tensor, grid: Grid) -> Tensor:
    """Return the numbers of a grid that are closest."""
    return rounded_steps(x, 1 / grid.scale, grid.low, grid.high, grid.scale)


def integers(x: Tensor, scale: float, low: float, high: float, zero_point: int) -> Tensor:
    """Return the integers that stand for numbers."""
    steps = rounded_steps(x, 1 / scale, low, high, 1.0)
    return ops.add(ops.astype(steps, "int32"), zero_point)


def numbers(x: Tensor, scale: float, zero_point: int) -> Tensor:
    """Return the numbers that integers stand for."""
    return ops.multiply(ops.astype(ops.subtract(x, zero_point), "float32"), scale)


_SCALE = {"scale": attribute("scale")}
_BOUNDS = {"low": attribute("low"), "high": attribute("high")}
_ZERO_POINT = {"zero_point": attribute("zero_point")}

ROWS = {
    "DequantizeLinear": Row(numbers, 0, **_SCALE, **_ZERO_POINT),
    "QuantizeLinear": Row(integers, 0, **_SCALE, **_BOUNDS, **_ZERO_POINT),
    "RoundToScale": Row(
        rounded_steps,
        0,
        attribute("factor"),
        attribute("low"),
        attribute("high"),
        attribute("scale"),
    ),
}
