"""Random calls of linear algebra: what is unique of factors, and products of them."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any

import numpy as np

from tests_py.cases import linalg
from tests_py.cases.inputs import arr, complexes, floats
from tests_py.cases.linalg import RESTORED, hermitian, positive_definite, well_conditioned
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.table import Array, Case, Tolerance, summed

__all__ = ["GENERATORS"]


def _stack(draw: Draw) -> Shape:
    return draw.shape(0, 3, (0, 1, 2, 2, 3), 12)


def _squares(draw: Draw, least: int = 0) -> Shape:
    n = draw.integer(least, 6)
    return (*_stack(draw), n, n)


def _rectangles(draw: Draw, least: int = 1) -> Shape:
    return (*_stack(draw), draw.integer(least, 6), draw.integer(least, 6))


def _matrix(draw: Draw, make: Any, shape: Shape) -> Array:
    """Matrices of a sort, real or complex, with a seed of their own."""
    matrices: Array = make(shape, draw.pick([floats, complexes]), draw.integer(0, 10**6))
    return matrices


# -- factorizations and equations -----------------------------------------------------------------


def _cholesky(draw: Draw) -> Case:
    options: dict[str, Any] = {"upper": draw.chance()} if draw.chance() else {}
    return call("linalg.cholesky", _matrix(draw, positive_definite, _squares(draw)), **options)


def _of_squares(function: str, draw: Draw) -> Case:
    return call(function, _matrix(draw, well_conditioned, _squares(draw)))


def _solve(draw: Draw) -> Case:
    shape = _squares(draw)
    n = shape[-1]
    if draw.chance(4):
        right: Shape = (n,)
    else:
        right = (*draw.broadcastable(shape[:-2]), n, draw.integer(0, 3))
    return call("linalg.solve", _matrix(draw, well_conditioned, shape), draw.numbers(right, "fc"))


def _slogdet(draw: Draw) -> Case:
    x = _matrix(draw, well_conditioned, _squares(draw))
    return call("part_of", x, "linalg.slogdet", draw.integer(0, 1), oracle=linalg._slogdet)


def _eigvalsh(draw: Draw) -> Case:
    return call("linalg.eigvalsh", _matrix(draw, hermitian, _squares(draw, 1)))


def _identities(length: int) -> Any:
    return lambda x, *_, **__: linalg._identity_like(x, length)


def _same(x: Array, *_: Any, **__: Any) -> Array:
    return x


def _eigh(draw: Draw) -> Case:
    shape = _squares(draw, 1)
    x = _matrix(draw, hermitian, shape)
    if draw.chance():
        return call("restored", x, "linalg.eigh", oracle=_same, tolerance=RESTORED)
    orthonormal = _identities(shape[-1])
    return call("inner_products", x, "linalg.eigh", 1, oracle=orthonormal, tolerance=RESTORED)


def _svd(draw: Draw) -> Case:
    shape = _rectangles(draw)
    x = draw.numbers(shape, "fc")
    full = draw.chance()
    (m, n), k = shape[-2:], min(shape[-2:])
    options: dict[str, Any] = {"full_matrices": full, "tolerance": RESTORED}
    part = draw.integer(0, 2)
    if part == 1:
        return call("restored", x, "linalg.svd", oracle=_same, **options)
    length = (m if part == 0 else n) if full else k
    options |= {"rows": True} if part == 2 else {}
    return call("inner_products", x, "linalg.svd", part, oracle=_identities(length), **options)


def _qr(draw: Draw) -> Case:
    options: dict[str, Any] = {"mode": draw.pick(["reduced", "complete"])} if draw.chance() else {}
    shape = _rectangles(draw)
    x = _matrix(draw, well_conditioned, shape if draw.chance(3) else shape[-2:])
    return call("linalg.qr", x, **options)


def _of_rectangles(function: str, draw: Draw) -> Case:
    return call(function, draw.numbers(_rectangles(draw), "fc"))


def _pinv(draw: Draw) -> Case:
    return call("linalg.pinv", _matrix(draw, well_conditioned, _rectangles(draw)))


def _matrix_rank(draw: Draw) -> Case:
    """Products of random matrices, whose rank is the length between them."""
    shape = _rectangles(draw)
    k = draw.integer(1, 6)
    left, right = draw.numbers((*shape[:-1], k), "fc"), draw.numbers((k, shape[-1]), "fc")
    options: dict[str, Any] = {"rtol": 1e-4} if k < min(shape[-2:]) or draw.chance() else {}
    return call("linalg.matrix_rank", (left @ right).astype(np.result_type(left, right)), **options)


def _matrix_power(draw: Draw) -> Case:
    n = draw.integer(-3, 6)
    x = _matrix(draw, well_conditioned, _squares(draw, 1))

    def sizes(x: Array, n: int) -> Any:
        factor = np.abs(x if n >= 0 else np.linalg.inv(x))
        return np.linalg.matrix_power(factor, abs(n))

    tolerance = Tolerance("products of up to seven matrices of up to six rows", 32, 64, sizes)
    return call("linalg.matrix_power", x, n, tolerance=tolerance)


# -- parts, products, norms -----------------------------------------------------------------------


def _matrices(draw: Draw, kinds: str = "fibcs") -> Array:
    return draw.numbers((*draw.shape(0, 4, most_elements=30), *draw.shape(2, 2)), kinds)


def _band_part(draw: Draw) -> Case:
    x = _matrices(draw)
    rows, columns = x.shape[-2:]
    return call("linalg.band_part", x, draw.integer(-1, rows), draw.integer(-1, columns))


def _diagonal(draw: Draw) -> Case:
    x = _matrices(draw)
    return call("linalg.diagonal", x, offset=draw.integer(-x.shape[-2] - 1, x.shape[-1] + 1))


def _trace(draw: Draw) -> Case:
    x = _matrices(draw, "fibc")
    options: dict[str, Any] = {"dtype": "float32"} if x.dtype.kind in "ib" and draw.chance() else {}

    def trace(x: Array, offset: int = 0, dtype: str | None = None) -> Array:
        return np.trace(x * (1 if dtype is None else 1.0), offset, -2, -1)

    def sizes(x: Array, offset: int = 0, dtype: str | None = None) -> Array:
        return trace(np.abs(x), offset)

    options["offset"] = draw.integer(-x.shape[-2] - 1, x.shape[-1] + 1)
    return call("linalg.trace", x, oracle=trace, tolerance=summed(sizes, 10), **options)


def _pair(draw: Draw, x: Shape, y: Shape) -> tuple[Array, Array]:
    """Operands whose product has one of our dtypes."""
    kinds = draw.pick(["ff", "ii", "fi", "cc", "cf", "bi"])
    return draw.numbers(x, kinds[0]), draw.numbers(y, kinds[1])


def _cross(draw: Draw) -> Case:
    rest = draw.shape(0, 4, most_elements=60)
    axis = draw.axis(len(rest) + 1)
    other = draw.broadcastable(rest)
    if axis >= 0 or len(other) < -axis - 1:
        other = tuple(1 if draw.chance(4) else length for length in rest)

    def with_three(shape: Shape) -> Shape:
        index = axis if axis >= 0 else len(shape) + 1 + axis
        return (*shape[:index], 3, *shape[index:])

    def cross(x: Array, y: Array, axis: int = -1) -> Array:
        return np.cross(x * 1, y * 1, axis=axis)

    def sizes(x: Array, y: Array, axis: int = -1) -> Any:
        x, y = np.abs(x * 1), np.abs(y * 1)
        total = x.sum(axis, keepdims=True) * y.sum(axis, keepdims=True)
        return np.broadcast_to(total, np.broadcast_shapes(x.shape, y.shape))

    x, y = _pair(draw, with_three(rest), with_three(other))
    options = {} if axis == -1 else {"axis": axis}
    tolerance = Tolerance("two products and their difference", 3, scale=sizes)
    return call("linalg.cross", x, y, oracle=cross, tolerance=tolerance, **options)


def _outer(function: str, draw: Draw) -> Case:
    def product(x: Array, y: Array) -> Array:
        return np.outer(x * 1, y * 1)

    def sizes(x: Array, y: Array) -> Array:
        return product(np.abs(x), np.abs(y))

    x, y = _pair(draw, draw.shape(1, 1), draw.shape(1, 1))
    tolerance = Tolerance("a product, of complex numbers four and their sums", 4, scale=sizes)
    return call(function, x, y, oracle=product, tolerance=tolerance)


def _vecdot(function: str, draw: Draw) -> Case:
    rest, length = draw.shape(0, 4, most_elements=60), draw.integer(0, 9)
    other = tuple(1 if draw.chance(4) else length for length in rest)
    axis = draw.axis(len(rest) + 1)
    index = axis % (len(rest) + 1)

    def product(x: Array, y: Array, axis: int = -1) -> Any:
        return np.sum(np.conj(x * 1) * (y * 1), axis)

    def sizes(x: Array, y: Array, axis: int = -1) -> Any:
        return product(np.abs(x), np.abs(y), axis)

    x, y = _pair(
        draw,
        (*rest[:index], length, *rest[index:]),
        (*other[:index], length, *other[index:]),
    )
    options = {} if axis == -1 else {"axis": axis}
    return call(function, x, y, oracle=product, tolerance=summed(sizes, 2 * length), **options)


def _tensordot(function: str, draw: Draw) -> Case:
    shared = draw.shape(0, 2, most_elements=20)
    left, right = (draw.shape(0, 2, most_elements=20) for _ in range(2))

    def product(x: Array, y: Array, axes: Any = 2) -> Any:
        return np.tensordot(x * 1, y * 1, axes)

    def sizes(x: Array, y: Array, axes: Any = 2) -> Any:
        return product(np.abs(x), np.abs(y), axes)

    first, second = (*left, *shared), (*shared, *right)
    axes: Any = len(shared)
    if draw.chance():
        # The axes of both sides in any order, the shared ones found by their number.
        first_order, second_order = (
            draw.shuffled(range(len(first))),
            draw.shuffled(range(len(second))),
        )
        axes = [
            [first_order.index(len(left) + n) for n in range(len(shared))],
            [second_order.index(n) - len(second) for n in range(len(shared))],
        ]
        first = tuple(first[n] for n in first_order)
        second = tuple(second[n] for n in second_order)
    x, y = _pair(draw, first, second)
    tolerance = summed(sizes, 2 * int(np.prod(shared)))
    return call(function, x, y, axes=axes, oracle=product, tolerance=tolerance)


def _matmul(draw: Draw) -> Case:
    rows, between, columns = (draw.integer(0, 6) for _ in range(3))
    x, y = _pair(draw, (*_stack(draw), rows, between), (between, columns))

    def sizes(x: Array, y: Array) -> Any:
        return np.abs(x * 1) @ np.abs(y * 1)

    return call(
        "linalg.matmul",
        x,
        y,
        oracle=lambda x, y: (x * 1) @ (y * 1),
        tolerance=summed(sizes, 2 * between),
    )


def _gram_schmidt(draw: Draw) -> Case:
    columns = draw.integer(1, 7)
    shape = (draw.integer(1, columns), columns)
    # Nearly orthogonal, so that little is lost in single precision.
    rows = arr(well_conditioned(shape, floats, draw.integer(0, 10**6)) + 3 * np.eye(*shape))
    if draw.chance():
        return call("linalg.gram_schmidt", rows)
    return call("linalg.gram_schmidt", list(rows), oracle=lambda xs: list(linalg._gram_schmidt(xs)))


def _vector_norm(draw: Draw) -> Case:
    shape = draw.filled_shape()
    options: dict[str, Any] = {"ord": draw.pick([2, 1, 3, 0.5, 0, -1, -2, inf, -inf])}
    axis = draw.axes_or_none(len(shape))
    if axis is not None or draw.chance():
        options["axis"] = axis
    if draw.chance():
        options["keepdims"] = True
    # Away from 0, which powers below 1 and negative ones magnify.
    x = arr(draw.floats(shape, 0.5, 2) * np.where(draw.bools(shape), 1, -1))
    if draw.chance(3):
        x = arr(x + 1j * draw.floats(shape), np.complex64)
    return call("linalg.vector_norm", x, **options)


def _matrix_norm(draw: Draw) -> Case:
    options: dict[str, Any] = {"ord": draw.pick(["fro", "nuc", 1, -1, 2, inf, -inf])}
    if draw.chance():
        options["keepdims"] = True
    x = draw.numbers((*_stack(draw), draw.integer(1, 6), draw.integer(1, 6)), "ffic")
    return call("linalg.matrix_norm", x, **options)


# -- einsum ---------------------------------------------------------------------------------------

LETTERS = "abcde"


def _einsum(draw: Draw) -> Case:
    sizes = {letter: draw.pick((1, 2, 2, 3, 4)) for letter in LETTERS}
    if draw.chance(10):
        sizes[draw.pick(LETTERS)] = 0
    batch = draw.shape(0, 2, (1, 2, 3), 6) if draw.chance(4) else ()
    dots = "..." if batch else ""
    labels: list[str] = []
    for _ in range(draw.integer(1, 3)):
        chosen = draw.shuffled(LETTERS)[: draw.integer(0 if dots else 1, 3)]
        if chosen and draw.chance(6):
            chosen.append(draw.pick(chosen))
        labels.append("".join(chosen))
    used = sorted(set("".join(labels)))
    equation = ",".join(dots + label for label in labels)
    if dots or draw.chance(4) is False:
        output = draw.shuffled(used)[: draw.integer(0, min(len(used), 4))]
        equation += "->" + dots + "".join(output)
    kinds = draw.pick(["f", "f", "i", "c"])
    operands = [
        draw.numbers((*batch, *(sizes[letter] for letter in label)), kinds) for label in labels
    ]
    return call("einsum", equation, *operands)


GENERATORS: dict[str, Generator] = {
    "linalg.cholesky": _cholesky,
    **{name: partial(_of_squares, name) for name in ("linalg.inv", "linalg.det")},
    "linalg.solve": _solve,
    "linalg.slogdet": _slogdet,
    "linalg.eigvalsh": _eigvalsh,
    "linalg.eigh": _eigh,
    "linalg.svd": _svd,
    "linalg.svdvals": partial(_of_rectangles, "linalg.svdvals"),
    "linalg.qr": _qr,
    "linalg.pinv": _pinv,
    "linalg.matrix_rank": _matrix_rank,
    "linalg.matrix_power": _matrix_power,
    "linalg.band_part": _band_part,
    "linalg.diagonal": _diagonal,
    "linalg.trace": _trace,
    "linalg.cross": _cross,
    **{name: partial(_outer, name) for name in ("linalg.outer", "outer_product")},
    **{name: partial(_vecdot, name) for name in ("linalg.vecdot", "vecdot")},
    **{name: partial(_tensordot, name) for name in ("linalg.tensordot", "tensordot")},
    "linalg.matmul": _matmul,
    "linalg.gram_schmidt": _gram_schmidt,
    "linalg.vector_norm": _vector_norm,
    "linalg.matrix_norm": _matrix_norm,
    "einsum": _einsum,
}
