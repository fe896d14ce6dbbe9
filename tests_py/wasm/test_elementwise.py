"""Every row of the elementwise table, against its NumPy expression."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests_py.wasm.kernels import Array, call
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.ops import optimizer_updates
from webtensor.ops.elementwise import ROWS, Row

INF, NAN = np.inf, np.nan
SPECIAL = np.array(
    [0, -0.0, 1, -1, 0.5, -0.5, 2, -2.5, 3, 1e-40, 1e38, -1e38, INF, -INF, NAN], np.float32
)
INTEGERS = np.array(
    [0, 1, -1, 2, -2, 3, 7, -7, 31, 100, -100, 2**31 - 1, -(2**31), -(2**31) + 1], np.int32
)
PARAMETERS = {"alpha": 0.25, "minimum": -0.75, "maximum": 1.5, "limit": 1.5}
PARAMETERS |= {"rate": 0.25, "divisor": 0.75}  # of dropout
PARAMETERS |= {"factor": 1.5, "low": -2.0, "high": 3.0, "scale": 0.5}  # of quantized steps
PARAMETERS |= {"span": 3.5, "most": 1.25}  # of uniform numbers, which begin at low
PARAMETERS |= {"period": 96.0, "a": 0.75, "b": 0.25}  # of a window
PARAMETERS |= {f"c{index}": 0.5 - 0.0625 * index for index in range(17)}  # of a polynomial

#: What brings numbers to where an op is defined.
DOMAINS = {"height_of_window": lambda x: x % 97}

UNARY = [row for row in ROWS.values() if row.arity == 1]
BINARY = [row for row in ROWS.values() if row.kernel == "binary"]


def values(dtype: str, size: int, seed: int = 0) -> Array:
    """Ordinary values, with special ones at the front where there is room."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.random(size) < 0.5
    special = INTEGERS if dtype == "int32" else SPECIAL
    if dtype == "int32":
        result = random.integers(-50, 50, size, dtype=np.int32)
    else:
        result = (random.standard_normal(size) * 2).astype(np.float32)
    if size > 2 * len(special):
        result[: len(special)] = special
    return result


def expected(row: Row, *operands: Array) -> Array:
    """Evaluate the row's NumPy expression in single precision, as it is meant."""
    parameters = [np.float32(PARAMETERS[name]) for name in row.parameters]
    with np.errstate(all="ignore"):
        result = row.numpy(np, *operands, *parameters)
    return np.asarray(result)


def check(row: Row, got: Array, expected: Array) -> None:
    if got.dtype == np.float32:
        # Subnormal results count as zero: NumPy's own expressions lose them in places.
        np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-37)
    else:
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("row", UNARY, ids=lambda row: row.name)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 17, 67])
def test_unary(wasm: WasmBackend, row: Row, size: int) -> None:
    for dtype in row.input_dtypes:
        x = values(dtype, size)
        if row.name in DOMAINS:
            x = DOMAINS[row.name](x)
        out = str(row.output_dtype(dtype))
        parameters = [PARAMETERS[name] for name in row.parameters]
        got = call(wasm, "unary", [x], (size,), out, row, *parameters)
        check(row, got, expected(row, x))


@pytest.mark.parametrize("row", BINARY, ids=lambda row: row.name)
@pytest.mark.parametrize("size", [1, 3, 4, 6, 31])
def test_binary_of_one_shape(wasm: WasmBackend, row: Row, size: int) -> None:
    for dtype in row.input_dtypes:
        x, y = values(dtype, size, 1), values(dtype, size, 2)
        got = call(wasm, "binary", [x, y], (size,), str(row.output_dtype(dtype)), row)
        check(row, got, expected(row, x, y))


@pytest.mark.parametrize("row", BINARY, ids=lambda row: row.name)
def test_binary_of_every_pair_of_special_values(wasm: WasmBackend, row: Row) -> None:
    for dtype in row.input_dtypes:
        special = {"float32": SPECIAL, "int32": INTEGERS, "bool": np.array([False, True])}[dtype]
        x, y = special[:, None], special[None]
        shape = (len(special), len(special))
        got = call(wasm, "binary", [x, y], shape, str(row.output_dtype(dtype)), row)
        check(row, got, expected(row, x, y))


SHAPES = [
    ((), (5,)),
    ((7,), ()),
    ((3, 5), (5,)),
    ((5,), (3, 5)),
    ((3, 5), (3, 1)),
    ((3, 1), (1, 5)),
    ((2, 3, 4), (3, 1)),
    ((2, 1, 4), (1, 3, 1)),
    ((1, 1, 1), (1,)),
    ((2, 1, 3, 1, 2), (2, 1, 3, 1)),
    ((1, 2, 1, 2, 1, 3, 1), (2, 1, 2, 1, 3, 1, 5)),
    ((4, 1, 1), (1, 1)),
]


@pytest.mark.parametrize("first, second", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["subtract", "less"])
def test_broadcasting(
    wasm: WasmBackend, name: str, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    row = ROWS[name]
    shape = np.broadcast_shapes(first, second)
    for dtype in ("float32", "int32"):
        x = values(dtype, int(np.prod(first)), 1).reshape(first)
        y = values(dtype, int(np.prod(second)), 2).reshape(second)
        got = call(
            wasm,
            "binary",
            [x, y],
            shape,
            str(row.output_dtype(row.input_dtypes[0])) if name == "less" else dtype,
            row,
        )
        np.testing.assert_array_equal(got, expected(row, x, y))


def test_broadcasting_of_truth_values(wasm: WasmBackend) -> None:
    x, y = values("bool", 5).reshape(5, 1), values("bool", 7, 3)
    got = call(wasm, "binary", [x, y], (5, 7), "bool", ROWS["logical_and"])
    np.testing.assert_array_equal(got, x & y)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize(
    "shapes",
    [
        ((5,), (5,), (5,)),
        ((), (5,), (5,)),
        ((3, 1), (5,), ()),
        ((2, 1, 4), (1, 3, 1), (2, 3, 4)),
        ((1,), (1, 1), (1,)),
    ],
    ids=str,
)
def test_where(wasm: WasmBackend, dtype: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    operands = [
        values(kind, int(np.prod(shape)), seed).reshape(shape)
        for seed, (kind, shape) in enumerate(zip(("bool", dtype, dtype), shapes, strict=True))
    ]
    shape = np.broadcast_shapes(*shapes)
    got = call(wasm, "ternary", operands, shape, dtype, ROWS["where"])
    np.testing.assert_array_equal(got, np.where(*operands))


@pytest.mark.parametrize("size", [1, 3, 4, 67])
def test_casts(wasm: WasmBackend, size: int) -> None:
    for source in ("float32", "int32", "bool"):
        for target in ("float32", "int32", "bool"):
            if source == target:
                continue
            x = values(source, size)
            got = call(wasm, "cast", [x], (size,), target)
            if (source, target) == ("float32", "int32"):
                wide = np.nan_to_num(x.astype(np.float64), nan=0).clip(-(2**31), 2**31 - 1)
                expected = wide.astype(np.int32)
            else:
                expected = x.astype(target)
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "dtype, value", [("float32", 2.5), ("float32", NAN), ("int32", -7), ("bool", True)]
)
def test_fill(wasm: WasmBackend, dtype: str, value: float) -> None:
    got = call(wasm, "fill", [], (3, 7), dtype, value)
    np.testing.assert_array_equal(got, np.full((3, 7), value, dtype))


@pytest.mark.parametrize(
    "update, parameters",
    [
        (optimizer_updates.moved_towards, (0.1,)),
        (optimizer_updates.moved_towards_square, (0.1,)),
        (optimizer_updates.weighted_sum, (0.9, 0.1)),
        (optimizer_updates.decayed_maximum, (0.9,)),
        (optimizer_updates.moved_by_root_ratio, (0.9, 1e-7, 0.1)),
        (optimizer_updates.moved_by_centered_ratio, (0.9, 1e-7, 0.1)),
    ],
)
def test_what_decays_leaves_no_subnormal_numbers(
    wasm: WasmBackend, update: Callable[..., Any], parameters: tuple[float, ...]
) -> None:
    row = ROWS[update.__name__]
    x = np.array([1.2e-38, 3e-39, 4e-38, 1, NAN], np.float32)
    zeros = [np.zeros_like(x)] * (row.arity - 1)
    got = call(wasm, "joint", [x, *zeros], x.shape, "float32", row, *parameters)
    np.testing.assert_allclose(got, np.array([0, 0, 3.6e-38, 0.9, NAN], np.float32), rtol=1e-6)
