"""Building a graph of TensorFlow's operations from a computation whose sizes may vary.

``NodeBuilder`` adds nodes and constants. Where an operation needs a size that varies, nodes compute
it from the shape of a tensor that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import NamedTuple

from webtensor.convert.sizes import Shape, Size, UnknownSizeError, Varying, product
from webtensor.engine import Tensor
from webtensor.formats.graph_def import (
    Argument,
    AttributeValue,
    ElementType,
    FunctionDef,
    FunctionName,
    NodeDef,
)
from webtensor.graph.unique_names import UniqueNames, node_name
from webtensor.ops import tensor

__all__ = ["NodeBuilder", "Value"]

#: Operations whose attribute T is the dtype of the result, not that of the first input.
_TYPED_BY_RESULT = frozenset(
    {"Conv2DBackpropInput", "Fill", "OneHot", "Range", "ScatterNd", "SelectV2"}
)
#: The largest divisor of a ratio between sizes, and that of others which must not fit as well:
#: those of some traces may be equal for 5 / 7 and for 11 / 15, and differ for longer inputs.
_MAX_DIVISOR, _MAX_OTHER_DIVISOR = 8, 32


class Value(NamedTuple):
    """A tensor of the graph.

    Attributes:
        name: the name of the node, or with the number of its output.
        shape: its sizes in all traces.
        dtype: the name of its dtype.
    """

    name: str
    shape: Shape
    dtype: str


class NodeBuilder:
    """Adds nodes to a graph.

    Args:
        label: what errors call the model.
        reserved: names that nodes must not have.

    Attributes:
        label: what errors call the model.
        nodes: the nodes.
        functions: the functions that loops call, by their names.
        constants: the values of the constant ones by their names.
        place: the layer or node of the model whose computation is being added.
    """

    def __init__(self, label: str, reserved: Sequence[str] = ()) -> None:
        self.label = label
        self.nodes: list[NodeDef] = []
        self.functions: dict[str, FunctionDef] = {}
        self.constants: dict[str, Tensor] = {}
        self.place = ""
        self._is_function = False
        #: Adds the nodes by which the model itself computed a size, where it did.
        self.computed: Callable[[Varying], Value | None] = lambda size: None
        self._names = UniqueNames(reserved)
        #: A tensor and an axis for each size that varies; and the nodes that compute sizes.
        self._axes: dict[Varying, tuple[Value, int]] = {}
        self._sizes: dict[Varying, Value] = {}
        self._vectors: dict[Shape, Value] = {}
        self._producers: dict[str, tuple[str, Sequence[Value]]] = {}

    def function(self) -> NodeBuilder:
        """Return a builder of a function's nodes, whose names are unique among all nodes."""
        inner = NodeBuilder(self.label)
        inner.functions, inner.constants, inner._names = self.functions, self.constants, self._names
        inner.place, inner._is_function = self.place, True
        return inner

    def defined(self, name: str, inputs: Sequence[Value], results: Sequence[Value]) -> FunctionName:
        """Add a function, which has the nodes of this builder, and return its name."""
        name = self._name(name)
        outputs = [Argument(f"result_{index}", value.dtype) for index, value in enumerate(results)]
        returns = {output.name: value.name for output, value in zip(outputs, results, strict=True)}
        arguments = tuple(Argument(value.name, value.dtype) for value in inputs)
        self.functions[name] = FunctionDef(
            name, arguments, (*outputs,), (*self.nodes,), returns, {}, {}, {}, False
        )
        return FunctionName(name, {})

    # -- nodes ---------------------------------------------------------------------------------

    def add(
        self,
        op: str,
        inputs: Sequence[Value],
        shape: Shape,
        dtype: str | None = None,
        /,
        **attributes: AttributeValue,
    ) -> Value:
        """Add a node, whose dtype is that of its first input by default."""
        dtype = dtype or inputs[0].dtype
        kind = ElementType(dtype if op in _TYPED_BY_RESULT else inputs[0].dtype)
        name = self._name(f"{self.place}/{op}" if self.place else op)
        names = tuple(value.name for value in inputs)
        self.nodes.append(NodeDef(name, op, names, {"T": kind, **attributes}, ""))
        self._producers[name] = op, inputs
        return self.noted(Value(name, shape, dtype))

    def producer(self, value: Value) -> tuple[str, Sequence[Value]]:
        """Return the operation that computes a tensor, and its inputs; "" if it is none."""
        return self._producers.get(value.name, ("", ()))

    def placeholder(self, name: str, shape: Shape, dtype: str) -> Value:
        """Add an input. Its name loses what the name of a node cannot have."""
        name = self._name(name)
        if self._is_function:
            return self.noted(Value(name, shape, dtype))
        static_shape = tuple(size if isinstance(size, int) else None for size in shape)
        attributes: dict[str, AttributeValue] = {"dtype": ElementType(dtype), "shape": static_shape}
        self.nodes.append(NodeDef(name, "Placeholder", (), attributes, ""))
        return self.noted(Value(name, shape, dtype))

    def constant(self, name: str, value: Tensor) -> Value:
        """Add a constant."""
        name = self._name(name)
        self.nodes.append(NodeDef(name, "Const", (), {}, ""))
        self.constants[name] = value
        return Value(name, value.shape, str(value.dtype))

    def scalar(self, number: float, dtype: str) -> Value:
        """Add a constant number."""
        return self.constant(f"{self.place}/Const", tensor(number, dtype=dtype))

    def cast(self, value: Value, dtype: str) -> Value:
        """Return a tensor of another dtype."""
        kinds: dict[str, AttributeValue] = {
            "SrcT": ElementType(value.dtype),
            "DstT": ElementType(dtype),
            "Truncate": False,
        }
        return self.add("Cast", [value], value.shape, dtype, **kinds)

    def noted(self, value: Value) -> Value:
        """Return a value, after noting which of its sizes vary."""
        for axis, size in enumerate(value.shape):
            if isinstance(size, Varying):
                self._axes.setdefault(size, (value, axis))
        return value

    def _name(self, base: str) -> str:
        return self._names.new(node_name(base))

    # -- sizes ---------------------------------------------------------------------------------

    def integers(self, sizes: Sequence[Size]) -> Value:
        """Return a vector of sizes, as int32."""
        key = tuple(sizes)
        if key not in self._vectors:
            numbers = [size for size in key if isinstance(size, int)]
            if len(numbers) == len(key):
                values = tensor(numbers, shape=(len(key),), dtype="int32")
                self._vectors[key] = self.constant("sizes", values)
            else:
                parts = [self.size(size) for size in key]
                count = len(key)
                self._vectors[key] = self.add("Pack", parts, (count,), "int32", N=count, axis=0)
        return self._vectors[key]

    def size(self, size: Size) -> Value:
        """Return a size as a scalar, int32.

        Raises:
            ModelFormatError: it follows from no shape.
        """
        if not isinstance(size, Varying):
            return self.constant("size", tensor(size, dtype="int32"))
        if size not in self._sizes:
            self._sizes[size] = self._computed(size)
        return self._sizes[size]

    def _computed(self, size: Varying) -> Value:
        """Add the nodes that compute a size from those that tensors have."""
        if size in self._axes:
            value, axis = self._axes[size]
            shape = self.add("Shape", [value], (len(value.shape),), "int32")
            return self.sliced(shape, (axis,), (axis + 1,), (1,), (), shrunk=1)
        computed = self.computed(size)
        if computed is not None:
            return computed
        for other in [*self._axes]:
            slope, offset = _line(other, size)
            if slope:
                return self._sum(self._scaled(other, slope), offset)
            divisor = _divisor(other, size)
            if divisor:
                inputs = [self.size(other), self.size(divisor)]
                return self.add("FloorDiv", inputs, ())
        sizes = [*self._axes]
        for first in sizes:
            for second in sizes:
                area = product((first, second))
                slope, offset = _line(area, size) if isinstance(area, Varying) else (0, 0)
                if slope and not offset:
                    both = self.add("Mul", [self.size(first), self.size(second)], ())
                    return both if slope == 1 else self.add("Mul", [both, self.size(slope)], ())
        for other in sizes:
            ratio = _ratio(other, size)
            if ratio:
                factor, offset, divisor = ratio
                dividend = self._sum(self._scaled(other, factor), offset)
                return self.add("FloorDiv", [dividend, self.size(divisor)], ())
        raise UnknownSizeError(
            f"{self.label}: {self.place:.200}: a size, {size.values[0]} for one input and "
            f"{size.values[1]} for another, follows from no shape",
            progress=1,
        )

    def _scaled(self, size: Varying, factor: int) -> Value:
        value = self.size(size)
        return value if factor == 1 else self.add("Mul", [value, self.size(factor)], ())

    def _sum(self, value: Value, offset: int) -> Value:
        return value if not offset else self.add("AddV2", [value, self.size(offset)], ())

    # -- nodes that need sizes -----------------------------------------------------------------

    def reshaped(self, value: Value, shape: Shape) -> Value:
        """Return a tensor in another shape; what only gave it its own shape is left out."""
        op, sources = self.producer(value)
        if op == "Reshape":
            value = sources[0]
        if value.shape == shape:
            return value
        varying = [axis for axis, size in enumerate(shape) if isinstance(size, Varying)]
        target: list[Size] = [*shape]
        if varying and 0 not in shape:
            unknown = [axis for axis in varying if shape[axis] not in self._axes]
            target[(unknown or varying)[0]] = -1
        inputs = [value, self.integers(target)]
        return self.add("Reshape", inputs, shape, Tshape=ElementType("int32"))

    def transposed(self, value: Value, order: Sequence[int]) -> Value:
        """Return a tensor with its axes in another order."""
        shape = tuple(value.shape[axis] for axis in order)
        return self.add("Transpose", [value, self.integers(order)], shape)

    def sliced(
        self,
        value: Value,
        begin: Sequence[Size],
        end: Sequence[Size],
        step: Sequence[Size],
        shape: Shape,
        begin_mask: int = 0,
        end_mask: int = 0,
        shrunk: int = 0,
    ) -> Value:
        """Return a part of a tensor; masks have a bit for each axis."""
        inputs = [value, *(self.integers(numbers) for numbers in (begin, end, step))]
        return self.add(
            "StridedSlice",
            inputs,
            shape,
            begin_mask=begin_mask,
            end_mask=end_mask,
            shrink_axis_mask=shrunk,
            ellipsis_mask=0,
            new_axis_mask=0,
            Index=ElementType("int32"),
        )


def _line(x: Varying, y: Varying) -> tuple[int, int]:
    """Return the integers a and b of ``y = a x + b``, or zeros."""
    (x0, x1, *_), (y0, y1, *_) = x.values, y.values
    if x0 == x1 or (y1 - y0) % (x1 - x0):
        return 0, 0
    slope = (y1 - y0) // (x1 - x0)
    offset = y0 - slope * x0
    fits = all(slope * a + offset == b for a, b in zip(x.values, y.values, strict=True))
    return (slope, offset) if fits else (0, 0)


def _divisor(x: Varying, y: Varying) -> int:
    """Return the integer d of ``y = x / d``, or 0."""
    if not y.values[0] or x.values[0] % y.values[0]:
        return 0
    divisor = x.values[0] // y.values[0]
    fits = all(divisor * b == a for a, b in zip(x.values, y.values, strict=True))
    return divisor if fits else 0


def _ratio(x: Varying, y: Varying) -> tuple[int, int, int] | None:
    """Return integers of ``y = (a x + b) // d``, if only one ratio fits.

    Ratios are rounded down or up, and x real numbers have ``x // 2 + 1`` frequencies.
    """
    longest = max(range(len(x.values)), key=x.values.__getitem__)
    fits = [
        (factor, offset, divisor)
        for divisor in range(2, _MAX_OTHER_DIVISOR + 1)
        for minimum in [y.values[longest] * divisor // max(x.values[longest], 1)]
        for factor in (minimum, minimum + 1)
        for offset in ((0, 1, 2) if divisor == 2 else (0, divisor - 1))
        if gcd(factor, divisor) == 1
        and all(
            (factor * a + offset) // divisor == b for a, b in zip(x.values, y.values, strict=True)
        )
    ]
    return fits[0] if len(fits) == 1 and fits[0][2] <= _MAX_DIVISOR else None
