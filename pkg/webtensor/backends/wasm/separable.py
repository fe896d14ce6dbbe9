"""Separable convolutions: a depthwise one and the pointwise one that reads it, in one kernel.

Some lines of the first are computed, and multiplied while the cache has them. That pays where the
first one's result does not fit the cache; where the pointwise filter is large, it does not, as
that would be read again for each block of lines.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, NamedTuple

from webtensor.backends.api import Elementwise
from webtensor.backends.fused_activations import ACTIVATION_NUMBERS
from webtensor.backends.programs import KernelCall, Program, with_calls
from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.contraction import PRODUCTS_AT_ONCE, epilogue_arguments
from webtensor.backends.wasm.convolution import depthwise_work
from webtensor.backends.wasm.descriptions import RESULT, Call, Description, Geometry, operands
from webtensor.backends.wasm.packed_weights import ROWS, packed_bytes
from webtensor.geometry import Window

__all__ = ["with_separable_convolutions"]

_DEPTHWISE: Final = ("depthwise_conv2d", "fused_depthwise_conv2d")
_POINTWISE: Final = ("conv2d", "fused_conv2d")

#: The minimum size of the depthwise convolution's result.
_MIN_BYTES: Final = 1 << 19
#: The maximum elements of a line of it, and the maximum size of the packed pointwise filter, for
#: which ``wasm_build/source/separable.c`` has room.
_MAX_LINE: Final = 1 << 15
_MAX_FILTER_BYTES: Final = 1 << 16


class _Depthwise(NamedTuple):
    """The first part: its window, its activation, and how many operands it has."""

    window: Window
    activation: Elementwise | None
    operands: int


def with_separable_convolutions(program: Program) -> Program:
    """Return the program with one call for a depthwise convolution and a pointwise one."""
    uses = Counter(program.results)
    for call in program.calls:
        uses.update(call.inputs)
    calls: list[KernelCall | None] = list(program.calls)
    for index, call in enumerate(program.calls):
        maker = call.inputs[0] - program.sources if call.kernel in _POINTWISE else -1
        if maker >= 0 and uses[call.inputs[0]] == 1:
            joined = _joined(program.calls[maker], call)
            if joined is not None:
                calls[maker], calls[index] = None, joined
    return with_calls(program, calls)


def _joined(depthwise: KernelCall, pointwise: KernelCall) -> KernelCall | None:
    """Return one call for both, or None where that is not possible or does not pay."""
    if depthwise.kernel not in _DEPTHWISE or depthwise.late is not None:
        return None
    window, *epilogue = depthwise.attributes
    activation = epilogue[0] if epilogue else None
    if len(depthwise.inputs) > 3 or (activation is not None and activation.parameters):
        return None
    mixing, *own_epilogue = pointwise.attributes
    filter = pointwise.signature.inputs[1]
    if (
        pointwise.late is not None
        or not mixing.only_mixes_channels
        or mixing.groups(filter.shape[2]) > 1
        or window.in_channels < window.out_channels
        or pointwise.signature.inputs[0].shape != depthwise.signature.shape
        or depthwise.signature.bytes < _MIN_BYTES
        or window.out_width * window.out_channels > _MAX_LINE
        or packed_bytes(window.out_channels, mixing.out_channels, ROWS) > _MAX_FILTER_BYTES
    ):
        return None
    first = _Depthwise(window, activation, len(depthwise.inputs))
    inputs = depthwise.signature.inputs + pointwise.signature.inputs[1:]
    return KernelCall(
        "separable_conv2d",
        depthwise.inputs + pointwise.inputs[1:],
        pointwise.signature._replace(inputs=inputs),
        (first, *own_epilogue),
    )


@kernel("separable_conv2d")
def separable_conv2d(of: Signature, depthwise: _Depthwise, *epilogue: Any) -> Description:
    """Convolve each channel, then mix the channels of each pixel."""
    window, activation, count = depthwise
    x, filter, *bias = operands(of)[:count]
    pointwise, *own_operands = operands(of)[count:]
    arguments = (
        x,
        filter,
        bias[0] if bias else 0,
        ACTIVATION_NUMBERS[activation.name if activation else None],
        pointwise,
        RESULT,
        Geometry(window.numbers),
        of.shape[-1],
        *epilogue_arguments(own_operands, *epilogue),
    )
    work = depthwise_work(window) + of.size * window.out_channels / PRODUCTS_AT_ONCE
    return Description(of.bytes, (Call(("separable_conv2d",), arguments, work, True),))
