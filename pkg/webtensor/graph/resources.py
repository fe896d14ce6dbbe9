"""Values of graphs that are no tensors: arrays and lists of tensors, and hash tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.errors import TensorSizeError
from webtensor.formats.graph_def import Shape, fits

__all__ = ["HashTable", "TensorArray", "TensorList"]

#: Lists with more tensors are a mistake: 128 MiB of references.
_MAX_ELEMENTS = 1 << 24


def check_length(op: str, length: int) -> int:
    """Return the length of a list.

    Raises:
        ValueError: it is negative, or too large.
    """
    if length < 0:
        raise ValueError(f"{op}: a list has no {length} elements")
    if length > _MAX_ELEMENTS:
        raise TensorSizeError(f"{op}: a list of {length} elements is too long")
    return length


def check_element(op: str, value: Tensor, dtype: str, shape: Shape) -> Tensor:
    """Return a tensor that is to be an element of an array or a list.

    Raises:
        ValueError: it has another dtype or shape than the elements.
    """
    if dtype == "variant":
        return value
    if str(value.dtype) != dtype:
        raise ValueError(f"{op}: the elements have dtype {dtype}, but got {value.dtype}")
    if not fits(value.shape, shape):
        raise ValueError(f"{op}: the elements have shape {shape}, but got {value.shape}")
    return value


def _element(op: str, elements: Sequence[Tensor | None], index: int) -> Tensor:
    if not 0 <= index < len(elements):
        raise IndexError(f"{op}: there is no element {index} among {len(elements)}")
    element = elements[index]
    if element is None:
        raise ValueError(f"{op}: element {index} was never written")
    return element


def slices(op: str, value: Tensor, indices: Sequence[int]) -> Sequence[Tensor]:
    """Return the slices of a tensor along its first axis, one for each index.

    Raises:
        ValueError: there are more or fewer.
    """
    count = value.shape[0] if value.shape else 0
    if count != len(indices):
        raise ValueError(f"{op}: there are {len(indices)} indices, but {count} elements")
    return ops.unstack(value) if count else []


def _stacked(elements: Sequence[Tensor], shape: Shape, dtype: str) -> Tensor:
    """Stack tensors; without any, the shape of elements decides."""
    if elements:
        return ops.stack(list(elements))
    return ops.zeros((0, *(size or 0 for size in shape or ())), dtype)


def _joined(elements: Sequence[Tensor], shape: Shape, dtype: str) -> Tensor:
    """Join tensors along their first axis."""
    if elements:
        return ops.concat(list(elements), 0)
    return ops.zeros((0, *(size or 0 for size in (shape or ())[1:])), dtype)


class TensorArray:
    """An array of tensors that operations write into, one element after another."""

    def __init__(self, size: int, dtype: str, shape: Shape, is_dynamic: bool, clears: bool) -> None:
        self.dtype, self.shape, self.is_dynamic, self.clears = dtype, shape, is_dynamic, clears
        self.elements: list[Tensor | None] = [None] * check_length("TensorArrayV3", size)
        self._written: set[int] = set()

    def write(self, index: int, value: Tensor) -> None:
        """Set an element, which is possible once; dynamic arrays grow."""
        self._write(index, value, self.shape)

    def _write(self, index: int, value: Tensor, shape: Shape) -> None:
        if self.is_dynamic and index >= len(self.elements):
            count = check_length("TensorArrayWriteV3", index + 1) - len(self.elements)
            self.elements += [None] * count
        if not 0 <= index < len(self.elements):
            raise IndexError(
                f"TensorArrayWriteV3: there is no element {index} among {len(self.elements)}"
            )
        check_element("TensorArrayWriteV3", value, self.dtype, shape)
        if index in self._written:
            raise ValueError(f"TensorArrayWriteV3: element {index} was written before")
        self._written.add(index)
        self.elements[index] = value

    def read(self, index: int) -> Tensor:
        """Return an element, and forget it where the graph says so."""
        value = _element("TensorArrayReadV3", self.elements, index)
        if self.clears:
            self.elements[index] = None
        return value

    def gather(self, indices: Iterable[int]) -> Tensor:
        """Return elements as one tensor with a new first axis."""
        elements = [_element("TensorArrayGatherV3", self.elements, index) for index in indices]
        return _stacked(elements, self.shape, self.dtype)

    def scatter(self, indices: Sequence[int], value: Tensor) -> None:
        """Write the slices of a tensor along its first axis."""
        for index, piece in zip(
            indices, slices("TensorArrayScatterV3", value, indices), strict=True
        ):
            self.write(index, piece)

    def concat(self) -> Tensor:
        """Return all elements, joined along their first axis."""
        elements = [
            _element("TensorArrayConcatV3", self.elements, index)
            for index in range(len(self.elements))
        ]
        return _joined(elements, self.shape, self.dtype)

    def split(self, value: Tensor, lengths: Sequence[int]) -> None:
        """Write pieces of a tensor of these lengths."""
        if len(lengths) != len(self.elements) and not self.is_dynamic:
            raise ValueError(
                f"TensorArraySplitV3: there are {len(self.elements)} elements, but {len(lengths)} "
                "lengths"
            )
        for index, piece in enumerate(ops.split(value, list(lengths), 0)):
            self._write(index, piece, None)


class TensorList:
    """A list of tensors that never changes: operations return changed copies."""

    def __init__(self, elements: Iterable[Any], dtype: str, shape: Shape, limit: int = -1) -> None:
        self.elements = tuple(elements)
        self.dtype, self.shape = dtype, shape
        #: The maximum number of elements; -1 where there is none.
        self.limit = limit

    def _with(self, elements: Iterable[Tensor | None]) -> TensorList:
        return TensorList(elements, self.dtype, self.shape, self.limit)

    def get(self, index: int, shape: Shape) -> Tensor:
        """Return an element; zeros stand for one that was never set, if its shape is known."""
        if 0 <= index < len(self.elements) and self.elements[index] is None:
            return ops.zeros(self._zeros_shape(index, shape), self.dtype)
        return _element("TensorListGetItem", self.elements, index)

    def _zeros_shape(self, index: int, shape: Shape) -> tuple[int, ...]:
        element_shapes = (element.shape for element in self.elements if element is not None)
        for candidate in (shape, self.shape, next(element_shapes, None)):
            if candidate is not None and None not in candidate:
                return tuple(size for size in candidate if size is not None)
        raise ValueError(
            f"TensorListGetItem: element {index} was never set, nor is its shape known"
        )

    def set(self, index: int, value: Tensor, grows: bool = False) -> TensorList:
        """Return the list with another element, longer if it must be and ``grows``."""
        if grows and index >= len(self.elements):
            return self.resized(index + 1).set(index, value)
        if not 0 <= index < len(self.elements):
            raise IndexError(
                f"TensorListSetItem: there is no element {index} among {len(self.elements)}"
            )
        check_element("TensorListSetItem", value, self.dtype, self.shape)
        return self._with((*self.elements[:index], value, *self.elements[index + 1 :]))

    def resized(self, length: int) -> TensorList:
        """Return the list with elements that were never set at its end, or without some there."""
        count = check_length("TensorListResize", length) - len(self.elements)
        return self._with((*self.elements, *(None for _ in range(count)))[:length])

    def gather(self, indices: Iterable[int], shape: Shape) -> Tensor | TensorList:
        """Return elements as one tensor with a new first axis, or as a list if they are lists."""
        element_shape = self.shape if shape is None else shape
        elements = [self.get(index, element_shape) for index in indices]
        if self.dtype == "variant":
            return self._with(elements)
        return _stacked(elements, element_shape, self.dtype)

    def stack(self, shape: Shape) -> Tensor | TensorList:
        """Return all elements as one tensor with a new first axis."""
        return self.gather(range(len(self.elements)), shape)

    def concat(self, shape: Shape) -> tuple[Tensor, Tensor]:
        """Return all elements, joined along their first axis, and their lengths."""
        elements = [self.get(index, shape) for index in range(len(self.elements))]
        lengths = [element.shape[0] for element in elements]
        return (
            _joined(elements, shape or self.shape, self.dtype),
            ops.tensor(lengths, shape=(len(lengths),), dtype="int32"),
        )

    def push(self, value: Tensor) -> TensorList:
        """Return the list with an element more."""
        check_element("TensorListPushBack", value, self.dtype, self.shape)
        if len(self.elements) == self.limit:
            raise ValueError(f"TensorListPushBack: the list has {self.limit} elements at most")
        return self._with((*self.elements, value))

    def pop(self, shape: Shape) -> tuple[TensorList, Tensor]:
        """Return the list without its last element, and that."""
        if not self.elements:
            raise IndexError("TensorListPopBack: the list is empty")
        return self._with(self.elements[:-1]), self.get(len(self.elements) - 1, shape)


class HashTable:
    """A table of values by their keys, which are integers, floats or strings."""

    def __init__(self, key_dtype: str, value_dtype: str) -> None:
        self.key_dtype, self.value_dtype = key_dtype, value_dtype
        self.values: dict[Any, Any] = {}

    def fill(self, keys: Tensor, values: Tensor) -> None:
        """Replace all keys and their values.

        Raises:
            ValueError: there are not as many values as keys, or they have other dtypes than the
                table.
        """
        _check_dtype("keys", keys, self.key_dtype)
        _check_dtype("values", values, self.value_dtype)
        if keys.size != values.size:
            raise ValueError(f"a hash table got {keys.size} keys, but {values.size} values")
        self.values = dict(zip(_elements(keys), _elements(values), strict=True))

    def find(self, keys: Tensor, default: Tensor) -> Tensor:
        """Return the values of keys, in the shape of the keys.

        Raises:
            ValueError: the keys or the default have other dtypes than the table, or the default is
                not one element.
        """
        _check_dtype("keys", keys, self.key_dtype)
        _check_dtype("default", default, self.value_dtype)
        if default.size != 1:
            raise ValueError(f"a hash table's default has shape {default.shape}, but must be one")
        (default_value,) = _elements(default)
        values = [self.values.get(key, default_value) for key in _elements(keys)]
        return ops.tensor(values, shape=keys.shape, dtype=self.value_dtype)


def _check_dtype(what: str, value: Tensor, dtype: str) -> None:
    if str(value.dtype) != dtype:
        raise ValueError(f"a hash table has {what} of dtype {dtype}, but got {value.dtype}")


def _elements(value: Tensor) -> list[Any]:
    if str(value.dtype) == "string":
        return list(value.bytes_sync())
    elements = ops.reshape(value, (-1,)).tolist()
    assert isinstance(elements, list)
    return elements
