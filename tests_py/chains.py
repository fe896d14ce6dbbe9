"""Functions of elementwise calls, for tests of chains: in CPython, and as text in pages."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import webtensor as wt
from webtensor.engine.dispatch import run
from webtensor.ops import (  # noqa: F401  (they fill the table)
    activations,
    binary,
    quantization,
    special_functions,
    ternary,
    trigonometry,
    unary,
)
from webtensor.ops.elementwise import ROWS, Row

#: Sizes around those of blocks (`wasm_build/source/chain.c`), of vectors, and of texels.
SIZES = (1, 3, 16, 511, 1024, 1025, 5000)
#: Rows shorter and longer than blocks, ragged ones, and several axes of rows.
BROADCAST_SHAPES = ((7, 5), (40, 36), (9, 33), (3, 1025), (2, 3, 64), (4, 5, 45), (2, 1, 3, 34))

UNARY: list[Callable[[Any], Any]] = [
    wt.tanh,
    wt.relu,
    wt.sigmoid,
    wt.negative,
    wt.abs,
    wt.sin,
    wt.square,
    lambda x: wt.leaky_relu(x, 0.3),
    lambda x: wt.clip(x, -0.7, 1.3),
    lambda x: wt.exp(wt.negative(wt.abs(x))),
    lambda x: wt.astype(wt.round(x * 4), "int32"),
    lambda x: wt.astype(wt.astype(x, "bool"), "float32"),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    wt.add,
    wt.subtract,
    wt.multiply,
    wt.maximum,
    wt.minimum,
    wt.squared_difference,
    lambda x, y: wt.where(wt.greater(x, y), x, y * 0.5),
    lambda x, y: wt.astype(wt.logical_and(wt.greater(x, 0), wt.less(y, 1)), "float32"),
    lambda x, y: x * 1.5 + y,
    lambda x, y: 2.0 - x,
]


def random_chain(seed: int) -> tuple[Callable[..., list[Any]], list[Any]]:
    """Return a function of a few operands, some of one element, and these."""
    draw = random.Random(seed)
    size = draw.choice(SIZES)
    shape = (size,) if size % 3 or draw.random() < 0.5 else (3, size // 3)
    operands = [
        wt.random_uniform((1,) if draw.random() < 0.2 else shape, -2, 2, seed=100 * seed + number)
        for number in range(draw.randint(1, 4))
    ]
    operands[0] = wt.random_uniform(shape, -2, 2, seed=seed)
    return _random_function(draw), operands


def random_broadcast_chain(seed: int) -> tuple[Callable[..., list[Any]], list[Any]]:
    """Return a function of operands that are broadcast along some of their axes, and these."""
    draw = random.Random(seed)
    shape = draw.choice(BROADCAST_SHAPES)
    operands = [
        wt.random_uniform(
            tuple(size if draw.random() < 0.6 else 1 for size in shape[draw.randint(0, 1) :]),
            -2,
            2,
            seed=100 * seed + number,
        )
        for number in range(draw.randint(2, 5))
    ]
    return _random_function(draw), operands


def _random_function(draw: random.Random) -> Callable[..., list[Any]]:
    """Return a function that calls elementwise functions at random."""
    steps: list[tuple[int, float, float, float]] = [
        (draw.randrange(10**6), draw.random(), draw.random(), draw.random())
        for _ in range(draw.randint(2, 40))
    ]
    returned = draw.randint(1, 3)

    def chain(*arguments: Any) -> list[Any]:
        values = list(arguments)
        for number, kind, first, second in steps:
            x = values[-1] if first < 0.7 else values[int(first * len(values))]
            y = values[int(second * len(values))]
            if kind < 0.5:
                result = UNARY[number % len(UNARY)](x)
            else:
                result = BINARY[number % len(BINARY)](x, y)
            # Values stay small, so that no difference becomes large.
            values.append(
                wt.astype(result, "float32")
                if number % 5
                else wt.tanh(wt.astype(result, "float32"))
            )
        return values[-returned:]

    return chain


#: Shapes to reduce: rows about as long as a vector, as what is reduced at once, and as a piece.
REDUCED_SHAPES = (
    (3, 64),
    (5, 65),
    (2, 7, 40),
    (1, 1025),
    (3, 5000),
    (40000,),
    (16385,),
    (2, 129, 131),
)


def random_ended_chain(seed: int) -> tuple[Callable[..., list[Any]], list[Any], str, int]:
    """Return a function that ends in a reduction or a product, and its operands.

    The other values are the kind of the end, and how many terms it adds up.
    """
    draw = random.Random(seed)
    shape = draw.choice(REDUCED_SHAPES)
    operands = [
        wt.random_uniform(
            tuple(size if draw.random() < 0.6 else 1 for size in shape),
            -2,
            2,
            seed=100 * seed + number,
        )
        for number in range(draw.randint(1, 3))
    ]
    kind = draw.choice(["sum", "max", "min", "prod", "sum of integers", "product"])
    elements = _random_function(draw)
    axis = draw.choice([None, -1]) if len(shape) < 3 else draw.choice([None, -1, (-2, -1)])
    columns = draw.randint(1, 5)
    is_transposed = draw.random() < 0.5
    if kind == "product":
        right = wt.random_uniform((shape[-1], columns), -1, 1, seed=seed + 1)
        operands.append(wt.transpose(right) if is_transposed else right)

    def ended(*arguments: Any) -> list[Any]:
        if kind == "sum of integers":
            integers = wt.abs(wt.astype(arguments[0] * 10, "int32")) + wt.zeros(shape, "int32")
            return [wt.sum(integers, axis=axis)]
        if kind == "product":
            *others, right = arguments
            left = wt.reshape(elements(*others)[-1] + wt.zeros(shape), (-1, shape[-1]))
            return [wt.matmul(left, right, transpose_b=is_transposed)]
        values = elements(*arguments)[-1] + wt.zeros(shape)
        if kind == "prod":
            return [wt.prod(wt.cos(values * 0.01), axis=axis)]
        return [getattr(wt, kind)(values, axis=axis)]

    return ended, operands, kind, shape[-1] if kind == "product" else wt.ones(shape).size


def row_chains() -> Iterator[tuple[str, Callable[..., wt.Tensor], list[wt.Tensor]]]:
    """Yield a chain around each row of the table, for each dtype in which it computes."""
    for row in ROWS.values():
        if row.kernel != "joint":
            for dtype in row.input_dtypes:
                dtypes = [dtype] * row.arity
                if row.arity == 3:
                    dtypes[0] = wt.bool
                operands = [_values(kind, 5 + 8 * number) for number, kind in enumerate(dtypes)]
                yield f"{row.name} {dtype}", _chain_around(row, dtype), operands


def _values(dtype: wt.DType, step: int) -> wt.Tensor:
    numbers = wt.arange(100) * step % 17 + 1
    return wt.astype(numbers / 18 if dtype == "float32" else numbers % 3, dtype)


def _chain_around(row: Row, dtype: wt.DType) -> Callable[..., wt.Tensor]:
    def chain(*operands: wt.Tensor) -> wt.Tensor:
        same = tuple(
            wt.logical_not(wt.logical_not(x)) if x.dtype == "bool" else wt.negative(wt.negative(x))
            for x in operands
        )
        parameters = [0.5] * len(row.parameters)
        result = run(row, same, same[0].shape, row.output_dtype(dtype), row, *parameters)
        return wt.astype(result, "float32") * 0.5

    return chain
