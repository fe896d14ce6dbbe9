"""What is known of a model's inputs and outputs before it has run."""

from collections.abc import Sequence
from typing import NamedTuple

#: The dtypes that tensors have; files have others.
TENSOR_DTYPES = ("float32", "int32", "bool", "complex64", "string")
LONGEST_NAME = 80


class Specification(NamedTuple):
    """An input or output of a model.

    Attributes:
        name: its name.
        shape: its shape, in which unknown sizes are None; None if its rank is not known.
        dtype: its dtype in the file; "" if the file does not say it.
    """

    name: str
    shape: tuple[int | None, ...] | None
    dtype: str

    @property
    def tensor_dtype(self) -> str:
        """The dtype of the tensor: int32 for uint8, and so on."""
        if self.dtype in TENSOR_DTYPES:
            return self.dtype
        from webtensor.graph.operations.arguments import dtype_name  # it takes a while to load

        return str(dtype_name(self.dtype)) if self.dtype else "float32"

    @property
    def short_name(self) -> str:
        """The beginning of its name."""
        return self.name[:LONGEST_NAME]

    @property
    def kind(self) -> str:
        """Its dtype and its shape, in words."""
        return f"{self.dtype or 'any dtype'}, {written_shape(self.shape)}"


def written_shape(shape: Sequence[int | None] | None) -> str:
    """Write a shape; question marks stand for unknown sizes."""
    if shape is None:
        return "of any rank"
    return " × ".join("?" if size is None else str(size) for size in shape) or "a single number"
