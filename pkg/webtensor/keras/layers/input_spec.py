"""The checks of a layer's inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias

from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.symbols import standardize_shape
from webtensor.keras.types import Config, DTypeLike, Shape
from webtensor.nest import flatten

__all__ = ["InputSpec", "InputSpecs", "check_inputs"]

#: The attributes of an ``InputSpec`` that inputs are compared with.
_REQUIREMENTS = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")


class InputSpec:
    """What one input of a layer must be like.

    Args:
        dtype: the dtype; None for any.
        shape: the shape, where None is any size; None for any.
        ndim: the number of axes; None for any.
        max_ndim: the maximum number of axes; None for any.
        min_ndim: the minimum number of axes; None for any.
        axes: a dictionary from axes to their sizes, where None is any size.
        allow_last_axis_squeeze: a boolean, whether a last axis of size 1 may be added or missing.
        name: a string; checks do not use it.
        optional: a boolean, whether the input may be None.

    Raises:
        TypeError: a key of ``axes`` is no integer.
        ValueError: an axis is not below ``ndim`` or ``max_ndim``.

    Example:
        >>> from webtensor import keras
        >>> keras.InputSpec(min_ndim=2, axes={-1: 4})
        InputSpec(min_ndim=2, axes={-1: 4})
    """

    def __init__(
        self,
        dtype: DTypeLike = None,
        shape: int | Sequence[int | None] | None = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Mapping[int, int | None] | None = None,
        allow_last_axis_squeeze: bool = False,
        name: str | None = None,
        optional: bool = False,
    ) -> None:
        self.dtype = None if dtype is None else storage_dtype(dtype)
        self.shape = None if shape is None else standardize_shape(shape)
        self.ndim = len(self.shape) if self.shape is not None else ndim
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (TypeError, ValueError):
            raise TypeError(f"InputSpec: axes must have integer keys, but is {axes!r}") from None
        max_rank = self.ndim or max_ndim
        if max_rank and self.axes and max(self.axes) >= max_rank:
            raise ValueError(
                f"InputSpec: axis {max(self.axes)} is out of range for {max_rank} axes"
            )
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        self.name = name
        self.optional = optional

    def get_config(self) -> Config:
        """Return what is required, as JSON can represent it."""
        return {name: getattr(self, name) for name in (*_REQUIREMENTS, "optional")}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Return the specification that a configuration describes."""
        return cls(**config)

    def __repr__(self) -> str:
        values = [(name, getattr(self, name)) for name in _REQUIREMENTS]
        parts = [f"{name}={value}" for name, value in values if value not in (None, {})]
        return f"InputSpec({', '.join(parts)})"


#: The specifications of a layer's inputs: of one, of several, or of some by their names.
InputSpecs: TypeAlias = (
    InputSpec | Sequence[InputSpec | None] | Mapping[str, InputSpec | None] | None
)


def check_inputs(specs: InputSpecs, inputs: Any, layer_name: str) -> None:
    """Check inputs against their specifications.

    Raises:
        ValueError: the number of inputs differs, or one is not like its specification.
    """
    if isinstance(specs, dict):
        for name, spec in specs.items() if isinstance(inputs, dict) else ():
            if name not in inputs:
                raise ValueError(f"layer {layer_name!r}: input {name!r} is missing")
            _check_input(spec, inputs[name], layer_name)
        return
    spec_list = specs if isinstance(specs, (list, tuple)) else (specs,)
    leaves = flatten(inputs)
    if len(spec_list) != len(leaves):
        raise ValueError(
            f"layer {layer_name!r} expects {len(spec_list)} input(s), but got {len(leaves)}"
        )
    for spec, leaf in zip(spec_list, leaves, strict=True):
        _check_input(spec, leaf, layer_name)


def _check_input(spec: InputSpec | None, value: Any, layer_name: str) -> None:
    if spec is None or (value is None and spec.optional):
        return
    shape = getattr(value, "shape", None)
    if shape is None:
        raise ValueError(f"layer {layer_name!r}: an input must be a tensor, but got {value!r}")
    ndim = len(shape)

    def error(requirement: str) -> ValueError:
        return ValueError(
            f"input of layer {layer_name!r} must have {requirement}, but has shape {shape}"
        )

    may_squeeze = spec.allow_last_axis_squeeze and _differs_by_last_axis(spec.shape, shape)
    if spec.ndim is not None and ndim != spec.ndim and not may_squeeze:
        raise error(f"{spec.ndim} axes")
    if spec.max_ndim is not None and ndim > spec.max_ndim:
        raise error(f"at most {spec.max_ndim} axes")
    if spec.min_ndim is not None and ndim < spec.min_ndim:
        raise error(f"at least {spec.min_ndim} axes")
    if spec.dtype is not None and value.dtype != spec.dtype:
        raise ValueError(
            f"input of layer {layer_name!r} must have dtype {spec.dtype}, but has {value.dtype}"
        )
    for axis, size in spec.axes.items():
        input_size = shape[axis] if -ndim <= axis < ndim else None
        if size is not None and input_size not in (size, None):
            raise error(f"size {size} on axis {axis}")
    if spec.shape is not None and len(spec.shape) == ndim:
        for size, input_size in zip(spec.shape, shape, strict=True):
            if size is not None and input_size is not None and size != input_size:
                raise error(f"shape {spec.shape}")


def _differs_by_last_axis(spec_shape: Shape | None, shape: Shape) -> bool:
    """Whether one of two shapes has a last axis of size 1 more than the other."""
    if spec_shape is None:
        return False
    shorter, longer = sorted((spec_shape, shape), key=len)
    return len(longer) - len(shorter) == 1 and longer[-1] == 1
