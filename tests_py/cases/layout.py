"""Cases of arrangements: roll, repeat, triangles, grids, strided slices, mirrors, blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, complexes, floats, ints
from tests_py.cases.movement import large_ints
from tests_py.cases.table import Array, Case, gradient_of

__all__ = ["ARRANGING", "GRADIENTS"]


# -- oracles -------------------------------------------------------------------------------------


def diag(x: Array) -> Array:
    result = np.zeros(x.shape * 2, x.dtype)
    for index in np.ndindex(*x.shape):
        result[index * 2] = x[index]
    return result


def mirror_pad(x: Array, paddings: Sequence[Sequence[int]], mode: str) -> Array:
    return np.pad(x, paddings, mode=mode)  # type: ignore[call-overload]


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Array]:
    return list(np.meshgrid(*arrays, indexing=indexing))  # type: ignore[call-overload]


def space_to_batch_nd(x: Array, block_shape: Sequence[int], paddings: Any) -> Array:
    """Every element, at its place in TensorFlow's definition."""
    count = len(block_shape)
    rest = x.shape[count + 1 :]
    padded = np.pad(x, [(0, 0), *paddings, *[(0, 0)] * len(rest)])
    batch, space = padded.shape[0], padded.shape[1 : count + 1]
    cells = [length // block for length, block in zip(space, block_shape, strict=True)]
    result = np.zeros((int(np.prod(block_shape)) * batch, *cells, *rest), x.dtype)
    for index in product(*map(range, (batch, *space))):
        number = 0
        for at, block in zip(index[1:], block_shape, strict=True):
            number = number * block + at % block
        cell = [at // block for at, block in zip(index[1:], block_shape, strict=True)]
        result[(number * batch + index[0], *cell)] = padded[index]
    return result


def batch_to_space_nd(x: Array, block_shape: Sequence[int], crops: Any) -> Array:
    count = len(block_shape)
    batch = x.shape[0] // int(np.prod(block_shape))
    cells, rest = x.shape[1 : count + 1], x.shape[count + 1 :]
    space = [cell * block for cell, block in zip(cells, block_shape, strict=True)]
    result = np.zeros((batch, *space, *rest), x.dtype)
    for index in product(*map(range, (batch, *space))):
        number = 0
        for at, block in zip(index[1:], block_shape, strict=True):
            number = number * block + at % block
        cell = [at // block for at, block in zip(index[1:], block_shape, strict=True)]
        result[index] = x[(number * batch + index[0], *cell)]
    ends = [slice(low, length - high) for (low, high), length in zip(crops, space, strict=True)]
    return result[(slice(None), *ends)]


def depth_to_space(x: Array, block: int, data_format: str = "NHWC") -> Array:
    if data_format == "NCHW":
        return np.moveaxis(depth_to_space(np.moveaxis(x, 1, 3), block), 3, 1)
    batch, height, width, channels = x.shape
    depth = channels // block**2
    result = np.zeros((batch, height * block, width * block, depth), x.dtype)
    for row, column in product(range(height * block), range(width * block)):
        first = (row % block * block + column % block) * depth
        result[:, row, column] = x[:, row // block, column // block, first : first + depth]
    return result


def strided_slice(
    x: Array,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Array:
    """The same slice, written as Python source."""
    parts = []
    for axis in range(len(begin)):
        bit = 1 << axis
        if ellipsis_mask & bit:
            parts.append("...")
        elif new_axis_mask & bit:
            parts.append("None")
        elif shrink_axis_mask & bit:
            parts.append(str(begin[axis]))
        else:
            first = "" if begin_mask & bit else begin[axis]
            last = "" if end_mask & bit else end[axis]
            parts.append(f"{first}:{last}:{1 if strides is None else strides[axis]}")
    return eval(f"x[{', '.join(parts) or '...'},]", {"x": x})


# -- rows ----------------------------------------------------------------------------------------


def _axis_cases() -> list[Case]:
    cases = []
    rolls: list[tuple[tuple[int, ...], Any, Any]] = [
        ((5,), 2, None),
        ((5,), -1, 0),
        ((5,), 12, 0),
        ((5,), 0, 0),
        ((), 3, None),
        ((3, 5), 2, None),
        ((3, 5), 1, 0),
        ((3, 5), -7, -1),
        ((3, 5), (1, 2), (0, 1)),
        ((3, 5), 1, (0, 1)),
        ((3, 5), (1, 2), (1, 1)),
        ((2, 3, 4), (1, -1), (2, 0)),
        ((2, 3, 1, 2, 4), 3, 4),
        ((1, 2, 1, 3, 1, 2), (1, 1, 1), (1, 3, 5)),
        ((0, 3), 2, 0),
        ((0, 3), 2, 1),
        ((70, 33), (11, 7), (0, 1)),
    ]
    for shape, shift, axis in rolls:
        cases.append(Case("roll", (floats(shape), shift, axis), np.roll, sample=len(shape) == 2))
    cases += [Case("roll", (x, 2, 1), np.roll) for x in (large_ints((3, 5)), bools((3, 5)))]
    repeats: list[tuple[tuple[int, ...], Any, int | None]] = [
        ((5,), 2, None),
        ((5,), 0, None),
        ((), 3, None),
        ((3, 5), 2, None),
        ((3, 5), 3, 0),
        ((3, 5), 2, -1),
        ((2, 3, 4), 2, 1),
        ((2, 3, 1, 2, 4), 2, 3),
        ((1, 2, 1, 3, 1, 2), 2, 0),
        ((5,), [1, 0, 2, 3, 1], None),
        ((3, 5), [2, 0, 1], 0),
        ((3, 5), [1, 1, 0, 0, 2], 1),
        ((3, 5), [2], 1),
        ((1, 3), [4], 0),
        ((3, 5), [0, 0, 0], 0),
        ((0, 3), 2, 0),
        ((0, 3), [1, 2, 0], 1),
    ]
    for shape, times, axis in repeats:
        cases.append(Case("repeat", (floats(shape), times, axis), np.repeat))
    counts = arr([2, 0, 1], np.int32)
    cases += [
        Case("repeat", (large_ints((3, 5)), counts, 0), np.repeat),
        Case("repeat", (bools((3, 5)), 2, 1), np.repeat),
    ]
    z = complexes((3, 5))
    cases += [Case("roll", (z, 2, 1), np.roll), Case("repeat", (z, [2, 0, 1], 0), np.repeat)]
    moves: list[tuple[tuple[int, ...], Any, Any]] = [
        ((3, 5), 0, 1),
        ((2, 3, 4), 0, -1),
        ((2, 3, 4), -1, 0),
        ((2, 3, 4), (0, 1), (1, 2)),
        ((2, 3, 4), (2, 0), (0, 1)),
        ((2, 3, 1, 2, 4), (4, 0), (1, 3)),
        ((1, 2, 1, 3, 1, 2), (1, 3, 5), (0, 1, 2)),
        ((0, 3), 0, 1),
        ((5,), 0, 0),
    ]
    for shape, source, destination in moves:
        cases.append(Case("moveaxis", (floats(shape), source, destination), np.moveaxis))
    return cases


def _grid_cases() -> list[Case]:
    cases = []
    for name, oracle in (("tril", np.tril), ("triu", np.triu)):
        shapes: list[tuple[int, ...]] = [
            *((3, 5), (5, 3), (4, 4), (1, 1), (2, 3, 4), (2, 1, 2, 3, 4), (0, 3), (2, 0))
        ]
        for shape in shapes:
            for k in (0, 1, -2, 9):
                if k and len(shape) > 2:
                    continue
                args = (floats(shape), k) if k else (floats(shape),)
                cases.append(Case(name, args, oracle))
        cases += [
            Case(name, (large_ints((3, 5)),), oracle),
            Case(name, (bools((4, 5)), -1), oracle),
            Case(name, (arr([[np.nan, np.inf], [np.nan, np.inf]]),), oracle, note="of NaN"),
            Case(name, (floats((33, 70)),), oracle, sample=True),
        ]
    for shape in ((), (1,), (4,), (2, 3), (2, 1, 2), (0,), (2, 1, 1, 1, 1, 2)):
        cases.append(Case("diag", (floats(shape),), diag))
    cases += [Case("diag", (large_ints((3,)),), diag), Case("diag", (bools((5,)),), diag)]
    cases += [
        Case("tril", (complexes((3, 5)), 1), np.tril),
        Case("diag", (complexes((3,)),), diag),
        Case("meshgrid", (complexes((3,)), floats((2,))), meshgrid),
    ]
    for indexing in ("xy", "ij"):
        kwargs = {"indexing": indexing}
        for sizes in ((3,), (3, 2), (3, 2, 4), (2, 1, 3, 2), (0, 2), (3, 5, 1)):
            arrays = tuple(floats((length,), seed=seed) for seed, length in enumerate(sizes))
            cases.append(Case("meshgrid", arrays, meshgrid, kwargs=kwargs))
        mixed = (ints((2,)), bools((3,)), floats(()))
        cases.append(Case("meshgrid", mixed, meshgrid, kwargs=kwargs))
        matrices = (ints((3,)), floats((2, 2)), floats((2, 1, 2), seed=1))
        cases.append(Case("meshgrid", matrices, meshgrid, kwargs=kwargs))
    cases += [
        Case("broadcast_arrays", (floats((3, 1)), ints((4,)), 2.0), _broadcast),
        Case("broadcast_arrays", (floats((2, 3)),), _broadcast),
        Case("broadcast_arrays", (floats((0, 1)), floats((1, 4))), _broadcast),
        Case("broadcast_args", (arr([2, 1], np.int32), arr([5, 1, 3], np.int32)), _shape_of),
        Case("broadcast_args", (arr([1], np.int32), arr([0], np.int32)), _shape_of),
        Case("broadcast_args", (arr([], np.int32), arr([3], np.int32)), _shape_of),
        Case("ensure_shape", (floats((2, 3)), (None, 3)), lambda x, shape: x),
        Case("ensure_shape", (floats(()), ()), lambda x, shape: x),
    ]
    return cases


def _broadcast(*arrays: Any) -> list[Array]:
    return list(np.broadcast_arrays(*arrays))


def _shape_of(s0: Array, s1: Array) -> Array:
    return np.array(np.broadcast_shapes(tuple(s0), tuple(s1)), np.int64)


def _slice_cases() -> list[Case]:
    x, y, z = floats((7,)), floats((3, 5)), floats((2, 3, 4))
    rows: list[tuple[Array, tuple[Any, ...]]] = [
        (x, ((1,), (5,))),
        (x, ((1,), (6,), (2,))),
        (x, ((-2,), (-7,), (-1,))),
        (x, ((5,), (0,), (-2,))),
        (x, ((0,), (0,), (1,), 1, 0)),
        (x, ((3,), (0,), (1,), 0, 1)),
        (x, ((0,), (0,), (-1,), 1, 1)),
        (x, ((100,), (-100,), (-3,))),
        (x, ((-100,), (100,), (3,))),
        (x, ((5,), (2,), (1,))),
        (x, ((3,), (0,), (1,), 0, 0, 0, 0, 1)),
        (x, ((-1,), (0,), (1,), 0, 0, 0, 0, 1)),
        (x, ((0, 2), (0, 4), (1, 1), 0, 0, 0, 1)),
        (y, ((1, 0), (3, 5), (1, 2))),
        (y, ((1,), (3,))),
        (y, ((0, 4), (3, 0), (2, -3))),
        (y, ((0, 1), (0, 3), (1, 1), 0, 0, 1)),
        (y, ((0, 1), (0, 3), (1, 1), 1, 1, 0, 0, 2)),
        (y, ((0, 1), (0, 3), (1, 1), 0, 0, 0, 0, 3)),
        (z, ((0, 1, 0), (0, 3, 0), (1, 1, 1), 0, 0, 1, 0, 4)),
        (z, ((1, 0, 2), (2, 0, 4), (1, 1, 1), 0, 0, 2, 0, 1)),
        (z, ((0, 0, 0, 1), (2, 0, 0, 3), (1, 1, 1, 2), 0, 0, 4, 2)),
        (z, ((0, 0), (0, 0), (1, 1), 3, 3, 0, 0)),
        (z, ((), ())),
        (floats((2, 3, 1, 2, 4)), ((1, 0, 3), (2, 0, 0), (1, 1, -1), 0, 0, 2)),
        (floats((1, 2, 1, 3, 1, 2)), ((0, 1), (0, 2), (1, 1), 0, 0, 1, 0, 2)),
        (floats((0, 3)), ((0, 1), (5, 3), (1, 1))),
        (floats((70, 33)), ((60, 1), (3, 33), (-7, 4))),
        (large_ints((5, 7)), ((4, 1), (0, 7), (-2, 3))),
        (bools((5, 7)), ((4, 1), (0, 7), (-2, 3))),
    ]
    rows.append((complexes((5, 7)), ((4, 1), (0, 7), (-2, 3))))
    return [Case("strided_slice", (x, *args), strided_slice) for x, args in rows]


def _mirror_cases() -> list[Case]:
    cases = []
    for mode in ("reflect", "symmetric"):
        rows: list[tuple[tuple[int, ...], Any]] = [
            ((5,), [(0, 2)]),
            ((5,), [(4, 4)]),
            ((5,), [(0, 0)]),
            ((3, 5), [(1, 2), (3, 0)]),
            ((2, 3, 4), [(1, 1), (0, 2), (3, 1)]),
            ((1, 4, 5, 3), [(0, 0), (2, 1), (1, 3), (0, 0)]),
            ((2, 1, 3, 1, 2), [(1, 0), (0, 0), (2, 2), (0, 0), (0, 1)]),
            ((1, 2, 1, 3, 1, 2), [(0, 0), (1, 1), (0, 0), (1, 1), (0, 0), (1, 1)]),
            ((33, 20), [(7, 9), (11, 5)]),
        ]
        cases += [
            Case("mirror_pad", (floats(shape), pads, mode), mirror_pad) for shape, pads in rows
        ]
        cases += [
            Case("mirror_pad", (x, [(1, 2), (3, 0)], mode), mirror_pad)
            for x in (large_ints((3, 5)), bools((3, 5)))
        ]
    cases.append(Case("mirror_pad", (complexes((3, 4)), [(1, 2), (0, 3)], "reflect"), mirror_pad))
    cases.append(Case("mirror_pad", (floats((1,)), [(1, 1)], "symmetric"), mirror_pad))
    return cases


def _block_cases() -> list[Case]:
    rows: list[tuple[tuple[int, ...], Any, Any]] = [
        ((1, 4, 4, 1), (2, 2), [(0, 0), (0, 0)]),
        ((2, 4, 6, 3), (2, 3), [(0, 0), (0, 0)]),
        ((2, 3, 5, 1), (2, 3), [(1, 0), (0, 1)]),
        ((3, 6), (2,), [(0, 0)]),
        ((3, 5, 2), (3,), [(2, 2)]),
        ((2, 4, 4, 2), (1, 2), [(0, 0), (2, 0)]),
        ((2, 2, 2, 2), (2, 2, 2), [(0, 0), (0, 0), (0, 0)]),
        ((1, 2, 3, 4, 2, 1), (2, 3), [(0, 0), (0, 0)]),
        ((2, 3), (), []),
        ((0, 4), (2,), [(0, 0)]),
    ]
    cases = [
        Case("space_to_batch_nd", (floats(shape), blocks, pads), space_to_batch_nd)
        for shape, blocks, pads in rows
    ]
    backs: list[tuple[tuple[int, ...], Any, Any]] = [
        ((4, 1, 1, 1), (2, 2), [(0, 0), (0, 0)]),
        ((12, 2, 2, 3), (2, 3), [(0, 0), (0, 0)]),
        ((12, 2, 2, 1), (2, 3), [(1, 0), (0, 2)]),
        ((6, 3), (2,), [(0, 1)]),
        ((9, 3, 2), (3,), [(2, 2)]),
        ((8, 1, 2, 1), (2, 2, 2), [(0, 0), (1, 0), (0, 0)]),
        ((6, 1, 2, 2, 1, 2), (2, 3), [(0, 0), (0, 0)]),
        ((2, 3), (), []),
        ((6, 3), (2,), [(3, 3)]),
    ]
    cases += [
        Case("batch_to_space_nd", (floats(shape), blocks, crops), batch_to_space_nd)
        for shape, blocks, crops in backs
    ]
    for shape, block in (
        ((1, 1, 1, 4), 2),
        ((2, 3, 2, 12), 2),
        ((1, 2, 2, 9), 3),
        ((2, 3, 4, 5), 1),
    ):
        cases += [
            Case("depth_to_space", (floats(shape), block), depth_to_space),
            Case(
                "depth_to_space",
                (np.moveaxis(floats(shape), 3, 1).copy(), block, "NCHW"),
                depth_to_space,
            ),
        ]
    cases += [
        Case("space_to_batch_nd", (large_ints((2, 4)), (2,), [(0, 0)]), space_to_batch_nd),
        Case("batch_to_space_nd", (bools((4, 3)), (2,), [(0, 0)]), batch_to_space_nd),
        Case("depth_to_space", (large_ints((1, 2, 2, 8)), 2), depth_to_space),
        Case("depth_to_space", (floats((0, 2, 2, 4)), 2), depth_to_space),
    ]
    return cases


def _gradient_cases() -> list[Case]:
    x = floats((3, 4))
    linear = [
        Case("roll", (x, (1, 2), (0, 1)), np.roll),
        Case("roll", (x, 5), np.roll),
        Case("repeat", (x, 2, 1), np.repeat),
        Case("repeat", (x, [2, 0, 1], 0), np.repeat),
        Case("moveaxis", (floats((2, 3, 2)), 0, 2), np.moveaxis),
        Case("tril", (x, 1), np.tril),
        Case("triu", (floats((2, 3, 3)),), np.triu),
        Case("diag", (floats((3,)),), diag),
        Case("diag", (floats((2, 2)),), diag),
        Case("strided_slice", (x, (2, 0), (0, 4), (-1, 3)), strided_slice),
        Case("strided_slice", (x, (1, 0), (0, 4), (1, 2), 0, 0, 0, 0, 1), strided_slice),
        Case("mirror_pad", (x, [(1, 2), (0, 3)], "reflect"), mirror_pad),
        Case("mirror_pad", (x, [(3, 2), (0, 4)], "symmetric"), mirror_pad),
        Case(
            "space_to_batch_nd", (floats((1, 3, 4, 1)), (2, 2), [(1, 0), (0, 0)]), space_to_batch_nd
        ),
        Case(
            "batch_to_space_nd", (floats((4, 2, 1, 1)), (2, 2), [(1, 0), (0, 1)]), batch_to_space_nd
        ),
        Case("depth_to_space", (floats((1, 2, 1, 8)), 2), depth_to_space),
        Case("ensure_shape", (x, (3, None)), lambda x, shape: x),
    ]
    grid = Case(
        "first_output",
        (floats((3,)), "meshgrid", floats((2,))),
        lambda x, name, y: meshgrid(x, y)[0],
    )
    return [*map(gradient_of, linear), gradient_of(grid, (0,))]


ARRANGING = _axis_cases() + _grid_cases() + _slice_cases() + _mirror_cases() + _block_cases()
GRADIENTS = _gradient_cases()
