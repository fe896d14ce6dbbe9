"""Which cases run where all of them would take too long: in other browsers, on lesser devices.

`.ci/run` runs the whole table in CPython on numpy and wasm, and in Chromium on wasm and webgl.
Elsewhere it runs the first case of each kind, which an op, the dtypes of its operands and the order
of the derivative make, and the cases that are marked because they differ there in more. With
WEBTENSOR_WHOLE_TABLES set, as by `make test-whole`, all run everywhere.
"""

import os
from collections.abc import Callable, Iterable

from tests_py.cases.runner import EXTRA_FUNCTIONS
from tests_py.cases.table import Case

__all__ = ["selected"]

RUNS_WHOLE_TABLES = bool(os.environ.get("WEBTENSOR_WHOLE_TABLES"))


def kind(case: Case) -> tuple[object, ...]:
    """The op, the dtypes of its operands, and the order of the derivative.

    Functions of EXTRA_FUNCTIONS take the name of the op that they call.
    """
    names = [argument for argument in case.args if isinstance(argument, str)]
    op = (case.function, *names) if case.function in EXTRA_FUNCTIONS else case.function
    return op, frozenset(tensor.dtype for tensor in case.tensors), case.derivative


def selected(
    cases: Iterable[Case], adapted: Callable[[Case], Case | None] = lambda case: case
) -> list[Case]:
    """Return the first case of each kind and those that are marked, or all where whole tables run.

    ``adapted`` changes a case for a device, and gives None if the case cannot run there.
    """
    results: list[Case] = []
    kinds: set[tuple[object, ...]] = set()
    for case in cases:
        if RUNS_WHOLE_TABLES or case.sample or kind(case) not in kinds:
            own = adapted(case)
            if own is not None:
                results.append(own)
                kinds.add(kind(case))
    return results
