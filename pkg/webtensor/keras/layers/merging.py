"""Layers that merge several inputs: element by element, side by side, or by products.

Inputs with fewer axes than others are given axes of length 1 after the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.layer import Layer
from webtensor.keras.masks import either, mask_of, symbolic_ops
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

Shape = Sequence[int | None]


def _check_shapes(name: str, shapes: Any, count: int | None = None) -> None:
    """Check that there is a list of shapes."""
    wanted = "a list of inputs" if count is None else f"a list of {count} inputs"
    if (
        not isinstance(shapes, (list, tuple))
        or not shapes
        or not all(isinstance(one, (list, tuple)) for one in shapes)
        or count not in (None, len(shapes))
    ):
        raise ValueError(f"{name} must be called with {wanted}, but got the shapes {shapes}")


def _check_masks(name: str, inputs: Any, masks: Any) -> None:
    """Check that there is a list of inputs, and of masks, if there are masks."""
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


def _spread_mask(x: Tensor) -> Any:
    """The mask of a tensor, for each element."""
    mask = mask_of(x)
    if mask is None:
        return None
    return wt.broadcast_to(wt.reshape(mask, (*mask.shape, 1)), x.shape)


# -- element by element ------------------------------------------------------------------------


class Merge(Layer):
    """A layer that makes one tensor of several; ``merged`` says how."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def merged(self, inputs: list[Tensor]) -> Tensor:
        """Merge inputs with the same number of axes."""
        raise NotImplementedError

    def build(self, input_shape: Any) -> None:
        """Check the shapes."""
        name = type(self).__name__
        _check_shapes(name, input_shape)
        if len({shape[0] for shape in input_shape if shape} - {None}) > 1:
            raise ValueError(f"{name}: inputs have different batch sizes: {input_shape}")
        self.compute_output_shape(input_shape)

    def call(self, inputs: Any) -> Any:
        """Merge."""
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(
                f"{type(self).__name__} must be called with a list of inputs, but got {inputs!r}"
            )
        ranks = [len(one.shape) for one in inputs]
        if min(ranks) < max(ranks):
            inputs = [
                wt.reshape(one, (*one.shape[:1], *[1] * (max(ranks) - rank), *one.shape[1:]))
                for one, rank in zip(inputs, ranks, strict=True)
            ]
        return self.merged(list(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape that those of the inputs are broadcast to."""
        merged: tuple[Any, ...] = ()
        for shape in input_shape:
            merged = self._broadcast(merged, tuple(shape[1:]), input_shape)
        batches = {shape[0] for shape in input_shape} - {None}
        return (batches.pop() if len(batches) == 1 else None, *merged)

    def _broadcast(self, first: Shape, second: Shape, shapes: Any) -> tuple[Any, ...]:
        longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
        start = len(longer) - len(shorter)
        merged = list(longer[:start])
        for one, other in zip(longer[start:], shorter, strict=True):
            if 1 in (one, other):
                merged.append(other if one == 1 else one)
            elif None in (one, other) or one == other:
                merged.append(None if None in (one, other) else one)
            else:
                raise ValueError(
                    f"{type(self).__name__}: shapes of inputs do not fit together: {shapes}"
                )
        return tuple(merged)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return which steps count in any of the inputs, if all have a mask."""
        _check_masks(type(self).__name__, inputs, mask)
        if mask is None or any(one is None for one in mask):
            return None
        return reduce(either, mask)


class Add(Merge):
    """The sum of all inputs.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Add()([keras.ops.ones((1, 2)), keras.ops.ones((1, 2))]).tolist()
        [[2.0, 2.0]]
    """

    def merged(self, inputs: list[Tensor]) -> Tensor:
        """Add."""
        return reduce(wt.add, inputs)


class Subtract(Merge):
    """The first of two inputs less the second."""

    def build(self, input_shape: Any) -> None:
        """Check the shapes."""
        _check_shapes("Subtract", input_shape, 2)
        super().build(input_shape)

    def merged(self, inputs: list[Tensor]) -> Tensor:
        """Subtract."""
        return wt.subtract(*inputs)


class Multiply(Merge):
    """The product of all inputs; steps that an input's mask leaves out are 1 in it."""

    def merged(self, inputs: list[Tensor]) -> Tensor:
        """Multiply."""
        masks = [_spread_mask(one) for one in inputs]
        known = [one for one in masks if one is not None]
        product = reduce(
            wt.multiply,
            [
                one if mask is None else wt.where(mask, one, 1)
                for one, mask in zip(inputs, masks, strict=True)
            ],
        )
        if len(known) < len(inputs):
            return product
        counts = reduce(wt.logical_or, known)
        return _with_mask(wt.where(counts, product, 0), counts)


class Average(Merge):
    """The mean of all inputs."""

    def merged(self, inputs: list[Tensor]) -> Tensor:
        """Average."""
        return reduce(wt.add, inputs) / len(inputs)


def _with_mask(y: Tensor, counts: Tensor) -> Tensor:
    """Give a tensor the mask of steps of which any element counts."""
    y._keras_mask = wt.any(counts, -1)
    return y


class _Extreme(Merge):
    """The greatest or least of all inputs; of steps that one's mask leaves out, the others'."""

    _choose: Callable[..., Tensor]

    def merged(self, inputs: list[Tensor]) -> Tensor:
        """Choose, going on with what was chosen so far and its mask."""
        choose = type(self)._choose
        chosen, counts = inputs[0], _spread_mask(inputs[0])
        for one in inputs[1:]:
            mask = _spread_mask(one)
            held = one if mask is None else wt.where(mask, one, chosen)
            chosen = chosen if counts is None else wt.where(counts, chosen, held)
            is_known = mask is not None and counts is not None
            counts = wt.logical_or(counts, mask) if is_known else None
            chosen = choose(chosen, held)
        return chosen if counts is None else _with_mask(chosen, counts)


class Maximum(_Extreme):
    """The greatest of all inputs, element by element."""

    _choose = staticmethod(wt.maximum)


class Minimum(_Extreme):
    """The least of all inputs, element by element."""

    _choose = staticmethod(wt.minimum)


# -- side by side ------------------------------------------------------------------------------


class Concatenate(Merge):
    """All inputs side by side along an axis.

    Example:
        >>> from webtensor import keras
        >>> one, other = keras.Input((2, 3)), keras.Input((2, 4))
        >>> keras.layers.Concatenate()([one, other]).shape
        (None, 2, 7)
    """

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        """Check the shapes."""
        _check_shapes("Concatenate", input_shape)
        rank = len(input_shape[0])
        if not -rank <= self.axis < rank:
            raise ValueError(
                f"Concatenate: axis {self.axis} is out of range for inputs of shape "
                f"{tuple(input_shape[0])}"
            )
        others = [
            [length for axis, length in enumerate(shape) if axis != self.axis % rank]
            for shape in input_shape
        ]
        is_one_rank = len({len(shape) for shape in input_shape}) == 1
        if not is_one_rank or any(len({*one} - {None}) > 1 for one in zip(*others, strict=True)):
            raise ValueError(
                "Concatenate: inputs must have the same shape but for the length along axis "
                f"{self.axis}, but got {input_shape}"
            )

    def call(self, inputs: Any) -> Any:
        """Put side by side."""
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(
                f"Concatenate must be called with a list of inputs, but got {inputs!r}"
            )
        return self.merged(list(inputs))

    def merged(self, inputs: list[Tensor]) -> Tensor:
        """Put side by side."""
        return wt.concat(inputs, self.axis)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with the lengths along the axis added up."""
        _check_shapes("Concatenate", input_shape)
        lengths = [shape[self.axis] for shape in input_shape]
        found = list(input_shape[0])
        found[self.axis] = None if None in lengths else sum(lengths)
        return tuple(found)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the masks side by side; what has none counts."""
        _check_masks("Concatenate", inputs, mask)
        if mask is None or all(one is None for one in mask):
            return None
        ops = symbolic_ops()
        masks = []
        for one, own in zip(inputs, mask, strict=True):
            if own is None:
                own = ops.ones_like(one, dtype="bool")
            elif len(own.shape) < len(one.shape):
                own = ops.logical_or(ops.expand_dims(own, -1), ops.zeros_like(one, dtype="bool"))
            masks.append(own)
        return ops.any(ops.concatenate(masks, axis=self.axis), axis=-1)


# -- products ----------------------------------------------------------------------------------

#: ``1 / epsilon`` of a vector's norm: the greatest factor that a vector is multiplied by.
_GREATEST_FACTOR = 1e7


class Dot(Merge):
    """Products of two inputs, example by example, added up along an axis of each.

    ``axes`` is one number for both or one each; ``normalize`` makes unit vectors of them before.

    Example:
        >>> from webtensor import keras
        >>> x = keras.ops.ones((1, 3))
        >>> keras.layers.Dot(axes=1)([x, x]).tolist()
        [[3.0]]
    """

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(axes, (int, list, tuple)):
            raise TypeError(f"Dot: axes must be an integer or two of them, but got {axes!r}")
        if not isinstance(axes, int) and (
            len(axes) != 2 or not all(isinstance(one, int) for one in axes)
        ):
            raise ValueError(f"Dot: axes must be an integer or two of them, but got {axes!r}")
        self.axes = axes
        self.normalize = normalize

    def _positive_axes(self, shapes: Any) -> list[int]:
        each = [self.axes] * 2 if isinstance(self.axes, int) else self.axes
        found = []
        for axis, shape in zip(each, shapes, strict=True):
            rank = len(shape)
            if not -rank <= axis < rank or axis % rank == 0:
                raise ValueError(
                    f"Dot: axes must be axes after the batch, but got {self.axes} for inputs of "
                    f"shapes {[tuple(one) for one in shapes]}"
                )
            found.append(axis % rank)
        return found

    def build(self, input_shape: Any) -> None:
        """Check the shapes."""
        _check_shapes("Dot", input_shape, 2)
        axes = self._positive_axes(input_shape)
        lengths = {shape[axis] for shape, axis in zip(input_shape, axes, strict=True)}
        if len(lengths - {None}) > 1:
            raise ValueError(
                f"Dot: inputs have different lengths along axes={self.axes}: {input_shape}"
            )

    def call(self, inputs: Any) -> Any:
        """Multiply and add up."""
        if not isinstance(inputs, (list, tuple)) or len(inputs) != 2:
            raise ValueError(f"Dot must be called with a list of 2 inputs, but got {inputs!r}")
        axes = self._positive_axes([one.shape for one in inputs])
        pairs = list(zip(inputs, axes, strict=True))
        if self.normalize:
            pairs = [(_normalized(one, axis), axis) for one, axis in pairs]
        (x, a), (y, b) = pairs
        shape = (*x.shape[:a], *x.shape[a + 1 :], *y.shape[1:b], *y.shape[b + 1 :])
        left, transposed = _matrices(x, a)
        right, straight = _matrices(y, b)
        product = wt.matmul(left, right, transposed, not straight)
        return wt.reshape(product, shape if len(shape) > 1 else (*shape, 1))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch, then the other lengths of both; (batch, 1) if there are none."""
        _check_shapes("Dot", input_shape, 2)
        first, second = (list(one) for one in input_shape)
        axes = self._positive_axes(input_shape)
        first.pop(axes[0])
        second.pop(axes[1])
        shape = (*first, *second[1:])
        return shape if len(shape) > 1 else (*shape, 1)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """There are no steps left."""
        return None


def _normalized(x: Tensor, axis: int) -> Tensor:
    """Vectors of length 1 along an axis."""
    inverse = wt.rsqrt(wt.sum(wt.square(x), axis, True))
    return x * wt.minimum(inverse, _GREATEST_FACTOR)


def _matrices(x: Tensor, axis: int) -> tuple[Tensor, bool]:
    """Each example as a matrix with an axis first or last, and whether it is first."""
    batch, length = x.shape[0], x.shape[axis]
    others = prod(x.shape[1:]) // length if length else 0
    if axis == 1:
        return wt.reshape(x, (batch, length, others)), True
    rank = len(x.shape)
    if axis < rank - 1:
        x = wt.permute_dims(x, (*range(axis), *range(axis + 1, rank), axis))
    return wt.reshape(x, (batch, others, length)), False


# -- functions ---------------------------------------------------------------------------------


def add(inputs: Any, **kwargs: Any) -> Any:
    """Return what an ``Add`` layer returns."""
    return Add(**kwargs)(inputs)


def subtract(inputs: Any, **kwargs: Any) -> Any:
    """Return what a ``Subtract`` layer returns."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs: Any, **kwargs: Any) -> Any:
    """Return what a ``Multiply`` layer returns."""
    return Multiply(**kwargs)(inputs)


def average(inputs: Any, **kwargs: Any) -> Any:
    """Return what an ``Average`` layer returns."""
    return Average(**kwargs)(inputs)


def maximum(inputs: Any, **kwargs: Any) -> Any:
    """Return what a ``Maximum`` layer returns."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs: Any, **kwargs: Any) -> Any:
    """Return what a ``Minimum`` layer returns."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """Return what a ``Concatenate`` layer returns."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs: Any, axes: Any = -1, **kwargs: Any) -> Any:
    """Return what a ``Dot`` layer returns."""
    return Dot(axes=axes, **kwargs)(inputs)
