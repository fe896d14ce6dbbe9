"""What a layer's inputs must be like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.keras.dtypes import held_dtype
from webtensor.keras.nest import flatten
from webtensor.keras.symbols import standardize_shape
from webtensor.keras.types import DTypeLike

__all__ = ["InputSpec", "check_inputs"]


class InputSpec:
    """What is asked of one input: dtype, shape, number of axes, lengths of some axes.

    Example:
        >>> from webtensor import keras
        >>> keras.InputSpec(min_ndim=2, axes={-1: 4})
        InputSpec(min_ndim=2, axes={-1: 4})
    """

    def __init__(
        self,
        dtype: DTypeLike = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, int | None] | None = None,
        allow_last_axis_squeeze: bool = False,
        name: str | None = None,
        optional: bool = False,
    ) -> None:
        self.dtype = None if dtype is None else held_dtype(dtype)
        self.shape = None if shape is None else standardize_shape(shape)
        self.ndim = len(self.shape) if self.shape is not None else ndim
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.axes = {int(axis): length for axis, length in (axes or {}).items()}
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        self.name = name
        self.optional = optional

    def __repr__(self) -> str:
        facts = {
            "dtype": self.dtype,
            "shape": self.shape,
            "ndim": self.ndim,
            "max_ndim": self.max_ndim,
            "min_ndim": self.min_ndim,
            "axes": self.axes or None,
        }
        given = (f"{name}={value}" for name, value in facts.items() if value is not None)
        return f"InputSpec({', '.join(given)})"


def check_inputs(spec: Any, inputs: Any, layer_name: str) -> None:
    """Compare inputs with what is asked of them.

    Raises:
        ValueError: the number of inputs, or what one is like, differs.
    """
    if isinstance(spec, dict):
        for name, one in spec.items():
            if isinstance(inputs, dict):
                if name not in inputs:
                    raise ValueError(f"layer {layer_name!r}: input {name!r} is missing")
                _check(one, inputs[name], layer_name)
        return
    specs: Sequence[Any] = spec if isinstance(spec, (list, tuple)) else (spec,)
    given = flatten(inputs)
    if len(specs) != len(given):
        raise ValueError(
            f"layer {layer_name!r} expects {len(specs)} input(s), but got {len(given)}"
        )
    for one, value in zip(specs, given, strict=True):
        _check(one, value, layer_name)


def _check(spec: InputSpec | None, value: Any, layer_name: str) -> None:
    if spec is None or (value is None and spec.optional):
        return
    shape = getattr(value, "shape", None)
    if shape is None:
        raise ValueError(f"layer {layer_name!r}: an input must be a tensor, but got {value!r}")
    ndim = len(shape)

    def refuse(wanted: str) -> ValueError:
        return ValueError(
            f"input of layer {layer_name!r} must have {wanted}, but has shape {shape}"
        )

    may_squeeze = spec.allow_last_axis_squeeze and _squeezable(spec, shape)
    if spec.ndim is not None and ndim != spec.ndim and not may_squeeze:
        raise refuse(f"{spec.ndim} axes")
    if spec.max_ndim is not None and ndim > spec.max_ndim:
        raise refuse(f"at most {spec.max_ndim} axes")
    if spec.min_ndim is not None and ndim < spec.min_ndim:
        raise refuse(f"at least {spec.min_ndim} axes")
    if spec.dtype is not None and value.dtype != spec.dtype:
        raise ValueError(
            f"input of layer {layer_name!r} must have dtype {spec.dtype}, but has {value.dtype}"
        )
    for axis, length in spec.axes.items():
        found = shape[axis] if -ndim <= axis < ndim else None
        if length is not None and found not in (length, None):
            raise refuse(f"length {length} on axis {axis}")
    if spec.shape is not None and len(spec.shape) == ndim:
        for wanted, found in zip(spec.shape, shape, strict=True):
            if wanted is not None and found is not None and wanted != found:
                raise refuse(f"shape {spec.shape}")


def _squeezable(spec: InputSpec, shape: tuple[int | None, ...]) -> bool:
    wanted = spec.shape
    if wanted is None:
        return False
    shorter, longer = sorted((wanted, shape), key=len)
    return len(longer) - len(shorter) == 1 and longer[-1] == 1
