"""Moving the channels of images last, once for the whole graph.

ONNX's images are (batch, channels, height, width), those of the kernels (batch, height, width,
channels). Each node that computes images, or elements of them, gets a twin with channels last, and
itself becomes the twin's transpose, which is computed only if a node without a twin needs it. So a
convolutional network is left with a transpose of its input and one before its last layers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.nodes import MISSING, Node, Nodes, Reference
from webtensor.graph.operations import Row
from webtensor.graph.ordering import ordered
from webtensor.graph.unique_names import UniqueNames
from webtensor.onnx.operations import elementwise, reductions
from webtensor.onnx.operations.convolutions import convolved_last
from webtensor.onnx.operations.normalization import (
    batch_normalized_last,
    locally_normalized_last,
)
from webtensor.onnx.operations.operators import Operator
from webtensor.onnx.operations.pooling import (
    global_maximum_last,
    global_mean_last,
    maxima_last,
    means_last,
)

__all__ = ["LAST_ROWS", "with_channels_last"]

_LAST = " (channels last)"
_TO_LAST, _TO_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)

#: The rows of operators on images with channels last.
LAST_ROWS: dict[str, Row] = {
    f"AveragePool{_LAST}": Operator(means_last),
    f"BatchNormalization{_LAST}": Operator(batch_normalized_last).ignoring(
        "is_test", "momentum", "num_outputs", "spatial", "training_mode"
    ),
    f"Conv{_LAST}": Operator(convolved_last).ignoring("kernel_shape"),
    f"GlobalAveragePool{_LAST}": Operator(global_mean_last),
    f"GlobalMaxPool{_LAST}": Operator(global_maximum_last),
    f"LRN{_LAST}": Operator(locally_normalized_last),
    f"MaxPool{_LAST}": Operator(maxima_last).ignoring("num_outputs", "storage_order"),
}

_ELEMENTWISE = frozenset(elementwise.ROWS)
_REDUCTIONS = frozenset(op for op in reductions.ROWS if op.startswith("Reduce"))
_BY_AXIS = frozenset(("Hardmax-13", "LogSoftmax-13", "Softmax-13"))


class _Twin(NamedTuple):
    """A node with channels last; ``is_last`` tells whether its results have them last, too."""

    node: Node
    is_last: bool = True


def with_channels_last(
    nodes: Nodes,
    constants: Mapping[str, Tensor],
    ranks: Mapping[Reference, int],
    where: str,
) -> tuple[Nodes, dict[str, Tensor]]:
    """Return nodes of images with channels last, and constants in the order that they need.

    Args:
        nodes: the nodes.
        constants: the values of constants.
        ranks: the ranks of tensors, as far as the model says them.
        where: what errors call the model.
    """
    layouts = _Layouts(nodes, constants, ranks)
    for node in ordered(nodes, nodes, where):
        layouts.add(node)
    return layouts.nodes, layouts.constants


class _Layouts:
    def __init__(
        self,
        nodes: Nodes,
        constants: Mapping[str, Tensor],
        ranks: Mapping[Reference, int],
    ) -> None:
        self.nodes = dict(nodes)
        self.names = UniqueNames(nodes)
        self.constants = dict(constants)
        self.ranks = ranks
        self.last: dict[Reference, Reference] = {}
        self._rearranged: dict[tuple[str, Callable[[Tensor], Tensor]], Reference] = {}

    def add(self, node: Node) -> None:
        """Give a node its twin, if it can have one."""
        rule = _RULES.get(node.op)
        twin = None if rule is None else rule(self, node)
        if twin is None:
            return
        if not twin.is_last:
            self.nodes[node.name] = twin.node._replace(name=node.name)
            return
        name = self.name(node.name)
        self.nodes[name] = twin.node._replace(name=name)
        count = 1
        if node.op == "Split-1":
            attributes: Mapping[str, Any] = node.attributes
            count = attributes["num_outputs"]
        self.last |= {Reference(node.name, at): Reference(name, at) for at in range(count)}
        if count == 1:
            self.nodes[node.name] = _transpose(node.name, Reference(name), _TO_FIRST)
            return
        references = []
        for index in range(count):
            part = self.name(f"{node.name} {index}")
            self.nodes[part] = _transpose(part, Reference(name, index), _TO_FIRST)
            references.append(Reference(part))
        self.nodes[node.name] = Node(node.name, "IdentityN", tuple(references), (), {})

    def name(self, name: str) -> str:
        """Return a name for a twin, which no node has."""
        return self.names.new(name + _LAST)

    # -- tensors -------------------------------------------------------------------------------

    def constant(self, reference: Reference) -> Tensor | None:
        return self.constants.get(reference.node)

    def is_image(self, reference: Reference) -> bool:
        """Whether a tensor has channels last already."""
        return reference in self.last

    def twin(self, reference: Reference) -> Reference:
        """Return a tensor of rank 4 with channels last."""
        if reference not in self.last:
            name = self.name(str(reference))
            self.nodes[name] = _transpose(name, reference, _TO_LAST)
            self.last[reference] = Reference(name)
        return self.last[reference]

    def stored(self, name: str, value: Tensor) -> Reference:
        """Return a new constant."""
        unique = self.name(name)
        self.constants[unique] = value
        self.nodes[unique] = Node(unique, "Const", (), (), {})
        return Reference(unique)

    def rearranged(self, name: str, change: Callable[[Tensor], Tensor]) -> Reference:
        """Return a constant in another order; nodes that share a constant share this one, too."""
        if (name, change) not in self._rearranged:
            self._rearranged[name, change] = self.stored(name, change(self.constants[name]))
        return self._rearranged[name, change]

    def operand(self, reference: Reference) -> Reference | None:
        """Return an operand that broadcasts to images with channels last, if there is one."""
        if reference == MISSING or self.is_image(reference):
            return self.last.get(reference, MISSING)
        value = self.constant(reference)
        if value is not None:
            if len(value.shape) > 4:
                return None
            if not value.shape:
                return reference
            return self.rearranged(reference.node, _image)
        rank = self.ranks.get(reference)
        if rank == 0:
            return reference
        return self.twin(reference) if rank == 4 else None

    def integers(self, node: Node, index: int, attribute: str) -> list[int] | None:
        """Return integers that are an attribute or a constant input."""
        value = node.attributes.get(attribute)
        if isinstance(value, list):
            return [number for number in value if isinstance(number, int)]
        if index < len(node.inputs):
            constant = self.constant(node.inputs[index])
            if constant is not None:
                return [int(number) for number in ops.reshape(constant, (-1,)).tolist()]
        return None

    def new_integers(self, node: Node, values: Sequence[int]) -> Reference:
        value = ops.tensor(list(values), shape=(len(values),), dtype="int32")
        return self.stored(f"{node.name} integers", value)


def _image(value: Tensor) -> Tensor:
    image = ops.reshape(value, (*[1] * (4 - len(value.shape)), *value.shape))
    return ops.permute_dims(image, _TO_LAST)


def _filter(value: Tensor) -> Tensor:
    return ops.permute_dims(value, (2, 3, 1, 0))


def _sizes(value: Tensor) -> Tensor:
    return ops.gather(value, ops.tensor(list(_TO_LAST), dtype="int32"))


def _transpose(name: str, reference: Reference, order: Sequence[int]) -> Node:
    return Node(name, "Transpose-1", (reference,), (), {"perm": list(order)})


def _last(node: Node) -> str:
    """Return the name of the operator for images with channels last."""
    return node.op.partition("-")[0] + _LAST


def _axis(axis: int) -> int:
    """Return the axis of images with channels last for one with channels first."""
    return _TO_FIRST[axis]


# -- rules: which nodes have twins -------------------------------------------------------------

_Rule = Callable[[_Layouts, Node], "_Twin | None"]


def _convolution(layouts: _Layouts, node: Node) -> _Twin | None:
    filter = layouts.constant(node.inputs[1]) if len(node.inputs) > 1 else None
    if filter is None or len(filter.shape) != 4:
        return None
    weights = layouts.rearranged(node.inputs[1].node, _filter)
    inputs = (layouts.twin(node.inputs[0]), weights, *node.inputs[2:])
    return _Twin(node._replace(op=f"Conv{_LAST}", inputs=inputs))


def _pool(layouts: _Layouts, node: Node) -> _Twin | None:
    shape = node.attributes.get("kernel_shape")
    if not isinstance(shape, list) or len(shape) != 2 or node.attributes.get("num_outputs", 1) != 1:
        return None
    return _Twin(node._replace(op=_last(node), inputs=(layouts.twin(node.inputs[0]),)))


def _of_images(layouts: _Layouts, node: Node) -> _Twin | None:
    """Operators whose first input is an image, and whose others have a number for each channel."""
    if not layouts.is_image(node.inputs[0]):
        return None
    if node.attributes.get("training_mode") or not node.attributes.get("spatial", 1):
        return None
    inputs = (layouts.last[node.inputs[0]], *node.inputs[1:])
    return _Twin(node._replace(op=_last(node), inputs=inputs))


def _elementwise(layouts: _Layouts, node: Node) -> _Twin | None:
    if node.attributes.get("broadcast") or not any(map(layouts.is_image, node.inputs)):
        return None
    if node.op == "PRelu-1":
        slope = layouts.constant(node.inputs[1])
        if slope is None or (len(slope.shape) == 1 and slope.size > 1):
            return None
    operands = [layouts.operand(reference) for reference in node.inputs]
    inputs = tuple(operand for operand in operands if operand is not None)
    return _Twin(node._replace(inputs=inputs)) if len(inputs) == len(operands) else None


def _concatenation(layouts: _Layouts, node: Node) -> _Twin | None:
    axis = node.attributes.get("axis", 1)
    is_image = any(map(layouts.is_image, node.inputs))
    if not is_image or not isinstance(axis, int) or not -4 <= axis < 4:
        return None
    operands = []
    for reference in node.inputs:
        if not layouts.is_image(reference) and layouts.ranks.get(reference) != 4:
            value = layouts.constant(reference)
            if value is None or len(value.shape) != 4:
                return None
        operands.append(layouts.twin(reference))
    attributes = {**node.attributes, "axis": _axis(axis)}
    return _Twin(node._replace(inputs=tuple(operands), attributes=attributes))


def _along_axis(layouts: _Layouts, node: Node) -> _Twin | None:
    axis = node.attributes.get("axis", 0 if node.op == "Split-1" else -1)
    is_image = layouts.is_image(node.inputs[0])
    if not is_image or not isinstance(axis, int) or not -4 <= axis < 4:
        return None
    inputs = (layouts.last[node.inputs[0]], *node.inputs[1:])
    attributes = {**node.attributes, "axis": _axis(axis)}
    return _Twin(node._replace(inputs=inputs, attributes=attributes))


def _reduction(layouts: _Layouts, node: Node) -> _Twin | None:
    if not layouts.is_image(node.inputs[0]):
        return None
    axes = layouts.integers(node, 1, "axes")
    if not axes or not all(-4 <= axis < 4 for axis in axes):
        return None
    keeps = bool(node.attributes.get("keepdims", 1))
    chosen = {axis % 4 for axis in axes}
    if not keeps and chosen not in ({2, 3}, {1, 2, 3}, {0, 1, 2, 3}):
        return None
    inputs = (
        layouts.last[node.inputs[0]],
        layouts.new_integers(node, [_axis(axis) for axis in axes]),
    )
    attributes = {name: value for name, value in node.attributes.items() if name != "axes"}
    return _Twin(node._replace(inputs=inputs, attributes=attributes), keeps)


def _padding(layouts: _Layouts, node: Node) -> _Twin | None:
    pads = layouts.integers(node, 1, "pads")
    if not layouts.is_image(node.inputs[0]) or not pads or len(node.inputs) > 3 or len(pads) != 8:
        return None
    order = [*(pads[axis] for axis in _TO_LAST), *(pads[4 + axis] for axis in _TO_LAST)]
    inputs = (layouts.last[node.inputs[0]], layouts.new_integers(node, order), *node.inputs[2:])
    attributes = {name: value for name, value in node.attributes.items() if name != "pads"}
    return _Twin(node._replace(inputs=inputs, attributes=attributes))


def _slice(layouts: _Layouts, node: Node) -> _Twin | None:
    axes = layouts.integers(node, 3, "axes")
    if not layouts.is_image(node.inputs[0]) or not axes or "starts" in node.attributes:
        return None
    if not all(-4 <= axis < 4 for axis in axes):
        return None
    changed = layouts.new_integers(node, [_axis(axis) for axis in axes])
    inputs = (layouts.last[node.inputs[0]], *node.inputs[1:3], changed, *node.inputs[4:])
    return _Twin(node._replace(inputs=inputs))


def _resizing(layouts: _Layouts, node: Node) -> _Twin | None:
    if not layouts.is_image(node.inputs[0]) or "axes" in node.attributes:
        return None
    mode = node.attributes.get("coordinate_transformation_mode", "")
    if mode == "tf_crop_and_resize":
        return None
    inputs = [layouts.last[node.inputs[0]]]
    for reference in node.inputs[1:]:
        value = layouts.constant(reference)
        if reference == MISSING:
            inputs.append(MISSING)
        elif value is None:
            return None
        elif value.shape == (4,):
            inputs.append(layouts.rearranged(reference.node, _sizes))
        else:
            inputs.append(reference)
    attributes: dict[str, Any] = dict(node.attributes)
    scales = attributes.get("scales")
    if isinstance(scales, list):
        attributes["scales"] = [scales[axis] for axis in _TO_LAST]
    return _Twin(node._replace(inputs=tuple(inputs), attributes=attributes))


def _transposition(layouts: _Layouts, node: Node) -> _Twin | None:
    """Transposes of images, of which those back to channels last are the twin itself."""
    perm = node.attributes.get("perm")
    if not isinstance(perm, list) or len(perm) != 4:
        return None
    (source,) = node.inputs
    if layouts.is_image(source):
        order = [_axis(axis) for axis in perm if isinstance(axis, int)]
        last = layouts.last[source]
        if order == [0, 1, 2, 3]:
            return _Twin(Node(node.name, "Identity", (last,), (), {}), False)
        return _Twin(_transpose(node.name, last, order), False)
    if tuple(perm) == _TO_FIRST:
        layouts.last[Reference(node.name)] = source
    return None


def _identity(layouts: _Layouts, node: Node) -> _Twin | None:
    if layouts.is_image(node.inputs[0]):
        layouts.last[Reference(node.name)] = layouts.last[node.inputs[0]]
    return None


_RULES: dict[str, _Rule] = {
    **dict.fromkeys(_ELEMENTWISE, _elementwise),
    **dict.fromkeys(_REDUCTIONS, _reduction),
    **dict.fromkeys(("Split-1", *_BY_AXIS), _along_axis),
    **dict.fromkeys(("AveragePool-1", "MaxPool-1"), _pool),
    **dict.fromkeys(
        ("BatchNormalization-1", "GlobalAveragePool-1", "GlobalMaxPool-1", "LRN-1"), _of_images
    ),
    **dict.fromkeys(("Resize-10", "Resize-11", "Upsample-1"), _resizing),
    "Concat-1": _concatenation,
    "Conv-1": _convolution,
    "Identity": _identity,
    "Pad-1": _padding,
    "Slice-1": _slice,
    "Transpose-1": _transposition,
}
