"""Cases of linear algebra: factorizations, equations, determinants, norms, products, einsum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, complexes, floats, ints
from tests_py.cases.table import (
    EXACT,
    FEW_ROUNDINGS,
    ROUNDED,
    Case,
    Tolerance,
    combined,
    gradient_of,
    second_derivative_of,
    summed,
)

__all__ = ["EINSUM", "FACTORIZATIONS", "GRADIENTS", "PRODUCTS"]

NAN, INF = math.nan, math.inf

FACTORED = Tolerance(
    "computed in double precision and rounded once; small elements come of cancellation",
    ulps=1,
    scale=lambda *_, **__: 0.01,
)
RESTORED = Tolerance(
    "products of factors that were each rounded to float32, multiplied in float32",
    ulps=16,
    gpu_ulps=24,
    scale=lambda x, *_, **__: np.abs(x).max(initial=1),
)
REFLECTED = Tolerance(
    "up to six reflections, in double or in single precision, of well conditioned matrices",
    ulps=16,
    scale=lambda x, **_: np.abs(x).max(initial=1),
)
STEEP = Tolerance(
    "the gradient solves equations in float32 steps, which the condition of the matrix magnifies",
    ulps=400,
    gpu_ulps=800,
)

UNIT_VECTORS = Tolerance(
    "vectors of length 1, less their projections on others, in single or in double precision",
    ulps=4,
    scale=lambda *_: 1.0,
)

NUMBERS: tuple[Callable[..., Any], ...] = (floats, complexes)


# -- inputs ---------------------------------------------------------------------------------------


def well_conditioned(
    shape: tuple[int, ...], make: Callable[..., Any] = floats, seed: int = 0
) -> Any:
    """Random matrices with a heavy diagonal."""
    x = make(shape, -1, 1, seed)
    return (x + 2 * np.eye(shape[-2], shape[-1])).astype(x.dtype)


def positive_definite(
    shape: tuple[int, ...], make: Callable[..., Any] = floats, seed: int = 0
) -> Any:
    """Hermitian matrices with positive eigenvalues."""
    x = make(shape, -1, 1, seed)
    return (x @ _adjoint(x) + np.eye(shape[-1])).astype(x.dtype)


def hermitian(shape: tuple[int, ...], make: Callable[..., Any] = floats, seed: int = 0) -> Any:
    """Hermitian matrices with distinct eigenvalues."""
    x = make(shape, -1, 1, seed)
    return ((x + _adjoint(x)) / 2 + np.diag(np.arange(shape[-1]) * 2)).astype(x.dtype)


def _adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def _of_part(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, _, **options: function((x + _adjoint(x)) / 2, **options)


# -- oracles --------------------------------------------------------------------------------------


def _determinant(x: Any) -> Any:
    """Laplace's expansion along the first row."""
    n = x.shape[-1]
    if n == 0:
        return np.ones(x.shape[:-2], x.dtype)
    terms = [
        (-1) ** j * x[..., 0, j] * _determinant(np.delete(x[..., 1:, :], j, -1)) for j in range(n)
    ]
    return np.sum(terms, axis=0)


def _slogdet(x: Any, _: str, part: int) -> Any:
    value = _determinant(x)
    with np.errstate(all="ignore"):
        size = np.abs(value)
        return (np.where(size == 0, 0, value / np.where(size == 0, 1, size)), np.log(size))[part]


def _solve(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b) if b.ndim > 1 else np.linalg.solve(a, b[:, None])[..., 0]


def _cholesky(x: Any, upper: bool = False) -> Any:
    lower = np.linalg.cholesky(x)
    return _adjoint(lower) if upper else lower


def _qr_part(x: Any, _: str, part: int, mode: Any = "reduced") -> Any:
    return np.linalg.qr(x, mode)[part]


def _qr(x: Any, mode: Any = "reduced") -> list[Any]:
    return list(np.linalg.qr(x, mode))


def _eigenvalues(x: Any, *_: Any, **__: Any) -> Any:
    return np.linalg.eigvalsh(x)


def _identity_like(x: Any, length: int) -> Any:
    return np.broadcast_to(np.eye(length, dtype=x.dtype), (*x.shape[:-2], length, length))


def _square_of(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *_, **options: np.abs(function(x, **options)) ** 2


def _eigenvectors(x: Any, **_: Any) -> Any:
    return np.linalg.eigh((x + _adjoint(x)) / 2)[1]


def _singular(part: int) -> Callable[..., Any]:
    return lambda x, full_matrices=False: np.linalg.svd(x, full_matrices=full_matrices)[part]


def _band(x: Any, below: int, above: int) -> Any:
    rows, columns = x.shape[-2:]
    apart = np.arange(columns) - np.arange(rows)[:, None]
    keep = (below < 0) | (apart >= -below)
    return np.where(keep & ((above < 0) | (apart <= above)), x, np.zeros((), x.dtype))


def _gram_schmidt(x: Any) -> Any:
    rows: list[Any] = []
    for row in x:
        for other in rows:
            row = row - (row @ other) * other
        rows.append(row / np.sqrt(row @ row))
    return np.stack(rows)


def _vector_norm(x: Any, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    sizes = np.abs(x * 1.0)
    axes = tuple(range(x.ndim)) if axis is None else axis
    axes = tuple(axes) if isinstance(axes, list) else axes
    if ord == INF:
        return np.max(sizes, axis=axes, keepdims=keepdims, initial=0)
    if ord == -INF:
        return np.min(sizes, axis=axes, keepdims=keepdims)
    if ord == 0:
        return np.sum(sizes != 0, axis=axes, keepdims=keepdims) * 1.0
    return np.sum(sizes**ord, axis=axes, keepdims=keepdims) ** (1 / ord)


def _matrix_norm(x: Any, ord: Any = "fro", keepdims: bool = False) -> Any:
    return np.linalg.norm(x * 1.0, ord, (-2, -1), keepdims)


def _pinv(x: Any, rtol: Any) -> Any:
    return np.linalg.pinv(np.broadcast_to(x, (*np.shape(rtol), *x.shape)), rtol)


def _rank(x: Any, rtol: Any = None) -> Any:
    values = np.linalg.svd(x, compute_uv=False)
    rtol = max(x.shape[-2:]) * 2.0**-23 if rtol is None else rtol
    return np.sum(values > values.max(-1, keepdims=True) * rtol, -1)


# -- factorizations and equations -----------------------------------------------------------------

SQUARES = ((1, 1), (2, 2), (3, 3), (2, 3, 3), (2, 1, 4, 4), (5, 5))
RECTANGLES = ((1, 1), (3, 3), (4, 2), (2, 2, 4), (2, 3, 2), (1, 5), (5, 1), (9, 6), (6, 9))


def _factorization_cases() -> list[Case]:
    cases = []
    for make in NUMBERS:
        for shape in SQUARES:
            n = shape[-1]
            definite, symmetric = positive_definite(shape, make), hermitian(shape, make)
            x, b = well_conditioned(shape, make), make((*shape[:-1], 2), seed=1)
            sample: dict[str, Any] = {"sample": shape == (2, 3, 3)}
            cases += [
                Case("linalg.cholesky", (definite,), _cholesky, FACTORED, **sample),
                Case("linalg.cholesky", (definite,), _cholesky, FACTORED, {"upper": True}),
                Case("linalg.solve", (x, b), _solve, FACTORED, **sample),
                Case("linalg.inv", (x,), np.linalg.inv, FACTORED, **sample),
                Case("linalg.det", (x,), _determinant, FACTORED, **sample),
                Case("part_of", (x, "linalg.slogdet", 0), _slogdet, FACTORED),
                Case("part_of", (x, "linalg.slogdet", 1), _slogdet, FACTORED),
                Case("linalg.eigvalsh", (symmetric,), _eigenvalues, FACTORED, **sample),
                Case("part_of", (symmetric, "linalg.eigh", 0), _eigenvalues, FACTORED),
                Case("restored", (symmetric, "linalg.eigh"), lambda x, _: x, RESTORED, **sample),
                Case(
                    "inner_products",
                    (symmetric, "linalg.eigh", 1),
                    lambda x, *_, n=n: _identity_like(x, n),
                    RESTORED,
                ),
            ]
        cases += _rectangle_cases(make)
        for shape in RECTANGLES:
            x = well_conditioned(shape, make)
            for mode in ("reduced", "complete"):
                options: dict[str, Any] = {"mode": mode}
                cases.append(Case("linalg.qr", (x,), _qr, REFLECTED, options))
        cases.append(Case("linalg.qr", (make((0, 4, 2)),), _qr, REFLECTED))
        cases += _special_cases(make)
    return cases


def _rectangle_cases(make: Callable[..., Any]) -> list[Case]:
    cases = []
    for shape in RECTANGLES:
        x, (m, n) = make(shape, -1, 1), shape[-2:]
        k = min(m, n)
        sample: dict[str, Any] = {"sample": shape == (4, 2)}
        for mode, full in (("reduced", False), ("complete", True)):
            options: dict[str, Any] = {"mode": mode}
            q_columns = m if full else k
            tolerance = FACTORED if m >= n else RESTORED
            cases += [
                Case("part_of", (x, "linalg.qr", 0), _qr_part, FACTORED, options, **sample),
                Case("part_of", (x, "linalg.qr", 1), _qr_part, tolerance, options),
                Case("restored", (x, "linalg.qr"), lambda x, *_, **__: x, RESTORED, options),
                Case(
                    "inner_products",
                    (x, "linalg.qr", 0),
                    lambda x, *_, n=q_columns, **__: _identity_like(x, n),
                    RESTORED,
                    options,
                ),
            ]
            options = {"full_matrices": full}
            cases += [
                Case(
                    "restored",
                    (x, "linalg.svd"),
                    lambda x, *_, **__: x,
                    RESTORED,
                    options,
                    **sample,
                ),
                Case(
                    "inner_products",
                    (x, "linalg.svd", 0),
                    lambda x, *_, n=q_columns, **__: _identity_like(x, n),
                    RESTORED,
                    options,
                ),
                Case(
                    "inner_products",
                    (x, "linalg.svd", 2),
                    lambda x, *_, n=n if full else k, **__: _identity_like(x, n),
                    RESTORED,
                    {"rows": True, **options},
                ),
            ]
        cases += [
            Case(
                "linalg.svdvals",
                (x,),
                lambda x: np.linalg.svd(x, compute_uv=False),
                FACTORED,
                **sample,
            ),
            Case("linalg.pinv", (x,), np.linalg.pinv, RESTORED_INVERSE, **sample),
            Case("linalg.matrix_rank", (x,), _rank, EXACT),
        ]
    return cases


RESTORED_INVERSE = Tolerance(
    "products of factors that were rounded to float32; errors are relative to the largest element",
    ulps=16,
    gpu_ulps=24,
    scale=lambda x, **_: np.abs(np.linalg.pinv(x)).max(initial=0),
)


def _special_cases(make: Callable[..., Any]) -> list[Case]:
    """Singular matrices, those of low rank, empty ones."""
    column, row = make((4, 1), -1, 1), make((1, 3), -1, 1, 1)
    flat = (column @ row).astype(column.dtype)
    zero = np.zeros((2, 3, 3), column.dtype)
    singular = well_conditioned((2, 3, 3), make)
    singular[1, 2] = 0
    nothing = np.zeros((2, 0, 0), column.dtype)
    many = np.broadcast_to(np.diag([1, 2e-6]), (64, 2, 2)).astype(column.dtype)
    indefinite = positive_definite((2, 3, 3), make)
    indefinite[0, 1, 1] = -1

    def nan_for(position: int, function: Callable[..., Any]) -> Callable[..., Any]:
        def oracle(x: Any, *others: Any) -> Any:
            good = np.array(
                [np.eye(3) if index == position else x[index] for index in range(2)], x.dtype
            )
            result = function(good, *others)
            result[position] = NAN
            return result

        return oracle

    return [
        Case("linalg.det", (singular,), _determinant, FACTORED, note="of singular ones"),
        Case("linalg.det", (zero,), _determinant, EXACT),
        Case(
            "part_of", (singular, "linalg.slogdet", 1), _slogdet, FACTORED, note="of singular ones"
        ),
        Case(
            "part_of", (singular, "linalg.slogdet", 0), _slogdet, FACTORED, note="of singular ones"
        ),
        Case(
            "linalg.inv", (singular,), nan_for(1, np.linalg.inv), NAN_PARTS, note="of singular ones"
        ),
        Case(
            "linalg.cholesky",
            (indefinite,),
            nan_for(0, np.linalg.cholesky),
            NAN_PARTS,
            note="of indefinite ones",
        ),
        Case("restored", (flat, "linalg.svd"), lambda x, *_, **__: x, RESTORED, note="of rank 1"),
        Case("restored", (zero, "linalg.svd"), lambda x, *_, **__: x, RESTORED, note="of zeros"),
        Case("restored", (zero, "linalg.eigh"), lambda x, *_, **__: x, RESTORED, note="of zeros"),
        Case("restored", (zero, "linalg.qr"), lambda x, *_, **__: x, RESTORED, note="of zeros"),
        Case(
            "inner_products",
            (flat, "linalg.svd", 0),
            lambda x, *_: _identity_like(x, 4),
            RESTORED,
            note="of rank 1",
        ),
        Case("linalg.matrix_rank", (flat,), _rank, EXACT, note="of rank 1"),
        Case("linalg.matrix_rank", (zero,), _rank, EXACT, note="of zeros"),
        Case("linalg.matrix_rank", (singular,), _rank, EXACT, {"rtol": 0.1}),
        Case("linalg.matrix_rank", (many,), _rank, EXACT, note="of many, one value of each small"),
        Case("linalg.pinv", (many,), np.linalg.pinv, RESTORED_INVERSE, {"rtol": 0.1}),
        *(
            Case(
                "linalg.pinv",
                (np.zeros(shape, column.dtype),),
                lambda x: np.swapaxes(x, -1, -2),
                EXACT,
            )
            for shape in ((2, 3, 0), (0, 3), (0, 2, 3))
        ),
        Case(
            "linalg.pinv",
            (flat,),
            lambda x: np.linalg.pinv(x, 1e-6),
            RESTORED_INVERSE,
            note="of rank 1",
        ),
        Case("linalg.pinv", (zero,), lambda x: x, EXACT, note="of zeros"),
        Case("linalg.inv", (nothing,), lambda x: x, EXACT),
        Case("linalg.det", (nothing,), _determinant, EXACT),
        Case("part_of", (nothing, "linalg.slogdet", 0), _slogdet, EXACT),
        Case("part_of", (nothing, "linalg.slogdet", 1), _slogdet, EXACT),
        Case("linalg.cholesky", (nothing,), lambda x: x, EXACT),
        Case("linalg.svdvals", (nothing[..., :0],), lambda x: np.zeros((2, 0)), EXACT),
        *(
            Case("linalg.matrix_rank", (x,), lambda x: np.zeros(x.shape[:-2], int), EXACT)
            for x in (nothing[0, :, :], np.zeros((2, 3, 0), column.dtype))
        ),
        Case(
            "part_of",
            (np.zeros((2, 3, 0), column.dtype), "linalg.qr", 0),
            lambda x, *_, mode: _identity_like(x, 3),
            EXACT,
            {"mode": "complete"},
        ),
        Case(
            "part_of",
            (np.zeros((2, 0, 2), column.dtype), "linalg.svd", 2),
            lambda x, *_: _identity_like(x, 2),
            EXACT,
        ),
        Case(
            "part_of",
            (np.zeros((2, 3, 0), column.dtype), "linalg.svd", 0),
            lambda x, *_: _identity_like(x, 3),
            EXACT,
        ),
        Case(
            "linalg.solve",
            (np.zeros((0, 3, 3), column.dtype), make((3, 2))),
            lambda a, b: np.zeros((0, 3, 2), a.dtype),
            EXACT,
        ),
    ]


NAN_PARTS = Tolerance(
    "computed in double precision; small elements come of cancellation",
    ulps=1,
    scale=lambda *_: 0.01,
)


def _equation_cases() -> list[Case]:
    x = well_conditioned((3, 3))
    return [
        Case("linalg.solve", (x, floats((3,))), _solve, FACTORED),
        Case("linalg.solve", (well_conditioned((2, 3, 3)), floats((3,))), _solve, FACTORED),
        Case("linalg.solve", (well_conditioned((2, 1, 3, 3)), floats((4, 3, 2))), _solve, FACTORED),
        Case("linalg.solve", (x, complexes((3, 2))), _solve, FACTORED),
        Case("linalg.solve", (ints((2, 2), 1, 9), ints((2, 1))), _solve, FACTORED),
        Case("linalg.inv", (arr([[2, 1], [1, 1]], np.int32),), np.linalg.inv, FACTORED),
        Case("linalg.det", (ints((4, 4)),), lambda x: _determinant(x * 1.0), FACTORED),
        Case(
            "linalg.det",
            (floats((3, 60, 60), -1, 1),),
            np.linalg.det,
            Tolerance("", ulps=4),
            note="of many",
        ),
        Case("linalg.eigvalsh", (hermitian((40, 40)),), _eigenvalues, FACTORED),
        Case(
            "linalg.svdvals",
            (floats((33, 40)),),
            lambda x: np.linalg.svd(x, compute_uv=False),
            FACTORED,
        ),
        Case(
            "restored",
            (floats((2, 33, 17)), "linalg.svd"),
            lambda x, _: x,
            RESTORED,
            note="of many",
        ),
        Case(
            "restored",
            (hermitian((50, 50)), "linalg.eigh"),
            lambda x, _: x,
            RESTORED,
            note="of many",
        ),
        *(
            Case(
                "linalg.matrix_power",
                (x, n),
                np.linalg.matrix_power,
                Tolerance("", 64, 128, lambda x, n: np.abs(np.linalg.matrix_power(x, n)).max()),
            )
            for n in (0, 1, 2, 3, 7, -1, -2)
        ),
        *(
            Case(
                "linalg.matrix_power",
                (complexes((2, 3, 3)), n),
                np.linalg.matrix_power,
                Tolerance("", 64, 128, lambda x, n: 30),
            )
            for n in (0, 3)
        ),
    ]


# -- parts, products, norms -----------------------------------------------------------------------


def _dot_terms(x: Any, y: Any, *_: Any, **__: Any) -> Any:
    return np.sum(np.abs(x)) * np.abs(y).max(initial=0)


SUMMED = summed(_dot_terms, 8)


def _product_cases() -> list[Case]:
    x, z = floats((2, 3, 4)), complexes((3, 4))
    cases = [
        Case("linalg.band_part", (matrix, below, above), _band, sample=below == 1)
        for matrix in (x, ints((4, 3)), z, bools((3, 3)))
        for below, above in ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (-1, -1), (3, 3))
    ]
    for matrix, offset in product((x, floats((5, 2))), (0, 1, 2, 4, 9, -1, -2, -3, -7)):
        cases += [
            Case(
                "linalg.diagonal",
                (matrix,),
                lambda x, offset: np.diagonal(x, offset, -2, -1),
                EXACT,
                {"offset": offset},
            ),
            Case(
                "linalg.trace",
                (matrix,),
                lambda x, offset: np.trace(x, offset, -2, -1),
                ROUNDED_SUM,
                {"offset": offset},
            ),
        ]
    vectors = floats((2, 3)), floats((3,), seed=1)
    for axis, shape in ((-1, (4, 3, 3)), (-2, (4, 3, 3)), (0, (3, 3))):
        pair = floats(shape), floats((3, 3), seed=1)
        cases += [
            Case(
                "linalg.cross",
                pair,
                lambda x, y, axis: np.cross(x, y, axis=axis),
                SUMMED,
                {"axis": axis},
            ),
            Case(
                "linalg.vecdot",
                pair,
                lambda x, y, axis: np.sum(x * y, axis),
                SUMMED,
                {"axis": axis},
            ),
        ]
    contractions: tuple[Any, ...] = (
        *(0, 1, 2),
        *([[1, 2], [0, 1]], [[2, 0], [1, 2]], [[-1], [1]], [[], []], [1, 0], [-1, [1]]),
    )
    for axes in contractions:
        first, second = floats((2, 3, 4)), floats((3, 4, 2), seed=1)
        if axes == 1:
            second = floats((4, 2), seed=1)
        elif axes == 2:
            second = floats((3, 4, 5), seed=1)
        cases.append(
            Case(
                "tensordot",
                (first, second),
                np.tensordot,
                SUMMED,
                {"axes": axes},
                sample=axes == 1,
            )
        )
    return [
        *cases,
        Case("tensordot", (floats((2, 3, 4)), floats((3, 4, 5), seed=1)), np.tensordot, SUMMED),
        Case("linalg.cross", vectors, np.cross, SUMMED, sample=True),
        Case("linalg.cross", (ints((3,)), ints((2, 3))), np.cross),
        Case("vecdot", vectors, lambda x, y: np.sum(x * y, -1), SUMMED, sample=True),
        Case(
            "vecdot",
            (complexes((2, 3)), complexes((3,), seed=1)),
            lambda x, y: np.sum(np.conj(x) * y, -1),
            SUMMED,
        ),
        Case("vecdot", (ints((2, 3)), ints((3,))), lambda x, y: np.sum(x * y, -1)),
        Case("linalg.outer", (floats((3,)), floats((4,), seed=1)), np.outer, ROUNDED),
        Case("outer_product", (floats((3,)), floats((4,), seed=1)), np.outer, ROUNDED, sample=True),
        Case("outer_product", (bools((3,)), bools((4,))), lambda x, y: np.outer(x * 1, y * 1)),
        Case("outer_product", (complexes((3,)), floats((4,))), np.outer, FEW_ROUNDINGS),
        Case("linalg.trace", (ints((3, 3)),), np.trace),
        Case("linalg.trace", (z,), np.trace, SUMMED_TRACE),
        Case(
            "linalg.trace",
            (ints((3, 3)),),
            lambda x, dtype: np.trace(x) * 1.0,
            EXACT,
            {"dtype": "float32"},
        ),
        Case("matrix_transpose", (x,), lambda x: np.swapaxes(x, -1, -2), sample=True),
        Case("matrix_transpose", (z,), np.transpose),
        Case("linalg.matmul", (floats((3, 4)), floats((4, 2))), np.matmul, SUMMED),
        Case("linalg.gram_schmidt", (floats((3, 5)),), _gram_schmidt, UNIT_VECTORS, sample=True),
        Case("linalg.gram_schmidt", (well_conditioned((3, 3)),), _gram_schmidt, UNIT_VECTORS),
        Case("linalg.gram_schmidt", (floats((1, 3), 0.1, 0.2),), _gram_schmidt, UNIT_VECTORS),
        Case(
            "linalg.gram_schmidt",
            ([floats((4,)), floats((4,), seed=1)],),
            lambda xs: list(_gram_schmidt(xs)),
            UNIT_VECTORS,
        ),
        *_norm_cases(),
    ]


ROUNDED_SUM = Tolerance(
    "a sum of a few numbers of the size of 2", ulps=4, scale=lambda *_, **__: 2.0
)
SUMMED_TRACE = Tolerance("a sum of a few numbers of the size of 2", ulps=4, scale=lambda *_: 2.0)
NORM = Tolerance("a power of a sum of powers of a dozen numbers", ulps=16, gpu_ulps=64)


def _norm_cases() -> list[Case]:
    x, z = floats((2, 3, 4)), complexes((2, 3))
    cases = []
    ord: Any
    for ord in (2, 1, 3, 0.5, -1, -2, 0):
        cases += [
            Case("linalg.vector_norm", (x,), _vector_norm, NORM, {"ord": ord, "axis": -1}),
            Case("linalg.vector_norm", (z,), _vector_norm, NORM, {"ord": ord}),
        ]
    for options in (
        {},
        {"axis": 1},
        {"axis": [0, 2]},
        {"keepdims": True},
        {"axis": 0, "keepdims": True},
    ):
        cases.append(Case("linalg.vector_norm", (x,), _vector_norm, NORM, options))
    for ord in (INF, -INF):
        cases.append(Case("linalg.vector_norm", (x,), _vector_norm, NORM, {"ord": ord, "axis": 1}))
    for ord in (INF, 0, 1, 2, 3):
        cases += [
            Case("linalg.vector_norm", (ints((5,)),), _vector_norm, NORM, {"ord": ord}),
            Case("linalg.vector_norm", (floats((0,)),), _vector_norm, NORM, {"ord": ord}),
        ]
    for ord in ("fro", "nuc", 1, 2, INF):
        for shape in ((0, 3), (3, 0)):
            cases.append(
                Case("linalg.matrix_norm", (floats(shape),), _matrix_norm, NORM, {"ord": ord})
            )
    orders: tuple[Any, ...] = ("fro", "nuc", 1, -1, 2, -2, INF, -INF)
    for ord in orders:
        cases += [
            Case("linalg.matrix_norm", (x,), _matrix_norm, NORM, {"ord": ord}),
            Case("linalg.matrix_norm", (z,), _matrix_norm, NORM, {"ord": ord}),
        ]
    return [
        *cases,
        Case("linalg.matrix_norm", (x,), _matrix_norm, NORM, {"keepdims": True}),
        Case("linalg.matrix_norm", (ints((2, 3)),), _matrix_norm, NORM),
    ]


# -- einsum ---------------------------------------------------------------------------------------


def _einsum_terms(equation: str, *operands: Any) -> Any:
    return np.einsum(equation, *(np.abs(operand) * 1.0 for operand in operands))


EINSUM_SUM = summed(_einsum_terms, 40)


def _numpy_einsum(equation: str, *operands: Any) -> Any:
    return np.einsum(equation, *operands)


EQUATIONS: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = (
    ("ij,jk->ik", ((2, 3), (3, 4))),
    ("ij,jk", ((2, 3), (3, 4))),
    ("ji,jk->ik", ((3, 2), (3, 4))),
    ("ij,kj->ki", ((2, 3), (4, 3))),
    ("i,i", ((3,), (3,))),
    ("i,j->ij", ((3,), (2,))),
    ("i,j->ji", ((3,), (2,))),
    ("ij->ji", ((2, 3),)),
    ("ij->", ((2, 3),)),
    ("ij->j", ((2, 3),)),
    ("ba", ((2, 3),)),
    ("ii", ((3, 3),)),
    ("ii->i", ((3, 3),)),
    ("iij->j", ((3, 3, 2),)),
    ("ijij->ij", ((2, 3, 2, 3),)),
    ("iii->", ((3, 3, 3),)),
    ("ii,ij->j", ((3, 3), (3, 2))),
    ("bij,bjk->bik", ((2, 3, 4), (2, 4, 5))),
    ("bij,jk->bik", ((2, 3, 4), (4, 5))),
    ("bhqd,bhkd->bhqk", ((2, 2, 3, 4), (2, 2, 5, 4))),
    ("bhqk,bhkd->bqhd", ((2, 2, 3, 5), (2, 2, 5, 4))),
    ("ijk,kjl->il", ((2, 3, 4), (4, 3, 5))),
    ("ij,ij->ij", ((2, 3), (2, 3))),
    ("ij,ij->i", ((2, 3), (2, 3))),
    ("ij,j->ij", ((2, 3), (3,))),
    ("ij,kl->", ((2, 3), (4, 2))),
    ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 2))),
    ("i,ij,j", ((2,), (2, 3), (3,))),
    ("ij,ij,ij->j", ((2, 3), (2, 3), (2, 3))),
    ("ab,bc,cd,de->ae", ((2, 3), (3, 2), (2, 4), (4, 3))),
    ("i,j,k->kji", ((2,), (3,), (4,))),
    ("...ij,...jk->...ik", ((2, 3, 4), (4, 5))),
    ("...ij,...jk", ((2, 1, 3, 4), (5, 4, 2))),
    ("...i,...i->...", ((2, 3), (1, 3))),
    ("i...->...i", ((2, 3, 4),)),
    ("...", ((2, 3),)),
    ("...ii->...i", ((2, 3, 3),)),
    ("b...d,d->b...", ((2, 3, 4), (4,))),
    (" i j , j -> i ", ((2, 3), (3,))),
    ("iJ,Jk->ik", ((2, 3), (3, 2))),
    (",i->i", ((), (3,))),
    ("ij,jk->ik", ((0, 3), (3, 4))),
    ("ij,jk->ik", ((2, 0), (0, 4))),
)


def _einsum_cases() -> list[Case]:
    cases = [
        Case(
            "einsum",
            (equation, *(floats(shape, seed=n) for n, shape in enumerate(shapes))),
            _numpy_einsum,
            EINSUM_SUM,
            sample=index % 5 == 0,
        )
        for index, (equation, shapes) in enumerate(EQUATIONS)
    ]
    return [
        *cases,
        Case("einsum", ("ij,jk->ik", ints((2, 3)), ints((3, 4))), _numpy_einsum),
        Case("einsum", ("ij,jk->ik", ints((2, 3)), floats((3, 4))), _numpy_einsum, EINSUM_SUM),
        Case(
            "einsum",
            ("ij,j->i", complexes((2, 3)), complexes((3,), seed=1)),
            _numpy_einsum,
            EINSUM_SUM,
        ),
        Case("einsum", ("ii->i", complexes((3, 3))), _numpy_einsum),
        Case("einsum", ("ij->ji", bools((2, 3))), _numpy_einsum),
    ]


# -- gradients ------------------------------------------------------------------------------------


def _gradient_cases() -> list[Case]:
    cases: list[Case] = []

    def add(case: Case, second: bool = False) -> None:
        cases.append(_steeper(gradient_of(case)))
        if second:
            cases.append(_steeper(second_derivative_of(case)))

    for make in NUMBERS:
        square = well_conditioned((3, 3), make)
        symmetric = hermitian((3, 3), make)
        hermitian_part: dict[str, Any] = {"hermitian": True}
        definite = positive_definite((3, 3), make)
        add(Case("of_hermitian_part", (definite, "linalg.cholesky"), _of_part(_cholesky)), True)
        add(
            Case(
                "of_hermitian_part",
                (positive_definite((2, 2, 2), make), "linalg.cholesky"),
                _of_part(_cholesky),
                kwargs={"upper": True},
            )
        )
        add(
            Case("of_hermitian_part", (symmetric, "linalg.eigvalsh"), _of_part(np.linalg.eigvalsh)),
            True,
        )
        add(Case("linalg.solve", (square, make((3, 2), seed=1)), _solve), True)
        add(Case("linalg.solve", (well_conditioned((2, 2, 2), make), make((2, 1), seed=1)), _solve))
        add(Case("linalg.solve", (square, make((3,), seed=1)), _solve))
        add(Case("linalg.inv", (square,), np.linalg.inv), True)
        add(Case("linalg.det", (square,), _determinant), True)
        add(Case("linalg.det", (well_conditioned((2, 2, 2), make),), _determinant))
        add(Case("part_of", (square, "linalg.slogdet", 1), _slogdet), True)
        add(Case("part_of", (square, "linalg.slogdet", 0), _slogdet))
        add(Case("linalg.matrix_power", (square, 3), np.linalg.matrix_power), True)
        add(Case("linalg.matrix_power", (square, -2), np.linalg.matrix_power))
        for shape in ((3, 3), (4, 2), (2, 3), (2, 3, 2)):
            x = make(shape, -1, 1, 3)
            for part in (0, 1):
                add(Case("part_of", (x, "linalg.qr", part), _qr_part), shape == (3, 3))
        complete: dict[str, Any] = {"mode": "complete"}
        add(Case("part_of", (square, "linalg.qr", 1), _qr_part, kwargs=complete))
        add(Case("restored", (square, "linalg.svd"), lambda x, _: x))
        add(
            Case(
                "part_of",
                (symmetric, "linalg.eigh", 0),
                lambda x, *_, **__: np.linalg.eigvalsh((x + _adjoint(x)) / 2),
                kwargs=hermitian_part,
            ),
            True,
        )
        add(
            Case(
                "squared_sizes",
                (symmetric, "linalg.eigh", 1),
                _square_of(_eigenvectors),
                kwargs=hermitian_part,
            )
        )
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
            x = make(shape, -1, 1, 5)
            reduced: dict[str, Any] = {"full_matrices": False}
            add(
                Case("linalg.svdvals", (x,), lambda x: np.linalg.svd(x, compute_uv=False)),
                shape == (4, 2),
            )
            add(
                Case(
                    "squared_sizes", (x, "linalg.svd", 0), _square_of(_singular(0)), kwargs=reduced
                )
            )
            add(
                Case(
                    "squared_sizes", (x, "linalg.svd", 2), _square_of(_singular(2)), kwargs=reduced
                )
            )
            add(Case("restored", (x, "linalg.svd"), lambda x, *_, **__: x, kwargs=reduced))
            add(Case("linalg.pinv", (x,), np.linalg.pinv), shape == (4, 2))
        nearly_singular = np.diag([0, 0, 2e-6]).astype(square.dtype)
        nearly_singular[:2, :2] = square[:2, :2]
        for rtol in (0.1, arr([0.1, 0.2])):
            inverse = Case("linalg.pinv", (nearly_singular,), _pinv, kwargs={"rtol": rtol})
            cases.append(_steeper(gradient_of(inverse, (0,))))
        add(Case("linalg.vector_norm", (make((2, 3)),), _vector_norm, kwargs={"axis": -1}), True)
        add(Case("linalg.vector_norm", (make((2, 3)),), _vector_norm, kwargs={"ord": 3}))
        add(Case("linalg.matrix_norm", (make((2, 3)),), _matrix_norm), True)
        add(Case("linalg.matrix_norm", (make((2, 3)),), _matrix_norm, kwargs={"ord": "nuc"}))
        add(Case("linalg.matrix_norm", (make((2, 3)),), _matrix_norm, kwargs={"ord": 2}))
        for name in ("vecdot", "linalg.vecdot"):
            pair = make((2, 3)), make((3,), seed=1)
            add(Case(name, pair, lambda x, y: np.sum(np.conj(x) * y, -1)))
        add(Case("linalg.matmul", (make((2, 3)), make((3, 2), seed=1)), np.matmul))
        add(Case("linalg.outer", (make((2,)), make((3,), seed=1)), np.outer))
        add(
            Case(
                "tensordot",
                (make((2, 3)), make((3, 2), seed=1)),
                lambda x, y, axes: x @ y,
                kwargs={"axes": 1},
            )
        )
        add(Case("linalg.cross", (make((2, 3)), make((3,), seed=1)), np.cross))
        add(
            Case(
                "einsum",
                ("ij,jk,ki->i", make((2, 3)), make((3, 2), seed=1), make((2, 2), seed=2)),
                _numpy_einsum,
            )
        )
    x = floats((2, 3, 4))
    add(Case("linalg.band_part", (x, 1, 0), _band))
    add(
        Case(
            "linalg.diagonal",
            (x,),
            lambda x, offset: np.diagonal(x, offset, -2, -1),
            kwargs={"offset": 1},
        )
    )
    add(
        Case(
            "linalg.diagonal",
            (x,),
            lambda x, offset: np.diagonal(x, offset, -2, -1),
            kwargs={"offset": -1},
        )
    )
    add(Case("linalg.trace", (x,), lambda x: np.trace(x, 0, -2, -1)))
    traces = combined(lambda x: np.trace(x, 0, -2, -1))
    add(Case("combined", ("linalg.trace", x), traces), True)
    add(Case("linalg.gram_schmidt", (floats((2, 3)),), _gram_schmidt), True)
    add(Case("outer_product", (floats((2,)), floats((3,))), np.outer))
    add(Case("matrix_transpose", (x,), lambda x: np.swapaxes(x, -1, -2)))
    for equation, shapes in EQUATIONS[::4]:
        operands = (floats(shape, seed=n) for n, shape in enumerate(shapes))
        add(Case("einsum", (equation, *operands), _numpy_einsum))
    return cases


def _steeper(case: Case) -> Case:
    return replace(case, tolerance=replace(STEEP, ulps=STEEP.ulps * case.derivative**2))


FACTORIZATIONS = _factorization_cases() + _equation_cases()
PRODUCTS = _product_cases()
EINSUM = _einsum_cases()
GRADIENTS = _gradient_cases()
