"""Judges what a run of cases gave."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from tests_py.cases.inputs import texts
from tests_py.cases.table import Array, Case, dtype_name

__all__ = ["check", "decoded", "difference", "failures"]

DTYPES = {"bool": np.bool_, "int32": np.int32, "float32": np.float32, "complex64": np.complex64}

#: Kernels that a backend leaves to the next one; `docs/design/choices.md` says why.
LEFT_TO_OTHERS = {
    "webgl": {
        "cholesky",
        "determinant",
        "eigh",
        "filled_rows",
        "qr",
        "ragged_sequence",
        "row_counts",
        "solve",
        "svd",
    }
}


def decoded(result: dict[str, Any]) -> Array:
    """Return a tensor that `runner` encoded as an array; text becomes ``bytes`` objects."""
    if result["dtype"] == "string":
        return texts(list(map(b64decode, result["elements"]))).reshape(result["shape"])
    elements: Array = np.frombuffer(b64decode(result["elements"]), DTYPES[result["dtype"]])
    return elements.reshape(result["shape"])


def difference(actual: Array, expected: Array, allowed: Array) -> str | None:
    """Say how far ``actual`` is from ``expected`` where it is farther than allowed."""
    if actual.dtype == np.object_:
        unequal = np.argwhere(actual != expected).tolist()
        return f"text differs at {unequal}: {actual!r} instead of {expected!r}" if unequal else None
    with np.errstate(all="ignore"):
        errors = np.abs(actual.astype(np.result_type(actual, np.float64)) - expected)
    same = (actual == expected) | ((actual != actual) & (expected != expected))
    errors = np.where(same, 0.0, np.where(np.isnan(errors), np.inf, errors))
    wrong = errors > allowed
    if not wrong.any():
        return None
    position = np.unravel_index(np.argmax(np.where(wrong, errors, -1)), errors.shape)
    return (
        f"max error {errors[position]:.3g} (allowed {allowed[position]:.3g}) at "
        f"{tuple(map(int, position))}: {actual[position]!r} instead of {expected[position]!r}; "
        f"{int(wrong.sum())} of {wrong.size} elements are wrong"
    )


def check(case: Case, result: Any, backend: str) -> str | None:
    """Return what is wrong with a case's result, or None."""
    if isinstance(result, dict) and "error" in result:
        return f"raised\n{result['error']}"
    parts = result if case.returns_several else [result]
    if not isinstance(parts, list) or len(parts) != len(case.expected):
        return f"returned {len(parts)} tensors instead of {len(case.expected)}"
    for part, expected, allowed in zip(parts, case.expected, case.allowed(backend), strict=True):
        actual = decoded(part)
        if part["dtype"] != dtype_name(expected):
            return f"dtype is {part['dtype']} instead of {dtype_name(expected)}"
        if actual.shape != expected.shape:
            return f"shape is {actual.shape} instead of {expected.shape}"
        limited = case.precision.limited
        wrong = difference(limited(actual), limited(expected), allowed)
        if wrong is not None:
            return wrong
    return None


def failures(
    cases: Sequence[Case], answer: dict[str, Any], backend: str, left: Collection[str] = ()
) -> list[str]:
    """Return a line for each case that is wrong, and for fallbacks and leaks.

    ``left`` are kernels that the backend leaves to others besides.
    """
    messages = []
    for case, result in zip(cases, answer["results"], strict=True):
        wrong = check(case, result, backend)
        if wrong is not None:
            messages.append(f"{case.name}: {wrong}")
    messages += [
        f"kernel {kernel} ran on {used}"
        for kernel, active, used in answer["fallbacks"]
        if kernel not in LEFT_TO_OTHERS.get(active, ()) and kernel not in left
    ]
    leaked = {name: count for name, count in answer["leaked"].items() if count}
    if leaked:
        messages.append(f"counts after the run differ: {leaked}")
    return messages
