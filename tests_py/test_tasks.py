"""What belongs to a task stays with it, whatever other tasks do meanwhile."""

import asyncio
import gc
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.conftest import counts
from webtensor import keras
from webtensor.engine.state import state
from webtensor.engine.task_stack import TaskStack


@pytest.fixture(autouse=True)
def nothing_stays_open():
    yield
    gc.collect()
    assert state.scopes is None
    assert state.observers == ()
    assert state.variable_readers == ()


# -- tidy ---------------------------------------------------------------------------------------


def test_a_scope_leaves_the_tensors_of_other_tasks(backend: str, no_leak: None) -> None:
    async def tidying(waits: asyncio.Event) -> wt.Tensor:
        with wt.tidy():
            x = wt.ones((3,))
            await waits.wait()
            y = x * 2
        assert x.is_disposed
        return y

    async def other(waits: asyncio.Event) -> wt.Tensor:
        x = wt.ones((2,))
        waits.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return x + 1

    async def main() -> None:
        waits = asyncio.Event()
        mine, theirs = await asyncio.gather(tidying(waits), other(waits))
        assert mine.is_disposed
        assert theirs.tolist() == [2.0, 2.0]

    asyncio.run(main())


def test_scopes_of_gathered_tasks_each_end_by_themselves(backend: str, no_leak: None) -> None:
    async def task(number: int) -> tuple[wt.Tensor, wt.Tensor]:
        with wt.tidy() as scope:
            await asyncio.sleep(0.001 * (number % 3))
            x = wt.ones((3,)) * float(number)
            await asyncio.sleep(0.001 * ((7 - number) % 4))
            return x, scope.keep(x + 1)

    async def main() -> None:
        results = await asyncio.gather(*[task(number) for number in range(8)])
        for number, (x, y) in enumerate(results):
            assert x.is_disposed
            assert y.tolist() == [number + 1.0] * 3

    asyncio.run(main())
    x = wt.ones((2,))
    assert state.scopes is None
    assert x.tolist() == [1.0, 1.0]


def test_tasks_started_in_a_scope_are_part_of_it(no_leak: None) -> None:
    async def child() -> wt.Tensor:
        await asyncio.sleep(0)
        return wt.ones((3,))

    async def late(open_: asyncio.Event) -> wt.Tensor:
        await open_.wait()
        return wt.ones((3,))

    async def main() -> None:
        closed = asyncio.Event()
        with wt.tidy():
            x, y = await asyncio.gather(child(), child())
            after = asyncio.ensure_future(late(closed))
        assert x.is_disposed
        assert y.is_disposed
        closed.set()
        assert (await after).tolist() == [1.0, 1.0, 1.0]

    asyncio.run(main())


def steps() -> Generator[wt.Tensor]:
    with wt.tidy() as scope:
        x = wt.ones((2,))
        yield x
        yield scope.keep(x * 2)


def test_generators_that_are_closed_late_close_their_scopes(no_leak: None) -> None:
    first, second = steps(), steps()
    x, y = next(first), next(second)
    first.close()
    assert (x.is_disposed, y.is_disposed) == (True, False)
    z = next(second)
    second.close()
    assert y.is_disposed
    assert z.tolist() == [2.0, 2.0]
    assert wt.ones((1,)).tolist() == [1.0]


def test_a_generator_may_outlive_the_scope_around_it(no_leak: None) -> None:
    with wt.tidy():
        generator = steps()
        x = next(generator)
        y = wt.ones((2,))
    assert state.scopes is not None
    generator.close()
    assert x.is_disposed
    assert y.is_disposed
    assert wt.ones((1,)).tolist() == [1.0]


def test_results_of_an_inner_scope_go_to_the_next_open_one(no_leak: None) -> None:
    outermost, middle, inner = wt.tidy(), wt.tidy(), wt.tidy()
    outermost.__enter__()
    middle.__enter__()
    inner.__enter__()
    x = inner.keep(wt.ones((2,)))
    middle.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert not x.is_disposed
    outermost.__exit__(None, None, None)
    assert x.is_disposed


def test_a_long_scope_does_not_gather_dead_references() -> None:
    with wt.tidy() as scope:
        for _ in range(300):
            wt.ones((1,))
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(300_000 // 100):
            for _ in range(100):
                wt.Tensor(ONE.storage, (1,), ONE.dtype)
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert len(scope._tensors) < 1000
    assert grown < 100_000


ONE = wt.ones((1,))


def test_keep_works_in_any_task(no_leak: None) -> None:
    async def keeper(x: wt.Tensor) -> None:
        wt.keep(x)

    async def main() -> wt.Tensor:
        with wt.tidy():
            x = wt.ones((2,))
            await asyncio.create_task(keeper(x))
        return x

    assert asyncio.run(main()).tolist() == [1.0, 1.0]


def test_variables_may_be_assigned_within_a_scope(no_leak: None) -> None:
    async def main() -> None:
        v = wt.Variable([1.0])
        with wt.tidy():
            await asyncio.sleep(0)
            v.assign(v + 1)
            v.assign([4.0])
        assert v.tolist() == [4.0]

    asyncio.run(main())


def test_a_scope_that_raises_while_tasks_wait(no_leak: None) -> None:
    async def fails() -> None:
        with wt.tidy():
            seen.append(wt.ones((2,)))
            await asyncio.sleep(0)
            raise KeyError("on purpose")

    seen: list[wt.Tensor] = []
    with pytest.raises(KeyError, match="on purpose"):
        asyncio.run(fails())
    assert seen[0].is_disposed


def test_cancelled_tasks_close_their_scopes(no_leak: None) -> None:
    async def sleeps() -> None:
        with wt.tidy():
            seen.append(wt.ones((2,)))
            await asyncio.sleep(60)

    async def main() -> None:
        task = asyncio.ensure_future(sleeps())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    seen: list[wt.Tensor] = []
    asyncio.run(main())
    assert seen[0].is_disposed


def test_threads_have_scopes_of_their_own(no_leak: None) -> None:
    tensors: list[wt.Tensor] = []
    with wt.tidy():
        thread = threading.Thread(target=lambda: tensors.append(wt.ones((2,))))
        thread.start()
        thread.join()
    assert tensors[0].tolist() == [1.0, 1.0]


def test_a_scope_is_entered_once() -> None:
    scope = wt.tidy()
    with scope:
        pass
    with pytest.raises(RuntimeError, match="tidy: this scope was entered before"), scope:
        pass
    with pytest.raises(RuntimeError, match="tidy: the scope is not open"):
        scope.__exit__(None, None, None)
    with pytest.raises(RuntimeError, match="tidy: the scope is not open"):
        wt.tidy().__exit__(None, None, None)


def test_a_scope_that_ends_in_another_task_says_so(no_leak: None) -> None:
    scope = wt.tidy()
    tensors = []

    async def opens() -> None:
        scope.__enter__()
        tensors.append(wt.ones((2,)))

    async def closes() -> None:
        scope.__exit__(None, None, None)

    async def main() -> None:
        await asyncio.create_task(opens(), name="one")
        with pytest.raises(RuntimeError, match="opened in task 'one' but closed in task 'two'"):
            await asyncio.create_task(closes(), name="two")

    asyncio.run(main())
    assert tensors[0].is_disposed
    assert wt.ones((1,)).tolist() == [1.0]


def test_a_scope_in_a_context_of_its_own(no_leak: None) -> None:
    with wt.tidy():
        inside = copy_context().run(wt.ones, (2,))
    assert inside.is_disposed


def test_tidy_refuses_asynchronous_functions(
    no_leak: None, recwarn: pytest.WarningsRecorder
) -> None:
    async def compute() -> wt.Tensor:
        return wt.ones((2,))

    with pytest.raises(TypeError, match=r"write 'with wt.tidy\(\) as scope"):
        wt.tidy(compute)  # type: ignore[unused-coroutine]
    gc.collect()
    assert not recwarn.list  # of coroutines that were never awaited


# -- tapes --------------------------------------------------------------------------------------


def test_a_tape_records_its_own_task_alone(backend: str, no_leak: None) -> None:
    w = wt.Variable(3.0, name="w")

    async def taping(number: float) -> float:
        with wt.GradientTape() as tape:
            y = w * number
            await asyncio.sleep(0.001)
            y = y * w
        gradient = tape.gradient(y, w)
        return float(gradient)

    async def other() -> None:
        for _ in range(20):
            w * 2.0
            await asyncio.sleep(0)

    async def main() -> list[float]:
        slopes: list[Any] = await asyncio.gather(*map(taping, (1.0, 2.0, 3.0)), other())
        return slopes[:3]

    assert asyncio.run(main()) == [6.0, 12.0, 18.0]


def test_a_tape_sees_what_the_tasks_it_awaits_compute() -> None:
    async def half(x: wt.Tensor) -> wt.Tensor:
        await asyncio.sleep(0)
        return x * x

    async def main() -> float:
        x = wt.tensor(3.0)
        with wt.GradientTape() as tape:
            tape.watch(x)
            parts = await asyncio.gather(half(x), half(x * 2.0))
            y = parts[0] + parts[1]
        return tape.gradient(y, x).tolist()

    assert asyncio.run(main()) == 30.0


def test_an_open_tape_does_not_see_variables_that_other_tasks_read() -> None:
    mine, theirs = wt.Variable(1.0), wt.Variable(2.0)

    async def other() -> None:
        theirs * 1.0

    async def main() -> tuple[wt.Variable, ...]:
        waiting = asyncio.create_task(other())
        with wt.GradientTape() as tape:
            mine * 1.0
            await waiting
        return tape.watched_variables()

    assert asyncio.run(main()) == (mine,)


def test_models_may_learn_side_by_side() -> None:
    def model() -> keras.Model:
        layers = [keras.layers.Dense(4, kernel_initializer="ones"), keras.layers.Dropout(0.0)]
        network = keras.Sequential([keras.Input((3,)), *layers, keras.layers.Dense(1, "relu")])
        network.set_weights([np.full(w.shape, 0.1, "float32") for w in network.get_weights()])
        network.compile("sgd", "mse")
        return network

    x = np.random.default_rng(2).normal(size=(32, 3)).astype("float32")
    alone = model().fit(x, x[:, :1], epochs=3, shuffle=False, verbose=0).history["loss"]

    async def main() -> list[list[float]]:
        fits = [
            model().fit_async(x, x[:, :1], epochs=3, shuffle=False, verbose=0) for _ in range(3)
        ]
        return [history.history["loss"] for history in await asyncio.gather(*fits)]

    for losses in asyncio.run(main()):
        np.testing.assert_allclose(losses, alone, rtol=1e-6)


# -- what else is open in a task ----------------------------------------------------------------


def test_a_profile_lists_its_own_task_alone() -> None:
    async def measured() -> wt.Tensor:
        x = wt.ones((2,))
        await asyncio.sleep(0.002)
        return wt.exp(x)

    async def other() -> None:
        for _ in range(4):
            wt.sin(wt.ones((2,)))
            await asyncio.sleep(0)

    async def main() -> list[str]:
        profile, _ = await asyncio.gather(wt.profile_async(measured), other())
        return profile.kernel_names

    assert "sin" not in asyncio.run(main())


def test_scopes_of_names_and_objects_belong_to_a_task() -> None:
    async def within() -> None:
        with keras.name_scope("inner"), keras.saving.custom_object_scope({"thing": len}):
            await asyncio.sleep(0.001)
            assert keras.Variable(1.0, name="w").path == "inner/w"

    async def outside() -> tuple[str, object]:
        await asyncio.sleep(0)
        return keras.Variable(1.0, name="v").path, keras.saving.get_registered_object("thing")

    async def main() -> tuple[str, object]:
        return (await asyncio.gather(within(), outside()))[1]

    assert asyncio.run(main()) == ("v", None)


def test_nothing_is_left_behind_by_many_tasks(no_leak: None) -> None:
    before = counts()

    async def task(number: int) -> None:
        with wt.tidy():
            x = wt.ones((10,))
            await asyncio.sleep(0)
            wt.grad(lambda x: wt.sum(x * x))(x)

    async def main() -> None:
        for _ in range(20):
            await asyncio.gather(*map(task, range(10)))

    asyncio.run(main())
    assert counts() == before


# -- threads ------------------------------------------------------------------------------------


@pytest.fixture
def frequent_switches() -> Generator[None]:
    """Python's threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def _chain(x: wt.Tensor) -> wt.Tensor:
    return wt.tanh(x * 2.0 + 1.0) @ x


@pytest.mark.parametrize(
    "wrap",
    [
        lambda function: function,
        wt.function,
        lambda function: wt.grad(lambda x: wt.sum(function(x))),
        lambda function: wt.vmap(lambda x: function(wt.stack([x] * 4))),
    ],
    ids=["eager", "captured", "gradient", "vmap"],
)
def test_threads_that_call_a_function_get_the_results_of_one(
    backend: str, wrap: Callable[..., Any], frequent_switches: None
) -> None:
    function = wrap(_chain)
    operands = [wt.tensor(np.full((4, 4), 0.1 * index, np.float32)) for index in range(8)]
    expected = [function(x).tolist() for x in operands]
    expected = [function(x).tolist() for x in operands]  # a replay may round otherwise

    def calls(start: int) -> bool:
        indices = [(start + 3 * step) % 8 for step in range(60)]
        return all(function(operands[index]).tolist() == expected[index] for index in indices)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(calls, range(4)))


def test_threads_move_a_tensor_once(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that computes with the elements would lose them if another one moved them again."""
    engine, storage = wt.backend(), wt.tensor([1.0, 2.0]).storage
    upload, arrived = engine.upload, threading.Barrier(4)

    def slow_upload(*args: Any) -> Any:
        handle = upload(*args)
        time.sleep(0.02 * arrived.wait(60))
        return handle

    def moved(_: int) -> int:
        storage.move_to(engine, "test")
        return id(storage.handle)

    monkeypatch.setattr(engine, "upload", slow_upload)
    with ThreadPoolExecutor(4) as pool:
        handles = {*pool.map(moved, range(4))}
    assert handles == {id(storage.handle)}


def test_captured_functions_of_several_threads_share_memory(
    backend: str, frequent_switches: None
) -> None:
    x = wt.tensor(np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8))

    def calls(number: int) -> bool:
        function = wt.function(lambda x: wt.softmax(_chain(x + number)) @ x)
        _, expected, *results = [function(x).tolist() for _ in range(40)]
        return all(result == expected for result in results)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(calls, range(4)))


def test_a_capture_records_and_refuses_only_what_its_own_thread_does(backend: str) -> None:
    x = wt.tensor([1.0, 2.0]) + 1.0
    v = wt.Variable([3.0, 4.0])

    def others() -> list[float]:
        y = x * 5.0
        v.assign(v + 1.0)
        if wt.sum(y) > 0.0:
            y = y + v
        return [*y.tolist(), *x.tolist()]

    @wt.function
    def captured(x: wt.Tensor) -> wt.Tensor:
        y = x + 1.0
        with ThreadPoolExecutor(1) as pool:
            read.append(pool.submit(others).result())
        return y * 2.0

    read: list[list[float]] = []
    for _ in range(2):
        assert captured(x).tolist() == [6.0, 8.0]
    assert read == [[14.0, 20.0, 2.0, 3.0]]
    assert v.tolist() == [4.0, 5.0]


def test_tapes_of_threads_open_and_close_independently(frequent_switches: None) -> None:
    x = wt.tensor(3.0)

    def gradients(_: int) -> set[float]:
        return {wt.grad(lambda x: x * x)(x).item() for _ in range(200)}

    with ThreadPoolExecutor(4) as pool:
        assert set().union(*pool.map(gradients, range(4))) == {6.0}


# -- stacks --------------------------------------------------------------------------------------


def test_blocks_on_a_stack_may_end_in_any_order() -> None:
    stack: TaskStack[list[int]] = TaskStack("stack")
    first, second = [0], [0]  # equal, but different items
    with stack.holding(first):
        stack.push(second)
        stack.push(first)
        assert stack.top is first
        stack.remove(second)
        assert [item is first for item in stack] == [True, True]
        assert second not in stack
        stack.remove(first)
        assert stack.top is first
        stack.remove(second)  # which is not there
    assert not stack
