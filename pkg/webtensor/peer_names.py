"""Errors about names that other libraries have and webtensor has not: they say what to write."""

from __future__ import annotations

import re
from importlib import import_module
from types import ModuleType

from webtensor.lazy_contents import contents

__all__ = ["missing_attribute"]

#: Our names, by those of NumPy, TensorFlow.js (in snake_case), TensorFlow and PyTorch.
_NAMES = {
    peer_name: name
    for name, peer_names in contents(
        """
        Input: input Model: model Sequential: sequential Tensor: ndarray Variable: variable
        abs: absolute fabs acos: arccos acosh: arccosh arange: range asarray: asanyarray
        ascontiguousarray asin: arcsin asinh: arcsinh astype: cast atan2: arctan2 atan: arctan
        atanh: arctanh bitwise_invert: invert bitwise_left_shift: left_shift
        bitwise_right_shift: right_shift clip: clamp clone: copy
        concat: cat concatenate conj: conjugate divide: div true_divide divide_no_nan: div_no_nan
        expand_dims: unsqueeze fft.fftn: fft2 flatten: ravel flip: reverse floor_divide: floor_div
        full: fill isdtype: issubdtype keras.ops.deg2rad: radians keras.ops.rad2deg: degrees
        keras.ops.swapaxes: swapaxes keras.random.shuffle: permutation shuffle
        keras.saving.load_layers_model: load_layers_model linalg.cross: cross
        linalg.diagonal: diagonal linalg.outer: outer linalg.trace: trace max: amax reduce_max
        mean: reduce_mean min: amin reduce_min multiply: mul negative: neg permute_dims: permute
        pow: power float_power random.normal: randn random.randint: integers
        random.uniform: random random_sample remainder: mod result_type: upcast_type
        round: around rint set_random_seed: manual_seed subtract: sub sum: reduce_sum
        tensor: constant from_numpy scalar trunc: fix
        """
    ).items()
    for peer_name in peer_names
}


def missing_attribute(module: ModuleType, name: str) -> AttributeError:
    """Return the error that a module has no such attribute."""
    text = f"module {module.__name__!r} has no attribute {name!r}"
    if not name.startswith("_"):
        text += _advice(module, name)
    return AttributeError(text, name=name, obj=module)


def _advice(module: ModuleType, name: str) -> str:
    """Return what to write instead of a name, which may be in camelCase or end in a rank."""
    snake_name = import_module("webtensor.keras.names").to_snake_case(name)
    for likely in (snake_name, re.sub("[1-6]d$", "", snake_name), snake_name.replace("_", "")):
        if likely in _NAMES:
            return f"; use wt.{_NAMES[likely]}"
        if name[0].islower() and likely in dir(module):
            return f"; use {likely}"
    if name in import_module("webtensor.keras.ops").__all__:
        return f"; use wt.keras.ops.{name}"
    return ""
