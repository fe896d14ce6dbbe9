"""Inputs of models: what describes them, and what users may give for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeGuard

from webtensor.engine import Tensor, TensorLike
from webtensor.formats.graph_def import Shape, fits
from webtensor.graph.operations.arguments import dtype_name
from webtensor.ops import tensor

__all__ = ["Inputs", "ModelTensor", "fed", "named"]

Inputs: TypeAlias = "TensorLike | Sequence[TensorLike] | Mapping[str, TensorLike]"


class ModelTensor(NamedTuple):
    """An input or output of a model.

    Attributes:
        name: the name of the tensor in the graph.
        shape: its shape, in which unknown sizes are None; None if its rank is not known.
        dtype: its dtype; "" if the graph does not say it.
    """

    name: str
    shape: Shape
    dtype: str


def named(inputs: Inputs, described: Sequence[ModelTensor], label: str) -> Mapping[str, TensorLike]:
    """Return inputs by their names.

    Args:
        inputs: one input, a list of all in order, or a mapping by their names.
        described: the inputs of the model.
        label: what errors call the model.

    Raises:
        ValueError: there are more or fewer than the model has.
    """
    if isinstance(inputs, Mapping):
        return inputs
    names = [value.name for value in described]
    values = [*inputs] if _are_several(inputs, len(names)) else [inputs]
    if len(values) != len(names):
        raise ValueError(
            f"inputs: {label} has {len(names)} inputs ({', '.join(names)}), but got {len(values)}"
        )
    return dict(zip(names, values, strict=True))


def fed(name: str, value: TensorLike, described: ModelTensor | None) -> Tensor:
    """Return an input as a tensor.

    Raises:
        ValueError: it has another shape or dtype than the model says.
    """
    dtype = dtype_name(described.dtype) if described is not None and described.dtype else None
    fed = value if isinstance(value, Tensor) else tensor(value, dtype=dtype)
    if described is None:
        return fed
    if dtype is not None and str(fed.dtype) != dtype:
        raise ValueError(f"inputs: {name!r} must have dtype {dtype}, but has {fed.dtype}")
    if not fits(fed.shape, described.shape):
        raise ValueError(f"inputs: {name!r} must have shape {described.shape}, but has {fed.shape}")
    return fed


def _are_several(inputs: object, count: int) -> TypeGuard[Sequence[TensorLike]]:
    """Whether this is a list of tensors, rather than a tensor as a list of numbers."""
    if not isinstance(inputs, (list, tuple)):
        return False
    numbers = (bool, int, float, complex, str, bytes, list, tuple)
    return count != 1 or any(not isinstance(value, numbers) for value in inputs)
