"""Numbers of categories as vectors: what the layers for categories, bins and words share.

Categories come as tensors, arrays or lists. Arrays of Python objects, as which tables hold texts,
are taken as lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import DType, float32
from webtensor.engine import Tensor
from webtensor.keras.layers.layer import Layer

__all__ = [
    "MODES",
    "CategoryLayer",
    "batches_of",
    "checked_mode",
    "encoded",
    "encoded_shape",
    "without_objects",
    "without_sparse",
]

MODES = ("int", "one_hot", "multi_hot", "count")
#: Older names of modes.
_OLD = {"binary": "multi_hot", "tf-idf": "tf_idf"}


def without_objects(data: Any) -> Any:
    """Return an array of Python objects as a list, and anything else as it is."""
    return data.tolist() if getattr(getattr(data, "dtype", None), "kind", "") == "O" else data


class CategoryLayer(Layer):
    """A layer for texts and integers, also in arrays of Python objects."""

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(without_objects(inputs), *args, **kwargs)


def checked_mode(name: str, mode: Any, modes: tuple[str, ...] = MODES) -> str:
    """Validate how a layer is to encode what it found.

    Raises:
        ValueError: there is no such mode.
    """
    found: str = _OLD.get(mode, mode) if isinstance(mode, str) else mode
    if found not in modes:
        raise ValueError(f"{name}: output_mode must be one of {', '.join(modes)}, but got {mode!r}")
    return found


def without_sparse(name: str, sparse: Any) -> bool:
    """Check that no sparse tensors are wanted, which layers cannot take.

    Raises:
        ValueError: they are.
    """
    if sparse:
        raise ValueError(f"{name}: sparse must be False: layers take no sparse tensors")
    return False


def encoded(
    indices: Tensor,
    mode: str,
    depth: int,
    dtype: DType = float32,
    weights: Tensor | None = None,
) -> Tensor:
    """Return int32 numbers as they are, as one vector each, or as one vector per example.

    A number beyond ``depth`` leaves its vector as it is. ``weights`` are added in place of 1, in
    mode "count".
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
        known = wt.where(indices < 0, depth, indices)
        counted = wt.dense_bincount(known, weights, depth, mode == "multi_hot")
        return wt.astype(counted, dtype, copy=False)
    hot = wt.one_hot(indices, depth, dtype=dtype)
    if mode == "multi_hot":
        return wt.max(hot, 1)
    return wt.sum(hot if weights is None else hot * wt.expand_dims(weights, -1), 1)


def encoded_shape(shape: Any, mode: str, depth: int | None) -> tuple[int | None, ...]:
    """Return the shape of what ``encoded`` returns; the vector of an example is its last axis."""
    lengths = tuple(shape)
    if mode == "int":
        return lengths
    if mode == "one_hot":
        is_column = len(lengths) > 1 and lengths[-1] == 1
        return (*(lengths[:-1] if is_column else lengths), depth)
    return (*lengths[:-1], depth)


def batches_of(data: Any, steps: int | None = None) -> Iterator[Any]:
    """Iterate over batches, no more than ``steps`` of them; of tuples, the first part counts."""
    batches: Iterable[Any] = data
    for number, batch in enumerate(batches):
        if steps is not None and number >= steps:
            return
        yield batch[0] if isinstance(batch, tuple) else batch
