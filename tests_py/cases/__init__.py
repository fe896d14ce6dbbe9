"""The table of op cases: what every op must give, on every backend, everywhere.

A case is a row: a function, its arguments, an oracle that computes in float64 what it must give,
and the error it may have. `table` says what a row is, `inputs` makes reproducible data, and one
module per family holds the rows, also those that differentiate. `selection` chooses the rows that
run everywhere. `runner` runs rows where webtensor is: it needs no NumPy, so its source can be sent
to a page. `comparison` judges what came back, in CPython, with NumPy.
"""

from tests_py.cases.comparison import check, failures
from tests_py.cases.families import FAMILIES
from tests_py.cases.runner import run_cases
from tests_py.cases.selection import selected
from tests_py.cases.table import Case

__all__ = ["FAMILIES", "Case", "check", "failures", "run_cases", "selected"]
