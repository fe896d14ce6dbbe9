"""Transformations of data sets: what TensorFlow's documentation says of them."""

import asyncio
from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor.data import Dataset


def plain(element: Any) -> Any:
    """An element with lists in place of tensors and data sets."""
    if isinstance(element, wt.Tensor):
        return element.tolist()
    if isinstance(element, Dataset):
        return [plain(each) for each in element]
    if isinstance(element, dict):
        return {key: plain(value) for key, value in element.items()}
    if isinstance(element, tuple):
        return tuple(map(plain, element))
    return element


def plain_list(dataset: Dataset) -> list[Any]:
    return [plain(element) for element in dataset]


NUMBERS = Dataset.range

CASES: dict[str, tuple[Callable[[], Dataset], list[Any]]] = {
    "range": (lambda: NUMBERS(1, 5, 2), [1, 3]),
    "range down": (lambda: NUMBERS(5, 1, -2), [5, 3]),
    "take": (lambda: NUMBERS(10).take(3), [0, 1, 2]),
    "take all": (lambda: NUMBERS(3).take(-1), [0, 1, 2]),
    "take none": (lambda: NUMBERS(3).take(0), []),
    "skip": (lambda: NUMBERS(5).skip(3), [3, 4]),
    "skip all": (lambda: NUMBERS(5).skip(-1), []),
    "skip more": (lambda: NUMBERS(2).skip(5), []),
    "repeat": (lambda: NUMBERS(2).repeat(3), [0, 1, 0, 1, 0, 1]),
    "repeat without end": (lambda: NUMBERS(2).repeat().take(3), [0, 1, 0]),
    "repeat nothing": (lambda: NUMBERS(0).repeat(), []),
    "repeat no time": (lambda: NUMBERS(2).repeat(0), []),
    "shard": (lambda: NUMBERS(10).shard(3, 1), [1, 4, 7]),
    "concatenate": (lambda: NUMBERS(2).concatenate(NUMBERS(4, 6)), [0, 1, 4, 5]),
    "enumerate": (lambda: NUMBERS(1, 4).enumerate(start=5), [(5, 1), (6, 2), (7, 3)]),
    "filter": (lambda: NUMBERS(1, 4).filter(lambda x: x < 3), [1, 2]),
    "take while": (lambda: NUMBERS(10).take_while(lambda x: x < 4), [0, 1, 2, 3]),
    "scan": (lambda: NUMBERS(10).scan(0, lambda s, x: (s + x, s + x)).take(4), [0, 1, 3, 6]),
    "unique": (lambda: wt.data.array([1, 37, 2, 37, 2, 1]).unique(), [1, 37, 2]),
    "batch": (lambda: NUMBERS(8).batch(3), [[0, 1, 2], [3, 4, 5], [6, 7]]),
    "batch of whole ones": (lambda: NUMBERS(8).batch(3, True), [[0, 1, 2], [3, 4, 5]]),
    "unbatch": (lambda: NUMBERS(5).batch(2).unbatch(), [0, 1, 2, 3, 4]),
    "rebatch": (lambda: NUMBERS(5).batch(2).rebatch(3), [[0, 1, 2], [3, 4]]),
    "flat map": (
        lambda: Dataset.from_tensor_slices([[1, 2], [3, 4]]).flat_map(Dataset.from_tensor_slices),
        [1, 2, 3, 4],
    ),
    "interleave": (
        lambda: NUMBERS(1, 6).interleave(
            lambda x: Dataset.from_tensors(x).repeat(6), cycle_length=2, block_length=4
        ),
        [1] * 4 + [2] * 4 + [1] * 2 + [2] * 2 + [3] * 4 + [4] * 4 + [3] * 2 + [4] * 2 + [5] * 6,
    ),
    "interleave with empty ones": (
        lambda: NUMBERS(5).interleave(lambda x: NUMBERS(int(x) % 3), cycle_length=2),
        [0, 0, 1, 0],
    ),
    "window": (lambda: NUMBERS(7).window(3), [[0, 1, 2], [3, 4, 5], [6]]),
    "window whole": (lambda: NUMBERS(7).window(3, drop_remainder=True), [[0, 1, 2], [3, 4, 5]]),
    "window shift": (
        lambda: NUMBERS(7).window(3, 2, 1, True),
        [[0, 1, 2], [2, 3, 4], [4, 5, 6]],
    ),
    "window stride": (lambda: NUMBERS(7).window(3, 1, 2, True), [[0, 2, 4], [1, 3, 5], [2, 4, 6]]),
    "window rest": (
        lambda: NUMBERS(5).window(3, 1),
        [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4], [4]],
    ),
    "window far apart": (lambda: NUMBERS(8).window(2, 3), [[0, 1], [3, 4], [6, 7]]),
    "window of tuples": (
        lambda: Dataset.zip(NUMBERS(4), NUMBERS(4, 8)).window(2),
        [([0, 1], [4, 5]), ([2, 3], [6, 7])],
    ),
    "window of dicts": (
        lambda: wt.data.array([{"a": 1}, {"a": 2}]).window(2),
        [{"a": [1, 2]}],
    ),
    "windows batched": (
        lambda: NUMBERS(5).window(3, 1, 1, True).flat_map(lambda window: window.batch(3)),
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]],
    ),
    "padded batch": (
        lambda: NUMBERS(1, 5).map(lambda x: wt.full([int(x)], x)).padded_batch(2),
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]],
    ),
    "padded batch of a shape": (
        lambda: NUMBERS(1, 3).map(lambda x: wt.full([int(x)], x)).padded_batch(2, [4], -1),
        [[[1, -1, -1, -1], [2, 2, -1, -1]]],
    ),
    "padded batch of tuples": (
        lambda: wt.data.array([([1], [5, 6]), ([2, 3], [7])]).padded_batch(
            2, padded_shapes=([None], [3]), padding_values=(-1, 100)
        ),
        [([[1, -1], [2, 3]], [[5, 6, 100], [7, 100, 100]])],
    ),
    "padded batch of text": (
        lambda: wt.data.array([["a"], ["b", "c"]]).padded_batch(2, padding_values="-"),
        [[["a", "-"], ["b", "c"]]],
    ),
    "buckets": (
        lambda: wt.data.array(
            [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]
        ).bucket_by_sequence_length(len, [3, 5], [2, 2, 2]),
        [
            [[1, 2, 3, 4], [5, 6, 7, 0]],
            [[7, 8, 9, 10, 11, 0], [13, 14, 15, 16, 19, 20]],
            [[0, 0], [21, 22]],
        ],
    ),
    "buckets of a shape": (
        lambda: wt.data.array([[1], [2]]).bucket_by_sequence_length(
            len, [4], [2, 2], pad_to_bucket_boundary=True
        ),
        [[[1, 0, 0], [2, 0, 0]]],
    ),
    "zip": (lambda: Dataset.zip(NUMBERS(1, 4), NUMBERS(4, 7)), [(1, 4), (2, 5), (3, 6)]),
    "zip of a tuple": (lambda: Dataset.zip((NUMBERS(2), (NUMBERS(2, 4), NUMBERS(5)))), [
        (0, (2, 0)),
        (1, (3, 1)),
    ]),
    "zip of a dict": (lambda: wt.data.zip({"a": NUMBERS(2), "b": NUMBERS(9)}), [
        {"a": 0, "b": 0},
        {"a": 1, "b": 1},
    ]),
    "choose": (
        lambda: Dataset.choose_from_datasets(
            [wt.data.array([name]).repeat() for name in "abc"], NUMBERS(3).repeat(2)
        ),
        ["a", "b", "c", "a", "b", "c"],
    ),
    "choose past the end": (
        lambda: Dataset.choose_from_datasets(
            [wt.data.array(["a"]), wt.data.array(["b"] * 3)],
            wt.data.array([0, 0, 1, 0, 1]),
            stop_on_empty_dataset=False,
        ),
        ["a", "b", "b"],
    ),
    "apply": (lambda: NUMBERS(5).apply(lambda numbers: numbers.skip(3)), [3, 4]),
    "prefetch": (lambda: NUMBERS(4).prefetch(2), [0, 1, 2, 3]),
    "cache": (lambda: NUMBERS(3).cache().repeat(2), [0, 1, 2, 0, 1, 2]),
    "from tensors": (lambda: Dataset.from_tensors(([1, 2], 3)), [([1, 2], 3)]),
    "from slices": (
        lambda: Dataset.from_tensor_slices({"a": [1, 2], "b": np.array([[3], [4]])}),
        [{"a": 1, "b": [3]}, {"a": 2, "b": [4]}],
    ),
    "from text": (lambda: Dataset.from_tensor_slices(["a", "b"]).batch(2), [["a", "b"]]),
    "from objects": (
        lambda: Dataset.from_tensor_slices(np.array(["a", "b"], dtype=object)),
        ["a", "b"],
    ),
    "from lists of tensors": (
        lambda: Dataset.from_tensor_slices([wt.tensor([1, 2]), wt.tensor([3, 4])]),
        [[1, 2], [3, 4]],
    ),
    "from a generator": (
        lambda: Dataset.from_generator(range, args=(3,), output_types="float32").batch(3),
        [[0.0, 1.0, 2.0]],
    ),
    "from an old signature": (
        lambda: Dataset.from_generator(
            lambda: [([1, 2], 3)], output_types=("float32", "int32"), output_shapes=((2,), ())
        ),
        [([1.0, 2.0], 3)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_elements(name: str):
    make, elements = CASES[name]
    dataset = make()
    assert plain_list(dataset) == elements
    assert plain_list(dataset) == elements, "the second iteration"
    if dataset.size is not None:
        assert dataset.size == len(elements)


@pytest.mark.parametrize("name", CASES)
def test_elements_without_blocking(name: str):
    make, elements = CASES[name]

    async def all_elements() -> list[Any]:
        return [plain(element) async for element in make()]

    assert asyncio.run(all_elements()) == elements


def sizes() -> dict[str, tuple[Dataset, Any]]:
    known, unknown, endless = NUMBERS(5), NUMBERS(5).filter(bool), NUMBERS(5).repeat()
    return {
        "map": (known.map(abs), 5),
        "filter": (unknown, None),
        "filtered without end": (endless.filter(bool), inf),
        "take of unknown": (unknown.take(2), None),
        "take of endless": (endless.take(7), 7),
        "skip of endless": (endless.skip(7), inf),
        "batch": (known.batch(2), 3),
        "whole batches": (known.batch(2, True), 2),
        "batch of endless": (endless.batch(2), inf),
        "concatenate": (known.concatenate(known), 10),
        "concatenate endless": (unknown.concatenate(endless), inf),
        "concatenate unknown": (known.concatenate(unknown), None),
        "zip": (Dataset.zip(known, endless), 5),
        "zip with unknown": (Dataset.zip(known, unknown), None),
        "shard": (known.shard(2, 1), 2),
        "repeat": (known.repeat(2), 10),
        "repeat unknown": (unknown.repeat(), inf),
    }


@pytest.mark.parametrize("name", sizes())
def test_sizes(name: str):
    dataset, size = sizes()[name]
    assert dataset.size == size
    if isinstance(size, int):
        assert len(dataset) == int(dataset.cardinality()) == size
    else:
        with pytest.raises(TypeError, match="size of this data set"):
            len(dataset)
        expected = wt.data.UNKNOWN_CARDINALITY if size is None else wt.data.INFINITE_CARDINALITY
        assert int(dataset.cardinality()) == expected


class TestShuffle:
    def test_every_element_comes_once(self):
        for size in (1, 3, 10, 99):
            assert sorted(int(x) for x in NUMBERS(10).shuffle(size, seed=1)) == list(range(10))

    def test_a_seed_repeats_the_orders_of_all_epochs(self):
        def epochs() -> list[Any]:
            numbers = NUMBERS(20).shuffle(20, seed=7)
            return [plain_list(numbers) for _ in range(3)]

        first = epochs()
        assert first == epochs()
        assert first[0] != first[1] != first[2]

    def test_one_order_for_all_epochs(self):
        numbers = NUMBERS(20).shuffle(20, seed=7, reshuffle_each_iteration=False)
        assert plain_list(numbers) == plain_list(numbers) != list(range(20))

    def test_the_buffer_bounds_how_early_an_element_comes(self):
        for position, element in enumerate(NUMBERS(50).shuffle(5, seed=3)):
            assert int(element) <= position + 5

    def test_python_seeds_it(self):
        orders = []
        for _ in range(2):
            wt.keras.utils.set_random_seed(5)
            orders.append(plain_list(NUMBERS(20).shuffle(20)))
        assert orders[0] == orders[1]

    def test_all_orders_are_equally_likely(self):
        counts: dict[Any, int] = {}
        numbers = wt.data.array([*"abc"]).shuffle(3, seed=0)
        for _ in range(3000):
            order = tuple(numbers)
            counts[order] = counts.get(order, 0) + 1
        assert len(counts) == 6
        # Pearson's chi-square: 5 degrees of freedom, below 20.5 with a probability of 0.999.
        assert sum((count - 500) ** 2 / 500 for count in counts.values()) < 20.5


@pytest.mark.parametrize("kind", ["tensor", "array"])
def test_shuffled_rows_are_read_as_batches(kind: str):
    values = np.arange(60, dtype=np.float32).reshape(20, 3)
    x = wt.tensor(values) if kind == "tensor" else values
    labels = list(range(20))
    dataset = Dataset.from_tensor_slices((x, labels)).shuffle(20, seed=2).skip(2).repeat(2).batch(6)
    rows = 0
    for batch, numbers in dataset:
        np.testing.assert_array_equal(batch.numpy(), values[numbers.numpy()])
        rows += len(numbers)
    assert rows == 36
    assert [len(numbers) for _, numbers in dataset] == [6] * 6


def test_samples_follow_weights():
    parts = [wt.data.array([name]).repeat() for name in "ab"]
    drawn = Dataset.sample_from_datasets(parts, [0.9, 0.1], seed=3).take(1000).to_list()
    assert 870 < drawn.count("a") < 930


def test_samples_go_on_with_the_data_sets_that_are_left():
    parts = [wt.data.array(["a"]), wt.data.array(["b"] * 4)]
    assert sorted(Dataset.sample_from_datasets(parts, seed=1)) == ["a", "b", "b", "b", "b"]


def test_a_cache_calls_functions_once():
    calls = []

    def noted(x: wt.Tensor) -> wt.Tensor:
        calls.append(int(x))
        return x

    numbers = NUMBERS(3).map(noted).cache()
    next(iter(numbers))
    assert plain_list(numbers) == plain_list(numbers) == [0, 1, 2]
    assert calls == [0, 0, 1, 2], "an iteration that ends early is not kept"


class TestElements:
    def test_numbers_text_and_arrays_become_batches(self):
        rows = wt.data.array([(1, 2.5, True, "a", [1, 2], np.ones(2))] * 2).batch(2)
        batch = rows.get_single_element()
        assert [str(part.dtype) for part in batch] == [
            "int32", "float32", "bool", "string", "int32", "float32",
        ]  # fmt: skip
        assert [part.shape for part in batch] == [(2,), (2,), (2,), (2,), (2, 2), (2, 2)]

    def test_text_of_two_axes_is_padded(self):
        texts = wt.data.array([wt.tensor([["a"]]), wt.tensor([["b", "c"], ["d", "e"]])])
        batch = texts.padded_batch(2, padding_values="-").get_single_element()
        assert batch.tolist() == [[["a", "-"], ["-", "-"]], [["b", "c"], ["d", "e"]]]

    def test_lists_of_tensors_are_structures(self):
        first, second = wt.data.array([[wt.ones(2), wt.zeros(3)]] * 4).batch(4).get_single_element()
        assert first.shape == (4, 2)
        assert second.shape == (4, 3)

    def test_dicts_with_lists(self):
        batch = wt.data.array([{"a": [1, 2], "b": {"c": 3}}] * 2).batch(2).get_single_element()
        assert plain(batch) == {"a": [[1, 2], [1, 2]], "b": {"c": [3, 3]}}

    def test_spec(self):
        spec = Dataset.from_tensor_slices({"x": wt.ones((4, 2)), "y": [1, 2, 3, 4]}).batch(2)
        assert spec.element_spec == {
            "x": wt.TensorSpec((2, 2), "float32"),
            "y": wt.TensorSpec((2,), "int32"),
        }

    def test_numpy_iterator(self):
        arrays = list(Dataset.from_tensor_slices(([1, 2], [3.0, 4.0])).as_numpy_iterator())
        assert arrays == [(1, 3.0), (2, 4.0)]
        assert all(isinstance(part, np.generic | np.ndarray) for pair in arrays for part in pair)


#: Wrong arguments are no mistakes of types here.
UNTYPED: Any = wt.data

ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "batch size": (
        lambda: UNTYPED.Dataset.range(3).batch(0),
        ValueError,
        "batch: batch_size must be positive",
    ),
    "batch type": (
        lambda: UNTYPED.Dataset.range(3).batch(2.5),
        TypeError,
        "batch: batch_size must be an int",
    ),
    "map": (
        lambda: UNTYPED.Dataset.range(3).map(3),
        TypeError,
        "map: map_func must be callable, but got 3",
    ),
    "shuffle": (
        lambda: UNTYPED.Dataset.range(3).shuffle(-1),
        ValueError,
        "shuffle: buffer_size must be pos",
    ),
    "seed": (
        lambda: UNTYPED.Dataset.range(3).shuffle(3, seed=0.5),
        TypeError,
        "shuffle: seed must be an integer, but got 0.5",
    ),
    "seed of random": (
        lambda: UNTYPED.Dataset.random(seed="a"),
        TypeError,
        "random: seed must be an integer, but got 'a'",
    ),
    "seed of samples": (
        lambda: UNTYPED.Dataset.sample_from_datasets([wt.data.array([1])], seed=0.5),
        TypeError,
        "sample_from_datasets: seed must be an integer, but got 0.5",
    ),
    "shard": (
        lambda: UNTYPED.Dataset.range(3).shard(2, 2),
        ValueError,
        "shard: index must be from 0 to 1",
    ),
    "window": (
        lambda: UNTYPED.Dataset.range(3).window(1, shift=0),
        ValueError,
        "window: shift must be pos",
    ),
    "prefetch": (
        lambda: UNTYPED.Dataset.range(3).prefetch(-2),
        ValueError,
        "prefetch: buffer_size must not",
    ),
    "range": (lambda: UNTYPED.Dataset.range(1, 2, 0), ValueError, "range: step must not be 0"),
    "range type": (lambda: UNTYPED.Dataset.range(1.5), TypeError, "range: args must be an integer"),
    "concatenate": (
        lambda: UNTYPED.Dataset.range(1).concatenate([1]),
        TypeError,
        "dataset must be a data set",
    ),
    "zip": (
        lambda: UNTYPED.Dataset.zip(UNTYPED.Dataset.range(1), 3),
        TypeError,
        "zip: wanted data sets, but got 3",
    ),
    "zip nothing": (lambda: UNTYPED.Dataset.zip(()), TypeError, "zip: there must be at least one"),
    "weights": (
        lambda: UNTYPED.Dataset.sample_from_datasets([UNTYPED.Dataset.range(1)], [1, 2]),
        ValueError,
        "weights must be 1 numbers",
    ),
    "apply": (
        lambda: UNTYPED.Dataset.range(1).apply(list),
        TypeError,
        "apply: .* must return a data set",
    ),
    "array": (lambda: UNTYPED.array(3), TypeError, "array: items must be a list, but got 3"),
    "func": (lambda: UNTYPED.func(3), TypeError, "func: f must be callable"),
    "generator": (lambda: UNTYPED.generator([1]), TypeError, "generator must be callable"),
    "no iterator": (
        lambda: list(UNTYPED.generator(lambda: 3)),
        TypeError,
        "generator: the function must return an iterable, but it returned 3",
    ),
    "scalar slices": (
        lambda: UNTYPED.Dataset.from_tensor_slices(3),
        ValueError,
        "from_tensor_slices: tensors must have an axis",
    ),
    "lengths": (
        lambda: UNTYPED.Dataset.from_tensor_slices(([1], [1, 2])),
        ValueError,
        "from_tensor_slices: tensors must have equally many elements",
    ),
    "shapes in a batch": (
        lambda: list(UNTYPED.array([[1], [1, 2]]).batch(2)),
        ValueError,
        r"batch: .* the first has \(1,\), and number 1 of the batch \(2,\); padded_batch",
    ),
    "structures in a batch": (
        lambda: list(UNTYPED.array([{"a": 1}, {"b": 1}]).batch(2)),
        ValueError,
        r"batch: .* a dict with keys \['a'\], and number 1 of the batch is a dict",
    ),
    "None in a batch": (
        lambda: list(UNTYPED.array([None, 1]).batch(2)),
        TypeError,
        "batch: elements must become tensors, but one of them is None",
    ),
    "padded shapes": (
        lambda: list(UNTYPED.array([[1, 2]]).padded_batch(1, [1])),
        ValueError,
        r"an element of shape \(2,\) does not fit padded_shapes \(1,\)",
    ),
    "ranks": (
        lambda: list(UNTYPED.array([[1], [[1]]]).padded_batch(2)),
        ValueError,
        "same rank",
    ),
    "bucket sizes": (
        lambda: UNTYPED.Dataset.range(1).bucket_by_sequence_length(len, [3], [2]),
        ValueError,
        "one more of bucket_batch_sizes",
    ),
    "beyond buckets": (
        lambda: list(
            UNTYPED.array([[1] * 5]).bucket_by_sequence_length(
                len, [3], [1, 1], pad_to_bucket_boundary=True
            )
        ),
        ValueError,
        "as long as the last of bucket_boundaries",
    ),
    "signature": (
        lambda: list(
            UNTYPED.Dataset.from_generator(lambda: [1], output_signature=wt.TensorSpec((2,)))
        ),
        ValueError,
        r"from_generator: an element has shape \(\), but the signature \(2,\)",
    ),
    "structure of a signature": (
        lambda: list(
            UNTYPED.Dataset.from_generator(lambda: [1], output_signature=(wt.TensorSpec(),) * 2)
        ),
        ValueError,
        "1 does not have the structure of",
    ),
    "endless list": (
        lambda: UNTYPED.Dataset.range(1).repeat().to_list(),
        ValueError,
        "to_list: .* no end",
    ),
    "single": (
        lambda: UNTYPED.Dataset.range(2).get_single_element(),
        ValueError,
        "one element, .* more",
    ),
    "choices": (
        lambda: list(
            UNTYPED.Dataset.choose_from_datasets(
                [UNTYPED.Dataset.range(1)], UNTYPED.Dataset.range(1, 2)
            )
        ),
        ValueError,
        "choice_dataset has 1, but there are 1 data sets",
    ),
    "flat map": (
        lambda: list(UNTYPED.Dataset.range(1).flat_map(int)),
        TypeError,
        "must return a data set",
    ),
    "no files": (
        lambda: UNTYPED.Dataset.list_files("/no/such/*.png"),
        FileNotFoundError,
        "no file fits",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str):
    call, error_type, message = ERRORS[name]
    with pytest.raises(error_type, match=message):
        call()


@pytest.mark.parametrize("method", ["map", "filter", "take_while", "for_each"])
def test_errors_of_functions_say_which_element(method: str):
    def fail(x: int) -> bool:
        return 1 / (2 - x) > 0

    def all_elements() -> None:
        result = getattr(wt.data.array([0, 1, 2, 3]), method)(fail)
        if result is not None:
            list(result)

    with pytest.raises(ZeroDivisionError) as raised:
        all_elements()
    assert f"`{method}` of a data set, at element 2 " in raised.value.__notes__[0]
