"""What the elements of a data set are like: structures of shapes and dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from webtensor.data.collation import as_tensor
from webtensor.dtypes import DType, as_dtype
from webtensor.engine import Tensor
from webtensor.nest import alike, is_nested, keys
from webtensor.ops import astype

__all__ = ["TensorSpec", "conforming", "signature_of"]


@dataclass(frozen=True)
class TensorSpec:
    """The shape and the dtype of a tensor, as in TensorFlow.

    Attributes:
        shape: the sizes of the axes, in which None is any size; None alone is any shape.
        dtype: the dtype or its name.
        name: a name, which means nothing.
    """

    shape: Sequence[int | None] | None = None
    dtype: DType | str = "float32"
    name: str | None = None


def signature_of(element: Any) -> Any:
    """Return the structure of an element with a TensorSpec for each tensor in it."""
    if is_nested(element):
        return alike(element, [signature_of(element[key]) for key in keys(element)])
    x = as_tensor("element_spec", element)
    return TensorSpec(x.shape, x.dtype)


def conforming(name: str, element: Any, signature: Any) -> Any:
    """Return an element as tensors of a signature's dtypes.

    Raises:
        TypeError: a part cannot become a tensor.
        ValueError: the structure or a shape differs from the signature.
    """
    if isinstance(signature, TensorSpec):
        return _tensor_like(name, element, signature)
    if not is_nested(signature):
        raise TypeError(
            f"{name}: output_signature must be a structure of TensorSpecs, but has {signature!r}"
        )
    own_keys = keys(signature)
    try:
        parts = [element[key] for key in own_keys]
        fits = len(element) == len(own_keys)
    except (IndexError, KeyError, TypeError):
        fits = False
    if not fits:
        raise ValueError(f"{name}: {element!r} does not have the structure of {signature!r}")
    return alike(
        signature,
        [conforming(name, part, signature[key]) for part, key in zip(parts, own_keys, strict=True)],
    )


def _tensor_like(name: str, element: Any, spec: TensorSpec) -> Tensor:
    x = as_tensor(name, element)
    shape = spec.shape
    if shape is not None and (
        len(shape) != len(x.shape)
        or any(size not in (None, own) for size, own in zip(shape, x.shape, strict=True))
    ):
        raise ValueError(f"{name}: an element has shape {x.shape}, but the signature {shape}")
    return astype(x, as_dtype(spec.dtype))
