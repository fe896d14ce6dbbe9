"""What layers may allocate while a model is made of a file, by the file's budget.

``model_budgets`` makes that budget the active one; it is loaded only when a file is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from webtensor.engine.task_stack import TaskStack

if TYPE_CHECKING:
    from webtensor.formats.budgets import Budget

__all__ = ["ModelBudget", "active_budgets", "check_tensor", "claim"]

#: The tensors of a layer's trial calls may have this many bytes, whatever the size of the file.
_TRIAL_FLOOR = 1 << 28


@dataclass
class ModelBudget:
    """What a model may take while it is made of a file.

    Attributes:
        memory: the budget of the file, from which other memory than that of variables is spent.
        elements: the number of elements that further variables may have.
    """

    memory: Budget
    elements: int


#: The budgets of the models that are being made, the innermost last.
active_budgets: TaskStack[ModelBudget] = TaskStack("budgets")


def claim(elements: int, name: str, *, variable: bool = False) -> None:
    """Spend the budget of the file that is being read, if any, on a layer's memory.

    Args:
        elements: the number of elements that are about to be allocated.
        name: what errors call them.
        variable: whether they are those of a variable. Variables may have as many elements as the
            file, everything else is spent in bytes.

    Raises:
        ValueError: the file does not allow for that many elements.
    """
    if not active_budgets:
        return
    budget = active_budgets.top
    if not variable:
        budget.memory.spend(8 * elements, f"{budget.memory.file}: {name}")
        return
    budget.elements -= elements
    if budget.elements < 0:
        raise ValueError(f"{name} is larger than what the file holds")


def check_tensor(shape: Sequence[int], name: str) -> None:
    """Refuse a tensor of a trial call that is too large for the file that is being read.

    Such tensors are freed after each operation, so only the size of each is limited.

    Raises:
        ValueError: the tensor is larger than both 256 MiB and the file's budget.
    """
    if active_budgets and 4 * prod(shape) > max(_TRIAL_FLOOR, active_budgets.top.memory.limit):
        raise ValueError(f"{name} of shape {tuple(shape)} is larger than what the file allows for")
