"""What the page shows of a value: its own markup or picture, or else its `repr`."""

import base64
from collections.abc import Callable
from typing import Any

from .markup import parse

LONGEST_TEXT = 100_000  # characters

Content = dict[str, Any]


def content_of(value: Any) -> Content:
    """Return what to show of a value, in the first form that it offers."""
    for method, convert in FORMS:
        data = getattr(value, method)() if hasattr(type(value), method) else None
        if isinstance(data, (str, bytes)):
            return convert(data)
    text = repr(value)
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]}… ({len(text):,} characters in all)"
    return {"kind": "text", "text": text}


def _picture(media_type: str) -> Callable[[str | bytes], Content]:
    def convert(data: str | bytes) -> Content:
        encoded = base64.b64encode(data.encode() if isinstance(data, str) else data).decode()
        return {"kind": "picture", "url": f"data:{media_type};base64,{encoded}"}

    return convert


def _markup(data: str) -> Content:
    return {"kind": "markup", "nodes": parse(data)}


#: The methods by which objects show themselves, as notebooks call them.
FORMS: tuple[tuple[str, Callable[[Any], Content]], ...] = (
    ("_repr_html_", _markup),
    ("_repr_svg_", _picture("image/svg+xml")),
    ("_repr_png_", _picture("image/png")),
    ("_repr_jpeg_", _picture("image/jpeg")),
)
