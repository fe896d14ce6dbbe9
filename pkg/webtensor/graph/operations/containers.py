"""Operations on arrays and lists of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.formats.graph_def import Shape, fits
from webtensor.graph.operations.arguments import (
    attribute,
    boolean,
    dtype,
    dtype_name,
    integer,
    integers,
)
from webtensor.graph.operations.rows import Host, Row
from webtensor.graph.resources import (
    TensorArray,
    TensorList,
    check_element,
    check_length,
    slices,
)

__all__ = ["ROWS"]


def _shape(value: Tensor) -> Shape:
    """Return a shape from a tensor, where -1 is an unknown size or, of rank 0, an unknown shape."""
    sizes = value.tolist()
    if not isinstance(sizes, list):
        return None
    return tuple(None if size < 0 else int(size) for size in sizes)


def _shape_input(index: int) -> Host:
    return Host(index, _shape, None)


def _flow() -> Tensor:
    return ops.tensor(0.0)


def _typed(read: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that reads elements, of which a node says the dtype and the shape too."""

    def checked(
        items: TensorArray | TensorList, *arguments: Any, declared_dtype: str | None, **options: Any
    ) -> Any:
        if declared_dtype not in (None, items.dtype):
            raise ValueError(f"the elements have dtype {items.dtype}, not {declared_dtype}")
        shape: Shape = options.get("shape")
        if not fits(items.shape, shape):
            raise ValueError(f"the elements have shape {items.shape}, not {shape}")
        return read(items, *arguments, **options)

    return checked


# -- arrays ------------------------------------------------------------------------------------


def array(size: int, **options: Any) -> tuple[TensorArray, Tensor]:
    """Return a new array, and the first of the tensors that order operations on it."""
    return TensorArray(size, **options), _flow()


def written(array: TensorArray, value: Tensor, flow: Tensor, index: int) -> Tensor:
    """Write an element."""
    array.write(index, value)
    return flow


def read(array: TensorArray, flow: Tensor, index: int) -> Tensor:
    """Return an element."""
    return array.read(index)


def gathered(array: TensorArray, flow: Tensor, indices: Sequence[int]) -> Tensor:
    """Return elements as one tensor."""
    return array.gather(indices)


def scattered(array: TensorArray, value: Tensor, flow: Tensor, indices: Sequence[int]) -> Tensor:
    """Write the slices of a tensor."""
    array.scatter(indices, value)
    return flow


def concatenated(array: TensorArray, flow: Tensor) -> Tensor:
    """Return all elements, joined."""
    return array.concat()


def split(array: TensorArray, value: Tensor, flow: Tensor, lengths: Sequence[int]) -> Tensor:
    """Write pieces of a tensor."""
    array.split(value, lengths)
    return flow


def size_of_array(array: TensorArray, flow: Tensor) -> Tensor:
    """Return the number of elements."""
    return ops.tensor(len(array.elements), dtype="int32")


def closed(array: TensorArray) -> tuple[()]:
    """Forget all elements."""
    array.elements.clear()
    return ()


# -- lists -------------------------------------------------------------------------------------


def reserved(length: int, dtype: str, shape: Shape) -> TensorList:
    """Return a list of elements that are not set yet."""
    count = check_length("TensorListReserve", length)
    return TensorList((None for _ in range(count)), dtype, shape)


def empty(dtype: str, shape: Shape, limit: int) -> TensorList:
    """Return a list without elements, which gets ``limit`` of them at most."""
    return TensorList((), dtype, shape, limit)


def list_of(value: Tensor | TensorList, dtype: str, shape: Shape) -> TensorList:
    """Return the slices of a tensor along its first axis."""
    if isinstance(value, TensorList):
        return value
    if not value.shape:
        raise ValueError("TensorListFromTensor: a tensor without axes has no slices")
    pieces = ops.unstack(value) if value.shape[0] else []
    return TensorList(
        [check_element("TensorListFromTensor", piece, dtype, shape) for piece in pieces],
        dtype,
        shape,
    )


def scattered_list(
    value: Tensor, indices: Sequence[int], dtype: str, shape: Shape, length: int = -1
) -> TensorList:
    """Return a list with the slices of a tensor at some indices."""
    count = length if length >= 0 else max((*(index + 1 for index in indices), 0))
    elements: list[Tensor | None] = [None] * check_length("TensorListScatter", count)
    for index, piece in zip(indices, slices("TensorListScatter", value, indices), strict=True):
        if not 0 <= index < count:
            raise IndexError(f"TensorListScatter: there is no element {index} among {count}")
        elements[index] = check_element("TensorListScatter", piece, dtype, shape)
    return TensorList(elements, dtype, shape)


def split_list(value: Tensor, dtype: str, shape: Shape, lengths: Sequence[int]) -> TensorList:
    """Return a list of pieces of a tensor."""
    return TensorList(ops.split(value, list(lengths), 0), dtype, shape)


def length_of(items: TensorList) -> Tensor:
    """Return the number of elements."""
    return ops.tensor(len(items.elements), dtype="int32")


_ELEMENT = dtype("element_dtype")
_LIST_DTYPE = attribute("element_dtype", None, dtype_name)
_ARRAY_DTYPE = attribute("dtype", None, dtype_name)

_ROWS = {
    # arrays
    "TensorArrayCloseV3": Row(closed, 0),
    "TensorArrayConcatV3": Row(_typed(concatenated), 0, 1, declared_dtype=_ARRAY_DTYPE),
    "TensorArrayGatherV3": Row(
        _typed(gathered), 0, 2, indices=integers(1), declared_dtype=_ARRAY_DTYPE
    ),
    "TensorArrayReadV3": Row(_typed(read), 0, 2, index=integer(1), declared_dtype=_ARRAY_DTYPE),
    "TensorArrayScatterV3": Row(scattered, 0, 2, 3, indices=integers(1)),
    "TensorArraySizeV3": Row(size_of_array, 0, 1),
    "TensorArraySplitV3": Row(split, 0, 1, 3, lengths=integers(2)),
    "TensorArrayV3": Row(
        array,
        integer(0),
        dtype=dtype(),
        shape=attribute("element_shape", None),
        is_dynamic=boolean("dynamic_size"),
        clears=boolean("clear_after_read", True),
    ),
    "TensorArrayWriteV3": Row(written, 0, 2, 3, index=integer(1)),
    # lists
    "EmptyTensorList": Row(empty, dtype=_ELEMENT, shape=_shape_input(0), limit=integer(1)),
    "TensorListConcat": Row(
        _typed(TensorList.concat),
        0,
        shape=attribute("element_shape", None),
        declared_dtype=_LIST_DTYPE,
    ),
    "TensorListConcatV2": Row(
        _typed(TensorList.concat), 0, shape=_shape_input(1), declared_dtype=_LIST_DTYPE
    ),
    "TensorListFromTensor": Row(list_of, 0, dtype=_ELEMENT, shape=_shape_input(1)),
    "TensorListGather": Row(
        _typed(TensorList.gather),
        0,
        indices=integers(1),
        shape=_shape_input(2),
        declared_dtype=_LIST_DTYPE,
    ),
    "TensorListGetItem": Row(
        _typed(TensorList.get),
        0,
        index=integer(1),
        shape=_shape_input(2),
        declared_dtype=_LIST_DTYPE,
    ),
    "TensorListLength": Row(length_of, 0),
    "TensorListPopBack": Row(
        _typed(TensorList.pop), 0, shape=_shape_input(1), declared_dtype=_LIST_DTYPE
    ),
    "TensorListPushBack": Row(TensorList.push, 0, 1),
    "TensorListReserve": Row(reserved, integer(1), dtype=_ELEMENT, shape=_shape_input(0)),
    "TensorListResize": Row(TensorList.resized, 0, length=integer(1)),
    "TensorListScatter": Row(
        scattered_list, 0, indices=integers(1), dtype=_ELEMENT, shape=_shape_input(2)
    ),
    "TensorListScatterV2": Row(
        scattered_list,
        0,
        indices=integers(1),
        dtype=_ELEMENT,
        shape=_shape_input(2),
        length=integer(3),
    ),
    "TensorListSetItem": Row(
        TensorList.set,
        0,
        index=integer(1),
        value=2,
        grows=boolean("resize_if_index_out_of_bounds"),
    ),
    "TensorListSplit": Row(
        split_list, 0, dtype=_ELEMENT, shape=_shape_input(1), lengths=integers(2)
    ),
    "TensorListStack": Row(
        _typed(TensorList.stack), 0, shape=_shape_input(1), declared_dtype=_LIST_DTYPE
    ),
}

ROWS = {op: row.impure().dynamic() for op, row in _ROWS.items()}
