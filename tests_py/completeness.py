"""How complete the Ops API is: ``python -m tests_py.completeness`` prints it.

Counted are the symbols of TensorFlow.js that are mapped, the ops that are compared with
TensorFlow.js and NumPy on random inputs, and the differentiable ops whose gradients are compared
with differences. Each test runs its table on every backend, so one count stands for all; ops of
which a backend leaves a step to another are named. What is differentiable is found by trial, and
what tests there are from the tables that they run: nothing needs to be kept up to date by hand, and
``test_completeness`` fails when an op is left out.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from inspect import isclass, iscoroutinefunction, isroutine, unwrap
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import webtensor as wt
from tests_browser.tensorflow_js import COMPARED_ELSEWHERE, COUNTERPARTS
from tests_py.cases import FAMILIES, Case
from tests_py.cases.comparison import LEFT_TO_OTHERS, decoded
from tests_py.cases.randomized import GENERATORS
from tests_py.cases.runner import EXTRA_FUNCTIONS, evaluate, run_cases

__all__ = ["COUNTED", "Count", "counts", "unexplained_symbols"]

MAP = tomllib.loads((Path(__file__).parents[1] / "docs" / "tfjs_map.toml").read_text("utf-8"))
BACKENDS = ("numpy", "wasm", "webgl")

#: Namespaces of TensorFlow.js that hold ops.
OPS_NAMESPACES = (
    "top",
    "tensorMethods",
    "image",
    "linalg",
    "signal",
    "spectral",
    "sparse",
    "string",
    "math",
    "fused",
    "losses",
    "train",
    "browser",
)
#: Mapped symbols that compute no tensors from tensors: what they do, and so what tests them.
NOT_OPS = {
    "engine": "memory profile time tidy dispose keep engine env ready backend result_type "
    "enable_debug_mode next_frame print Tensor.print",
    "backends": "get_backend set_backend find_backend register_backend remove_backend "
    "webgl.force_half_float webgl.set_context",
    "extension": "register_op deregister_op register_kernel unregister_kernel register_gradient "
    "unregister_gradient get_kernel get_gradient get_kernels_for_backend copy_registered_kernels",
    "models": "Input keras.saving.load_layers_model_async",
    "differentiation": "grad grads value_and_grad value_and_grads variable_grads custom_grad "
    "GradientTape",
    "values and life of a tensor": "Tensor.array Tensor.tolist Tensor.bytes Tensor.data "
    "Tensor.data_sync Tensor.dispose Tensor.is_disposed Tensor.ndim Tensor.throw_if_disposed "
    "Tensor.__repr__ Tensor.buffer Tensor.buffer_sync Tensor.variable buffer",
    "numbers": "enclosing_power_of_two",
}
NAMES_OF_NO_OP = {name for names in NOT_OPS.values() for name in names.split()}


# -- symbols ----------------------------------------------------------------------------------


def mapped(namespaces: tuple[str, ...]) -> list[str]:
    """Paths of ours in the map, each once."""
    rows = (entry for name in namespaces for entry in MAP[name].values())
    return sorted({entry for entry in rows if isinstance(entry, str)})


def named(path: str) -> Any:
    """What a path stands for."""
    return reduce(getattr, path.split("."), wt)


def ops() -> list[str]:
    """Mapped functions that compute tensors; a method that is a function counts as that."""
    paths = [path for path in mapped(OPS_NAMESPACES) if "Tensor." not in path]
    functions = {unwrap(named(path)): path for path in paths if isroutine(named(path))}
    results = set()
    for path in mapped(OPS_NAMESPACES):
        member = named(path)
        if path not in NAMES_OF_NO_OP and isroutine(member) and not isclass(member):
            results.add(functions.get(unwrap(member), path))
    return sorted(results)


# -- what is compared -------------------------------------------------------------------------


def compared() -> set[str]:
    """Ops that random inputs compare with TensorFlow.js, or that have a test of their own there."""
    return (set(COUNTERPARTS) & set(GENERATORS)) | set(COMPARED_ELSEWHERE)


def rows_of(derivative: int) -> set[str]:
    """Functions with rows of a derivative, itself or within a helper that is given its name."""
    results = set()
    for case in every_case():
        if case.derivative == derivative:
            results.add(case.function)
            if case.function in EXTRA_FUNCTIONS:
                results |= {argument for argument in case.args if isinstance(argument, str)}
    return results


# -- what is differentiable -------------------------------------------------------------------


def table_functions() -> list[str]:
    """Functions of the library that the table has rows of; one of several names is kept."""
    named_ones = {case.function for case in every_case()} - set(EXTRA_FUNCTIONS)
    by_identity = {id(named(path)): path for path in sorted(named_ones, reverse=True)}
    return sorted(by_identity.values())


def synchronous_functions() -> list[str]:
    """Those functions that return at once what they compute."""
    return [path for path in table_functions() if not iscoroutinefunction(named(path))]


def every_case() -> Iterator[Case]:
    """All rows of the table."""
    return (case for family in FAMILIES.values() for case in family)


def trials(function: str, derivative: int) -> Iterator[Case]:
    """Derivatives of a function's rows by one tensor at a time."""
    for case in every_case():
        if case.function != function or case.derivative or not has_elements(case.value):
            continue
        tried = case
        if case.returns_several and derivative == 1:
            args = (function, *case.args)
            tried = replace(case, function="combined", args=args, oracle=lambda *_, **__: 0.0)
        elif case.returns_several:  # one output as it is: squares would be curved themselves
            args = (case.args[0], function, *case.args[1:])
            oracle = case.oracle
            tried = replace(
                case,
                function="first_output",
                args=args,
                oracle=lambda x, _, *rest, oracle=oracle, **kwargs: oracle(x, *rest, **kwargs)[0],
            )
        for number, tensor in enumerate(case.tensors):
            if tensor.dtype.kind in "fc" and 0 < tensor.size < 1000:
                yield replace(tried, derivative=derivative, wrt=(number,))


def has_elements(value: Any) -> bool:
    """Whether a result, or each of several, has elements."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    return all(np.size(part) for part in parts)


@cache
def differentiable(derivative: int) -> frozenset[str]:
    """Functions with a derivative by some of their arguments that is not zero everywhere."""
    tried = [
        (function, case)
        for function in synchronous_functions()
        if not function.startswith("Tensor.__")  # operators call the functions
        for case in islice(trials(function, derivative), 6)
    ]
    answer = asyncio.run(run_cases([case.encoded() for _, case in tried], "numpy"))
    return frozenset(
        function
        for (function, _), result in zip(tried, answer["results"], strict=True)
        if not isinstance(result, dict) and any(has_other_than_zeros(part) for part in result)
    )


def has_other_than_zeros(result: dict[str, Any]) -> bool:
    """Whether an encoded tensor has an element that is not zero."""
    return bool(np.any(np.nan_to_num(decoded(result))))


def left_to_others(backend: str) -> list[str]:
    """Functions of which a backend leaves a kernel to another, visibly."""
    kernels = LEFT_TO_OTHERS.get(backend, set())

    def uses_one(function: str) -> bool:
        cases = (case for case in every_case() if case.function == function)
        return any(
            kernels & set(wt.profile(partial(evaluate, case.encoded())).kernel_names)
            for case in islice(cases, 2)
        )

    return [function for function in synchronous_functions() if uses_one(function)]


# -- the report -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Count:
    """What there should be, and what is missing."""

    wanted: frozenset[str]
    missing: frozenset[str]

    def __str__(self) -> str:
        return f"{len(self.wanted) - len(self.missing)} of {len(self.wanted)}"


#: What is counted of ops.
COUNTED = (
    "compared with TensorFlow.js",
    "compared with NumPy and SciPy",
    "gradients",
    "second derivatives",
)


@cache
def counts() -> dict[str, Count]:
    """The counts of ops, by what is counted."""
    wanted_and_done = (
        (frozenset(ops()), compared()),
        (frozenset(table_functions()) - set(COMPARED_ELSEWHERE), set(GENERATORS)),
        (differentiable(1), rows_of(1)),
        (differentiable(2), rows_of(2)),
    )
    return {
        name: Count(wanted, wanted - done)
        for name, (wanted, done) in zip(COUNTED, wanted_and_done, strict=True)
    }


def unexplained_symbols() -> list[str]:
    """Symbols that are neither mapped nor left out for a reason."""
    return [
        f"{namespace}.{symbol}"
        for namespace, rows in MAP.items()
        for symbol, entry in rows.items()
        if not (isinstance(entry, str) or entry.get("why"))
    ]


def main() -> None:
    """Print the counts, and what is missing."""
    rows = [entry for symbols in MAP.values() for entry in symbols.values()]
    of_ops = [entry for name in OPS_NAMESPACES for entry in MAP[name].values()]
    for title, entries in (("all namespaces", rows), ("namespaces of ops", of_ops)):
        with_path = sum(isinstance(entry, str) for entry in entries)
        print(
            f"symbols of TensorFlow.js, {title}: {with_path} mapped and "
            f"{len(entries) - with_path} left out for a reason, of {len(entries)}"
        )
    for name, count in counts().items():
        print(f"ops, {name}: {count}, on each of {', '.join(BACKENDS)}")
        for missing in sorted(count.missing):
            print(f"  missing: {missing}")
    for backend in BACKENDS:
        functions = left_to_others(backend)
        listed = f"{len(functions)}: {', '.join(functions)}" if functions else "none"
        print(f"ops with a step on another backend than {backend}: {listed}")


if __name__ == "__main__":
    main()
