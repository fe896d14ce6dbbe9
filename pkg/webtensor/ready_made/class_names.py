"""The names of classes: given as a list, or in one of the files that are usual beside models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import parse_json
from webtensor.formats.files import Source, label_of
from webtensor.ready_made.files import read_file

__all__ = ["ClassNames", "as_class_names"]

#: A list of names, or a file with them.
ClassNames: TypeAlias = Sequence[str] | Source

#: What the list of names is called in the metadata of models of sounds, now and formerly.
_KEYS = ("wordLabels", "words")


def as_class_names(function: str, argument: str, value: ClassNames) -> list[str]:
    """Return names of classes.

    Args:
        function: what errors call the function or the class.
        argument: what they call the argument.
        value: a list of names, or the path, the address or the bytes of a JSON file: a list; a
            mapping from each class's number to its name, or to a list that ends with the name; or
            a mapping with the list under "wordLabels" or "words".

    Raises:
        ModelFormatError: the file is malformed.
        OSError: the file cannot be read.
        TypeError: the value is something else.

    Example:
        >>> from webtensor.ready_made.class_names import as_class_names
        >>> names = b'{"0": ["n01440764", "tench"], "1": ["n01443537", "goldfish"]}'
        >>> as_class_names("MobileNet", "class_names", names)
        ['tench', 'goldfish']
    """
    if isinstance(value, (list, tuple)):
        if not value or any(not isinstance(name, str) for name in value):
            raise TypeError(f"{function}: {argument} must be names, but got {value!r:.100}")
        return list(value)
    where = f"{function}: {argument}: {label_of(value)}"
    names = _names_in(parse_json(read_file(_checked(function, argument, value)), where))
    if not names or any(not isinstance(name, str) for name in names):
        raise ModelFormatError(f"{where} has no names of classes")
    return names


def _checked(function: str, argument: str, value: Any) -> Any:
    if isinstance(value, (str, bytes, bytearray, memoryview)) or hasattr(value, "__fspath__"):
        return value
    if hasattr(value, "read"):
        return value
    raise TypeError(
        f"{function}: {argument} must be a list of names, or the path or the bytes of a file, but "
        f"got {type(value).__name__}"
    )


def _names_in(content: Any) -> list[Any]:
    """Return what a file has in the place of names, or nothing."""
    if isinstance(content, Mapping):
        for key in _KEYS:
            if key in content:
                return _names_in(content[key])
        numbered = [content.get(str(number)) for number in range(len(content))]
        return [name[-1] if isinstance(name, list) and name else name for name in numbered]
    return content if isinstance(content, list) else []
