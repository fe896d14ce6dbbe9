"""3×3 convolutions by Winograd's minimal filtering, against NumPy in double precision."""

from collections.abc import Iterator

import numpy as np
import pytest

import webtensor as wt
from tests_py.wasm.kernels import Array, call
from tests_py.wasm.test_contraction import PACKED, check, normal
from tests_py.wasm.windows import make, patches, shapes
from webtensor.backends.signatures import Signature, Spec
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.backends.wasm.winograd import WINOGRAD
from webtensor.dtypes import float32
from webtensor.geometry import Window
from webtensor.ops.elementwise import ROWS
from webtensor.shapes import prod

WINDOWS = [
    make((1, 8, 8, 16), 16, (3, 3)),
    make((1, 9, 7, 17), 19, (3, 3)),
    make((2, 7, 7, 16), 24, (3, 3), 1, "valid"),
    make((1, 10, 8, 30), 18, (3, 3), 1, 2),
    make((1, 9, 8, 20), 21, (3, 3), 1, [(0, 0), (3, 1), (0, 4), (0, 0)]),
    make((1, 40, 31, 16), 70, (3, 3)),  # several blocks of tiles and of columns
    make((1, 8, 8, 256), 17, (3, 3)),
    make((17, 2, 2, 16), 16, (3, 3)),
    make((16, 1, 1, 16), 16, (3, 3)),
    make((1, 1, 40, 16), 16, (3, 3)),
]
#: Those of many channels, whose filters' gradients are computed directly.
LARGE = [
    make((1, 13, 14, 260), 270, (3, 3)),
    make((1, 16, 16, 1024), 65, (3, 3), 1, "valid"),
    make((1, 8, 8, 520), 16, (3, 3)),
]


def signature(*all_shapes: tuple[int, ...]) -> Signature:
    *inputs, result = (Spec(shape, float32, prod(shape)) for shape in all_shapes)
    return Signature(tuple(inputs), result.shape, float32)


def convolved(window: Window, x: Array, filter: Array) -> Array:
    taken, _ = patches(x.astype(np.float64), window)
    result: Array = np.einsum("bijhwc,hwco->bijo", taken, filter)
    return result


@pytest.mark.parametrize("times", [1, PACKED])
@pytest.mark.parametrize("window", [*WINDOWS, *LARGE], ids=str)
def test_conv2d(wasm: WasmBackend, window: Window, times: int) -> None:
    x_shape, filter_shape, y_shape = shapes(window)
    assert WINOGRAD["conv2d"](signature(x_shape, filter_shape, y_shape), window, 1)
    x, filter = normal(x_shape, 1), normal(filter_shape, 2)
    got = call(wasm, "conv2d", [x, filter], y_shape, "float32", window, times=times)
    check(got, convolved(window, x, filter), 9 * window.in_channels)


@pytest.mark.parametrize("window", [*WINDOWS, *LARGE], ids=str)
def test_input_gradient(wasm: WasmBackend, window: Window) -> None:
    x_shape, filter_shape, y_shape = shapes(window)
    assert WINOGRAD["conv2d_input_gradient"](signature(y_shape, filter_shape, x_shape), window, 1)
    filter, dy = normal(filter_shape, 2), normal(y_shape, 3)
    _, give = patches(np.zeros(x_shape), window)
    got = call(wasm, "conv2d_input_gradient", [dy, filter], x_shape, "float32", window)
    check(got, give(np.einsum("bijo,hwco->bijhwc", dy, filter)), 9 * window.out_channels)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_filter_gradient(wasm: WasmBackend, window: Window) -> None:
    x_shape, filter_shape, y_shape = shapes(window)
    assert WINOGRAD["conv2d_filter_gradient"](signature(x_shape, y_shape, filter_shape), window, 1)
    x, dy = normal(x_shape, 1), normal(y_shape, 3)
    taken, _ = patches(x.astype(np.float64), window)
    got = call(wasm, "conv2d_filter_gradient", [x, dy], filter_shape, "float32", window)
    check(got, np.einsum("bijhwc,bijo->hwco", taken, dy), dy[..., 0].size)


@pytest.mark.parametrize("times", [1, PACKED])
@pytest.mark.parametrize("name", [None, "relu", "relu6", "elu", "prelu"])
def test_epilogues(wasm: WasmBackend, name: str | None, times: int) -> None:
    window = make((1, 9, 10, 16), 21, (3, 3))
    x_shape, filter_shape, y_shape = shapes(window)
    row = ROWS[name] if name else None
    arrays = [normal(x_shape, 1), normal(filter_shape, 2), normal((21,), 3)]
    slopes, residual = np.abs(normal((21,), 4)), normal(y_shape, 5)
    parameters: dict[str | None, list[Array | float]] = {"elu": [0.25], "prelu": [slopes]}
    expected = convolved(window, arrays[0], arrays[1]) + arrays[2] + residual
    if row:
        expected = row.numpy(np, expected, *parameters.get(name, []))
    arrays += [slopes, residual] if name == "prelu" else [residual]
    attributes = (window, row, 0.25)
    got = call(wasm, "fused_conv2d", arrays, y_shape, "float32", *attributes, times=times)
    check(got, expected, 9 * 16)


@pytest.mark.parametrize(
    "window",
    [
        make((1, 20, 20, 15), 16, (3, 3)),
        make((1, 20, 20, 16), 15, (3, 3)),
        make((1, 6, 6, 32), 32, (3, 3)),
        make((1, 20, 20, 16), 16, (3, 3), 2),
        make((1, 20, 20, 16), 16, (3, 3), 1, "same", 2),
        make((1, 20, 20, 16), 16, (3, 2)),
        make((1, 20, 20, 1025), 16, (3, 3)),
        make((1, 12, 12, 256), 257, (3, 3)),
    ],
    ids=str,
)
def test_others_are_computed_directly(window: Window) -> None:
    assert WINOGRAD["conv2d"](signature(*shapes(window)), window, 1) is None


@pytest.fixture
def without_winograd() -> Iterator[None]:
    wt.env().set("WASM_WINOGRAD", False)
    yield
    wt.env().set("WASM_WINOGRAD", True)


def test_a_flag_says_that_all_are_computed_directly(without_winograd: None) -> None:
    x_shape, filter_shape, y_shape = shapes(WINDOWS[0])
    assert WINOGRAD["conv2d"](signature(x_shape, filter_shape, y_shape), WINDOWS[0], 1) is None
    of = signature(y_shape, filter_shape, x_shape)
    assert WINOGRAD["conv2d_input_gradient"](of, WINDOWS[0], 1) is None


def in_parts(
    wasm: WasmBackend,
    name: str,
    arrays: list[Array],
    shape: tuple[int, ...],
    window: Window,
    parts: int,
) -> Array:
    """Run a kernel that threads share part by part, the last part first."""
    description = WINOGRAD[name](signature(*(array.shape for array in arrays), shape), window, 1)
    assert description is not None
    operands = [wasm.upload(array.reshape(-1).data, float32) for array in arrays]
    scratch, out = (wasm.allocate(size) for size in (*description.scratch, description.bytes))
    geometry = wasm.geometries.address(window.numbers)
    if name == "conv2d":
        channels = (window.in_channels, window.out_channels)
        wasm.functions["winograd_filter",](operands[1], scratch, 0, *channels, 1, 0)
        arguments = (operands[0], scratch, out, geometry, 1, *[0] * 5)
    else:
        arguments = (*operands, out, scratch, geometry)
    export = f"winograd_{name.removeprefix('conv2d_')}"
    for part in reversed(range(parts)):
        wasm.functions[export,](*arguments, part, parts)
    result = np.array(wasm.read(out, float32, prod(shape))).reshape(shape)
    for block in (*operands, scratch, out):
        wasm.release(block)
    return result


@pytest.mark.parametrize("parts", [2, 3, 7])
@pytest.mark.parametrize("window", [WINDOWS[1], WINDOWS[5]], ids=str)
@pytest.mark.parametrize("name", ["conv2d", "conv2d_filter_gradient"])
def test_parts_make_up_the_whole(wasm: WasmBackend, name: str, window: Window, parts: int) -> None:
    x_shape, filter_shape, y_shape = shapes(window)
    if name == "conv2d":
        arrays, shape = [normal(x_shape, 1), normal(filter_shape, 2)], y_shape
    else:
        arrays, shape = [normal(x_shape, 1), normal(y_shape, 3)], filter_shape
    expected = call(wasm, name, arrays, shape, "float32", window)
    np.testing.assert_array_equal(in_parts(wasm, name, arrays, shape, window, parts), expected)
