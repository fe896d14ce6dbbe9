"""The nodes of convolutions, pools and resized images; ``WINDOW_RULES`` continues ``RULES``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from webtensor.convert.node_building import NodeBuilder, Value
from webtensor.convert.node_rules import Call, Rule, refused
from webtensor.convert.primitive_nodes import added_epilogue
from webtensor.formats.graph_def import AttributeValue
from webtensor.geometry import Window, WindowAxis, make_resize

__all__ = ["WINDOW_RULES"]


class _Padding(NamedTuple):
    """What surrounds images, as ((top, bottom), (left, right)); and its name, if it has one."""

    name: str
    pairs: tuple[tuple[int, int], tuple[int, int]]


def _total_of_same(axis: WindowAxis) -> int:
    """Return the padding that "same" stands for."""
    return max((axis.outputs - 1) * axis.stride + axis.reach - axis.length, 0)


def _outputs_of(axis: WindowAxis, after: int) -> int:
    """Return the number of outputs for a padding behind the elements."""
    return (axis.length + axis.before + after - axis.reach) // axis.stride + 1


def _padding(nodes: NodeBuilder, windows: Sequence[Window]) -> _Padding:
    """Return the padding of a window, which must be declared the same in all traces.

    Images of a known size may have any padding that has the same outputs.

    Raises:
        ModelFormatError: it depends on the size of the images.
    """
    heights, widths = zip(*(window.axes for window in windows), strict=True)
    if any(map(_is_used_up, (heights, widths))):
        reason = "strides leave as much of small images as of larger ones"
        raise refused(nodes, reason, is_due_to_sizes=True)
    if _is_same(heights) and _is_same(widths):
        return _Padding("SAME", ((0, 0), (0, 0)))
    pairs = _explicit(nodes, heights), _explicit(nodes, widths)
    return _Padding("EXPLICIT" if any(map(any, pairs)) else "VALID", pairs)


def _is_used_up(traces: Sequence[WindowAxis]) -> bool:
    """Whether strides leave the same size of all images, so that it seems to be a constant."""
    sizes, outputs = {axis.length for axis in traces}, {axis.outputs for axis in traces}
    return traces[0].stride > 1 and len(sizes) > 1 and len(outputs) == 1


def _is_same(traces: Sequence[WindowAxis]) -> bool:
    """Whether the padding of an axis is "same" for all sizes that it may have."""
    if all(axis.padding == "same" for axis in traces):
        return True
    if len({axis.length for axis in traces}) > 1 and traces[0].stride > 1:
        return False
    return all(
        axis.outputs == -(-axis.length // axis.stride) and axis.before == _total_of_same(axis) // 2
        for axis in traces
    )


def _explicit(nodes: NodeBuilder, traces: Sequence[WindowAxis]) -> tuple[int, int]:
    """Return what is before and after the images along an axis."""
    first = traces[0]
    after = 0 if isinstance(first.padding, str) else first.padding[1]
    is_fixed = len({axis.length for axis in traces}) == 1
    if is_fixed or (isinstance(first.padding, str) and first.stride == 1):
        after = max(_total_of_same(first) - first.before, 0)
    elif isinstance(first.padding, str) or any(axis.padding != first.padding for axis in traces):
        after = -1
    if after < 0 or any(_outputs_of(axis, after) != axis.outputs for axis in traces):
        reason = "a padding that depends on the size of the images"
        raise refused(nodes, reason, is_due_to_sizes=True)
    return first.before, after


def _windows(call: Call) -> list[Window]:
    return [attributes[0] for attributes in call.traced]


def _attributes(window: Window, padding: _Padding) -> dict[str, AttributeValue]:
    """Return the attributes of a convolution."""
    attributes: dict[str, AttributeValue] = {
        "strides": [1, window.stride_height, window.stride_width, 1],
        "dilations": [1, window.dilation_height, window.dilation_width, 1],
        "padding": padding.name,
        "data_format": "NHWC",
    }
    if padding.name == "EXPLICIT":
        (top, bottom), (left, right) = padding.pairs
        attributes["explicit_paddings"] = [0, 0, top, bottom, left, right, 0, 0]
    return attributes


def _convolved(op: str, nodes: NodeBuilder, call: Call) -> Value:
    windows = _windows(call)
    window, padding = windows[0], _padding(nodes, windows)
    x, filter = call.inputs[:2]
    strides = [1, window.stride_height, window.stride_width, 1]
    is_dilated = window.dilation_height > 1 or window.dilation_width > 1
    # TensorFlow.js takes strides or dilations, not both: a slice keeps the outputs at the strides.
    needs_slice = is_dilated and max(strides) > 1
    is_known = all(isinstance(size, int) for size in x.shape[1:3])
    if needs_slice and padding.name == "SAME" and is_known:
        rows, columns = zip(*(window.axes for window in windows), strict=True)
        padding = _Padding("EXPLICIT", (_explicit(nodes, rows), _explicit(nodes, columns)))
    attributes = _attributes(window, padding)
    depth = filter.shape[2]
    groups = window.groups(depth) if isinstance(depth, int) else 1
    if groups > 1:
        attributes["groups"] = groups  # for the rewriting of Conv2D
    if not needs_slice or padding.name == "SAME":
        return nodes.add(op, [x, filter], call.shape, **attributes)
    sizes = [
        size + sum(pair) + 1 - axis.reach
        for size, pair, axis in zip(x.shape[1:3], padding.pairs, window.axes, strict=True)
    ]
    attributes["strides"] = [1] * 4
    y = nodes.add(op, [x, filter], (x.shape[0], *sizes, call.shape[3]), **attributes)
    return nodes.sliced(y, [0] * 4, [0] * 4, strides, call.shape, 0b1111, 0b1111)


def _transposed(nodes: NodeBuilder, call: Call) -> Value:
    """Convolve backwards; TensorFlow.js knows no padding but by its name, and no dilations."""
    windows = _windows(call)
    window = windows[0]
    padding = _padding(nodes, windows)
    x, filter = call.inputs
    shape = call.shape
    if filter.shape[2] != window.in_channels:
        raise refused(nodes, "a transposed convolution in groups")
    (top, bottom), (left, right) = padding.pairs
    if padding.name == "EXPLICIT":
        # A convolution without padding of the padded result; its borders are left out after it.
        shape = (shape[0], shape[1] + top + bottom, shape[2] + left + right, shape[3])
        padding = padding._replace(name="VALID")
    if window.dilation_height != 1 or window.dilation_width != 1:
        raise refused(nodes, "a transposed convolution with dilations")
    inputs = [nodes.integers(shape), filter, x]
    attributes = _attributes(window, padding)
    y = nodes.add("Conv2DBackpropInput", inputs, shape, "float32", **attributes)
    if shape == call.shape:
        return y
    ends = [0, -bottom, -right, 0]
    end_mask = sum((not end) << axis for axis, end in enumerate(ends))
    return nodes.sliced(y, [0, top, left, 0], ends, [1] * 4, call.shape, 0b1001, end_mask)


def _pooled(op: str, fill: float, nodes: NodeBuilder, call: Call) -> Value:
    """Pool; operations of pools know no padding but by its name, so images are padded before."""
    windows = _windows(call)
    if len({(window.filter_height, window.filter_width) for window in windows}) > 1:
        reason = "a pool whose windows depend on the size of the images"
        raise refused(nodes, reason, is_due_to_sizes=True)
    window, padding, (x,) = windows[0], _padding(nodes, windows), call.inputs
    attributes: dict[str, AttributeValue] = {
        "ksize": [1, window.filter_height, window.filter_width, 1],
        "strides": [1, window.stride_height, window.stride_width, 1],
        "padding": "VALID" if padding.name == "EXPLICIT" else padding.name,
        "data_format": "NHWC",
    }
    if padding.name != "EXPLICIT":
        return nodes.add(op, [x], call.shape, **attributes)
    y = nodes.add(op, [_surrounded(nodes, x, padding, fill)], call.shape, **attributes)
    if op == "MaxPool":
        return y
    # The mean is one of the elements alone: divided by their share of each window.
    ones = nodes.add("OnesLike", [x], x.shape)
    share = nodes.add(op, [_surrounded(nodes, ones, padding, 0.0)], call.shape, **attributes)
    return nodes.add("RealDiv", [y, share], call.shape)


def _surrounded(nodes: NodeBuilder, x: Value, padding: _Padding, value: float) -> Value:
    (top, bottom), (left, right) = padding.pairs
    height, width = x.shape[1] + top + bottom, x.shape[2] + left + right
    pairs = nodes.reshaped(nodes.integers([0, 0, top, bottom, left, right, 0, 0]), (4, 2))
    number = nodes.scalar(value, "float32")
    return nodes.add("PadV2", [x, pairs, number], (x.shape[0], height, width, x.shape[3]))


def _dilated(nodes: NodeBuilder, call: Call) -> Value:
    windows = _windows(call)
    window, padding = windows[0], _padding(nodes, windows)
    if padding.name == "EXPLICIT":
        raise refused(nodes, "a dilation with a padding of its own")
    return nodes.add(
        "Dilation2D",
        call.inputs,
        call.shape,
        strides=[1, window.stride_height, window.stride_width, 1],
        rates=[1, window.dilation_height, window.dilation_width, 1],
        padding=padding.name,
    )


#: Whether corners are aligned, and whether pixels have their centres at halves.
_ALIGNMENTS = ((False, True), (False, False), (True, False))


def _resized(op: str, is_nearest: bool, nodes: NodeBuilder, call: Call) -> Value:
    (x,) = call.inputs
    for aligned, halves in _ALIGNMENTS:
        if all(
            make_resize(
                (sizes.batch, sizes.in_height, sizes.in_width, sizes.channels),
                (sizes.out_height, sizes.out_width),
                is_nearest,
                aligned,
                halves,
            )
            == sizes
            for sizes in (attributes[0] for attributes in call.traced)
        ):
            flags = {"align_corners": aligned, "half_pixel_centers": halves}
            size = nodes.integers(call.shape[1:3])
            return nodes.add(op, [x, size], call.shape, call.dtype, **flags)
    raise refused(nodes, "images that are resized in a way that TensorFlow does not know")


#: How TensorFlow calls what is outside an image, in the order of ``Sampling``'s numbers.
_FILL_MODES = ("CONSTANT", "REFLECT", "WRAP", "NEAREST")


def _warped(nodes: NodeBuilder, call: Call) -> Value:
    """Warp images, each by its own projective transform; boxes are sampled in another way."""
    sizes, fill = call.attributes
    if sizes.fill_mode >= len(_FILL_MODES):
        raise refused(nodes, "boxes that are cut out of images")
    images, transforms, _ = call.inputs
    size = nodes.integers(call.shape[1:3])
    return nodes.add(
        "ImageProjectiveTransformV3",
        [images, transforms, size, nodes.scalar(fill, "float32")],
        call.shape,
        "float32",
        interpolation="BILINEAR" if sizes.bilinear else "NEAREST",
        fill_mode=_FILL_MODES[sizes.fill_mode],
    )


WINDOW_RULES: dict[str, Rule] = {
    "avg_pool": partial(_pooled, "AvgPool", 0.0),
    "conv2d": partial(_convolved, "Conv2D"),
    "conv2d_input_gradient": _transposed,
    "depthwise_conv2d": partial(_convolved, "DepthwiseConv2dNative"),
    "dilation2d": _dilated,
    "fused_conv2d": partial(added_epilogue, partial(_convolved, "Conv2D")),
    "fused_depthwise_conv2d": partial(added_epilogue, partial(_convolved, "DepthwiseConv2dNative")),
    "max_pool": partial(_pooled, "MaxPool", float("-inf")),
    "resize_bilinear": partial(_resized, "ResizeBilinear", False),
    "resize_nearest": partial(_resized, "ResizeNearestNeighbor", True),
    "sample": _warped,
}
