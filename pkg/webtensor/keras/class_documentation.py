"""The documentation of classes: their docstrings, completed by arguments described elsewhere.

What an argument of several classes means is described once: in the section ``Args:`` of a base
class, or, where the name says it all, in the tables here.
"""

from __future__ import annotations

import re
from inspect import Parameter, cleandoc, signature

__all__ = ["ClassDocumentation"]

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)

#: What arguments mean wherever they occur; a class that means something else says so itself.
_MEANINGS = {
    "activation": "an activation's name, a function or None, applied to the result.",
    "activity_regularizer": "a regularizer of the outputs, added to the loss.",
    "autocast": "whether float inputs are converted to the dtype that the layer computes in.",
    "axis": "an integer or several, the axis along which it computes.",
    "bounding_box_format": 'a format of boxes such as ``"xyxy"``, or None where there are none.',
    "data_format": '``"channels_last"`` or ``"channels_first"``; None is ``keras.config``\'s.',
    "dtype": "a dtype's name or a policy; None is ``keras.config``'s.",
    "name": "a string; None makes one of the class's name and a number.",
    "reduction": '``"sum_over_batch_size"``, ``"sum"``, ``"mean"``, '
    '``"mean_with_sample_weight"`` or ``"none"``: how the values of a batch become one.',
    "seed": "an integer, a ``SeedGenerator``, or None for a seed drawn at random.",
    "trainable": "a boolean, whether training changes the weights.",
    "use_bias": "a boolean, whether a bias is added.",
}
#: What arguments mean whose names end in these words; ``{}`` is the rest of the name.
_MEANINGS_BY_SUFFIX = {
    "_initializer": "an initializer, or its name: what {} starts with.",
    "_regularizer": "a regularizer, its name or None: a penalty on {}, added to the loss.",
    "_constraint": "a constraint, its name or None: what {} is kept to after each step.",
}
_ENTRY = re.compile(r"    (\w+(?:, \w+)*): ")


class ClassDocumentation:
    """The docstring of a class, completed by arguments that its bases or ``_MEANINGS`` describe.

    It is put together when it is read, by ``help`` or by a documentation tool.
    """

    __slots__ = ("text",)

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __get__(self, instance: object, owner: type) -> str | None:
        return _completed(owner) if self.text else self.text


def _text(cls: type) -> str:
    documentation = cls.__dict__.get("__doc__")
    text = documentation.text if isinstance(documentation, ClassDocumentation) else documentation
    return cleandoc(text or "")


def _entries(text: str) -> dict[str, str]:
    """The lines that describe each argument in the section ``Args:`` of a docstring."""
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


def _completed(cls: type) -> str:
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
