"""Docstrings of classes, completed by the arguments that a base class or a table describes.

An argument that several classes have is described once: in the section ``Args:`` of their base
class, or, if it means the same in all classes, in the tables here.
"""

from __future__ import annotations

import re
from inspect import Parameter, cleandoc, signature

__all__ = ["completed_documentation"]

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)

#: Arguments that mean the same in most classes. The docstring of a class or a base comes first.
_MEANINGS = {
    "activation": "an activation's name, a function or None, applied to the result.",
    "activity_regularizer": "a regularizer of the outputs, added to the loss.",
    "autocast": "whether float inputs are converted to the dtype that the layer computes in.",
    "axis": "an integer or several, the axes along which it computes.",
    "bounding_box_format": 'a format of boxes such as ``"xyxy"``; None if there are no boxes.',
    "data_format": '``"channels_last"`` or ``"channels_first"``; None is ``keras.config``\'s.',
    "dtype": "a dtype's name or a policy; None is ``keras.config``'s.",
    "name": "a string; None stands for the class's name with a number.",
    "seed": "an integer, a ``SeedGenerator``, or None for a seed drawn at random.",
    "trainable": "a boolean, whether training changes the weights.",
    "use_bias": "a boolean, whether a bias is added.",
    "value_range": "two numbers, the minimum and the maximum of values; results are clipped to it.",
}
#: Arguments whose names end in these words; ``{}`` is the rest of the name.
_MEANINGS_BY_SUFFIX = {
    "_initializer": "an initializer or its name, for the initial value of {}.",
    "_regularizer": "a regularizer, its name or None, for a penalty on {} in the loss.",
    "_constraint": "a constraint, its name or None, applied to {} after each training step.",
}
_ENTRY = re.compile(r"    (\w+(?:, \w+)*): ")


def _text(cls: type) -> str:
    documentation = cls.__dict__.get("__doc__")
    return cleandoc(getattr(documentation, "text", documentation) or "")


def _entries(text: str) -> dict[str, str]:
    """Return the lines that describe each argument in the section ``Args:`` of a docstring."""
    entries: dict[str, str] = {}
    names: list[str] = []
    _, _, section = text.partition("Args:\n")
    for line in section.partition("\n\n")[0].splitlines():
        match = _ENTRY.match(line)
        if match:
            names = match[1].split(", ")
            entries |= dict.fromkeys(names, line)
        elif names:
            entries |= {name: f"{entries[name]}\n{line}" for name in names}
    return entries


def _meaning(name: str) -> str | None:
    text = _MEANINGS.get(name)
    for suffix, meaning in _MEANINGS_BY_SUFFIX.items():
        if text is None and name.endswith(suffix):
            text = meaning.format(f"the {name.removesuffix(suffix).replace('_', ' ')}")
    return None if text is None else f"    {name}: {text}"


def completed_documentation(cls: type) -> str:
    """Return the docstring of a class with the entries of all its arguments."""
    text = _text(cls)
    inherited: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        inherited |= _entries(_text(base))
    own = _entries(text)
    missing = [
        description
        for name, parameter in signature(cls).parameters.items()
        if parameter.kind in _NAMED and name not in own
        for description in [inherited.get(name) or _meaning(name)]
        if description is not None
    ]
    if not missing:
        return text
    added = "\n".join(dict.fromkeys(missing))  # an entry may describe several arguments
    if own:
        head, _, rest = text.partition("Args:\n")
        section, gap, tail = rest.partition("\n\n")
        return f"{head}Args:\n{section}\n{added}{gap}{tail}"
    parts = re.split(r"^(?=Raises:|Example:)", text, maxsplit=1, flags=re.MULTILINE)
    head, tail = parts[0].rstrip(), "".join(parts[1:])
    return "\n\n".join(part for part in (head, f"Args:\n{added}", tail) if part)
