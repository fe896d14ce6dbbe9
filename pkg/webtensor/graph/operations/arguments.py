"""How inputs and attributes of nodes become arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.nodes import Node
from webtensor.graph.operations.rows import Attribute, Host

__all__ = [
    "attribute",
    "axes",
    "axis",
    "boolean",
    "dilations",
    "dtype",
    "dtype_name",
    "flags",
    "integer",
    "integers",
    "layout",
    "number",
    "numbers",
    "padding",
    "pairs",
    "seed",
    "strides",
    "text",
    "window",
]

#: The dtype of tensors for dtypes of files that tensors do not have.
_DTYPES = {
    "bool": "bool",
    "complex64": "complex64",
    "complex128": "complex64",
    "string": "string",
    "variant": "variant",  # lists in lists
    **dict.fromkeys(("bfloat16", "float16", "float32", "float64"), "float32"),
    **dict.fromkeys(
        ("int4", "int8", "int16", "int32", "int64", "uint4", "uint8", "uint16", "uint32"), "int32"
    ),
    **dict.fromkeys(("qint8", "qint16", "qint32", "quint8", "quint16", "uint64"), "int32"),
}


_LAYOUTS = ("NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")


def dtype_name(name: str) -> str:
    """Return the name of the dtype of tensors for that of a file.

    Raises:
        ValueError: no tensor has such elements.

    Example:
        >>> dtype_name("int64")
        'int32'
    """
    if name not in _DTYPES:
        raise ValueError(f"there are no tensors of dtype {name!r}")
    return _DTYPES[name]


# -- attributes --------------------------------------------------------------------------------


def attribute(
    name: str, default: Any = ..., convert: Callable[[Any], Any] | None = None
) -> Attribute:
    """Return the argument that an attribute of a node is."""

    def of(node: Node) -> Any:
        if default is ... or name in node.attributes:
            value: Any = node.attributes[name]
            return value if convert is None else convert(value)
        return default

    return Attribute(of)


def dtype(name: str = "dtype") -> Attribute:
    """Return the dtype that an attribute of a node names."""
    return attribute(name, convert=dtype_name)


def text(name: str, default: Any = ...) -> Attribute:
    """Return the text of an attribute, decoded where it is bytes."""
    return attribute(name, default, _decoded)


def _decoded(value: Any) -> str:
    if type(value) is str:
        return value
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def seed() -> Attribute:
    """Return the seed of random numbers: the first that is not 0 of two attributes, else None."""
    return Attribute(
        lambda node: node.attributes.get("seed") or node.attributes.get("seed2") or None
    )


def _format(node: Node) -> str:
    return _decoded(node.attributes.get("data_format", "NHWC"))


def layout(default: str) -> Attribute:
    """Return the order of axes, such as "NHWC"."""
    return attribute("data_format", default, _layout)


def _layout(value: Any) -> str:
    if value in _LAYOUTS:
        return str(value)
    name = _decoded(value).upper()
    if name not in _LAYOUTS:
        raise ValueError(f"data_format must be one of {', '.join(_LAYOUTS)}, not {name!r:.100}")
    return name


def _spatial(name: str, default: Any) -> Attribute:
    """Return the part of an attribute that concerns neither batch nor channels."""

    def of(node: Node) -> Any:
        values = node.attributes.get(name)
        if not isinstance(values, list) or not values:
            if default is ...:
                raise ValueError(f"attribute {name!r} must be a list, but is {values!r:.100}")
            return default
        if len(values) < 3:
            raise ValueError(f"attribute {name!r} must have a number for each axis, not {values}")
        return tuple(values[2:] if _format(node).startswith("NC") else values[1:-1])

    return Attribute(of)


def strides() -> Attribute:
    """Return the strides of windows, without those along batch and channels."""
    return _spatial("strides", ...)


def dilations() -> Attribute:
    """Return the dilations of filters."""
    return _spatial("dilations", 1)


def window() -> Attribute:
    """Return the size of windows."""
    return _spatial("ksize", ...)


def padding() -> Attribute:
    """Return "same", "valid", or pairs of numbers for each axis, batch and channels included."""

    def of(node: Node) -> Any:
        name = _decoded(node.attributes["padding"]).lower()
        if name != "explicit":
            return name
        numbers: Any = node.attributes.get("explicit_paddings", [])
        return [list(pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]

    return Attribute(of)


# -- elements of inputs ------------------------------------------------------------------------


def _flat(value: Tensor) -> list[Any]:
    if len(value.shape) > 1:
        value = ops.reshape(value, (-1,))
    elements = value.tolist()
    return elements if value.shape else [elements]


def _scalar(value: Tensor) -> Any:
    elements = _flat(value)
    if len(elements) != 1:
        raise ValueError(f"an input must have one element, but has shape {value.shape}")
    return elements[0]


def number(index: int, default: Any = ...) -> Host:
    """Return the argument that is the element of an input."""
    return Host(index, _scalar, default)


def integer(index: int, default: Any = ...) -> Host:
    """Return the argument that is the integer in an input."""
    return Host(index, lambda value: int(_scalar(value)), default)


def boolean(name: str, default: bool = False) -> Attribute:
    """Return the argument that is an attribute of type bool."""
    return attribute(name, default, bool)


def integers(index: int, default: Any = ...) -> Host:
    """Return the argument that is the list of integers in an input."""
    return Host(index, lambda value: [int(element) for element in _flat(value)], default)


def numbers(index: int) -> Host:
    """Return the argument that is the list of the elements of an input."""
    return Host(index, _flat)


def flags(index: int) -> Host:
    """Return the indices of the true elements of an input."""
    return Host(index, lambda value: tuple(at for at, flag in enumerate(_flat(value)) if flag))


def pairs(index: int) -> Host:
    """Return the argument that is the list of pairs in an input of shape (n, 2)."""
    return Host(index, _pairs)


def _pairs(value: Tensor) -> list[list[int]]:
    numbers = [int(element) for element in _flat(value)]
    return [list(pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]


def axes(index: int) -> Host:
    """Return the axes in an input; no axes at all are an empty tuple, as in TensorFlow."""
    return Host(index, _axes)


def _axes(value: Tensor) -> int | tuple[int, ...]:
    return tuple(int(element) for element in _flat(value)) if value.shape else _axis(value)


def _axis(value: Tensor) -> int:
    return int(_scalar(value))


def axis(index: int, default: Any = ...) -> Host:
    """Return the axis in an input."""
    return Host(index, _axis, default)
