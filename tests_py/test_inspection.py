"""memory, profile, time and debug mode."""

import asyncio
import math
from collections.abc import Iterator
from typing import Any

import pytest

import webtensor as wt
from webtensor.engine import profiling


@pytest.fixture
def debug_mode() -> Iterator[None]:
    """Debug mode, for one test."""
    wt.enable_debug_mode()
    yield
    wt.disable_debug_mode()


# -- memory -------------------------------------------------------------------------------------


def test_memory_counts_tensors_storages_and_bytes(backend: str) -> None:
    before = wt.memory()
    x = wt.zeros((2, 3))
    y = x.reshape((3, 2))
    after = wt.memory()
    assert after["num_tensors"] - before["num_tensors"] == 2
    assert after["num_storages"] - before["num_storages"] == 1
    assert after["num_bytes"] - before["num_bytes"] == 24
    del x, y


def test_memory_holds_what_each_started_backend_counts(backend: str) -> None:
    before = wt.memory()["backends"][backend]["bytes"]
    x = wt.zeros((100,)) + 1
    bytes_in_use = wt.memory()["backends"][backend]["bytes"] - before
    assert bytes_in_use >= 400
    del x
    # The constant 1 is kept for reuse; backends may round its bytes up to a cache line's.
    assert wt.memory()["backends"][backend]["bytes"] - before <= 64


# -- profile ------------------------------------------------------------------------------------


def test_profile_lists_every_operation(backend: str) -> None:
    x = wt.ones((2, 3))
    seen = wt.profile(lambda: wt.sum(wt.exp(x) + 1, 0))
    assert seen.kernel_names == ["add", "exp", "sum"]
    exp, add, total = seen.kernels
    assert (exp.name, add.name, total.name) == ("exp", "add", "sum")
    assert exp.input_shapes == ((2, 3),)
    assert add.input_shapes == ((2, 3), ())
    assert total.output_shape == (3,)
    assert [kernel.bytes_added for kernel in seen.kernels] == [24, 24, 12]
    assert all(kernel.time_ms >= 0 for kernel in seen.kernels)
    assert math.isclose(seen.result.tolist()[0], 2 * (math.e + 1), rel_tol=1e-6)


def test_profile_counts_what_is_left_and_the_peak() -> None:
    x = wt.ones((100,))
    seen = wt.profile(lambda: wt.sum(x * 2 + 1))
    assert seen.new_tensors == 1
    assert seen.new_bytes == 4
    assert seen.peak_bytes >= 800


def test_profile_stops_when_the_function_raises() -> None:
    def fail() -> None:
        wt.exp([1.0])
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        wt.profile(fail)
    from webtensor.engine import state

    assert state.observers == ()


def test_profiles_nest() -> None:
    inner: list[Any] = []

    def outer() -> None:
        wt.exp([1.0])
        inner.append(wt.profile(lambda: wt.log([1.0])))

    seen = wt.profile(outer)
    assert seen.kernel_names == ["exp", "log"]
    assert inner[0].kernel_names == ["log"]


def test_profile_sees_gradients() -> None:
    seen = wt.profile(lambda: wt.grad(wt.sin)(0.0))
    assert {"sin", "cos", "multiply"} <= set(seen.kernel_names)


def test_time_waits_for_the_results(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiling, "perf_counter", iter([1.0, 1.25]).__next__)
    timing = wt.time(lambda: [wt.ones((100, 100)) @ wt.ones((100, 100))])
    assert timing.wall_ms == 250
    assert timing.clock == "wall"
    assert timing.kernel_ms == timing.wall_ms
    assert timing.upload_wait_ms >= 0
    assert timing.download_wait_ms >= 0


def test_time_and_profile_may_be_awaited(backend: str) -> None:
    x = wt.ones((3,))

    async def work() -> wt.Tensor:
        await asyncio.sleep(0)
        return wt.exp(x)

    async def measured() -> tuple[Any, Any, Any]:
        timing = await wt.time_async(work)
        return timing, await wt.profile_async(work), await wt.profile_async(lambda: wt.sin(x))

    timing, seen, of_a_function = asyncio.run(measured())
    assert timing.clock == "wall"
    assert seen.kernel_names == ["exp"]
    assert seen.kernels[0].gpu_ms is None
    assert seen.result.shape == (3,)
    assert of_a_function.kernel_names == ["sin"]


# -- debug mode ---------------------------------------------------------------------------------


def test_debug_mode_prints_every_operation(debug_mode: None, capsys: Any) -> None:
    wt.exp(wt.ones((2, 3)))
    assert "exp((2, 3)) -> float32 (2, 3)" in capsys.readouterr().out


def test_debug_mode_raises_at_the_first_nan(backend: str, debug_mode: None) -> None:
    x = wt.tensor([-1.0, 4.0])
    with pytest.raises(FloatingPointError, match=r"sqrt: the result holds NaN \(from finite inp"):
        wt.sum(wt.sqrt(x) + 1)


def test_debug_mode_tells_a_nan_that_came_in(debug_mode: None) -> None:
    x = wt.tensor([math.nan])
    with pytest.raises(FloatingPointError, match="its inputs hold NaN or infinity"):
        x + 1


def test_debug_mode_lets_infinity_and_integers_pass(debug_mode: None) -> None:
    assert (wt.tensor([1.0]) / 0).tolist() == [math.inf]
    assert (wt.tensor([1, 2]) + 1).tolist() == [2, 3]


def test_debug_mode_finds_a_nan_in_a_gradient(debug_mode: None) -> None:
    with pytest.raises(FloatingPointError):
        wt.grad(lambda x: wt.sqrt(x) * 0.0)(0.0)


def test_debug_mode_ends() -> None:
    wt.enable_debug_mode()
    wt.enable_debug_mode()
    wt.disable_debug_mode()
    assert math.isnan(wt.sqrt([-1.0]).tolist()[0])


def test_without_debug_mode_nan_flows(backend: str, capsys: Any) -> None:
    assert math.isnan(wt.sum(wt.log([-1.0])).tolist())
    assert capsys.readouterr().out == ""


def test_debug_mode_leaves_no_tensors(no_leak: None) -> None:
    wt.enable_debug_mode()
    with pytest.raises(FloatingPointError):
        wt.log(wt.tensor([-1.0, 1.0]) * 1.0)
    wt.disable_debug_mode()
