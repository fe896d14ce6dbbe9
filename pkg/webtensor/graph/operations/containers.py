"""Operations on arrays and lists of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.formats.graph_def import Shape
from webtensor.graph.operations.arguments import attribute, boolean, dtype, integer, integers
from webtensor.graph.operations.rows import Host, Row
from webtensor.graph.resources import TensorArray, TensorList, check_length

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


def empty(dtype: str, shape: Shape) -> TensorList:
    """Return a list without elements."""
    return TensorList((), dtype, shape)


def list_of(value: Tensor, dtype: str, shape: Shape) -> TensorList:
    """Return the slices of a tensor along its first axis."""
    return TensorList(ops.unstack(value) if value.shape[0] else (), dtype, shape)


def scattered_list(
    value: Tensor, indices: Sequence[int], dtype: str, shape: Shape, length: int = -1
) -> TensorList:
    """Return a list with the slices of a tensor at some indices."""
    count = max((*(index + 1 for index in indices), length))
    elements: list[Tensor | None] = [None] * check_length("TensorListScatter", count)
    for index, piece in zip(indices, ops.unstack(value), strict=True):
        if index < 0:
            raise IndexError(f"TensorListScatter: there is no element {index}")
        elements[index] = piece
    return TensorList(elements, dtype, shape)


def split_list(value: Tensor, dtype: str, shape: Shape, lengths: Sequence[int]) -> TensorList:
    """Return a list of pieces of a tensor."""
    return TensorList(ops.split(value, list(lengths), 0), dtype, shape)


def length_of(items: TensorList) -> Tensor:
    """Return the number of elements."""
    return ops.tensor(len(items.elements), dtype="int32")


_ELEMENT = dtype("element_dtype")

_ROWS = {
    # arrays
    "TensorArrayCloseV3": Row(closed, 0),
    "TensorArrayConcatV3": Row(concatenated, 0, 1),
    "TensorArrayGatherV3": Row(gathered, 0, 2, indices=integers(1)),
    "TensorArrayReadV3": Row(read, 0, 2, index=integer(1)),
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
    "EmptyTensorList": Row(empty, dtype=_ELEMENT, shape=_shape_input(0)),
    "TensorListConcat": Row(TensorList.concat, 0, shape=attribute("element_shape", None)),
    "TensorListConcatV2": Row(TensorList.concat, 0, shape=_shape_input(1)),
    "TensorListFromTensor": Row(list_of, 0, dtype=_ELEMENT, shape=_shape_input(1)),
    "TensorListGather": Row(TensorList.gather, 0, indices=integers(1), shape=_shape_input(2)),
    "TensorListGetItem": Row(TensorList.get, 0, index=integer(1), shape=_shape_input(2)),
    "TensorListLength": Row(length_of, 0),
    "TensorListPopBack": Row(TensorList.pop, 0, shape=_shape_input(1)),
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
    "TensorListStack": Row(TensorList.stack, 0, shape=_shape_input(1)),
}

ROWS = {op: row.impure().dynamic() for op, row in _ROWS.items()}
