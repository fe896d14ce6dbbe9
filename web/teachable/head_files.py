"""The head as a file of Keras, in which the names of its classes are, too.

A `.keras` file is a ZIP archive; Keras leaves members alone that it does not know.
"""

import json
from collections.abc import Sequence
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from webtensor import keras, zeros
from webtensor.errors import ModelFormatError

CLASS_NAMES = "class_names.json"


class UnfitHeadError(ValueError):
    """A file that holds no head for this page; the message is a sentence that names it."""


def write_head(head: keras.Model, class_names: Sequence[str]) -> bytes:
    """Return the content of a `.keras` file with a head and the names of its classes."""
    file = BytesIO()
    keras.saving.save_model(head, file)
    with ZipFile(file, "a") as archive:
        archive.writestr(CLASS_NAMES, json.dumps(list(class_names)))
    return file.getvalue()


def read_head(content: bytes, name: str, size: int) -> tuple[keras.Model, list[str]]:
    """Return the head of a file, and the names of its classes.

    Args:
        content: the file.
        name: its name, for errors.
        size: how many features of a picture the head must take.

    Raises:
        UnfitHeadError: it is no `.keras` file, or its model does something else.
    """
    try:
        head = keras.saving.load_model(content, compile=False)
        names = _class_names(content)
    except (BadZipFile, ModelFormatError, ValueError):
        raise UnfitHeadError(f"{name} is no .keras file, or is damaged.") from None
    try:
        _, classes = head(zeros((1, size))).shape
    except (TypeError, ValueError):
        raise UnfitHeadError(
            f"{name} is a model for something else than the {size} features of a picture."
        ) from None
    if names is None:
        names = [f"Class {number}" for number in range(1, classes + 1)]
    if len(names) != classes:
        raise UnfitHeadError(f"{name} names {len(names)} classes, but its model has {classes}.")
    return head, names


def _class_names(content: bytes) -> list[str] | None:
    with ZipFile(BytesIO(content)) as archive:
        if CLASS_NAMES not in archive.namelist():
            return None
        names = json.loads(archive.read(CLASS_NAMES))
    if not isinstance(names, list):
        raise ValueError(f"{CLASS_NAMES} holds no list")
    return [str(name) for name in names]
