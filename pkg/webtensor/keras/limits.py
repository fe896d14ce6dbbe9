"""Limits that hold while objects are made of a file: of depth, and by the file's budget.

``budgets`` has the budgets themselves; they are loaded only when a file is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from webtensor.engine.tasks import TaskStack
from webtensor.errors import ModelFormatError

if TYPE_CHECKING:
    from webtensor.keras.budgets import Budget

__all__ = ["MAX_DEPTH", "active_budgets", "check_depth", "check_tensor", "claim"]

#: The largest depth of JSON. Keras needs four levels for a model in a model; in Pyodide, json.loads
#: overflows the browser's stack, which ends Python, between 4,000 and 8,000.
MAX_DEPTH = 200
#: The tensors of a layer's trial calls may have this many bytes, whatever the size of the file.
_TRIAL_FLOOR = 1 << 28

#: The budgets of the files from which models are being made, the innermost last.
active_budgets: TaskStack[Budget] = TaskStack("budgets")


def claim(elements: int, what: str, *, variable: bool = False) -> None:
    """Spend the budget of the file that is being read, if any, on a layer's memory.

    Args:
        elements: the number of elements that are about to be allocated.
        what: their name in errors.
        variable: whether they are those of a variable. Variables may have as many elements as the
            file, everything else is spent in bytes.

    Raises:
        ValueError: the file does not allow for that many elements.
    """
    if not active_budgets:
        return
    budget = active_budgets.top
    if not variable:
        budget.spend(8 * elements, f"{budget.file}: {what}")
        return
    assert budget.elements is not None
    budget.elements -= elements
    if budget.elements < 0:
        raise ValueError(f"{what} is larger than what the file holds")


def check_tensor(shape: Sequence[int], what: str) -> None:
    """Refuse a tensor of a trial call that is too large for the file that is being read.

    Such tensors are freed after each operation, so only the size of each is limited.

    Raises:
        ValueError: the tensor is larger than both 256 MiB and the file's budget.
    """
    if active_budgets and 4 * prod(shape) > max(_TRIAL_FLOOR, active_budgets.top.limit):
        raise ValueError(f"{what} of shape {tuple(shape)} is larger than what the file allows for")


def check_depth(value: object, where: str) -> None:
    """Refuse lists and dicts that are nested too deeply for recursive functions.

    Raises:
        ModelFormatError: they are nested more than ``MAX_DEPTH`` levels deep.
    """
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for outer in level for inner in _inner_values(outer)]
        if not level:
            return
    raise ModelFormatError(f"{where}: it is nested more than {MAX_DEPTH} levels deep")


def _inner_values(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple)) else ()
