"""Layers that merge several inputs: element by element, by concatenation, or by products.

An input with fewer axes than another gets axes of size 1 after the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, ClassVar, TypeVar

from webtensor import keras, ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.layer import Layer
from webtensor.keras.masks import either, mask_of
from webtensor.keras.types import Operand, Shape, SymbolicOrTensor
from webtensor.shapes import prod

__all__ = [
    "Add",
    "Average",
    "Concatenate",
    "Dot",
    "Maximum",
    "Minimum",
    "Multiply",
    "Subtract",
    "add",
    "average",
    "concatenate",
    "dot",
    "maximum",
    "minimum",
    "multiply",
    "subtract",
]

_Item = TypeVar("_Item")


def _check_shapes(name: str, shapes: object, count: int | None = None) -> None:
    """Check that there is a list of shapes."""
    expected = "a list of inputs" if count is None else f"a list of {count} inputs"
    if (
        not isinstance(shapes, (list, tuple))
        or not shapes
        or not all(isinstance(shape, (list, tuple)) for shape in shapes)
        or count not in (None, len(shapes))
    ):
        raise ValueError(f"{name} must be called with {expected}, but got the shapes {shapes}")


def _check_masks(
    name: str,
    inputs: Sequence[SymbolicOrTensor],
    masks: Sequence[SymbolicOrTensor | None] | None,
) -> None:
    """Check that inputs and masks are lists of the same number of items, if there are masks."""
    if masks is None:
        return
    for argument, value in (("inputs", inputs), ("mask", masks)):
        if not isinstance(value, (list, tuple)):
            raise ValueError(f"{name}: {argument} must be a list, but got {value!r}")
    if len(inputs) != len(masks):
        raise ValueError(
            f"{name}: there must be a mask, or None, for each of {len(inputs)} inputs, but there "
            f"are {len(masks)}"
        )


def _elementwise_mask(x: Tensor) -> Tensor | None:
    """Return the mask of a tensor, broadcast to its elements."""
    mask = mask_of(x)
    if mask is None:
        return None
    return wt.broadcast_to(wt.reshape(mask, (*mask.shape, 1)), x.shape)


def _with_mask(y: Tensor, mask: Tensor) -> Tensor:
    """Attach the mask of the steps with any unmasked element."""
    y._keras_mask = wt.any(mask, -1)
    return y


# -- element by element ------------------------------------------------------------------------


class Merge(Layer):
    """A layer that makes one tensor of several; ``merged`` says how."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merge_function(self, inputs: list[Tensor]) -> Tensor:
        """Merge inputs with the same number of axes."""
        raise NotImplementedError

    def build(self, input_shape: Sequence[Shape]) -> None:
        """Check the shapes."""
        name = type(self).__name__
        _check_shapes(name, input_shape)
        if len({shape[0] for shape in input_shape if shape} - {None}) > 1:
            raise ValueError(f"{name}: inputs have different batch sizes: {input_shape}")
        self.compute_output_shape(input_shape)

    def call(self, inputs: Sequence[Tensor]) -> Tensor:
        """Merge."""
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(
                f"{type(self).__name__} must be called with a list of inputs, but got {inputs!r}"
            )
        rank = max(len(x.shape) for x in inputs)
        return self._merge_function([_with_rank(x, rank) for x in inputs])

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Shape:
        """Return the shape that those of the inputs are broadcast to."""
        merged: Shape = ()
        for shape in input_shape:
            merged = self._broadcast(merged, tuple(shape[1:]), input_shape)
        batch_sizes = {shape[0] for shape in input_shape} - {None}
        return (batch_sizes.pop() if len(batch_sizes) == 1 else None, *merged)

    def _broadcast(self, first: Shape, second: Shape, shapes: Sequence[Shape]) -> Shape:
        longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
        start = len(longer) - len(shorter)
        merged = list(longer[:start])
        for size, other_size in zip(longer[start:], shorter, strict=True):
            sizes = {size, other_size}
            if 1 in sizes:
                merged.append(other_size if size == 1 else size)
            elif None in sizes or len(sizes) == 1:
                merged.append(None if None in sizes else size)
            else:
                raise ValueError(
                    f"{type(self).__name__}: shapes of inputs do not fit together: {shapes}"
                )
        return tuple(merged)

    def compute_mask(
        self,
        inputs: Sequence[SymbolicOrTensor],
        mask: Sequence[SymbolicOrTensor | None] | None = None,
    ) -> SymbolicOrTensor | None:
        """Return where any of the inputs is unmasked, if all have a mask."""
        _check_masks(type(self).__name__, inputs, mask)
        masks: list[SymbolicOrTensor] = _without_none(mask or ())
        return reduce(either, masks) if masks and len(masks) == len(inputs) else None


def _with_rank(x: Tensor, rank: int) -> Tensor:
    """Add axes of size 1 after the batch."""
    added = rank - len(x.shape)
    return wt.reshape(x, (*x.shape[:1], *[1] * added, *x.shape[1:])) if added else x


def _without_none(items: Sequence[_Item | None]) -> list[_Item]:
    return [item for item in items if item is not None]


class Add(Merge):
    """The sum of all inputs, which are broadcast.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Add()([keras.ops.ones((1, 2)), keras.ops.ones((1, 2))]).tolist()
        [[2.0, 2.0]]
    """

    def _merge_function(self, inputs: list[Tensor]) -> Tensor:
        """Add."""
        return reduce(wt.add, inputs)


class Subtract(Merge):
    """The first of two inputs minus the second."""

    def build(self, input_shape: Sequence[Shape]) -> None:
        """Check the shapes."""
        _check_shapes("Subtract", input_shape, 2)
        super().build(input_shape)

    def _merge_function(self, inputs: list[Tensor]) -> Tensor:
        """Subtract."""
        return wt.subtract(*inputs)


class Multiply(Merge):
    """The product of all inputs, which are broadcast; masked steps of an input count as 1."""

    def _merge_function(self, inputs: list[Tensor]) -> Tensor:
        """Multiply."""
        masks = [_elementwise_mask(x) for x in inputs]
        factors = [
            x if mask is None else wt.where(mask, x, 1)
            for x, mask in zip(inputs, masks, strict=True)
        ]
        product = reduce(wt.multiply, factors)
        carried_masks = _without_none(masks)
        if len(carried_masks) < len(inputs):
            return product
        mask = reduce(wt.logical_or, carried_masks)
        return _with_mask(wt.where(mask, product, 0), mask)


class Average(Merge):
    """The mean of all inputs, element by element."""

    def _merge_function(self, inputs: list[Tensor]) -> Tensor:
        """Average."""
        return reduce(wt.add, inputs) / len(inputs)


class _Extremum(Merge):
    """The maximum or minimum of all inputs; masked steps of an input are left to the others."""

    _choose: ClassVar[Callable[..., Tensor]]

    def _merge_function(self, inputs: list[Tensor]) -> Tensor:
        """Compare each input with the extremum of those before it, and join their masks."""
        choose = type(self)._choose
        extremum, extremum_mask = inputs[0], _elementwise_mask(inputs[0])
        for x in inputs[1:]:
            mask = _elementwise_mask(x)
            candidate = x if mask is None else wt.where(mask, x, extremum)
            if extremum_mask is not None:
                extremum = wt.where(extremum_mask, extremum, candidate)
                extremum_mask = None if mask is None else wt.logical_or(extremum_mask, mask)
            extremum = choose(extremum, candidate)
        return extremum if extremum_mask is None else _with_mask(extremum, extremum_mask)


class Maximum(_Extremum):
    """The maximum of all inputs, element by element."""

    _choose = staticmethod(wt.maximum)


class Minimum(_Extremum):
    """The minimum of all inputs, element by element."""

    _choose = staticmethod(wt.minimum)


# -- concatenation -----------------------------------------------------------------------------


class Concatenate(Merge):
    """Concatenates all inputs along an axis.

    Input shape: shapes that differ only in the size of ``axis``. Output shape: that shape with the
    sum of these sizes.

    Args:
        axis: an integer, the axis to concatenate along.

    Example:
        >>> from webtensor import keras
        >>> x, y = keras.Input((2, 3)), keras.Input((2, 4))
        >>> keras.layers.Concatenate()([x, y]).shape
        (None, 2, 7)
    """

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: Sequence[Shape]) -> None:
        """Check the shapes."""
        _check_shapes("Concatenate", input_shape)
        rank = len(input_shape[0])
        if not -rank <= self.axis < rank:
            raise ValueError(
                f"Concatenate: axis {self.axis} is out of range for inputs of shape "
                f"{tuple(input_shape[0])}"
            )
        has_one_rank = len({len(shape) for shape in input_shape}) == 1
        other_sizes = [
            [size for axis, size in enumerate(shape) if axis != self.axis % rank]
            for shape in input_shape
        ]
        if not has_one_rank or any(
            len({*sizes} - {None}) > 1 for sizes in zip(*other_sizes, strict=True)
        ):
            raise ValueError(
                "Concatenate: inputs must have the same shape but for the size of axis "
                f"{self.axis}, but got {input_shape}"
            )

    def call(self, inputs: Sequence[Tensor]) -> Tensor:
        """Concatenate."""
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(
                f"Concatenate must be called with a list of inputs, but got {inputs!r}"
            )
        return self._merge_function(list(inputs))

    def _merge_function(self, inputs: list[Tensor]) -> Tensor:
        """Concatenate."""
        return wt.concat(inputs, self.axis)

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Shape:
        """Return the shape with the sum of the sizes along the axis."""
        _check_shapes("Concatenate", input_shape)
        sizes = [shape[self.axis] for shape in input_shape]
        shape = list(input_shape[0])
        shape[self.axis] = None if None in sizes else sum(_without_none(sizes))
        return tuple(shape)

    def compute_mask(
        self,
        inputs: Sequence[SymbolicOrTensor],
        mask: Sequence[SymbolicOrTensor | None] | None = None,
    ) -> SymbolicOrTensor | None:
        """Return the concatenated masks; inputs without a mask are unmasked."""
        _check_masks("Concatenate", inputs, mask)
        if mask is None or all(input_mask is None for input_mask in mask):
            return None
        ops = keras.ops
        masks = []
        for x, input_mask in zip(inputs, mask, strict=True):
            if input_mask is None:
                input_mask = ops.ones_like(x, dtype="bool")
            elif len(input_mask.shape) < len(x.shape):
                expanded = ops.expand_dims(input_mask, -1)
                input_mask = ops.logical_or(expanded, ops.zeros_like(x, dtype="bool"))
            masks.append(input_mask)
        joined: SymbolicOrTensor = ops.any(ops.concatenate(masks, axis=self.axis), axis=-1)
        return joined


# -- products ----------------------------------------------------------------------------------

#: The maximum factor that a vector is multiplied by to have norm 1.
_MAXIMUM_FACTOR = 1e7


class Dot(Merge):
    """Products of two inputs, example by example, summed along an axis of each.

    Input shape: two shapes with the same batch and the same size along ``axes``. Output shape: the
    batch and the other dimensions of both, or ``(batch, 1)`` if there are none.

    Args:
        axes: an integer for both inputs, or two, one for each: the axes to sum along, after the
            batch.
        normalize: a boolean, whether vectors along ``axes`` are divided by their norm before; the
            outputs are then cosine similarities.

    Raises:
        TypeError: ``axes`` is neither an integer nor a list or tuple.
        ValueError: ``axes`` has not two integers.

    Example:
        >>> from webtensor import keras
        >>> x = keras.ops.ones((1, 3))
        >>> keras.layers.Dot(axes=1)([x, x]).tolist()
        [[3.0]]
    """

    def __init__(self, axes: int | Sequence[int], normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(axes, (int, list, tuple)):
            raise TypeError(f"Dot: axes must be an integer or two of them, but got {axes!r}")
        if not isinstance(axes, int) and (
            len(axes) != 2 or not all(isinstance(axis, int) for axis in axes)
        ):
            raise ValueError(f"Dot: axes must be an integer or two of them, but got {axes!r}")
        self.axes = axes
        self.normalize = normalize

    def _positive_axes(self, shapes: Sequence[Shape]) -> list[int]:
        axes = [self.axes] * 2 if isinstance(self.axes, int) else self.axes
        positive_axes = []
        for axis, shape in zip(axes, shapes, strict=True):
            rank = len(shape)
            if not -rank <= axis < rank or axis % rank == 0:
                raise ValueError(
                    f"Dot: axes must be axes after the batch, but got {self.axes} for inputs of "
                    f"shapes {[tuple(shape) for shape in shapes]}"
                )
            positive_axes.append(axis % rank)
        return positive_axes

    def build(self, input_shape: Sequence[Shape]) -> None:
        """Check the shapes."""
        _check_shapes("Dot", input_shape, 2)
        axes = self._positive_axes(input_shape)
        sizes = {shape[axis] for shape, axis in zip(input_shape, axes, strict=True)}
        if len(sizes - {None}) > 1:
            raise ValueError(
                f"Dot: inputs have different sizes along axes={self.axes}: {input_shape}"
            )

    def call(self, inputs: Sequence[Tensor]) -> Tensor:
        """Multiply and sum."""
        if not isinstance(inputs, (list, tuple)) or len(inputs) != 2:
            raise ValueError(f"Dot must be called with a list of 2 inputs, but got {inputs!r}")
        x, y = inputs
        x_axis, y_axis = self._positive_axes([x.shape, y.shape])
        if self.normalize:
            x, y = _normalized(x, x_axis), _normalized(y, y_axis)
        shape = (
            *x.shape[:x_axis],
            *x.shape[x_axis + 1 :],
            *y.shape[1:y_axis],
            *y.shape[y_axis + 1 :],
        )
        left, transpose_left = _as_matrices(x, x_axis)
        right, is_summed_first = _as_matrices(y, y_axis)
        product = wt.matmul(left, right, transpose_left, not is_summed_first)
        return wt.reshape(product, shape if len(shape) > 1 else (*shape, 1))

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Shape:
        """Return the batch, then the other dimensions of both; (batch, 1) if there are none."""
        _check_shapes("Dot", input_shape, 2)
        first, second = (list(shape) for shape in input_shape)
        axes = self._positive_axes(input_shape)
        first.pop(axes[0])
        second.pop(axes[1])
        shape = (*first, *second[1:])
        return shape if len(shape) > 1 else (*shape, 1)

    def compute_mask(
        self,
        inputs: Sequence[SymbolicOrTensor],
        mask: Sequence[SymbolicOrTensor | None] | None = None,
    ) -> None:
        """Return None, as the outputs have no steps."""


def _normalized(x: Tensor, axis: int) -> Tensor:
    """Return the vectors along an axis, with norm 1."""
    inverse_norm = wt.rsqrt(wt.sum(wt.square(x), axis, True))
    return x * wt.minimum(inverse_norm, _MAXIMUM_FACTOR)


def _as_matrices(x: Tensor, axis: int) -> tuple[Tensor, bool]:
    """Each example as a matrix with ``axis`` first or last, and whether it is first."""
    batch, size = x.shape[0], x.shape[axis]
    other_size = prod(x.shape[1:]) // size if size else 0
    if axis == 1:
        return wt.reshape(x, (batch, size, other_size)), True
    if axis < len(x.shape) - 1:
        x = wt.moveaxis(x, axis, -1)
    return wt.reshape(x, (batch, other_size, size)), False


# -- functions ---------------------------------------------------------------------------------


def add(inputs: Sequence[Operand], **kwargs: Any) -> SymbolicOrTensor:
    """Return what an ``Add`` layer returns."""
    outputs: SymbolicOrTensor = Add(**kwargs)(inputs)
    return outputs


def subtract(inputs: Sequence[Operand], **kwargs: Any) -> SymbolicOrTensor:
    """Return what a ``Subtract`` layer returns."""
    outputs: SymbolicOrTensor = Subtract(**kwargs)(inputs)
    return outputs


def multiply(inputs: Sequence[Operand], **kwargs: Any) -> SymbolicOrTensor:
    """Return what a ``Multiply`` layer returns."""
    outputs: SymbolicOrTensor = Multiply(**kwargs)(inputs)
    return outputs


def average(inputs: Sequence[Operand], **kwargs: Any) -> SymbolicOrTensor:
    """Return what an ``Average`` layer returns."""
    outputs: SymbolicOrTensor = Average(**kwargs)(inputs)
    return outputs


def maximum(inputs: Sequence[Operand], **kwargs: Any) -> SymbolicOrTensor:
    """Return what a ``Maximum`` layer returns."""
    outputs: SymbolicOrTensor = Maximum(**kwargs)(inputs)
    return outputs


def minimum(inputs: Sequence[Operand], **kwargs: Any) -> SymbolicOrTensor:
    """Return what a ``Minimum`` layer returns."""
    outputs: SymbolicOrTensor = Minimum(**kwargs)(inputs)
    return outputs


def concatenate(inputs: Sequence[Operand], axis: int = -1, **kwargs: Any) -> SymbolicOrTensor:
    """Return what a ``Concatenate`` layer returns."""
    outputs: SymbolicOrTensor = Concatenate(axis=axis, **kwargs)(inputs)
    return outputs


def dot(
    inputs: Sequence[Operand], axes: int | Sequence[int] = -1, **kwargs: Any
) -> SymbolicOrTensor:
    """Return what a ``Dot`` layer returns."""
    outputs: SymbolicOrTensor = Dot(axes=axes, **kwargs)(inputs)
    return outputs
