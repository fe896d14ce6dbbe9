"""Batches: elements of the same structure become one structure of tensors, and the other way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from numbers import Number
from typing import Any, TypeAlias

from webtensor.dtypes import string_
from webtensor.engine import Tensor, Variable
from webtensor.nest import alike, flatten, is_nested, keys, map_structure
from webtensor.ops import pad, stack, take, tensor
from webtensor.shapes import Shape

__all__ = [
    "Leaf",
    "as_arrays",
    "as_tensor",
    "count_rows",
    "joined",
    "pad_to",
    "padded",
    "row_of",
    "rows_of",
]

#: Makes a batch of corresponding leaves; the integer is their index among the leaves of an element.
Leaf: TypeAlias = Callable[[str, Sequence[Any], int], Tensor]

# -- elements to batches ---------------------------------------------------------------------------


def joined(name: str, elements: Sequence[Any], leaf: Leaf | None = None) -> Any:
    """Return a structure of batches; its leaves have one more axis, the first.

    Args:
        name: the name of the transformation, for errors.
        elements: the elements, of one structure.
        leaf: what makes a batch of corresponding leaves; by default they are stacked.

    Raises:
        TypeError: a leaf cannot become a tensor.
        ValueError: structures, or shapes of leaves, differ.
    """
    return _joined(name, elements, leaf or _stacked, count())


def _joined(name: str, elements: Sequence[Any], leaf: Leaf, numbers: Iterator[int]) -> Any:
    first = elements[0]
    if not is_nested(first) or _is_array(first):
        return leaf(name, elements, next(numbers))
    own_keys = keys(first)
    for number, element in enumerate(elements):
        if type(element) is not type(first) or keys(element) != own_keys:
            raise ValueError(
                f"{name}: elements of a batch must have the same structure, but the first is "
                f"{_structure(first)}, and number {number} of the batch is {_structure(element)}"
            )
    parts = [
        _joined(name, [element[key] for element in elements], leaf, numbers) for key in own_keys
    ]
    return alike(first, parts)


def _is_array(value: Any) -> bool:
    """Whether a list holds numbers or text alone, also in lists, and so is one array."""
    return isinstance(value, list) and all(
        isinstance(leaf, (Number, str, bytes)) for leaf in flatten(value)
    )


def _structure(element: Any) -> str:
    if isinstance(element, dict):
        return f"a dict with keys {[*element]}"
    if is_nested(element):
        return f"a {type(element).__name__} of {len(element)}"
    return f"a {type(element).__name__}"


def _stacked(name: str, leaves: Sequence[Any], _: int) -> Tensor:
    if all(isinstance(leaf, (Number, str, bytes)) for leaf in leaves):
        return tensor(leaves if isinstance(leaves, list) else list(leaves))
    tensors = [as_tensor(name, leaf) for leaf in leaves]
    shape = tensors[0].shape
    for number, x in enumerate(tensors):
        if x.shape != shape:
            raise ValueError(
                f"{name}: elements of a batch must have the same shape, but the first has "
                f"{shape}, and number {number} of the batch {x.shape}; padded_batch pads them"
            )
    return stack(tensors)


def as_tensor(name: str, leaf: Any) -> Tensor:
    """Return a leaf as a tensor.

    Raises:
        TypeError: it is no number, text, array or list of these.
        ValueError: nested lists have different lengths.
    """
    if isinstance(leaf, Tensor):
        return leaf
    if isinstance(leaf, Variable):
        return leaf.value
    if leaf is None:
        raise TypeError(f"{name}: elements must become tensors, but one of them is None")
    try:
        return tensor(_without_objects(leaf))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None


def _without_objects(leaf: Any) -> Any:
    """Return arrays of Python objects, such as text in pandas, as lists."""
    array = leaf.to_numpy() if hasattr(leaf, "to_numpy") else leaf
    return array.tolist() if getattr(getattr(array, "dtype", None), "kind", "") == "O" else array


def padded(shapes: Any, values: Any, length: int | None = None) -> Leaf:
    """Return a function for ``joined`` that pads leaves to equal shapes.

    Args:
        shapes: a structure of shapes, in which None or -1 is ``length``; None alone is that for
            all axes.
        values: a structure of what is put in, or one value for all; None is 0 or an empty text.
        length: the size of axes whose size is not given; None is the longest of a batch.
    """
    own_shapes = None if shapes is None else _shape_leaves(shapes)
    own_values = flatten(values)

    def pad_and_stack(name: str, leaves: Sequence[Any], number: int) -> Tensor:
        tensors = [as_tensor(name, leaf) for leaf in leaves]
        own_shape = None if own_shapes is None else own_shapes[number]
        shape = _padded_shape(name, tensors, own_shape, length)
        value = own_values[number if len(own_values) > 1 else 0]
        return stack([pad_to(name, x, shape, value) for x in tensors])

    return pad_and_stack


def _shape_leaves(shapes: Any) -> list[Any]:
    """Return the shapes in a structure; a list or tuple of numbers and None is a shape."""
    if isinstance(shapes, dict):
        return [leaf for key in keys(shapes) for leaf in _shape_leaves(shapes[key])]
    if all(length is None or isinstance(length, int) for length in shapes):
        return [shapes]
    return [leaf for part in shapes for leaf in _shape_leaves(part)]


def _padded_shape(
    name: str, tensors: Sequence[Tensor], shape: Sequence[int | None] | None, length: int | None
) -> Shape:
    ranks = {len(x.shape) for x in tensors}
    if len(ranks) > 1:
        raise ValueError(f"{name}: elements of a batch must have the same rank, but have {ranks}")
    largest = tuple(max(sizes) for sizes in zip(*(x.shape for x in tensors), strict=True))
    defaults = largest if length is None else (length,) * len(largest)
    if shape is None:
        return defaults
    if len(shape) != len(largest):
        raise ValueError(
            f"{name}: padded_shapes has {list(shape)} for elements of rank {len(largest)}"
        )
    return tuple(
        default if size is None or size < 0 else size
        for default, size in zip(defaults, shape, strict=True)
    )


def pad_to(name: str, x: Tensor, shape: Shape, value: Any) -> Tensor:
    """Return a tensor that is padded with a value at the end of each axis.

    Raises:
        ValueError: an axis is longer than its new size.
    """
    if x.shape == shape:
        return x
    if any(size > new_size for size, new_size in zip(x.shape, shape, strict=True)):
        raise ValueError(
            f"{name}: an element of shape {x.shape} does not fit padded_shapes {shape}"
        )
    if x.dtype is string_:  # which is on the host
        return tensor(_padded_text(x.tolist(), shape, "" if value is None else value))
    widths = [(0, new_size - size) for size, new_size in zip(x.shape, shape, strict=True)]
    return pad(x, widths, 0 if value is None else value)


def _padded_text(texts: Any, shape: Shape, value: str) -> Any:
    if not shape:
        return texts
    missing = _repeated(value, shape[1:])
    parts = [_padded_text(part, shape[1:], value) for part in texts]
    return parts + [missing] * (shape[0] - len(parts))


def _repeated(value: str, shape: Shape) -> Any:
    return [_repeated(value, shape[1:])] * shape[0] if shape else value


# -- arrays to elements ----------------------------------------------------------------------------


def as_arrays(name: str, structure: Any) -> Any:
    """Return a structure of tensors and NumPy arrays; a list that is no structure is one array.

    Raises:
        TypeError: a leaf cannot become a tensor.
        ValueError: nested lists have different lengths.
    """
    if isinstance(structure, list):
        if any(isinstance(leaf, (Tensor, Variable)) for leaf in structure):
            return stack(structure)
        return as_tensor(name, structure)
    if is_nested(structure):
        return alike(structure, [as_arrays(name, structure[key]) for key in keys(structure)])
    if hasattr(structure, "__array__") and not isinstance(structure, (Tensor, Variable)):
        array = _without_objects(structure)
        return as_tensor(name, array) if isinstance(array, list) else array
    return as_tensor(name, structure)


def count_rows(name: str, arrays: Any) -> int:
    """Return the size of the first axis of all arrays.

    Raises:
        ValueError: there is no array, one is a scalar, or the lengths differ.
    """
    shapes = [tuple(leaf.shape) for leaf in flatten(arrays)]
    if not shapes or () in shapes:
        raise ValueError(f"{name}: tensors must have an axis of elements, but have shapes {shapes}")
    counts = {shape[0] for shape in shapes}
    if len(counts) > 1:
        raise ValueError(f"{name}: tensors must have equally many elements, but have {counts}")
    return int(counts.pop())


def row_of(arrays: Any, index: int) -> Any:
    """Return the element of arrays at an index."""
    return map_structure(lambda array: _tensor_of(array[index]), arrays)


def rows_of(arrays: Any, indices: list[int]) -> Any:
    """Return the elements of arrays at some indices, as a batch."""
    first, count = indices[0], len(indices)
    if indices == list(range(first, first + count)):
        return map_structure(lambda array: _tensor_of(array[first : first + count]), arrays)

    def chosen(array: Any) -> Tensor:
        if isinstance(array, Tensor):
            return take(array, tensor(indices, dtype="int32"), axis=0)
        return tensor(array[indices])

    return map_structure(chosen, arrays)


def _tensor_of(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else tensor(value)
