"""The documented example of an op of one's own, and modules that do not fit."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wasmtime

import webtensor as wt
from wasm_build.build import VARIANTS, compile_module

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "custom_op"


def compiled(source: Path, output: Path) -> bytes:
    """Compile a C file to a module."""
    compile_module([source], VARIANTS["simd"], output)
    return output.read_bytes()


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return compiled(EXAMPLE / "hard_swish.c", tmp_path_factory.mktemp("module") / "out.wasm")


@pytest.fixture
def hard_swish(module: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    yield import_module("hard_swish").install(module)
    wt.deregister_op("hard_swish")
    del sys.modules["hard_swish"]


def expected(x: Any) -> Any:
    return x * np.clip(x + 3, 0, 6) / 6


@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 7), (2, 3, 4), (0, 3)])
def test_example(hard_swish: Any, shape: tuple[int, ...], backend: str) -> None:
    x = np.random.default_rng(1).uniform(-5, 5, shape).astype(np.float32)
    seen = wt.profile(lambda: hard_swish(wt.tensor(x)))
    assert not seen.fallbacks
    assert np.allclose(seen.result.numpy(), expected(x), rtol=1e-6, atol=1e-6)


def test_gradient(hard_swish: Any, backend: str) -> None:
    x = np.array([-4, -2, -0.5, 0.5, 2, 4], np.float32)
    step = 1e-3
    slopes = (expected(x + step) - expected(x - step)) / (2 * step)
    assert np.allclose(wt.grad(hard_swish)(wt.tensor(x)).numpy(), slopes, atol=1e-3)
    curvature = wt.grad(lambda x: wt.sum(wt.grad(hard_swish)(x)))(wt.tensor(x)).numpy()
    assert np.allclose(curvature, [0, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 0], atol=1e-6)


def test_bad_operands_are_refused(hard_swish: Any) -> None:
    with pytest.raises(TypeError, match="hard_swish: x must be float32, but got int32"):
        hard_swish([1, 2])


def test_a_closed_module_has_no_functions(module: bytes) -> None:
    with wt.wasm.load_module(module) as loaded:
        assert callable(loaded.function("hard_swish"))
        with pytest.raises(ValueError, match="exports no function 'soft_swish'"):
            loaded.function("soft_swish")
    with pytest.raises(ValueError, match="the module was closed, so it has no 'hard_swish'"):
        loaded.function("hard_swish")


class Factor:
    """An attribute that does not say what is in it."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Factor()"


def test_calls_whose_attributes_read_the_same_are_not_one() -> None:
    scaled = wt.register_op("scaled", lambda x, factor: (x.shape, x.dtype))
    wt.register_kernel(
        "scaled",
        "numpy",
        lambda _, inputs, shape, dtype, factor: inputs[0].storage.handle * np.float32(factor.value),
    )
    two, five = Factor(2.0), Factor(5.0)
    try:
        captured = wt.function(lambda x: scaled(x, five) - scaled(x, two))
        assert [captured(wt.ones((2,))).tolist() for _ in range(3)] == [[3.0, 3.0]] * 3
    finally:
        wt.deregister_op("scaled")


OF_ALL_TYPES = """
__attribute__((export_name("sum"))) double sum(int a, long long b, float c, double d) {
    return d + c + b + a;
}
__attribute__((export_name("unsigned_half"))) int half(unsigned a) { return a / 2; }
__attribute__((export_name("negative"))) int negative(int a) { return -a; }
__attribute__((export_name("nothing"))) void nothing(void) {}
__attribute__((export_name("trap"))) void trap(void) { __builtin_trap(); }
"""


def test_numbers_of_all_types_are_passed(tmp_path: Path) -> None:
    (tmp_path / "types.c").write_text(OF_ALL_TYPES)
    with wt.wasm.load_module(compiled(tmp_path / "types.c", tmp_path / "types.wasm")) as loaded:
        total = loaded.function("sum")
        assert total(-1, 1 << 40, 0.5, 0.25) == (1 << 40) - 0.25
        assert total(-1) == -1  # missing ones are zeros
        assert loaded.function("unsigned_half")(0xFFFF_FFFE) == 0x7FFF_FFFF
        assert loaded.function("negative")(0x7FFF_FFFF) == -0x7FFF_FFFF
        assert loaded.function("nothing")() is None
        with pytest.raises(TypeError, match=r"takes i32, i64, f32, f64, but got \('1',\)"):
            total("1")
        with pytest.raises(TypeError, match=r"but got \(1, 2, 3, 4, 5\)"):
            total(1, 2, 3, 4, 5)
        with pytest.raises(wasmtime.Trap, match="unreachable"):
            loaded.function("trap")()
        assert total(1, 2, 3, 4) == 10


WITH_DATA = """
static const float table[] = {1, 2, 3, 4};
__attribute__((export_name("pick"))) float pick(int i) { return table[i]; }
"""
WITH_VARIABLES = """
static int count;
__attribute__((export_name("counted"))) int counted(void) { return ++count; }
"""


@pytest.mark.parametrize("source", [WITH_DATA, WITH_VARIABLES])
def test_a_module_with_data_is_refused(source: str, tmp_path: Path) -> None:
    (tmp_path / "data.c").write_text(source)
    with pytest.raises(ValueError, match="load_module: the module has static data or variables"):
        wt.wasm.load_module(compiled(tmp_path / "data.c", tmp_path / "data.wasm"))


def test_what_is_no_module_is_refused(module: bytes, tmp_path: Path) -> None:
    for source in (b"", b"PK", module[:4]):
        with pytest.raises(ValueError, match="load_module: these bytes are no WebAssembly module"):
            wt.wasm.load_module(source)
    for end in (30, len(module) - 1):
        with pytest.raises(ValueError, match="load_module: the module is cut off"):
            wt.wasm.load_module(module[:end])
    with pytest.raises(ValueError, match="must import its memory"):
        wt.wasm.load_module(module[:8])
    broken = bytearray(module)
    broken[-20:] = b"\xff" * 20
    with pytest.raises(ValueError, match="load_module: "):
        wt.wasm.load_module(bytes(broken))
    with pytest.raises(TypeError, match="load_module: source must be bytes or a path, but got 7"):
        wt.wasm.load_module(7)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        wt.wasm.load_module(tmp_path / "none.wasm")
