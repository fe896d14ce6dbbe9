"""The table of workloads. Adding one is adding a row.

It is imported in the page, where the rows run, and outside, where they are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import webtensor as wt
from tests_browser.bench import digits
from tests_browser.bench.workload import AND_CPU, CPU_FOR_WASM, Input, Shape, Timed, Workload

__all__ = ["WORKLOADS"]

# -- overhead: what a call costs besides arithmetic -----------------------------------------------

TINY = Input((4, 4))


def overhead(
    name: str, ours: Callable[..., wt.Tensor], theirs: str, inputs: Mapping[str, Input]
) -> Workload:
    """Time an op on 4×4 tensors until the browser has its commands."""
    return Workload(f"overhead.{name}", ours, theirs, inputs, timed=Timed.ENQUEUE, peers=AND_CPU)


OVERHEAD = [
    overhead("add", wt.add, "tf.add(a, b)", {"a": TINY, "b": TINY}),
    overhead("relu", wt.relu, "tf.relu(x)", {"x": TINY}),
    overhead("matmul", wt.matmul, "tf.matMul(a, b)", {"a": TINY, "b": TINY}),
    overhead("sum", wt.sum, "tf.sum(x)", {"x": TINY}),
    overhead("softmax", wt.softmax, "tf.softmax(x)", {"x": TINY}),
]

# -- matrix products ------------------------------------------------------------------------------

MATMUL = [
    Workload("matmul", wt.matmul, "tf.matMul(a, b)", {"a": Input((n, n)), "b": Input((n, n))})
    for n in (128, 256, 512, 1024)
]

# -- convolutions: the distinct layers of MobileNet v1 at 224×224 ---------------------------------

#: height and width, input channels, output channels
POINTWISE_LAYERS = [
    (112, 32, 64),
    (56, 64, 128),
    (56, 128, 128),
    (28, 128, 256),
    (28, 256, 256),
    (14, 256, 512),
    (14, 512, 512),
    (7, 512, 1024),
    (7, 1024, 1024),
]
#: height and width, channels, stride
DEPTHWISE_LAYERS = [
    (112, 32, 1),
    (112, 64, 2),
    (56, 128, 1),
    (56, 128, 2),
    (28, 256, 1),
    (28, 256, 2),
    (14, 512, 1),
    (14, 512, 2),
    (7, 1024, 1),
]


def conv2d(size: int, filter: Shape, stride: int = 1) -> Workload:
    """Time a convolution whose padding keeps the size."""
    x, w = Input((1, size, size, filter[2])), Input(filter)
    return Workload(
        "conv2d",
        lambda x, w: wt.conv2d(x, w, stride, "same"),
        f"tf.conv2d(x, w, {stride}, 'same')",
        {"x": x, "w": w},
        described=f"{x} {w} stride {stride}",
    )


def depthwise_conv2d(size: int, channels: int, stride: int) -> Workload:
    """Time a 3×3 depthwise convolution whose padding keeps the size."""
    x, w = Input((1, size, size, channels)), Input((3, 3, channels, 1))
    return Workload(
        "depthwise_conv2d",
        lambda x, w: wt.depthwise_conv2d(x, w, stride, "same"),
        f"tf.depthwiseConv2d(x, w, {stride}, 'same')",
        {"x": x, "w": w},
        described=f"{x} {w} stride {stride}",
    )


CONVOLUTIONS = [
    conv2d(224, (3, 3, 3, 32), stride=2),
    *(conv2d(size, (1, 1, before, after)) for size, before, after in POINTWISE_LAYERS),
    *(depthwise_conv2d(*layer) for layer in DEPTHWISE_LAYERS),
]

# -- a million elements ---------------------------------------------------------------------------

MILLION = Input((1000, 1000))
POSITIVE = Input((1000, 1000), 0.5, 1.5)

ELEMENTWISE = [
    Workload("elementwise.add", wt.add, "tf.add(a, b)", {"a": MILLION, "b": MILLION}),
    Workload("elementwise.add", wt.add, "tf.add(a, b)", {"a": MILLION, "b": Input((1000,))}),
    Workload("elementwise.multiply", wt.multiply, "tf.mul(a, b)", {"a": MILLION, "b": MILLION}),
    Workload("elementwise.divide", wt.divide, "tf.div(a, b)", {"a": MILLION, "b": POSITIVE}),
    Workload("elementwise.relu", wt.relu, "tf.relu(x)", {"x": MILLION}),
    Workload("elementwise.sqrt", wt.sqrt, "tf.sqrt(x)", {"x": POSITIVE}),
    Workload("elementwise.exp", wt.exp, "tf.exp(x)", {"x": MILLION}),
    Workload("elementwise.log", wt.log, "tf.log(x)", {"x": POSITIVE}),
    Workload("elementwise.tanh", wt.tanh, "tf.tanh(x)", {"x": MILLION}),
    Workload("elementwise.sigmoid", wt.sigmoid, "tf.sigmoid(x)", {"x": MILLION}),
]


def reduction(name: str, function: Callable[..., wt.Tensor], axis: int | None = None) -> Workload:
    """Time a reduction over all elements or along one axis."""
    return Workload(
        f"reduction.{name}",
        lambda x: function(x, axis=axis),
        f"tf.{name}(x, {'null' if axis is None else axis})",
        {"x": POSITIVE},
        described=f"{POSITIVE} {'all axes' if axis is None else f'axis {axis}'}",
    )


REDUCTIONS = [
    reduction("sum", wt.sum),
    reduction("sum", wt.sum, axis=0),
    reduction("sum", wt.sum, axis=1),
    reduction("mean", wt.mean),
    reduction("max", wt.max),
]

# -- between host and device ----------------------------------------------------------------------

FLOATS = Input((1_000_000,))


def upload(x: Any) -> wt.Tensor:
    """Make a tensor from host data, and use it: uploads happen at first use."""
    return wt.slice(wt.tensor(x), (0,), (1,))


TRANSFERS = [
    Workload(
        "upload",
        upload,
        "tf.tidy(() => tf.slice(tf.tensor1d(x), [0], [1]))",
        {"x": FLOATS},
        from_host=True,
    ),
    Workload(
        "read_back", lambda x: wt.add(x, 1.0), "tf.add(x, 1)", {"x": FLOATS}, timed=Timed.READ
    ),
]

# -- training -------------------------------------------------------------------------------------

TRAINING = [
    Workload(
        "training_step.digits",
        digits.make_step,
        f"digits.makeStep({', '.join(['tf', *digits.STEP_INPUTS])})",
        digits.STEP_INPUTS,
        described=f"{digits.IMAGES}, 38,282 parameters",
        peers=CPU_FOR_WASM,
        tolerance=1e-3,
        makes_step=True,
        calls_before_comparing=5,
    ),
]

WORKLOADS = [
    *OVERHEAD,
    *MATMUL,
    *CONVOLUTIONS,
    *ELEMENTWISE,
    *REDUCTIONS,
    *TRANSFERS,
    *TRAINING,
]
