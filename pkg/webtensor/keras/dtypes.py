"""Dtypes of Keras, and the dtypes that their elements are stored in here."""

from __future__ import annotations

from webtensor.arguments import check_choice
from webtensor.dtypes import DType, as_dtype, float32

__all__ = [
    "floatx",
    "is_float_dtype",
    "is_int_dtype",
    "result_type",
    "set_floatx",
    "standardize_dtype",
    "storage_dtype",
]

#: The dtypes in which elements of other dtypes are stored: those of 64 bits in 32, as in JAX, and
#: narrower ones in 32, without their limits.
_STORED = {
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


def storage_dtype(dtype: object, default: DType = float32) -> DType:
    """Return the dtype in which elements of a dtype of Keras are stored; None is the default.

    Raises:
        ValueError: there is no such dtype.

    Example:
        >>> from webtensor.keras.dtypes import storage_dtype
        >>> storage_dtype("int64")
        'int32'
    """
    if dtype is None:
        return default
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    name = name or getattr(dtype, "__name__", None)
    try:
        return as_dtype(_STORED.get(str(name), dtype))
    except TypeError as error:
        raise ValueError(f"there is no dtype {dtype!r}") from error


#: The names of Keras's dtypes.
_NAMES = frozenset({*_STORED, "bool", "complex64", "float32", "int32", "string"} - {"float", "int"})
_PYTHON = {bool: "bool", int: "int32", str: "string", complex: "complex64"}
_settings = {"floatx": "float32"}


def floatx() -> str:
    """Return the name of the default dtype of floats.

    Example:
        >>> from webtensor import keras
        >>> keras.config.floatx()
        'float32'
    """
    return _settings["floatx"]


def set_floatx(value: str) -> None:
    """Set the name of the default dtype of floats; all floats are stored as float32.

    Raises:
        ValueError: ``value`` is not "bfloat16", "float16", "float32" or "float64".

    Example:
        >>> from webtensor import keras
        >>> keras.config.set_floatx("float16")
        >>> keras.backend.standardize_dtype(None)
        'float16'
        >>> keras.config.set_floatx("float32")
    """
    names = ("bfloat16", "float16", "float32", "float64")
    check_choice("set_floatx", "value", value, names)
    _settings["floatx"] = value


def standardize_dtype(dtype: object) -> str:
    """Return Keras's name of a dtype or of a Python type; None is ``floatx()``.

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
    name = str(name or getattr(dtype, "__name__", None) or dtype)
    name = {"int": "int32", "str": "string"}.get(name, name)
    if name not in _NAMES:
        raise ValueError(f"there is no dtype {dtype!r}")
    return name


def is_float_dtype(dtype: object) -> bool:
    """Return whether a dtype is a float dtype."""
    return standardize_dtype(dtype).startswith(("float", "bfloat"))


def is_int_dtype(dtype: object) -> bool:
    """Return whether a dtype is an integer dtype, signed or unsigned."""
    return standardize_dtype(dtype).startswith(("int", "uint"))


def result_type(*dtypes: object) -> str:
    """Return the dtype to which Keras promotes several dtypes, with 32 bits at most.

    ``int`` and ``float`` stand for Python numbers, which adopt the width of the other dtypes.

    Raises:
        ValueError: there is no such dtype, or the dtypes have no common one.

    Example:
        >>> from webtensor import keras
        >>> keras.backend.result_type("float16", int), keras.backend.result_type("int8", "uint8")
        ('float16', 'int16')
    """
    names = {standardize_dtype(dtype) for dtype in dtypes if dtype not in (int, float)}
    if any(name == "string" or name.startswith("float8") for name in names) and len(dtypes) > 1:
        raise ValueError(f"result_type: {sorted(names)} have no common dtype")
    if any(name.startswith("complex") for name in names):
        return "complex64"
    floats = {"float32" if name == "float64" else name for name in names if "float" in name}
    if floats:
        return floats.pop() if len(floats) == 1 else "float32"
    if float in dtypes or not dtypes:
        return "float32"
    integers = {name for name in names if "int" in name}
    if integers:
        return _common_integer(integers)
    return "int32" if int in dtypes else names.pop()


def _common_integer(names: set[str]) -> str:
    """Return the narrowest integer dtype that includes all of these, with 32 bits at most."""
    signed = max((int(name[3:]) for name in names if name[0] == "i"), default=0)
    unsigned = max((int(name[4:]) for name in names if name[0] == "u"), default=0)
    if not signed:
        return f"uint{min(unsigned, 32)}"
    if unsigned == 64:
        return "float32"
    return f"int{min(signed if signed > unsigned else unsigned * 2, 32)}"
