"""Errors of the mathematical functions, in units in the last place, against double precision.

The bounds here are those that ``wasm_build/source/vector_math.h`` and ``docs/numerics.md`` state.
"""

import re
from collections.abc import Callable
from math import erf
from pathlib import Path

import numpy as np
import pytest

from tests_py.wasm.kernels import Array, call
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.backends.wasm.elementwise import instructions
from webtensor.ops import special_functions, trigonometry  # noqa: F401  (they fill the table)
from webtensor.ops.elementwise import ROWS

SIZE = 100_000
Range = tuple[float, float]


def ulps(got: Array, exact: Array) -> Array:
    """Distance in units in the last place of the exact result rounded to float32."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        unit = np.spacing(np.abs(np.where(np.isfinite(rounded), rounded, np.float32(3e38))))
        distance = np.abs(got.astype(np.float64) - exact) / unit
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    return np.where(same, 0, distance)


#: Name, the function in double precision, bound in ULP, and ranges.
FUNCTIONS: list[tuple[str, Callable[[Array], Array], float, list[Range]]] = [
    ("exp", np.exp, 1.0, [(-104, 89), (-1, 1)]),
    ("expm1", np.expm1, 1.6, [(-20, 89), (-1, 1), (-1e-3, 1e-3)]),
    ("log", np.log, 0.9, [(0, 4), (0.9, 1.1), (0, 1e-38), (0, 1e38)]),
    ("log2", np.log2, 1.7, [(0, 4), (0.9, 1.1), (0, 1e-38), (0, 1e38)]),
    ("log10", np.log10, 1.9, [(0, 4), (0.9, 1.1), (0, 1e-38), (0, 1e38)]),
    ("log1p", np.log1p, 0.9, [(-1, 4), (-1e-3, 1e-3), (0, 1e38)]),
    ("sin", np.sin, 1.6, [(-10, 10), (-1e5, 1e5), (-1e9, 1e9), (-1e30, 1e30)]),
    ("cos", np.cos, 1.6, [(-10, 10), (-1e5, 1e5), (-1e9, 1e9), (-1e30, 1e30)]),
    ("tan", np.tan, 2.8, [(-10, 10), (-1e5, 1e5), (-1e9, 1e9)]),
    ("asin", np.arcsin, 2.5, [(-1, 1)]),
    ("acos", np.arccos, 1.4, [(-1, 1), (0.99, 1)]),
    ("atan", np.arctan, 2.1, [(-3, 3), (-1e3, 1e3)]),
    ("sinh", np.sinh, 2.2, [(-89.5, 89.5), (-2, 2)]),
    ("cosh", np.cosh, 1.4, [(-89.5, 89.5), (-2, 2)]),
    ("tanh", np.tanh, 2.4, [(-10, 10), (-1, 1)]),
    ("asinh", np.arcsinh, 1.8, [(-4, 4), (-1e6, 1e6), (-1e30, 1e30)]),
    ("acosh", np.arccosh, 2.6, [(1, 4), (1, 1.01), (1, 1e30)]),
    ("atanh", np.arctanh, 1.8, [(-1, 1)]),
    ("erf", np.vectorize(erf, otypes=[np.float64]), 1.2, [(-4, 4), (-1e-3, 1e-3)]),
    ("sqrt", np.sqrt, 0.5, [(0, 1e38)]),
]


@pytest.mark.parametrize(
    "name, exact, bound, ranges",
    FUNCTIONS,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_error_of_unary_function(
    wasm: WasmBackend,
    name: str,
    exact: Callable[[Array], Array],
    bound: float,
    ranges: list[Range],
) -> None:
    random = np.random.default_rng(1)
    for low, high in ranges:
        x = (random.random(SIZE) * (high - low) + low).astype(np.float32)
        with np.errstate(all="ignore"):
            expected = exact(x.astype(np.float64))
        got = call(wasm, "unary", [x], x.shape, "float32", ROWS[name])
        error = ulps(got, expected)
        worst = int(error.argmax())
        assert error[worst] <= bound, (
            f"{name}({x[worst]!r}) = {got[worst]!r}, not {expected[worst]!r}"
        )


@pytest.mark.parametrize("name", [row[0] for row in FUNCTIONS if row[0] != "erf"])
def test_unary_function_of_any_bits(wasm: WasmBackend, name: str) -> None:
    """Every class of float: NaN and infinite where they should be, and as exact as elsewhere."""
    _, exact, bound, _ = next(row for row in FUNCTIONS if row[0] == name)
    bits = np.random.default_rng(2).integers(0, 2**32, SIZE, dtype=np.uint32)
    x = bits.view(np.float32)
    with np.errstate(all="ignore"):
        expected = exact(x.astype(np.float64))
    got = call(wasm, "unary", [x], x.shape, "float32", ROWS[name])
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    error = ulps(got, expected)
    assert error[~np.isnan(expected)].max() <= bound


SPECIAL = np.array(
    [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38, 0.5, -0.5], np.float32
)


@pytest.mark.parametrize("name", [row[0] for row in FUNCTIONS])
def test_unary_function_of_special_values(wasm: WasmBackend, name: str) -> None:
    _, exact, bound, _ = next(row for row in FUNCTIONS if row[0] == name)
    with np.errstate(all="ignore"):
        expected = exact(SPECIAL.astype(np.float64))
    got = call(wasm, "unary", [SPECIAL], SPECIAL.shape, "float32", ROWS[name])
    assert ulps(got, expected)[~np.isnan(expected)].max() <= bound
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize(
    "bases, exponents",
    [((0, 10), (-5, 5)), ((0, 2), (-100, 100)), ((0.9, 1.1), (-1000, 1000)), ((0, 1e30), (-4, 4))],
)
def test_error_of_pow(wasm: WasmBackend, bases: Range, exponents: Range) -> None:
    random = np.random.default_rng(3)
    x = (random.random(SIZE) * (bases[1] - bases[0]) + bases[0]).astype(np.float32)
    y = (random.random(SIZE) * (exponents[1] - exponents[0]) + exponents[0]).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), y.astype(np.float64))
    got = call(wasm, "binary", [x, y], x.shape, "float32", ROWS["pow"])
    assert ulps(got, expected).max() <= 0.51


#: Name, the function in double precision, bound in ULP.
BINARY_FUNCTIONS: list[tuple[str, Callable[[Array, Array], Array], float]] = [
    ("pow", np.power, 0.51),
    ("atan2", np.arctan2, 2.2),
    ("remainder", np.mod, 0),
    ("hypot", np.hypot, 0.51),
    ("nextafter", np.nextafter, 0),
]


@pytest.mark.parametrize(
    "name, exact, bound", BINARY_FUNCTIONS, ids=[name for name, _, _ in BINARY_FUNCTIONS]
)
def test_binary_function_of_any_bits(
    wasm: WasmBackend, name: str, exact: Callable[[Array, Array], Array], bound: float
) -> None:
    random = np.random.default_rng(4)
    x, y = (random.integers(0, 2**32, SIZE, dtype=np.uint32).view(np.float32) for _ in range(2))
    first, second = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    x, y = np.concatenate([first, x]), np.concatenate([second, y])
    # These are exact in single precision, and not the rounded ones of double precision.
    wide = np.float32 if name in ("remainder", "nextafter") else np.float64
    with np.errstate(all="ignore"):
        expected = exact(x.astype(wide), y.astype(wide)).astype(np.float64)
    got = call(wasm, "binary", [x, y], x.shape, "float32", ROWS[name])
    defined = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(got), ~defined)
    assert ulps(got, expected)[defined].max() <= bound
    np.testing.assert_array_equal(np.signbit(got[defined]), np.signbit(expected[defined]))


def test_erf_inv_inverts_erf(wasm: WasmBackend) -> None:
    x = np.linspace(-0.999, 0.999, 10_001).astype(np.float32)
    got = call(wasm, "unary", [x], x.shape, "float32", ROWS["erf_inv"])
    np.testing.assert_allclose(
        [erf(number) for number in got.astype(np.float64)], x, rtol=1e-6, atol=1e-7
    )


def test_erf_inv_at_its_ends(wasm: WasmBackend) -> None:
    x = np.array([1, -1, 1.5, -2, np.nan], np.float32)
    got = call(wasm, "unary", [x], x.shape, "float32", ROWS["erf_inv"])
    np.testing.assert_array_equal(got, np.array([np.inf, -np.inf, np.nan, np.nan, np.nan]))


def test_the_documentation_states_these_bounds() -> None:
    text = (Path(__file__).parents[2] / "docs" / "numerics.md").read_text("utf-8")
    stated = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|$", text, re.MULTILINE))
    bounds = {row[0]: row[2] for row in (*FUNCTIONS, *BINARY_FUNCTIONS)}
    assert {name: float(bound) for name, bound in stated.items()} == bounds


def test_slow_functions_count_as_many_instructions() -> None:
    quick = {"nextafter", "sqrt"}
    for name in (*(row[0] for row in FUNCTIONS), *(row[0] for row in BINARY_FUNCTIONS)):
        assert (instructions(ROWS[name].c) > 1) == (name not in quick), name
    assert instructions(ROWS["add"].c) == 1
    assert instructions(ROWS["sigmoid"].c) > instructions(ROWS["relu"].c) == 1
