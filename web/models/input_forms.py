"""The controls by which a visitor fills a model's inputs."""

from html import escape
from typing import Any

from filling import USUAL_SIDES, WAYS, Filling, shape_of, usual_shape, ways_of
from shipped import ShippedModel
from specifications import Specification

#: The largest value of pictures and of noise, by the dtype of the input.
HIGHEST = {"int32": 255.0}


def input_row(spec: Specification, shipped: ShippedModel | None) -> str:
    """Return the controls of an input, with what suits a model of the site."""
    ways = ways_of(spec)
    low, high, sides = 0.0, HIGHEST.get(spec.tensor_dtype, 1.0), USUAL_SIDES
    if shipped is not None:
        low, high, sides = shipped.low, shipped.high, shipped.sides
    options = "".join(f'<option value="{way}">{WAYS[way]}</option>' for way in ways)
    shape = ", ".join(map(str, usual_shape(spec.shape, sides)))
    is_known = spec.shape is not None and None not in spec.shape
    number = '<input type="number" step="any" required'
    values = (
        '<label>Text<input type="text" name="text" value="text" /></label>'
        if ways == ["text"]
        else f'<label>from (black) {number} name="low" value="{low:g}" /></label>'
        f'<label>to (white) {number} name="high" value="{high:g}" /></label>'
    )
    return (
        f"<fieldset><legend>{escape(spec.short_name)}"
        f' <span class="muted">{escape(spec.kind)}</span></legend>'
        f'<label>Shape<input type="text" name="shape" value="{shape}"'
        f"{' readonly' if is_known else ''} /></label>"
        f'<label>Filled with<select name="way">{options}</select></label>{values}</fieldset>'
    )


def filling_of(row: Any, spec: Specification) -> Filling:
    """Return what the controls of an input say.

    Raises:
        ValueError: the shape does not fit, or a number is missing.
    """
    fields = {str(field.name): str(field.value) for field in row.querySelectorAll("[name]")}
    shape = shape_of(fields["shape"], spec)
    if "text" in fields:
        return Filling(shape, fields["way"], text=fields["text"])
    try:
        low, high = float(fields["low"]), float(fields["high"])
    except ValueError:
        raise ValueError(f"{spec.name}: black and white must be numbers") from None
    return Filling(shape, fields["way"], low, high)
