"""Errors about names that NumPy has and webtensor has not: they say what to write instead."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from webtensor.lazy_contents import contents

__all__ = ["missing_attribute"]

#: Our names, by NumPy's.
_NAMES = {
    numpy_name: name
    for name, numpy_names in contents(
        """
        Tensor: ndarray abs: absolute fabs acos: arccos acosh: arccosh
        asarray: asanyarray ascontiguousarray asin: arcsin asinh: arcsinh atan2: arctan2
        atan: arctan atanh: arctanh bitwise_invert: invert bitwise_left_shift: left_shift
        bitwise_right_shift: right_shift clone: copy concat: concatenate conj: conjugate
        divide: true_divide fft.fftn: fft2 flatten: ravel isdtype: issubdtype
        keras.ops.deg2rad: radians keras.ops.rad2deg: degrees keras.ops.swapaxes: swapaxes
        keras.random.shuffle: permutation shuffle linalg.cross: cross linalg.diagonal: diagonal
        linalg.outer: outer linalg.trace: trace max: amax min: amin pow: power float_power
        random.normal: randn random.randint: integers random.uniform: random random_sample
        remainder: mod round: around rint trunc: fix
        """
    ).items()
    for numpy_name in numpy_names
}


def missing_attribute(module: ModuleType, name: str) -> AttributeError:
    """Return the error that a module has no such attribute."""
    text = f"module {module.__name__!r} has no attribute {name!r}"
    if name in _NAMES:
        text += f"; use wt.{_NAMES[name]}"
    elif not name.startswith("_") and name in import_module("webtensor.keras.ops").__all__:
        text += f"; use wt.keras.ops.{name}"
    return AttributeError(text, name=name, obj=module)
