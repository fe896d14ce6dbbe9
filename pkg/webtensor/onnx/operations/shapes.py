"""Operators that make tensors of shapes, and that change shapes without computing elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.graph.operations.arrays import size_of
from webtensor.onnx.operations.element_types import dtype_of
from webtensor.onnx.operations.operators import Operator, integers, number

__all__ = ["ROWS", "checked_shape", "host_shape"]

#: The most elements of a tensor that is made of a shape, and of one that Python computes.
_MAX_ELEMENTS = 1 << 28
_MAX_HOST_ELEMENTS = 1 << 22


def checked_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of a tensor that is to be made.

    Raises:
        ValueError: it has negative sizes, or too many elements.
    """
    if min(shape, default=0) < 0 or prod(shape) > _MAX_ELEMENTS:
        raise ValueError(f"a tensor cannot have the shape {tuple(shape)}")
    return tuple(shape)


def host_shape(*shape: int) -> tuple[int, ...]:
    """Return the shape of a tensor that Python computes.

    Raises:
        ValueError: it has too many elements.
    """
    if prod(checked_shape(shape)) > _MAX_HOST_ELEMENTS:
        raise ValueError(
            f"a tensor of shape {shape} would have more than {_MAX_HOST_ELEMENTS} elements"
        )
    return shape


# -- shapes ------------------------------------------------------------------------------------


def shape_of(x: Tensor, *, start: int = 0, end: int | None = None) -> Tensor:
    """Return the shape, or a part of it."""
    sizes = list(x.shape)[start:end]
    return ops.tensor(sizes, shape=(len(sizes),), dtype="int32")


def reshaped(x: Tensor, shape: list[int], *, allowzero: int = 0) -> Tensor:
    """Change the shape; a size of 0 is that of the input, unless zeros are allowed."""
    if not allowzero:
        if any(not size and index >= len(x.shape) for index, size in enumerate(shape)):
            raise ValueError(f"the shape {shape} copies a size that {x.shape} does not have")
        shape = [size or x.shape[index] for index, size in enumerate(shape)]
    return ops.reshape(x, shape)


def flattened(x: Tensor, *, axis: int = 1) -> Tensor:
    """Return a matrix, whose rows are made of the axes from one on."""
    if not -len(x.shape) <= axis <= len(x.shape):
        raise ValueError(f"axis {axis} is none of shape {x.shape}")
    return ops.reshape(x, (prod(x.shape[:axis]), prod(x.shape[axis:])))


def squeezed(x: Tensor, axes: list[int] | None = None) -> Tensor:
    """Remove axes of size 1."""
    return ops.squeeze(x, axes)


def unsqueezed(x: Tensor, axes: list[int]) -> Tensor:
    """Add axes of size 1."""
    rank = len(x.shape) + len(axes)
    if any(not -rank <= axis < rank for axis in axes):
        raise ValueError(f"axes {axes} are none of rank {rank}")
    new = {axis % rank for axis in axes}
    if len(new) < len(axes):
        raise ValueError(f"axes {axes} name one twice")
    sizes = iter(x.shape)
    return ops.reshape(x, [1 if axis in new else next(sizes) for axis in range(rank)])


def transposed(x: Tensor, *, perm: list[int] | None = None) -> Tensor:
    """Reorder axes, or reverse them."""
    order = range(len(x.shape))[::-1] if perm is None else perm
    return ops.permute_dims(x, tuple(order))


def expanded(x: Tensor, shape: list[int]) -> Tensor:
    """Broadcast to what a shape and the input's broadcast to."""
    return ops.broadcast_to(x, checked_shape(ops.broadcast_shapes(x.shape, tuple(shape))))


def tiled(x: Tensor, repeats: list[int]) -> Tensor:
    """Repeat along each axis."""
    checked_shape([size * repeat for size, repeat in zip(x.shape, repeats, strict=True)])
    return ops.tile(x, repeats)


# -- joins and pieces --------------------------------------------------------------------------


def joined(*values: Tensor, axis: int = 1) -> Tensor:
    """Join along an axis."""
    return ops.concat(values, axis)


def split_sizes(size: int, pieces: int) -> list[int]:
    """Return the sizes of pieces that are equal, save for the last."""
    length = ceil(size / pieces)
    return [min(length, max(size - index * length, 0)) for index in range(pieces)]


def pieces(
    x: Tensor, split: list[int] | None = None, *, axis: int = 0, num_outputs: int
) -> list[Tensor]:
    """Return pieces along an axis."""
    sizes = split or split_sizes(x.shape[axis], num_outputs)
    return ops.split(x, sizes, axis)


# -- creation ----------------------------------------------------------------------------------


def constant_of_shape(shape: list[int], *, value: Tensor | None = None) -> Tensor:
    """Repeat one element."""
    if value is None:
        return ops.zeros(checked_shape(shape))
    return ops.full(checked_shape(shape), number(value), str(value.dtype))


def eye_like(x: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    """Return a matrix of the shape of another, with ones on a diagonal."""
    if len(x.shape) != 2:
        raise ValueError(f"its input must be a matrix, but has shape {x.shape}")
    ones = ops.ones(x.shape, x.dtype if dtype is None else dtype_of(dtype))
    return ops.triu(ops.tril(ones, k), k)  # not eye, whose elements are constants to the converter


def _on_host(value: Tensor) -> Tensor:
    return value


def sequence(start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    """Return the numbers from one to another."""
    first, last, step = (number(operand) for operand in (start, limit, delta))
    if not step:
        raise ValueError("delta is 0")
    count = max(ceil((last - first) / step), 0)
    checked_shape((count,))
    if str(start.dtype) == "int32":
        return ops.arange(first, last, step, "int32")
    steps: Tensor = ops.astype(ops.arange(count), "float32") * step
    return ops.add(steps, first)


def uniform(
    *,
    shape: list[int],
    low: float = 0.0,
    high: float = 1.0,
    dtype: int = 1,
    seed: float | None = None,
) -> Tensor:
    """Return uniformly distributed random numbers."""
    return ops.random_uniform(checked_shape(shape), low, high, dtype_of(dtype), seed)


def uniform_like(
    x: Tensor,
    *,
    low: float = 0.0,
    high: float = 1.0,
    dtype: int = 1,
    seed: float | None = None,
) -> Tensor:
    """Return uniformly distributed random numbers in the shape of a tensor."""
    return ops.random_uniform(x.shape, low, high, dtype_of(dtype), seed)


def normal(
    *,
    shape: list[int],
    mean: float = 0.0,
    scale: float = 1.0,
    dtype: int = 1,
    seed: float | None = None,
) -> Tensor:
    """Return normally distributed random numbers."""
    return ops.random_normal(checked_shape(shape), mean, scale, dtype_of(dtype), seed)


def normal_like(
    x: Tensor,
    *,
    mean: float = 0.0,
    scale: float = 1.0,
    dtype: int = 1,
    seed: float | None = None,
) -> Tensor:
    """Return normally distributed random numbers in the shape of a tensor."""
    return ops.random_normal(x.shape, mean, scale, dtype_of(dtype), seed)


def bernoulli(x: Tensor, *, dtype: int = 1, seed: float | None = None) -> Tensor:
    """Return 1 with the probabilities in a tensor, else 0."""
    drawn = ops.less(ops.random_uniform(x.shape, seed=seed), x)
    return ops.astype(drawn, dtype_of(dtype))


def multinomial(x: Tensor, *, sample_size: int = 1, seed: float | None = None) -> Tensor:
    """Draw indices by the logarithms of their probabilities."""
    return ops.multinomial(x, sample_size, seed)


ROWS: dict[str, Row] = {
    "Bernoulli-1": Operator(bernoulli).impure(),
    "Concat-1": Operator(joined),
    "ConstantOfShape-1": Operator(constant_of_shape, shape=integers),
    "Expand-1": Operator(expanded, shape=integers),
    "EyeLike-1": Operator(eye_like),
    "Flatten-1": Operator(flattened),
    "Multinomial-1": Operator(multinomial).ignoring("dtype").impure(),
    "RandomNormal-1": Operator(normal).impure(),
    "RandomNormalLike-1": Operator(normal_like).impure(),
    "RandomUniform-1": Operator(uniform).impure(),
    "RandomUniformLike-1": Operator(uniform_like).impure(),
    "Range-1": Operator(sequence, **dict.fromkeys(("start", "limit", "delta"), _on_host)).dynamic(),
    "Reshape-1": Operator(reshaped, shape=integers),
    "Shape-1": Operator(shape_of).of_shapes(),
    "Size-1": Row(size_of, 0).of_shapes(),
    "Split-1": Operator(pieces, split=integers),
    "Squeeze-1": Operator(squeezed, axes=integers),
    "Tile-1": Operator(tiled, repeats=integers),
    "Transpose-1": Operator(transposed),
    "Unsqueeze-1": Operator(unsqueezed, axes=integers),
}
