"""Tries functions of SciPy and scikit-learn with tensors, and compares them with what NumPy gives.

A process of its own does it, since SciPy reads ``SCIPY_ARRAY_API`` once, when it is imported:
``python -m tests_py.standards.libraries LIBRARY BACKEND`` prints what became of each call as JSON.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["CALLS", "LIBRARIES", "Outcome", "outcomes"]

LIBRARIES = {"scipy": "SciPy", "sklearn": "scikit-learn"}
#: What became of a call: None where it gave what NumPy gives, else the reason.
Outcome = str | None

CALLS = {
    library: [
        line
        for line in Path(__file__).with_name(f"{library}_calls.txt").read_text().splitlines()
        if not line.startswith("#")
    ]
    for library in LIBRARIES
}
#: Errors whose reason is in the design, by a part of their text.
REASONS = {
    "can be an index": "writes into an array",
    "immutable": "writes into an array",
    "item assignment": "writes into an array",
    "instead of float64, use float32": "asks for float64",
    "must contain doubles": "asks for float64",
    "instead of int64, use int32": "asks for int64",
    "instead of int8, use int32": "asks for int8",
    "instead of complex128, use complex64": "asks for complex128",
}
#: An assignment to a part of an array, as ``x[i] = y`` and ``x[i] += y``.
ASSIGNMENT = re.compile(r"\]\s*[-+*/|&]?=(?!=)")


def outcomes(library: str, backend: str, calls: list[str], substitutes: bool) -> dict[str, Outcome]:
    """Try calls in a process of its own."""
    command = [sys.executable, "-m", "tests_py.standards.libraries", library, backend]
    answer = subprocess.run(
        [*command, *(["--substitutes"] if substitutes else [])],
        input="\n".join(calls),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        cwd=Path(__file__).parents[2],
    )
    result: dict[str, Outcome] = json.loads(answer.stdout)
    return result


# -- in that process ------------------------------------------------------------------------------


def scope(library: str, xp: Any) -> dict[str, Any]:
    """Return what the calls of a library name: its modules, and arrays of ``xp``."""
    random = np.random.default_rng(0)

    def array(values: Any) -> Any:
        values = np.asarray(values)
        # Both namespaces get the same numbers, in the dtypes that they have by default.
        return xp.asarray(values.astype("f").astype("d") if values.dtype.kind == "f" else values)

    if library == "scipy":
        import scipy.cluster.hierarchy
        import scipy.optimize.elementwise

        vector = np.array([0.2, 0.5, 0.9, 0.4, 0.7, 0.3, 0.1, 0.8])
        points = random.uniform(0.1, 1, (4, 2))
        distances = np.sqrt(((points[:, None] - points) ** 2).sum(-1))[np.triu_indices(4, 1)]
        arrays = {
            "x": vector,
            "y": np.array([0.3, 0.4, 0.8, 0.5, 0.6, 0.15, 0.2, 0.95]),
            "z": vector * (1 + 0.5j),
            "increasing": np.sort(vector),
            "integers": np.array([1, 2, 2, 3]),
            "long": random.uniform(0.1, 1, 24),
            "m": points,
            "square": random.uniform(0.1, 1, (3, 3)),
            "distances": distances,
            "links": scipy.cluster.hierarchy.linkage(distances),
            "sections": np.array([[0.2, 0.4, 0.2, 1.0, -0.4, 0.1]]),
        }
    else:
        samples = random.uniform(0.1, 1, (20, 3))
        target = samples @ [1.0, 2.0, 3.0] + random.normal(0, 0.1, 20)
        arrays = {
            "X": samples,
            "labels": (target > np.median(target)).astype(np.int32),
            "predicted": (random.permutation(20) % 3 > 0).astype(np.int32),
            "scores": random.uniform(0.05, 0.95, 20),
            "target": target,
            "estimate": target + random.normal(0, 0.2, 20),
        }
    return {"xp": xp, **modules(library), **{name: array(value) for name, value in arrays.items()}}


def modules(library: str) -> dict[str, Any]:
    """Import the modules that the calls of a library begin with."""
    roots = {call.partition(".")[0] for call in CALLS[library]}
    return {root: import_module(f"{library}.{root}") for root in sorted(roots)}


def leaves(value: Any) -> list[Any]:
    """Return the arrays and numbers of a result, in order, and those that its attributes hold."""
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, dict):
        return leaves(list(value.values()))
    if np.isscalar(value) or hasattr(value, "__array__"):
        return [value]
    attributes = getattr(value, "__dict__", {}).values()
    return [leaf for leaf in attributes if np.isscalar(leaf) or hasattr(leaf, "__array__")]


def same(result: Any, expected: Any) -> bool:
    """Whether a result is what NumPy gives, to the digits that float32 has after a computation."""
    ours, theirs = leaves(result), leaves(expected)
    if len(ours) != len(theirs):
        return False
    for our, their in zip(ours, theirs, strict=True):
        if isinstance(their, str):
            if our != their:
                return False
            continue
        our, their = np.asarray(our), np.asarray(their)
        size = np.abs(their[np.isfinite(their)]).max(initial=0.0) if their.dtype.kind in "fc" else 0
        if our.shape != their.shape or not np.allclose(
            our, their, rtol=1e-3, atol=1e-4 * size + 1e-6, equal_nan=True
        ):
            return False
    return True


def attempt(call: str, tensors: dict[str, Any], arrays: dict[str, Any]) -> Outcome:
    """Try a call, and return why it failed, or None."""
    expected = eval(call, arrays)
    try:
        result = eval(call, tensors)
    except Exception as error:
        return reason_of(error)
    return None if same(result, expected) else "gives something else"


def reason_of(error: Exception) -> str:
    """Say why a call failed."""
    frames = traceback.extract_tb(error.__traceback__)
    line = next((p.line for p in reversed(frames) if "site-packages" in p.filename), "")
    if isinstance(error, TypeError) and ASSIGNMENT.search(line or ""):
        return "writes into an array"
    text = str(error)
    for part, reason in REASONS.items():
        if part in text:
            return reason
    return f"{type(error).__name__}: {text.strip().partition(chr(10))[0][:80]}"


def main() -> None:
    """Try the calls that stand in the input, and print what became of each."""
    library, backend, *options = sys.argv[1:]
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    import webtensor as wt

    wt.set_backend(backend)
    if options:
        wt.env().set("SUBSTITUTE_DTYPES", True)
    if library == "sklearn":
        import sklearn

        sklearn.set_config(array_api_dispatch=True)
    tensors, arrays = scope(library, wt), scope(library, np)
    calls = sys.stdin.read().splitlines()
    print(json.dumps({call: attempt(call, tensors, arrays) for call in calls}))


if __name__ == "__main__":
    main()
