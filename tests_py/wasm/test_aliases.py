"""Values of programs that lie in the memory of others."""

from collections.abc import Callable

import numpy as np
import pytest

import webtensor as wt
from webtensor.backends.programs import KernelCall, Program
from webtensor.backends.signatures import Signature, Spec
from webtensor.backends.wasm.aliases import find_aliases
from webtensor.dtypes import float32
from webtensor.shapes import Shape, contiguous_strides, prod


def steps(x: wt.Tensor) -> list[wt.Tensor]:
    """Rows that are computed one from the other."""
    rows = [wt.sin(x[0])]
    for index in range(1, x.shape[0]):
        rows.append(wt.cumsum(rows[-1], axis=0) + x[index])
    return rows


def joined_twice(x: wt.Tensor) -> list[wt.Tensor]:
    rows = steps(x)
    return [wt.stack(rows) * 2, wt.concat(rows[::-1], 0) + 1]


def joined_and_used(x: wt.Tensor) -> list[wt.Tensor]:
    rows = steps(x)
    whole = wt.stack(rows)
    return [whole, rows[1] * rows[2], wt.cumsum(whole, axis=0)[1:3] * 3]


def joined_of_joined(x: wt.Tensor) -> list[wt.Tensor]:
    first, second, third, fourth = steps(x)
    pair = wt.concat([first, second], 0)
    return [wt.cumsum(wt.concat([pair, wt.concat([third, third, fourth], 0)], 0), axis=0)]


def parts_of_parts(x: wt.Tensor) -> list[wt.Tensor]:
    whole = wt.cumsum(x, axis=0)
    part = whole[1:4]
    return [wt.stack([wt.sin(part[1]), part[2], wt.cumsum(part[0], axis=0)]) * 2]


def joined_beside(x: wt.Tensor) -> list[wt.Tensor]:
    return [wt.concat(steps(x), 1) * 2]


def overlapping_parts(x: wt.Tensor) -> list[wt.Tensor]:
    whole = wt.cumsum(x, axis=0)
    joined = wt.concat([whole[:3], whole[1:]], 0)
    return [joined[:5] + wt.concat([whole, whole[1:2]], 0)]


def of_sources(x: wt.Tensor) -> list[wt.Tensor]:
    return [wt.cumsum(x[2], axis=0) + wt.cumsum(wt.concat([x[1], x[2], x[3]], 0), axis=1)[:6]]


FUNCTIONS = (
    joined_twice,
    joined_and_used,
    joined_of_joined,
    parts_of_parts,
    joined_beside,
    overlapping_parts,
    of_sources,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("columns", [8, 7])  # rows of 7 do not begin at whole vectors
def test_replays_compute_what_the_function_does(
    function: Callable[[wt.Tensor], list[wt.Tensor]], columns: int
) -> None:
    wt.set_backend("wasm")
    captured = wt.function(function)
    for seed in range(3):
        x = wt.random_normal((4, 6, columns), seed=seed)
        for expected, result in zip(function(x), captured(x), strict=True):
            np.testing.assert_array_equal(result.numpy(), expected.numpy())


def spec(*shape: int) -> Spec:
    return Spec(shape, float32, prod(shape))


def call(
    kernel: str, inputs: tuple[int, ...], of: tuple[Spec, ...], shape: Shape, *attributes: object
) -> KernelCall:
    return KernelCall(kernel, inputs, Signature(of, shape, float32), attributes)


def test_parts_lie_in_what_joins_them() -> None:
    row = spec(8)
    program = Program(
        1,
        (
            call("unary", (0,), (row,), (8,)),
            call("unary", (1,), (row,), (8,)),
            call("concat", (1, 2, 1, 0), (row,) * 4, (32,), 1, (8, 8, 8, 8)),
            call("concat", (2, 3), (row, spec(32)), (40,), 1, (8, 32)),
        ),
        (4,),
    )
    aliases = find_aliases(program)
    assert aliases.inside == {1: (3, 0), 2: (3, 32), 3: (4, 32)}
    assert aliases.unneeded == {(2, 0), (2, 1), (3, 1)}
    assert aliases.owner(2) == (4, 64)
    assert aliases.owner(0) == (0, 0)


def test_results_have_memory_of_their_own() -> None:
    row, rows = spec(8), spec(4, 8)
    program = Program(
        1,
        (
            call("strided", (0,), (rows,), (2, 8), contiguous_strides((2, 8)), 16),
            call("strided", (0,), (rows,), (8,), (1,), 8),
            call("unary", (2,), (row,), (8,)),
            call("concat", (3, 2), (row, row), (16,), 1, (8, 8)),
        ),
        (1, 3, 4),
    )
    aliases = find_aliases(program)
    assert aliases.inside == {2: (0, 32)}
    assert aliases.unneeded == {(1, 0)}


@pytest.mark.parametrize(
    "joined",
    [
        call("concat", (1, 2), (spec(3), spec(8)), (11,), 1, (3, 8)),  # not at whole vectors
        call("concat", (1, 2), (spec(8), spec(8)), (2, 8), 2, (4, 4)),  # side by side
        call("strided", (1,), (spec(4, 8),), (8,), (1,), 3),
        call("strided", (1,), (spec(4, 8),), (4,), (8,), 0),
    ],
    ids=str,
)
def test_what_is_not_whole_is_copied(joined: KernelCall) -> None:
    unary = call("unary", (0,), (spec(8),), (8,))
    program = Program(1, (unary, unary, joined, call("unary", (3,), (spec(8),), (8,))), (4,))
    assert find_aliases(program).inside == {}
