"""The table itself: it covers the library, and would notice a mistake."""

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.cases import FAMILIES, Case, failures, run_cases
from webtensor.ops.elementwise import ROWS

ALL = [case for family in FAMILIES.values() for case in family]


def functions(derivative: int) -> set[str]:
    """Names of the functions that have cases of a derivative."""
    return {case.function for case in ALL if case.derivative == derivative}


def test_names_are_distinct() -> None:
    names = [case.name for case in ALL]
    repeated = {name for family in FAMILIES.values() for name in _repeated(family)}
    assert not repeated
    assert len(names) > 600


def _repeated(cases: list[Case]) -> Iterator[str]:
    seen: set[str] = set()
    for case in cases:
        if case.name in seen:
            yield case.name
        seen.add(case.name)


def test_every_elementwise_function_has_cases() -> None:
    assert set(ROWS) - functions(0) == set()


def test_every_differentiable_elementwise_function_has_gradients() -> None:
    differentiable = {name for name, row in ROWS.items() if row.gradients is not None}
    assert differentiable - functions(1) == set()


def run_on_numpy(cases: list[Case]) -> list[str]:
    """What is wrong with cases on the NumPy backend."""
    answer = asyncio.run(run_cases([case.encoded() for case in cases], "numpy"))
    return failures(cases, answer, "numpy")


@pytest.mark.parametrize("name", sorted(ROWS))
def test_an_error_of_eight_parts_in_a_million_is_noticed(name: str, monkeypatch: Any) -> None:
    row = ROWS[name]
    right = row.numpy

    def wrong(np_: Any, *operands: Any) -> Any:
        result = right(np_, *operands)
        kind = result.dtype.kind
        return (result * np.float32(1 + 8e-6)).astype(result.dtype) if kind == "f" else ~result

    monkeypatch.setattr(row, "numpy", wrong)
    assert run_on_numpy([case for case in ALL if case.function == name and not case.derivative])


KERNELS = [
    ("matmul", "matmul"),
    ("conv2d", "conv2d"),
    ("depthwise_conv2d", "depthwise_conv2d"),
    ("sum", "reduce"),
    ("argmax", "arg_reduce"),
    ("permute_dims", "strided"),
    ("pad", "pad"),
    ("concat", "concat"),
    ("gather", "gather"),
    ("max_pool", "max_pool"),
    ("avg_pool", "avg_pool"),
    ("softmax", "softmax"),
]


@pytest.mark.parametrize("function, kernel", KERNELS)
def test_one_wrong_element_is_noticed(function: str, kernel: str, monkeypatch: Any) -> None:
    backend: Any = wt.find_backend("numpy")
    kernels = backend.kernels
    right = kernels[kernel]

    def wrong(*operands: Any) -> Any:
        result = np.array(right(*operands))
        flat = result.reshape(-1)
        flat[-1] = ~flat[-1] if flat.dtype.kind != "f" else flat[-1] * np.float32(0.999) + 1e-3
        return result

    monkeypatch.setitem(kernels, kernel, wrong)
    monkeypatch.setattr(backend, "epoch", object())  # no call that was prepared before or after
    cases = [case for case in ALL if case.function == function and not case.derivative]
    noticed = len(run_on_numpy(cases))
    empty = sum(0 in np.shape(case.value) or np.size(case.value) == 0 for case in cases)
    assert noticed > (len(cases) - empty) / 2


def test_a_leak_and_a_fallback_are_noticed() -> None:
    answer = {
        "results": [],
        "fallbacks": [["softmax", "wasm", "numpy"]],
        "leaked": {"num_bytes": 4},
    }
    assert failures([], answer, "wasm") == [
        "kernel softmax ran on numpy",
        "counts after the run differ: {'num_bytes': 4}",
    ]
