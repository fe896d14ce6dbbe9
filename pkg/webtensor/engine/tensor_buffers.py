"""TensorBuffer: a mutable array on the host, to fill element by element before making a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.dtypes import DType, as_dtype, float32, string_
from webtensor.engine.convert import pack, python_numbers
from webtensor.engine.storage import host_storage
from webtensor.engine.tensor import Tensor
from webtensor.shapes import as_shape, contiguous_strides, prod

__all__ = ["TensorBuffer", "buffer"]


class TensorBuffer:
    """Elements of one dtype that can be set one by one; ``wt.buffer`` creates it.

    Example:
        >>> import webtensor as wt
        >>> buffer = wt.buffer((2,), "float32")
        >>> buffer.set(5.0, 1)
        >>> buffer.to_tensor().tolist()
        [0.0, 5.0]
    """

    def __init__(self, shape: Sequence[int], dtype: DType, values: Sequence[Any] | None) -> None:
        self.shape = as_shape("buffer", shape)
        self.dtype = dtype
        size = prod(self.shape)
        elements = ["" if dtype is string_ else 0] * size if values is None else list(values)
        if len(elements) != size:
            raise ValueError(
                f"buffer: shape {self.shape} holds {size} elements, but values has {len(elements)}"
            )
        self.values = python_numbers(pack("buffer", elements, dtype), dtype)
        self._strides = contiguous_strides(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(self.values)

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def _flat_index(self, name: str, indices: Sequence[int]) -> int:
        if len(indices) != len(self.shape) or not all(
            0 <= index < size for index, size in zip(indices, self.shape, strict=False)
        ):
            raise IndexError(f"{name}: indices {tuple(indices)} do not lie within {self.shape}")
        return sum(index * stride for index, stride in zip(indices, self._strides, strict=True))

    def get(self, *indices: int) -> Any:
        """Return the element at the indices; none are needed for rank 0.

        Raises:
            IndexError: not one index within the shape for each axis.
        """
        return self.values[self._flat_index("get", indices)]

    def set(self, value: Any, *indices: int) -> None:
        """Set the element at the indices.

        Raises:
            IndexError: not one index within the shape for each axis.
        """
        index = self._flat_index("set", indices)
        self.values[index] = python_numbers(pack("set", [value], self.dtype), self.dtype)[0]

    def loc_to_index(self, indices: Sequence[int]) -> int:
        """Return the index in ``values`` of the element at the indices.

        Raises:
            IndexError: not one index within the shape for each axis.
        """
        return self._flat_index("loc_to_index", indices)

    def index_to_loc(self, index: int) -> tuple[int, ...]:
        """Return the indices of the element at an index in ``values``.

        Raises:
            IndexError: there is no such element.
        """
        if not 0 <= index < self.size:
            raise IndexError(f"index_to_loc: index {index} does not lie within {self.shape}")
        return tuple(
            index // stride % size for stride, size in zip(self._strides, self.shape, strict=True)
        )

    def to_tensor(self) -> Tensor:
        """Make a tensor of the elements as they are now."""
        host = pack("buffer", self.values, self.dtype)
        return Tensor(host_storage(self.dtype, host), self.shape, self.dtype)


def buffer(
    shape: Sequence[int], dtype: Any = float32, values: Sequence[Any] | None = None
) -> TensorBuffer:
    """Make a mutable host array of a shape, of zeros or of flat ``values``.

    Raises:
        ValueError: the shape does not hold the values.

    Example:
        >>> import webtensor as wt
        >>> board = wt.buffer((2, 2), "int32")
        >>> board.set(5, 0, 1)
        >>> board.to_tensor().tolist()
        [[0, 5], [0, 0]]
    """
    return TensorBuffer(shape, as_dtype(dtype), values)
