"""Random calls of matrix products: batches that broadcast, transposes, vectors, integers."""

from __future__ import annotations

from tests_py.cases.contractions import DOT_PRODUCTS, matmul as matmul_oracle
from tests_py.cases.inputs import Array
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.table import Case

__all__ = ["GENERATORS"]


def _matrix(draw: Draw, kind: str, batch: Shape, rows: int, columns: int, flip: bool) -> Array:
    inner = (columns, rows) if flip else (rows, columns)
    return draw.numbers((*batch, *inner), kind)


def matmul(draw: Draw) -> Case:
    m, k, n = (draw.pick((1, 2, 3, 4, 5, 8, 9, 17)) for _ in range(3))
    kinds = draw.pick(("ff", "ff", "ii", "if"))
    if draw.chance(4):  # vectors
        left = draw.numbers((k,) if draw.chance() else (m, k), kinds[0])
        return call(
            "matmul",
            left,
            draw.numbers((k,), kinds[1]),
            oracle=matmul_oracle,
            tolerance=DOT_PRODUCTS,
        )
    whole = draw.filled_shape(0, 3, 12)
    flags = draw.chance(), draw.chance()
    a = _matrix(draw, kinds[0], draw.broadcastable(whole), m, k, flags[0])
    b = _matrix(draw, kinds[1], draw.broadcastable(whole), k, n, flags[1])
    return call("matmul", a, b, *flags, oracle=matmul_oracle, tolerance=DOT_PRODUCTS)


def dot(draw: Draw) -> Case:
    m, k, n = (draw.integer(1, 9) for _ in range(3))
    first, second = draw.pick((((k,), (k,)), ((m, k), (k,)), ((k,), (k, n)), ((m, k), (k, n))))
    return call("dot", draw.floats(first), draw.floats(second))


def operator(draw: Draw) -> Case:
    m, k, n = (draw.integer(1, 9) for _ in range(3))
    x, y = draw.floats((m, k)), draw.floats((k, n))
    return call("Tensor.__matmul__", x, y, tolerance=DOT_PRODUCTS)


GENERATORS: dict[str, Generator] = {
    "matmul": matmul,
    "dot": dot,
    "Tensor.__matmul__": operator,
}
