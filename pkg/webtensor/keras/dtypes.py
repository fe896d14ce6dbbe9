"""Dtypes of Keras, and how their elements are held here."""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import DType, as_dtype, float32

__all__ = [
    "floatx",
    "held_dtype",
    "is_float_dtype",
    "is_int_dtype",
    "result_type",
    "set_floatx",
    "standardize_dtype",
]

#: Dtypes that there are none of, whose elements are held in others: as JAX does with those of 64
#: bits, and without the limits of the shorter ones.
_HELD = {
    "bfloat16": "float32",
    "complex128": "complex64",
    "float16": "float32",
    "float64": "float32",
    "float8_e4m3fn": "float32",
    "float8_e5m2": "float32",
    "int": "int32",
    "float": "float32",
    "int16": "int32",
    "int64": "int32",
    "int8": "int32",
    "uint16": "int32",
    "uint32": "int32",
    "uint64": "int32",
    "uint8": "int32",
}


def held_dtype(dtype: Any, default: DType = float32) -> DType:
    """Return the dtype that elements of a dtype of Keras are held in; None is the default.

    Raises:
        ValueError: there is no such dtype.

    Example:
        >>> from webtensor.keras.dtypes import held_dtype
        >>> held_dtype("int64")
        'int32'
    """
    if dtype is None:
        return default
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    name = name or getattr(dtype, "__name__", None)
    try:
        return as_dtype(_HELD.get(str(name), dtype))
    except TypeError as error:
        raise ValueError(f"there is no dtype {dtype!r}") from error


#: The dtypes that Keras has names for.
_NAMES = frozenset({*_HELD, "bool", "complex64", "float32", "int32", "string"} - {"float", "int"})
_PYTHON = {bool: "bool", int: "int32", str: "string", complex: "complex64"}
_settings = {"floatx": "float32"}


def floatx() -> str:
    """Return the name of the dtype that floats have where none is given.

    Example:
        >>> from webtensor import keras
        >>> keras.config.floatx()
        'float32'
    """
    return _settings["floatx"]


def set_floatx(value: str) -> None:
    """Set the name of the dtype of floats; they are held in float32, whatever it is.

    Raises:
        ValueError: it is not "bfloat16", "float16", "float32" or "float64".
    """
    known = ("bfloat16", "float16", "float32", "float64")
    if value not in known:
        raise ValueError(f"set_floatx: value must be one of {known}, but got {value!r}")
    _settings["floatx"] = value


def standardize_dtype(dtype: Any) -> str:
    """Return the name that Keras has for a dtype, a type of Python, or None, which is ``floatx``.

    Raises:
        ValueError: there is no such dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.backend.standardize_dtype(float)
        'float32'
    """
    if dtype is None or dtype is float or dtype == "float":
        return floatx()
    name = _PYTHON.get(dtype) if isinstance(dtype, type) else None
    if name is None:
        name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    name = str(name or getattr(dtype, "__name__", dtype))
    name = {"int": "int32", "str": "string"}.get(name, name)
    if name not in _NAMES:
        raise ValueError(f"there is no dtype {dtype!r}")
    return name


def is_float_dtype(dtype: Any) -> bool:
    """Return whether a dtype is one of floats."""
    return standardize_dtype(dtype).startswith(("float", "bfloat"))


def is_int_dtype(dtype: Any) -> bool:
    """Return whether a dtype is one of integers, signed or not."""
    return standardize_dtype(dtype).startswith(("int", "uint"))


def result_type(*dtypes: Any) -> str:
    """Return the dtype that computing with several gives, by Keras's rules, to 32 bits at most.

    ``int`` and ``float`` are numbers of Python, which only the kind matters of.

    Raises:
        ValueError: there is no such dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.backend.result_type("float16", int), keras.backend.result_type("int8", "uint8")
        ('float16', 'int16')
    """
    names = {standardize_dtype(one) for one in dtypes if one not in (int, float)}
    if any(one == "string" or one.startswith("float8") for one in names) and len(dtypes) > 1:
        raise ValueError(f"result_type: {sorted(names)} have no common dtype")
    if any(one.startswith("complex") for one in names):
        return "complex64"
    floats = {"float32" if one == "float64" else one for one in names if "float" in one}
    if floats:
        return floats.pop() if len(floats) == 1 else "float32"
    if float in dtypes or not dtypes:
        return "float32"
    integers = {one for one in names if "int" in one}
    if integers:
        return _common_integer(integers)
    return "int32" if int in dtypes else names.pop()


def _common_integer(names: set[str]) -> str:
    """The narrowest dtype that holds what all of these do, of 32 bits at most."""
    signed = max((int(one[3:]) for one in names if one[0] == "i"), default=0)
    unsigned = max((int(one[4:]) for one in names if one[0] == "u"), default=0)
    if not signed:
        return f"uint{min(unsigned, 32)}"
    if unsigned == 64:
        return "float32"
    return f"int{min(signed if signed > unsigned else unsigned * 2, 32)}"
