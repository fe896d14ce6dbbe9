"""Budgets: how much memory reading a file may take, spent before anything is allocated.

An untrusted file may be small and claim to be large: by compression, by many references to the same
bytes, by the arguments of a layer. Whatever a reader makes of a file (bytes, Python objects,
arrays) is spent from the file's ``Budget`` first, which is a multiple of the file's size. This
bounds the time, too, since each step of a reader spends something. Depths and ranks, which take
the stack rather than the heap, have limits of their own.

``reading`` wraps all readers: whatever goes wrong inside, the user sees a ``ModelFormatError`` that
names the file and its part.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from math import prod
from typing import Any, Protocol

from webtensor.errors import BackendError, ModelFormatError
from webtensor.formats.limits import MAX_DEPTH

__all__ = [
    "EXPANSION",
    "FLOOR",
    "MAX_RANK",
    "Budget",
    "parse_json",
    "read_stream",
    "reading",
]

#: What is read from a file takes at most ``EXPANSION`` times its size, or ``FLOOR`` bytes.
EXPANSION = 100
FLOOR = 1 << 24
#: The largest rank of an array, as in NumPy.
MAX_RANK = 64
#: An upper bound for a small Python object, with the reference to it in a list or a dict.
_ITEM_BYTES = 128
#: Sizes must be exact in JavaScript, whose integers have 53 bits.
_MAX_ELEMENTS = 1 << 53
_CHUNK = 1 << 16


class Readable(Protocol):
    """A binary file object that is open for reading."""

    def read(self, size: int = -1, /) -> bytes:
        """Return ``size`` bytes, fewer at the end, or all that are left."""


class Budget:
    """The number of bytes that reading a file may still allocate.

    Args:
        file: what errors call the file.
        size: the size of the file in bytes.
        floor: the bytes that may be spent, however small the file is.

    Example:
        >>> budget = Budget("model.keras", size=1000)
        >>> budget.spend(10_000_000, "model.keras: config.json")
        >>> budget.spend(10_000_000, "model.keras: model.weights.h5")
        Traceback (most recent call last):
        webtensor.errors.ModelFormatError: model.keras: model.weights.h5 would become 20000000 ...
    """

    def __init__(self, file: str, size: int = 0, *, floor: int = FLOOR) -> None:
        self.file = file
        self._size, self._floor, self._spent = 0, floor, 0
        self.add_file(size)

    def add_file(self, size: int) -> None:
        """Raise the budget by that of a further file of the same model."""
        self._size += size
        #: The number of bytes that may be spent in all.
        self.limit = max(self._floor, EXPANSION * self._size)

    def spend(self, count: int, where: str = "") -> None:
        """Spend bytes; ``where`` is the part of the file that errors name.

        Raises:
            ModelFormatError: the budget has fewer bytes left.
        """
        self._spent += count
        if count < 0 or self._spent > self.limit:
            raise ModelFormatError(
                f"{where or self.file} would become {self._spent} bytes, but only {self._size} are "
                "stored, so it is not read"
            )

    def spend_items(self, count: int, where: str = "") -> None:
        """Spend the bytes of a number of small Python objects."""
        self._spent += count * _ITEM_BYTES
        if self._spent > self.limit:
            self.spend(0, where)

    def size_of(self, shape: Sequence[int], where: str = "") -> int:
        """Return the number of elements of a shape.

        Raises:
            ModelFormatError: the shape has too many axes or elements.
        """
        if len(shape) > MAX_RANK:
            raise ModelFormatError(
                f"{where or self.file}: a shape has {len(shape)} axes, but at most {MAX_RANK} are "
                "read"
            )
        size = prod(shape)
        if size > _MAX_ELEMENTS or max(shape, default=0) > _MAX_ELEMENTS:
            raise ModelFormatError(f"{where or self.file}: a shape has too many elements")
        return size


# -- errors ------------------------------------------------------------------------------------

#: Errors of the system that malformed names in a file cause; others are no fault of the file.
_CAUSED_BY_NAMES = frozenset(
    {None, errno.EINVAL, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR}
)


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Turn the errors that a part of a file causes into a ``ModelFormatError`` that names it.

    Errors of the system, of backends and of missing packages pass through.
    """
    try:
        yield
    except (ModelFormatError, ImportError, Warning):
        raise
    except Exception as error:
        is_system = isinstance(error, OSError) and error.errno not in _CAUSED_BY_NAMES
        is_backend = isinstance(error, BackendError) and not isinstance(error, MemoryError)
        if is_system or is_backend:
            raise
        reason = _reason(error)
        raise ModelFormatError(reason if where in reason else f"{where}: {reason}") from error


def _reason(error: BaseException) -> str:
    """Return the text of an error, as the reason why a file is not read."""
    text = str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory to read it"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if "Exceeds the limit" in text:
        return "it has an integer of too many digits"
    is_clear = isinstance(error, (OSError, TypeError, ValueError)) and text
    return text if is_clear else f"{type(error).__name__}: {text}" if text else type(error).__name__


# -- structures --------------------------------------------------------------------------------


_BRACKETS = b"[]{}"
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_SQUARE_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_PUNCTUATION = bytes(set(range(256)) - set(_BRACKETS + b',:"'))
_DEPTH_CHANGES = {ord("["): 1, ord("]"): -1}
#: The depth that files of models rarely exceed.
_USUAL_DEPTH = 16


def parse_json(data: bytes | str, where: str, budget: Budget | None = None) -> Any:
    """Decode JSON, after counting its depth and its values.

    Raises:
        ModelFormatError: it is malformed, nested too deeply, or has too many values.

    Example:
        >>> parse_json(b'{"layers": []}', "config.json")
        {'layers': []}
    """
    with reading(where):
        encoded = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
        budget = budget or Budget(where, len(encoded))
        punctuation = _punctuation(encoded)
        budget.spend_items(sum(map(punctuation.count, (b"[", b"{", b",", b":"))), where)
        if _is_too_deep(punctuation.translate(_SQUARE_BRACKETS, _NO_BRACKETS)):
            raise ModelFormatError(f"{where}: it is nested more than {MAX_DEPTH} levels deep")
        return json.loads(encoded.decode("utf-8-sig"))


def _is_too_deep(brackets: bytes) -> bool:
    """Return whether square brackets are nested too deeply."""
    unpaired = brackets
    for _ in range(_USUAL_DEPTH):
        # Each time the innermost pairs go; counting brackets one by one takes ten times as long.
        unpaired = unpaired.replace(b"[]", b"")
        if not unpaired:
            return False
    return max(accumulate(map(_DEPTH_CHANGES.__getitem__, brackets)), default=0) > MAX_DEPTH


def _punctuation(encoded: bytes) -> bytes:
    """Return the brackets, commas and colons of JSON that are not in texts."""
    if b"\\" in encoded:
        encoded = encoded.replace(b"\\\\", b"").replace(b'\\"', b"")
    quoted = encoded.translate(None, _NO_PUNCTUATION)
    # Most texts are only a pair of quotes now. Of what quotes divide, every other piece is a text.
    return b"".join(quoted.replace(b'""', b"").split(b'"')[::2])


# -- streams -----------------------------------------------------------------------------------


def read_stream(file: Readable, budget: Budget, where: str) -> bytes:
    """Return the rest of a file object, such as one that decompresses, within a budget."""
    pieces = []
    while piece := file.read(_CHUNK):
        budget.spend(len(piece), where)
        pieces.append(piece)
    return b"".join(pieces)
