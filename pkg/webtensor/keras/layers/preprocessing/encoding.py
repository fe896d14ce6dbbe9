"""Categories as vectors: what the layers for categories, bins and words share.

Categories come as tensors, arrays or lists. Arrays of Python objects, in which tables often have
their texts, are converted to lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import DType, float32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.layers.layer import Layer
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Shape

__all__ = [
    "MODES",
    "CategoryLayer",
    "EncodingLayer",
    "batches_of",
    "checked_mode",
    "checked_sparse",
    "encoded",
    "encoded_shape",
    "without_objects",
]

MODES = ("int", "one_hot", "multi_hot", "count")
#: The modes that had other names in Keras 2.
_KERAS2_MODES = {"binary": "multi_hot", "tf-idf": "tf_idf"}


def without_objects(data: TensorLike) -> TensorLike:
    """Convert an array of Python objects to a list; return other data unchanged."""
    return data.tolist() if getattr(getattr(data, "dtype", None), "kind", "") == "O" else data


class EncodingLayer(Layer):
    """The base of layers that return indices, or vectors that encode them.

    Input shape: any, or (batch, categories) for vectors with one row per example.
    Output shape: that of the inputs for ``output_mode="int"``; for ``"one_hot"`` with the depth as
    a further dimension (or in place of a last dimension of 1); otherwise with the depth as the
    last dimension.

    Args:
        output_mode: the form of the outputs: ``"int"`` for indices, ``"one_hot"`` for a vector per
            index, ``"multi_hot"`` for a vector per example with a 1 at each of its indices,
            ``"count"`` for a vector per example with the number of times that each index occurs.
        sparse: False; tensors are always dense.
    """

    @property
    def output_dtype(self) -> DType:
        """The dtype of the outputs."""
        return self.compute_dtype

    def compute_output_spec(self, *args: KerasTensor, **kwargs: object) -> KerasTensor:
        """Return a symbolic tensor with the shape and the dtype of the outputs."""
        return KerasTensor(self.compute_output_shape(args[0].shape), self.output_dtype)


class CategoryLayer(EncodingLayer):
    """The base of layers whose inputs may be arrays of Python objects."""

    def __call__(self, inputs: TensorLike, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(without_objects(inputs), *args, **kwargs)


def checked_mode(name: str, mode: str, modes: tuple[str, ...] = MODES) -> str:
    """Validate ``output_mode``, and return it by its current name.

    Raises:
        ValueError: the mode is unknown.
    """
    current = _KERAS2_MODES.get(mode, mode) if isinstance(mode, str) else mode
    if current not in modes:
        raise ValueError(f"{name}: output_mode must be one of {', '.join(modes)}, but got {mode!r}")
    return current


def checked_sparse(name: str, sparse: bool) -> bool:
    """Validate ``sparse``, which must be False.

    Raises:
        ValueError: it is True.
    """
    if sparse:
        raise ValueError(f"{name}: sparse must be False: layers do not support sparse tensors")
    return False


def encoded(
    indices: Tensor,
    mode: str,
    depth: int,
    dtype: DType = float32,
    weights: Tensor | None = None,
) -> Tensor:
    """Return int32 indices as they are, as a vector for each, or as a vector for each example.

    An index that is negative or not less than ``depth`` is ignored. In mode "count", ``weights``
    are added instead of 1.
    """
    if mode == "int":
        return indices
    rank = len(indices.shape)
    if rank == 0:
        return encoded(wt.reshape(indices, (1,)), mode, depth, dtype, weights)
    if mode == "one_hot":
        shape = indices.shape
        flat = wt.reshape(indices, shape[:-1]) if rank > 1 and shape[-1] == 1 else indices
        return wt.one_hot(flat, depth, dtype=dtype)
    if rank <= 2:
        bins = wt.where(indices < 0, depth, indices)
        counts = wt.dense_bincount(bins, weights, depth, mode == "multi_hot")
        return wt.astype(counts, dtype, copy=False)
    vectors = wt.one_hot(indices, depth, dtype=dtype)
    if mode == "multi_hot":
        return wt.max(vectors, 1)
    return wt.sum(vectors if weights is None else vectors * wt.expand_dims(weights, -1), 1)


def encoded_shape(shape: Shape, mode: str, depth: int | None) -> Shape:
    """Return the shape of what ``encoded`` returns; an example's categories are the last axis."""
    if mode == "int":
        return shape
    if mode == "one_hot":
        is_column = len(shape) > 1 and shape[-1] == 1
        return (*(shape[:-1] if is_column else shape), depth)
    return (*shape[:-1], depth)


def batches_of(data: Iterable[Any], steps: int | None = None) -> Iterator[TensorLike]:
    """Iterate over the first ``steps`` batches; of a batch that is a tuple, yield the inputs."""
    for step, batch in enumerate(data):
        if steps is not None and step >= steps:
            return
        yield batch[0] if isinstance(batch, tuple) else batch
