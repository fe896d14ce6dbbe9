"""The random calls that pages make."""

from tests_py.cases.randomized import GROUPS, drawn_calls
from tests_py.cases.table import Case

__all__ = ["RANDOM_FAMILIES"]

#: Calls drawn of each function.
COUNT = 12

RANDOM_FAMILIES: dict[str, list[Case]] = {
    f"random {name}": [case for function in group for case in drawn_calls(function, COUNT)]
    for name, group in GROUPS.items()
}
