"""Iterating over data sets: waiting, ending early, errors, elements that are computed ahead."""

import asyncio
import gc
import random
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import webtensor as wt
from webtensor.data import Dataset


class Source:
    """Counts what it yields, and whether it was closed."""

    def __init__(self, count: int = 100) -> None:
        self.count, self.yielded, self.open = count, 0, 0

    def numbers(self) -> Iterator[int]:
        self.open += 1
        try:
            for number in range(self.count):
                self.yielded = number + 1
                yield number
        finally:
            self.open -= 1

    async def numbers_async(self) -> AsyncIterator[int]:
        self.open += 1
        try:
            for number in range(self.count):
                await asyncio.sleep(0)
                self.yielded = number + 1
                yield number
        finally:
            self.open -= 1


async def others_run() -> None:
    """Let all tasks and callbacks of the loop run that wait for no time to pass."""
    for _ in range(100):
        await asyncio.sleep(0)


async def doubled(x: int) -> int:
    await asyncio.sleep(0)
    return 2 * x


CHAINS: dict[str, Callable[[Dataset], Dataset]] = {
    "itself": lambda data: data,
    "map": lambda data: data.map(lambda x: x),
    "map_async": lambda data: data.map_async(doubled, 3),
    "filter": lambda data: data.filter(lambda x: True),
    "batch": lambda data: data.batch(2),
    "shuffle": lambda data: data.shuffle(3),
    "repeat": lambda data: data.repeat(),
    "take": lambda data: data.take(90),
    "skip": lambda data: data.skip(1),
    "shard": lambda data: data.shard(2, 0),
    "window": lambda data: data.window(2),
    "scan": lambda data: data.scan(0, lambda state, x: (state, x)),
    "enumerate": lambda data: data.enumerate(),
    "unique": lambda data: data.unique(),
    "concatenate": lambda data: data.concatenate(data),
    "zip": lambda data: Dataset.zip(data, data),
    "sample": lambda data: Dataset.sample_from_datasets([data, data]),
    "choose": lambda data: Dataset.choose_from_datasets([data], wt.data.array([0] * 50)),
    "flat_map": lambda data: wt.data.array([1]).flat_map(lambda _: data),
    "interleave": lambda data: wt.data.array([1, 2, 3]).interleave(lambda _: data, 2),
    "prefetch": lambda data: data.prefetch(3),
    "cache": lambda data: data.cache(),
    "buckets": lambda data: data.bucket_by_sequence_length(lambda x: 1, [2], [2, 2]),
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("kind", ["numbers", "numbers_async"])
def test_sources_are_closed_where_a_loop_ends_early(name: str, kind: str):
    source = Source()
    elements = iter(CHAINS[name](wt.data.generator(getattr(source, kind))))
    next(elements)
    assert source.open > 0 or name == "concatenate"
    elements.close()
    assert source.open == 0


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("kind", ["numbers", "numbers_async"])
def test_sources_are_closed_without_blocking(name: str, kind: str):
    source = Source()

    async def first() -> None:
        async for _ in CHAINS[name](wt.data.generator(getattr(source, kind))):
            break
        gc.collect()
        await others_run()
        assert source.open == 0

    asyncio.run(first())


def test_sources_that_wait_are_closed_before_the_next_element():
    source = Source()
    first_twice = wt.data.generator(source.numbers_async).take(1).repeat(2)
    assert [(x, source.open) for x in first_twice] == [(0, 1), (0, 1)]

    async def count() -> list[tuple[int, int]]:
        return [(x, source.open) async for x in first_twice]

    assert asyncio.run(count()) == [(0, 1), (0, 1)]
    assert source.open == 0


@pytest.mark.parametrize("name", ["itself", "map", "batch"])
def test_an_asynchronous_generator_is_closed_with_the_iteration(name: str):
    closed: list[bool] = []

    async def endless() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.append(True)

    first_source, second_source = endless(), endless()  # alive, so that no collection closes them
    elements = iter(CHAINS[name](wt.data.generator(lambda: first_source)))
    next(elements)
    elements.close()
    assert closed == [True]

    async def first() -> None:
        elements: Any = aiter(CHAINS[name](wt.data.generator(lambda: second_source)))
        await anext(elements)
        await elements.aclose()
        assert closed == [True, True]

    asyncio.run(first())


@pytest.mark.parametrize("name", CHAINS)
def test_errors_of_sources_that_wait_come_to_the_loop(name: str):
    async def numbers() -> AsyncIterator[int]:
        for number in range(9):
            await asyncio.sleep(0)
            yield number
        raise OSError("the server is gone")

    async def read() -> None:
        async for _ in CHAINS[name](wt.data.generator(numbers)).take(200):
            pass

    with pytest.raises(OSError, match="the server is gone"):
        list(CHAINS[name](wt.data.generator(numbers)).take(200))
    with pytest.raises(OSError, match="the server is gone"):
        asyncio.run(read())


@pytest.mark.parametrize("name", CHAINS)
def test_elements_that_wait_are_those_that_do_not(name: str):
    def read(kind: str) -> list[Any]:
        source = wt.data.generator(getattr(Source(20), kind))
        return [wt.tensor(x).tolist() for x in as_tensors(CHAINS[name](source).take(30))]

    def as_tensors(dataset: Dataset) -> Iterator[Any]:
        for element in dataset:
            yield element.to_list() if isinstance(element, Dataset) else element

    random.seed(1)
    expected = read("numbers")
    random.seed(1)
    assert read("numbers_async") == expected


@pytest.mark.parametrize("name", CHAINS)
def test_nothing_is_computed_before_it_is_asked_for(name: str):
    source = Source()
    dataset = CHAINS[name](wt.data.generator(source.numbers))
    assert source.yielded == 0
    next(iter(dataset))
    assert source.yielded <= 5


def test_a_loop_that_waits_waits_in_synchronous_code():
    assert wt.data.generator(Source(4).numbers_async).batch(2).map(wt.sum).map(int).to_list() == [
        1,
        5,
    ]
    assert wt.data.array([1, 2]).map(doubled).to_list() == [2, 4]


def test_synchronous_code_in_a_task_cannot_wait():
    async def task() -> None:
        with pytest.raises(RuntimeError, match="iterate with `async for`"):
            wt.data.array([1]).map_async(doubled).to_list()

    asyncio.run(task())


def test_waiting_that_nothing_announces_is_an_error():
    with pytest.raises(RuntimeError, match="make it by an asynchronous generator"):
        list(wt.data.generator(lambda: Source(1).numbers_async()))


def test_functions_that_wait_give_elements():
    """TensorFlow.js takes such functions, too."""
    numbers = iter(range(3))

    async def element() -> int:
        await asyncio.sleep(0)
        for number in numbers:
            return number
        raise StopAsyncIteration

    async def items() -> Iterator[int]:
        await asyncio.sleep(0)
        return iter([3, 4])

    data = wt.data.func(element).concatenate(wt.data.generator(items))
    assert data.is_async
    assert data.to_list() == [0, 1, 2, 3, 4]
    assert asyncio.run(wt.data.generator(items).to_list_async()) == [3, 4]


@pytest.mark.parametrize("name", ["filter", "take_while"])
def test_predicates_that_are_coroutine_functions(name: str):
    with pytest.raises(TypeError, match=f"^{name}: predicate must not be a coroutine function"):
        getattr(wt.data.array([1]), name)(doubled)


def test_map_async_takes_awaitables_only():
    with pytest.raises(TypeError, match="map_async: the function must return an awaitable"):
        list(wt.data.array([1]).map_async(lambda x: x))


def test_calls_wait_at_the_same_time_and_keep_the_order():
    running = most = 0

    async def slow_at_first(x: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(20 * (5 - x % 5)):
            await asyncio.sleep(0)
        running -= 1
        return x

    numbers = wt.data.array(range(20)).map_async(slow_at_first, num_parallel_calls=5)
    assert numbers.to_list() == list(range(20))
    assert most == 5


def test_for_each_waits():
    seen = []

    async def note(x: int) -> None:
        await asyncio.sleep(0)
        seen.append(x)

    asyncio.run(wt.data.array([1, 2]).for_each_async(note))
    assert seen == [1, 2]


class TestPrefetch:
    def test_elements_are_computed_while_another_is_used(self):
        source = Source()

        async def ahead() -> list[int]:
            counts = []
            async for element in wt.data.generator(source.numbers).prefetch(3):
                await others_run()
                counts.append(source.yielded - element - 1)
                if element == 9:
                    break
            return counts

        assert asyncio.run(ahead()) == [3] * 10

    def test_an_error_comes_at_its_element(self):
        def numbers() -> Iterator[int]:
            yield 1
            yield 2
            raise OSError("the disk is gone")

        elements = []

        async def collect() -> None:
            async for element in wt.data.generator(numbers).prefetch(5):
                await others_run()
                elements.append(element)

        with pytest.raises(OSError, match="the disk is gone"):
            asyncio.run(collect())
        assert elements == [1, 2]

    def test_no_task_is_left(self):
        async def first() -> int:
            async for _ in wt.data.generator(Source().numbers_async).prefetch(2):
                break
            gc.collect()
            await others_run()
            return len(asyncio.all_tasks())

        assert asyncio.run(first()) == 1


def test_an_error_closes_the_source():
    source = Source()

    def fail(x: int) -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        wt.data.generator(source.numbers).batch(2).map(fail).to_list()
    assert source.open == 0


def test_iterations_are_independent():
    numbers = Dataset.range(3)
    pairs = [(int(x), int(y)) for x in numbers for y in numbers]
    assert pairs == [(x, y) for x in range(3) for y in range(3)]


def test_tensors_of_past_elements_are_freed():
    wt.set_backend("wasm")
    dataset = Dataset.range(1000).map(lambda x: wt.ones((100,)) * x).batch(10).map(wt.sum)
    for _ in dataset.take(2):
        pass
    before = wt.memory()["num_tensors"]
    most = 0
    for _ in dataset:
        most = max(most, wt.memory()["num_tensors"] - before)
    assert most < 30
    assert wt.memory()["num_tensors"] - before <= 1


class TestFit:
    def model(self) -> Any:
        wt.keras.utils.set_random_seed(1)
        model = wt.Sequential([wt.Input((2,)), wt.layers.Dense(1)])
        model.compile("sgd", "mse")
        return model

    def data(self) -> Dataset:
        x = [[float(n), 1.0] for n in range(8)]
        return Dataset.from_tensor_slices((x, [[float(n)] for n in range(8)])).batch(3)

    def test_fit_evaluate_and_predict(self):
        model, data = self.model(), self.data()
        losses = model.fit(data, epochs=3, validation_data=data, verbose=0).history
        assert len(losses["loss"]) == len(losses["val_loss"]) == 3
        assert losses["loss"][2] < losses["loss"][0]
        assert model.predict(data.map(lambda x, y: x), verbose=0).shape == (8, 1)

    def test_data_that_waits(self):
        async def element(x: Any, y: Any) -> Any:
            await asyncio.sleep(0)
            return x, y

        plain, waiting, async_fit = self.model(), self.model(), self.model()
        data = self.data()
        expected = plain.fit(data, epochs=2, verbose=0).history["loss"]
        assert waiting.fit(data.map(element), epochs=2, verbose=0).history["loss"] == expected
        fitting = async_fit.fit_async(data.map(element), epochs=2, verbose=0)
        assert asyncio.run(fitting).history["loss"] == expected

    def test_repeated_data_with_steps(self):
        history = self.model().fit(self.data().repeat(), epochs=2, steps_per_epoch=4, verbose=0)
        assert len(history.history["loss"]) == 2

    def test_the_progress_bar_knows_the_number_of_batches(self, capsys: Any):
        self.model().fit(self.data(), epochs=1)
        assert "3/3" in capsys.readouterr().out
