"""Scaling, encoding and imputing of features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor.onnx.expansion.bodies import Body, Outputs, Write
from webtensor.onnx.expansion.classical_models import DOMAIN

__all__ = ["FUNCTIONS"]


def _scaler(body: Body) -> Outputs:
    shifted = body("Sub", body.float_input(), body.floats(body.take("offset", [0.0])))
    return body("Mul", shifted, body.floats(body.take("scale", [1.0])))


def _normalizer(body: Body) -> Outputs:
    x, norm = body.float_input(), body.take("norm", "MAX")
    if norm == "MAX":
        maximum = body("ReduceMax", x, body.integers(-1))
        is_zero = body("Equal", maximum, body.number(0))
        return body("Div", x, body("Where", is_zero, body.number(1), maximum))
    if norm not in ("L1", "L2"):
        raise ValueError(f"norm is {norm!r:.200}")
    return body("LpNormalization", x, axis=-1, p=int(norm[1]))


def _imputer(body: Body) -> Outputs:
    x = body.input(0)
    integers, values = body.take("imputed_value_int64s", []), body.take("imputed_value_floats", [])
    integer, value = body.take("replaced_value_int64", 0), body.take("replaced_value_float", 0.0)
    if integers:
        is_missing = body("Equal", x, body.integers(integer))
        return body("Where", is_missing, body.integers(*integers), x)
    is_missing = body("IsNaN", x) if value != value else body("Equal", x, body.number(value))
    return body("Where", is_missing, body.floats(values), x)


def _binarizer(body: Body) -> Outputs:
    threshold = body.number(body.take("threshold", 0.0))
    return body("Cast", body("Greater", body.float_input(), threshold), to=1)


def _concatenation(body: Body) -> Outputs:
    body.take("inputdimensions", None)
    return body("FlatRows", *body.inputs(len(body.dtypes)), domain=DOMAIN)


def _one_hot(body: Body) -> Outputs:
    body.take("zeros", 1)
    texts = body.take("cats_strings", [])
    if texts:
        categories = body("Constant", value_strings=texts)
    else:
        categories = body.integers(*body.take("cats_int64s"))
    x = body.input(0) if texts else body("Cast", body.input(0), to=6)
    is_equal = body("Equal", body("Unsqueeze", x, body.integers(-1)), categories)
    return body("Cast", is_equal, to=1)


def _mapped(body: Body, keys: Sequence[Any], values: Sequence[Any], default: Any) -> str:
    dtype = {str: "string", float: "float32"}.get(type(default), "int32")
    return body(
        "Mapped",
        body.input(0),
        domain=DOMAIN,
        keys=list(keys),
        values=list(values),
        default=default,
        dtype=dtype,
    )


def _of_categories(names: str, numbers: str) -> Callable[[Body], str]:
    """Return the function of names that become numbers, and the other way round."""

    def write(body: Body) -> str:
        texts = body.take(names)
        integers = body.take(numbers, None) or list(range(len(texts)))
        text, integer = body.take("default_string", "_Unused"), body.take("default_int64", -1)
        if body.dtypes[0] == "string":
            return _mapped(body, texts, integers, integer)
        return _mapped(body, integers, texts, text)

    return write


_KINDS = {str: "strings", int: "int64s", float: "floats"}
_DEFAULTS = {"strings": ("string", "_Unused"), "int64s": ("int64", -1), "floats": ("float", 0.0)}


def _encoder(body: Body) -> Outputs:
    if body.has("classes_strings"):
        return _of_categories("classes_strings", "")(body)
    keys, _ = _list(body, "keys")
    values, kind = _list(body, "values")
    defaults = {
        name: body.take(f"default_{key}", initial) for name, (key, initial) in _DEFAULTS.items()
    }
    if kind == "tensor":
        kind = next((_KINDS[type(value)] for value in values), "int64s")
    tensor = body.take_numbers("default")
    default = tensor[0] if tensor else defaults[kind]
    return _mapped(body, keys[::-1], values[::-1], default)  # the first of equal keys counts


def _list(body: Body, side: str) -> tuple[list[Any], str]:
    """Return keys or values, and what their attribute's name ends with."""
    for kind in _DEFAULTS:
        if body.has(f"{side}_{kind}"):
            return body.take(f"{side}_{kind}"), kind
    return body.take_numbers(side), "tensor"


def _probabilities(body: Body) -> Outputs:
    """Return the tensor of probabilities, where ONNX has maps from labels."""
    body.rest()
    return body("Identity", body.input(0))


FUNCTIONS: dict[str, Write] = {
    "Binarizer": _binarizer,
    "CategoryMapper": _of_categories("cats_strings", "cats_int64s"),
    "FeatureVectorizer": _concatenation,
    "Imputer": _imputer,
    "LabelEncoder": _encoder,
    "Normalizer": _normalizer,
    "OneHotEncoder": _one_hot,
    "Scaler": _scaler,
    "ZipMap": _probabilities,
}
