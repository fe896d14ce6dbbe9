"""What reading a file may cost: one budget per file, spent before anything is allocated.

A file from anywhere may be small and claim to be large: by compression, by referring to the same
bytes many times, by the arguments of a layer. Whatever a reader makes of a file (bytes, Python
objects, arrays) is spent from the file's ``Budget`` first, which is a multiple of the file's size.
Time is bounded with it, since each step of a reader spends something. Depths and ranks, which cost
the stack rather than the heap, have limits of their own.

``reading`` is the one wrapper around readers: whatever goes wrong inside, the user sees a
``ModelFormatError`` that names the file and the place.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from math import prod
from types import MethodType
from typing import Any

from webtensor.engine import backend_registry
from webtensor.engine.state import state
from webtensor.engine.tasks import TaskStack
from webtensor.errors import BackendError, ModelFormatError

__all__ = [
    "EXPANSION",
    "FLOOR",
    "MAX_DEPTH",
    "MAX_RANK",
    "Budget",
    "check_depth",
    "check_tensor",
    "claim",
    "parse_json",
    "read_stream",
    "reading",
]

#: What is made of a file takes at most this many times its size, or this many bytes.
EXPANSION = 100
FLOOR = 1 << 24
#: JSON is nested no deeper. Keras needs four levels for a model in a model; in Pyodide, json.loads
#: overflows the browser's stack, which ends Python, between 4,000 and 8,000.
MAX_DEPTH = 200
#: Shapes have at most as many axes as NumPy's.
MAX_RANK = 64
#: Tensors with which layers try themselves out may have as many bytes in any case.
_TRIAL_FLOOR = 1 << 28
#: What a small Python object takes, with its place in a list or a dict.
_ITEM_BYTES = 128
#: The size of an array must fit where addresses have 53 bits, as in JavaScript.
_MAX_ELEMENTS = 1 << 53
_CHUNK = 1 << 16


class Budget:
    """Bytes that may still be made of a file; ``where`` in methods is what errors name.

    Example:
        >>> budget = Budget("model.keras", size=1000)
        >>> budget.spend(10_000_000, "model.keras: config.json")
        >>> budget.spend(10_000_000, "model.keras: model.weights.h5")
        Traceback (most recent call last):
        webtensor.errors.ModelFormatError: model.keras: model.weights.h5 would become 20000000 ...
    """

    def __init__(self, file: str, size: int = 0, *, floor: int = FLOOR) -> None:
        self.file = file
        self._size, self._floor, self._spent = size, floor, 0
        #: Elements that variables may have while a model is made, or None where none is made.
        self.elements: int | None = None

    @property
    def limit(self) -> int:
        """Bytes that may be spent in all."""
        return max(self._floor, EXPANSION * self._size)

    def add_file(self, size: int) -> None:
        """Count a further file of the same model."""
        self._size += size

    def spend(self, count: int, where: str = "") -> None:
        """Spend bytes.

        Raises:
            ModelFormatError: there are not so many left.
        """
        self._spent += count
        if count < 0 or self._spent > self.limit:
            raise ModelFormatError(
                f"{where or self.file} would become {self._spent} bytes, but only {self._size} are "
                "stored: that is not read"
            )

    def spend_items(self, count: int, where: str = "") -> None:
        """Spend what so many Python objects take."""
        self.spend(count * _ITEM_BYTES, where)

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

    @contextmanager
    def making_model(self, elements: int) -> Iterator[None]:
        """Within it, variables may have so many elements in all, and layers spend this budget."""
        self.elements = elements
        try:
            with _active.holding(self), _limited_kernels():
                yield
        finally:
            self.elements = None


#: Budgets of the files that models are being made from; the innermost one last.
_active: TaskStack[Budget] = TaskStack("budgets")


def claim(elements: int, what: str, *, variable: bool = False) -> None:
    """Say how many elements are about to be allocated; without effect where no file is read.

    Variables may have as many as the file holds; whatever else a layer computes for itself is spent
    from the file's budget.

    Raises:
        ValueError: the file does not allow for so many.
    """
    if not _active:
        return
    budget = _active.top
    if not variable:
        budget.spend(8 * elements, f"{budget.file}: {what}")
        return
    assert budget.elements is not None
    budget.elements -= elements
    if budget.elements < 0:
        raise ValueError(f"{what} is larger than what the file holds")


def check_tensor(shape: Sequence[int], what: str) -> None:
    """Refuse a tensor that a file would have a layer try itself out with, where it is too large.

    Such tensors live for an operation only, so many smaller ones may follow one another.

    Raises:
        ValueError: it is larger than both 256 MiB and what the file's budget allows.
    """
    if _active and 4 * prod(shape) > max(_TRIAL_FLOOR, _active.top.limit):
        raise ValueError(f"{what} of shape {tuple(shape)} is larger than what the file allows for")


class _LimitedKernels(dict[str, Any]):
    """The kernels of a backend, whose results are checked before they are computed."""

    def __init__(self, backend: Any) -> None:
        super().__init__(backend.kernels)
        self._backend = backend

    def __getitem__(self, name: str) -> Any:
        kernel = super().__getitem__(name)
        label = f"{name}: a tensor"
        is_method = isinstance(kernel, MethodType)
        function = kernel.__func__ if is_method else lambda _, *operands: kernel(*operands)

        def limited(backend: Any, inputs: Any, shape: Sequence[int], *more: Any) -> Any:
            check_tensor(shape, label)
            return function(backend, inputs, shape, *more)

        return MethodType(limited, self._backend)


@contextmanager
def _limited_kernels() -> Iterator[None]:
    """Within the ``with``, check what the active backend computes, at no cost to it otherwise."""
    backend = state.backend or backend_registry.activate_default()
    kernels = backend.kernels
    backend.kernels = _LimitedKernels(backend)
    try:
        yield
    finally:
        backend.kernels = kernels


# -- errors ------------------------------------------------------------------------------------

#: Errors of the system that names in a file can lead to; others are no fault of the file.
_BY_NAMES = frozenset(
    {None, errno.EINVAL, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR}
)


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Turn whatever a part of a file leads to into a ``ModelFormatError`` that names it.

    Errors of the system, of backends and of missing packages pass through.
    """
    try:
        yield
    except (ModelFormatError, ImportError, Warning):
        raise
    except Exception as error:
        is_system = isinstance(error, OSError) and error.errno not in _BY_NAMES
        is_backend = isinstance(error, BackendError) and not isinstance(error, MemoryError)
        if is_system or is_backend:
            raise
        reason = _reason(error)
        raise ModelFormatError(reason if where in reason else f"{where}: {reason}") from error


def _reason(error: BaseException) -> str:
    """What an error says, as a reason not to read a file."""
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


def check_depth(value: Any, where: str) -> None:
    """Refuse nested lists and dicts that are too deep for recursive functions.

    Raises:
        ModelFormatError: they are.
    """
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for outer in level for inner in _inner_values(outer)]
        if not level:
            return
    raise ModelFormatError(f"{where}: it is nested more than {MAX_DEPTH} levels deep")


def _inner_values(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple)) else ()


_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_BRACKETS = b"[]{}"
_OTHERS = bytes(set(range(256)) - set(_BRACKETS))
_STEPS = {**dict.fromkeys(b"[{", 1), **dict.fromkeys(b"]}", -1)}


def parse_json(data: bytes | str, where: str, budget: Budget | None = None) -> Any:
    """Return what JSON says, after its depth and the number of its values were counted.

    Raises:
        ModelFormatError: it is no JSON, nested too deeply, or has too many values.

    Example:
        >>> parse_json(b'{"layers": []}', "config.json")
        {'layers': []}
    """
    import json

    with reading(where):
        encoded = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
        budget = budget or Budget(where, len(encoded))
        bare = _STRING.sub(b"", encoded)
        budget.spend_items(sum(map(bare.count, (b"[", b"{", b",", b":"))), where)
        depths = accumulate(map(_STEPS.__getitem__, bare.translate(None, _OTHERS)))
        if max(depths, default=0) > MAX_DEPTH:
            raise ModelFormatError(f"{where}: it is nested more than {MAX_DEPTH} levels deep")
        return json.loads(encoded.decode("utf-8-sig"))


# -- streams -----------------------------------------------------------------------------------


def read_stream(file: Any, budget: Budget, where: str) -> bytes:
    """Return all that a file object has, such as one that decompresses, within a budget."""
    pieces = []
    while piece := file.read(_CHUNK):
        budget.spend(len(piece), where)
        pieces.append(piece)
    return b"".join(pieces)
