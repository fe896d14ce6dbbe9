"""The asynchronous forms of ops whose result's shape depends on values."""

import asyncio

import webtensor as wt


def test_where_async_gives_the_places_of_what_is_true(backend: str) -> None:
    condition = wt.tensor([[True, False], [True, True]])
    assert asyncio.run(wt.where_async(condition)).tolist() == wt.argwhere(condition).tolist()
    assert wt.argwhere(condition).tolist() == [[0, 0], [1, 0], [1, 1]]


def test_boolean_mask_async_picks_along_an_axis(backend: str) -> None:
    x = wt.tensor([[1, 2, 3], [4, 5, 6]])
    mask = wt.tensor([True, False, True])
    assert asyncio.run(wt.boolean_mask_async(x, mask, 1)).tolist() == [[1, 3], [4, 6]]


def test_setdiff1d_async_gives_values_and_places(backend: str) -> None:
    values, indices = asyncio.run(wt.setdiff1d_async([5, 1, 5, 2], [1]))
    assert (values.tolist(), indices.tolist()) == ([5, 5, 2], [0, 2, 3])


def test_in_top_k_async_is_in_top_k(backend: str) -> None:
    result = asyncio.run(wt.in_top_k_async([[0.1, 0.9], [0.8, 0.2]], [1, 1]))
    assert result.tolist() == [True, False]


def test_results_of_several_tensors_are_named(backend: str) -> None:
    assert wt.topk([1, 2]).indices.tolist() == [1]
    assert wt.moments([1.0, 3.0]).variance.tolist() == 1.0
    assert wt.unique([1, 1]).values.tolist() == [1]
    assert wt.unique_all([2, 1, 2]).inverse_indices.tolist() == [1, 0, 1]
    assert wt.setdiff1d([1, 2], [1]).indices.tolist() == [1]
